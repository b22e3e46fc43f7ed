"""Where the blank's points lie on a sheet: coarse over the whole page, then ever closer at the contest.

A registration is twelve numbers: for each of x and y on the sheet the coefficients of 1, u, v, uv, u2, v2,
where (u, v) are the blank's coordinates in the contest's own frame (`Style.frame`). The second-order terms
take what rollers and lenses do to paper near the contest; they are held close to zero unless the print
demands them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recount_classifier.matching import find
from recount_classifier.program import Patch
from recount_classifier.pyramid import Matrix, Pyramid
from recount_classifier.raster import Grey, warped

Points = NDArray[np.float64]
Registration = tuple[float, ...]
"""Twelve coefficients, those of x before those of y."""

TERMS = 6
_SECOND_ORDER_STIFFNESS = 0.15
"""Ridge on the second-order terms, in patches: with ten patches they follow the paper, with four hardly."""
_FIRST_ORDER_STIFFNESS = 0.01
_OUTLIER_PX = 1.5
"""Distance at which a patch's vote begins to fade."""


@dataclass(frozen=True, slots=True)
class Coarse:
    """A whole-page placement: `matrix` takes the blank's pixels to the picture's."""

    matrix: Matrix
    agreeing: int
    anchors: int
    match: float

    @property
    def share(self) -> float:
        """Return the share of the anchors that agree."""
        return self.agreeing / max(1, self.anchors)

    @property
    def weight(self) -> float:
        """Return what two placements are compared by."""
        return self.share * self.match


def locate_anchors(
    low: Grey, anchors: Sequence[Patch], search: int | None, expected: Matrix | None = None
) -> Coarse | None:
    """Place the page by its anchors in the 1/16 picture `low`.

    `search` is how far (pixels of `low`) an anchor may be from where it is expected: its place on the blank,
    or where `expected` takes that. None looks everywhere. The placement that most anchors agree on wins
    (every pair proposes a similarity). The result's matrix takes 1/16 coordinates of the blank to those of
    `low`.
    """
    height, width = low.shape
    reference: list[complex] = []
    found: list[complex] = []
    scores: list[float] = []
    for anchor in anchors:
        size_y, size_x = anchor.pixels.shape
        if search is None:
            x0, y0, x1, y1 = 0, 0, width, height
        else:
            left, top = _expected_corner(anchor, expected)
            x0, y0 = max(0, left - search), max(0, top - search)
            x1, y1 = min(width, left + size_x + search), min(height, top + size_y + search)
        if x1 - x0 < size_x + 2 or y1 - y0 < size_y + 2:
            continue
        x, y, score = find(low[y0:y1, x0:x1], anchor.pixels)
        middle = complex((size_x - 1) / 2, (size_y - 1) / 2)
        reference.append(complex(anchor.left, anchor.top) + middle)
        found.append(complex(x0 + x, y0 + y) + middle)
        scores.append(max(0.0, score))
    if len(reference) < 4:
        return None
    return _consensus(np.array(reference), np.array(found), np.array(scores), len(anchors))


def _expected_corner(anchor: Patch, expected: Matrix | None) -> tuple[int, int]:
    """Return the whole pixel of an anchor's top left corner when its middle lies where it is expected."""
    if expected is None:
        return anchor.left, anchor.top
    size_y, size_x = anchor.pixels.shape
    half_x, half_y = (size_x - 1) / 2, (size_y - 1) / 2
    x, y = expected[:2, :2] @ (anchor.left + half_x, anchor.top + half_y) + expected[:2, 2]
    return round(float(x) - half_x), round(float(y) - half_y)


