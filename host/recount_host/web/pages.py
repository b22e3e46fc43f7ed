"""What each page shows, as plain values for its template; about precincts, all comes from the law's `view`.

The only figures that pass here are those of `disclosure.view`, which gives none before they may be shown.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recount_classifier.reasons import REASONS
from recount_host.law.disclosure import Doubt, Notice, PrecinctView, asked_now, notices, notices_open, view
from recount_host.law.hand_count import NOT_VOTES, OTHER_WRITE_IN
from recount_host.law.obstacles import obstacles
from recount_host.law.precinct import Facts, PrecinctState, devices_of
from recount_host.ledger.rows import Refusal
from recount_host.links.live import DeviceLive
from recount_host.order import Order
from recount_host.plain_words import plain_words
from recount_host.web.words import NEEDS_PEOPLE, RECORDS_MISSING, Sign, device_sign, precinct_sign

PART_OF_FEEDING = "open_batch"
"""The obstacle that is the ordinary course while ballots are fed: nobody has to do anything about it."""


@dataclass(frozen=True, slots=True)
class DeviceRow:
    """A device, or an unknown link, as a page shows it."""

    name: str
    sign: Sign
    words: str
    """What it says of itself."""
    wrong: str
    """What is wrong with it, in a sentence; empty when nothing is."""
    since: str
    """When it was last heard, if it is not connected."""
    precinct: str
    """Id of the precinct that it scans now; empty when it is free."""


@dataclass(frozen=True, slots=True)
class PrecinctCard:
    """A precinct on the first page."""

    view: PrecinctView
    sign: Sign
    devices: tuple[DeviceRow, ...]
    asks: tuple[str, ...]
    """What only people can decide, each a sentence."""


@dataclass(frozen=True, slots=True)
class Overview:
    """The first page."""

    order: Order
    cards: tuple[PrecinctCard, ...]
    devices: tuple[DeviceRow, ...]
    refusals: tuple[tuple[str, str], ...]
    """(who and why, when), the newest first."""
    asks: tuple[tuple[str, str], ...]
    """(precinct id, sentence) of everything that waits for people."""
    training: bool


@dataclass(frozen=True, slots=True)
class PrecinctPage:
    """One precinct."""

    order: Order
    card: PrecinctCard
    doubts: tuple[Doubt, ...]
    obstacles: tuple[str, ...]
    names: Mapping[str, str]
    """The name of each option, by key."""
    training: bool

    def votes(self) -> tuple[tuple[str, int], ...]:
        """Return name and votes of every option in the contest's order; none before they may be shown."""
        figures = self.card.view.figures
        if figures is None:
            return ()
        keys = [*self.names, *(key for key in figures.votes if key not in self.names)]
        return tuple((self.names.get(key, key), figures.votes.get(key, 0)) for key in keys)

    def outcome_name(self, outcome: str) -> str:
        """Return what a hand-counted ballot turned out to be, for people."""
        if outcome in NOT_VOTES:
            return NOT_VOTES[outcome]
        words = {**self.names, OTHER_WRITE_IN: "Write-in of another person"}
        return " and ".join(words.get(part, part) for part in outcome.split("+"))


@dataclass(frozen=True, slots=True)
class NoticesPage:
    """The sheets that were put aside, with where they lie; `notices` is None while they are closed."""

    order: Order
    view: PrecinctView
    notices: tuple[Notice, ...] | None
    pictures: frozenset[tuple[str, int]]
    """Device and record number of every picture that has come."""
    unexplained: Mapping[tuple[str, int], str]
    """By device and record number, why a picture shows no measurements."""
    training: bool

    def has_picture(self, notice: Notice) -> bool:
        """Return whether the contest on this sheet can be shown."""
        return (notice.device, notice.record_n) in self.pictures

    def why_plain(self, notice: Notice) -> str:
        """Return why the picture of this sheet shows no measurements; empty when it shows them."""
        return self.unexplained.get((notice.device, notice.record_n), "")


def overview(
    facts: Facts,
    states: Mapping[str, PrecinctState],
    live: Sequence[DeviceLive],
    refusals: Sequence[Refusal],
    now_ms: int,
) -> Overview:
    """Return the first page."""
    cards = tuple(_card(facts, state, live, now_ms) for state in states.values())
    rows = [_row(facts, device, live, now_ms) for device in facts.names]
    rows += [
        _stranger(entry, now_ms) for entry in live if entry.device not in facts.names and _is_shown(entry)
    ]
    return Overview(
        facts.order,
        cards,
        tuple(rows),
        _refused(refusals),
        tuple((card.view.id, ask) for card in cards for ask in card.asks),
        training=any(_is_training(state) for state in states.values()),
    )


