"""D 2 s. 2 and 3: what is counted by hand, in passes that must agree and add up."""

from collections.abc import Mapping
from typing import Any

import pytest

from host.tests.rehearsal import (
    ANN,
    BOTH,
    CLERK,
    Day,
    a_counted_day,
    a_hand_count_day,
    a_reconciled_day,
    a_scanned_day,
    order_text,
    program_body,
)
from recount_host.act import Person
from recount_host.law.contest import contest_of
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.hand_count import (
    OTHER_WRITE_IN,
    Lost,
    Pass,
    ToCount,
    agreed,
    check_outcomes,
    together,
    votes_in,
    votes_lost,
    without_zeros,
)
from recount_host.law.states import State
from recount_host.order import parse_order


def check(outcomes: Mapping[str, int], vote_for: int = 1) -> None:
    day = Day(program=False)
    act = day.append("program_added", (CLERK,), program_body(bytes(32), vote_for))
    check_outcomes(outcomes, contest_of(act), parse_order(order_text(vote_for=vote_for)))


def a_pass(number: int, pile: str = "set_aside") -> dict[str, Any]:
    return {"pile": pile, "pass": number, "outcomes": {"D": 2}, "standards": "Ballot Examples, 2020"}


def test_d2_the_set_aside_and_not_accepted_ballots_are_hand_counted() -> None:
    day = a_counted_day()
    finding = day.state().hand_finding
    assert finding is not None
    assert (finding.name, finding.holds) == ("I5", True)
    assert day.state().state is State.CHALLENGE_CALL


def test_d2_coordinators_and_clerks_decide_no_ballot() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    body = {"pile": "set_aside", "pass": 1, "outcomes": {}, "standards": "2020"}
    clerk = Person("June Day", "clerk", "R")
    with pytest.raises(NotAllowed, match="an official of a side, and June Day, clerk, R is none"):
        day.act("hand_count_entered", (ANN, clerk), **body)


def test_d2_in_hand_count_all_ballots_are_counted() -> None:
    day = a_hand_count_day()
    day.lock(p=2, o=1)
    day.hand_count({"D": 8, "R": 5, "overvote": 1})
    finding = day.state().hand_finding
    assert finding is not None
    assert (finding.name, finding.holds) == ("I6", True)
    assert day.state().state is State.CHALLENGE_CALL


def test_a_hand_count_that_does_not_add_up_is_done_again() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "no_vote": 1})
    assert day.state().state is State.RECONCILED
    day.hand_count({"D": 2, "no_vote": 1})
    assert day.state().state is State.CHALLENGE_CALL


def test_the_last_two_passes_must_agree() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    for outcomes in ({"D": 3}, {"D": 2, "R": 1}, {"D": 3}):
        assert day.hand_count(outcomes, passes=1).state is State.RECONCILED
    assert day.hand_count({"D": 3}, passes=1).state is State.CHALLENGE_CALL


def test_outcomes_of_no_ballot_make_no_difference() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    day.hand_count({"D": 3, "R": 0}, passes=1)
    assert day.hand_count({"D": 3, "overvote": 0}, passes=1).state is State.CHALLENGE_CALL


def test_a_late_count_of_p_can_be_what_makes_the_hand_count_add_up() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    day.count_pile("set_aside", {"D": 2})
    day.count_pile("not_programmable", {"D": 2})
    day.count_pile("not_accepted", {"D": 1})
    assert day.state().state is State.RECONCILED
    assert day.lock(p=2).state is State.CHALLENGE_CALL


def test_p_and_o_are_counted_before_the_hand_count() -> None:
    day = a_reconciled_day()
    with pytest.raises(NotAllowed, match="count p first"):
        day.hand_count({"D": 3})
    day.lock(p=0)
    with pytest.raises(NotAllowed, match="count o first"):
        day.hand_count({"D": 3})


def test_sheets_that_lack_the_contest_are_not_hand_counted() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=1)
    assert day.hand_count({"D": 2}).state is State.CHALLENGE_CALL


def test_nothing_is_hand_counted_before_the_figures_are_shown() -> None:
    with pytest.raises(NotAllowed, match="enter a hand count"):
        a_scanned_day().act("hand_count_entered", BOTH, **a_pass(1))


def test_after_the_hand_count_agrees_nothing_is_counted_any_more() -> None:
    day = a_counted_day()
    with pytest.raises(NotAllowed, match="numbers add up"):
        day.hand_count({"D": 3})
    for letter in ("p", "o", "H"):
        with pytest.raises(NotAllowed, match="numbers add up"):
            day.enter(letter, 0, ANN)


def test_a_pass_is_entered_by_both_officials_of_the_team() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    with pytest.raises(NotAllowed, match="two persons of different sides"):
        day.act("hand_count_entered", (ANN,), **a_pass(1))


def test_passes_are_numbered_in_turn() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    with pytest.raises(NotAllowed, match="this is pass 1"):
        day.act("hand_count_entered", BOTH, **a_pass(2))


def test_without_a_contest_program_no_outcome_is_known() -> None:
    day = Day(program=False)
    day.lock(p=1, H=0)
    day.finish()
    day.lock(c=0, s=0, x=0)
    day.reconcile()
    day.show_figures()
    with pytest.raises(NotAllowed, match="program add"):
        day.hand_count({"D": 1})


@pytest.mark.parametrize("outcome", ["D", "T", OTHER_WRITE_IN, "no_vote", "overvote"])
def test_an_outcome_is_an_option_a_write_in_or_no_vote(outcome: str) -> None:
    check({outcome: 1})


