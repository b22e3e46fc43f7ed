"""How sharp, bright and even a lens chart's picture is, at nine places of the field. Pure.

Sharpness is the width of an edge: the way from 10 % to 90 % between the black of a dot and the paper. All
pixels round all dots of a place are laid over each other by their distance from the dot's middle, so that
the edge is sampled far finer than by pixels. Edges that run across and along are taken apart: a picture that
is smeared by motion, or a tilted lens, is sharp in one direction only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recount_device.calibration.chart_dots import Dots, Grey, Points, paper_under
from recount_device.calibration.chart_sheet import DOT_MM, PITCH_MM
from recount_device.calibration.lens_fit import LensFit

PLACES: Final = (
    ("top left", "top", "top right"),
    ("left", "centre", "right"),
    ("bottom left", "bottom", "bottom right"),
)
_RADIUS: Final = DOT_MM / 2
_INSIDE: Final = 0.45 * _RADIUS
"""Ink so far from a dot's middle is the print's own black, however blurred its edge."""
_OUTSIDE: Final = 1.7 * _RADIUS
"""From here on there is paper."""
_FARTHEST: Final = 2.1 * _RADIUS
"""Up to here: beyond it words may stand."""
_BIN_MM: Final = 0.02
_LEAST_IN_BIN: Final = 6
_LEAST_DOTS: Final = 6
_EVERY: Final = 2
"""Every second dot is enough: twenty or more at each place."""
CLIPPED: Final = 254
"""A pixel from here on is as white as can be."""
_PATCH_MM: Final = 1.4
"""Side of the pieces of paper, each in the middle of four dots, that the grain is measured on."""


@dataclass(frozen=True, slots=True)
class Place:
    """One ninth of the field."""

    name: str
    across_mm: float
    """Width of the edges that are crossed going left or right."""
    along_mm: float
    """Width of those that are crossed going up or down."""
    paper: float
    """Grey of the paper."""
    print_: float
    """Grey of the dots."""

    @property
    def edge_mm(self) -> float:
        """Return the width of its blunter edges."""
        return max(self.across_mm, self.along_mm)

    @property
    def contrast(self) -> float:
        """Return paper minus print."""
        return self.paper - self.print_


@dataclass(frozen=True, slots=True)
class Optics:
    """What one picture of a chart shows of the camera and its light."""

    places: tuple[Place, ...]
    px_per_mm: float
    clipped_share: float
    """Share of the paper's pixels that are as white as can be: what is whiter there cannot be seen."""
    grain: float
    """Standard deviation of the paper's pixels, in grey levels: the camera's noise and the paper's fibre."""

    @property
    def bluntest(self) -> Place:
        """Return the place with the widest edges."""
        return max(self.places, key=lambda place: place.edge_mm)

    @property
    def darkest(self) -> Place:
        """Return the place with the darkest paper."""
        return min(self.places, key=lambda place: place.paper)

    @property
    def palest(self) -> Place:
        """Return the place where print differs least from paper."""
        return min(self.places, key=lambda place: place.contrast)


