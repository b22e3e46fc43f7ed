"""The map from the blank to the sheet, and the sheet's ground seen through it.

A registration is twelve numbers: for each of x and y on the sheet the coefficients of 1, u, v, uv, u2, v2,
where (u, v) are the blank's coordinates in the contest's own frame (`Style.frame`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recount_classifier.points import Points, lengths
from recount_classifier.pyramid import Matrix, Pyramid
from recount_classifier.raster import Grey, solved, warp_into

Frame = tuple[float, float, float]
"""Middle (x, y) and scale of the registration's own coordinates (`Style.frame`)."""
Registration = tuple[float, ...]
"""The coefficients of x before those of y: twelve, or twenty where a lens calibration was used."""

TERMS = 6
BENT_TERMS = 10
"""With a lens calibration u3, u2v, uv2 and v3 follow: a lens bends by the cube of the distance."""
_GRID = 9
"""Points a side at which a bent map is met by a polynomial."""
_HARDLY_HELD = np.diag(np.full(BENT_TERMS, 1e-9))


class Bend(Protocol):
    """What a lens does to points of one picture."""

    def bent(self, points: Points) -> Points:
        """Return where points of the straight picture lie in the real one."""
        ...

    def slopes(self, points: Points) -> NDArray[np.float64]:
        """Return for points of the straight picture the map's derivatives (n x 2 x 2)."""
        ...

    def straight(self, points: Points) -> Points:
        """Return where points of the real picture would lie without the lens's bend."""
        ...


class SheetMap:
    """A map from the blank to the sheet that can be asked for a local affine."""

    def __init__(self, coefficients: Registration, frame: Frame) -> None:
        self.coefficients = coefficients
        self.frame = frame
        self.matrix = np.array(coefficients).reshape(2, -1).T
        """The coefficients of x and y on the sheet, side by side."""

    def local_affine(self, x: float, y: float) -> tuple[float, float, float, float, float, float]:
        """Return (sx, sy, dsx/dx, dsx/dy, dsy/dx, dsy/dy) at the blank's point (x, y)."""
        if len(self.matrix) > TERMS:
            terms = terms_of(np.array([[x, y]]), self.frame, BENT_TERMS)
            places, affines = self.local_affines(terms)
            (sx, sy), ((a, b), (c, d)) = places[0].tolist(), affines[0].tolist()
            return sx, sy, a, b, c, d
        centre_x, centre_y, scale = self.frame
        a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5 = self.coefficients
        u, v = (x - centre_x) / scale, (y - centre_y) / scale
        return (
            a0 + a1 * u + a2 * v + a3 * u * v + a4 * u * u + a5 * v * v,
            b0 + b1 * u + b2 * v + b3 * u * v + b4 * u * u + b5 * v * v,
            (a1 + a3 * v + 2 * a4 * u) / scale,
            (a2 + a3 * u + 2 * a5 * v) / scale,
            (b1 + b3 * v + 2 * b4 * u) / scale,
            (b2 + b3 * u + 2 * b5 * v) / scale,
        )

    def local_affines(self, terms: Points) -> tuple[Points, Points]:
        """Return for points of the blank (their terms) the sheet's points (n x 2) and affines (n x 2 x 2)."""
        if len(self.matrix) > TERMS:
            affines = (terms[:, :TERMS] @ _slopes_of_third_order(self.coefficients)).reshape(-1, 2, 2)
            affines /= self.frame[2]
            return terms @ self.matrix, affines
        _, a1, a2, a3, a4, a5, _, b1, b2, b3, b4, b5 = self.coefficients
        # The slopes of x and of y along u and along v, as sums of 1, u, v.
        slopes = np.array([[a1, a2, b1, b2], [2 * a4, a3, 2 * b4, b3], [a3, 2 * a5, b3, 2 * b5]])
        affines = (terms[:, :3] @ slopes).reshape(-1, 2, 2)
        affines /= self.frame[2]
        return terms @ self.matrix, affines

    def points(self, source: Points) -> Points:
        """Return the sheet's points of the blank's points."""
        return terms_of(source, self.frame, len(self.matrix)) @ self.matrix

    @property
    def scale(self) -> float:
        """Return sheet pixels per blank pixel at the contest's middle."""
        _, _, a, b, c, d = self.local_affine(self.frame[0], self.frame[1])
        return float(np.sqrt(abs(a * d - b * c)))


def _slopes_of_third_order(coefficients: Registration) -> NDArray[np.float64]:
    """Return the slopes of x and of y along u and along v, as sums of 1, u, v, uv, u2, v2."""
    _, a1, a2, a3, a4, a5, a6, a7, a8, a9, _, b1, b2, b3, b4, b5, b6, b7, b8, b9 = coefficients
    return np.array(
        [
            [a1, a2, b1, b2],
            [2 * a4, a3, 2 * b4, b3],
            [a3, 2 * a5, b3, 2 * b5],
            [2 * a7, 2 * a8, 2 * b7, 2 * b8],
            [3 * a6, a7, 3 * b6, b7],
            [a8, 3 * a9, b8, 3 * b9],
        ]
    )


