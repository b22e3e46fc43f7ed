"""D 2 s. 5, E, F: what a questioned ballot was counted as is confirmed before a ruling moves votes by it."""

from typing import Any

import pytest

from host.tests.law.test_f_court import counted, final, in_court
from host.tests.rehearsal import ANN, BOTH, Day, a_reconciled_day
from host.tests.sound_device import Sheet
from recount_host.act import Person
from recount_host.forms.court_forms import court_form
from recount_host.forms.precinct_forms import precinct_form
from recount_host.law.certification import certification
from recount_host.law.challenges import CHALLENGED
from recount_host.law.confirmation import counted_as_told, same_outcome
from recount_host.law.docket import docket_view
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.states import State
from recount_protocol.fates import COUNTED

FINDING = "order of 4 January, no. 2"


def falsely_entered(pile: str = "counted", ballots: int = 1) -> Day:
    """Return a day before the court on which ballots counted for D were entered as counted for R."""
    day = counted()
    tags = [f"T-{number + 1}" for number in range(ballots)]
    for tag in tags:
        day.segregate(tag, pile=pile, counted_as="R")
    day.conclude()
    day.open_docket()
    for tag in tags:
        day.hear(tag)
    return day


def ruled(counted_as: str) -> dict[str, Any]:
    words = {"tag": "T-1", "outcome": "D", "counted_as": counted_as, "finding": "", "reason": "as argued"}
    return {**words, "instead_of": 0}


def confirmed(day: Day) -> str:
    (line,) = docket_view(day.order, day.court()).lines
    return line.confirmed


def test_e_one_official_alone_segregates_a_counted_ballot_and_the_precinct_waits_for_nobody() -> None:
    day = counted()
    day.segregate(pile="counted", counted_as="R", by=ANN)
    day.conclude()
    day.open_docket()
    assert day.state().state is State.IN_COURT


def test_d2_a_false_entry_of_one_official_moves_no_vote() -> None:
    day = falsely_entered()
    said = (
        'the clerk enters that tag T-1 was counted as, "D", is not what Ann Lee, official, D entered.*--find'
    )
    with pytest.raises(NotAllowed, match=said):
        day.rule("D", counted_as="D")
    assert not day.state().rulings


@pytest.mark.parametrize("pile", ["counted", "set_aside"])
def test_nothing_of_the_courts_part_tells_the_clerk_what_the_official_entered_before_the_ruling(
    pile: str,
) -> None:
    told: list[tuple[object, ...]] = []
    for entered in ("D", "R"):
        day = counted()
        day.segregate(pile=pile, counted_as=entered)
        day.conclude()
        day.open_docket()
        day.hear()
        with pytest.raises(NotAllowed) as refused:
            day.rule("no_vote", counted_as="T")
        docket = court_form(day.facts(), "docket").blocks
        challenges = precinct_form(day.facts(), "101", "challenges").blocks
        told.append((docket_view(day.order, day.court()), docket, challenges, str(refused.value)))
    assert told[0] == told[1]


def test_d2_a_ballot_that_was_counted_for_d_and_is_ruled_for_d_changes_nothing_whatever_was_entered() -> None:
    day = falsely_entered()
    day.rule("D", counted_as="D", finding=FINDING)
    assert final(day) == {"D": 6, "R": 4}
    (ruling,) = certification(day.facts()).rulings
    assert ruling.effect == {}
    assert ruling.reason == f"as argued; the court found that it was counted as D ({FINDING})"


def test_d2_the_vote_that_leaves_is_the_one_that_the_court_found() -> None:
    day = falsely_entered()
    day.rule("no_vote", counted_as="D", finding=FINDING)
    (ruling,) = certification(day.facts()).rulings
    assert ruling.effect == {"D": -1}


def test_e_a_false_entry_of_a_hand_counted_ballot_is_put_right_by_the_ruling_too() -> None:
    # The hand count found D 1 and R 1 in all; R's was left out of what was signed, and D's was the question.
    day = falsely_entered("set_aside")
    with pytest.raises(NotAllowed, match="the clerk enters"):
        day.rule("D", counted_as="D")
    day.rule("D", counted_as="D", finding=FINDING)
    (ruling,) = certification(day.facts()).rulings
    assert ruling.effect == {"R": 1}
    assert final(day) == {"D": 6, "R": 4}


