"""What is no ballot of the program's style is refused for what it is, so that people know what they hold."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from device.tests.classifier import fairview
from device.tests.classifier.drawn_pages import Page, blank_of, fresh_page, program, usual_design
from device.tests.classifier.real_ballots import definition_of, picture, program_for
from device.tests.classifier.test_failure_table import (
    blank_paper,
    handwritten_letter,
    names_rotated,
    one_name_changed,
    onto,
)
from recount_ballots.scanner import SCANNERS, scan
from recount_classifier.reading import read_sheet


def another_contest_in_its_place(page: Page) -> None:
    """Print another contest of the same ballot over the contest under recount: the rest of the page stays."""
    page.mark(page.choice)
    layout = blank_of(usual_design()).layout
    other = next(placed for placed in layout.contests if placed.contest.key != page.contest.contest.key)
    here, there = page.contest.box, other.box
    left, top, right, bottom = (round(edge) for edge in (here.left, here.top, here.right, here.bottom))
    from_left, from_top = round(there.left), round(there.top)
    printed = blank_of(usual_design()).image[from_top : round(there.bottom), from_left : round(there.right)]
    page.image[top:bottom, left:right] = 255
    height, width = min(bottom - top, printed.shape[0]), min(right - left, printed.shape[1])
    page.image[top : top + height, left : left + width] = printed[:height, :width]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (onto(names_rotated), "names_exchanged"),
        (onto(one_name_changed), "name_changed"),
        (another_contest_in_its_place, "other_contest"),
        (blank_paper, "blank_paper"),
        (handwritten_letter, "wrong_style"),
    ],
    ids=["names rotated", "one name changed", "another contest", "blank paper", "a letter"],
)
def test_a_foreign_sheet_is_refused_for_what_it_is(spoil: Callable[[Page], None], reason: str) -> None:
    page = fresh_page((77, 0))
    spoil(page)
    reading = read_sheet([page.picture()], program())
    assert (reading.fate, reading.reasons) == ("not_accepted", (reason,))


@pytest.mark.parametrize("turned", [False, True])
def test_a_sheet_wrong_side_up_comes_back_to_be_turned_over(turned: bool) -> None:
    back = fairview.picture(fairview.STYLE["other_side"])
    reading = read_sheet([np.ascontiguousarray(back[::-1, ::-1]) if turned else back], fairview.program())
    assert (reading.fate, reading.reasons) == ("returned", ("wrong_side",))


@pytest.mark.parametrize("seed", [0, 1])
def test_a_sheet_both_of_whose_sides_have_one_frame_is_turned_over_too(
    shared_folder: Path, seed: int
) -> None:
    folder = shared_folder / "ballots" / "juneau"
    contest = next(one for one in definition_of(folder)["contests"] if one["side"] == "back")
    front = picture(folder / definition_of(folder)["blank"]["front"])
    rng = np.random.default_rng(seed)
    seen = scan(front, SCANNERS["worn_scanner"](rng), rng, np.full(front.shape, 255, np.uint8)).image
    reading = read_sheet([seen], program_for(folder, contest))
    assert (reading.fate, reading.reasons) == ("returned", ("wrong_side",))
