"""D 2: a dead or straying device, hand count by decision of both sides, and the order's other readings."""

from typing import Any

import pytest

from host.tests.rehearsal import ANN, BOTH, Day, a_reconciled_day, a_scanned_day
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.law.duties import duties
from recount_host.law.errors import NotAllowed
from recount_host.law.obstacles import obstacles
from recount_host.law.statement import statement
from recount_host.law.states import State
from recount_host.law.tally import Gap


def end_runs(day: Day) -> None:
    for known in day.state().assignments:
        if not known.ended:
            day.act("run_ended", run=known.run, device=known.device)


def withdraw(day: Day, name: str = "alpha") -> None:
    end_runs(day)
    day.act("device_withdrawn", BOTH, device=day.device(name).id, reason="it does not start any more")


def a_day_with_a_dead_device() -> Day:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    day.gaps.append(Gap(device.id, 30, 31))
    return day


def test_a_gap_that_never_closes_blocks_no_precinct_whose_device_both_sides_withdrew() -> None:
    day = a_day_with_a_dead_device()
    with pytest.raises(NotAllowed, match="device withdraw"):
        day.finish_checked()
    withdraw(day)
    day.scan(TWELVE_SHEETS, "beta")
    day.finish_checked()
    assert day.state().figures.counted == 9
    assert [(batch.device_name, batch.standing) for batch in day.view().batches] == [
        ("alpha", "void"),
        ("beta", "closed"),
    ]
    day.reconcile_with(H=12, c=9, s=2, x=1)
    day.lock(p=0, o=0)
    day.hand_count({"D": 3})
    said = statement(day.facts(), "101")
    (line,) = said.voided
    assert (line.name, line.batch, line.reason) == ("alpha", 0, "it does not start any more")
    assert [(run.name, run.software, run.batches) for run in said.runs] == [
        ("alpha", "nothing of it counts", 0),
        ("beta", "1.0", 1),
    ]
    day.device().open_batch()
    day.device().close_batch()
    assert statement(day.facts(), "101") == said


def test_what_a_withdrawn_device_sends_later_counts_nothing() -> None:
    day = a_day_with_a_dead_device()
    withdraw(day)
    device = day.device()
    device.open_batch()
    device.scan(TWELVE_SHEETS[0])
    device.close_batch()
    assert day.state().figures.counted == 0
    assert not obstacles(day.state())


def test_a_withdrawn_device_that_comes_back_is_told_that_its_batches_are_void() -> None:
    day = a_day_with_a_dead_device()
    withdraw(day)
    due = duties(day.facts(), day.device().id)
    assert [duty.kind for duty in due] == ["close_run", "void_batch"]
    day.device().write("batch_voided", {"reason": "dead", "by": ["a", "b"]})
    assert [duty.kind for duty in duties(day.facts(), day.device().id)] == ["close_run"]


def test_a_stray_run_blocks_no_precinct_whose_device_both_sides_withdrew() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS, "beta")
    stray = day.device("alpha")
    stray.open_run("101-9", "101")
    with pytest.raises(NotAllowed, match="opened run 101-9 otherwise than assigned"):
        day.finish_checked()
    withdraw(day, "alpha")
    day.finish_checked()


def test_a_device_is_withdrawn_by_both_sides_once_and_when_its_run_is_ended() -> None:
    day = a_day_with_a_dead_device()
    why: dict[str, Any] = {"device": day.device().id, "reason": "dead"}
    with pytest.raises(NotAllowed, match="runs are ended first"):
        day.act("device_withdrawn", BOTH, **why)
    end_runs(day)
    with pytest.raises(NotAllowed, match="two persons of different sides"):
        day.act("device_withdrawn", (ANN,), **why)
    with pytest.raises(NotAllowed, match="has no part in precinct 101"):
        day.act("device_withdrawn", BOTH, device=day.device("gamma").id, reason="dead")
    withdraw(day)
    with pytest.raises(NotAllowed, match="withdrawn already"):
        withdraw(day)
    with pytest.raises(NotAllowed, match="was withdrawn from this precinct"):
        day.assign("alpha")


def test_a_device_withdrawn_after_scanning_reopens_it_and_the_piles_are_counted_anew() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9)
    withdraw(day)
    assert day.state().state is State.SCANNING
    assert day.state().stack == 12
    assert day.state().pile("c") is None


