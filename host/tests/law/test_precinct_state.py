"""A precinct looked up and added up: each figure from what it must come from, and from nothing else."""

from dataclasses import replace
from typing import Any

import pytest

from host.tests.law.test_b_custody import key, open_, receive
from host.tests.rehearsal import (
    ANN,
    BOB,
    BOTH,
    CLERK,
    Day,
    a_counted_day,
    a_hand_count_day,
    a_reconciled_day,
    a_scanned_day,
    program_body,
)
from host.tests.sound_device import PROGRAM, TWELVE_SHEETS, Sheet
from recount_host.law.contest import Contest
from recount_host.law.hand_count import ToCount
from recount_host.law.precinct_state import devices_of, heads_body

OTHER_PROGRAM = bytes(range(32))
FOR_D = Sheet("counted", ("D",))
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


def the_contest(day: Day) -> Contest:
    contest = day.state().contest
    assert contest is not None
    return contest


# Contest, devices, batches


def test_the_contest_of_a_precinct_is_that_of_the_program_its_devices_were_given() -> None:
    day = Day()
    day.append("program_added", (CLERK,), program_body(OTHER_PROGRAM))
    assert the_contest(day).program == PROGRAM, "before a device is assigned: the first one"
    day.act(
        "run_assigned",
        run="101-1", device=day.device().id, program=OTHER_PROGRAM, contest="governor", mode="training",
    )  # fmt: skip
    assert the_contest(day).program == OTHER_PROGRAM


def test_a_precinct_without_a_program_has_no_contest() -> None:
    assert Day(program=False).state().contest is None


@pytest.mark.parametrize(("signed", "mode"), [(True, "live"), (False, "training")])
def test_a_precinct_that_people_recount_without_a_device_is_for_real_where_the_order_is_signed(
    signed: bool, mode: str
) -> None:
    day = Day()
    if not signed:
        day.acts[0] = replace(day.acts[0], body={**day.acts[0].body, "signatures": []})
    day.lock(H=12)
    day.act("hand_count_ordered", BOTH, reason="no scanner can be programmed")
    assert day.state().mode == mode


def test_a_device_that_was_given_in_training_makes_the_precinct_one_of_training() -> None:
    day = Day()
    day.assign()
    assert day.state().mode == "training"


def test_an_open_batch_counts_nothing() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    device.scan(FOR_D)
    state = day.state()
    assert state.standing_batches == ()
    assert state.figures.counted == 0
    device.tell(FOR_D)
    device.close_batch()
    assert day.state().figures.counted == 1


def test_a_void_batch_is_fed_for_nothing() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    device.open_batch()
    device.scan(FOR_D)
    device.close_batch()
    assert day.state().sheets_fed == 13
    day.act("batch_void_ordered", BOTH, run=device.run, device=device.id, batch=1, reason="a slip")
    state = day.state()
    assert state.sheets_fed == 1
    assert [batch.batch for batch in state.void_batches] == [1]
    assert [batch.batch for batch in state.standing_batches] == [2]


def test_a_batch_of_a_withdrawn_device_is_void_and_never_late() -> None:
    day = Day()
    alpha = day.assign("alpha")
    alpha.open_batch()
    day.act("run_ended", run="101-1", device=alpha.id)
    day.act("device_withdrawn", BOTH, device=alpha.id, reason="it is dead")
    day.scan(TWELVE_SHEETS, "beta")
    day.finish()
    (batch,) = (known for known in day.state().batches if known.device == alpha.id)
    assert day.state().is_void(batch)
    assert not day.state().is_late(batch)


def test_the_figures_of_each_device_are_told_in_the_order_of_their_ids() -> None:
    day = Day()
    for number, name in enumerate(NAMES):
        day.scan([FOR_D] * (number + 1), name)
    figures = day.state().figures_by_device
    assert list(figures) == sorted(day.device(name).id for name in NAMES)
    assert [figures[day.device(name).id].counted for name in NAMES] == [1, 2, 3, 4, 5, 6]
    assert devices_of(day.state()) == tuple(figures)


