"""The steps of a device's calibration, each from its pictures to what it found. Pure.

A step passes or fails; a picture that shows no chart, or no white sheet, is a failed step too, with the
sentence that says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recount_classifier.lens import BOUNDS, Lens, LensError, check_lens
from recount_device.calibration.chart_dots import Dots, Grey, find_dots
from recount_device.calibration.chart_optics import Optics, optics_of
from recount_device.calibration.checks import Check, focus_and_exposure, lens_checks, white_checks
from recount_device.calibration.lens_fit import LensFit, fit_lens
from recount_device.calibration.white_sheet import white_sheets
from recount_device.errors import OperatorError


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the walk."""

    name: str
    """focus, lens, light or marks."""
    title: str
    pictures: int
    checks: tuple[Check, ...] = ()
    notes: tuple[str, ...] = ()
    """What else people are told."""
    trouble: str = ""
    """Why there are no checks: one sentence that says what to do."""

    @property
    def passed(self) -> bool:
        """Return whether everything is within its limits."""
        return not self.trouble and all(check.holds for check in self.checks)

    @property
    def advice(self) -> tuple[str, ...]:
        """Return what to do, a sentence each; none where the step passed."""
        if self.trouble:
            return (self.trouble,)
        return tuple(dict.fromkeys(check.limit.do for check in self.checks if not check.holds))


@dataclass(frozen=True, eq=False)
class Seen:
    """What the chart and the white sheets showed, for the drawing."""

    optics: tuple[Optics, ...] = ()
    charts: tuple[Dots, ...] = ()
    fit: LensFit | None = None
    light: NDArray[np.float64] | None = field(default=None)


FOCUS_TITLE, LENS_TITLE = "Focus and exposure", "Lens"
LIGHT_TITLE, MARKS_TITLE = "Light and glass", "Marks"


def chart_steps(pictures: Sequence[Grey]) -> tuple[Step, Step, Seen]:
    """Return the steps focus and lens, from one or more pictures of the lens chart."""
    count = len(pictures)
    try:
        charts = tuple(find_dots(picture) for picture in pictures)
        fit = fit_lens(charts)
    except OperatorError as error:
        said = _sentence(error)
        return (
            Step("focus", FOCUS_TITLE, count, trouble=said),
            Step("lens", LENS_TITLE, count, trouble=said),
            Seen(),
        )
    optics = tuple(
        optics_of(picture, fit, index, chart)
        for index, (picture, chart) in enumerate(zip(pictures, charts, strict=True))
    )
    focus = Step("focus", FOCUS_TITLE, count, focus_and_exposure(optics), _edges_told(optics[0]))
    return focus, _lens_step(fit, charts), Seen(optics, charts, fit)


def _lens_step(fit: LensFit, charts: Sequence[Dots]) -> Step:
    try:
        check_lens(fit.lens)
    except LensError as error:
        said = f"No lens explains the chart ({error}): lay it flat, whole and uncreased."
        return Step("lens", LENS_TITLE, len(charts), trouble=said)
    return Step("lens", LENS_TITLE, len(charts), lens_checks(fit, charts), _lens_told(fit, charts))


def light_step(pictures: Sequence[Grey]) -> tuple[Step, NDArray[np.float64] | None]:
    """Return the step light, and the paper's grey over the field, from two or more white sheets."""
    try:
        white = white_sheets(pictures)
    except OperatorError as error:
        return Step("light", LIGHT_TITLE, len(pictures), trouble=_sentence(error)), None
    notes = [f"on the glass: {dirt.words}" for dirt in white.dirt[:5]]
    if white.on_paper:
        notes.append(f"{white.on_paper} specks lie on the sheets themselves, which is no matter")
    return Step("light", LIGHT_TITLE, len(pictures), white_checks(white), tuple(notes)), white.light


def lens_of(step: Step, seen: Seen) -> Lens | None:
    """Return the lens that may be kept: that of a step that passed."""
    return seen.fit.lens if step.passed and seen.fit is not None else None


def _sentence(error: OperatorError) -> str:
    said = str(error)
    return said[:1].upper() + said[1:] + "."


def _edges_told(optics: Optics) -> tuple[str, ...]:
    edges = ", ".join(f"{place.name} {place.edge_mm:.2f}" for place in optics.places)
    px = optics.bluntest.edge_mm * optics.px_per_mm
    return (
        f"edges from 10 % to 90 % in mm: {edges}",
        f"{optics.px_per_mm * 25.4:.0f} pixels to the inch; the bluntest edge is {px:.1f} pixels wide",
    )


def _lens_told(fit: LensFit, charts: Sequence[Dots]) -> tuple[str, ...]:
    lens = fit.lens
    dots = sum(len(chart.chart) for chart in charts)
    notes = [
        f"{dots} dots; without a lens {fit.straight_rms_px:.2f} pixels are left, with it {fit.rms_px:.2f}",
        ", ".join(f"{name} {getattr(lens, name):+.5f}" for name in BOUNDS),
        f"centre {lens.centre_x:.1f}, {lens.centre_y:.1f} of {lens.width} x {lens.height} pixels",
    ]
    if fit.left_out:
        notes.append(f"{fit.left_out} dots were left out: dust or a crease on the chart")
    return tuple(notes)
