"""Drawn pages and charts under lenses that bend, and how far from the truth targets are found."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from device.tests.classifier.drawn_pages import DPI, Grey, Page, blank_of, fresh_page, program, usual_design
from recount_ballots.layout import PlacedContest
from recount_ballots.scanner import Scan, camera, scan
from recount_classifier.compiling import StyleSpec, TargetSpec, compile_style
from recount_classifier.evidence import Evidence, Refusal
from recount_classifier.lens import Lens
from recount_classifier.locate import locate
from recount_classifier.program import Option, Program, make_program
from recount_classifier.sheet_map import SheetMap
from recount_classifier.thresholds import Thresholds
from recount_device.calibration.chart_dots import find_dots
from recount_device.calibration.chart_sheet import ChartSheet, chart_picture
from recount_device.calibration.lens_fit import fit_lens

CHARTS = 3
TOP_ROW = ("c1", "c4", "c8")
"""Three contests side by side: together they are as wide as the page, and at its upper edge."""


@cache
def wide_program() -> Program:
    """Return a program whose contest is as wide as the page: three contests of the blank taken as one."""
    blank = blank_of(usual_design())
    placed = [contest for contest in blank.layout.contests if contest.contest.key in TOP_ROW]
    boxes = np.array([(one.box.left, one.box.top, one.box.right, one.box.bottom) for one in placed])
    low, high = np.floor(boxes[:, :2].min(axis=0)), np.ceil(boxes[:, 2:].max(axis=0))
    targets = tuple(target for contest in placed for target in _targets(contest))
    spec = StyleSpec("wide", "front", DPI, (*low.tolist(), *high.tolist()), (), targets)
    options = [Option(target.option, target.option, target.write_in) for target in targets]
    style = compile_style(spec, blank.image, None)
    return make_program("wide", "As wide as the page", 1, options, [style], Thresholds())


def _targets(contest: PlacedContest) -> list[TargetSpec]:
    found: list[TargetSpec] = []
    for option in contest.options:
        box = option.target
        left, top = np.floor(box.left), np.floor(box.top)
        size = (np.ceil(box.right) - left, np.ceil(box.bottom) - top)
        key = f"{contest.contest.key}{option.candidate.key}"
        found.append(TargetSpec(key, option.candidate.write_in, (left, top, *size)))
    return found


PROGRAMS = {"a third of the page": program, "the whole page": wide_program}
"""How wide the contest is, and its program."""


def bent_page(number: int, k1: float) -> Page:
    """Return a marked sheet before a camera whose lens moves corners by `k1` of the half diagonal."""
    page = fresh_page((number, 31))
    page.mark(page.choice, tool="black_pen")
    page.settings = camera(page.rng).but(lens=k1)
    return page


@cache
def found_lens(k1: float) -> Lens:
    """Return the lens of that camera as pictures of the chart show it."""
    chart = chart_picture(ChartSheet(), DPI)
    pictures: list[Grey] = []
    for number in range(CHARTS):
        rng = np.random.default_rng((number, 8))
        # The chart's picture has a camera's greys already.
        settings = camera(rng).but(lens=k1, white=255.0, black=0.0, light=(0.0, 0.0))
        pictures.append(scan(chart, settings, rng).image)
    return fit_lens([find_dots(picture) for picture in pictures]).lens


def errors_px(result: Scan, its: Program, lens: Lens | None) -> NDArray[np.float64] | Refusal:
    """Return how far from their true places both registrations put the targets, in pixels of the picture."""
    evidence = locate([result.image], its, lens)
    if not isinstance(evidence, Evidence):
        return evidence
    style = its.styles_by_id[evidence.style_id]
    centres = np.array([target.centre for target in style.targets])
    true = result.page_map.to_scan(centres)
    corner = (evidence.gates["crop_left"], evidence.gates["crop_top"])
    found = [SheetMap(one, style.frame).points(centres) + corner for one in evidence.registrations]
    return np.concatenate([np.hypot(*(points - true).T) for points in found])
