"""The print that a program looks for: each piece of it stands in one place and cannot slip along a rule."""

from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from device.tests.classifier import fairview
from device.tests.classifier.drawn_pages import blank_of, program, usual_design
from recount_ballots.scanner import SCANNERS, scan
from recount_classifier.compiling import LANDMARK_SEARCH, StyleSpec, TargetSpec, compile_style
from recount_classifier.evidence import Evidence
from recount_classifier.locate import locate
from recount_classifier.matching import ALIKE, find
from recount_classifier.program import (
    DETAIL_SEARCH,
    LANDMARK_LEVEL,
    Option,
    Patch,
    Program,
    Style,
    make_program,
)
from recount_classifier.pyramid import build_pyramid
from recount_classifier.raster import Grey, correlation
from recount_classifier.thresholds import Thresholds

ONE_PLACE_PX = 2
SHERIFF = (
    ("A", (1138.9, 456.9, 24.1, 17.1)),
    ("B", (1138.9, 525.9, 24.1, 17.1)),
    ("W", (1138.9, 595.9, 24.1, 16.1)),
)
"""A contest of Fairview whose lower frame has no print near it but another contest's."""


@cache
def sheriff() -> Program:
    spec = StyleSpec(
        id="101",
        side="front",
        dpi=200,
        box=(1115.0, 354.0, 1585.0, 649.0),
        write_in_areas=((1165.0, 570.0, 1580.0, 622.0),),
        targets=tuple(TargetSpec(key, key == "W", box) for key, box in SHERIFF),
    )
    style = compile_style(spec, fairview.picture("blank-101-front.png"), None)
    options = [Option(key, f"Candidate {key}", write_in=key == "W") for key, _ in SHERIFF]
    return make_program("sheriff", "Sheriff", 1, options, [style], Thresholds())


def alike_elsewhere(page: Grey, patches: Iterable[Patch], search: int) -> Iterator[float]:
    """Yield for each patch how much like it the print is that lies within its search but not in its place."""
    for patch in patches:
        high, wide = patch.pixels.shape
        top, left = max(0, patch.top - search), max(0, patch.left - search)
        ground = page[top : patch.top + high + search, left : patch.left + wide + search]
        scores = correlation(ground, patch.pixels)
        y, x = patch.top - top, patch.left - left
        assert find(ground, patch.pixels)[2] > 0.99
        near = ONE_PLACE_PX
        scores[max(0, y - near) : y + near + 1, max(0, x - near) : x + near + 1] = 0
        yield float(scores.max())


def styles() -> Iterator[tuple[Style, Grey]]:
    yield program().styles[0], blank_of(usual_design()).image
    yield sheriff().styles[0], fairview.picture("blank-101-front.png")


def test_print_that_could_slip_along_a_rule_is_never_looked_for() -> None:
    for style, page in styles():
        quarter = build_pyramid(page, LANDMARK_LEVEL, 0).levels[-1]
        labels = {target.label for target in style.targets}
        first, second = style.paths
        details = [patch for index, patch in enumerate(first.details) if index not in labels]
        assert max(alike_elsewhere(page, (*details, *second.details), DETAIL_SEARCH)) <= ALIKE
        assert max(alike_elsewhere(quarter, (*first.landmarks, *second.landmarks), LANDMARK_SEARCH)) <= ALIKE


def test_clean_sheets_are_registered_where_rules_are_the_most_of_the_print() -> None:
    page = fairview.picture("blank-101-front.png")
    for seed in range(4):
        rng = np.random.default_rng(seed)
        settings = SCANNERS["page_scanner"](rng)
        evidence = locate([scan(page, settings, rng, np.full(page.shape, 255, np.uint8)).image], sheriff())
        assert isinstance(evidence, Evidence), evidence
        assert evidence.gates["residual_px"] < 0.4
        assert evidence.gates["residual_2_px"] < 0.25
