"""The facts of a precinct's statement: what the officials write down and sign, and whence each figure comes.

E s. 1: the number of valid ballots cast for each party to the recount, obtained from the ballots. Nothing is
typed: every figure is folded from records and acts, and I1 to I7 are looked at again before anything is
written.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import msgpack

from recount_host.act import Act, Person, act_hash, encode_act
from recount_host.law.counts import LETTERS, CountBook
from recount_host.law.errors import LedgerContradiction
from recount_host.law.hand_count import NOT_VOTES, OTHER_WRITE_IN, ToCount, votes_in
from recount_host.law.identities import MEANINGS, Finding, i7_statement
from recount_host.law.persons import in_words
from recount_host.law.precinct import Facts, PrecinctState, fold
from recount_host.law.states import Event, after

SHORT_CODE_DIGITS = 8
"""Enough to match a sheet of paper with the data; the whole hash stands on the last page."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the result: where its votes come from, and their sum."""

    key: str
    name: str
    accepted: int
    """Votes on sheets that the scanners counted; 0 where the whole precinct is hand counted."""
    by_hand: int
    total: int


@dataclass(frozen=True, slots=True)
class Line:
    """A figure with its name, and a word on where it comes from."""

    name: str
    value: int
    source: str = ""


@dataclass(frozen=True, slots=True)
class IdentityLine:
    """One identity as it stands on the statement."""

    name: str
    meaning: str
    holds: bool | None
    """None where nothing was entered that it could be held against: a note."""
    figures: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class CountLine:
    """One round of a count by hand: the number counted, the attempt, and what each person entered."""

    letter: str
    what: str
    attempt: int
    first: int
    first_by: str
    second: int | None
    """None where the second person never entered it."""
    second_by: str


@dataclass(frozen=True, slots=True)
class RunLine:
    """One device's part."""

    run: str
    device: str
    name: str
    software: str
    firmware: str
    batches: int
    last_record: int
    last_record_sha256: str


@dataclass(frozen=True, slots=True)
class VoidLine:
    """An attempt that both sides voided."""

    name: str
    batch: int
    reason: str
    by: str


@dataclass(frozen=True, slots=True)
class Signer:
    """Somebody who signs in ink."""

    name: str
    """Empty where nobody of the side is known by name."""
    role: str
    side: str


@dataclass(frozen=True, slots=True)
class Statement:
    """Everything on the statement."""

    citation: str
    title: str
    locality: str
    precinct_id: str
    precinct_name: str
    vote_for: int
    mode: str
    whole_precinct: bool
    """Whether D 2 sent all ballots to hand count."""
    parties: tuple[Row, ...]
    others: tuple[Row, ...]
    not_votes: tuple[Line, ...]
    ballots: tuple[Line, ...]
    set_aside_reasons: tuple[Line, ...]
    not_accepted_reasons: tuple[Line, ...]
    identities: tuple[IdentityLine, ...]
    counts: tuple[CountLine, ...]
    moves: tuple[str, ...]
    voided: tuple[VoidLine, ...]
    dropped: tuple[CountLine, ...]
    """Pile counts of scans that were reopened; kept, never used."""
    hand_count_by: tuple[str, ...]
    figures_shown_utc: str
    counted_utc: str
    runs: tuple[RunLine, ...]
    signers: tuple[Signer, ...]
    order_sha256: str
    program_sha256: str
    last_act: int
    last_act_sha256: str
    check_total: int
    """All votes on the statement together; stands on every page."""
    facts_sha256: str = ""
    """SHA-256 over everything above; its first digits stand on every page."""

    @property
    def short_code(self) -> str:
        """Return the code that stands on every page."""
        return self.facts_sha256[:SHORT_CODE_DIGITS]

    def to_fields(self) -> dict[str, Any]:
        """Return the statement as plain maps, lists, strings and numbers."""
        return asdict(self)


