"""What may be shown when: until `figures_shown` every page, command and log shows states, never a figure.

D 2 s. 3 asks whether people's count of the ballots equals the scanners'. People who know the scanners'
figure before they have counted would find it. So `view` is the only form in which a precinct leaves the law,
and it has no C, S, X, vote, H, c, s or x in it before the act `figures_shown`. Two exceptions: the bare
number of sheets fed once H is locked; the set-aside notices when I3 alone fails after the re-verification.
For a sheet in doubt its number is shown, without its place.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from recount_host.act import Act
from recount_host.law.acts import KINDS
from recount_host.law.challenges import CHALLENGED, Challenge, counted_as_challenged
from recount_host.law.conclusion import answer_of, still_to_ask
from recount_host.law.counts import LETTERS, Standing
from recount_host.law.custody import CONTENTS, Container
from recount_host.law.errors import NotAllowed
from recount_host.law.hand_count import agreed, of_pile
from recount_host.law.identities import MEANINGS
from recount_host.law.live import ZERO
from recount_host.law.notes import forecast, notes
from recount_host.law.obstacles import obstacles
from recount_host.law.persons import in_words
from recount_host.law.piles import PILES
from recount_host.law.precinct import PrecinctState, attempt_due
from recount_host.law.reconciliation import Step
from recount_host.law.states import SITUATION, State
from recount_host.law.tally import Batch
from recount_host.plain_words import plain_words
from recount_protocol.fates import NOT_ACCEPTED, SET_ASIDE


@dataclass(frozen=True, slots=True)
class BatchView:
    """A batch, without any figure."""

    device: str
    device_name: str
    run: str
    batch: int
    standing: str
    """open, closed, void, late, or cannot_stand."""


@dataclass(frozen=True, slots=True)
class CountView:
    """How far one count by hand is; its values only after the figures are shown."""

    letter: str
    what: str
    attempt: int
    standing: str
    values: tuple[tuple[int, int, str], ...] | None
    """(attempt, value, person) of every count entered.

    None before the figures are shown, and while a second person is still to count.
    """


@dataclass(frozen=True, slots=True)
class FiguresView:
    """The figures, after they were shown."""

    stack: int
    rerun: int
    counted: int
    set_aside: int
    not_accepted: int
    counted_pile: int
    set_aside_pile: int
    not_accepted_pile: int
    votes: Mapping[str, int]
    set_aside_reasons: Mapping[str, int]
    not_accepted_reasons: Mapping[str, int]
    superseded: bool
    """Whether D 2 sends all ballots to hand count, so that the scanners' figures count for nothing."""


@dataclass(frozen=True, slots=True)
class IdentityView:
    """One identity as told: holds or fails; its figures only after they were shown."""

    name: str
    holds: bool
    figures: tuple[str, ...] | None
    meaning: str


@dataclass(frozen=True, slots=True)
class PrecinctView:
    """A precinct as it may be shown now."""

    id: str
    name: str
    state: str
    situation: str
    """Where it stands, in words."""
    next: str
    """What to do, in words."""
    mode: str
    devices: tuple[str, ...]
    sheets_fed: int | None
    batches: tuple[BatchView, ...]
    obstacles: tuple[str, ...]
    counts: tuple[CountView, ...]
    attempt: int
    identities: tuple[IdentityView, ...]
    notices_open: bool
    figures: FiguresView | None
    hand_count: str
    """How the hand count stands, in words."""
    outcomes: Mapping[str, int] | None
    """The hand count, once it agrees and adds up; until then each pass is blind."""
    piles: tuple["PileView", ...]
    """The piles to hand count; none before that can begin."""
    containers: tuple["ContainerView", ...]
    results: str
    """How far the statement of results of the election is keyed in, in words that tell no figure."""
    challenged: tuple["ChallengedView", ...]
    call: tuple[tuple[str, str], ...]
    """Each official of the team, and what they answered when asked for questioned ballots."""
    statements_printed: int
    notes: tuple[str, ...]
    """What the ballots were held against, once all is counted: never a trigger (E)."""

    def to_json(self) -> dict[str, Any]:
        """Return the view as plain maps, lists, strings and numbers."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class PileView:
    """A pile to hand count, and how far it is."""

    pile: str
    what: str
    ballots: int
    standing: str


@dataclass(frozen=True, slots=True)
class ContainerView:
    """A container, without the number that its label states: somebody may still have to count it."""

    name: str
    holds: str
    seal: str
    standing: str


@dataclass(frozen=True, slots=True)
class ChallengedView:
    """A segregated ballot with the statements about it."""

    tag: str
    envelope: str
    pile: str
    question: str
    statements: tuple[tuple[int, str, str, str], ...]
    """(number, who, what, standing) of each."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A sheet that a device put aside, with where it lies; shown only while notices are open."""

    device: str
    device_name: str
    run: str
    batch: int
    sheet: int
    record_n: int
    """Number of the record that holds its crop."""
    pile: str
    reasons: tuple[str, ...]
    place: int
    """Its position in its tray, 1 = bottom."""

    def to_json(self) -> dict[str, Any]:
        """Return the notice as a plain map."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A sheet whose landing the officials are asked about now; without its place and without a verdict."""

    device: str
    device_name: str
    run: str
    batch: int
    sheet: int
    record_n: int
    """Number of the record that holds its crop, for the picture; 0 when it was never judged."""
    why: str
    like: int
    """The sheet of the same batch that it looks like; 0 for none."""
    like_record_n: int
    """Number of the record that holds that one's crop: both pictures are shown; 0 for none."""

    def to_json(self) -> dict[str, Any]:
        """Return the doubt as a plain map."""
        return asdict(self)


