"""D 2 s. 3: counted + set aside = rerun, and what follows when it does not."""

import pytest

from host.tests.rehearsal import (
    ANN,
    BOB,
    BOTH,
    CLERK,
    Day,
    a_counted_day,
    a_day_told_twice,
    a_hand_count_day,
    a_reconciled_day,
    a_scanned_day,
)
from host.tests.sound_device import Sheet
from recount_host.law.disclosure import notices
from recount_host.law.errors import LedgerContradiction, NotAllowed
from recount_host.law.reconciliation import Step, findings, next_step, wrong_devices
from recount_host.law.states import State
from recount_host.law.tally import Figures


def move(day: Day, to_pile: str = "set_aside", from_pile: str = "counted") -> None:
    notice = next(notice for notice in notices(day.state()) if notice.pile == to_pile)
    day.act(
        "sheet_moved",
        BOTH,
        device=notice.device,
        batch=notice.batch,
        sheet=notice.sheet,
        from_pile=from_pile,
        to_pile=to_pile,
    )


def test_d2_a_precinct_whose_numbers_add_up_is_reconciled() -> None:
    assert a_reconciled_day().state().state is State.RECONCILED


def test_the_day_ends_in_the_challenge_call_when_the_hand_count_agrees_and_adds_up() -> None:
    assert a_counted_day().state().state is State.CHALLENGE_CALL


def test_d2_counted_plus_set_aside_unequal_to_rerun_is_verified_once_and_then_sends_all_to_hand_count() -> (
    None
):
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    assert day.reconcile().step is Step.REVERIFY
    day.lock(H=13, c=9, s=2, x=1)
    assert day.reconcile().step is Step.SHOW_HAND_COUNT
    assert day.show_figures().state is State.HAND_COUNT


def test_a_slip_of_the_counters_is_put_right_by_the_one_reverification_and_both_values_are_kept() -> None:
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    day.reconcile()
    day.lock(H=12, c=9, s=2, x=1)
    assert day.reconcile().step is Step.SHOW_RECONCILED
    assert day.show_figures().state is State.RECONCILED
    kept = [(entry.attempt, entry.value) for entry in day.state().counts.entries if entry.letter == "H"]
    assert kept == [(1, 13), (1, 13), (2, 12), (2, 12)]


def test_the_numbers_are_verified_again_only_once() -> None:
    day = a_day_told_twice(H=13, c=9, s=2, x=1)
    with pytest.raises(NotAllowed, match="H is locked"):
        day.enter("H", 12, ANN)


def test_the_figures_stay_closed_while_the_reverification_is_due() -> None:
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    day.reconcile()
    with pytest.raises(NotAllowed, match="count H, c, s and x once more"):
        day.show_figures()
    with pytest.raises(NotAllowed, match="the figures stay closed"):
        day.act(
            "figures_shown", outcome="hand_count", counted=9, set_aside=2, not_accepted=1,
            votes={"D": 5, "R": 3, "T": 1},
        )  # fmt: skip


def test_the_identities_are_told_only_when_all_four_numbers_are_locked() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2)
    with pytest.raises(NotAllowed, match="enter x first"):
        day.reconcile()
    day.enter("x", 1, ANN)
    with pytest.raises(NotAllowed, match="enter x first"):
        day.reconcile()
    with pytest.raises(NotAllowed, match="not all locked"):
        day.act("identities_told", attempt=1, held=[], failed=[], disarmed=[])


def test_after_the_reverification_is_due_all_four_numbers_are_counted_again() -> None:
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    day.reconcile()
    day.lock(H=13)
    with pytest.raises(NotAllowed, match="count once more and enter c, s, x first"):
        day.reconcile()


def test_an_extra_sheet_laid_into_the_counted_bin_fails_i3_alone() -> None:
    day = a_day_told_twice(H=12, c=10, s=2, x=1)
    assert day.state().verdicts[-1].failed == ("I3",)
    assert day.state().step is Step.LOOK_FOR_SHEET


def test_a_set_aside_sheet_in_the_counted_pile_fails_i3_although_i2_holds() -> None:
    day = a_day_told_twice(H=12, c=10, s=1, x=1)
    assert day.state().verdicts[-1].failed == ("I3",)
    assert "I2" in day.state().verdicts[-1].held


def test_a_misplaced_sheet_is_found_by_its_notice_and_moved_by_both_sides() -> None:
    day = a_day_told_twice(H=12, c=10, s=1, x=1)
    move(day)
    assert day.reconcile().step is Step.SHOW_RECONCILED
    assert day.show_figures().state is State.RECONCILED
    assert (day.state().pile("c"), day.state().pile("s")) == (9, 2)


def test_a_counted_sheet_found_among_the_set_aside_ones_is_moved_without_a_notice() -> None:
    day = a_day_told_twice(H=12, c=8, s=3, x=1)
    day.act("sheet_moved", BOTH, device="", batch=0, sheet=0, from_pile="set_aside", to_pile="counted")
    assert day.reconcile().step is Step.SHOW_RECONCILED


