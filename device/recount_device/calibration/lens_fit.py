"""The lens that explains where the dots of a chart lie, in one or more pictures. Pure.

Each picture has its own homography (how the sheet lay, and how the printer scaled it); the lens is one for
all. Least squares in the picture's pixels, by damped Gauss-Newton steps. Terms that the pictures do not show
are held at none: a lens without distortion has no centre to be found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_classifier.lens import Lens
from recount_device.calibration.chart_dots import Dots, Points
from recount_device.errors import OperatorError

_HELD_PX: Final = 0.05
"""The pixel error that a term's usual size (below) weighs as much as."""
_USUAL: Final = np.array([0.05, 0.05, 0.2, 0.1, 0.1, 0.01, 0.01])
"""How large the terms are expected at most: centre (x, y; half diagonals), k1, k2, k3, p1, p2."""
_LENS_TERMS: Final = 7
_ROUNDS: Final = 20
_SETTLED_PX: Final = 1e-5
_OUTLIER: Final = 5.0
"""Dots farther off than so many times the usual distance are dust on the chart, and left out."""
_STEP: Final = 1e-6


@dataclass(frozen=True, eq=False)
class LensFit:
    """A lens, and how well it explains the charts."""

    lens: Lens
    homographies: tuple[NDArray[np.float64], ...]
    """From each chart (mm) to the straight picture (pixels)."""
    residuals: tuple[Points, ...]
    """Of each chart's dots: where they lie minus where they should, in pixels."""
    straight_rms_px: float
    """What is left where the lens is taken to bend nothing."""
    left_out: int
    """Dots that are no use: dust, a crease."""

    @property
    def rms_px(self) -> float:
        """Return the root mean square of what is left."""
        return _rms(np.concatenate(self.residuals))

    @property
    def worst_px(self) -> float:
        """Return the distance that 99 in 100 dots keep below."""
        return float(np.percentile(np.concatenate([np.hypot(*one.T) for one in self.residuals]), 99))

    def to_picture(self, chart: int, points: Points) -> Points:
        """Return where points of a chart (mm) lie in its picture."""
        return self.lens.bent(projected(self.homographies[chart], points))


def fit_lens(charts: Sequence[Dots]) -> LensFit:
    """Return what explains these charts best; `check_lens` tells whether it is a lens.

    Raises OperatorError for pictures of several sizes.
    """
    sizes = {(chart.width, chart.height) for chart in charts}
    if len(sizes) != 1:
        told = " and ".join(f"{width} x {height}" for width, height in sorted(sizes))
        raise OperatorError(
            f"the pictures of the chart differ in size ({told}): take all with one camera mode"
        )
    solution = _solved(charts)
    kept = [_fair(chart, residual) for chart, residual in zip(charts, solution.residuals, strict=True)]
    left_out = sum(len(chart.chart) for chart in charts) - sum(len(chart.chart) for chart in kept)
    if left_out:
        solution = _solved(kept)
    return LensFit(
        solution.lens, solution.homographies, solution.residuals, solution.straight_rms_px, left_out
    )


def projected(homography: NDArray[np.float64], points: Points) -> Points:
    """Return points (n x 2) through a homography."""
    mapped = points @ homography[:, :2].T + homography[:, 2]
    return mapped[:, :2] / mapped[:, 2:]


def _fair(chart: Dots, residual: Points) -> Dots:
    distance = np.hypot(residual[:, 0], residual[:, 1])
    keep = distance <= max(0.5, _OUTLIER * float(np.median(distance)))
    return Dots(chart.width, chart.height, chart.chart[keep], chart.picture[keep])


def _solved(charts: Sequence[Dots]) -> LensFit:
    width, height = charts[0].width, charts[0].height
    numbers = np.concatenate([np.zeros(_LENS_TERMS), *(_homography(chart) for chart in charts)])
    residual = _residuals(numbers, charts, width, height)
    straight = _rms(residual.reshape(-1, 2))
    held = np.zeros(len(numbers))
    held[:_LENS_TERMS] = (_HELD_PX / _USUAL) ** 2
    damping = 1e-3
    cost = float(residual @ residual)
    for _ in range(_ROUNDS):
        slopes = _slopes(numbers, residual, charts, width, height)
        normal = slopes.T @ slopes + np.diag(held)
        wanted = slopes.T @ residual + held * numbers
        step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), wanted)
        tried = numbers - step
        there = _residuals(tried, charts, width, height)
        its_cost = float(there @ there + held @ tried**2)
        if its_cost <= cost:
            gained = cost - its_cost
            numbers, residual, cost, damping = tried, there, its_cost, damping * 0.1
            if gained < _SETTLED_PX * cost + 1e-12:
                break
        else:
            damping *= 10
    parts = np.split(residual.reshape(-1, 2), np.cumsum([len(chart.chart) for chart in charts])[:-1])
    matrices = tuple(_matrix(numbers, index) for index in range(len(charts)))
    return LensFit(_lens(numbers, width, height), matrices, tuple(-part for part in parts), straight, 0)


def _homography(chart: Dots) -> NDArray[np.float64]:
    """Return the eight numbers of the plain homography of a chart."""
    found, _ = cv2.findHomography(chart.chart, chart.picture)
    return np.asarray(found / found[2, 2], np.float64).ravel()[:8]


def _matrix(numbers: NDArray[np.float64], index: int) -> NDArray[np.float64]:
    start = _LENS_TERMS + 8 * index
    return np.append(numbers[start : start + 8], 1.0).reshape(3, 3)


def _lens(numbers: NDArray[np.float64], width: int, height: int) -> Lens:
    radius = float(np.hypot(width, height)) / 2
    x, y = (width - 1) / 2 + numbers[0] * radius, (height - 1) / 2 + numbers[1] * radius
    return Lens(width, height, float(x), float(y), *(float(term) for term in numbers[2:_LENS_TERMS]))


def _residuals(
    numbers: NDArray[np.float64], charts: Sequence[Dots], width: int, height: int
) -> NDArray[np.float64]:
    lens = _lens(numbers, width, height)
    parts = [
        lens.bent(projected(_matrix(numbers, index), chart.chart)) - chart.picture
        for index, chart in enumerate(charts)
    ]
    return np.concatenate(parts).ravel()


def _slopes(
    numbers: NDArray[np.float64],
    residual: NDArray[np.float64],
    charts: Sequence[Dots],
    width: int,
    height: int,
) -> NDArray[np.float64]:
    slopes = np.empty((len(residual), len(numbers)))
    for index, number in enumerate(numbers):
        step = _STEP * max(1e-3, abs(number)) if index >= _LENS_TERMS else _STEP
        moved = numbers.copy()
        moved[index] += step
        slopes[:, index] = (_residuals(moved, charts, width, height) - residual) / step
    return slopes


def _rms(residuals: Points) -> float:
    return float(np.sqrt((residuals**2).sum(axis=1).mean()))
