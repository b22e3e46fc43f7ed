"""When anchors tell of two sheets: their print lies in another place, and no longer in its own."""

from __future__ import annotations

import numpy as np
import pytest

from recount_classifier.anchors import Coarse, locate_anchors
from recount_classifier.program import Patch
from recount_classifier.raster import Grey

SIDE = 8
PLACES = [(x, y) for y in (20, 52, 84) for x in (10, 36, 62, 88)]
"""Left and top of the anchors on a small picture of a page."""
SEARCH = 10
AWAY = 8
"""How far above its place print lies a second time."""


def texture(rng: np.random.Generator) -> Grey:
    return rng.integers(0, 256, (SIDE, SIDE), np.uint8)


def covered(print_: Grey, left: float, rng: np.random.Generator) -> Grey:
    """Return print over which something else lies: so much of it is left."""
    return np.round(print_ * left + texture(rng) * (1 - left)).astype(np.uint8)


def placed(repeated: int, left_at_home: float) -> Coarse:
    """Place a page on which so many anchors are met again further up, with that much left of their own."""
    rng = np.random.default_rng(5)
    page = np.full((120, 114), 255, np.uint8)
    anchors: list[Patch] = []
    for index, (x, y) in enumerate(PLACES):
        print_ = texture(rng)
        anchors.append(Patch(x, y, print_))
        page[y : y + SIDE, x : x + SIDE] = print_
        if index < repeated:
            page[y : y + SIDE, x : x + SIDE] = covered(print_, left_at_home, rng)
            page[y - AWAY : y - AWAY + SIDE, x : x + SIDE] = covered(print_, 0.8, rng)
    coarse = locate_anchors(page, tuple(anchors), SEARCH)
    assert coarse is not None
    assert coarse.agreeing == len(PLACES) - repeated, "they fit better further up"
    return coarse


@pytest.mark.parametrize("repeated", [2, 4])
def test_print_that_lies_in_another_place_and_not_in_its_own_tells_of_two_sheets(repeated: int):
    assert placed(repeated, left_at_home=0.0).elsewhere == repeated


def test_rows_that_look_like_one_that_is_written_over_tell_of_no_other_sheet():
    assert placed(4, left_at_home=0.55).elsewhere == 0
