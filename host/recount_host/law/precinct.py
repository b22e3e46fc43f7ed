"""One precinct, folded from records, acts and the order: everything that pages, commands and forms need.

`fold` is the only way to a precinct's state. `admit` says whether a further act is allowed: it folds,
applies the act, and refuses with a sentence what the law or the design does not let happen. D lead: one
recount a precinct.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recount_host.act import Act, Person
from recount_host.law import hand_count
from recount_host.law.acts import KINDS, check_act
from recount_host.law.contest import Contest, check_fits_order, contests_of
from recount_host.law.counts import STACK_AND_PILES, CountBook, Entry, Standing, locked
from recount_host.law.errors import LedgerContradiction, NotAllowed
from recount_host.law.hand_count import Pass, ToCount, check_outcomes, without_zeros
from recount_host.law.identities import Finding
from recount_host.law.persons import check_both_sides, check_one, check_sides_known
from recount_host.law.reconciliation import Step, Verdict, findings, next_step, wrong_devices
from recount_host.law.states import Event, State, after
from recount_host.law.tally import Batch, DeviceFacts, Figures, Gap, Run, add_up
from recount_host.order import Order, Precinct
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE
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
        """Return everything that keeps the scanners' figures from standing, each with what to do."""
        found = [_gap(self, gap) for gap in self.gaps]
        found += [_stray_run(self, run) for run in self.runs if not _is_assigned(self, run)]
        for batch in self.batches:
            if not self.is_void(batch):
                found += _of_batch(self, batch)
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
        _no_obstacles(self)
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


def fold(facts: Facts, precinct_id: str) -> PrecinctState:
    """Return the state of one precinct. Raises LedgerContradiction when its acts cannot have been allowed."""
    state = _untouched(facts, precinct_id)
    for act in facts.acts:
        if act.body.get("precinct") == precinct_id:
            try:
                check_act(act.kind, act.by, act.body)
                state = apply(state, act)
            except (NotAllowed, LedgerContradiction) as error:
                raise LedgerContradiction(
                    f"act {act.n} ({act.kind}) cannot have been done: {error}"
                ) from error
    return _begun(state)


def fold_all(facts: Facts) -> Mapping[str, PrecinctState]:
    """Return the state of every precinct of the order, by id."""
    return {precinct.id: fold(facts, precinct.id) for precinct in facts.order.precincts}


def admit(facts: Facts, kind: str, by: Sequence[Person], body: Mapping[str, Any]) -> PrecinctState:
    """Return the precinct as it would be after this act.

    Raises BadEntry or NotAllowed with the sentence for people.

    The caller appends the act in the same turn at the ledger, so that what was looked at still holds.
    """
    check_act(kind, by, body)
    check_sides_known(by, facts.order.side_keys)
    facts.order.precinct(body["precinct"])
    state = fold(facts, body["precinct"])
    guard = _WHEN_ADMITTED.get(kind)
    act = Act(len(facts.acts) + 1, b"", kind, "", tuple(by), body)
    if guard is not None:
        guard(facts, state, act)
    return _begun(apply(state, act))


def apply(state: PrecinctState, act: Act) -> PrecinctState:
    """Return the state after `act`. Raises NotAllowed.

    Looks at acts, and at records only as far as no later record can change them: every act is applied anew
    at each fold, when more records have come, and must then be allowed as it was. What else is asked of a
    new act is in `_WHEN_ADMITTED`.
    """
    state = _begun(state)
    if KINDS[act.kind].two_persons:
        check_both_sides(act.by, "this")
    changed = _APPLY[act.kind](state, act)
    if act.kind != "statement_printed":
        changed = replace(changed, last_act_n=act.n)
    return _with_agreement(changed, act)


def _untouched(facts: Facts, precinct_id: str) -> PrecinctState:
    precinct = facts.order.precinct(precinct_id)
    runs = tuple(
        run
        for device in facts.devices.values()
        for run in device.runs.values()
        if run.precinct == precinct_id
    )
    own = {(run.device, run.run) for run in runs}
    batches = tuple(
        batch
        for device in facts.devices.values()
        for batch in device.batches
        if (batch.device, batch.run) in own
    )
    known_gaps = (*facts.gaps, *(gap for device in facts.devices.values() for gap in device.gaps))
    heads = {device: (told.head_n, told.head_sha256) for device, told in facts.devices.items()}
    state = PrecinctState(
        precinct, facts.order, contests_of(facts.acts), facts.names, runs, batches, heads, ()
    )
    return replace(state, gaps=_gaps_that_matter(facts, state, known_gaps))


