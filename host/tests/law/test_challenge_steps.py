"""D 3, E s. 3: what each act about questioned ballots keeps, and whom it asks for."""

from dataclasses import replace
from typing import Any

import pytest

from host.tests.law.test_d3_challenges import challenge, segregate
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
)
from host.tests.sound_device import TWELVE_SHEETS, Sheet
from recount_host.act import Person
from recount_host.law.challenges import (
    CHALLENGED,
    Segregated,
    counted_as_challenged,
    find_tag,
    left_out,
)
from recount_host.law.conclusion import Answer, answer_of, joined_by, still_to_ask, without
from recount_host.law.errors import NotAllowed

CARL = Person("Carl Orr", "official", "D")
OBSERVER = Person("Olga Day", "observer", "D")
BALLOT = Segregated("T-1", "E-1", "set_aside", CHALLENGED, "a slash", (ANN,), "", 1)


# Questioned ballots looked up and added up


def test_ballots_are_left_out_of_a_pile_by_the_outcome_they_were_counted_as() -> None:
    ballots = (
        BALLOT,
        replace(BALLOT, tag="T-2", counted_as="D"),
        replace(BALLOT, tag="T-3", counted_as="D"),
        replace(BALLOT, tag="T-4", counted_as="no_vote"),
        replace(BALLOT, tag="T-5", counted_as="R", pile="paper"),
    )
    assert left_out(ballots, "set_aside") == {"D": 2, "no_vote": 1}
    assert left_out(ballots, "paper") == {"R": 1}
    assert left_out(ballots, "not_accepted") == {}
    assert counted_as_challenged(ballots, "set_aside") == 1
    assert counted_as_challenged(ballots, "paper") == 0
    assert find_tag(ballots, "T-4") is ballots[3]
    assert find_tag(ballots, "T-9") is None


def test_a_correction_stands_behind_the_question() -> None:
    assert BALLOT.question_and_corrections == "a slash"
    corrected = replace(BALLOT, entered_as=("tag T-9, envelope E-9", "tag T-8, envelope E-8"))
    assert corrected.question_and_corrections == (
        "a slash; first entered as tag T-9, envelope E-9; first entered as tag T-8, envelope E-8"
    )


# The team and the call


def test_each_official_joins_once_and_whoever_is_none_does_not() -> None:
    assert joined_by((ANN,), BOB, replace(ANN, name="ann lee"), CLERK, OBSERVER) == BOTH
    assert joined_by((), BOB, ANN) == (BOB, ANN)
    assert without(BOTH, "ann  LEE") == (BOB,)
    assert without(BOTH, "Carl Orr") == BOTH


def test_what_an_official_said_last_counts() -> None:
    answers = (
        Answer(ANN, "no_further_question", 1),
        Answer(BOB, "has_question", 2),
        Answer(ANN, "has_question", 3),
        Answer(BOB, "no_further_question", 4),
    )
    assert (answer_of(ANN, answers), answer_of(BOB, answers), answer_of(CARL, answers)) == (
        "has_question",
        "no_further_question",
        "",
    )
    assert still_to_ask((ANN, BOB, CARL), answers) == (ANN, CARL)


# Segregation


def test_all_that_is_entered_of_a_segregated_ballot_is_kept() -> None:
    day = a_reconciled_day()
    device = day.device()
    segregate(day, by=BOTH, device=device.id, batch=1, sheet=10)
    act = day.acts[-1]
    assert day.state().segregated == (
        Segregated(
            "T-1", "E-1", "set_aside", CHALLENGED, "a slash through one oval", BOTH, act.utc, act.n,
            (device.id, 1, 10),
        ),
    )  # fmt: skip
    with pytest.raises(NotAllowed, match="this sheet lies in another envelope already"):
        segregate(day, "T-2", device=device.id, batch=1, sheet=10)
    segregate(day, "T-2", device=device.id, batch=1, sheet=11)
    assert [ballot.tag for ballot in day.state().segregated] == ["T-1", "T-2"]


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"pile": "not_accepted"}, "no notice that puts this sheet into the pile not_accepted"),
        ({"batch": 2}, "no notice that puts"),
        ({"sheet": 99}, "no notice that puts"),
        ({"pile": "paper"}, "no notice that puts this sheet into the pile paper"),
    ],
)
def test_a_notice_is_named_only_where_it_puts_the_sheet_into_that_pile(
    changed: dict[str, Any], why: str
) -> None:
    day = a_reconciled_day()
    named: dict[str, Any] = {"device": day.device().id, "batch": 1, "sheet": 10, **changed}
    with pytest.raises(NotAllowed, match=why):
        segregate(day, **named)


def test_of_each_outcome_as_many_ballots_are_segregated_as_were_counted() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS)
    day.finish()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    day.lock(p=0, o=0)
    day.count_pile("set_aside", {"D": 2})
    day.count_pile("not_accepted", {"R": 1})
    for tag in ("T-1", "T-2"):
        segregate(day, tag, counted_as="D")
    with pytest.raises(
        NotAllowed, match=r'no ballot of the ballots that the scanners set aside is left that .* "D"'
    ):
        segregate(day, "T-3", counted_as="D")
    segregate(day, "T-3", pile="not_accepted", counted_as="R")
    with pytest.raises(NotAllowed, match=r"its outcomes are R\)"):
        segregate(day, "T-4", pile="not_accepted", counted_as="D")


