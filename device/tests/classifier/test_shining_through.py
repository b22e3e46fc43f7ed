"""Ink of the other side that shines through far from everything is no writing; what a voter writes is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from device.tests.classifier.drawn_pages import DPI, Grey, Page, fresh_page, program
from recount_ballots import corrections, paper
from recount_ballots.handwriting import write_words
from recount_ballots.layout import Rect
from recount_ballots.strokes import TOOLS, Pen, take
from recount_classifier.reading import Reading, read_sheet
from recount_classifier.thresholds import Thresholds

WORDS = "NOT HIM"
NUMBERS = range(3)
TAKING_ALL_FOR_WRITING = replace(program(), thresholds=replace(Thresholds(), pen_mm2=0.0))


def free_place(page: Page) -> Rect:
    """Return a place in the contest's box where nothing is printed, right of the names."""
    box = page.contest.box
    row = page.contest.option("B").target.centre[1]
    return Rect(box.right - 190, row - 14, 170, 28)


def read(page: Page) -> Reading:
    return read_sheet([page.picture()], program())


def written(number: int, tool: str) -> Page:
    page = fresh_page((61, number))
    page.mark(page.choice)
    write_words(page.image, WORDS, free_place(page), take(tool, DPI, page.rng), page.rng)
    return page


def shining_through(number: int, write: Callable[[Page, Grey, Pen], None], share: float) -> Page:
    """Return a sheet that lets this share of the ink through which that function puts on its other side."""
    page = fresh_page((62, number))
    page.settings = page.settings.but(noise=1.0, jpeg=0, white=240.0, black=20.0)
    page.mark(page.choice)
    behind = np.full_like(page.image, 255)
    write(page, behind, Pen(20, 7, 0))
    paper.show_through(page.image, np.fliplr(behind), share)
    return page


def words_beside_the_names(page: Page, behind: Grey, pen: Pen) -> None:
    write_words(behind, WORDS, free_place(page), pen, page.rng)


def words_on_the_write_in_line(page: Page, behind: Grey, pen: Pen) -> None:
    area = page.contest.option("W").write_in_area
    assert area is not None
    write_words(behind, WORDS, area, pen, page.rng)


def line_through_a_name(page: Page, behind: Grey, pen: Pen) -> None:
    corrections.cross_out(behind, page.contest.option("A").name, pen, page.rng)


@pytest.mark.parametrize("tool", TOOLS)
def test_words_beside_the_names_are_for_people_whatever_wrote_them(tool: str):
    for number in NUMBERS:
        assert "marginal_writing" in read(written(number, tool)).reasons


def test_words_of_the_other_side_that_shine_through_keep_no_vote_from_counting():
    for number in NUMBERS:
        page = shining_through(number, words_beside_the_names, 0.24)
        picture = page.picture()
        assert read_sheet([picture], program()).choices == (page.choice,)
        assert "marginal_writing" in read_sheet([picture], TAKING_ALL_FOR_WRITING).reasons


@pytest.mark.parametrize(
    ("write", "reason"),
    [(line_through_a_name, "marginal_name"), (words_on_the_write_in_line, "write_in")],
)
def test_ink_over_a_name_or_on_a_write_in_line_is_for_people_though_it_shines_through(
    write: Callable[[Page, Grey, Pen], None], reason: str
):
    for number in NUMBERS:
        assert reason in read(shining_through(number, write, 0.3)).reasons
