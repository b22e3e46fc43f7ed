"""I1 to I9: each holds exactly when its figures are equal."""

from collections.abc import Callable
from typing import Any

import pytest

from recount_host.law import identities
from recount_host.law.identities import MEANINGS, NAMES, Equation, Finding


@pytest.mark.parametrize(
    ("identity", "figures", "name", "holds"),
    [
        (
            identities.i1_rerun_by_people,
            (
                12,
                1,
            ),
            "I1",
            True,
        ),
        (
            identities.i1_rerun_by_people,
            (
                1,
                1,
            ),
            "I1",
            True,
        ),
        (
            identities.i1_rerun_by_people,
            (
                1,
                2,
            ),
            "I1",
            False,
        ),
        (
            identities.i2_scanner_total,
            (
                9,
                2,
                11,
            ),
            "I2",
            True,
        ),
        (
            identities.i2_scanner_total,
            (
                9,
                2,
                12,
            ),
            "I2",
            False,
        ),
        (
            identities.i2_scanner_total,
            (
                9,
                3,
                11,
            ),
            "I2",
            False,
        ),
        (
            identities.i3_piles,
            (
                {"c": 9, "s": 2, "x": 1},
                {"C": 9, "S": 2, "X": 1},
            ),
            "I3",
            True,
        ),
        (
            identities.i3_piles,
            (
                {"c": 10, "s": 1, "x": 1},
                {"C": 9, "S": 2, "X": 1},
            ),
            "I3",
            False,
        ),
        (
            identities.i3_piles,
            (
                {"c": 9, "s": 2, "x": 0},
                {"C": 9, "S": 2, "X": 1},
            ),
            "I3",
            False,
        ),
        (identities.i3_piles, ({"c": 9, "s": 1, "x": 1}, {"C": 9, "S": 2, "X": 1}), "I3", False),
        (
            identities.i4_votes_per_ballot,
            (
                9,
                9,
                1,
                9,
            ),
            "I4",
            True,
        ),
        (
            identities.i4_votes_per_ballot,
            (
                18,
                9,
                2,
                9,
            ),
            "I4",
            True,
        ),
        (
            identities.i4_votes_per_ballot,
            (
                8,
                9,
                1,
                8,
            ),
            "I4",
            False,
        ),
        (
            identities.i4_votes_per_ballot,
            (
                9,
                9,
                1,
                8,
            ),
            "I4",
            False,
        ),
        (
            identities.i5_hand_count,
            (
                5,
                2,
                3,
                1,
                1,
            ),
            "I5",
            True,
        ),
        (
            identities.i5_hand_count,
            (
                6,
                2,
                3,
                1,
                1,
            ),
            "I5",
            False,
        ),
        (
            identities.i6_whole_precinct,
            (
                12,
                12,
                1,
                1,
            ),
            "I6",
            True,
        ),
        (
            identities.i6_whole_precinct,
            (
                13,
                12,
                1,
                1,
            ),
            "I6",
            False,
        ),
        (identities.i7_statement, ([("A", 5, 1, 6), ("B", 3, 1, 4)],), "I7", True),
        (identities.i7_statement, ([("A", 5, 1, 6), ("B", 3, 1, 5)],), "I7", False),
        (
            identities.i8_against_statement_of_results,
            (
                12,
                12,
            ),
            "I8",
            True,
        ),
        (
            identities.i8_against_statement_of_results,
            (
                11,
                12,
            ),
            "I8",
            False,
        ),
        (
            identities.i9_batch,
            (
                5,
                4,
                1,
                [("counted", 2, 2)],
                [("counted", 2, 2)],
            ),
            "I9",
            True,
        ),
        (
            identities.i9_batch,
            (
                5,
                4,
                0,
                [],
                [],
            ),
            "I9",
            False,
        ),
        (
            identities.i9_batch,
            (
                5,
                5,
                0,
                [("counted", 3, 2)],
                [],
            ),
            "I9",
            False,
        ),
        (
            identities.i9_batch,
            (
                5,
                5,
                0,
                [],
                [("counted", 3, 2)],
            ),
            "I9",
            False,
        ),
    ],
)
def test_an_identity_holds_exactly_when_its_figures_are_equal(
    identity: Callable[..., Finding], figures: tuple[Any, ...], name: str, holds: bool
) -> None:
    finding = identity(*figures)
    assert (finding.name, finding.holds) == (name, holds)


def test_every_identity_has_a_meaning_in_words() -> None:
    assert set(MEANINGS) == set(NAMES)


def test_every_identity_names_its_clause() -> None:
    functions = [
        getattr(identities, name) for name in dir(identities) if name[:1] == "i" and name[1:2].isdigit()
    ]
    assert len(functions) == len(NAMES)
    assert all(str(function.__doc__)[:1] in "DE" for function in functions)


def test_an_equation_is_written_with_both_its_figures() -> None:
    assert str(Equation("C + S", 11, "R", 12)) == "C + S = 11, R = 12"


def test_the_order_says_whether_the_ballots_rerun_include_those_not_accepted() -> None:
    assert identities.rerun_by_people(12, 1, "H - x") == 11
    assert identities.rerun_by_people(12, 1, "H") == 12


def test_each_pile_has_as_many_outcomes_as_ballots() -> None:
    none, one = identities.each_pile({"paper": 1}, {"set_aside": 0, "paper": 1})
    assert (none.left, none.right, one.left, one.right) == (0, 0, 1, 1)