def _gaps_that_matter(facts: Facts, state: PrecinctState, gaps: Sequence[Gap]) -> tuple[Gap, ...]:
    """Return the gaps in which records of this precinct can be missing.

    Conservative: every gap of a device that was given this precinct and has no closed run of it before the
    gap.
    """
    given = {
        (act.body["run"], act.body["device"])
        for act in facts.acts
        if act.kind == "run_assigned" and act.body["precinct"] == state.precinct.id
    }
    given |= {(run.run, run.device) for run in state.runs}
    closed = {(run.run, run.device): run.closed_n for run in state.runs if run.closed_n}
    matter = {
        gap
        for gap in gaps
        for run, device in given
        if device == gap.device and closed.get((run, device), gap.first_n) >= gap.first_n
    }
    return tuple(sorted(matter, key=lambda gap: (gap.device, gap.first_n)))


def _begun(state: PrecinctState) -> PrecinctState:
    """Return the state with feeding begun where a device opened a batch.

    Records have no place among the acts, so this is looked at before every act and at the end.
    """
    if state.state is State.OPEN and state.batches:
        return replace(state, state=after(state.state, Event.OPEN_BATCH))
    return state


# What each act does


def _run_assigned(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.ASSIGN_RUN)
    body = act.body
    if body["mode"] != "training":
        raise NotAllowed(
            f"mode {body['mode']} is refused: D 2 asks that logic and accuracy tests have been "
            "passed by each scanner, "
            "and this version cannot record them; use --mode training"
        )
    if body["program"] not in state.contests:
        raise NotAllowed("this contest program is not in the ledger: add it first (program add)")
    if state.assignments and state.assignments[0].program != body["program"]:
        raise NotAllowed(
            "this precinct is scanned with another contest program already: one precinct, one program"
        )
    if any(known.run == body["run"] for known in state.assignments):
        raise NotAllowed(f"run {body['run']} is assigned already")
    given = Assignment(body["run"], body["device"], body["program"], body["mode"])
    return replace(state, state=reached, assignments=(*state.assignments, given))


def _run_ended(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.END_RUN)
    if not any(known.run == act.body["run"] and not known.ended for known in state.assignments):
        raise NotAllowed(f"there is no open run {act.body['run']} of this precinct")
    ended = tuple(
        replace(known, ended=True) if known.run == act.body["run"] else known for known in state.assignments
    )
    return replace(state, state=reached, assignments=ended)


def _batch_void_ordered(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.VOID_BATCH)
    if state.verdicts:
        raise NotAllowed(
            "D 2: after the identities were told nothing is run again to make them fit; go on "
            "with reconcile or figures"
        )
    find_batch(state, act.body["device"], act.body["batch"])
    changed = replace(state, state=reached, void_orders=(*state.void_orders, act))
    if state.state is not State.SCANNED:
        return changed
    # The piles will hold other sheets: their counts are kept, and counted anew. H is the same stack.
    piles = tuple(entry for entry in state.counts.entries if entry.letter in PILE_OF_LETTER)
    rest = tuple(entry for entry in state.counts.entries if entry.letter not in PILE_OF_LETTER)
    dropped = (*state.dropped_counts, CountBook(piles)) if piles else state.dropped_counts
    return replace(changed, heads=None, counts=CountBook(rest), dropped_counts=dropped)


def _doubt_settled_ordered(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.SETTLE_DOUBT)
    body = act.body
    batch = find_batch(state, body["device"], body["batch"])
    sheet = next((sheet for sheet in batch.sheets if sheet.sheet == body["sheet"] and sheet.in_doubt), None)
    if sheet is None:
        raise NotAllowed(f"sheet {body['sheet']} of batch {body['batch']} is not in doubt: see doubt list")
    if body["fate"] not in (sheet.judged, NOT_ACCEPTED, RETURNED):
        raise NotAllowed(
            f"sheet {sheet.sheet} was not judged {body['fate']}: it can lie where it was judged to go, "
            "in the not-accepted tray, or be returned and fed again"
        )
    return replace(state, state=reached, settle_orders=(*state.settle_orders, act))


def _scanning_finished(state: PrecinctState, act: Act) -> PrecinctState:
    heads: dict[str, int] = dict(act.body["heads"])
    return replace(
        state,
        state=after(state.state, Event.FINISH_SCANNING),
        heads=heads,
        head_sha256=act.body["head_sha256"],
    )


_COUNT_EVENTS = {
    "H": Event.COUNT_STACK,
    "c": Event.COUNT_PILE,
    "s": Event.COUNT_PILE,
    "x": Event.COUNT_PILE,
    "p": Event.COUNT_NOT_PROGRAMMABLE,
    "o": Event.COUNT_LACKING_CONTEST,
}