class BentMap:
    """A map from the blank to the straight picture, and on through a lens to the real one."""

    def __init__(self, straight: SheetMap, bend: Bend) -> None:
        self._straight = straight
        self._bend = bend
        self.frame = straight.frame

    def local_affines(self, terms: Points) -> tuple[Points, Points]:
        """Return for points of the blank (their terms) the sheet's points (n x 2) and affines (n x 2 x 2)."""
        places, affines = self._straight.local_affines(terms)
        return self._bend.bent(places), self._bend.slopes(places) @ affines

    @property
    def scale(self) -> float:
        """Return sheet pixels per blank pixel at the contest's middle."""
        _, affines = self.local_affines(terms_of(np.array([self.frame[:2]]), self.frame))
        return float(abs(np.linalg.det(affines[0]))) ** 0.5

    def over(self, box: tuple[int, int, int, int]) -> tuple[SheetMap, float]:
        """Return one polynomial that follows it over a part of the blank, and how far (pixels) it is off."""
        left, top, right, bottom = box
        x, y = np.meshgrid(np.linspace(left, right, _GRID), np.linspace(top, bottom, _GRID))
        source = np.stack([x.ravel(), y.ravel()], axis=1)
        goal = self._bend.bent(self._straight.points(source))
        terms = terms_of(source, self.frame, BENT_TERMS)
        found = solved(terms.T @ terms + _HARDLY_HELD, terms.T @ goal)
        fitted = SheetMap(tuple(found.T.ravel().tolist()), self.frame)
        return fitted, float(lengths(terms @ fitted.matrix - goal).max())


def from_affine(matrix: Matrix, frame: Frame) -> Registration:
    """Return the registration that equals a 3 x 3 affine matrix."""
    x, y, scale = frame
    middle = matrix[:2, :2] @ np.array([x, y]) + matrix[:2, 2]
    linear = matrix[:2, :2] * scale
    return (
        float(middle[0]), float(linear[0, 0]), float(linear[0, 1]), 0.0, 0.0, 0.0,
        float(middle[1]), float(linear[1, 0]), float(linear[1, 1]), 0.0, 0.0, 0.0,
    )  # fmt: skip


def shifted(registration: Registration, dx: float, dy: float) -> Registration:
    """Return the registration whose sheet points lie (dx, dy) further on."""
    moved = list(registration)
    moved[0] += dx
    moved[len(moved) // 2] += dy
    return tuple(moved)


def terms_of(source: Points, frame: Frame, count: int = TERMS) -> Points:
    """Return the terms (n x `count`) of the blank's points, which a registration's coefficients weigh."""
    x, y, scale = frame
    terms = np.empty((len(source), count))
    u, v = (source[:, 0] - x) / scale, (source[:, 1] - y) / scale
    terms[:, 0], terms[:, 1], terms[:, 2] = 1.0, u, v
    terms[:, 3], terms[:, 4], terms[:, 5] = u * v, u * u, v * v
    if count > TERMS:
        terms[:, 6], terms[:, 7], terms[:, 8], terms[:, 9] = u * u * u, u * u * v, u * v * v, v * v * v
    return terms


def sample(
    windows: Sequence[Grey],
    pyramid: Pyramid,
    sheet_map: SheetMap | BentMap,
    terms: Points,
    halves: Points,
    step: float,
    off_sheet: int | None = None,
) -> tuple[Points, Points]:
    """Fill windows with the sheet's ground under windows of the blank, as the blank lies.

    `terms` are the registration's at the windows' middles, `halves` (n x 2) half of each from its first
    pixel's middle to its last's, `step` the size of their pixels. Ground off the picture repeats its edge, or
    is `off_sheet`. Returns where the middles lie on the sheet, and the affines there.
    """
    level = level_for(pyramid, step, sheet_map.scale)
    factor, offset = pyramid.to_page(level)
    ground = pyramid.levels[level]
    middles, affines = sheet_map.local_affines(terms)
    matrices = np.empty((len(middles), 2, 3))
    linear = matrices[:, :, :2]
    np.multiply(affines, step / factor, out=linear)
    matrices[:, :, 2] = (middles - offset) / factor - (linear @ halves[:, :, None])[:, :, 0]
    for window, matrix in zip(windows, matrices, strict=True):
        warp_into(window, ground, matrix, off_sheet)
    return middles, affines


def level_for(pyramid: Pyramid, step: float, scale: float) -> int:
    """Return the pyramid level whose pixels are closest to, not much coarser than, `step` blank pixels."""
    wanted = step * scale
    level = 0
    while level + 1 < len(pyramid.levels) and float(1 << (level + 1)) <= wanted * 1.15:
        level += 1
    return level
