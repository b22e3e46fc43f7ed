"""The host's own fold of a device's records: what became of every sheet, by code that is not the device's.

A figure counts sheets that landed (or were settled) in batches that are closed and not voided. What the
device reports in `batch_closed` is compared with this fold (I9) and never used in its place.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from recount_host.law.arming import Arming, read_arming
from recount_host.law.identities import Finding, i9_batch
from recount_protocol.fates import BINS, COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE
from recount_protocol.records import NO_HASH, Record, encode_record, record_hash


@dataclass(frozen=True, slots=True)
class Gap:
    """Record numbers of a device that are not here although later ones exist."""

    device: str
    first_n: int
    last_n: int


@dataclass(frozen=True, slots=True)
class Sheet:
    """One feed attempt that has a sheet number, as its records tell it."""

    sheet: int
    judged: str
    """The fate that the device judged, "" when it never did."""
    choices: tuple[str, ...]
    reasons: tuple[str, ...]
    place: int
    """Its position in its tray, 1 = bottom; 0 = not in a tray."""
    judged_n: int
    """Number of its `sheet_judged` record, 0 when there is none."""
    fate: str
    """Its final fate, "" while it has none."""
    in_doubt: str
    """Why its landing is unknown, "" when it is known."""
    like: int = 0
    """The sheet of its batch that the device took it for, which the officials are asked about; 0 for none."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Sheets and votes, of one batch or of many."""

    counted: int = 0
    set_aside: int = 0
    not_accepted: int = 0
    returned: int = 0
    votes: Mapping[str, int] = field(default_factory=dict[str, int])
    set_aside_reasons: Mapping[str, int] = field(default_factory=dict[str, int])
    not_accepted_reasons: Mapping[str, int] = field(default_factory=dict[str, int])
    sheets_by_votes: Mapping[int, int] = field(default_factory=dict[int, int])
    """Counted sheets by the number of different options that they hold."""

    def __add__(self, other: "Figures") -> "Figures":
        """Return the figures of both together."""
        return Figures(
            self.counted + other.counted,
            self.set_aside + other.set_aside,
            self.not_accepted + other.not_accepted,
            self.returned + other.returned,
            _sum(self.votes, other.votes),
            _sum(self.set_aside_reasons, other.set_aside_reasons),
            _sum(self.not_accepted_reasons, other.not_accepted_reasons),
            _sum(self.sheets_by_votes, other.sheets_by_votes),
        )

    @property
    def votes_total(self) -> int:
        """Return the votes on all options together."""
        return sum(self.votes.values())


@dataclass(frozen=True, slots=True)
class Batch:
    """One stack of sheets on one device, as its records tell it."""

    device: str
    run: str
    batch: int
    opened_n: int
    closed_n: int
    """Number of its `batch_closed` record, 0 while it is open."""
    voided_n: int
    """Number of its `batch_voided` record, 0 when the device has none."""
    void_reason: str
    sheets: tuple[Sheet, ...]
    i9: Finding
    contradictions: tuple[str, ...]
    """What its records say that cannot be; each a sentence without figures."""

    @property
    def figures(self) -> Figures:
        """Return the host's fold of the batch's sheets."""
        return fold_sheets(self.sheets)

    @property
    def doubts(self) -> tuple[Sheet, ...]:
        """Return the sheets whose landing is unknown and not settled."""
        return tuple(sheet for sheet in self.sheets if sheet.in_doubt and not sheet.fate)

    @property
    def is_open(self) -> bool:
        """Return whether sheets may still be fed in it."""
        return not self.closed_n and not self.voided_n

    @property
    def fed(self) -> int:
        """Return the bare number of sheets that went through to a bin."""
        return sum(sheet.fate in BINS for sheet in self.sheets)


