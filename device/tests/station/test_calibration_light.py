"""The worst light that passes calibration changes no reading, and no pixel is divided by white paper."""

from functools import cache

import pytest

from device.tests.classifier.drawn_pages import Page, fresh_page, program
from device.tests.station.chart_pictures import fallen, lit, white_sheet
from recount_classifier.raster import Grey
from recount_classifier.reading import Reading, read_sheet
from recount_device.calibration.checks import LIMITS_BY_NAME
from recount_device.calibration.steps import light_step

LEAST = (LIMITS_BY_NAME["evenness"].least or 0.0) / 100
LIGHTS = ("side", "corner", "corners", "middle", "band")
NUMBERS = range(2)


def nothing(_page: Page) -> None:
    """Leave it blank."""


def full(page: Page) -> None:
    page.mark(page.choice)


def pencil_cross(page: Page) -> None:
    page.mark(page.choice, "x", "pencil")


def both(page: Page) -> None:
    page.mark(page.choice)
    page.mark(page.other_choice(), tool="pencil")


@cache
def sheets() -> tuple[tuple[Grey, Reading], ...]:
    """Return evenly lit sheets and how they are read."""
    found: list[tuple[Grey, Reading]] = []
    for number in NUMBERS:
        for spoil in (nothing, full, pencil_cross, both):
            page = fresh_page((number, 5))
            page.settings = page.settings.but(jpeg=0)
            spoil(page)
            picture = page.picture()
            found.append((picture, read_sheet([picture], program())))
    return tuple(found)


@pytest.mark.parametrize("kind", LIGHTS)
def test_a_sheet_in_the_worst_light_that_passes_is_read_as_the_same_sheet_evenly_lit(kind: str) -> None:
    light = fallen(kind, LEAST)
    step, _ = light_step([lit(white_sheet(seed=seed), light) for seed in range(2)])
    assert step.passed
    for picture, even in sheets():
        uneven = read_sheet([lit(picture, light)], program())
        assert (uneven.fate, uneven.choices, uneven.reasons) == (even.fate, even.choices, even.reasons)


def test_the_sheets_are_of_every_kind() -> None:
    assert {reading.fate for _, reading in sheets()} == {"counted", "set_aside"}
    assert {len(reading.choices) for _, reading in sheets()} == {0, 1}
