"""A precinct as far as the facts go: what was done, what devices recorded, what follows from both.

Everything here is looked up or added up; what an act does is in `steps.py`, how all is folded in
`precinct.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from recount_host.act import Act, Person
from recount_host.law import hand_count
from recount_host.law.contest import Contest
from recount_host.law.counts import STACK_AND_PILES, CountBook, Standing, locked
from recount_host.law.errors import NotAllowed
from recount_host.law.hand_count import Pass, ToCount
from recount_host.law.identities import Finding
from recount_host.law.reconciliation import Step, Verdict, findings, next_step, wrong_devices
from recount_host.law.states import Event, State, after
from recount_host.law.tally import Batch, DeviceFacts, Figures, Gap, Run, add_up
from recount_host.order import Order, Precinct
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, SET_ASIDE
from recount_protocol.records import NO_HASH

PILE_OF_LETTER = {"c": COUNTED, "s": SET_ASIDE, "x": NOT_ACCEPTED}
LETTER_OF_PILE = {pile: letter for letter, pile in PILE_OF_LETTER.items()}


@dataclass(frozen=True, slots=True)
class Facts:
    """All there is to know: the order, what people did, what devices recorded, and what is surely missing."""

    order: Order
    acts: Sequence[Act]
    devices: Mapping[str, DeviceFacts] = field(default_factory=dict[str, DeviceFacts])
    gaps: Sequence[Gap] = ()
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """The name of each device, by id."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """A device told to scan this precinct."""

    run: str
    device: str
    program: bytes
    mode: str
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """A sheet that both sides found in the wrong pile and laid into the right one."""

    device: str
    batch: int
    sheet: int
    """0 when it is a counted sheet, of which there is no notice."""
    from_pile: str
    to_pile: str
    by: tuple[Person, ...]
    act_n: int


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why the scanners' figures cannot stand yet, and what to do; a sentence without figures."""

    word: str
    sentence: str


