"""D 3, E s. 2: which ballots of a pile lie in envelopes, and as what they were counted."""

from dataclasses import replace

from host.tests.rehearsal import ANN
from recount_host.law.challenges import CHALLENGED, Segregated, counted_as_challenged, find_tag, left_out

BALLOT = Segregated("T-1", "E-1", "set_aside", CHALLENGED, "a slash", (ANN,), "2026-12-01T09:00:00Z", 7)
BALLOTS = (
    BALLOT,
    replace(BALLOT, tag="T-2", counted_as="D"),
    replace(BALLOT, tag="T-3", counted_as="D"),
    replace(BALLOT, tag="T-4", pile="paper"),
    replace(BALLOT, tag="T-5", pile="paper", counted_as="R"),
)


def test_a_ballot_is_found_by_its_tag() -> None:
    assert find_tag(BALLOTS, "T-3") is BALLOTS[2]
    assert find_tag(BALLOTS, "T-9") is None


def test_of_a_pile_those_counted_as_something_are_left_out_of_that() -> None:
    assert left_out(BALLOTS, "set_aside") == {"D": 2}
    assert left_out(BALLOTS, "paper") == {"R": 1}
    assert left_out(BALLOTS, "not_accepted") == {}


def test_of_a_pile_those_counted_as_challenged_are_told_apart() -> None:
    assert counted_as_challenged(BALLOTS, "set_aside") == 1
    assert counted_as_challenged(BALLOTS, "paper") == 1
    assert counted_as_challenged(BALLOTS, "not_accepted") == 0


def test_the_question_is_told_with_what_the_tag_was_entered_as() -> None:
    assert BALLOT.question_and_corrections == "a slash"
    corrected = replace(BALLOT, entered_as=("tag T-7, envelope E-1", "tag T-8, envelope E-1"))
    assert corrected.question_and_corrections == (
        "a slash; first entered as tag T-7, envelope E-1; first entered as tag T-8, envelope E-1"
    )
