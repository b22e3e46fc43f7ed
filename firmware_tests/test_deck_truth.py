"""The comparison that the demo ends with finds every kind of difference."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from firmware_tests.deck_truth import (
    PILES,
    People,
    misplaced,
    people_find,
    wrong_figures,
    wrong_reasons,
    wrong_returns,
    wrong_statement,
)
from recount_ballots.deck import Deck, read_deck

FAIRVIEW = Path(__file__).resolve().parent.parent / "images" / "ballots" / "fairview"


@pytest.fixture(scope="module")
def deck() -> Deck:
    return read_deck(FAIRVIEW)


@pytest.fixture
def piles(deck: Deck) -> dict[str, list[str]]:
    """Return the piles as they must be."""
    return {pile: [s.id for s in deck.sheets if s.truth.fates[0] == pile] for pile in PILES}


@pytest.fixture
def figures(piles: dict[str, list[str]]) -> dict[str, Any]:
    return {pile: len(ids) for pile, ids in piles.items()} | {"votes": {"D": 49, "R": 43, "I": 11}}


@pytest.fixture
def notices(deck: Deck, piles: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return the notices as they must be: for each entry of the truth the first word that meets it."""
    sheets = {sheet.id: sheet for sheet in deck.sheets}
    return [
        {
            "device_name": "alpha",
            "pile": pile,
            "place": place,
            "reasons": [entry.split("|")[0] for entry in sheets[sheet_id].truth.reasons],
        }
        for pile in PILES[1:]
        for place, sheet_id in enumerate(piles[pile], 1)
    ]


STATEMENT: Mapping[str, Any] = {
    "parties": [{"key": "D", "total": 49}, {"key": "R", "total": 45}],
    "others": [{"key": "I", "total": 12}, {"key": "other_write_in", "total": 3}],
}


def test_nothing_differs_when_all_is_right(
    deck: Deck, piles: dict[str, list[str]], figures: dict[str, Any], notices: list[dict[str, Any]]
) -> None:
    assert misplaced(deck, [piles]) == []
    assert wrong_figures(deck, [piles], figures) == []
    assert wrong_reasons(deck, {"alpha": piles}, notices) == []
    assert wrong_returns(deck, [("jam",)]) == []
    assert wrong_statement(deck, STATEMENT) == []


def test_people_find_what_the_deck_says_of_the_sheets_in_their_hands(
    deck: Deck, piles: dict[str, list[str]]
) -> None:
    outcomes = {"I": 1, "R": 2, "no_vote": 4, "other_write_in": 3, "overvote": 4}
    assert people_find(deck, [piles]) == People(3, outcomes)


def test_a_sheet_in_another_pile_or_in_none_is_a_difference(deck: Deck, piles: dict[str, list[str]]) -> None:
    piles["counted"].append(piles["set_aside"].pop())
    lost = piles["not_accepted"].pop()
    found = misplaced(deck, [piles])
    assert len(found) == 2
    assert any(f"sheet {lost} lies in no pile" in sentence for sentence in found)


def test_a_vote_or_a_sheet_more_is_a_difference(
    deck: Deck, piles: dict[str, list[str]], figures: dict[str, Any]
) -> None:
    assert wrong_figures(deck, [piles], figures | {"counted": 104}) == [
        "counted: the host says 104, 103 sheets lie there"
    ]
    found = wrong_figures(deck, [piles], figures | {"votes": {"D": 48, "R": 43, "I": 11, "W": 1}})
    assert found == [
        "votes for D: the host says 48, the deck 49",
        "votes for W: the host says 1, the deck 0",
    ]


def test_a_wrong_reason_a_missing_and_an_unfounded_notice_are_differences(
    deck: Deck, piles: dict[str, list[str]], notices: list[dict[str, Any]]
) -> None:
    notices[0]["reasons"] = ["streak"]
    gone = notices.pop()
    found = wrong_reasons(deck, {"alpha": piles}, [*notices, gone | {"place": 99}])
    assert len(found) == 3
    assert "was put aside for streak" in found[0]


def test_a_return_more_or_less_than_the_jam_is_a_difference(deck: Deck) -> None:
    assert wrong_returns(deck, []) == ["returned for jam: 0 times, the deck says 1"]
    assert wrong_returns(deck, [("jam",), ("blurred",)]) == ["returned for blurred: 1 times, the deck says 0"]


def test_a_wrong_total_on_the_statement_is_a_difference(deck: Deck) -> None:
    wrong = {**STATEMENT, "parties": [{"key": "D", "total": 50}, {"key": "R", "total": 45}]}
    assert wrong_statement(deck, wrong) == ["statement, D: 50 votes, the deck says 49"]