def _consensus(
    reference: NDArray[np.complex128], found: NDArray[np.complex128], scores: Points, anchors: int
) -> Coarse | None:
    first, second = np.triu_indices(len(reference), 1)
    apart = reference[second] - reference[first]
    far = np.abs(apart) > 24
    first, second, apart = first[far], second[far], apart[far]
    turn = (found[second] - found[first]) / apart
    shift = found[first] - turn * reference[first]
    fair = (np.abs(np.abs(turn) - 1) < 0.10) & (np.abs(np.angle(turn)) < 0.16)
    turn, shift = turn[fair], shift[fair]
    if len(turn) == 0:
        return None
    error = np.abs(found[None] - (turn[:, None] * reference[None] + shift[:, None]))
    agree = error < 1.6
    best = int(np.argmax((agree * scores).sum(axis=1)))
    inliers = agree[best]
    if int(inliers.sum()) < 4:
        return None
    matrix = np.eye(3)
    source, goal = _plane(reference[inliers]), _plane(found[inliers])
    matrix[:2] = _fit_affine(source, goal, scores[inliers])
    # A second look with the affine fit takes in the anchors that stretch had kept out.
    placed = _plane(reference) @ matrix[:2, :2].T + matrix[:2, 2]
    again = np.hypot(*(placed - _plane(found)).T) < 1.6
    if int(again.sum()) > int(inliers.sum()):
        matrix[:2] = _fit_affine(_plane(reference[again]), _plane(found[again]), scores[again])
        inliers = again
    return Coarse(matrix, int(inliers.sum()), anchors, float(np.median(scores[inliers])))


def _plane(points: NDArray[np.complex128]) -> Points:
    return np.column_stack([points.real, points.imag])


def _fit_affine(source: Points, goal: Points, weights: Points) -> Points:
    """Return the 2 x 3 affine of least weighted squares."""
    rows = np.column_stack([source, np.ones(len(source))]) * weights[:, None]
    solution, *_ = np.linalg.lstsq(rows, goal * weights[:, None], rcond=None)
    return solution.T.astype(np.float64, copy=False)


@dataclass(frozen=True, slots=True)
class Votes:
    """What a set of patches found: the blank's points, the sheet's points, and how well each fitted."""

    source: Points
    goal: Points
    scores: Points
    windows: tuple[Grey, ...]
    """The unwarped ground each patch was searched in."""
    offsets: Points
    """Where in its window each patch lay, minus where it was expected."""


class SheetMap:
    """A map from the blank to the sheet that can be asked for a local affine."""

    def __init__(self, coefficients: Registration, frame: tuple[float, float, float]) -> None:
        self.coefficients = coefficients
        self.frame = frame

    def local_affine(self, x: float, y: float) -> tuple[float, float, float, float, float, float]:
        """Return (sx, sy, dsx/dx, dsx/dy, dsy/dx, dsy/dy) at the blank's point (x, y)."""
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

    def points(self, source: Points) -> Points:
        """Return the sheet's points of the blank's points."""
        terms = _terms(source, self.frame)
        matrix = np.array(self.coefficients).reshape(2, TERMS)
        return terms @ matrix.T

    @property
    def scale(self) -> float:
        """Return sheet pixels per blank pixel at the contest's middle."""
        _, _, a, b, c, d = self.local_affine(self.frame[0], self.frame[1])
        return float(np.sqrt(abs(a * d - b * c)))


def from_affine(matrix: Matrix, frame: tuple[float, float, float]) -> Registration:
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
    moved[TERMS] += dy
    return tuple(moved)


def _terms(source: Points, frame: tuple[float, float, float]) -> Points:
    x, y, scale = frame
    u, v = (source[:, 0] - x) / scale, (source[:, 1] - y) / scale
    return np.column_stack([np.ones(len(u)), u, v, u * v, u * u, v * v])


def sample(
    pyramid: Pyramid,
    level: int,
    sheet_map: SheetMap,
    left: float,
    top: float,
    width: int,
    height: int,
    step: float,
    off_sheet: int | None = None,
) -> Grey:
    """Return the sheet's ground under a window of the blank, as the blank lies.

    The window's top left pixel centre is the blank's point (left, top); its pixels are `step` blank pixels
    apart and are interpolated from the pyramid's `level`. Ground off the picture repeats the picture's edge,
    or is `off_sheet` where that is given.
    """
    half_x, half_y = (width - 1) / 2, (height - 1) / 2
    sx, sy, a, b, c, d = sheet_map.local_affine(left + half_x * step, top + half_y * step)
    factor, offset = pyramid.to_page(level)
    scale = step / factor
    a, b, c, d = a * scale, b * scale, c * scale, d * scale
    matrix = np.array(
        [
            [a, b, (sx - offset) / factor - a * half_x - b * half_y],
            [c, d, (sy - offset) / factor - c * half_x - d * half_y],
        ]
    )
    return warped(pyramid.levels[level], matrix, width, height, off_sheet)


