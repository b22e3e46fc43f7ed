"""Scanning: who may be assigned, what keeps a precinct unfinished, batches voided, sheets in doubt."""

from typing import Any

import pytest

from host.tests.rehearsal import ANN, BOTH, CLERK, Day, a_reconciled_day, a_scanned_day, program_body
from host.tests.sound_device import PROGRAM, TWELVE_SHEETS, Sheet
from recount_host.act import Person
from recount_host.law import drafts
from recount_host.law.errors import BadEntry, LedgerContradiction, NotAllowed
from recount_host.law.obstacles import obstacles
from recount_host.law.precinct import fold_all
from recount_host.law.reconciliation import Step
from recount_host.law.states import State
from recount_host.law.tally import Gap
from recount_host.order import OrderError

COUNTED = Sheet("counted", ("D",))
OTHER_PROGRAM = bytes(32)


def void(day: Day, batch: int = 1, by: tuple[Person, ...] = BOTH) -> None:
    day.act(
        "batch_void_ordered",
        by,
        run="101-1",
        device=day.device().id,
        batch=batch,
        reason="a sheet slipped past",
    )


def settle(day: Day, sheet: int, fate: str) -> None:
    where: dict[str, Any] = {"run": "101-1", "device": day.device().id, "batch": 1}
    day.act("doubt_settled_ordered", BOTH, **where, sheet=sheet, fate=fate)


def open_things(day: Day) -> list[str]:
    return [obstacle.word for obstacle in obstacles(day.state())]


# Assigning


def test_d2_a_live_run_is_refused_on_a_device_that_has_not_passed_logic_and_accuracy() -> None:
    with pytest.raises(NotAllowed, match="may not count live sheets"):
        Day().assign(mode="live")


def test_a_logic_and_accuracy_test_is_no_run_of_a_precinct() -> None:
    with pytest.raises(NotAllowed, match="begin it with logic-accuracy begin"):
        Day().assign(mode="test")


def test_a_precinct_that_the_order_does_not_name_is_refused() -> None:
    with pytest.raises(OrderError, match='no precinct "999"'):
        Day().assign(precinct="999")


def test_a_program_that_is_not_in_the_ledger_is_refused() -> None:
    with pytest.raises(NotAllowed, match="program add"):
        Day(program=False).assign()


def test_d2_a_program_for_another_contest_is_refused() -> None:
    day = Day()
    with pytest.raises(NotAllowed, match='the order is about the contest "governor"'):
        day.act(
            "run_assigned",
            run="101-1",
            device=day.device().id,
            program=PROGRAM,
            contest="senate",
            mode="training",
        )


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"contest": "senate"}, 'counts the contest "senate"'),
        ({"vote_for": 2}, "says vote for 2, the order says vote for 1"),
        ({"options": [{"key": "D", "name": "D", "write_in": False}]}, 'no option "R"'),
    ],
)
def test_d2_a_program_that_does_not_fit_the_order_is_refused(changed: dict[str, Any], why: str) -> None:
    day = Day(program=False)
    day.append("program_added", (CLERK,), program_body(PROGRAM) | changed)
    with pytest.raises(BadEntry, match=why):
        day.assign()


def test_one_precinct_is_scanned_with_one_program() -> None:
    day = Day()
    day.append("program_added", (CLERK,), program_body(OTHER_PROGRAM))
    day.assign("alpha")
    with pytest.raises(NotAllowed, match="one precinct, one program"):
        day.assign("beta", program=OTHER_PROGRAM)


def test_several_devices_may_scan_one_precinct() -> None:
    day = Day()
    for name in ("alpha", "beta"):
        day.scan(TWELVE_SHEETS, name)
    day.finish()
    figures = day.state().figures
    assert (figures.counted, figures.set_aside, figures.not_accepted) == (18, 4, 2)


def test_a_device_scans_one_precinct_at_a_time() -> None:
    day = Day(("101", "102"))
    day.scan((COUNTED,))
    with pytest.raises(NotAllowed, match="alpha still scans precinct 101"):
        day.assign(precinct="102")
    day.finish()
    day.assign(precinct="102")


def test_a_run_has_one_name() -> None:
    day = Day()
    day.assign()
    words: dict[str, Any] = {"program": PROGRAM, "contest": "governor", "mode": "training"}
    with pytest.raises(NotAllowed, match="run 101-1 is assigned already"):
        day.act("run_assigned", run="101-1", device=day.device("beta").id, **words)
    body = {"precinct": "101", "run": "101-1", "device": day.device("beta").id, **words}
    day.append("run_assigned", (CLERK,), body)
    with pytest.raises(LedgerContradiction, match="run 101-1 is assigned already"):
        day.state()


