"""What each act does to a precinct, and when it is refused: a table of one small function for each kind.

A step looks at acts, and at records only as far as no later record can change them: every act is applied
anew at each fold, when more records have come, and must then be allowed as it was. What else is asked of a
new act is in `precinct.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from recount_host.act import Act
from recount_host.law.acts import KINDS
from recount_host.law.conclusion import check_official, joined
from recount_host.law.counts import STACK_AND_PILES, Entry
from recount_host.law.custody import NUMBER_OF, SCANNED, unopened
from recount_host.law.errors import LedgerContradiction, NotAllowed
from recount_host.law.hand_count import Pass, check_outcomes, of_pile, without_zeros
from recount_host.law.persons import check_both_sides, check_one
from recount_host.law.piles import PILES
from recount_host.law.precinct_state import (
    LETTER_OF_PILE,
    PILE_OF_LETTER,
    Assignment,
    Move,
    PrecinctState,
    attempt_due,
    find_batch,
    recorded_pile,
    with_counts_dropped,
)
from recount_host.law.reconciliation import Step
from recount_host.law.states import Event, State, after
from recount_host.law.steps_of_challenges import CHALLENGE_STEPS
from recount_host.law.steps_of_court import COURT_STEPS
from recount_host.law.steps_of_custody import CUSTODY_STEPS
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, RETURNED
from recount_protocol.records import TEST

NOT_ON_STATEMENT = frozenset(
    {"statement_printed", "form_printed", "container_resealed", "precinct_concluded"}
)
"""Acts after which a printed statement is still the statement of the precinct."""


def apply(state: PrecinctState, act: Act) -> PrecinctState:
    """Return the state after `act`. Raises NotAllowed; LedgerContradiction where it claims what is not so."""
    state = begun(state)
    if KINDS[act.kind].two_persons:
        check_both_sides(act.by, "this")
    changed = APPLY[act.kind](state, act)
    # What is written down of a concluded precinct changes nothing of what its officials signed.
    if state.concluded is None:
        stands = act.kind in NOT_ON_STATEMENT
        changed = replace(
            changed, team=joined(changed.team, act), last_act_n=changed.last_act_n if stands else act.n
        )
    return _with_agreement(changed, act)


def begun(state: PrecinctState) -> PrecinctState:
    """Return the state with feeding begun where a device opened a batch.

    Records have no place among the acts, so this is looked at before every act and at the end.
    """
    if state.state is State.OPEN and state.batches:
        return replace(state, state=after(state.state, Event.OPEN_BATCH))
    return state


def _run_assigned(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.ASSIGN_RUN)
    body = act.body
    if body["mode"] == TEST:
        raise NotAllowed(
            "a logic-and-accuracy test is no precinct's run, and nothing of it counts: begin it with "
            "logic-accuracy begin"
        )
    if state.assignments and state.assignments[0].mode != body["mode"]:
        raise NotAllowed(
            f"this precinct is scanned in mode {state.assignments[0].mode} already: one precinct, one mode"
        )
    if body["program"] not in state.contests:
        raise NotAllowed("this contest program is not in the ledger: add it first (program add)")
    if state.order.stack_counted == "before_feeding" and state.stack is None:
        raise NotAllowed(
            "the order has people count the stack before it is fed: count H first, two persons of different "
            f"sides (count enter {state.precinct.id} H)"
        )
    if state.is_withdrawn(body["device"]):
        raise NotAllowed(
            f"{state.name_of(body['device'])} was withdrawn from this precinct by both sides: use another "
            "device"
        )
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
    _check_may_run_again(state)
    find_batch(state, act.body["device"], act.body["batch"])
    return replace(_reopened(state), state=reached, void_orders=(*state.void_orders, act))


def _device_withdrawn(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.WITHDRAW_DEVICE)
    _check_may_run_again(state)
    device = act.body["device"]
    name = state.name_of(device)
    if not any(device == known.device for known in (*state.assignments, *state.runs)):
        raise NotAllowed(f"{name} has no part in precinct {state.precinct.id}: there is nothing to withdraw")
    if state.is_withdrawn(device):
        raise NotAllowed(f"{name} is withdrawn already")
    return replace(_reopened(state), state=reached, withdrawn=(*state.withdrawn, act))


def _check_may_run_again(state: PrecinctState) -> None:
    if state.verdicts and state.order.run_again == "before_identities":
        raise NotAllowed(
            "D 2: after the identities were told nothing is run again to make them fit; "
            "go on with reconcile or figures"
        )


def _reopened(state: PrecinctState) -> PrecinctState:
    """Return the state with the piles' counts dropped: where scanning was finished it begins again.

    The piles will hold other sheets: their counts are kept, and counted anew. H is the same stack, unless it
    was verified again for figures that are void now.
    """
    dropped = STACK_AND_PILES if state.verdicts else tuple(PILE_OF_LETTER)
    return replace(with_counts_dropped(state, dropped), heads=None, verdicts=(), moves=())


def _hand_count_ordered(state: PrecinctState, act: Act) -> PrecinctState:
    return replace(state, state=after(state.state, Event.ORDER_HAND_COUNT), hand_count_order=act)


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


_OF_CONTAINERS = {letter: holds for holds, letter in NUMBER_OF.items()}

_COUNT_EVENTS = {
    "H": Event.COUNT_STACK,
    "c": Event.COUNT_PILE,
    "s": Event.COUNT_PILE,
    "x": Event.COUNT_PILE,
    "p": Event.COUNT_NOT_PROGRAMMABLE,
    "o": Event.COUNT_LACKING_CONTEST,
    "d": Event.COUNT_PAPER,
}


def _count_entered(state: PrecinctState, act: Act) -> PrecinctState:
    letter, value = act.body["letter"], act.body["value"]
    reached = after(state.state, _COUNT_EVENTS[letter])
    if letter == "H" and state.state is State.HAND_COUNT and state.hand_count_order is None:
        raise NotAllowed(
            "H is not counted any more: its figures have been shown, or its ballots cannot be found; "
            "hand count what is there (hand-count enter)"
        )
    due = attempt_due(state, letter)
    if act.body["attempt"] != due:
        raise NotAllowed(f"{letter} is counted in attempt {due} now")
    if letter in STACK_AND_PILES and state.verdicts and state.attempt == 1:
        raise NotAllowed(f"{letter} is locked and the identities were told: go on with figures")
    if letter in _OF_CONTAINERS and (letter != "H" or state.state is State.HAND_COUNT):
        _check_open(state, _OF_CONTAINERS[letter])
    limit = (state.stack if state.state is State.HAND_COUNT else state.pile("x")) if letter == "o" else None
    if limit is not None and value > limit:
        raise NotAllowed(f"o cannot be more than the {limit} sheets it is part of: count them again")
    entry = Entry(letter, due, value, check_one(act.by), act.n)
    return replace(state, state=reached, counts=state.counts.entered(entry))


def _identities_told(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.TELL_IDENTITIES)
    if not state.counts_locked:
        raise NotAllowed("H, c, s and x are not all locked")
    # Folding later, when more records have come, must find the same: the heads fix what counts.
    told = replace(state.verdict, act_n=act.n)
    body = act.body
    written = (body["attempt"], tuple(body["held"]), tuple(body["failed"]), tuple(body["disarmed"]))
    if written != (told.attempt, told.held, told.failed, told.disarmed):
        raise LedgerContradiction("the identities told are not those that the records and counts give")
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
    if move.to_pile != recorded_pile(state, move.device, move.batch, move.sheet):
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
    for person in act.by:
        check_official(person)
    pile, body = act.body["pile"], act.body
    for letter in state.numbers_to_count:
        raise NotAllowed(
            f"count {letter} first, two persons of different sides (0 is a count): "
            f"count enter {state.precinct.id} {letter} NUMBER"
        )
    to_count = state.to_count
    assert to_count is not None  # no number is wanting, and the state is one of hand counting
    if pile not in to_count.expected:
        raise NotAllowed(
            f"{PILES[pile]} are no pile of this hand count: its piles are {', '.join(to_count.expected)}"
        )
    _check_open(state, SCANNED)
    due = len(of_pile(state.passes, pile)) + 1
    if body["pass"] != due:
        raise NotAllowed(f"this is pass {due}")
    contest = state.contest
    if contest is None:
        raise NotAllowed("there is no contest program yet, so no outcomes are known: program add")
    check_outcomes(body["outcomes"], contest, state.order)
    entered = Pass(pile, without_zeros(body["outcomes"]), act.by, body["standards"], act.n)
    return replace(state, state=reached, passes=(*state.passes, entered))


def _check_open(state: PrecinctState, holds: str) -> None:
    """Raise NotAllowed while a container of ballots to be counted is closed: they would be left out."""
    for name in unopened(state.containers, holds):
        raise NotAllowed(
            f"container {name} has not been opened: open it first, both sides together (custody open)"
        )


def _statement_printed(state: PrecinctState, act: Act) -> PrecinctState:
    return replace(
        state, state=after(state.state, Event.PRINT_STATEMENT), statements=(*state.statements, act)
    )


APPLY: Mapping[str, Callable[[PrecinctState, Act], PrecinctState]] = {
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
    "device_withdrawn": _device_withdrawn,
    "hand_count_ordered": _hand_count_ordered,
    **CUSTODY_STEPS,
    **CHALLENGE_STEPS,
    **COURT_STEPS,
}


def _with_agreement(state: PrecinctState, act: Act) -> PrecinctState:
    """Return the state with the hand count done, once two passes agree and I5 (or I6) holds."""
    if state.state not in (State.RECONCILED, State.HAND_COUNT):
        return state
    finding = state.hand_finding
    if finding is None or not finding.holds or state.still_closed:
        return state
    if any(envelopes > counted for counted, envelopes in state.challenged_outcomes.values()):
        return state  # a ballot in an envelope was counted as a vote: it is counted again, as challenged
    return replace(state, state=after(state.state, Event.AGREE_OUTCOMES), agreeing_act=act)
