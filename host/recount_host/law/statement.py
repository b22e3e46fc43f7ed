"""The facts of a precinct's statement: what the officials write down and sign, and whence each figure comes.

E s. 1: the number of valid ballots cast for each party to the recount, obtained from the ballots. Nothing is
typed: every figure is folded from records and acts, and I1 to I7 are looked at again before anything is
written.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgpack

from recount_host.act import Act, Person, act_hash, encode_act
from recount_host.law.challenges import CHALLENGED, GROUNDS
from recount_host.law.conclusion import still_to_ask
from recount_host.law.counts import LETTERS, CountBook
from recount_host.law.custody import CONTENTS, COUNTED_CONTENTS, PAPER, STREAMS, laid_apart
from recount_host.law.errors import LedgerContradiction
from recount_host.law.hand_count import NOT_VOTES, Pass, ToCount, of_pile, together
from recount_host.law.identities import MEANINGS, Finding, i7_statement, rerun_by_people
from recount_host.law.notes import notes
from recount_host.law.persons import in_words
from recount_host.law.piles import PILES
from recount_host.law.precinct import Facts, PrecinctState, fold
from recount_host.law.result import Result, option_names, result_of, valid_outcomes
from recount_host.law.retention import periods
from recount_host.law.statement_lines import (
    ChallengedLine,
    ContainerLine,
    CountLine,
    IdentityLine,
    Line,
    PileLine,
    Row,
    RunLine,
    Signer,
    SourceLine,
    Statement,
    VoidLine,
)
from recount_host.law.states import Event, after
from recount_host.law.tally import Figures
from recount_host.order import order_signers
from recount_host.plain_words import plain_words


def statement(facts: Facts, precinct_id: str) -> Statement:
    """Return the statement of one precinct.

    Raises NotAllowed before the hand count agrees and every identity that applies holds; LedgerContradiction
    when one does not hold after all.
    """
    state = fold(facts, precinct_id)
    after(state.state, Event.PRINT_STATEMENT)
    if state.concluded is not None:
        # What all officials signed stays what it was, whatever is written down afterwards.
        facts = replace(facts, acts=facts.acts[: state.concluded.n])
        state = fold(facts, precinct_id)
    by_pile, to_count, agreeing = state.outcomes_by_pile, state.to_count, state.agreeing_act
    # The state is reached only through these.
    assert by_pile is not None
    assert to_count is not None
    assert agreeing is not None
    valid, result = valid_outcomes(state), result_of(state)
    rows = _rows(state, result)
    identities = _identities(state, to_count, rows, result)
    parties = tuple(row for row in rows if row.key in state.order.side_keys)
    outcomes = together(valid)
    figures = state.figures if state.shown is not None else Figures()
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
        kind=state.precinct.kind,
        whole_precinct=to_count.whole_precinct,
        hand_count_reason=state.hand_count_order.body["reason"] if state.hand_count_order else "",
        sources=_sources(state, to_count),
        piles=tuple(
            PileLine(pile, PILES[pile], to_count.expected[pile], _lines(found))
            for pile, found in by_pile.items()
            if found
        ),
        challenged=_challenged(state),
        call=tuple(f"{in_words(a.person)}: {plain_words(a.answer)}" for a in state.answers),
        not_asked=tuple(in_words(person) for person in still_to_ask(state.team, state.answers)),
        notes=notes(state).sentences,
        containers=_containers(state),
        excluded=laid_apart(state.excluded),
        substitutions=_substitutions(state),
        standards=tuple(dict.fromkeys(entered.standards for entered in state.passes)),
        parties=parties,
        others=tuple(row for row in rows if row not in parties),
        not_votes=tuple(
            Line(text, outcomes.get(key, 0)) for key, text in NOT_VOTES.items() if key != CHALLENGED
        ),
        ballots=_ballots(state, to_count, sum(sum(found.values()) for found in by_pile.values())),
        set_aside_reasons=_lines(figures.set_aside_reasons),
        not_accepted_reasons=_lines(figures.not_accepted_reasons),
        identities=identities,
        counts=tuple(_count_lines(state.counts)),
        moves=_moves(state),
        voided=voided(state),
        dropped=tuple(line for book in state.dropped_counts for line in _count_lines(book)),
        hand_count_by=tuple(
            f"{plain_words(entered.pile)}, pass {_number_of(state, entered)}: "
            f"{' and '.join(in_words(person) for person in entered.by)}"
            for entered in state.passes
        ),
        figures_shown_utc=state.shown.utc if state.shown else "",
        counted_utc=agreeing.utc,
        runs=_runs(state),
        signers=_signers(state),
        order_sha256=order_act.body["sha256"].hex() if order_act else "",
        order_signed_by=order_signers(facts.acts[: state.last_act_n]),
        retention=periods(state.order.retention),
        program_sha256=state.assignments[0].program.hex() if state.assignments else "",
        last_act=last.n,
        last_act_sha256=act_hash(encode_act(last)).hex(),
        check_total=sum(row.total for row in rows),
    )
    return _with_hash(written)


def _number_of(state: PrecinctState, entered: Pass) -> int:
    return of_pile(state.passes, entered.pile).index(entered) + 1


def _with_hash(written: Statement) -> Statement:
    fields = written.to_fields()
    packed: bytes = msgpack.packb(fields) or b""
    return replace(written, facts_sha256=hashlib.sha256(packed).hexdigest())


def _rows(state: PrecinctState, result: Result) -> tuple[Row, ...]:
    """Return the votes of every option, parties first."""

    def row(key: str, name: str) -> Row:
        parts = (result.accepted, result.by_hand, result.paper, result.stated)
        a, b, c, d = (votes.get(key, 0) for votes in parts)
        return Row(key, name, a, b, c, d, a + b + c + d)

    return tuple(row(key, name) for key, name in option_names(state).items())


def _identities(
    state: PrecinctState, to_count: ToCount, rows: Sequence[Row], result: Result
) -> tuple[IdentityLine, ...]:
    hand = state.hand_finding
    i7 = i7_statement(
        [(row.name, row.accepted, row.by_hand + row.paper + row.stated, row.total) for row in rows]
    )
    # Where both sides sent all to hand count, nothing that a scanner recorded was ever told or shown.
    scanned = {finding.name: finding for finding in state.findings if state.shown is not None}
    feeding = [batch.i9 for batch in state.standing_batches if state.shown is not None]
    must_hold = [i7, *feeding, *([hand] if hand else [])]
    must_hold += [] if to_count.whole_precinct else scanned.values()
    open_ones = [finding.name for finding in must_hold if not finding.holds]
    if hand is None or open_ones or not _every_vote_is_on_it(state, to_count, rows, result):
        raise LedgerContradiction(f"the statement cannot be written: {', '.join(open_ones) or 'I7'} fails")
    note = "D 2: all ballots were hand counted; the scanners' figures count for nothing"
    lines = [_identity(finding, "" if finding.holds else note) for finding in scanned.values()]
    lines += [_identity(hand, ""), _identity(i7, "")]
    held = notes(state)
    figures = tuple(str(equation) for equation in held.finding.equations) if held.finding else ()
    lines.append(
        IdentityLine("I8", MEANINGS["I8"], holds=None, figures=figures, note="; ".join(held.sentences))
    )
    if feeding:
        lines.append(
            IdentityLine(
                "I9",
                MEANINGS["I9"],
                holds=True,
                figures=(),
                note=f"in every batch that counts: {len(feeding)}",
            )
        )
    return tuple(lines)


def _every_vote_is_on_it(
    state: PrecinctState, to_count: ToCount, rows: Sequence[Row], result: Result
) -> bool:
    """Return whether every accepted, hand-counted and stated vote is in the rows: I7 the other way round."""
    accepted = 0 if to_count.whole_precinct else state.figures.votes_total
    by_hand = sum(result.by_hand.values()) + sum(result.paper.values())
    return (accepted, by_hand, sum(result.stated.values())) == (
        sum(row.accepted for row in rows),
        sum(row.by_hand + row.paper for row in rows),
        sum(row.stated for row in rows),
    )


def _identity(finding: Finding, note: str) -> IdentityLine:
    figures = tuple(str(equation) for equation in finding.equations)
    return IdentityLine(finding.name, MEANINGS[finding.name], finding.holds, figures, note)


def _ballots(state: PrecinctState, to_count: ToCount, hand_counted: int) -> tuple[Line, ...]:
    figures = state.figures
    by_people, by_scanners = "counted by people", "reported by the scanners"
    x = to_count.not_accepted
    rerun = rerun_by_people(to_count.stack, x, state.order.rerun_is)
    of_scanners = (
        Line("x  sheets not accepted", x, by_people),
        Line(f"R  sheets rerun: {state.order.rerun_is}", rerun, by_people),
        Line("C  sheets counted", figures.counted, by_scanners),
        Line("S  sheets set aside", figures.set_aside, by_scanners),
        Line("X  sheets not accepted", figures.not_accepted, by_scanners),
        Line("c  counted pile", state.pile("c") or 0, by_people),
        Line("s  set-aside pile", to_count.set_aside, by_people),
    )
    stack = (Line("H  sheets in the stack", to_count.stack, by_people),)
    lacking = (Line("o  sheets that lack the contest", to_count.without_contest, by_people),)
    return (
        *(() if to_count.scanned_missing else stack),
        *(of_scanners if state.shown is not None else ()),
        *(() if to_count.scanned_missing else lacking),
        Line("p  ballots that cannot be programmed", to_count.not_programmable, by_people),
        Line("d  paper ballots", to_count.paper, by_people),
        Line("Ballots hand counted", hand_counted, by_people),
    )


def _sources(state: PrecinctState, to_count: ToCount) -> tuple[SourceLine, ...]:
    """Return whence each stream's figures come. A stream without a ballot is left out."""
    reasons = {act.body["stream"]: act.body["reason"] for act in state.not_found}
    lines: list[SourceLine] = []
    for stream in STREAMS:
        if stream in reasons:
            source = f"the statement of results; the ballots cannot be found: {reasons[stream]}"
            lines.append(SourceLine(COUNTED_CONTENTS[stream], source))
        elif stream != PAPER or to_count.paper:
            lines.append(SourceLine(COUNTED_CONTENTS[stream], "the ballots"))
    return tuple(lines)