def level_for(pyramid: Pyramid, step: float, scale: float) -> int:
    """Return the pyramid level whose pixels are closest to, not much coarser than, `step` blank pixels."""
    wanted = step * scale
    level = 0
    while level + 1 < len(pyramid.levels) and float(1 << (level + 1)) <= wanted * 1.15:
        level += 1
    return level


def look_for(
    pyramid: Pyramid, sheet_map: SheetMap, patches: Sequence[Patch], patch_level: int, search: int
) -> Votes:
    """Search each patch `search` pixels of its level around where `sheet_map` puts it."""
    step = float(1 << patch_level)
    level = level_for(pyramid, step, sheet_map.scale)
    shift = (step - 1) / 2
    count = len(patches)
    source, goal = np.empty((count, 2)), np.empty((count, 2))
    scores, offsets = np.empty(count), np.empty((count, 2))
    windows: list[Grey] = []
    for index, patch in enumerate(patches):
        height, width = patch.pixels.shape
        left = (patch.left - search) * step + shift
        top = (patch.top - search) * step + shift
        window = sample(pyramid, level, sheet_map, left, top, width + 2 * search, height + 2 * search, step)
        x, y, score = find(window, patch.pixels)
        middle_x = (patch.left + (width - 1) / 2) * step + shift
        middle_y = (patch.top + (height - 1) / 2) * step + shift
        dx, dy = (x - search) * step, (y - search) * step
        sx, sy, a, b, c, d = sheet_map.local_affine(middle_x, middle_y)
        source[index] = middle_x, middle_y
        goal[index] = sx + a * dx + b * dy, sy + c * dx + d * dy
        scores[index] = score
        offsets[index] = dx, dy
        windows.append(window)
    return Votes(source, goal, scores, tuple(windows), offsets)


@dataclass(frozen=True, slots=True)
class Fit:
    """A map that votes agree on. Offsets and distances are pixels of the blank, one for each vote."""

    sheet_map: SheetMap
    offsets: Points
    """Where the map puts each patch, minus where it was expected when it was searched."""
    distances: Points
    """How far from there each patch was found."""


def fit(
    votes: Votes,
    prior: SheetMap,
    lowest: float,
    tolerance_px: float = _OUTLIER_PX,
    first_order: float = _FIRST_ORDER_STIFFNESS,
    second_order: float = _SECOND_ORDER_STIFFNESS,
) -> Fit:
    """Return the map that the votes agree on, and how each vote stands to it.

    Votes below the correlation `lowest` have no say. Votes far from the others lose theirs step by step
    (Tukey's weights, from a wide start). The corrections to `prior` are held small by ridges where votes are
    few.
    """
    _, _, a, b, c, d = prior.local_affine(prior.frame[0], prior.frame[1])
    turn = np.array([[a, b], [c, d]])
    terms = _terms(votes.source, prior.frame)
    wanted = (votes.goal - prior.points(votes.source)) @ np.linalg.inv(turn).T
    strength = np.where(votes.scores >= lowest, np.maximum(votes.scores, 0.0) ** 2, 0.0)
    ridge = np.diag([1e-6, first_order, first_order, second_order, second_order, second_order])
    centre = _weighted_median(wanted, strength)
    distance = np.hypot(*(wanted - centre).T)
    correction = np.zeros((TERMS, 2))
    correction[0] = centre
    widest = max(4.0 * tolerance_px, 3.0 * float(np.median(distance)))
    for reach in (widest, 3.0 * tolerance_px, 2.0 * tolerance_px, 2.0 * tolerance_px):
        weights = strength * np.clip(1 - (distance / reach) ** 2, 0, None) ** 2
        if float(weights.sum()) < 1e-3:
            break
        left = terms.T @ (terms * weights[:, None]) + ridge
        correction = np.linalg.solve(left, terms.T @ (wanted * weights[:, None]))
        distance = np.hypot(*(wanted - terms @ correction).T)
    coefficients = np.array(prior.coefficients) + (correction @ turn.T).T.ravel()
    fitted = SheetMap(tuple(float(value) for value in coefficients), prior.frame)
    return Fit(fitted, terms @ correction, distance)


def _weighted_median(values: Points, weights: Points) -> Points:
    use = weights > 0
    if not use.any():
        return np.zeros(2)
    return np.median(values[use], axis=0)
