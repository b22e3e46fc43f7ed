"""What single acts do to a precinct, and what they leave alone."""

from dataclasses import replace
from typing import Any

import pytest

from host.tests.law.test_d3_challenges import a_concluded_day
from host.tests.rehearsal import ANN, BOB, BOTH, CLERK, Day, a_counted_day, a_scanned_day
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.law.errors import LedgerContradiction, NotAllowed
from recount_host.law.states import State
from recount_host.law.steps import apply


def test_only_the_run_that_is_named_is_ended() -> None:
    day = Day()
    for name in ("alpha", "beta"):
        day.assign(name)
    with pytest.raises(NotAllowed, match="there is no open run 101-9 of this precinct"):
        day.act("run_ended", run="101-9", device=day.device("alpha").id)
    state = day.act("run_ended", run="101-1", device=day.device("alpha").id)
    assert [(known.run, known.ended) for known in state.assignments] == [("101-1", True), ("101-2", False)]
    with pytest.raises(NotAllowed, match="there is no open run 101-1"):
        day.act("run_ended", run="101-1", device=day.device("alpha").id)


def test_a_void_order_for_a_batch_that_never_was_is_found_when_it_is_folded() -> None:
    day = a_scanned_day()
    where: dict[str, Any] = {"run": "101-1", "device": day.device().id, "batch": 9, "reason": "a slip"}
    with pytest.raises(NotAllowed, match="alpha has no batch 9 of precinct 101"):
        day.act("batch_void_ordered", BOTH, **where)
    day.append("batch_void_ordered", BOTH, {**where, "precinct": "101"})
    with pytest.raises(LedgerContradiction, match="alpha has no batch 9 of precinct 101"):
        day.state()


def test_what_was_moved_is_moved_no_more_when_a_batch_is_run_again() -> None:
    day = Day(order='run_again = "before_figures"\n')
    device = day.scan(TWELVE_SHEETS)
    day.finish()
    for _ in range(2):
        day.lock(H=12, c=10, s=1, x=1)
        day.reconcile()
    where: dict[str, Any] = {"device": device.id, "batch": 1, "sheet": 10}
    day.act("sheet_moved", BOTH, **where, from_pile="counted", to_pile="set_aside")
    assert len(day.state().moves) == 1
    day.act("batch_void_ordered", BOTH, run="101-1", device=device.id, batch=1, reason="run again")
    state = day.state()
    assert (state.moves, state.heads, state.verdicts, state.state) == ((), None, (), State.SCANNING)


def test_a_batch_voided_while_scanning_goes_on_leaves_the_stacks_count() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    day.lock(H=12)
    before = day.state()
    day.act("batch_void_ordered", BOTH, run="101-1", device=device.id, batch=1, reason="a slip")
    state = day.state()
    assert (state.counts, state.dropped_counts, state.stack) == (before.counts, (), 12)


def test_the_end_of_scanning_fixes_the_last_record_of_each_device_and_its_hash() -> None:
    day = a_scanned_day()
    device = day.device()
    assert day.state().heads == {device.id: len(device.records)}
    assert day.state().head_sha256 == {device.id: device.hash}


def test_after_the_conclusion_nobody_joins_the_team_and_no_act_changes_what_was_signed() -> None:
    day = a_concluded_day()
    before = day.state()
    what: dict[str, Any] = {"text": "an overvote, by letter"}
    state = day.act("ballot_proffered", (replace(ANN, name="Carl Orr"),), **what)
    assert (state.team, state.last_act_n) == (before.team, before.last_act_n)


def test_a_statement_that_is_printed_or_resealed_is_still_the_statement() -> None:
    day = a_counted_day()
    before = day.state().last_act_n
    day.act("statement_printed", (CLERK,), sha256=bytes(32), facts_sha256=bytes(32))
    sealed: dict[str, Any] = {"container": "b-1", "holds": "counted", "seal": "4712", "to": "the clerk"}
    state = day.act("container_resealed", BOTH, **sealed)
    assert state.last_act_n == before
    state = day.act("call_answered", (ANN,), answer="no_further_question")
    assert state.last_act_n == day.acts[-1].n


def test_who_acts_for_a_side_joins_the_team() -> None:
    day = Day()
    assert day.state().team == ()
    day.enter("H", 12, ANN)
    assert day.state().team == (ANN,)
    day.enter("H", 12, BOB)
    assert day.state().team == BOTH


def test_an_act_of_both_sides_is_found_when_one_did_it() -> None:
    day = a_scanned_day()
    act = day.append("hand_count_ordered", (ANN,), {"precinct": "101", "reason": "dead"})
    with pytest.raises(LedgerContradiction, match="two persons of different sides"):
        day.state()
    day.acts.pop()
    with pytest.raises(NotAllowed, match="two persons of different sides"):
        apply(day.state(), act)


# Counts


@pytest.mark.parametrize("letter", ["c", "s", "x", "H"])
def test_a_number_that_is_locked_when_the_identities_were_told_is_not_counted_again(letter: str) -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    day.reconcile()
    with pytest.raises(NotAllowed, match=f"{letter} is locked"):
        day.enter(letter, 5, ANN)


def test_o_is_limited_by_the_not_accepted_pile_and_in_hand_count_by_the_stack() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS)
    day.finish()
    for _ in range(2):
        day.lock(H=13, c=9, s=2, x=1)
        day.reconcile()
    day.show_figures()
    with pytest.raises(NotAllowed, match="o cannot be more than the 13 sheets"):
        day.enter("o", 14, ANN)
    day.enter("o", 13, ANN)


def test_h_is_counted_in_hand_count_only_where_both_sides_sent_the_precinct_there() -> None:
    day = Day()
    day.lock(p=0)
    day.act("hand_count_ordered", BOTH, reason="no device came")
    day.lock(H=5)
    assert day.state().stack == 5


def test_no_statement_was_printed_before_all_was_counted() -> None:
    hashes = {"sha256": bytes(32), "facts_sha256": bytes(32)}
    for day in (Day(), a_scanned_day()):
        with pytest.raises(NotAllowed, match="not possible to print the statement"):
            day.act("statement_printed", (CLERK,), **hashes)
    day = a_counted_day()
    state = day.act("statement_printed", (CLERK,), **hashes)
    assert [act.n for act in state.statements] == [day.acts[-1].n]
