"""A precinct as far as the facts go: what was done, what devices recorded, what follows from both.

Everything here is looked up or added up; what an act does is in `steps.py`, how all is folded in
`precinct.py`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recount_host.act import Act, Person
from recount_host.law import hand_count
from recount_host.law.challenges import CHALLENGED, Challenge, Segregated, counted_as_challenged
from recount_host.law.conclusion import Answer
from recount_host.law.contest import Contest
from recount_host.law.counts import LETTERS, STACK_AND_PILES, CountBook, Entry, Standing, locked
from recount_host.law.custody import COUNTED_CONTENTS, PAPER, SCANNED, Container, Sealed, unopened
from recount_host.law.errors import NotAllowed
from recount_host.law.hand_count import Pass, ToCount
from recount_host.law.identities import Finding
from recount_host.law.reconciliation import Step, Verdict, findings, next_step, wrong_devices
from recount_host.law.results import PAPER_BALLOTS, ResultsBook
from recount_host.law.rulings import Heard, ResultRuling, Ruling
from recount_host.law.states import State
from recount_host.law.tally import Batch, DeviceFacts, Figures, Gap, Run, add_up
from recount_host.order import Order, Precinct
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, SET_ASIDE
from recount_protocol.records import LIVE, NO_HASH, TRAINING

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
    order_is_signed: bool
    """Whether the court's order is: under one that nobody signed people train."""
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
    """The last act before the conclusion that changed anything here; printing a statement changes nothing."""
    agreeing_act: Act | None = None
    """The act by which the hand count agreed and every identity held."""
    withdrawn: tuple[Act, ...] = ()
    """Devices that both sides took out of the precinct: nothing that they recorded of it counts."""
    hand_count_order: Act | None = None
    """The act by which both sides sent the precinct to hand count; no figure of a scanner was shown."""
    containers: tuple[Container, ...] = ()
    not_found: tuple[Act, ...] = ()
    """Streams that cannot be found: the statement of results stands in for them (E)."""
    excluded: tuple[Act, ...] = ()
    """Ballots found among the others that are no part of the recount (B)."""
    resealed: tuple[Sealed, ...] = ()
    results: ResultsBook = field(default_factory=ResultsBook)
    segregated: tuple[Segregated, ...] = ()
    challenges: tuple[Challenge, ...] = ()
    team: tuple[Person, ...] = ()
    substitutions: tuple[Act, ...] = ()
    answers: tuple[Answer, ...] = ()
    concluded: Act | None = None
    scans: tuple[Act, ...] = ()
    """Scans of the statement that all officials signed in ink, by the acts that took them."""
    proffered: tuple[Act, ...] = ()
    """Ballots offered after the conclusion, which the court may not consider (F)."""
    heard: tuple[Heard, ...] = ()
    rulings: tuple[Ruling, ...] = ()
    """Every ruling on a questioned ballot, those that another one replaced too."""
    result_rulings: tuple[ResultRuling, ...] = ()
    forms_printed: tuple[Act, ...] = ()

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
        """Return the mode of the precinct's runs; without one, live where the court's order is signed.

        A precinct that no device can recount is recounted by people alone, and no less for real (D 1, E).
        """
        if self.assignments:
            return self.assignments[0].mode
        return LIVE if self.order_is_signed else TRAINING

    def name_of(self, device: str) -> str:
        """Return the device's name, or its id where it has not introduced itself."""
        return self.names.get(device, device)

    # Batches

    def is_void(self, batch: Batch) -> bool:
        """Return whether both sides declared this batch void: here, at the device, or with its device."""
        if self.is_withdrawn(batch.device):
            return True
        ordered = any(
            (act.body["device"], act.body["batch"]) == (batch.device, batch.batch) for act in self.void_orders
        )
        return ordered or bool(batch.voided_n and batch.voided_n <= self._head(batch.device, batch.voided_n))

    def is_withdrawn(self, device: str) -> bool:
        """Return whether both sides took this device out of the precinct."""
        return any(act.body["device"] == device for act in self.withdrawn)

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

    @property
    def counts_used(self) -> tuple[Entry, ...]:
        """Return the counts whose numbers are used: the last two of each number, where they agree."""
        return tuple(
            entry
            for letter in LETTERS
            for entry in self.counts.agreed(
                letter, self.attempt if letter in STACK_AND_PILES else self.counts.last_attempt(letter)
            )
        )

    def pile(self, letter: str) -> int | None:
        """Return c, s or x of the attempt in force with the moves applied, None while it is not locked."""
        value = self.counts.value(letter, self.attempt)
        if value is None:
            return None
        pile = PILE_OF_LETTER[letter]
        return value + sum((move.to_pile == pile) - (move.from_pile == pile) for move in self.moves)

    def other(self, letter: str) -> int | None:
        """Return p, o or d as last counted, None while it is not locked.

        No not-accepted sheet: o is 0 without a count. No sign of paper ballots: d is 0 without a count.
        """
        if letter == "o" and not self.counts.of("o", 1) and self.pile("x") == 0:
            return 0
        if letter == "d" and not self.counts.of("d", 1) and not self.expects_paper:
            return 0
        return self.counts.value(letter, self.counts.last_attempt(letter))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return I1 to I4 with their figures, empty while a count is missing. For the law alone."""
        stack, piles = self.stack, {letter: self.pile(letter) for letter in PILE_OF_LETTER}
        known = {letter: value for letter, value in piles.items() if value is not None}
        if stack is None or len(known) < len(piles):
            return ()
        return findings(stack, known, self.figures, self.order.vote_for, self.order.rerun_is)

    @property
    def verdict(self) -> Verdict:
        """Return what the counts and records give now, not told yet; for the law alone."""
        found = self.findings
        return Verdict(
            self.attempt,
            tuple(finding.name for finding in found if finding.holds),
            tuple(finding.name for finding in found if not finding.holds),
            wrong_devices(self.figures_by_device, self.order.vote_for),
            len(self.moves),
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
    def expects_paper(self) -> bool:
        """Return whether a container or the statement of results tells of paper ballots that are here."""
        if self.is_missing(PAPER) or self.agreeing_act is not None:
            return False  # once all is counted, what was not counted is a shortage, for the note I8
        stated = (self.results.agreed or {}).get(PAPER_BALLOTS, 0)
        return bool(stated) or any(c.holds == PAPER and c.found for c in self.containers)

    def is_missing(self, stream: str) -> bool:
        """Return whether both sides declared that the ballots of this stream cannot be found."""
        return any(act.body["stream"] == stream for act in self.not_found)

    @property
    def counts_whole_precinct(self) -> bool:
        """Return whether all ballots cast on scanners are hand counted (D 2 s. 3)."""
        shown = self.shown is not None and self.shown.body["outcome"] == State.HAND_COUNT.value
        return shown or self.hand_count_order is not None

    @property
    def to_hand_count(self) -> bool:
        """Return whether the hand count can begin: no scanner's figure is waited for any more."""
        return self.shown is not None or self.hand_count_order is not None or self.is_missing(SCANNED)

    @property
    def numbers_to_count(self) -> tuple[str, ...]:
        """Return the letters of the numbers that are wanting before a hand count can begin."""
        asked = ("p", "d") if self.is_missing(SCANNED) else ("p", "o", "d")
        wanting = [letter for letter in asked if self.other(letter) is None]
        if self.stack is None and not self.is_missing(SCANNED):
            wanting.insert(0, "H")
        return tuple(wanting)

    @property
    def to_count(self) -> ToCount | None:
        """Return the numbers that say how many ballots to hand count, None while one of them is missing."""
        if not self.to_hand_count or self.numbers_to_count:
            return None
        p, d = (self.other(letter) or 0 for letter in "pd")
        if self.is_missing(SCANNED):
            return ToCount(0, 0, 0, 0, p, d, scanned_missing=True)
        s, x, o = self.pile("s") or 0, self.pile("x") or 0, self.other("o") or 0
        return ToCount(self.stack or 0, s, x, o, p, d, whole_precinct=self.counts_whole_precinct)

    @property
    def outcomes_by_pile(self) -> Mapping[str, Mapping[str, int]] | None:
        """Return the outcomes of each pile to be hand counted, None while one is not agreed on.

        A pile without a ballot needs no pass.
        """
        to_count = self.to_count
        if to_count is None:
            return None
        found: dict[str, Mapping[str, int]] = {}
        for pile, ballots in to_count.expected.items():
            agreed = hand_count.agreed(self.passes, pile)
            if agreed is None and (ballots or hand_count.of_pile(self.passes, pile)):
                return None
            found[pile] = agreed or {}
        return found

    @property
    def outcomes(self) -> Mapping[str, int] | None:
        """Return the hand count of all piles together, None while it is not agreed on."""
        by_pile = self.outcomes_by_pile
        return None if by_pile is None else hand_count.together(by_pile)

    @property
    def hand_finding(self) -> Finding | None:
        """Return I5 (I6 in hand count) for the agreed hand count, None while there is none."""
        by_pile, to_count = self.outcomes_by_pile, self.to_count
        if by_pile is None:
            return None
        assert to_count is not None  # the piles are those that it names
        return to_count.finding({pile: sum(outcomes.values()) for pile, outcomes in by_pile.items()})

    # Questioned ballots

    @property
    def questioned(self) -> tuple[Segregated, ...]:
        """Return the segregated ballots with the pile that they are counted with.

        Where all ballots are hand counted, what a scanner made of one counts for nothing (D 2 s. 3).
        """
        if not self.counts_whole_precinct:
            return self.segregated
        return tuple(
            replace(ballot, pile="all_scanned", counted_as=CHALLENGED)
            if ballot.pile in LETTER_OF_PILE
            else ballot
            for ballot in self.segregated
        )

    @property
    def challenged_outcomes(self) -> Mapping[str, tuple[int, int]]:
        """Return, by hand-counted pile, how many were counted as challenged and how many envelopes it has."""
        return {
            pile: (outcomes.get(CHALLENGED, 0), counted_as_challenged(self.questioned, pile))
            for pile, outcomes in (self.outcomes_by_pile or {}).items()
        }

    @property
    def unopened(self) -> tuple[str, ...]:
        """Return the containers of scanned ballots that came and were not opened."""
        return unopened(self.containers, SCANNED)

    @property
    def still_closed(self) -> tuple[str, ...]:
        """Return the containers of ballots to be counted that came and were not opened."""
        return unopened(self.containers, *COUNTED_CONTENTS)


