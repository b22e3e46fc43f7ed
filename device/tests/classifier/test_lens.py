"""With a lens calibration targets are found as exactly under a bending lens as under none."""

import dataclasses
from functools import cache

import numpy as np
import pytest

from device.tests.classifier.bent_pages import PROGRAMS, bent_page, errors_px, found_lens, wide_program
from device.tests.classifier.drawn_pages import Page, fresh_page, program
from recount_ballots.scanner import Scan
from recount_classifier.errors import PictureError
from recount_classifier.evidence import Evidence, Refusal
from recount_classifier.judge import judge
from recount_classifier.lens import Lens
from recount_classifier.locate import locate
from recount_classifier.reading import read_sheet
from recount_classifier.sheet_map import BENT_TERMS, TERMS

PAGES = 3
MEDIAN_PX, WORST_PX = 0.1, 0.5
PINCUSHION, BARREL = 0.03, -0.1


@cache
def bent_scan(number: int, k1: float) -> tuple[Page, Scan]:
    """Return a marked sheet and its picture under that lens."""
    page = bent_page(number, k1)
    return page, page.scanned()


def straight_lens(width: int, height: int) -> Lens:
    return Lens(width, height, (width - 1) / 2, (height - 1) / 2, 0.0, 0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("width", PROGRAMS)
@pytest.mark.parametrize("k1", [PINCUSHION, BARREL])
def test_targets_are_found_to_a_tenth_of_a_pixel_under_a_bending_lens(k1: float, width: str) -> None:
    errors: list[float] = []
    for number in range(PAGES):
        found = errors_px(bent_scan(number, k1)[1], PROGRAMS[width](), found_lens(k1))
        assert not isinstance(found, Refusal), found
        errors += found.tolist()
    assert np.median(errors) <= MEDIAN_PX
    assert max(errors) <= WORST_PX


def test_without_a_calibration_a_wide_contest_is_off_by_pixels() -> None:
    found = errors_px(bent_scan(0, BARREL)[1], wide_program(), None)
    assert isinstance(found, Refusal) or found.max() > 1.0


def test_a_vote_under_a_bending_lens_is_counted_and_judged_again_without_the_lens() -> None:
    for number in range(PAGES):
        page, result = bent_scan(number, BARREL)
        picture = result.image
        reading = read_sheet([picture], program(), lens=found_lens(BARREL))
        assert (reading.fate, reading.choices) == ("counted", (page.choice,))
        evidence = reading.evidence
        assert evidence is not None
        assert len(evidence.registrations[0]) == 2 * BENT_TERMS
        left, top = (int(evidence.gates[name]) for name in ("crop_left", "crop_top"))
        high, wide = evidence.crop.shape
        assert np.array_equal(evidence.crop, picture[top : top + high, left : left + wide])
        stored = Evidence.from_fields(evidence.to_fields(), evidence.crop)
        assert judge(stored, program()) == reading.verdict


@pytest.mark.parametrize("quarters", [1, 2])
def test_a_sheet_may_lie_any_way_under_a_bending_lens(quarters: int) -> None:
    page, result = bent_scan(0, BARREL)
    picture = np.ascontiguousarray(np.rot90(result.image, quarters))
    lens = found_lens(BARREL)
    if quarters == 1:
        # The camera is turned with its picture: its lens is round.
        lens = Lens(
            lens.height,
            lens.width,
            lens.centre_y,
            lens.width - 1 - lens.centre_x,
            lens.k1,
            lens.k2,
            lens.k3,
            0,
            0,
        )
    reading = read_sheet([picture], program(), lens=lens)
    assert (reading.fate, reading.choices) == ("counted", (page.choice,))


def test_a_lens_that_bends_nothing_changes_no_reading() -> None:
    for number in range(PAGES):
        picture = fresh_page((number, 31)).picture()
        plain = read_sheet([picture], program())
        lens = straight_lens(picture.shape[1], picture.shape[0])
        calibrated = read_sheet([picture], program(), lens=lens)
        assert plain.evidence is not None
        assert len(plain.evidence.registrations[0]) == 2 * TERMS
        assert (calibrated.fate, calibrated.choices, calibrated.reasons) == (
            plain.fate,
            plain.choices,
            plain.reasons,
        )


def test_a_picture_of_another_size_than_the_lens_is_refused() -> None:
    picture = fresh_page((0, 31)).picture()
    lens = straight_lens(picture.shape[1] + 1, picture.shape[0])
    with pytest.raises(PictureError, match="calibrate the camera anew"):
        locate([picture], program(), lens)


def test_a_lens_that_no_polynomial_follows_gives_no_vote() -> None:
    picture = bent_page(0, 0.0).picture()
    lens = dataclasses.replace(straight_lens(picture.shape[1], picture.shape[0]), k1=-0.25, k2=0.4, k3=-0.25)
    reading = read_sheet([picture], wide_program(), lens=lens)
    assert reading.fate != "counted"
    assert reading.verdict is None


def test_the_other_side_of_a_sheet_has_another_lens() -> None:
    page, result = bent_scan(1, BARREL)
    picture = result.image
    back = np.full((picture.shape[0] + 5, picture.shape[1]), 240, np.uint8)
    reading = read_sheet([picture, back], program(), lens=found_lens(BARREL))
    assert (reading.fate, reading.choices) == ("counted", (page.choice,))