def test_a_device_that_was_withdrawn_has_no_part_in_the_end_of_scanning() -> None:
    day = Day()
    for name in ("alpha", "beta"):
        day.assign(name)
    alpha, beta = day.device("alpha"), day.device("beta")
    day.act("run_ended", run="101-1", device=alpha.id)
    day.act("device_withdrawn", BOTH, device=alpha.id, reason="it is dead")
    assert devices_of(day.state()) == (beta.id,)
    assert heads_body(day.state())["heads"] == {beta.id: len(beta.records)}


def test_a_device_that_never_wrote_a_record_ends_at_record_0() -> None:
    day = Day()
    device = day.device()
    day.act(
        "run_assigned",
        run="101-1", device=device.id, program=PROGRAM, contest="governor", mode="training",
    )  # fmt: skip
    facts = replace(day.facts(), devices={})
    day.devices.clear()
    assert heads_body(day.state()) == {
        "precinct": "101",
        "heads": {device.id: 0},
        "head_sha256": {device.id: bytes(32)},
    }
    assert facts.devices == {}


# Counts and verdicts


def test_p_is_used_as_it_was_counted_last_also_where_the_stack_was_counted_once() -> None:
    day = a_reconciled_day()
    day.lock(p=2)
    day.lock(p=0)
    assert [(entry.letter, entry.attempt, entry.value) for entry in day.state().counts_used][-2:] == [
        ("p", 2, 0),
        ("p", 2, 0),
    ]


def test_o_that_one_person_has_counted_is_no_number_also_where_no_sheet_was_not_accepted() -> None:
    day = a_scanned_day([FOR_D])
    day.reconcile_with(H=1, c=1, s=0, x=0)
    assert day.state().other("o") == 0
    day.enter("o", 0, ANN)
    assert day.state().other("o") is None
    day.enter("o", 0, BOB)
    assert day.state().other("o") == 0


def test_nothing_is_found_before_the_stack_and_every_pile_are_counted() -> None:
    day = a_scanned_day()
    day.lock(c=9, s=2, x=1)
    assert day.state().findings == ()
    day.lock(H=12)
    assert [finding.name for finding in day.state().findings] == ["I1", "I2", "I3", "I4"]


def test_a_verdict_names_what_holds_and_what_fails_each_once() -> None:
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    verdict = day.state().verdict
    assert verdict.held == ("I1", "I3", "I4")
    assert verdict.failed == ("I2",)


def test_a_verdict_is_old_after_a_new_count_is_due_and_after_a_sheet_was_moved() -> None:
    day = a_scanned_day()
    assert not day.state().verdict_is_current
    day.lock(H=12, c=10, s=1, x=1)
    day.reconcile()
    assert not day.state().verdict_is_current, "attempt 2 is due"
    day.lock(H=12, c=10, s=1, x=1)
    assert not day.state().verdict_is_current, "the first one was told of attempt 1"
    day.reconcile()
    assert day.state().verdict_is_current
    device = day.device()
    where: dict[str, Any] = {"device": device.id, "batch": 1, "sheet": 10}
    day.act("sheet_moved", BOTH, **where, from_pile="counted", to_pile="set_aside")
    assert not day.state().verdict_is_current, "a sheet was moved since"
    day.reconcile()
    assert day.state().verdict_is_current


# Paper


def test_paper_is_expected_where_a_container_tells_of_it() -> None:
    day = Day()
    receive(day, "box-1")
    assert not day.state().expects_paper
    receive(day, "paper-1", "paper")
    assert day.state().expects_paper


def test_paper_is_not_expected_of_a_container_that_is_not_found() -> None:
    day = Day()
    what: dict[str, Any] = {
        "container": "paper-1",
        "holds": "paper",
        "stated": [],
        "reason": "not in the vault",
    }
    day.act("container_not_found", BOTH, **what)
    assert not day.state().expects_paper


def test_paper_that_the_statement_of_results_tells_of_is_expected_until_it_is_declared_missing() -> None:
    day = Day()
    key(day)
    assert day.state().expects_paper
    assert day.state().other("d") is None
    day.act("ballots_not_found", BOTH, stream="paper", reason="the envelope is empty")
    assert not day.state().expects_paper
    assert day.state().other("d") == 0