def test_a_run_is_ended_once() -> None:
    day = Day()
    device = day.assign()
    day.act("run_ended", run="101-1", device=device.id)
    with pytest.raises(NotAllowed, match="no open run 101-1"):
        day.act("run_ended", run="101-1", device=device.id)


def test_d_lead_a_precinct_is_recounted_once() -> None:
    day = a_reconciled_day()
    with pytest.raises(NotAllowed, match="figures have been shown"):
        day.assign("beta")


# Finishing


def test_a_precinct_is_being_scanned_from_its_first_batch() -> None:
    day = Day()
    device = day.assign()
    assert day.state().state is State.OPEN
    device.open_batch()
    assert day.state().state is State.SCANNING


def test_scanning_is_finished_when_all_batches_are_closed() -> None:
    assert a_scanned_day().state().state is State.SCANNED


def test_an_open_batch_keeps_scanning_from_being_finished() -> None:
    day = Day()
    day.assign().open_batch()
    with pytest.raises(NotAllowed, match="batch 1 of alpha is still open"):
        day.finish()


def test_a_precinct_for_which_no_scanner_could_be_programmed_is_finished_without_a_batch() -> None:
    day = Day()
    day.lock(p=9, H=0)
    day.finish()
    day.lock(c=0, s=0, x=0)
    day.reconcile()
    day.show_figures()
    day.hand_count({"D": 5, "R": 4})
    assert day.state().state is State.CHALLENGE_CALL


def test_a_precinct_of_which_nothing_counts_is_finished_only_on_purpose() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    device.scan(COUNTED)
    device.close_batch()
    drafts.check_anything_was_fed(day.state(), nothing_fed=False)
    void(day)
    with pytest.raises(NotAllowed, match=r"no sheet of precinct 101 has been fed.*--nothing-fed"):
        drafts.check_anything_was_fed(day.state(), nothing_fed=False)
    drafts.check_anything_was_fed(day.state(), nothing_fed=True)


def test_i9_failing_keeps_scanning_from_being_finished_until_the_batch_is_void() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    device.scan(COUNTED)
    device.close_batch(counted=2)
    with pytest.raises(NotAllowed, match="I9 fails in batch 1 of alpha"):
        day.finish()
    void(day)
    device.open_batch()
    device.scan(COUNTED)
    device.close_batch()
    day.finish()
    assert day.state().figures.counted == 1
    assert [batch.batch for batch in day.state().void_batches] == [1]


def test_records_that_contradict_each_other_keep_scanning_from_being_finished() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    device.land(device.judge(Sheet("set_aside", (), ("overvote",))), "counted")
    device.close_batch()
    assert "contradiction" in open_things(day)


def test_a_gap_in_a_devices_records_is_told_and_no_figure_stands() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    day.gaps.append(Gap(device.id, 40, 41))
    with pytest.raises(NotAllowed, match="records of alpha did not arrive") as refused:
        day.finish()
    assert "4" not in str(refused.value)  # from a record's number the stack could be reckoned


def test_a_gap_that_shows_itself_after_scanning_keeps_the_identities_from_being_told() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    day.gaps.append(Gap(day.device().id, 40, 40))
    with pytest.raises(NotAllowed, match="did not arrive"):
        day.reconcile()
    day.gaps.clear()
    day.reconcile()
    day.gaps.append(Gap(day.device().id, 40, 40))
    with pytest.raises(NotAllowed, match="did not arrive"):
        day.show_figures()


@pytest.mark.parametrize("kind", ["identities_told", "figures_shown"])
def test_what_was_prepared_before_a_gap_showed_itself_is_not_told_either(kind: str) -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    told = drafts.identities_told(day.state())
    if kind == "figures_shown":
        day.act("identities_told", (CLERK,), **told)
        told = drafts.figures_shown(day.state(), search_ended=False)
    day.gaps.append(Gap(day.device().id, 40, 40))
    with pytest.raises(NotAllowed, match="did not arrive"):
        day.act(kind, (CLERK,), **told)


def test_a_gap_after_the_precincts_run_was_closed_concerns_it_no_more() -> None:
    day = a_scanned_day()
    day.device().close_run()
    day.gaps.append(Gap(day.device().id, 40, 41))
    assert not day.state().gaps
    day.gaps.append(Gap("f" * 16, 1, 1))
    assert not day.state().gaps


def test_a_missing_number_among_the_stored_records_is_a_gap_too() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    del device.records[4]
    assert open_things(day)[0] == "gap"


