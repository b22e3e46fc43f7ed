"""Ballots that print what the usual ones do not: their clean sheets are counted all the same."""

from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest

from device.tests.classifier.drawn_pages import (
    DPI,
    Grey,
    blank_of,
    fresh_page,
    program_on,
    usual_design,
)
from recount_ballots.layout import Rect
from recount_ballots.marks import mark
from recount_ballots.strokes import take
from recount_classifier.compiling import StyleSpec, TargetSpec, compile_style
from recount_classifier.errors import BlankError
from recount_classifier.program import Option, Program, make_program
from recount_classifier.reading import read_sheet
from recount_classifier.thresholds import Thresholds


def under_a_black_bar(image: Grey) -> Grey:
    """Return the ballot with the contest's title white on black, down to just above the first target."""
    contest = blank_of(usual_design()).layout.contest("c2")
    top, bottom = round(contest.box.top), round(contest.option("A").target.top) - 4
    left, right = round(contest.box.left), round(contest.box.right)
    changed = image.copy()
    changed[top:bottom, left:right] = 255 - changed[top:bottom, left:right]
    return changed


@cache
def barred_program() -> Program:
    blank = blank_of(usual_design())
    return program_on(replace(blank, image=under_a_black_bar(blank.image)))


@pytest.mark.parametrize("seed", range(3))
def test_a_contest_whose_title_stands_white_on_black_is_counted(seed: int):
    page = fresh_page((101, seed))
    page.image = under_a_black_bar(page.image)
    page.mark(page.choice)
    reading = read_sheet([page.picture()], barred_program())
    assert (reading.fate, reading.choices, reading.reasons) == ("counted", (page.choice,), ())


def test_a_torn_target_under_a_black_bar_is_still_not_on_paper():
    page = fresh_page((102, 0))
    page.image = under_a_black_bar(page.image)
    page.choice = "B"
    page.mark(page.choice)
    page.settings = page.settings.but(background=20)
    target = page.contest.option("A").target
    left, top = round(target.left), round(target.top)
    page.paper[top - 12 : round(target.bottom) + 12, left - 12 : round(target.right) + 12] = np.uint8(0)
    reading = read_sheet([page.picture()], barred_program())
    assert (reading.fate, reading.choices) == ("not_accepted", ())
    assert reading.reasons == ("not_on_paper",)


NAMES = ("Whitlock", "Radford", "Marlow")
CELL_PX, NAME_ABOVE_PX = 156, 84


def with_targets_under_their_names(image: Grey, names: tuple[str, ...] = NAMES) -> tuple[Grey, list[Rect]]:
    """Return the ballot with its contest as one row of cells, a name above each target, and the targets."""
    box = blank_of(usual_design()).layout.contest("c2").box
    left, top = round(box.left), round(box.top)
    changed = image.copy()
    changed[top : round(box.bottom), left : round(box.right)] = 255
    targets: list[Rect] = []
    for column, name in enumerate(names):
        x, y = left + 60 + column * CELL_PX, top + 30 + NAME_ABOVE_PX
        cv2.putText(changed, name, (x - 50, top + 36), cv2.FONT_HERSHEY_SIMPLEX, 0.75, (0,), 2, cv2.LINE_AA)
        cv2.ellipse(changed, (x + 20, y + 13), (20, 13), 0, 0, 360, (0,), 2, cv2.LINE_AA)
        targets.append(Rect(x, y, 40, 26))
    return changed, targets


@cache
def program_of_cells(box_left: float | None = None, box_top: float | None = None) -> Program:
    image, targets = with_targets_under_their_names(blank_of(usual_design()).image)
    box = blank_of(usual_design()).layout.contest("c2").box
    specs = tuple(
        TargetSpec(key, write_in=False, box=(t.left, t.top, t.width, t.height))
        for key, t in zip("ABC", targets, strict=True)
    )
    left = box.left if box_left is None else box_left
    top = box.top if box_top is None else box_top
    spec = StyleSpec("cells", "front", DPI, (left, top, box.right, box.bottom), (), specs)
    options = [Option(key, name, write_in=False) for key, name in zip("ABC", NAMES, strict=True)]
    return make_program("c2", "Cells", 1, options, [compile_style(spec, image, None)], Thresholds())


@pytest.mark.parametrize("choice", range(3))
def test_targets_that_stand_under_their_names_are_counted(choice: int):
    page = fresh_page((103, choice))
    page.image, targets = with_targets_under_their_names(page.image)
    mark(page.image, targets[choice], "full", take("black_pen", DPI, page.rng), page.rng, DPI)
    reading = read_sheet([page.picture()], program_of_cells())
    assert (reading.fate, reading.choices, reading.reasons) == ("counted", ("ABC"[choice],), ())


def test_names_above_their_targets_in_another_order_are_noticed():
    page = fresh_page((104, 0))
    page.image, targets = with_targets_under_their_names(page.image, (NAMES[1], NAMES[0], NAMES[2]))
    mark(page.image, targets[0], "full", take("black_pen", DPI, page.rng), page.rng, DPI)
    reading = read_sheet([page.picture()], program_of_cells())
    assert (reading.fate, reading.reasons) == ("not_accepted", ("names_exchanged",))


def test_a_contest_box_that_goes_to_the_sheets_edge_does_without_what_scanners_cut_off():
    page = fresh_page((105, 0))
    page.image, targets = with_targets_under_their_names(page.image)
    mark(page.image, targets[1], "full", take("black_pen", DPI, page.rng), page.rng, DPI)
    page.settings = page.settings.but(turn_deg=0.0, scale=1.0, shift_px=(0.0, 0.0), margin_px=-16)
    reading = read_sheet([page.picture()], program_of_cells(0.0))
    assert (reading.fate, reading.choices, reading.reasons) == ("counted", ("B",), ())


def test_a_contest_box_that_leaves_the_names_out_is_refused_and_told_so():
    with pytest.raises(BlankError, match="a box that leaves the names out"):
        program_of_cells(box_top=blank_of(usual_design()).layout.contest("c2").box.top + NAME_ABOVE_PX)