def figures_may_be_shown(state: PrecinctState) -> bool:
    """Return whether the act `figures_shown` has been done."""
    return state.shown is not None


def notices_open(state: PrecinctState) -> bool:
    """Return whether the notices may be listed: I3 alone still fails, or the figures have been shown."""
    return figures_may_be_shown(state) or state.step is Step.LOOK_FOR_SHEET


def notices(state: PrecinctState) -> tuple[Notice, ...]:
    """Return the notices of all set-aside and not-accepted sheets.

    Raises NotAllowed while they are closed.
    """
    if not notices_open(state):
        raise NotAllowed(
            "the notices are closed: they open when I3 alone still fails after the re-verification, "
            "and after the figures are shown (figures)"
        )
    return tuple(
        Notice(
            batch.device, state.name_of(batch.device), batch.run, batch.batch,
            sheet.sheet, sheet.judged_n, sheet.fate, sheet.reasons, sheet.place,
        )
        for batch in state.standing_batches
        for sheet in batch.sheets
        if sheet.fate in (SET_ASIDE, NOT_ACCEPTED)
    )  # fmt: skip


def asked_now(state: PrecinctState) -> tuple[Doubt, ...]:
    """Return the sheets in doubt, which the officials are asked about now."""
    return tuple(
        Doubt(
            batch.device, state.name_of(batch.device), batch.run, batch.batch,
            sheet.sheet, sheet.judged_n, sheet.in_doubt, sheet.like, _judged_n(batch, sheet.like),
        )
        for batch in state.batches
        if not state.is_void(batch)
        for sheet in batch.doubts
    )  # fmt: skip


def _judged_n(batch: Batch, number: int) -> int:
    """Return the record of a sheet's verdict, 0 where there is none."""
    return next((sheet.judged_n for sheet in batch.sheets if sheet.sheet == number), 0)


def view(state: PrecinctState) -> PrecinctView:
    """Return the precinct as it may be shown now."""
    situation, advice = SITUATION[state.state]
    return PrecinctView(
        id=state.precinct.id,
        name=state.precinct.name,
        state=state.state.value,
        situation=situation,
        next=_next(state, advice),
        mode=state.mode,
        devices=tuple(sorted({state.name_of(known.device) for known in state.assignments})),
        sheets_fed=state.sheets_fed if state.stack is not None else None,
        batches=_batches(state),
        obstacles=tuple(obstacle.sentence for obstacle in obstacles(state)),
        counts=_counts(state),
        attempt=state.attempt,
        identities=_identities(state),
        notices_open=notices_open(state),
        figures=_figures(state),
        hand_count=_hand_count(state),
        outcomes=state.outcomes if state.agreeing_act is not None else None,
        piles=_piles(state),
        containers=tuple(
            ContainerView(c.name, CONTENTS[c.holds], c.seal, _container_stands(state, c))
            for c in state.containers
        ),
        results=state.results.standing,
        challenged=challenged(state),
        call=tuple((in_words(p), plain_words(answer_of(p, state.answers))) for p in state.team),
        statements_printed=len(state.statements),
        notes=notes(state).sentences if state.agreeing_act is not None else _before_the_run(state),
    )


def _before_the_run(state: PrecinctState) -> tuple[str, ...]:
    return forecast(state) if state.state is State.OPEN else ()