def statement(facts: Facts, precinct_id: str) -> Statement:
    """Return the statement of one precinct.

    Raises NotAllowed before the hand count agrees and every identity that applies holds; LedgerContradiction
    when one does not hold after all.
    """
    state = fold(facts, precinct_id)
    after(state.state, Event.PRINT_STATEMENT)
    outcomes, to_count, shown = state.outcomes, state.to_count, state.shown
    concluding = state.concluding_act
    # The state is reached only through these.
    assert outcomes is not None
    assert to_count is not None
    assert shown is not None
    assert concluding is not None
    rows = _rows(state, outcomes, whole=to_count.whole_precinct)
    identities = _identities(state, to_count, rows)
    parties = tuple(row for row in rows if row.key in state.order.side_keys)
    order_act = next((act for act in facts.acts if act.kind == "order_set"), None)
    last = facts.acts[state.last_act_n - 1]
    written = Statement(
        citation=state.order.citation,
        title=state.order.title,
        locality=state.order.locality,
        precinct_id=state.precinct.id,
        precinct_name=state.precinct.name,
        vote_for=state.order.vote_for,
        mode=state.mode,
        whole_precinct=to_count.whole_precinct,
        parties=parties,
        others=tuple(row for row in rows if row not in parties),
        not_votes=tuple(Line(text, outcomes.get(key, 0)) for key, text in NOT_VOTES.items()),
        ballots=_ballots(state, to_count, sum(outcomes.values())),
        set_aside_reasons=_lines(state.figures.set_aside_reasons),
        not_accepted_reasons=_lines(state.figures.not_accepted_reasons),
        identities=identities,
        counts=tuple(_count_lines(state.counts)),
        moves=_moves(state),
        voided=_voided(state),
        dropped=tuple(line for book in state.dropped_counts for line in _count_lines(book)),
        hand_count_by=tuple(
            f"pass {number}: {' and '.join(in_words(person) for person in entered.by)}"
            for number, entered in enumerate(state.passes, 1)
        ),
        figures_shown_utc=shown.utc,
        counted_utc=concluding.utc,
        runs=_runs(state),
        signers=_signers(facts.acts, state),
        order_sha256=order_act.body["sha256"].hex() if order_act else "",
        program_sha256=state.assignments[0].program.hex() if state.assignments else "",
        last_act=last.n,
        last_act_sha256=act_hash(encode_act(last)).hex(),
        check_total=sum(row.total for row in rows),
    )
    return _with_hash(written)


def _with_hash(written: Statement) -> Statement:
    fields = written.to_fields()
    packed: bytes = msgpack.packb(fields) or b""
    return replace(written, facts_sha256=hashlib.sha256(packed).hexdigest())


def _rows(state: PrecinctState, outcomes: Mapping[str, int], *, whole: bool) -> tuple[Row, ...]:
    """Return the votes of every option, parties first. In hand count the scanners' votes are never added."""
    accepted = {} if whole else state.figures.votes
    by_hand = votes_in(outcomes)
    contest = state.contest
    assert contest is not None  # no outcome is entered without one
    names = {side.key: side.name for side in state.order.sides}
    names |= {option.key: option.name for option in contest.printed if option.key not in names}
    names[OTHER_WRITE_IN] = "Write-in votes for others"
    return tuple(
        Row(key, name, accepted.get(key, 0), by_hand.get(key, 0), accepted.get(key, 0) + by_hand.get(key, 0))
        for key, name in names.items()
    )


def _identities(state: PrecinctState, to_count: ToCount, rows: Sequence[Row]) -> tuple[IdentityLine, ...]:
    hand = state.hand_finding
    i7 = i7_statement([(row.name, row.accepted, row.by_hand, row.total) for row in rows])
    scanned = {finding.name: finding for finding in state.findings}
    feeding = [batch.i9 for batch in state.standing_batches]
    must_hold = [i7, *feeding, *([hand] if hand else [])]
    must_hold += [] if to_count.whole_precinct else scanned.values()
    open_ones = [finding.name for finding in must_hold if not finding.holds]
    if hand is None or open_ones or not _every_vote_is_on_it(state, rows, whole=to_count.whole_precinct):
        raise LedgerContradiction(f"the statement cannot be written: {', '.join(open_ones) or 'I7'} fails")
    lines = [_identity(finding, "") for finding in scanned.values()]
    if to_count.whole_precinct:
        note = "D 2: all ballots were hand counted; the scanners' figures count for nothing"
        lines = [_identity(finding, "" if finding.holds else note) for finding in scanned.values()]
    lines += [_identity(hand, ""), _identity(i7, "")]
    lines.append(
        IdentityLine(
            "I8",
            MEANINGS["I8"],
            holds=None,
            figures=(),
            note="no statement of results is entered; a note, never a trigger",
        )
    )
    lines.append(
        IdentityLine(
            "I9",
            MEANINGS["I9"],
            holds=all(finding.holds for finding in feeding),
            figures=(),
            note=f"in every batch that counts: {len(state.standing_batches)}",
        )
    )
    return tuple(lines)


def _every_vote_is_on_it(state: PrecinctState, rows: Sequence[Row], *, whole: bool) -> bool:
    """Return whether every accepted and every hand-counted vote is in the rows: I7 the other way round."""
    accepted = 0 if whole else state.figures.votes_total
    by_hand = sum(votes_in(state.outcomes or {}).values())
    return (accepted, by_hand) == (sum(row.accepted for row in rows), sum(row.by_hand for row in rows))


