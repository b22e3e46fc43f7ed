"""D 3, E s. 1: who is of the team, who still has to be asked, and what each said last."""

import pytest

from host.tests.rehearsal import ANN, BOB, CLERK, CLERK_OF_COURT
from recount_host.act import Act, Person
from recount_host.law.conclusion import (
    NO_FURTHER_QUESTION,
    TEAM_KINDS,
    Answer,
    answer_of,
    is_official,
    joined,
    joined_by,
    still_to_ask,
    without,
)

CARL = Person("Carl Orr", "alternate official", "D")
NO_SIDE = Person("Nora Fox", "official", "")
OBSERVER = Person("Olga Day", "observer", "D")


def act(kind: str, *by: Person) -> Act:
    return Act(1, b"", kind, "", by, {})


def test_an_official_is_of_a_side_and_neither_coordinator_nor_clerk_nor_observer() -> None:
    assert [is_official(p) for p in (ANN, CARL)] == [True, True]
    assert not any(is_official(p) for p in (CLERK, CLERK_OF_COURT, NO_SIDE, OBSERVER))


def test_the_team_is_whoever_counts_or_decides_for_a_side_each_once() -> None:
    assert joined((), act("count_entered", ANN)) == (ANN,)
    assert joined((ANN,), act("sheet_moved", Person("ann lee", "Official", "D"), BOB)) == (ANN, BOB)
    assert joined((ANN,), act("count_entered", CLERK, NO_SIDE, OBSERVER)) == (ANN,)
    assert joined_by((BOB,), ANN, CARL, BOB) == (BOB, ANN, CARL)


@pytest.mark.parametrize("kind", ["challenge_stated", "results_keyed", "statement_printed", "form_printed"])
def test_who_makes_a_statement_or_prints_one_is_not_of_the_team_for_that(kind: str) -> None:
    assert kind not in TEAM_KINDS
    assert joined((ANN,), act(kind, BOB)) == (ANN,)


@pytest.mark.parametrize(
    "kind",
    [
        "count_entered", "hand_count_entered", "container_opened", "batch_void_ordered",
        "doubt_settled_ordered", "device_withdrawn", "hand_count_ordered", "sheet_moved", "ballot_segregated",
        "call_answered",
    ],
)  # fmt: skip
def test_who_counts_opens_decides_or_answers_is_of_the_team(kind: str) -> None:
    assert joined((), act(kind, ANN, BOB)) == (ANN, BOB)


def test_who_leaves_is_in_the_team_no_more() -> None:
    assert without((ANN, BOB), "ANN  Lee") == (BOB,)


def test_what_an_official_said_last_counts_and_who_was_not_asked_said_nothing() -> None:
    answers = (
        Answer(ANN, NO_FURTHER_QUESTION, 1),
        Answer(BOB, "has_question", 2),
        Answer(ANN, "has_question", 3),
        Answer(BOB, NO_FURTHER_QUESTION, 4),
    )
    assert (answer_of(ANN, answers), answer_of(BOB, answers)) == ("has_question", NO_FURTHER_QUESTION)
    assert answer_of(CARL, answers) == ""
    assert still_to_ask((ANN, BOB, CARL), answers) == (ANN, CARL)