def test_once_all_is_counted_paper_is_not_expected_any_more() -> None:
    day = a_counted_day()
    key(day)
    assert not day.state().expects_paper


def test_paper_is_counted_also_where_the_ballots_cast_on_scanners_are_missing() -> None:
    day = Day()
    key(day)
    receive(day, "paper-1", "paper")
    open_(day, "paper-1")
    day.act("ballots_not_found", BOTH, stream="scanned", reason="the room was flooded")
    assert day.state().numbers_to_count == ("p", "d")
    day.lock(p=1, d=4)
    assert day.state().to_count == ToCount(0, 0, 0, 0, 1, 4, scanned_missing=True)
    assert day.state().outcomes_by_pile is None
    day.count_pile("not_programmable", {"D": 1})
    day.count_pile("paper", {"R": 4})
    assert day.state().outcomes_by_pile == {"not_programmable": {"D": 1}, "paper": {"R": 4}}


# What is hand counted


def test_before_the_figures_are_shown_nothing_is_to_be_hand_counted() -> None:
    day = a_scanned_day([FOR_D])
    day.lock(H=1, c=1, s=0, x=0)
    day.reconcile()
    day.lock(p=0)
    assert day.state().numbers_to_count == ()
    assert day.state().to_count is None
    assert day.state().outcomes_by_pile is None
    assert day.state().outcomes is None
    assert day.state().hand_finding is None
    assert day.state().challenged_outcomes == {}


def test_what_is_hand_counted_comes_from_peoples_numbers() -> None:
    day = a_reconciled_day()
    day.lock(p=3, o=1)
    assert day.state().to_count == ToCount(12, 2, 1, 1, 3, 0)
    day = a_hand_count_day()
    day.lock(p=0, o=1)
    assert day.state().to_count == ToCount(13, 2, 1, 1, 0, 0, whole_precinct=True)


def test_a_precinct_without_a_sheet_has_no_sheet_to_hand_count() -> None:
    day = Day()
    day.lock(H=0)
    day.act("hand_count_ordered", BOTH, reason="there is nothing to feed")
    day.lock(p=0, o=0)
    assert day.state().to_count == ToCount(0, 0, 0, 0, 0, 0, whole_precinct=True)


def test_a_pile_that_was_counted_once_through_is_not_agreed_although_it_is_empty() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    day.count_pile("not_programmable", {"no_vote": 0}, passes=1)
    day.count_pile("set_aside", {"D": 1, "no_vote": 1})
    day.count_pile("not_accepted", {"R": 1})
    assert day.state().outcomes_by_pile is None
    assert day.state().agreeing_act is None
    day.count_pile("not_programmable", {}, passes=1)
    assert day.state().outcomes == {"D": 1, "R": 1, "no_vote": 1}


def test_an_empty_pile_needs_no_pass_and_one_with_a_ballot_needs_two() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    day.count_pile("set_aside", {"D": 1, "no_vote": 1})
    assert day.state().outcomes_by_pile is None
    day.count_pile("not_accepted", {"R": 1}, passes=1)
    assert day.state().outcomes_by_pile is None
    day.count_pile("not_accepted", {"R": 1}, passes=1)
    assert day.state().outcomes_by_pile == {
        "set_aside": {"D": 1, "no_vote": 1},
        "not_accepted": {"R": 1},
        "not_programmable": {},
        "paper": {},
    }


@pytest.mark.parametrize(
    ("pile", "where"), [("set_aside", "all_scanned"), ("counted", "all_scanned"), ("paper", "paper")]
)
def test_where_all_is_hand_counted_a_questioned_ballot_belongs_to_all_that_was_scanned(
    pile: str, where: str
) -> None:
    day = a_scanned_day()
    day.segregate(pile=pile, counted_as="D" if pile == "counted" else "challenged")
    assert [(ballot.pile, ballot.counted_as) for ballot in day.state().questioned] == [
        (pile, "D" if pile == "counted" else "challenged")
    ]
    for _ in range(2):
        day.lock(H=13, c=9, s=2, x=1)
        day.reconcile()
    day.show_figures()
    assert [(ballot.pile, ballot.counted_as) for ballot in day.state().questioned] == [(where, "challenged")]