def test_a_moved_not_accepted_sheet_changes_how_many_were_rerun() -> None:
    day = a_day_told_twice(H=12, c=10, s=2, x=0)
    assert set(day.state().verdicts[-1].failed) == {"I2", "I3"}


def test_a_sheet_is_moved_only_by_two_persons_of_different_sides() -> None:
    day = a_day_told_twice(H=12, c=10, s=1, x=1)
    notice = notices(day.state())[0]
    where = {"device": notice.device, "batch": notice.batch, "sheet": notice.sheet}
    for by in ((ANN,), (ANN, CLERK), (ANN, ANN), (ANN, BOB, CLERK)):
        with pytest.raises(NotAllowed, match="two persons of different sides"):
            day.act("sheet_moved", by, **where, from_pile="counted", to_pile="set_aside")


def test_a_sheet_is_moved_only_when_i3_alone_fails_after_the_reverification() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=10, s=1, x=1)
    day.reconcile()
    with pytest.raises(NotAllowed, match="only when I3 alone fails"):
        day.act("sheet_moved", BOTH, device="", batch=0, sheet=0, from_pile="set_aside", to_pile="counted")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"from_pile": "set_aside", "to_pile": "set_aside"}, "name two piles"),
        ({"from_pile": "not_accepted", "to_pile": "counted"}, "is empty"),
        ({"from_pile": "set_aside", "to_pile": "counted", "sheet": 3}, "has no notice"),
        ({"from_pile": "counted", "to_pile": "set_aside", "sheet": 3}, "there is no notice"),
        ({"from_pile": "counted", "to_pile": "set_aside", "sheet": 99}, "there is no notice"),
    ],
)
def test_a_move_that_no_notice_supports_is_refused(fields: dict[str, object], why: str) -> None:
    sheets = (*(Sheet("counted", ("D",)) for _ in range(5)), Sheet("set_aside", (), ("overvote",)))
    day = a_scanned_day((*sheets, Sheet("set_aside", (), ("undervote",))))
    for _ in range(2):
        day.lock(H=7, c=6, s=1, x=0)
        day.reconcile()
    device = day.device()
    body = {"device": device.id, "batch": 1, "sheet": 0, **fields}
    with pytest.raises(NotAllowed, match=why):
        day.act("sheet_moved", BOTH, **body)


def test_one_sheet_is_moved_only_once() -> None:
    day = a_day_told_twice(H=12, c=11, s=0, x=1)
    move(day)
    with pytest.raises(NotAllowed, match="moved already"):
        move(day)


def test_after_a_move_the_identities_are_told_anew_before_the_figures() -> None:
    day = a_day_told_twice(H=12, c=10, s=1, x=1)
    move(day)
    with pytest.raises(NotAllowed, match="reconcile"):
        day.show_figures()


def test_d2_when_the_search_is_over_and_i3_still_fails_all_ballots_are_hand_counted() -> None:
    day = a_day_told_twice(H=12, c=10, s=2, x=1)
    with pytest.raises(NotAllowed, match="I3 still fails"):
        day.show_figures()
    assert day.show_figures(search_ended=True).state is State.HAND_COUNT


def test_the_figures_are_not_shown_before_the_identities_were_told() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    with pytest.raises(NotAllowed, match="the identities are told first"):
        day.show_figures()
    with pytest.raises(NotAllowed, match="the identities are told first"):
        day.act("figures_shown", outcome="reconciled", counted=9, set_aside=2, not_accepted=1, votes={})


def test_i4_fails_where_counted_sheets_do_not_hold_n_votes_and_nothing_is_verified_again() -> None:
    day = a_scanned_day(
        (Sheet("counted", ("D",)), Sheet("counted", ()), Sheet("set_aside", (), ("undervote",)))
    )
    day.lock(H=3, c=2, s=1, x=0)
    state = day.reconcile()
    assert state.verdicts[-1].failed == ("I4",)
    assert state.step is Step.SHOW_HAND_COUNT
    assert day.show_figures().state is State.HAND_COUNT


def test_i4_an_empty_counted_sheet_and_one_with_two_votes_do_not_make_two_votes() -> None:
    day = a_scanned_day((Sheet("counted", ("D", "R")), Sheet("counted", ())))
    day.lock(H=2, c=2, s=0, x=0)
    assert day.reconcile().verdicts[-1].failed == ("I4",)


def test_i4_a_device_whose_counted_sheets_fail_it_is_disarmed() -> None:
    day = Day(("101", "102"))
    day.scan((Sheet("counted", ("D", "R")),), "alpha")
    day.scan((Sheet("counted", ("D",)),), "beta")
    day.finish()
    day.lock(H=2, c=2, s=0, x=0)
    assert day.reconcile().verdicts[-1].disarmed == (day.device("alpha").id,)
    with pytest.raises(NotAllowed, match="alpha is disarmed"):
        day.assign("alpha", "102")
    day.assign("beta", "102")


