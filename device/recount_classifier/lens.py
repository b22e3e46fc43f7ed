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
"""Newton's steps back from a bent point, at most."""
_CLOSE: Final = 1e-5
"""In half diagonals: after a step of a hundredth of a pixel the next would be a millionth."""
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
        bent_x, bent_y, *_ = self._mapped(*self._away(points))
        return self._in_picture(bent_x, bent_y)

    def slopes(self, points: Points) -> NDArray[np.float64]:
        """Return for points of the straight picture the map's derivatives (n x 2 x 2)."""
        _, _, a, b, d = self._mapped(*self._away(points))
        return np.stack([a, b, b, d], axis=1).reshape(-1, 2, 2)

    def straight(self, points: Points) -> Points:
        """Return where points of the real picture (n x 2) would lie without the lens's bend."""
        seen_x, seen_y = self._away(points)
        x, y = seen_x.copy(), seen_y.copy()
        for _ in range(_ROUNDS):
            bent_x, bent_y, a, b, d = self._mapped(x, y)
            wrong_x, wrong_y = bent_x - seen_x, bent_y - seen_y
            area = a * d - b * b
            step_x, step_y = (d * wrong_x - b * wrong_y) / area, (a * wrong_y - b * wrong_x) / area
            x -= step_x
            y -= step_y
            # Newton's next step would be about the square of this one.
            if max(np.abs(step_x).max(initial=0.0), np.abs(step_y).max(initial=0.0)) < _CLOSE:
                break
        return self._in_picture(x, y)

    def _away(self, points: Points) -> Points:
        """Return x and y of points in half diagonals from the centre."""
        return (points.T - np.array([[self.centre_x], [self.centre_y]])) / self.radius

    def _in_picture(self, x: Points, y: Points) -> Points:
        return np.stack([x * self.radius + self.centre_x, y * self.radius + self.centre_y], axis=1)

    def _mapped(self, x: Points, y: Points) -> tuple[Points, Points, Points, Points, Points]:
        """Return the bent x and y, and the slopes of x along x, of x along y and y along x, of y along y."""
        xx, yy, xy = x * x, y * y, x * y
        r2 = xx + yy
        radial = 1 + r2 * (self.k1 + r2 * (self.k2 + r2 * self.k3))
        grows = 2 * (self.k1 + r2 * (2 * self.k2 + r2 * 3 * self.k3))
        p1, p2 = 2 * self.p1, 2 * self.p2
        bent_x = x * radial + p1 * xy + self.p2 * (r2 + 2 * xx)
        bent_y = y * radial + self.p1 * (r2 + 2 * yy) + p2 * xy
        a = radial + grows * xx + p1 * y + 3 * p2 * x
        d = radial + grows * yy + 3 * p1 * y + p2 * x
        return bent_x, bent_y, a, grows * xy + p1 * x + p2 * y, d


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