@pytest.mark.parametrize("outcome", ["D", "R", "no_vote"])
@pytest.mark.parametrize("truth", ["D", "R"])
@pytest.mark.parametrize("entered", ["D", "R"])
@pytest.mark.parametrize("pile", ["counted", "set_aside"])
def test_d2_the_result_follows_from_the_ballots_and_the_ruling_whatever_one_official_entered(
    pile: str, entered: str, truth: str, outcome: str
) -> None:
    day = counted()
    day.segregate(pile=pile, counted_as=entered)
    day.conclude()
    day.open_docket()
    day.hear()
    day.rule(outcome, counted_as=truth, finding=FINDING if entered != truth else "")
    all_ballots = {"D": 6, "R": 4}
    assert final(day) == {
        key: votes - (key == truth) + (key == outcome) for key, votes in all_ballots.items()
    }


def test_a_finding_where_both_entries_agree_is_none() -> None:
    day = falsely_entered()
    with pytest.raises(NotAllowed, match="both times: leave --finding out"):
        day.rule("D", finding=FINDING)


@pytest.mark.parametrize("finding", ["", FINDING])
def test_the_clerk_does_not_leave_out_what_a_counted_ballot_was_counted_as(finding: str) -> None:
    day = falsely_entered()
    with pytest.raises(NotAllowed, match=r"counted before it was segregated.*\(--counted-as\)"):
        day.rule("D", counted_as=CHALLENGED, finding=finding)


@pytest.mark.parametrize("finding", ["", FINDING])
def test_a_ballot_counted_as_challenged_is_in_no_total_and_is_confirmed_as_nothing_else(finding: str) -> None:
    day = a_reconciled_day()
    day.segregate()
    day.lock(p=0, o=0)
    day.hand_count({CHALLENGED: 1, "D": 1, "R": 1})
    day.conclude()
    day.open_docket()
    day.hear()
    with pytest.raises(NotAllowed, match="counted as challenged, and gave nobody a vote: leave --counted-as"):
        day.rule("D", counted_as="R", finding=finding)
    (ballot,) = day.state().questioned
    assert counted_as_told((), ballot) == CHALLENGED, "nothing is to be found blind"
    day.act("ballot_ruled", (Person(ANN.name, "clerk", ""),), **ruled(CHALLENGED))
    assert confirmed(day) == ""


@pytest.mark.parametrize("found", ["no_vote", "other_write_in"])
def test_d2_not_even_a_finding_makes_a_ballot_counted_as_what_no_scanner_counts(found: str) -> None:
    day = falsely_entered()
    with pytest.raises(NotAllowed, match="no ballot of that pile is left"):
        day.rule("D", counted_as=found, finding=FINDING)


def test_what_no_ballot_of_the_contest_can_be_is_told_as_such() -> None:
    day = falsely_entered()
    with pytest.raises(BadEntry, match="is more than 1 votes"):
        day.rule("D", counted_as="D+R", finding=FINDING)


@pytest.mark.parametrize("found", ["D", "D+T"])
def test_d2_where_two_are_elected_a_scanner_counted_two_votes_of_a_ballot_each_for_whom_it_counted(
    found: str,
) -> None:
    day = Day(vote_for=2)
    day.scan([Sheet(COUNTED, ("D", "R"))] * 3)
    day.finish()
    day.reconcile_with(H=3, c=3, s=0, x=0)
    day.lock(p=0)
    with pytest.raises(NotAllowed, match=r"for whom it is counted \(--counted-as\), 2 of"):
        day.segregate(pile="counted", counted_as=found.partition("+")[0])
    day.segregate(pile="counted", counted_as="D+R")
    day.conclude()
    day.open_docket()
    day.hear()
    with pytest.raises(NotAllowed, match="no ballot of that pile is left"):
        day.rule("no_vote", counted_as=found, finding=FINDING)
    day.rule("no_vote", counted_as="D+R")


def test_a_ballot_of_another_pile_takes_none_of_this_ones_outcomes() -> None:
    day = counted()
    day.segregate("T-1", pile="counted", counted_as="D")
    day.segregate("T-2", pile="set_aside", counted_as="D")
    day.conclude()
    day.open_docket()
    for tag in ("T-1", "T-2"):
        day.hear(tag)
        day.rule("R", tag)
    assert final(day) == {"D": 4, "R": 6}