def _challenged(state: PrecinctState) -> tuple[ChallengedLine, ...]:
    return tuple(
        ChallengedLine(
            ballot.tag,
            ballot.envelope,
            ballot.pile,
            ballot.counted_as,
            ballot.pile not in PILES,
            ballot.question_and_corrections,
            " and ".join(in_words(person) for person in ballot.by),
            tuple(
                f"statement {stated.number} by {in_words(stated.person)}, {stated.utc}, "
                f"{GROUNDS[stated.ground]}: "
                f"{stated.text}" + (f" (withdrawn {stated.withdrawn})" if stated.withdrawn else "")
                for stated in state.challenges
                if stated.tag == ballot.tag
            ),
        )
        for ballot in state.questioned
    )


def _containers(state: PrecinctState) -> tuple[ContainerLine, ...]:
    return tuple(
        ContainerLine(
            container.name, CONTENTS[container.holds], container.seal, container.seal_was, container.stated,
            " and ".join(in_words(person) for person in container.opened.by) if container.opened else "",
            container.sorted_out,
        )
        for container in state.containers
    )  # fmt: skip


def _substitutions(state: PrecinctState) -> tuple[str, ...]:
    lines: list[str] = []
    for act in state.substitutions:
        leaves, comes = Person(*act.body["leaves"]), Person(*act.body["comes"])
        seat = f"{in_words(comes)} took the seat" if comes.name else "nobody took the seat"
        lines.append(f"{in_words(leaves)} left at {act.utc}: {act.body['reason']}; {seat}")
    return tuple(lines)