@dataclass(frozen=True, slots=True)
class Run:
    """One precinct on one device, as the device's records tell it."""

    run: str
    device: str
    precinct: str
    contest: str
    program: bytes
    mode: str
    software: str
    firmware: str
    opened_n: int
    closed_n: int
    """Number of its `run_closed` record, 0 while it is open."""


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """All that a device's records tell, up to the first gap."""

    device: str
    head_n: int
    """The last record before any gap; 0 when there is none."""
    head_sha256: bytes
    """SHA-256 of that record; 32 zero bytes when there is none."""
    runs: Mapping[str, Run]
    batches: tuple[Batch, ...]
    gaps: tuple[Gap, ...]
    arming: Arming = field(default_factory=Arming)
    """Whether it may count live sheets, as its records tell."""


def fold_sheets(sheets: Iterable[Sheet]) -> Figures:
    """Return the figures of these sheets by their final fates.

    Pure sums; a sheet without a fate counts nowhere.
    """
    fates: Counter[str] = Counter()
    votes: Counter[str] = Counter()
    by_votes: Counter[int] = Counter()
    reasons: dict[str, Counter[str]] = {SET_ASIDE: Counter(), NOT_ACCEPTED: Counter()}
    for sheet in sheets:
        fates[sheet.fate] += 1
        if sheet.fate == COUNTED:
            votes.update(sheet.choices)
            by_votes[len(set(sheet.choices))] += 1
        elif sheet.fate in reasons:
            reasons[sheet.fate].update(sheet.reasons)
    return Figures(
        fates[COUNTED],
        fates[SET_ASIDE],
        fates[NOT_ACCEPTED],
        fates[RETURNED],
        dict(sorted(votes.items())),
        dict(sorted(reasons[SET_ASIDE].items())),
        dict(sorted(reasons[NOT_ACCEPTED].items())),
        dict(sorted(by_votes.items())),
    )


def add_up(batches: Iterable[Batch]) -> Figures:
    """Return the figures of these batches together."""
    total = Figures()
    for batch in batches:
        total += batch.figures
    return total


def read_device(device: str, records: Sequence[Record]) -> DeviceFacts:
    """Return what the records of one device tell, in the order of their numbers.

    Records after a missing number are not read: without the missing one nobody can say what they mean.
    """
    head: Record | None = None
    runs: dict[str, Run] = {}
    batches: dict[int, _BatchReader] = {}
    head_n, head_sha256 = 0, NO_HASH
    gaps: tuple[Gap, ...] = ()
    ordered = sorted(records, key=lambda record: record.n)
    for record in ordered:
        if record.n != head_n + 1:
            gaps = (Gap(device, head_n + 1, record.n - 1),)
            break
        head_n, head = record.n, record
        if record.kind == "run_opened":
            runs.setdefault(record.run, _run(record))
        elif record.kind == "run_closed" and record.run in runs:
            opened = runs[record.run]
            runs[record.run] = Run(
                opened.run, device, opened.precinct, opened.contest, opened.program, opened.mode,
                opened.software, opened.firmware, opened.opened_n, record.n,
            )  # fmt: skip
        elif record.batch:
            reader = batches.setdefault(
                record.batch, _BatchReader(device, record.run, record.batch, record.n)
            )
            reader.take(record)
    if head is not None:
        head_sha256 = record_hash(encode_record(head))
    return DeviceFacts(
        device, head_n, head_sha256, runs, tuple(reader.batch() for reader in batches.values()), gaps,
        read_arming(ordered[:head_n]),
    )  # fmt: skip


def _run(record: Record) -> Run:
    body = record.body
    return Run(
        record.run, record.device, body["precinct"], body["contest"], body["program"], body["mode"],
        body["software"], body["firmware"], record.n, 0,
    )  # fmt: skip


Key = TypeVar("Key", str, int)


def _sum(one: Mapping[Key, int], other: Mapping[Key, int]) -> dict[Key, int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in sorted({*one, *other})}


@dataclass(slots=True)
class _Building:
    """A sheet while its records are read."""

    judged: str = ""
    choices: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    place: int = 0
    judged_n: int = 0
    fate: str = ""
    in_doubt: str = ""
    like: int = 0