def test_a_run_opened_otherwise_than_assigned_keeps_the_figures_from_standing() -> None:
    day = Day()
    device = day.device()
    day.act(
        "run_assigned", run="101-1", device=device.id, program=PROGRAM, contest="governor", mode="training"
    )
    device.open_run("101-1", "101", OTHER_PROGRAM)
    assert open_things(day) == ["stray_run"]
    with pytest.raises(NotAllowed, match="opened run 101-1 otherwise than assigned"):
        day.finish()


def test_what_is_finished_is_what_was_looked_at() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    day.act("run_ended", run="101-1", device=device.id)
    with pytest.raises(NotAllowed, match="other records have come"):
        day.act("scanning_finished", heads={device.id: 3}, head_sha256={device.id: bytes(32)})


def test_the_runs_are_ended_before_scanning_is_finished() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    state = day.state()
    n, sha256 = state.device_heads[device.id]
    with pytest.raises(NotAllowed, match="runs are ended first"):
        day.act("scanning_finished", heads={device.id: n}, head_sha256={device.id: sha256})


def test_a_batch_opened_after_scanning_was_finished_counts_nothing_and_must_be_voided() -> None:
    day = a_scanned_day()
    device = day.device()
    device.open_batch()
    device.scan(COUNTED)
    device.close_batch()
    assert day.state().figures.counted == 9
    assert open_things(day) == ["late"]
    day.lock(H=12, c=9, s=2, x=1)
    with pytest.raises(NotAllowed, match="was not closed when scanning was finished"):
        day.reconcile()


def test_a_late_batch_after_the_identities_were_told_keeps_no_precinct_from_its_hand_count() -> None:
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    day.reconcile()
    device = day.device()
    device.open_batch()
    device.scan(COUNTED)
    day.lock(H=13, c=10, s=2, x=1)
    assert day.reconcile().step is Step.SHOW_HAND_COUNT
    assert day.show_figures().state is State.HAND_COUNT
    assert day.view().figures is not None
    assert day.state().figures.counted == 9


@pytest.mark.parametrize("choices", [("Z",), ("W",), ("D", "D")])
def test_a_batch_whose_sheets_choose_what_no_ballot_can_must_be_voided(choices: tuple[str, ...]) -> None:
    day = Day()
    day.scan((COUNTED, Sheet("counted", choices)))
    assert open_things(day) == ["choices"]
    with pytest.raises(NotAllowed, match="choices that its program does not allow"):
        day.finish()


def test_records_that_come_after_the_figures_were_shown_change_nothing() -> None:
    day = a_reconciled_day()
    before = day.state().figures
    device = day.device()
    device.write("batch_voided", {"reason": "late", "by": ["a", "b"]})
    device.open_batch()
    device.scan(COUNTED)
    device.close_batch()
    assert day.state().figures == before
    assert not day.state().void_batches


# Voiding


def test_a_batch_voided_at_the_device_after_scanning_was_finished_is_voided_here_too() -> None:
    day = a_scanned_day()
    day.device().write("batch_voided", {"reason": "dropped", "by": ["a", "b"]})
    assert open_things(day) == ["voided_late"]
    day.lock(H=12, c=9, s=2, x=1)
    with pytest.raises(NotAllowed, match="voided at the device after scanning was finished"):
        day.reconcile()
    void(day)
    assert day.state().state is State.SCANNING
    assert not obstacles(day.state())


def test_a_batch_is_voided_only_by_both_sides() -> None:
    day = Day()
    day.assign().open_batch()
    for by in ((ANN,), (ANN, CLERK), (CLERK,)):
        with pytest.raises(NotAllowed, match="two persons of different sides"):
            void(day, by=by)


def test_a_voided_batch_counts_nothing_even_before_the_device_has_written_it_down() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    void(day)
    assert day.state().figures.counted == 0
    device.write("batch_voided", {"reason": "slipped", "by": ["a", "b"]})
    assert day.state().figures.counted == 0
    assert not obstacles(day.state())


def test_a_batch_that_both_sides_voided_at_the_device_counts_nothing() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    device.write("batch_voided", {"reason": "slipped", "by": ["a", "b"]})
    assert day.state().figures.counted == 0
    with pytest.raises(NotAllowed, match="is void already"):
        void(day)


def test_a_batch_that_does_not_exist_is_not_voided() -> None:
    day = Day()
    day.assign().open_batch()
    with pytest.raises(NotAllowed, match="alpha has no batch 2"):
        void(day, 2)