@dataclass(frozen=True)
class PrecinctState:
    """A precinct as far as the facts go.

    Figures in it are for the law alone: show `disclosure.view` of it.
    """

    precinct: Precinct
    order: Order
    contests: Mapping[bytes, Contest]
    names: Mapping[str, str]
    runs: tuple[Run, ...]
    """Runs that devices opened for this precinct, assigned or not."""
    batches: tuple[Batch, ...]
    device_heads: Mapping[str, tuple[int, bytes]]
    """Number and SHA-256 of the last record here of every device."""
    gaps: tuple[Gap, ...]
    state: State = State.NOT_OPEN
    assignments: tuple[Assignment, ...] = ()
    void_orders: tuple[Act, ...] = ()
    settle_orders: tuple[Act, ...] = ()
    heads: Mapping[str, int] | None = None
    """The last record of each device that counts, fixed by `scanning_finished`."""
    head_sha256: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The SHA-256 of those records."""
    counts: CountBook = field(default_factory=CountBook)
    dropped_counts: tuple[CountBook, ...] = ()
    """Pile counts of scans that were reopened; kept, never used."""
    verdicts: tuple[Verdict, ...] = ()
    moves: tuple[Move, ...] = ()
    shown: Act | None = None
    passes: tuple[Pass, ...] = ()
    statements: tuple[Act, ...] = ()
    last_act_n: int = 0
    """The last act that changed anything here; printing a statement changes nothing."""
    concluding_act: Act | None = None
    """The act by which the hand count agreed and every identity held."""

    @property
    def contest(self) -> Contest | None:
        """Return the contest that this precinct's devices were given, None before one was."""
        return (
            self.contests[self.assignments[0].program]
            if self.assignments
            else next(iter(self.contests.values()), None)
        )

    @property
    def mode(self) -> str:
        """Return the mode of the precinct's runs; training before there is one."""
        return self.assignments[0].mode if self.assignments else "training"

    def name_of(self, device: str) -> str:
        """Return the device's name, or its id where it has not introduced itself."""
        return self.names.get(device, device)

    # Batches

    def is_void(self, batch: Batch) -> bool:
        """Return whether both sides declared this batch void, here or at the device."""
        ordered = any(
            (act.body["device"], act.body["batch"]) == (batch.device, batch.batch) for act in self.void_orders
        )
        return ordered or bool(batch.voided_n and batch.voided_n <= self._head(batch.device, batch.voided_n))

    def is_late(self, batch: Batch) -> bool:
        """Return whether this batch was still open, or not yet begun, when scanning was declared finished."""
        if self.heads is None or self.is_void(batch):
            return False
        return not batch.closed_n or batch.closed_n > self.heads.get(batch.device, 0)

    @property
    def standing_batches(self) -> tuple[Batch, ...]:
        """Return the batches that count: closed, not void, and not after the end of scanning."""
        return tuple(
            batch
            for batch in self.batches
            if batch.closed_n and not self.is_void(batch) and not self.is_late(batch)
        )

    @property
    def void_batches(self) -> tuple[Batch, ...]:
        """Return the attempts that both sides voided; kept, counting nothing."""
        return tuple(batch for batch in self.batches if self.is_void(batch))

    @property
    def figures(self) -> Figures:
        """Return what the scanners report for this precinct: C, S, X, votes. For the law alone."""
        return add_up(self.standing_batches)

    @property
    def figures_by_device(self) -> Mapping[str, Figures]:
        """Return the figures of each device by itself."""
        devices = {batch.device for batch in self.standing_batches}
        return {
            device: add_up(batch for batch in self.standing_batches if batch.device == device)
            for device in sorted(devices)
        }

    @property
    def sheets_fed(self) -> int:
        """Return the bare number of sheets that went through to a bin, of all batches that are not void."""
        return sum(batch.fed for batch in self.batches if not self.is_void(batch))

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """Return everything that keeps the scanners' figures from standing, each with what to do.

        Once the identities were told only a gap does: the heads fix what counts, and it was whole when told.
        What devices send later counts nothing, cannot be voided any more (D 2), and must not keep a precinct
        from its hand count for good.
        """
        found = [_gap(self, gap) for gap in self.gaps]
        if self.verdicts:
            return tuple(found)
        found += [_stray_run(self, run) for run in self.runs if not _is_assigned(self, run)]
        for batch in self.batches:
            if not self.is_void(batch):
                found += [*_of_batch(self, batch), *_of_choices(self, batch)]
        return tuple(found)

    def _head(self, device: str, otherwise: int) -> int:
        return otherwise if self.heads is None else self.heads.get(device, 0)

    # Counts

    @property
    def attempt(self) -> int:
        """Return which counting of H, c, s, x is in force: 1, or 2 once the re-verification was due."""
        asked = any(next_step(verdict.failed, verdict.attempt) is Step.REVERIFY for verdict in self.verdicts)
        return 2 if asked else 1

    @property
    def counts_locked(self) -> bool:
        """Return whether H, c, s and x are all locked in the attempt in force."""
        return locked(self.counts, self.attempt)

    @property
    def stack(self) -> int | None:
        """Return H of the attempt in force, None while it is not locked."""
        return self.counts.value("H", self.attempt)

    def pile(self, letter: str) -> int | None:
        """Return c, s or x of the attempt in force with the moves applied, None while it is not locked."""
        value = self.counts.value(letter, self.attempt)
        if value is None:
            return None
        pile = PILE_OF_LETTER[letter]
        return value + sum((move.to_pile == pile) - (move.from_pile == pile) for move in self.moves)

    def other(self, letter: str) -> int | None:
        """Return p or o as last counted, None while it is not locked.

        No not-accepted sheet: o is 0 without a count.
        """
        if letter == "o" and not self.counts.of("o", 1) and self.pile("x") == 0:
            return 0
        return self.counts.value(letter, self.counts.last_attempt(letter))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return I1 to I4 with their figures, empty while a count is missing. For the law alone."""
        stack, piles = self.stack, {letter: self.pile(letter) for letter in PILE_OF_LETTER}
        known = {letter: value for letter, value in piles.items() if value is not None}
        if stack is None or len(known) < len(piles):
            return ()
        return findings(stack, known, self.figures, self.order.vote_for)

    @property
    def verdict_now(self) -> Verdict:
        """Return what `reconcile` tells now. Raises NotAllowed while it may not tell."""
        after(self.state, Event.TELL_IDENTITIES)
        check_no_obstacles(self)
        if not self.counts_locked:
            missing = ", ".join(
                letter
                for letter in STACK_AND_PILES
                if self.counts.standing(letter, self.attempt) is not Standing.LOCKED
            )
            again = " once more" if self.attempt == 2 else ""
            raise NotAllowed(
                f"count{again} and enter {missing} first, two persons of different sides each: count enter"
            )
        looked_at = self.findings
        return Verdict(
            self.attempt,
            tuple(finding.name for finding in looked_at if finding.holds),
            tuple(finding.name for finding in looked_at if not finding.holds),
            wrong_devices(self.figures_by_device, self.order.vote_for),
            len(self.moves),
            0,
        )

    @property
    def step(self) -> Step | None:
        """Return what follows from the last verdict, None before there is one."""
        if not self.verdicts:
            return None
        last = self.verdicts[-1]
        return next_step(last.failed, last.attempt)

    @property
    def verdict_is_current(self) -> bool:
        """Return whether nothing was counted or moved since the identities were told."""
        if not self.verdicts:
            return False
        last = self.verdicts[-1]
        return last.attempt == self.attempt and last.moves == len(self.moves)

    # Hand count

    @property
    def to_count(self) -> ToCount | None:
        """Return the numbers that say how many ballots to hand count, None while one of them is missing."""
        values = (self.stack, self.pile("s"), self.pile("x"), self.other("o"), self.other("p"))
        if self.shown is None or any(value is None for value in values):
            return None
        stack, set_aside, not_accepted, without_contest, not_programmable = (value or 0 for value in values)
        whole = self.shown.body["outcome"] == State.HAND_COUNT.value
        return ToCount(whole, stack, set_aside, not_accepted, without_contest, not_programmable)

    @property
    def outcomes(self) -> Mapping[str, int] | None:
        """Return the hand count on which the last two passes agree, or None."""
        return hand_count.agreed(self.passes)

    @property
    def hand_finding(self) -> Finding | None:
        """Return I5 (I6 in hand count) for the agreed hand count, None while there is none."""
        if self.outcomes is None or self.to_count is None:
            return None
        return self.to_count.finding(sum(self.outcomes.values()))


def attempt_due(state: PrecinctState, letter: str) -> int:
    """Return the attempt in which the next count of this number is entered.

    p and o judge no scanner: they may be counted anew (all values kept) until the hand count adds up.
    """
    if letter in STACK_AND_PILES:
        return state.attempt
    last = state.counts.last_attempt(letter)
    return last + 1 if state.counts.standing(letter, last) is Standing.LOCKED else last


def check_scanning_done(state: PrecinctState) -> None:
    """Raise NotAllowed while something is open: a batch, a sheet in doubt, a gap, I9 failing."""
    after(state.state, Event.FINISH_SCANNING)
    check_no_obstacles(state)


def find_batch(state: PrecinctState, device: str, batch: int) -> Batch:
    """Return this batch of this precinct. Raises NotAllowed when there is none."""
    for known in state.batches:
        if (known.device, known.batch) == (device, batch):
            return known
    raise NotAllowed(
        f"{state.name_of(device)} has no batch {batch} of precinct {state.precinct.id}: see show"
    )


def devices_of(state: PrecinctState) -> tuple[str, ...]:
    """Return the devices that were given this precinct, by id."""
    return tuple(sorted({known.device for known in state.assignments}))


def heads_body(state: PrecinctState) -> dict[str, Any]:
    """Return the body of `scanning_finished` for the records that are here now."""
    heads = {device: state.device_heads.get(device, (0, NO_HASH)) for device in devices_of(state)}
    return {
        "precinct": state.precinct.id,
        "heads": {device: n for device, (n, _) in heads.items()},
        "head_sha256": {device: sha256 for device, (_, sha256) in heads.items()},
    }


# What keeps the scanners' figures from standing


def check_no_obstacles(state: PrecinctState) -> None:
    """Raise NotAllowed with the first thing that keeps the scanners' figures from standing."""
    if state.obstacles:
        raise NotAllowed(state.obstacles[0].sentence)