class _BatchReader:
    """Reads the records of one batch in order; a table of methods, one for each kind."""

    def __init__(self, device: str, run: str, batch: int, opened_n: int) -> None:
        self.device, self.run, self.number, self.opened_n = device, run, batch, opened_n
        self.closed_n = self.voided_n = 0
        self.void_reason = ""
        self.sheets: dict[int, _Building] = {}
        self.contradictions: list[str] = []
        self.reported: Mapping[str, Any] | None = None
        self.opened = False
        # Per boot of the feeder board: its counters when the batch first saw it, and last.
        self.first: dict[int, Sequence[int]] = {}
        self.last: dict[int, Sequence[int]] = {}
        self.by_hand = 0
        self.placed_by_hand: Counter[str] = Counter()

    def take(self, record: Record) -> None:
        """Read one record of this batch."""
        if record.run != self.run:
            self._wrong(f"a record names run {record.run}, the batch belongs to {self.run}")
        if self.closed_n and record.kind not in ("batch_voided", "fault"):
            # A closed batch never changes: what was told of it must be found again by every later fold.
            self._wrong(f"a record ({record.kind}) comes after the batch was closed")
            return
        if "feeder" in record.body:
            self._count(record)
        take = _TAKE.get(record.kind)
        if take is not None:
            take(self, record, record.body)

    def batch(self) -> Batch:
        """Return the batch as read so far."""
        if not self.opened:
            self._wrong("it was never opened")
        sheets = tuple(
            Sheet(number, b.judged, b.choices, b.reasons, b.place, b.judged_n, b.fate, b.in_doubt, b.like)
            for number, b in self.sheets.items()
        )
        if self.closed_n:
            for sheet in sheets:
                if not sheet.fate:
                    self._wrong(f"sheet {sheet.sheet} has no landing")
        return Batch(
            self.device, self.run, self.number, self.opened_n, self.closed_n, self.voided_n, self.void_reason,
            sheets, self._i9(fold_sheets(sheets)), tuple(self.contradictions),
        )  # fmt: skip

    def _wrong(self, sentence: str) -> None:
        self.contradictions.append(sentence)

    def _count(self, record: Record) -> None:
        boot, *counts = record.body["feeder"]
        if record.kind == "batch_opened":
            self.first[boot] = counts
        # A board that booted within the batch began at zero.
        self.first.setdefault(boot, (0,) * len(counts))
        if any(new < old for new, old in zip(counts, self.last.get(boot, self.first[boot]), strict=True)):
            self._wrong("a record shows the feeder's counters going back")
        self.last[boot] = counts

    def on_opened(self, _record: Record, _body: Mapping[str, Any]) -> None:
        if self.opened:
            self._wrong("it was opened twice")
        self.opened = True

    def on_judged(self, record: Record, body: Mapping[str, Any]) -> None:
        sheet = self.sheets.setdefault(body["sheet"], _Building())
        if sheet.judged or sheet.fate:
            # The first verdict stays: acts of people were allowed by it, and must be found allowed again.
            self._wrong(f"sheet {body['sheet']} was judged twice")
            return
        sheet.judged, sheet.choices, sheet.reasons = (
            body["fate"],
            tuple(body["choices"]),
            tuple(body["reasons"]),
        )
        sheet.place, sheet.judged_n = body["place"], record.n
        if sheet.choices and sheet.judged != COUNTED:
            self._wrong(f"sheet {body['sheet']} has choices although it was not counted")

    def on_landed(self, _record: Record, body: Mapping[str, Any]) -> None:
        if body["by"] == "hand":
            self.by_hand += 1
            self.placed_by_hand[body["bin"]] += 1
        self._finish(body["sheet"], body["bin"])

    def on_returned(self, _record: Record, body: Mapping[str, Any]) -> None:
        if body["out"] == "hand":
            self.by_hand += 1
        self._finish(body["sheet"], RETURNED)
        self.sheets[body["sheet"]].reasons = tuple(body["reasons"])

    def on_repeat(self, _record: Record, body: Mapping[str, Any]) -> None:
        self.sheets.setdefault(body["sheet"], _Building()).like = body["like"]

    def on_in_doubt(self, _record: Record, body: Mapping[str, Any]) -> None:
        self.sheets.setdefault(body["sheet"], _Building()).in_doubt = (
            body["why"] or "its landing was not seen"
        )

    def on_settled(self, _record: Record, body: Mapping[str, Any]) -> None:
        self.by_hand += 1
        self.placed_by_hand[body["fate"]] += 1
        self._finish(body["sheet"], body["fate"])

    def _finish(self, number: int, fate: str) -> None:
        sheet = self.sheets.setdefault(number, _Building())
        if sheet.fate:
            self._wrong(f"sheet {number} has two fates")
        # People may lay a judged sheet into the not-accepted tray, where all is counted by hand. Any other
        # difference between verdict and bin puts a ballot where it would count twice or never.
        if fate in (COUNTED, SET_ASIDE) and sheet.judged != fate:
            verdict = f"was judged {sheet.judged}" if sheet.judged else "was never judged"
            self._wrong(f"sheet {number} {verdict} and lies with the {fate} sheets")
        if fate == NOT_ACCEPTED and not sheet.judged:
            self._wrong(f"sheet {number} was never judged and lies with the not_accepted sheets")
        sheet.fate = fate

    def on_closed(self, record: Record, body: Mapping[str, Any]) -> None:
        self.closed_n, self.reported = record.n, body

    def on_voided(self, record: Record, body: Mapping[str, Any]) -> None:
        self.voided_n, self.void_reason = record.n, body["reason"]

    def _i9(self, ours: Figures) -> Finding:
        entries, *exits = (
            sum(self.last[boot][i] - self.first[boot][i] for boot in self.last) for i in range(5)
        )
        landed = {COUNTED: ours.counted, SET_ASIDE: ours.set_aside, NOT_ACCEPTED: ours.not_accepted}
        bins = [(name, exits[i] + self.placed_by_hand[name], landed[name]) for i, name in enumerate(BINS)]
        tally = (
            _compare(self.reported, ours, entries, exits, self.by_hand) if self.reported is not None else ()
        )
        return i9_batch(entries, sum(exits), self.by_hand, bins, tally)