def optics_of(picture: Grey, fit: LensFit, chart: int, dots: Dots) -> Optics:
    """Return what the picture of a chart shows; `dots` are its dots, `chart` its place in the fit."""
    # Where the dots were found, not where the fit has them: a crease must not pass for a blur.
    middles = dots.picture[::_EVERY]
    affines = _affines(fit, chart, dots.chart[::_EVERY])
    samples = [_samples(picture, *one) for one in zip(middles, affines, strict=True)]
    third_x, third_y = picture.shape[1] / 3, picture.shape[0] / 3
    columns = np.clip((middles[:, 0] // third_x).astype(int), 0, 2)
    rows = np.clip((middles[:, 1] // third_y).astype(int), 0, 2)
    places: list[Place] = []
    for row, names in enumerate(PLACES):
        for column, name in enumerate(names):
            here = np.flatnonzero((rows == row) & (columns == column))
            if len(here) >= _LEAST_DOTS:
                places.append(_place(name, np.concatenate([samples[index] for index in here])))
    paper = np.concatenate([one[one[:, 0] >= _OUTSIDE, 3] for one in samples])
    grain = _grain(picture, fit, chart, dots)
    return Optics(tuple(places), dots.px_per_mm, float((paper >= CLIPPED).mean()), grain)


def _affines(fit: LensFit, chart: int, points: Points) -> NDArray[np.float64]:
    """Return how a millimetre across and down the chart lies in the picture, at each dot (n x 2 x 2)."""
    half = np.array([[0.5, 0.0], [0.0, 0.5]])
    across, down = (
        fit.to_picture(chart, points + step) - fit.to_picture(chart, points - step) for step in half
    )
    return np.stack([across, down], axis=2)


def _samples(picture: Grey, middle: Points, affine: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the pixels round a dot: distance in mm, its parts across and down the picture, grey."""
    reach = int(np.ceil(_FARTHEST * float(np.abs(affine).sum(axis=1).max())))
    x0, y0 = round(float(middle[0])), round(float(middle[1]))
    top, left = max(0, y0 - reach), max(0, x0 - reach)
    part = picture[top : y0 + reach + 1, left : x0 + reach + 1]
    y, x = np.mgrid[top : top + part.shape[0], left : left + part.shape[1]]
    away = np.stack([x.ravel() - middle[0], y.ravel() - middle[1]])
    distance = np.hypot(*(np.linalg.inv(affine) @ away))
    near = distance <= _FARTHEST
    table = np.stack([distance, away[0], away[1], part.ravel().astype(np.float64)], axis=1)
    return table[near]


def _place(name: str, samples: NDArray[np.float64]) -> Place:
    distance, x, y, grey = samples.T
    print_ = float(np.median(grey[distance <= _INSIDE]))
    paper = float(np.median(grey[distance >= _OUTSIDE]))
    across = np.abs(x) > 2 * np.abs(y)
    along = np.abs(y) > 2 * np.abs(x)
    return Place(
        name,
        _edge_mm(distance[across], grey[across], print_, paper),
        _edge_mm(distance[along], grey[along], print_, paper),
        paper,
        print_,
    )


def _edge_mm(distance: NDArray[np.float64], grey: NDArray[np.float64], print_: float, paper: float) -> float:
    """Return the way from 10 % to 90 % of the step from print to paper, in mm.

    As wide as a dot where the step is not reached within it: such a picture shows nothing.
    """
    bins = (distance / _BIN_MM).astype(int)
    counts = np.bincount(bins)
    sums = np.bincount(bins, weights=grey)
    full = counts >= _LEAST_IN_BIN
    middles = np.asarray((np.flatnonzero(full) + 0.5) * _BIN_MM, np.float64)
    step = (sums[full] / counts[full] - print_) / max(1.0, paper - print_)
    low, high = _crossing(middles, step, 0.1), _crossing(middles, step, 0.9)
    return min(max(high - low, 0.0), DOT_MM)


def _crossing(middles: NDArray[np.float64], step: NDArray[np.float64], level: float) -> float:
    """Return where the step last lies below the level, between two bins."""
    below = np.flatnonzero(step < level)
    if len(below) == 0:
        return 0.0
    last = int(below[-1])
    if last + 1 >= len(step):
        return float(middles[-1])
    rise = step[last + 1] - step[last]
    return float(middles[last] + (middles[last + 1] - middles[last]) * (level - step[last]) / rise)


def _grain(picture: Grey, fit: LensFit, chart: int, dots: Dots) -> float:
    """Return the usual standard deviation of paper pixels, light's slope taken off."""
    gaps = fit.to_picture(chart, dots.chart + PITCH_MM / 2)
    half = max(2, round(_PATCH_MM * dots.px_per_mm / 2))
    paper = paper_under(picture)
    height, width = picture.shape
    found: list[float] = []
    for x, y in np.round(gaps).astype(int):
        if half <= x < width - half and half <= y < height - half:
            part = (slice(y - half, y + half + 1), slice(x - half, x + half + 1))
            found.append(float(np.std(picture[part].astype(np.float64) - paper[part])))
    # Words stand in some of the gaps, and the outermost lie off the sheet.
    return float(np.percentile(found, 30)) if found else 0.0