def test_no_device_is_withdrawn_to_make_the_numbers_fit() -> None:
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    day.reconcile()
    with pytest.raises(NotAllowed, match="nothing is run again"):
        withdraw(day)


# Hand count by decision of both sides


def test_both_sides_send_a_precinct_to_hand_count_and_nothing_of_a_scanner_is_used() -> None:
    day = a_day_with_a_dead_device()
    with pytest.raises(NotAllowed, match="runs are ended first"):
        day.act("hand_count_ordered", BOTH, reason="dead")
    end_runs(day)
    day.act("hand_count_ordered", BOTH, reason="no other device")
    assert day.state().state is State.HAND_COUNT
    assert day.view().hand_count == "H, p, o to be counted first"
    with pytest.raises(NotAllowed, match="count H first"):
        day.count_pile("all_scanned", {"D": 12})
    day.lock(H=12, p=0, o=1)
    assert day.count_pile("all_scanned", {"D": 6, "R": 5}).state is State.CHALLENGE_CALL
    assert day.view().figures is None
    assert day.view().outcomes == {"D": 6, "R": 5}
    said = statement(day.facts(), "101")
    assert [(row.accepted, row.total) for row in said.parties] == [(0, 6), (0, 5)]
    assert said.hand_count_reason == "no other device"
    assert [line.name for line in said.identities] == ["I6", "I7", "I8"]
    assert said.figures_shown_utc == ""
    assert not said.set_aside_reasons
    assert [(run.software, run.batches) for run in said.runs] == [("nothing of it counts", 0)]
    device = day.device()
    device.open_batch()
    device.close_batch()
    device.write("batch_voided", {"reason": "late", "by": ["a", "b"]})
    assert statement(day.facts(), "101") == said


def test_a_hand_count_by_decision_needs_both_sides() -> None:
    with pytest.raises(NotAllowed, match="two persons of different sides"):
        a_scanned_day().act("hand_count_ordered", (ANN,), reason="dead")


def test_after_the_figures_are_shown_no_decision_sends_a_precinct_to_hand_count() -> None:
    with pytest.raises(NotAllowed, match="send the precinct to hand count"):
        a_reconciled_day().act("hand_count_ordered", BOTH, reason="the result is not liked")


def test_h_is_locked_once_where_both_sides_sent_the_precinct_to_hand_count() -> None:
    day = a_scanned_day()
    day.lock(H=12)
    day.act("hand_count_ordered", BOTH, reason="dead")
    with pytest.raises(NotAllowed, match="H is locked"):
        day.enter("H", 13, ANN)


# What the order may choose


def test_the_order_has_people_count_the_stack_before_it_is_fed() -> None:
    day = Day(order="teams = 4\n", stack_counted="before_feeding")
    with pytest.raises(NotAllowed, match="count H first"):
        day.assign()
    day.lock(H=12)
    day.assign()


def test_the_order_may_count_the_not_accepted_among_the_ballots_rerun() -> None:
    day = Day(order='rerun_is = "H"\n')
    day.scan(TWELVE_SHEETS)
    day.finish()
    for _ in range(2):
        day.lock(H=12, c=9, s=2, x=1)
        day.reconcile()
    assert day.state().verdicts[-1].failed == ("I2",)
    day.show_figures()
    day.lock(p=0, o=0)
    day.count_pile("all_scanned", {"D": 12})
    lines = {line.name: line.value for line in statement(day.facts(), "101").ballots}
    assert lines["R  sheets rerun: H"] == 12


def test_the_order_may_let_both_sides_run_a_batch_again_until_the_figures_are_shown() -> None:
    day = Day(order='run_again = "before_figures"\n')
    device = day.scan(TWELVE_SHEETS)
    day.finish()
    for _ in range(2):
        day.lock(H=13, c=9, s=2, x=1)
        day.reconcile()
    where: dict[str, Any] = {"run": "101-1", "device": device.id, "batch": 1}
    day.act("batch_void_ordered", BOTH, **where, reason="does not fit")
    state = day.state()
    assert (state.state, state.verdicts, state.attempt, state.stack) == (State.SCANNING, (), 1, None)
    assert sum(len(book.entries) for book in state.dropped_counts) == 16
    day.scan(TWELVE_SHEETS)
    day.finish()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    with pytest.raises(NotAllowed, match="void a batch"):
        day.act("batch_void_ordered", BOTH, **{**where, "run": "101-2", "batch": 2}, reason="again")
    assert day.state().state is State.RECONCILED
