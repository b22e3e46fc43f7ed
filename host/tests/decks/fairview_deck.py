"""The Fairview program with its deck, drawn once for all tests."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from recount_ballots.blank import Grey
from recount_host.decks.composition import Plan
from recount_host.decks.making import Source, draw_deck, plan_deck, read_source
from recount_host.law.deck import Deck, classes_of
from recount_host.programs.building import build_program

FAIRVIEW = Path(__file__).resolve().parents[3] / "images" / "ballots" / "fairview"


@dataclass(frozen=True)
class Drawn:
    """A deck with its pictures; its plans are in its order."""

    source: Source
    deck: Deck
    plans: tuple[Plan, ...]
    pictures: Mapping[str, Grey]
    """By the names that the deck calls them by."""


def right_reading(deck: Deck, n: int) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return fate, choices and reasons that a picture of a sheet is read to.

    A sheet that is fed again is read as it was: that it was read before no picture tells by itself.
    """
    sheet = deck.sheets[n - 1] if deck.sheets[n].again else deck.sheets[n]
    return sheet.fate, sheet.choices, classes_of(sheet.reasons)


@lru_cache
def fairview_source() -> Source:
    program = build_program(FAIRVIEW / "spec.toml")
    return read_source(program, FAIRVIEW / "spec.toml", FAIRVIEW / "blank-204-front.png")


@lru_cache
def fairview_deck() -> Drawn:
    source = fairview_source()
    deck, plans = plan_deck(source)
    return Drawn(source, deck, plans, dict(draw_deck(source, deck, plans)))
