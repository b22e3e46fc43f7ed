"""What people are told to do next, from the first container to the conclusion."""

from host.tests.law.test_b_custody import key, open_, receive
from host.tests.rehearsal import ANN, BOB, BOTH, CLERK, Day, a_reconciled_day, a_scanned_day
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.law.reconciliation import Step
from recount_host.law.states import SITUATION, State


def following(day: Day) -> str:
    return day.view().next


def advice(state: State) -> str:
    return SITUATION[state][1]


def piles(day: Day) -> dict[str, str]:
    return {pile.pile: pile.standing for pile in day.view().piles}


def test_before_and_while_ballots_are_fed() -> None:
    day = Day()
    assert following(day) == advice(State.NOT_OPEN)
    receive(day, "box-1")
    receive(day, "box-2")
    assert following(day).startswith("open container box-1, both sides together (custody open); then feed")
    open_(day, "box-1")
    assert following(day).startswith("open container box-2, both sides together")
    open_(day, "box-2")
    assert following(day) == advice(State.OPEN)
    day.scan(TWELVE_SHEETS)
    assert following(day) == advice(State.SCANNING)
    day.finish()
    assert following(day) == advice(State.SCANNED)


def test_after_the_identities_were_told() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    assert following(day) == advice(State.SCANNED), "nothing was told yet"
    day.reconcile()
    assert following(day) == Step.SHOW_RECONCILED.value

    day = a_scanned_day()
    day.lock(H=12, c=10, s=1, x=1)
    day.reconcile()
    assert following(day) == Step.REVERIFY.value
    day.lock(H=12, c=10, s=1)
    assert following(day) == Step.REVERIFY.value, "x is wanting"
    day.lock(x=1)
    assert following(day) == advice(State.SCANNED), "all four are counted again, and nothing was told of them"
    day.reconcile()
    assert following(day) == Step.LOOK_FOR_SHEET.value
    device = day.device()
    moved = {"device": device.id, "batch": 1, "sheet": 10, "from_pile": "counted", "to_pile": "set_aside"}
    day.act("sheet_moved", BOTH, **moved)
    assert following(day) == advice(State.SCANNED), "it was told of the piles as they were before"
    day.reconcile()
    assert following(day) == Step.SHOW_RECONCILED.value


def test_a_container_that_comes_while_ballots_are_fed_is_opened() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS)
    receive(day, "box-2")
    assert following(day).startswith("open container box-2, both sides together (custody open); then ")


def test_paper_ballots_stay_sealed_while_others_are_fed() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS)
    receive(day, "paper-1", "paper")
    assert following(day) == advice(State.SCANNING)


def test_before_a_figure_is_shown_the_hand_count_has_not_begun() -> None:
    assert Day().view().hand_count == "not begun"
    day = a_scanned_day()
    day.lock(H=11, c=9, s=2, x=0, p=0)
    assert day.view().hand_count == "not begun"


def test_once_both_sides_sent_all_to_hand_count_nothing_is_verified_again() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=10, s=1, x=1)
    day.reconcile()
    day.act("hand_count_ordered", BOTH, reason="the device is dead")
    assert following(day).startswith("count ")


def test_while_people_count_by_hand() -> None:
    day = a_reconciled_day()
    assert following(day).startswith("count p, o, two persons of different sides, each alone")
    assert day.view().hand_count == "p, o to be counted first"
    assert piles(day) == {}
    day.lock(p=0, o=0)
    assert piles(day) == {
        "set_aside": "to be counted, twice through",
        "not_accepted": "to be counted, twice through",
        "not_programmable": "none",
        "paper": "none",
    }
    assert following(day) == (
        "hand count the ballots that the scanners set aside: to be counted, twice through; the ballots that "
        "the scanners did not accept: to be counted, twice through (hand-count enter)"
    )
    day.count_pile("set_aside", {"D": 1, "no_vote": 1}, passes=1)
    assert piles(day)["set_aside"] == "one pass entered"
    day.count_pile("set_aside", {"D": 2}, passes=1)
    assert piles(day)["set_aside"] == "the last two passes differ: count again"
    day.count_pile("set_aside", {"D": 3})
    assert piles(day)["set_aside"] == "two passes agree, but not with the ballots of the pile: count again"
    day.segregate()
    day.count_pile("set_aside", {"D": 2})
    assert (
        piles(day)["set_aside"] == "1 envelopes lie with this pile: count them as challenged, twice through"
    )
    day.count_pile("set_aside", {"D": 1, "challenged": 1})
    assert piles(day)["set_aside"] == "agreed"
    assert following(day) == (
        "hand count the ballots that the scanners did not accept: to be counted, twice through "
        "(hand-count enter)"
    )
    assert day.view().hand_count == "not_accepted: to be counted, twice through"
    assert day.view().outcomes is None
    day.count_pile("not_accepted", {"R": 1})
    assert day.view().hand_count == "agreed"
    assert day.view().outcomes == {"D": 1, "R": 1, "challenged": 1}


def test_at_the_call_and_after_it() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "R": 1, "no_vote": 1})
    asked = "ask for questioned ballots before the conclusion (challenge call, D 3): "
    assert following(day) == f"{asked}Ann Lee, Bob Ray"
    day.act("call_answered", (ANN,), answer="no_further_question")
    assert following(day) == f"{asked}Bob Ray"
    day.act("call_answered", (BOB,), answer="has_question")
    assert following(day) == f"{asked}Bob Ray"
    day.act("call_answered", (BOB,), answer="no_further_question")
    assert following(day) == "print the statement as it stands now (statement)"
    printed = {"sha256": bytes(32), "facts_sha256": bytes(32)}
    day.act("statement_printed", (CLERK,), **printed)
    assert following(day).startswith("let every official sign the statement in ink")
    key(day, paper_ballots=0)
    assert following(day) == "print the statement as it stands now (statement)", "it would say more now"
    day.act("statement_printed", (CLERK,), **printed)
    assert following(day).startswith("let every official sign the statement in ink")
    day.act("precinct_concluded", BOTH, **printed)
    assert following(day) == advice(State.CONCLUDED)


def test_the_devices_of_a_precinct_are_named_in_the_order_of_their_names() -> None:
    day = Day()
    for name in ("zeta", "beta", "alpha", "gamma"):
        day.assign(name)
    assert day.view().devices == ("alpha", "beta", "gamma", "zeta")


def test_notes_are_told_once_all_is_counted() -> None:
    day = a_reconciled_day()
    assert day.view().notes == ()
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "R": 1, "no_vote": 1})
    assert day.view().notes == (
        "no statement of results is keyed in, so the ballots are held against nothing",
    )