def test_who_is_no_official_lays_no_ballot_apart() -> None:
    day = a_reconciled_day()
    for person in (CLERK, OBSERVER):
        with pytest.raises(NotAllowed):
            segregate(day, by=(person,))


def test_d2_once_the_figures_are_shown_no_ballot_comes_from_the_counted_ones_of_an_option_without_any() -> (
    None
):
    day = a_scanned_day([Sheet("counted", ("D",))])
    day.reconcile_with(H=1, c=1, s=0, x=0)
    with pytest.raises(NotAllowed, match='no scanner counted a ballot for "R"'):
        segregate(day, pile="counted", counted_as="R")


def test_d2_where_all_is_hand_counted_a_ballot_comes_from_all_that_was_scanned() -> None:
    day = a_hand_count_day()
    segregate(day, pile="all_scanned")
    assert day.state().questioned[0].pile == "all_scanned"


def test_an_official_lays_a_ballot_apart_whoever_stands_beside() -> None:
    day = a_reconciled_day()
    segregate(day, by=(CLERK, ANN))
    assert day.state().segregated[0].by == (CLERK, ANN)


# Statements


def test_a_statement_is_kept_as_it_was_made_and_only_its_author_withdraws_it() -> None:
    day = a_reconciled_day()
    segregate(day)
    number = challenge(day)
    (stated,) = day.state().challenges
    act = day.acts[-1]
    assert (stated.number, stated.tag, stated.ground, stated.text) == (
        number,
        "T-1",
        "mark",
        "The slash strikes the oval out.",
    )
    assert (stated.person, stated.utc, stated.after_conclusion, stated.withdrawn) == (BOB, act.utc, False, "")
    second = challenge(day, ANN)
    with pytest.raises(NotAllowed, match="only Bob Ray can withdraw this statement"):
        day.act("challenge_withdrawn", (ANN,), statement=number, reason="a slip")
    with pytest.raises(NotAllowed, match="there is no statement 999"):
        day.act("challenge_withdrawn", (BOB,), statement=999, reason="a slip")
    day.act("challenge_withdrawn", (BOB,), statement=number, reason="a slip")
    assert [(one.number, one.withdrawn) for one in day.state().challenges] == [
        (number, f"{day.acts[-1].utc}: a slip"),
        (second, ""),
    ]
    with pytest.raises(NotAllowed, match=f"statement {number} is withdrawn already"):
        day.act("challenge_withdrawn", (BOB,), statement=number, reason="again")


def correct(day: Day, tag: str, right_tag: str, right_envelope: str, by: Person = ANN) -> None:
    what = {"tag": tag, "right_tag": right_tag, "right_envelope": right_envelope, "reason": "a digit"}
    day.act("tag_corrected", (by,), **what)


def test_a_correction_changes_one_ballot_with_its_statements_and_no_other() -> None:
    day = a_reconciled_day()
    segregate(day, "T-1")
    segregate(day, "T-2", envelope="E-2")
    first, second = challenge(day, tag="T-1"), challenge(day, tag="T-2")
    with pytest.raises(NotAllowed, match="tag T-2 is on another ballot"):
        correct(day, "T-1", "T-2", "E-1")
    with pytest.raises(NotAllowed, match="no ballot has the tag T-9"):
        correct(day, "T-9", "T-3", "E-3")
    with pytest.raises(NotAllowed, match="there is nothing to correct"):
        correct(day, "T-1", "T-1", "E-1")
    with pytest.raises(NotAllowed, match="a recount official reads what stands on the envelope"):
        correct(day, "T-1", "T-3", "E-3", CLERK)
    with pytest.raises(NotAllowed, match="observers look on"):
        correct(day, "T-1", "T-3", "E-3", OBSERVER)
    correct(day, "T-1", "T-1", "E-7")
    correct(day, "T-1", "T-3", "E-7")
    assert [(one.tag, one.envelope, one.entered_as) for one in day.state().segregated] == [
        ("T-3", "E-7", ("tag T-1, envelope E-1", "tag T-1, envelope E-7")),
        ("T-2", "E-2", ()),
    ]
    assert [(one.number, one.tag) for one in day.state().challenges] == [(first, "T-3"), (second, "T-2")]


# Who takes a seat


def substitute(day: Day, leaves: Person, comes: Person | None) -> None:
    words = [comes.name, comes.role, comes.side] if comes else ["", "", ""]
    what: dict[str, Any] = {
        "leaves": [leaves.name, leaves.role, leaves.side],
        "comes": words,
        "reason": "ill",
    }
    day.act("official_substituted", (CLERK,), **what)


def test_a_seat_goes_to_another_official_of_the_same_side_or_to_nobody() -> None:
    day = a_counted_day()
    assert day.state().team == BOTH
    for comes in (OBSERVER, replace(CARL, side="R"), replace(ANN, name="ann lee")):
        with pytest.raises(NotAllowed, match="Ann Lee's seat is taken by another official of the same side"):
            substitute(day, ANN, comes)
    with pytest.raises(
        NotAllowed, match="Carl Orr has no seat in this team: its officials are Ann Lee, Bob Ray"
    ):
        substitute(day, CARL, None)
    substitute(day, ANN, CARL)
    assert day.state().team == (BOB, CARL)
    substitute(day, BOB, None)
    assert day.state().team == (CARL,)
    assert len(day.state().substitutions) == 2
