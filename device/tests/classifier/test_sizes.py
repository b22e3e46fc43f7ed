"""Ballots of every size in use, scanned at every usual resolution, as they lie: read for what they are."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pytest

from device.tests.classifier.drawn_pages import (
    RECOUNT,
    blank_of,
    contest_of,
    program_of,
    program_on,
    usual_design,
)
from recount_ballots import paper
from recount_ballots.blank import Blank, draw_blank
from recount_ballots.design import HEIGHTS_IN, Design, TargetShape
from recount_ballots.marks import mark
from recount_ballots.scanner import ScanSettings, scan
from recount_ballots.strokes import take
from recount_classifier.errors import BlankError
from recount_classifier.raster import Grey
from recount_classifier.reading import read_sheet

SHEETS = int(os.environ.get("RECOUNT_SHEETS", "1"))
"""Of each case; more are read now and then by hand."""


@cache
def sized(height: str) -> Design:
    """Return the usual ballot on paper of another length."""
    return replace(usual_design(), name=height, height_in=HEIGHTS_IN[height])


@cache
def sparse(contests: int, target: TargetShape) -> Design:
    """Return a ballot that bears little but the contest; with ovals it has timing marks, with boxes none."""
    others = [contest for contest in usual_design().front if contest.key != RECOUNT]
    front = (contest_of(usual_design()), *others[: contests - 1])
    return replace(usual_design(), name="sparse", front=front, back=(), target=target)


@cache
def blank_at(design: Design, dpi: int) -> Blank:
    return draw_blank(design, "front", dpi)


@dataclass(frozen=True)
class Case:
    """One way a ballot is printed and scanned."""

    name: str
    design: Design
    dpi: int = 200
    changes: dict[str, object] = field(default_factory=dict[str, object])
    torn: float = 0.0
    """Share of the width that the corner farthest from the contest has lost."""


def lying(name: str, **changes: object) -> Case:
    return Case(name, usual_design(), changes={"margin_px": 90, **changes})


CASES = (
    *(Case(f"{height}, 200 dpi", sized(height)) for height in HEIGHTS_IN if height != "letter"),
    *(Case(f"letter, {dpi} dpi", usual_design(), dpi) for dpi in (150, 300, 400)),
    Case("legal, 300 dpi", sized("legal"), 300),
    Case("22 in, 150 dpi", sized("22in"), 150),
    *(
        Case(f"letter, {dpi} dpi, 1 bit", usual_design(), dpi, {"one_bit": 140, "jpeg": 0})
        for dpi in (150, 200, 300)
    ),
    Case("22 in, 200 dpi, 1 bit", sized("22in"), 200, {"one_bit": 140, "jpeg": 0}),
    *(lying(f"on a ground of grey {grey}", background=grey) for grey in (15, 128, 255)),
    *(lying(f"turned by {turn} degrees", turn_deg=float(turn)) for turn in (-6, 6)),
    Case("22 in, turned by 6 degrees", sized("22in"), 200, {"turn_deg": 6.0, "margin_px": 120}),
    *(lying(f"scaled by {scale}", scale=scale) for scale in (0.95, 1.05)),
    *(Case(f"{torn:.0%} of a corner torn off", usual_design(), torn=torn) for torn in (0.3, 0.5)),
    Case("one contest alone, timing marks", sparse(1, "oval")),
    Case("one contest alone, no timing marks", sparse(1, "box")),
    Case("two contests, no timing marks", sparse(2, "box")),
    Case("two contests, no timing marks, upside down", sparse(2, "box"), 200, {"turn_deg": 180.0}),
)


def picture(case: Case, number: int) -> tuple[Grey, str]:
    """Return a marked sheet's picture, and the option that it is for."""
    rng = np.random.default_rng((number, 41))
    blank = blank_at(case.design, case.dpi)
    image, sheet = blank.image.copy(), np.full(blank.image.shape, 255, np.uint8)
    placed = blank.layout.contest(RECOUNT)
    choice = "ABC"[int(rng.integers(3))]
    mark(image, placed.option(choice).target, "full", take("black_pen", case.dpi, rng), rng, case.dpi)
    if case.torn:
        height, width = image.shape
        x, y = placed.box.centre
        corner = f"{'bottom' if y < height / 2 else 'top'}-{'right' if x < width / 2 else 'left'}"
        paper.tear_corner(sheet, corner, case.torn * width, case.torn * 0.6 * height, rng)
    settings = ScanSettings(
        turn_deg=float(rng.uniform(-0.8, 0.8)),
        scale=float(rng.uniform(0.994, 1.006)),
        margin_px=12 * case.dpi // 200,
        background=25 if case.torn else 238,
        white=240.0,
        black=24.0,
        blur_px=0.6 * case.dpi / 200,
        noise=3.0,
        jpeg=85,
    )
    return scan(image, settings.but(**case.changes), rng, sheet).image, choice


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_clear_vote_is_counted(case: Case):
    for number in range(SHEETS):
        sheet, choice = picture(case, number)
        reading = read_sheet([sheet], program_of(case.design))
        assert (reading.fate, reading.choices, reading.reasons) == ("counted", (choice,), ())


def test_a_blank_with_too_little_print_to_be_found_by_is_refused_when_the_program_is_built():
    blank = blank_of(usual_design())
    box = blank.layout.contest(RECOUNT).box
    rows, columns = slice(round(box.top), round(box.bottom)), slice(round(box.left), round(box.right))
    alone = np.full_like(blank.image, 255)
    alone[rows, columns] = blank.image[rows, columns]
    told = r"too little print to find the page by .* the page is 8\.5 x 11\.0 inches"
    with pytest.raises(BlankError, match=told):
        program_on(replace(blank, image=alone))