def _next(state: PrecinctState, advice: str) -> str:
    if state.state is State.SCANNED and state.verdict_is_current and state.step is not None:
        return state.step.value
    if state.state is State.SCANNED and state.attempt == 2 and not state.counts_locked:
        return Step.REVERIFY.value
    by_hand = state.state in (State.RECONCILED, State.HAND_COUNT)
    closed = state.still_closed if by_hand else state.unopened
    if closed:
        return f"open container {closed[0]}, both sides together (custody open); then {advice}"
    if by_hand:
        return _next_by_hand(state)
    return _next_at_the_call(state) if state.state is State.CHALLENGE_CALL else advice


def _next_by_hand(state: PrecinctState) -> str:
    if state.numbers_to_count:
        wanting = ", ".join(state.numbers_to_count)
        return f"count {wanting}, two persons of different sides, each alone (count enter; 0 is a count)"
    piles = [shown for shown in _piles(state) if shown.standing not in ("agreed", "none")]
    return f"hand count {'; '.join(f'{shown.what}: {shown.standing}' for shown in piles)} (hand-count enter)"


def _next_at_the_call(state: PrecinctState) -> str:
    names = ", ".join(person.name for person in still_to_ask(state.team, state.answers))
    if names:
        return f"ask for questioned ballots before the conclusion (challenge call, D 3): {names}"
    if not state.statements or state.statements[-1].n < state.last_act_n:
        return "print the statement as it stands now (statement)"
    return "let every official sign the statement in ink, then conclude the precinct (conclude, E)"


def _piles(state: PrecinctState) -> tuple[PileView, ...]:
    to_count = state.to_count
    if to_count is None:
        return ()
    return tuple(
        PileView(pile, PILES[pile], ballots, _pile_stands(state, pile, ballots))
        for pile, ballots in to_count.expected.items()
    )


def _pile_stands(state: PrecinctState, pile: str, ballots: int) -> str:
    passes = of_pile(state.passes, pile)
    if not passes:
        return "to be counted, twice through" if ballots else "none"
    outcomes = agreed(state.passes, pile)
    if outcomes is None:
        return "one pass entered" if len(passes) == 1 else "the last two passes differ: count again"
    if sum(outcomes.values()) != ballots:
        return "two passes agree, but not with the ballots of the pile: count again"
    counted, envelopes = outcomes.get(CHALLENGED, 0), counted_as_challenged(state.questioned, pile)
    if envelopes > counted:
        return f"{envelopes} envelopes lie with this pile: count them as challenged, twice through"
    return "agreed"


def _container_stands(state: PrecinctState, container: Container) -> str:
    sealed = next((s for s in reversed(state.resealed) if s.name == container.name), None)
    if sealed is not None:
        return f"sealed again, seal {sealed.seal}"
    if not container.found:
        return "not found"
    if container.is_excluded:
        return "no part of the recount: stays sealed"
    return "open" if container.opened is not None else f"seal {container.seal_was}, not opened"


def challenged(state: PrecinctState) -> tuple[ChallengedView, ...]:
    """Return the segregated ballots as they may be shown: without what they were counted as."""
    return tuple(
        ChallengedView(
            ballot.tag,
            ballot.envelope,
            ballot.pile,
            ballot.question,
            tuple(
                (stated.number, in_words(stated.person), stated.text, _statement_stands(stated))
                for stated in state.challenges
                if stated.tag == ballot.tag
            ),
        )
        for ballot in state.segregated
    )


def _statement_stands(stated: Challenge) -> str:
    stamp = "after conclusion" if stated.after_conclusion else "before conclusion"
    return f"{stamp}, withdrawn {stated.withdrawn}" if stated.withdrawn else stamp


def _batches(state: PrecinctState) -> tuple[BatchView, ...]:
    return tuple(
        BatchView(batch.device, state.name_of(batch.device), batch.run, batch.batch, _standing(state, index))
        for index, batch in enumerate(state.batches)
    )


def _standing(state: PrecinctState, index: int) -> str:
    batch = state.batches[index]
    if state.is_void(batch):
        return "void"
    if state.is_late(batch):
        return "late"
    if batch.contradictions or (batch.closed_n and not batch.i9.holds):
        return "cannot_stand"
    return "closed" if batch.closed_n else "open"