@pytest.mark.parametrize(
    ("outcome", "why"),
    [
        ("W", "is no outcome of this contest"),
        ("challenged?", "is no outcome of this contest"),
        ("", "is no outcome of this contest"),
        ("D+R", "is more than 1 votes"),
        ("D+D", "names D twice"),
    ],
)
def test_anything_else_is_no_outcome(outcome: str, why: str) -> None:
    with pytest.raises(BadEntry, match=why):
        check({outcome: 1})


def test_a_number_of_ballots_is_not_negative() -> None:
    with pytest.raises(BadEntry, match="0 or more"):
        check({"D": -1})


def test_where_several_may_be_chosen_an_outcome_names_them_all_in_one_way() -> None:
    check({"D+R": 1, "D+other_write_in": 1, "other_write_in+other_write_in": 1}, vote_for=2)
    with pytest.raises(BadEntry, match=r'write "R\+D" as "D\+R"'):
        check({"R+D": 1}, vote_for=2)
    with pytest.raises(BadEntry, match="is more than 2 votes"):
        check({"D+R+T": 1}, vote_for=2)


def test_a_write_in_who_is_a_party_to_the_recount_can_be_an_outcome() -> None:
    text = order_text().replace('key = "R"', 'key = "W"')
    day = Day(program=False)
    act = day.append("program_added", (CLERK,), program_body(bytes(32)))
    check_outcomes({"W": 1}, contest_of(act), parse_order(text))


def test_a_ballot_gives_a_vote_to_each_option_it_names() -> None:
    assert votes_in({"D+R": 2, "D": 1, "no_vote": 4, "overvote": 1}) == {"D": 3, "R": 2}


def test_a_undervotes_are_ballots_and_what_they_lost_is_votes() -> None:
    outcomes = {"D+R+T": 5, "D+R": 1, "D": 2, "no_vote": 1, "other_write_in": 1}
    assert votes_lost(outcomes, 3) == Lost(5, 1 + 2 * 2 + 3 + 2, 0, 0)
    assert votes_lost({"D": 4, "overvote": 2}, 1) == Lost(0, 0, 2, 2)
    assert votes_lost({"overvote": 2}, 3) == Lost(0, 0, 2, 6)


def test_ballots_excluded_or_before_the_court_lost_nothing() -> None:
    assert votes_lost({"excluded": 3, "challenged": 2}, 3) == Lost(0, 0, 0, 0)


def test_no_ballot_is_a_number_of_ballots_and_less_than_none_or_half_a_one_is_not() -> None:
    check({"D": 0})
    for wrong in (-1, True, 1.5):
        with pytest.raises(BadEntry, match="D: a number of ballots is 0 or more"):
            check({"D": wrong})  # type: ignore[dict-item]


def test_an_outcome_that_is_none_is_told_with_all_that_there_are() -> None:
    with pytest.raises(
        BadEntry, match="the outcomes are D, R, T, other_write_in, no_vote, overvote, excluded"
    ):
        check({"X": 1})


# The numbers of a pile


def passed(pile: str, **outcomes: int) -> Pass:
    return Pass(pile, without_zeros(outcomes), BOTH, "Ballot Examples, 2020", 1)


def test_an_outcome_without_a_ballot_is_none_and_outcomes_have_a_fixed_order() -> None:
    assert list(without_zeros({"no_vote": 2, "R": 0, "D": 1}).items()) == [("D", 1), ("no_vote", 2)]
    assert list(together({"paper": {"R": 1}, "set_aside": {"R": 2, "D": 1}}).items()) == [("D", 1), ("R", 3)]
    assert list(votes_in({"R": 1, "D+R": 2, "overvote": 5}).items()) == [("D", 2), ("R", 3)]


def test_passes_agree_pile_by_pile_and_the_last_two_decide() -> None:
    passes = [passed("paper", D=1), passed("set_aside", D=2), passed("paper", R=1), passed("paper", R=1)]
    assert agreed(passes, "paper") == {"R": 1}
    assert agreed(passes, "set_aside") is None
    assert agreed(passes, "all_scanned") is None
    assert agreed([*passes, passed("paper", D=1)], "paper") is None


def test_i5_fails_where_outcomes_fit_together_but_not_pile_by_pile() -> None:
    to_count = ToCount(12, 2, 2, 1, 1, 3)
    right = {"set_aside": 2, "not_accepted": 1, "not_programmable": 1, "paper": 3}
    assert to_count.finding(right).holds
    assert to_count.finding(right).name == "I5"
    assert not to_count.finding({**right, "set_aside": 1, "not_accepted": 2}).holds
    assert not to_count.finding({**right, "paper": 2}).holds
    whole = ToCount(12, 2, 2, 1, 1, 3, whole_precinct=True)
    assert whole.finding({"all_scanned": 11, "not_programmable": 1, "paper": 3}).holds
    assert whole.finding({"all_scanned": 11, "not_programmable": 1, "paper": 3}).name == "I6"
    assert not whole.finding({"all_scanned": 12, "not_programmable": 0, "paper": 3}).holds


def test_where_the_scanned_ballots_are_missing_only_the_other_piles_are_counted() -> None:
    missing = ToCount(0, 0, 0, 0, 1, 4, scanned_missing=True)
    assert missing.expected == {"not_programmable": 1, "paper": 4}
    assert missing.finding({"not_programmable": 1, "paper": 4}).holds
