"""F s. 1, D 2 s. 5: a ruling is of one ballot, and its effect is by how many votes it changes the result."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from host.tests.law.test_statement_line_by_line import (
    a_day_sent_to_hand_count,
    a_day_without_the_scanned_ballots,
)
from host.tests.rehearsal import ANN, BOTH, CLERK_OF_COURT, Day, a_counted_day, a_scanned_day
from recount_host.act import Person
from recount_host.law.challenges import CHALLENGED, Segregated
from recount_host.law.errors import NotAllowed
from recount_host.law.result import scanners_count
from recount_host.law.rulings import Heard, Ruling, check_clerk, effect, sides_heard, standing

HAND_COUNTED = Segregated("T-1", "E-1", "set_aside", "D", "a slash", (ANN,), "", 1)
ACCEPTED = replace(HAND_COUNTED, pile="counted")


def a_ruling(number: int, tag: str, instead_of: int = 0) -> Ruling:
    return Ruling(number, tag, "D", "D", "as argued", "", CLERK_OF_COURT, instead_of)


def test_f_the_last_ruling_on_a_ballot_stands_and_others_are_on_other_ballots() -> None:
    rulings = (a_ruling(1, "T-1"), a_ruling(2, "T-2"), a_ruling(3, "T-1", 1), a_ruling(4, "T-3"))
    assert [standing(rulings, tag) for tag in ("T-1", "T-2", "T-3", "T-4")] == [
        rulings[2],
        rulings[1],
        rulings[3],
        None,
    ]


def test_f_a_party_is_heard_on_one_ballot_at_a_time() -> None:
    heard = (Heard("T-1", "D", "inspected", "", 1), Heard("T-2", "R", "waived", "", 2))
    assert sides_heard(heard, "T-1") == {"D"}
    assert sides_heard(heard, "T-2") == {"R"}
    assert sides_heard(heard, "T-3") == frozenset()


@pytest.mark.parametrize(
    ("ballot", "outcome", "changes"),
    [
        (HAND_COUNTED, "D", [("D", 1)]),
        (HAND_COUNTED, "no_vote", []),
        (HAND_COUNTED, "R+D", [("D", 1), ("R", 1)]),
        (ACCEPTED, "D", []),
        (ACCEPTED, "R", [("D", -1), ("R", 1)]),
        (ACCEPTED, "overvote", [("D", -1)]),
        (ACCEPTED, "excluded", [("D", -1)]),
        (replace(HAND_COUNTED, counted_as=CHALLENGED), "R", [("R", 1)]),
    ],
)
def test_d2_a_ruling_changes_what_the_ballot_gives(
    ballot: Segregated, outcome: str, changes: list[tuple[str, int]]
) -> None:
    ruling = replace(a_ruling(1, "T-1"), outcome=outcome, counted_as=ballot.counted_as)
    assert list(effect(ballot, ruling).items()) == changes


@pytest.mark.parametrize("person", [ANN, Person("Dora Poe", "clerk", "D"), Person("Dora Poe", "judge", "")])
def test_f_nobody_but_the_clerk_enters_what_the_court_does(person: Person) -> None:
    with pytest.raises(NotAllowed, match="the clerk of the court enters this"):
        check_clerk((person,))


def test_f_the_clerk_or_a_deputy_enters_it_alone() -> None:
    deputy = Person("Eve Fox", "Deputy Clerk", "")
    assert check_clerk((CLERK_OF_COURT,)) == CLERK_OF_COURT
    assert check_clerk((deputy,)) == deputy
    with pytest.raises(NotAllowed):
        check_clerk((CLERK_OF_COURT, deputy))
    with pytest.raises(NotAllowed):
        check_clerk(BOTH)


@pytest.mark.parametrize(
    ("make", "counts"),
    [
        (a_counted_day, True),
        (a_scanned_day, False),
        (a_day_sent_to_hand_count, False),
        (a_day_without_the_scanned_ballots, False),
    ],
)
def test_d2_what_scanners_accepted_counts_once_it_was_shown_and_not_where_all_is_hand_counted(
    make: Callable[[], Day], counts: bool
) -> None:
    assert scanners_count(make().state()) is counts