def _counts(state: PrecinctState) -> tuple[CountView, ...]:
    open_now = figures_may_be_shown(state)
    views: list[CountView] = []
    for letter, what in LETTERS.items():
        due = attempt_due(state, letter)
        last = state.counts.last_attempt(letter) if letter in ("p", "o", "d") else due
        values = tuple(
            (entry.attempt, entry.value, entry.person.name)
            for entry in state.counts.entries
            if entry.letter == letter
        )
        standing = state.counts.standing(letter, last)
        # p, o and d are counted after the figures are shown, and as blind as all others.
        settled = standing in (Standing.LOCKED, Standing.NOT_COUNTED)
        if letter == "o" and standing is Standing.NOT_COUNTED and open_now and state.other("o") == 0:
            views.append(CountView(letter, what, last, "none: no sheet was not accepted", ()))
        elif letter == "d" and standing is Standing.NOT_COUNTED and state.other("d") == 0:
            views.append(CountView(letter, what, last, "none known of", () if open_now else None))
        else:
            views.append(
                CountView(letter, what, last, standing.value, values if open_now and settled else None)
            )
    return tuple(views)


def _identities(state: PrecinctState) -> tuple[IdentityView, ...]:
    open_now = figures_may_be_shown(state)
    written = {finding.name: tuple(str(e) for e in finding.equations) for finding in state.findings}
    told: dict[str, bool] = {}
    for last in state.verdicts[-1:]:
        told = dict.fromkeys(last.held, True) | dict.fromkeys(last.failed, False)
    views = [
        IdentityView(name, told[name], written[name] if open_now else None, MEANINGS[name])
        for name in sorted(told)
    ]
    finding = state.hand_finding
    if finding is not None:
        equations = tuple(str(e) for e in finding.equations)
        views.append(IdentityView(finding.name, finding.holds, equations, MEANINGS[finding.name]))
    return tuple(views)


def _figures(state: PrecinctState) -> FiguresView | None:
    if state.shown is None:
        return None
    figures = state.figures
    stack, c, s, x = (value or 0 for value in (state.stack, *(state.pile(letter) for letter in "csx")))
    return FiguresView(
        stack, stack - x, figures.counted, figures.set_aside, figures.not_accepted, c, s, x,
        figures.votes, figures.set_aside_reasons, figures.not_accepted_reasons,
        superseded=state.shown.body["outcome"] == State.HAND_COUNT.value,
    )  # fmt: skip


def _hand_count(state: PrecinctState) -> str:
    if state.agreeing_act is not None:
        return "agreed"
    if state.numbers_to_count:
        wanting = ", ".join(state.numbers_to_count)
        return f"{wanting} to be counted first" if state.to_hand_count else "not begun"
    open_piles = [view for view in _piles(state) if view.standing not in ("agreed", "none")]
    return "; ".join(f"{view.pile}: {view.standing}" for view in open_piles) or "not begun"


FIGURES_OF_A_DEVICE: Mapping[str, tuple[str, ...]] = {ZERO: ("head_n",)}
"""By the kind of an act about a device and no precinct: what tells how many sheets it took in between."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One act as the log may show it now."""

    n: int
    utc: str
    kind: str
    says: str
    """What such an act means, for an auditor."""
    precinct: str
    by: tuple[str, ...]
    fields: Mapping[str, Any]
    """What it holds, without the figures that may not be shown yet; hashes as hexadecimal digits."""
    hidden: tuple[str, ...]
    """The fields left out."""

    def to_json(self) -> dict[str, Any]:
        """Return the line as a plain map."""
        return asdict(self)


def log(acts: Sequence[Act], states: Mapping[str, PrecinctState]) -> tuple[LogLine, ...]:
    """Return the log of all acts: figures of a precinct only when nobody has to find them blind any more.

    The figures shown are open from the act that showed them; each count by hand once it adds up with all
    others. How many records a device has is open while no precinct that it was given is still counted blind.
    """
    blind = frozenset(
        known.device for state in states.values() if state.agreeing_act is None for known in state.assignments
    )
    return tuple(_log_line(act, states.get(str(act.body.get("precinct", ""))), blind) for act in acts)


def _log_line(act: Act, state: PrecinctState | None, blind: Collection[str]) -> LogLine:
    kind = KINDS[act.kind]
    if act.kind in FIGURES_OF_A_DEVICE:
        hidden = FIGURES_OF_A_DEVICE[act.kind] if act.body["device"] in blind else ()
    else:
        counted = state is not None and state.agreeing_act is not None
        hidden = () if counted or act.kind == "figures_shown" else kind.figures
    fields = {
        name: _plain(value)
        for name, value in act.body.items()
        if name not in ("precinct", "toml") and name not in hidden
    }
    by = tuple(in_words(person) for person in act.by)
    return LogLine(act.n, act.utc, act.kind, kind.says, str(act.body.get("precinct", "")), by, fields, hidden)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return value