_TAKE = {
    "batch_opened": _BatchReader.on_opened,
    "sheet_judged": _BatchReader.on_judged,
    "sheet_landed": _BatchReader.on_landed,
    "sheet_returned": _BatchReader.on_returned,
    "repeat_suspected": _BatchReader.on_repeat,
    "sheet_in_doubt": _BatchReader.on_in_doubt,
    "doubt_settled": _BatchReader.on_settled,
    "batch_closed": _BatchReader.on_closed,
    "batch_voided": _BatchReader.on_voided,
}


def _compare(
    reported: Mapping[str, Any], ours: Figures, entries: int, exits: Sequence[int], by_hand: int
) -> list[tuple[str, int, int]]:
    """Return every figure of the device's tally beside the host's own."""
    rows = [
        ("counted", reported["counted"], ours.counted),
        ("set aside", reported["set_aside_sheets"], ours.set_aside),
        ("not accepted", reported["not_accepted_sheets"], ours.not_accepted),
        ("returned", reported["returned"], ours.returned),
        ("entries", reported["entries"], entries),
        ("by hand", reported["by_hand"], by_hand),
    ]
    rows += [
        # An exit that the tally leaves out is no count, so it differs.
        (f"exits {name}", reported["exits"].get(name, -1), n)
        for name, n in zip((*BINS, "back"), exits, strict=True)
    ]
    for name, told, folded in (
        ("votes", reported["votes"], ours.votes),
        ("set aside for", reported["set_aside"], ours.set_aside_reasons),
        ("not accepted for", reported["not_accepted"], ours.not_accepted_reasons),
    ):
        rows += [(f"{name} {key}", told.get(key, 0), folded.get(key, 0)) for key in sorted({*told, *folded})]
    return rows