def _count_entered(state: PrecinctState, act: Act) -> PrecinctState:
    letter, value = act.body["letter"], act.body["value"]
    reached = after(state.state, _COUNT_EVENTS[letter])
    due = attempt_due(state, letter)
    if act.body["attempt"] != due:
        raise NotAllowed(f"{letter} is counted in attempt {due} now")
    if letter in STACK_AND_PILES and state.verdicts and state.attempt == 1:
        raise NotAllowed(f"{letter} is locked and the identities were told: go on with figures")
    limit = (state.stack if state.state is State.HAND_COUNT else state.pile("x")) if letter == "o" else None
    if limit is not None and value > limit:
        raise NotAllowed(f"o cannot be more than the {limit} sheets it is part of: count them again")
    entry = Entry(letter, due, value, check_one(act.by), act.n)
    return replace(state, state=reached, counts=state.counts.entered(entry))


def _identities_told(state: PrecinctState, act: Act) -> PrecinctState:
    # Folding later, when more records have come, must find the same: the heads fix what counts.
    stack_and_piles = state.findings
    held = tuple(finding.name for finding in stack_and_piles if finding.holds)
    failed = tuple(finding.name for finding in stack_and_piles if not finding.holds)
    reached = after(state.state, Event.TELL_IDENTITIES)
    if not state.counts_locked:
        raise NotAllowed("H, c, s and x are not all locked")
    if (list(held), list(failed), state.attempt) != (
        list(act.body["held"]),
        list(act.body["failed"]),
        act.body["attempt"],
    ):
        raise LedgerContradiction("the identities told are not those that the records and counts give")
    told = Verdict(act.body["attempt"], held, failed, tuple(act.body["disarmed"]), len(state.moves), act.n)
    return replace(state, state=reached, verdicts=(*state.verdicts, told))


def _sheet_moved(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.MOVE_SHEET)
    if state.step is not Step.LOOK_FOR_SHEET:
        raise NotAllowed("a sheet is looked for and moved only when I3 alone fails after the re-verification")
    body = act.body
    move = Move(
        body["device"], body["batch"], body["sheet"], body["from_pile"], body["to_pile"], act.by, act.n
    )
    if move.from_pile == move.to_pile:
        raise NotAllowed("the sheet is moved from one pile to another: name two piles")
    if not state.pile(LETTER_OF_PILE[move.from_pile]):
        raise NotAllowed(f"the {move.from_pile} pile is empty: nothing can be moved from it")
    if move.to_pile == COUNTED:
        if move.sheet:
            raise NotAllowed("a counted sheet has no notice: leave its number out")
        return replace(state, state=reached, moves=(*state.moves, move))
    sheet = next(
        (s for b in state.standing_batches for s in b.sheets
         if (b.device, b.batch, s.sheet) == (move.device, move.batch, move.sheet)),
        None,
    )  # fmt: skip
    if sheet is None or sheet.fate != move.to_pile:
        raise NotAllowed(f"there is no notice that puts this sheet into the {move.to_pile} pile: see notices")
    if any((m.device, m.batch, m.sheet) == (move.device, move.batch, move.sheet) for m in state.moves):
        raise NotAllowed("this sheet was moved already")
    return replace(state, state=reached, moves=(*state.moves, move))


def _figures_shown(state: PrecinctState, act: Act) -> PrecinctState:
    body = act.body
    holding = body["outcome"] == State.RECONCILED.value
    reached = after(state.state, Event.SHOW_RECONCILED if holding else Event.SHOW_HAND_COUNT)
    if state.step is Step.REVERIFY:
        raise NotAllowed(f"the figures stay closed: {Step.REVERIFY.value}")
    if not state.verdict_is_current:
        raise NotAllowed("the identities are told first: reconcile")
    if holding is not (state.step is Step.SHOW_RECONCILED):
        raise LedgerContradiction("the outcome shown is not the one that the identities give")
    figures = state.figures
    told = (body["counted"], body["set_aside"], body["not_accepted"], dict(body["votes"]))
    if told != (figures.counted, figures.set_aside, figures.not_accepted, dict(figures.votes)):
        raise LedgerContradiction("the figures shown are not those that the records give")
    return replace(state, state=reached, shown=act)


def _hand_count_entered(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.COUNT_OUTCOMES)
    for letter in ("p", "o"):
        if state.other(letter) is None:
            raise NotAllowed(
                f"count {letter} first, two persons of different sides (0 is a count): "
                f"count enter {state.precinct.id} {letter} NUMBER"
            )
    if act.body["pass"] != len(state.passes) + 1:
        raise NotAllowed(f"this is pass {len(state.passes) + 1}")
    contest = state.contest
    if contest is None:
        raise NotAllowed("there is no contest program yet, so no outcomes are known: program add")
    check_outcomes(act.body["outcomes"], contest, state.order)
    entered = Pass(without_zeros(act.body["outcomes"]), act.by, act.n)
    return replace(state, state=reached, passes=(*state.passes, entered))