def _identity(finding: Finding, note: str) -> IdentityLine:
    figures = tuple(str(equation) for equation in finding.equations)
    return IdentityLine(finding.name, MEANINGS[finding.name], finding.holds, figures, note)


def _ballots(state: PrecinctState, to_count: ToCount, hand_counted: int) -> tuple[Line, ...]:
    figures = state.figures
    by_people, by_scanners = "counted by people", "reported by the scanners"
    return (
        Line("H  sheets in the stack", to_count.stack, by_people),
        Line("x  sheets not accepted", to_count.not_accepted, by_people),
        Line("R  sheets rerun: H - x", to_count.stack - to_count.not_accepted, by_people),
        Line("C  sheets counted", figures.counted, by_scanners),
        Line("S  sheets set aside", figures.set_aside, by_scanners),
        Line("X  sheets not accepted", figures.not_accepted, by_scanners),
        Line("c  counted pile", state.pile("c") or 0, by_people),
        Line("s  set-aside pile", to_count.set_aside, by_people),
        Line("o  sheets of x that lack the contest", to_count.without_contest, by_people),
        Line("p  ballots that cannot be programmed", to_count.not_programmable, by_people),
        Line("Ballots hand counted", hand_counted, by_people),
    )


def _lines(by_reason: Mapping[str, int]) -> tuple[Line, ...]:
    return tuple(Line(reason, sheets) for reason, sheets in by_reason.items())


def _count_lines(book: CountBook) -> list[CountLine]:
    lines: list[CountLine] = []
    for letter, what in LETTERS.items():
        for attempt in range(1, book.last_attempt(letter) + 1):
            entries = book.of(letter, attempt)
            for first, *rest in (entries[start : start + 2] for start in range(0, len(entries), 2)):
                second = rest[0] if rest else None
                lines.append(
                    CountLine(
                        letter,
                        what,
                        attempt,
                        first.value,
                        in_words(first.person),
                        second.value if second else None,
                        in_words(second.person) if second else "",
                    )
                )
    return lines


def _moves(state: PrecinctState) -> tuple[str, ...]:
    return tuple(
        f"{_sheet_in_words(state, move.device, move.batch, move.sheet)} moved from the {move.from_pile} pile "
        f"to the {move.to_pile} pile by {' and '.join(in_words(person) for person in move.by)}"
        for move in state.moves
    )


def _sheet_in_words(state: PrecinctState, device: str, batch: int, sheet: int) -> str:
    return f"sheet {sheet} of batch {batch} of {state.name_of(device)}" if sheet else "a counted sheet"


def _voided(state: PrecinctState) -> tuple[VoidLine, ...]:
    lines: list[VoidLine] = []
    for batch in state.void_batches:
        order = next(
            (
                act
                for act in state.void_orders
                if (act.body["device"], act.body["batch"]) == (batch.device, batch.batch)
            ),
            None,
        )
        reason = str(order.body["reason"]) if order else batch.void_reason
        by = " and ".join(in_words(person) for person in order.by) if order else "both sides at the device"
        lines.append(VoidLine(state.name_of(batch.device), batch.batch, reason, by))
    return tuple(lines)


def _runs(state: PrecinctState) -> tuple[RunLine, ...]:
    lines: list[RunLine] = []
    for given in state.assignments:
        run = next((run for run in state.runs if (run.device, run.run) == (given.device, given.run)), None)
        lines.append(
            RunLine(
                given.run,
                given.device,
                state.name_of(given.device),
                run.software if run else "never opened",
                run.firmware if run else "never opened",
                sum(batch.run == given.run for batch in state.standing_batches),
                (state.heads or {}).get(given.device, 0),
                state.head_sha256.get(given.device, b"").hex(),
            )
        )
    return tuple(lines)


def _signers(acts: Sequence[Act], state: PrecinctState) -> tuple[Signer, ...]:
    """Return every recount official who acted for this precinct; at least one line for each side."""
    known: list[Person] = []
    for act in acts[: state.last_act_n]:
        if act.body.get("precinct") == state.precinct.id:
            known += [person for person in act.by if _is_official(person) and person not in known]
    signers: list[Signer] = []
    for side in state.order.sides:
        own = [Signer(person.name, person.role, side.name) for person in known if person.side == side.key]
        signers += own or [Signer("", "official", side.name)]
    return tuple(signers)


def _is_official(person: Person) -> bool:
    # E s. 1: the recount officials write it down; coordinators and clerks do not sign.
    return bool(person.side) and "official" in person.role.casefold()