def test_a_batch_voided_after_scanning_reopens_it_and_drops_the_counts_of_the_piles() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9)
    void(day)
    state = day.state()
    assert state.state is State.SCANNING
    assert state.stack == 12
    assert state.counts.value("c", 1) is None
    assert [entry.value for entry in state.dropped_counts[0].entries] == [9, 9]
    day.device().run = ""
    day.scan(TWELVE_SHEETS)
    day.finish()
    day.lock(c=9, s=2, x=1)
    assert day.reconcile().verdicts[-1].failed == ()


def test_a_batch_voided_after_scanning_before_any_pile_was_counted_drops_nothing() -> None:
    day = a_scanned_day()
    void(day)
    assert day.state().dropped_counts == ()


# Sheets in doubt


def a_day_in_doubt() -> tuple[Day, int]:
    day = Day()
    device = day.assign()
    device.open_batch()
    number = device.judge(COUNTED)
    device.doubt(number)
    return day, number


def test_a_sheet_in_doubt_keeps_scanning_from_being_finished() -> None:
    day, number = a_day_in_doubt()
    with pytest.raises(NotAllowed, match=f"sheet {number} in batch 1 of alpha is in doubt"):
        day.finish()


def test_a_doubt_is_settled_by_the_devices_record_after_both_sides_said_so() -> None:
    day, number = a_day_in_doubt()
    settle(day, number, "counted")
    assert open_things(day)[0] == "in_doubt"
    device = day.device()
    device.settle(number, "counted")
    device.tell(COUNTED)
    device.close_batch()
    day.finish()
    assert day.state().figures.votes == {"D": 1}


def test_a_sheet_is_not_settled_into_a_bin_it_was_not_judged_for() -> None:
    day, number = a_day_in_doubt()
    with pytest.raises(NotAllowed, match="was not judged set_aside"):
        settle(day, number, "set_aside")
    for fate in ("not_accepted", "returned"):
        day, number = a_day_in_doubt()
        settle(day, number, fate)


def test_a_sheet_that_is_not_in_doubt_is_not_settled() -> None:
    day, number = a_day_in_doubt()
    with pytest.raises(NotAllowed, match=f"sheet {number + 1} of batch 1 is not in doubt"):
        settle(day, number + 1, "counted")


def test_every_precinct_of_the_order_has_a_state() -> None:
    day = Day(("101", "102"))
    day.assign(precinct="102")
    states = fold_all(day.facts())
    assert {precinct: state.state for precinct, state in states.items()} == {
        "101": State.NOT_OPEN,
        "102": State.OPEN,
    }


def test_a_doubt_is_settled_one_way_only_even_before_the_device_has_written_it_down() -> None:
    day, number = a_day_in_doubt()
    settle(day, number, "counted")
    with pytest.raises(NotAllowed, match="is to be settled as counted already"):
        settle(day, number, "returned")


def test_a_doubt_that_is_settled_is_not_settled_again() -> None:
    day, number = a_day_in_doubt()
    settle(day, number, "counted")
    day.device().settle(number, "counted")
    with pytest.raises(NotAllowed, match="is settled already"):
        settle(day, number, "counted")


def test_another_device_that_takes_a_runs_name_is_found_and_counts_nothing() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS)
    rogue = day.device("rogue")
    rogue.open_run("101-1", "101")
    rogue.open_batch()
    rogue.scan(COUNTED)
    rogue.close_batch()
    assert open_things(day) == ["stray_run"]
    with pytest.raises(NotAllowed, match="rogue opened run 101-1 otherwise than assigned"):
        day.finish()


def test_another_device_that_comes_after_scanning_was_finished_counts_nothing() -> None:
    day = a_reconciled_day()
    rogue = day.device("rogue")
    rogue.open_run("101-1", "101")
    rogue.open_batch()
    rogue.scan(COUNTED)
    rogue.close_batch()
    assert day.state().figures.counted == 9


def test_two_sheets_in_doubt_are_settled_one_after_the_other() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    for number in (device.judge(COUNTED), device.judge(COUNTED)):
        device.doubt(number)
    settle(day, 1, "counted")
    settle(day, 2, "returned")
    assert [act.body["sheet"] for act in day.state().settle_orders] == [1, 2]


def test_a_batch_of_a_program_that_nobody_knows_is_told_of_as_a_stray_run() -> None:
    day = Day()
    day.assign()
    stray = day.device("beta")
    stray.open_run("101-9", "101", OTHER_PROGRAM)
    stray.open_batch()
    stray.scan(COUNTED)
    stray.close_batch()
    assert open_things(day) == ["stray_run"]
