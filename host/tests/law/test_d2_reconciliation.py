"""D 2 s. 3: counted + set aside = rerun, and what follows when it does not."""

from recount_host.law.disclosure import notices
from recount_host.law.reconciliation import Step
from recount_host.law.states import State

from .days import BOTH, a_counted_day, a_reconciled_day, a_scanned_day


def test_D2_a_precinct_whose_numbers_add_up_is_reconciled() -> None:
    assert a_reconciled_day().state().state is State.RECONCILED


def test_the_whole_day_ends_in_the_challenge_call() -> None:
    assert a_counted_day().state().state is State.CHALLENGE_CALL


def test_D2_counted_plus_set_aside_unequal_to_rerun_sends_all_ballots_to_hand_count() -> None:
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    assert day.reconcile().step is Step.REVERIFY
    day.lock(H=13, c=9, s=2, x=1)
    assert day.reconcile().step is Step.SHOW_HAND_COUNT
    assert day.show_figures().state is State.HAND_COUNT


def test_a_misplaced_sheet_is_found_by_its_notice_and_moved_by_both_sides() -> None:
    day = a_scanned_day()
    for _ in range(2):
        day.lock(H=12, c=10, s=1, x=1)
        state = day.reconcile()
    assert state.step is Step.LOOK_FOR_SHEET
    notice = notices(state)[0]
    day.act(
        "sheet_moved", BOTH,
        device=notice.device, batch=notice.batch, sheet=notice.sheet, from_pile="counted",
        to_pile="set_aside" )  # fmt: skip
    day.reconcile()
    assert day.show_figures().state is State.RECONCILED
