"""The small decks of the ten recounts, drawn and read: a sheet of each kind is what the deck says.

Fairview's deck goes through whole devices in `make demo`.
"""

import fnmatch
from pathlib import Path

import numpy as np
import pytest

from recount_ballots.deck import Deck, DeckSheet, read_deck
from recount_ballots.render import render_sheet
from recount_classifier.reading import read_sheet
from recount_host.programs.building import build_program

DECKS = Path(__file__).parents[3] / "images" / "ballots"


def one_of_each_kind(deck: Deck) -> list[DeckSheet]:
    """Return the last sheet of each fate and reason."""
    return list({(sheet.truth.fates, sheet.truth.reasons): sheet for sheet in deck.sheets}.values())


@pytest.mark.parametrize("name", ["millbrook", "bonds"])
def test_a_sheet_of_each_kind_is_read_as_the_deck_says(name: str) -> None:
    program = build_program(DECKS / name / "spec.toml")
    deck = read_deck(DECKS / name)
    for sheet in one_of_each_kind(deck):
        picture = render_sheet(deck, sheet).image
        seen = np.ascontiguousarray(picture[::-1, ::-1]) if sheet.turned else picture
        reading = read_sheet([seen], program)
        assert reading.fate in sheet.truth.fates, sheet.id
        assert set(reading.choices) == set(sheet.truth.choices), sheet.id
        for reason in sheet.truth.reasons:
            patterns = reason.split("|")
            assert any(fnmatch.filter(reading.reasons, pattern) for pattern in patterns), sheet.id
