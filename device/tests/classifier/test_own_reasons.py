"""What is no ballot of the program's style is refused for what it is, so that people know what they hold."""

from collections.abc import Callable
from pathlib import Path

import cv2
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
from recount_classifier.misfit import Misfit
from recount_classifier.raster import Grey
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


def soft(picture: Grey, blur_px: float) -> Grey:
    """Look through a lens that is out of focus."""
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), blur_px), np.uint8)


@pytest.mark.parametrize("blur_px", [2.2, 3.0, 6.0])
def test_a_blurred_picture_of_the_contest_is_told_as_blurred(blur_px: float) -> None:
    page = fresh_page((78, 0))
    page.mark(page.choice)
    reading = read_sheet([soft(page.picture(), blur_px)], program())
    assert (reading.fate, reading.reasons) == ("returned", ("blurred",))


@pytest.mark.parametrize("blur_px", [1.2, 2.0, 3.0])
@pytest.mark.parametrize("number", range(2))
def test_another_contest_is_told_as_one_in_a_blurred_picture_too(number: int, blur_px: float) -> None:
    page = fresh_page((79, number))
    another_contest_in_its_place(page)
    reading = read_sheet([soft(page.picture(), blur_px)], program())
    assert reading.fate == "not_accepted"
    assert set(reading.reasons) <= {"other_contest", "name_changed"}


@pytest.mark.parametrize("blur_px", [0.0, 1.2, 2.0])
def test_a_contest_half_torn_off_is_not_on_paper_in_a_blurred_picture_too(blur_px: float) -> None:
    page = fresh_page((80, 0))
    page.settings = page.settings.but(background=30)
    left, top, right, bottom = program().styles[0].box
    page.paper[top : round(top + 0.75 * (bottom - top)), : (left + right) // 2] = 0
    picture = page.picture()
    reading = read_sheet([soft(picture, blur_px) if blur_px else picture], program())
    assert (reading.fate, reading.reasons) == ("not_accepted", ("not_on_paper",))


def label_boxes() -> list[tuple[int, int, int, int]]:
    """Return where the print beside each target stands: left, top, right, bottom."""
    style = program().styles[0]
    labels = [style.paths[0].details[target.label] for target in style.targets]
    return [
        (label.left, label.top, label.left + label.pixels.shape[1], label.top + label.pixels.shape[0])
        for label in labels
    ]


def test_another_contest_that_leaves_a_labels_place_bare_is_told_as_one() -> None:
    page = fresh_page((81, 0))
    another_contest_in_its_place(page)
    left, top, right, bottom = label_boxes()[1]
    page.image[top:bottom, left:right] = 255
    reading = read_sheet([page.picture()], program())
    assert (reading.fate, reading.reasons) == ("not_accepted", ("other_contest",))


def test_a_contest_partly_under_white_paper_is_not_on_paper_and_no_other_contest() -> None:
    page = fresh_page((82, 0))
    left, top, right, _ = program().styles[0].box
    _, first, _, last = label_boxes()[1]
    page.image[top : (first + last) // 2, left:right] = 255
    reading = read_sheet([page.picture()], program())
    assert (reading.fate, reading.reasons) == ("not_accepted", ("not_on_paper",))


def test_a_hairline_that_a_blur_takes_first_makes_the_picture_blurred_and_no_name_changed() -> None:
    style = program().styles[0]
    labels = np.stack([style.paths[0].details[target.label].pixels for target in style.targets])
    found = np.stack([soft(label, 2.0) for label in labels])
    names, sharpness = np.array([True, True, True, False]), np.array([0.5, 0.5, 0.5, 0.2])

    def reason(absent: list[bool]) -> str:
        misfit = Misfit(labels, found, sharpness, names, np.array(absent), exchanged=False, picture=None)
        return misfit.reason(program().thresholds)

    assert reason([False, False, False, True]) == "blurred"
    assert reason([False, True, False, False]) != "blurred", "that label is sharp"