def _lines(by_reason: Mapping[str, int]) -> tuple[Line, ...]:
    return tuple(Line(reason, sheets) for reason, sheets in by_reason.items())


def _count_lines(book: CountBook) -> list[CountLine]:
    return [
        CountLine(
            first.letter,
            LETTERS[first.letter],
            first.attempt,
            first.value,
            in_words(first.person),
            second[0].value if second else None,
            in_words(second[0].person) if second else "",
        )
        for first, *second in book.rounds
    ]


def _moves(state: PrecinctState) -> tuple[str, ...]:
    return tuple(
        f"{_sheet_in_words(state, move.device, move.batch, move.sheet)} moved from the {move.from_pile} pile "
        f"to the {move.to_pile} pile by {' and '.join(in_words(person) for person in move.by)}"
        for move in state.moves
    )


def _sheet_in_words(state: PrecinctState, device: str, batch: int, sheet: int) -> str:
    return f"sheet {sheet} of batch {batch} of {state.name_of(device)}" if sheet else "a counted sheet"


def voided(state: PrecinctState) -> tuple[VoidLine, ...]:
    """Return the attempts that were voided, as far as no record that may still come can add to them."""
    lines = [_void_line(state, act.body["device"], 0, act) for act in state.withdrawn]
    for batch in state.void_batches:
        order = next(
            (
                act
                for act in state.void_orders
                if (act.body["device"], act.body["batch"]) == (batch.device, batch.batch)
            ),
            None,
        )
        if order is not None:
            lines.append(_void_line(state, batch.device, batch.batch, order))
        elif state.heads is not None and not state.is_withdrawn(batch.device):
            name, by = state.name_of(batch.device), "both sides at the device"
            lines.append(VoidLine(name, batch.batch, batch.void_reason, by))
    return tuple(lines)


def _void_line(state: PrecinctState, device: str, batch: int, act: Act) -> VoidLine:
    by = " and ".join(in_words(person) for person in act.by)
    return VoidLine(state.name_of(device), batch, act.body["reason"], by)


NOT_OPENED = "never opened"
NOT_USED = "nothing of it counts"


def _runs(state: PrecinctState) -> tuple[RunLine, ...]:
    """Return each device's part, as far as scanning_finished fixed it: what is sent later changes nothing."""
    lines: list[RunLine] = []
    for given in state.assignments:
        head = (state.heads or {}).get(given.device, 0)
        run = next((run for run in state.runs if (run.device, run.run) == (given.device, given.run)), None)
        told = run if run is not None and run.opened_n <= head else None
        used = state.heads is not None and not state.is_withdrawn(given.device)
        missing = NOT_OPENED if used else NOT_USED
        lines.append(
            RunLine(
                given.run,
                given.device,
                state.name_of(given.device),
                missing if told is None else told.software,
                missing if told is None else told.firmware,
                sum(batch.run == given.run for batch in state.standing_batches) if used else 0,
                head,
                state.head_sha256.get(given.device, b"").hex(),
            )
        )
    return tuple(lines)


def _signers(state: PrecinctState) -> tuple[Signer, ...]:
    """Return every recount official of the team; at least one line for each side.

    E s. 1: the recount officials write it down; coordinators and clerks do not sign.
    """
    signers: list[Signer] = []
    for side in state.order.sides:
        own = [
            Signer(person.name, person.role, side.name) for person in state.team if person.side == side.key
        ]
        signers += own or [Signer("", "official", side.name)]
    return tuple(signers)