def precinct_page(
    facts: Facts, state: PrecinctState, live: Sequence[DeviceLive], now_ms: int
) -> PrecinctPage:
    """Return the page of one precinct."""
    card = _card(facts, state, live, now_ms)
    others = tuple(o.sentence for o in obstacles(state) if o.sentence not in card.asks)
    return PrecinctPage(
        facts.order, card, asked_now(state), others, _names(facts, state), training=_is_training(state)
    )


def notices_page(
    facts: Facts,
    state: PrecinctState,
    pictures: frozenset[tuple[str, int]],
    why_plain: Callable[[Notice], str],
) -> NoticesPage:
    """Return the page of notices of one precinct, without any while they are closed."""
    shown = notices(state) if notices_open(state) else None
    unexplained = {(notice.device, notice.record_n): why_plain(notice) for notice in shown or ()}
    return NoticesPage(facts.order, view(state), shown, pictures, unexplained, training=_is_training(state))


def picture_open(state: PrecinctState, device: str, n: int) -> Doubt | Notice | None:
    """Return what the law opens the picture of this record for now, or None while it is closed.

    A doubt: the officials are asked where the sheet lies, and see it without a verdict; where it looks like
    another sheet, that one too. A notice: the notices are open and list it.
    """
    listed = notices(state) if notices_open(state) else ()
    asked = asked_now(state)
    compared = tuple(replace(doubt, record_n=doubt.like_record_n) for doubt in asked if doubt.like_record_n)
    found = (one for one in (*asked, *compared, *listed) if (one.device, one.record_n) == (device, n))
    return next(found, None)


def reason_sentence(word: str) -> str:
    """Return why a sheet was put aside, for people; the word itself where the table does not know it."""
    reason = REASONS.get(word)
    return reason.sentence if reason is not None else plain_words(word)


def local_time(utc: str) -> str:
    """Return the time of day on this host's clock, for people; order is never read from it."""
    return datetime.fromisoformat(utc).astimezone().strftime("%H:%M")


def _card(facts: Facts, state: PrecinctState, live: Sequence[DeviceLive], now_ms: int) -> PrecinctCard:
    asks = tuple(o.sentence for o in obstacles(state) if o.word != PART_OF_FEEDING)
    devices = sorted(devices_of(state), key=state.name_of)
    rows = tuple(_row(facts, device, live, now_ms) for device in devices)
    return PrecinctCard(view(state), NEEDS_PEOPLE if asks else precinct_sign(state), rows, asks)


def _row(facts: Facts, device: str, live: Sequence[DeviceLive], now_ms: int) -> DeviceRow:
    entry = next((entry for entry in live if entry.device == device), None)
    is_missing = any(gap.device == device for gap in facts.gaps)
    name, scans = facts.names.get(device, device), _scans(facts, device)
    if is_missing:
        wrong, sign = "", RECORDS_MISSING
    else:
        wrong, sign = (entry.problem if entry else ""), device_sign(entry, is_scanning=bool(scans))
    words = (entry.note or plain_words(entry.state)) if entry and entry.connected else ""
    if words.rstrip(".").lower() == sign.words.lower():
        words = ""  # the sign says it already
    return DeviceRow(name, sign, words, wrong, _since(entry, now_ms), scans)


def _stranger(entry: DeviceLive, now_ms: int) -> DeviceRow:
    name = f"{entry.name} on {entry.link}" if entry.name else entry.link
    return DeviceRow(
        name, device_sign(entry, is_scanning=False), "", entry.problem, _since(entry, now_ms), ""
    )


def _is_shown(entry: DeviceLive) -> bool:
    return bool(entry.problem) or entry.connected


def _since(entry: DeviceLive | None, now_ms: int) -> str:
    """Return how long a device has been silent, in steps that do not change with every look."""
    if entry is None or entry.connected:
        return ""
    minutes = max(now_ms - entry.last_seen_ms, 0) // 60_000
    if minutes < 1:
        return "last heard less than a minute ago"
    return f"last heard {minutes} minute{'s' if minutes > 1 else ''} ago"


def _scans(facts: Facts, device: str) -> str:
    told = facts.devices.get(device)
    if told is None:
        return ""
    return next((run.precinct for run in told.runs.values() if not run.closed_n), "")


def _refused(refusals: Sequence[Refusal]) -> tuple[tuple[str, str], ...]:
    """Return (who and why, when first), the newest first; what befell several records alike is told once."""
    times: dict[str, str] = {}
    for refusal in refusals:
        who = refusal.name or refusal.device or "an unknown device"
        times.setdefault(f"{who}: {refusal.why}", local_time(refusal.utc))
    return tuple(reversed(times.items()))


def _names(facts: Facts, state: PrecinctState) -> Mapping[str, str]:
    contest = state.contest
    printed = {option.key: option.name for option in contest.printed} if contest is not None else {}
    return {**printed, **{side.key: side.name for side in facts.order.sides}}


def _is_training(state: PrecinctState) -> bool:
    return state.mode != "live"