def _gap(state: PrecinctState, gap: Gap) -> Obstacle:
    which = f"record {gap.first_n}" if gap.first_n == gap.last_n else f"records {gap.first_n} to {gap.last_n}"
    return Obstacle(
        "gap",
        f"{which} of {state.name_of(gap.device)} did not arrive: no figures before they do; "
        "keep the device connected, it sends them again",
    )


def _is_assigned(state: PrecinctState, run: Run) -> bool:
    return any(
        (known.run, known.device, known.program, known.mode) == (run.run, run.device, run.program, run.mode)
        for known in state.assignments
    )


def _stray_run(state: PrecinctState, run: Run) -> Obstacle:
    return Obstacle(
        "stray_run",
        f"{state.name_of(run.device)} opened run {run.run} otherwise than assigned (program or mode differ): "
        "stop, and have the device looked into",
    )


def _of_batch(state: PrecinctState, batch: Batch) -> list[Obstacle]:
    name = f"batch {batch.batch} of {state.name_of(batch.device)}"
    void = "both sides void it (batch void) and its sheets are run again"
    found = [
        Obstacle("in_doubt", f"sheet {sheet.sheet} in {name} is in doubt: say where it lies (doubt settle)")
        for sheet in batch.doubts
    ]
    if state.is_late(batch):
        found.append(Obstacle("late", f"{name} was not closed when scanning was finished: {void}"))
    elif not batch.closed_n:
        found.append(Obstacle("open_batch", f"{name} is still open: end it at the device's panel, or {void}"))
    elif not batch.i9.holds:
        found.append(
            Obstacle("i9", f"I9 fails in {name}: the feeder's count and the sheet records differ; {void}")
        )
    if state.heads is not None and state.shown is None and batch.voided_n:
        found.append(
            Obstacle("voided_late", f"{name} was voided at the device after scanning was finished: {void}")
        )
    if batch.contradictions:
        found.append(Obstacle("contradiction", f"{name}: {batch.contradictions[0]}; {void}"))
    return found


def _of_choices(state: PrecinctState, batch: Batch) -> list[Obstacle]:
    """Return what its verdicts say that no verdict can say: an option that is not printed, or one twice."""
    run = next((run for run in state.runs if (run.device, run.run) == (batch.device, batch.run)), None)
    contest = state.contests.get(run.program) if run is not None else None
    if contest is None:
        return []  # a run of an unknown program is told of as a stray run
    printed = {option.key for option in contest.printed}
    return [
        Obstacle(
            "choices",
            f"batch {batch.batch} of {state.name_of(batch.device)}: sheet {sheet.sheet} has choices that its "
            "program does not allow: both sides void it (batch void), and the device is looked into",
        )
        for sheet in batch.sheets
        if not printed.issuperset(sheet.choices) or len(set(sheet.choices)) < len(sheet.choices)
    ]