def attempt_due(state: PrecinctState, letter: str) -> int:
    """Return the attempt in which the next count of this number is entered.

    p, o and d judge no scanner: they may be counted anew (all values kept) until the hand count adds up.
    """
    if letter in STACK_AND_PILES:
        return state.attempt
    last = state.counts.last_attempt(letter)
    return last + 1 if state.counts.standing(letter, last) is Standing.LOCKED else last


def with_counts_dropped(state: PrecinctState, letters: Collection[str]) -> PrecinctState:
    """Return the state without the counts of these numbers, which are kept and used no more."""
    gone = tuple(entry for entry in state.counts.entries if entry.letter in letters)
    rest = tuple(entry for entry in state.counts.entries if entry.letter not in letters)
    kept = (*state.dropped_counts, CountBook(gone)) if gone else state.dropped_counts
    return replace(state, counts=CountBook(rest), dropped_counts=kept)


def find_batch(state: PrecinctState, device: str, batch: int) -> Batch:
    """Return this batch of this precinct. Raises NotAllowed when there is none."""
    for known in state.batches:
        if (known.device, known.batch) == (device, batch):
            return known
    raise NotAllowed(
        f"{state.name_of(device)} has no batch {batch} of precinct {state.precinct.id}: see show"
    )


def recorded_pile(state: PrecinctState, device: str, batch: int, sheet: int) -> str:
    """Return the pile where the records say this sheet lies, "" when they know no such sheet."""
    for known in state.standing_batches:
        for landed in known.sheets:
            if (known.device, known.batch, landed.sheet) == (device, batch, sheet):
                return landed.fate
    return ""


def devices_of(state: PrecinctState) -> tuple[str, ...]:
    """Return the devices that were given this precinct, by id, without those withdrawn from it."""
    return tuple(
        sorted({known.device for known in state.assignments if not state.is_withdrawn(known.device)})
    )


def heads_body(state: PrecinctState) -> dict[str, Any]:
    """Return the body of `scanning_finished` for the records that are here now."""
    heads = {device: state.device_heads.get(device, (0, NO_HASH)) for device in devices_of(state)}
    return {
        "precinct": state.precinct.id,
        "heads": {device: n for device, (n, _) in heads.items()},
        "head_sha256": {device: sha256 for device, (_, sha256) in heads.items()},
    }