def _statement_printed(state: PrecinctState, act: Act) -> PrecinctState:
    return replace(
        state, state=after(state.state, Event.PRINT_STATEMENT), statements=(*state.statements, act)
    )


_APPLY: Mapping[str, Callable[[PrecinctState, Act], PrecinctState]] = {
    "run_assigned": _run_assigned,
    "run_ended": _run_ended,
    "batch_void_ordered": _batch_void_ordered,
    "doubt_settled_ordered": _doubt_settled_ordered,
    "scanning_finished": _scanning_finished,
    "count_entered": _count_entered,
    "identities_told": _identities_told,
    "sheet_moved": _sheet_moved,
    "figures_shown": _figures_shown,
    "hand_count_entered": _hand_count_entered,
    "statement_printed": _statement_printed,
}


def _with_agreement(state: PrecinctState, act: Act) -> PrecinctState:
    """Return the state with the hand count done, once two passes agree and I5 (or I6) holds."""
    finding = state.hand_finding
    if state.state not in (State.RECONCILED, State.HAND_COUNT) or finding is None or not finding.holds:
        return state
    return replace(state, state=after(state.state, Event.AGREE_OUTCOMES), concluding_act=act)


# What is looked at only when an act is new: other precincts, and records that may still come


def _admit_run(facts: Facts, state: PrecinctState, act: Act) -> None:
    body = act.body
    device = body["device"]
    if body["contest"] != facts.order.contest:
        raise NotAllowed(f'the order is about the contest "{facts.order.contest}", not "{body["contest"]}"')
    if body["program"] in state.contests:
        check_fits_order(state.contests[body["program"]], facts.order)
    if any(earlier.kind == "run_assigned" and earlier.body["run"] == body["run"] for earlier in facts.acts):
        raise NotAllowed(f"run {body['run']} is assigned already")
    if device in disarmed(facts.acts):
        raise NotAllowed(
            f"{state.name_of(device)} is disarmed: its counted sheets did not hold the right "
            "number of votes (I4); "
            "use another device"
        )
    open_run = open_assignment(facts.acts, device)
    if open_run is not None:
        raise NotAllowed(
            f"{state.name_of(device)} still scans precinct {open_run.body['precinct']} (run "
            f"{open_run.body['run']}): "
            "finish-scanning there first"
        )


def _admit_void(_facts: Facts, state: PrecinctState, act: Act) -> None:
    batch = find_batch(state, act.body["device"], act.body["batch"])
    if state.is_void(batch):
        raise NotAllowed(f"batch {batch.batch} of {state.name_of(batch.device)} is void already")


def _admit_settling(_facts: Facts, state: PrecinctState, act: Act) -> None:
    batch = find_batch(state, act.body["device"], act.body["batch"])
    if any(sheet.sheet == act.body["sheet"] and sheet.fate for sheet in batch.sheets):
        raise NotAllowed(f"sheet {act.body['sheet']} of batch {batch.batch} is settled already")


def _admit_finish(_facts: Facts, state: PrecinctState, act: Act) -> None:
    check_scanning_done(state)
    if any(not known.ended for known in state.assignments):
        raise NotAllowed("its devices' runs are ended first")
    if act.body != heads_body(state):
        raise NotAllowed("other records have come meanwhile: give the command again")


def _admit_showing(_facts: Facts, state: PrecinctState, _act: Act) -> None:
    _no_obstacles(state)


_WHEN_ADMITTED: Mapping[str, Callable[[Facts, PrecinctState, Act], None]] = {
    "run_assigned": _admit_run,
    "batch_void_ordered": _admit_void,
    "doubt_settled_ordered": _admit_settling,
    "scanning_finished": _admit_finish,
    "identities_told": _admit_showing,
    "figures_shown": _admit_showing,
}


# Looked up by commands and pages


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
    _no_obstacles(state)


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


def disarmed(acts: Sequence[Act]) -> frozenset[str]:
    """Return the devices whose counted sheets failed I4 in any precinct."""
    return frozenset(
        device for act in acts if act.kind == "identities_told" for device in act.body["disarmed"]
    )


def open_assignment(acts: Sequence[Act], device: str) -> Act | None:
    """Return the assignment that this device has and that is not ended, None when it is free."""
    ended = {act.body["run"] for act in acts if act.kind == "run_ended"}
    for act in acts:
        if act.kind == "run_assigned" and act.body["device"] == device and act.body["run"] not in ended:
            return act
    return None


# Obstacles


def _no_obstacles(state: PrecinctState) -> None:
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
    if batch.contradictions:
        found.append(Obstacle("contradiction", f"{name}: {batch.contradictions[0]}; {void}"))
    return found