def test_d2_no_more_ballots_are_found_for_an_option_than_were_counted_for_it() -> None:
    day = falsely_entered(ballots=2)
    day.rule("D", "T-1", counted_as="T", finding=FINDING)
    with pytest.raises(NotAllowed, match='no ballot of that pile is left that was counted as "T"'):
        day.rule("D", "T-2", counted_as="T", finding=FINDING)
    day.rule("D", "T-2", counted_as="D", finding=FINDING)


def test_d2_no_more_ballots_are_confirmed_for_an_option_than_were_counted_for_it() -> None:
    day = counted()
    for tag in ("T-1", "T-2"):
        day.segregate(tag, pile="counted", counted_as="T")
    day.conclude()
    day.open_docket()
    for tag in ("T-1", "T-2"):
        day.hear(tag)
    first = day.rule("D", "T-1")
    with pytest.raises(NotAllowed, match='no ballot of that pile is left that was counted as "T"'):
        day.rule("D", "T-2")
    # The clerk looks again: T-1 was the wrong one.
    day.rule("D", "T-1", counted_as="D", instead_of=first, finding=FINDING)
    day.rule("D", "T-2")
    assert final(day) == {"D": 7, "R": 4}


def test_who_segregated_a_ballot_is_not_the_clerk_who_confirms_it() -> None:
    day = falsely_entered()
    with pytest.raises(NotAllowed, match="another clerk or deputy clerk confirms it"):
        day.act("ballot_ruled", (Person(ANN.name, "clerk", ""),), **ruled("R"))


def test_neither_of_two_who_segregated_a_ballot_is_the_clerk_who_confirms_it() -> None:
    day = counted()
    body = {"tag": "T-1", "envelope": "E-1", "pile": "counted", "counted_as": "D", "question": "a slash"}
    day.act("ballot_segregated", BOTH, **body, device="", batch=0, sheet=0)
    day.conclude()
    day.open_docket()
    day.hear()
    for person in BOTH:
        with pytest.raises(NotAllowed, match="another clerk or deputy clerk confirms it"):
            day.act("ballot_ruled", (Person(person.name, "clerk", ""),), **ruled("D"))


def test_f_the_docket_form_says_entered_by_whom_and_confirmed_by_whom() -> None:
    day = in_court("counted")
    told = str(court_form(day.facts(), "docket").blocks)
    assert "counted as D" not in told
    assert "What it was counted as: entered by Ann Lee, official, D; not confirmed yet" in told
    day.hear()
    day.rule("R")
    told = str(court_form(day.facts(), "docket").blocks)
    assert "entered as counted as D" in told
    assert "confirmed by Dora Poe, clerk" in told


def test_a_hand_counted_ballot_is_found_to_be_what_its_pile_holds() -> None:
    day = falsely_entered("set_aside")
    with pytest.raises(NotAllowed, match='no ballot of that pile is left that was counted as "T"'):
        day.rule("D", counted_as="T", finding=FINDING)


def test_f_a_ruling_that_replaces_another_confirms_anew() -> None:
    day = in_court("counted")
    day.hear()
    first = day.rule("R")
    with pytest.raises(NotAllowed, match='the clerk enters that tag T-1 was counted as, "R", is not'):
        day.rule("R", counted_as="R", instead_of=first)
    day.rule("R", counted_as="R", instead_of=first, finding=FINDING)
    assert confirmed(day).endswith(f"but the court found that it was counted as R ({FINDING})")


def test_f_the_docket_says_who_entered_it_and_whether_it_is_confirmed() -> None:
    day = counted()
    day.segregate(pile="counted", counted_as="D")
    assert confirmed(day) == "", "a draft tells no outcome"
    day.conclude()
    day.open_docket()
    assert confirmed(day) == "entered by Ann Lee, official, D; not confirmed yet"
    day.hear()
    day.rule("R")
    assert confirmed(day) == "entered by Ann Lee, official, D; confirmed by Dora Poe, clerk"


def test_an_outcome_is_the_same_in_whatever_order_its_options_are_named() -> None:
    assert same_outcome("D+R", "R+D")
    assert same_outcome("R+D", "D+R")
    assert not same_outcome("D", "D+R")