def test_i1_a_tray_with_more_sheets_than_the_stack_had_fails() -> None:
    day = a_scanned_day()
    day.lock(H=3, c=9, s=2, x=4)
    day.reconcile()
    assert "I1" in day.state().verdicts[-1].failed


def test_d2_after_the_figures_were_shown_no_count_is_entered() -> None:
    for day in (a_reconciled_day(), a_hand_count_day()):
        for letter in ("H", "c", "s", "x"):
            with pytest.raises(NotAllowed, match=r"have been shown|counted by hand"):
                day.enter(letter, 12, BOB)


def test_a_number_once_told_of_is_not_entered_again() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    day.reconcile()
    with pytest.raises(NotAllowed, match="go on with figures"):
        day.enter("H", 12, ANN)


def test_d2_no_batch_is_run_again_to_make_the_numbers_fit() -> None:
    day = a_scanned_day()
    day.lock(H=13, c=9, s=2, x=1)
    day.reconcile()
    with pytest.raises(NotAllowed, match="nothing is run again"):
        day.act(
            "batch_void_ordered", BOTH, run="101-1", device=day.device().id, batch=1, reason="does not fit"
        )


def test_what_was_told_or_shown_must_be_what_the_records_give() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    with pytest.raises(LedgerContradiction, match="identities told"):
        day.act("identities_told", attempt=1, held=["I1"], failed=["I2"], disarmed=[])
    held = ["I1", "I2", "I3", "I4"]
    with pytest.raises(LedgerContradiction, match="identities told"):
        day.act("identities_told", attempt=1, held=held, failed=[], disarmed=[day.device().id])
    day.reconcile()
    with pytest.raises(LedgerContradiction, match="outcome shown"):
        day.act("figures_shown", outcome="hand_count", counted=9, set_aside=2, not_accepted=1, votes={})
    with pytest.raises(LedgerContradiction, match="figures shown"):
        day.act("figures_shown", outcome="reconciled", counted=8, set_aside=3, not_accepted=1, votes={})


def test_an_act_that_the_law_would_have_refused_is_found_in_the_ledger() -> None:
    day = a_scanned_day()
    day.append(
        "identities_told",
        (CLERK,),
        {"precinct": "101", "attempt": 1, "held": [], "failed": [], "disarmed": []},
    )
    with pytest.raises(LedgerContradiction, match=f"act {len(day.acts)} "):
        day.state()


def test_an_outcome_that_no_ballot_of_the_contest_can_have_is_found_in_the_ledger() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    body = {"precinct": "101", "pile": "set_aside", "pass": 1, "outcomes": {"nobody": 2}, "standards": "2020"}
    day.append("hand_count_entered", BOTH, body)
    with pytest.raises(LedgerContradiction, match='"nobody" is no outcome'):
        day.state()


@pytest.mark.parametrize(
    ("failed", "attempt", "step"),
    [
        ((), 1, Step.SHOW_RECONCILED),
        ((), 2, Step.SHOW_RECONCILED),
        (("I2",), 1, Step.REVERIFY),
        (("I3",), 1, Step.REVERIFY),
        (("I2", "I3"), 1, Step.REVERIFY),
        (("I3",), 2, Step.LOOK_FOR_SHEET),
        (("I2",), 2, Step.SHOW_HAND_COUNT),
        (("I2", "I3"), 2, Step.SHOW_HAND_COUNT),
        (("I4",), 1, Step.SHOW_HAND_COUNT),
        (("I3", "I4"), 2, Step.SHOW_HAND_COUNT),
    ],
)
def test_what_follows_from_the_identities_that_fail(
    failed: tuple[str, ...], attempt: int, step: Step
) -> None:
    assert next_step(failed, attempt) is step


def i4(votes: dict[str, int], counted: int, sheets_by_votes: dict[int, int], vote_for: int = 1) -> bool:
    reported = Figures(counted=counted, votes=votes, sheets_by_votes=sheets_by_votes)
    found = findings(counted, {"c": counted, "s": 0, "x": 0}, reported, vote_for)
    return next(finding.holds for finding in found if finding.name == "I4")


def test_i4_holds_where_nothing_was_counted_and_fails_where_one_option_is_voted_for_twice() -> None:
    assert i4({}, 0, {})
    assert i4({"D": 1, "R": 1}, 1, {2: 1}, vote_for=2)
    assert not i4({"D": 2}, 1, {1: 1}, vote_for=2)


def test_the_devices_whose_sheets_are_wrong_are_named_in_order() -> None:
    wrong, right = Figures(counted=1), Figures(counted=1, votes={"D": 1}, sheets_by_votes={1: 1})
    assert wrong_devices({"b": wrong, "c": right, "a": wrong}, 1) == ("a", "b")


def test_a_verdict_that_is_not_told_yet_is_of_no_act() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    assert day.state().verdict.act_n == 0
    day.reconcile()
    assert day.state().verdicts[-1].act_n == len(day.acts)
