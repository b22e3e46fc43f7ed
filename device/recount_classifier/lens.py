"""What a camera's lens does to straight lines: points are mapped, never pixels.

The model is Brown's, as OpenCV has it: three radial and two tangential terms about a centre, lengths counted
in half diagonals of the picture. `bent` takes a point of the straight picture, which a lens without
distortion would give, to where this lens puts it; `straight` takes it back. The straight picture equals the
real one at the centre. A calibration (a printed chart) finds the numbers; here is only what they mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recount_classifier.errors import ClassifierError

Points = NDArray[np.float64]

BOUNDS: Final[Mapping[str, float]] = {"k1": 0.4, "k2": 0.4, "k3": 0.4, "p1": 0.05, "p2": 0.05}
"""The greatest size of each term. A k1 of 0.1 moves a corner by a tenth of the half diagonal."""
FARTHEST_CENTRE: Final = 0.25
"""The centre lies within so many half diagonals of the picture's middle."""
LARGEST_MOVE: Final = 0.25
"""No point of the picture is moved by more, in half diagonals."""
LEAST_STRETCH: Final = 0.3
"""Nowhere in the picture is a small square pressed to less than this share of its area."""
_ROUNDS: Final = 6
"""Newton's steps back from a bent point: at the largest moves allowed, 1e-9 px are left after five."""
_CLOSE: Final = 1e-9
"""In half diagonals: a millionth of a pixel."""
_EDGE: Final = 1.1
"""The map must be sound this far out, in half pictures: windows reach over the edge."""


class LensError(ClassifierError):
    """Numbers that are no lens."""


@dataclass(frozen=True, slots=True)
class Lens:
    """One camera's lens, for pictures of one size. Coordinates are pixels, pixel centres at whole numbers."""

    width: int
    height: int
    centre_x: float
    centre_y: float
    k1: float
    k2: float
    k3: float
    p1: float
    p2: float

    @property
    def radius(self) -> float:
        """Return half the picture's diagonal in pixels: the unit of the terms."""
        return math.hypot(self.width, self.height) / 2

    @property
    def corner_share(self) -> float:
        """Return how far the farthest corner is moved, as a share of the half diagonal."""
        corners = picture_grid(self.width, self.height, 2)
        away = self.straight(corners) - corners
        return float(np.hypot(away[:, 0], away[:, 1]).max()) / self.radius

    def bent(self, points: Points) -> Points:
        """Return where points of the straight picture (n x 2) lie in the real one."""
        centre = np.array([self.centre_x, self.centre_y])
        away = (points - centre) / self.radius
        return centre + self.radius * self._distorted(away)

    def slopes(self, points: Points) -> NDArray[np.float64]:
        """Return for points of the straight picture the map's derivatives (n x 2 x 2)."""
        return self._slopes((points - np.array([self.centre_x, self.centre_y])) / self.radius)

    def straight(self, points: Points) -> Points:
        """Return where points of the real picture (n x 2) would lie without the lens's bend."""
        centre = np.array([self.centre_x, self.centre_y])
        seen = (points - centre) / self.radius
        away = seen.copy()
        for _ in range(_ROUNDS):
            wrong = self._distorted(away) - seen
            if len(wrong) == 0 or float(np.abs(wrong).max()) < _CLOSE:
                break
            slopes = self._slopes(away)
            a, b, c, d = slopes[:, 0, 0], slopes[:, 0, 1], slopes[:, 1, 0], slopes[:, 1, 1]
            area = a * d - b * c
            away[:, 0] -= (d * wrong[:, 0] - b * wrong[:, 1]) / area
            away[:, 1] -= (a * wrong[:, 1] - c * wrong[:, 0]) / area
        return centre + self.radius * away

    def _distorted(self, away: Points) -> Points:
        x, y = away[:, 0], away[:, 1]
        r2 = x * x + y * y
        radial = 1 + r2 * (self.k1 + r2 * (self.k2 + r2 * self.k3))
        bent = np.empty_like(away)
        bent[:, 0] = x * radial + 2 * self.p1 * x * y + self.p2 * (r2 + 2 * x * x)
        bent[:, 1] = y * radial + self.p1 * (r2 + 2 * y * y) + 2 * self.p2 * x * y
        return bent

    def _slopes(self, away: Points) -> NDArray[np.float64]:
        x, y = away[:, 0], away[:, 1]
        r2 = x * x + y * y
        radial = 1 + r2 * (self.k1 + r2 * (self.k2 + r2 * self.k3))
        grows = 2 * (self.k1 + r2 * (2 * self.k2 + r2 * 3 * self.k3))
        slopes = np.empty((len(away), 2, 2))
        slopes[:, 0, 0] = radial + grows * x * x + 2 * self.p1 * y + 6 * self.p2 * x
        slopes[:, 1, 1] = radial + grows * y * y + 6 * self.p1 * y + 2 * self.p2 * x
        slopes[:, 0, 1] = slopes[:, 1, 0] = grows * x * y + 2 * self.p1 * x + 2 * self.p2 * y
        return slopes


LENS_NUMBERS: Final = tuple(field.name for field in fields(Lens))


def picture_grid(width: int, height: int, steps: int, reach: float = 1.0) -> Points:
    """Return steps x steps points over a picture, or over `reach` times its size about its middle."""
    shares = np.linspace(-reach, reach, steps)
    x, y = np.meshgrid((shares + 1) * (width - 1) / 2, (shares + 1) * (height - 1) / 2)
    return np.stack([x.ravel(), y.ravel()], axis=1)


def check_lens(lens: Lens) -> Lens:
    """Return the lens. Raises LensError, in one sentence, for numbers that are no lens a camera can have."""
    for name in LENS_NUMBERS[2:]:
        if not math.isfinite(getattr(lens, name)):
            raise LensError(f"{name} is no finite number")
    for name, most in BOUNDS.items():
        if abs(getattr(lens, name)) > most:
            raise LensError(f"{name} is {getattr(lens, name):.4g}, but a lens has {most:g} at most")
    off = math.hypot(lens.centre_x - (lens.width - 1) / 2, lens.centre_y - (lens.height - 1) / 2)
    if off > FARTHEST_CENTRE * lens.radius:
        raise LensError(f"its centre lies {off:.0f} pixels from the middle of the picture")
    grid = picture_grid(lens.width, lens.height, 15, _EDGE)
    if float(np.linalg.det(lens.slopes(grid)).min()) < LEAST_STRETCH:
        raise LensError("it folds the edge of the picture over")
    away = np.abs(lens.straight(grid) - grid)
    back = np.abs(lens.bent(lens.straight(grid)) - grid)
    if not float(away.max()) <= LARGEST_MOVE * lens.radius or not float(back.max()) < 0.01:
        raise LensError("it moves the edge of the picture too far to be followed")
    return lens
