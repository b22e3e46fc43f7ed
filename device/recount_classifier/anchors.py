"""Where a page lies in a picture, coarsely: small pieces of print from all over it, which must agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recount_classifier.banks import Banked, banked
from recount_classifier.matching import Places, find
from recount_classifier.points import Points, lengths, median
from recount_classifier.program import Patch
from recount_classifier.pyramid import Matrix
from recount_classifier.raster import Grey, solved
from recount_classifier.sheet_map import Bend

_STILL = np.eye(3)
_STEADY = np.diag((1e-9, 1e-9, 1e-9))
_LARGEST_TURN = np.tan(0.16)
_SURE_MATCH = 0.7
"""Correlation from which an anchor is surely found, wherever that is."""
_FAR_OFF = 3.0
"""In 1/16 pixels, 6 mm: no stretch or fold moves print so far."""
_AT_HOME = 0.6
"""Correlation from which an anchor's print is seen in its own place too. Rows of a contest look alike: where
something is written over an anchor, another row may fit better, but its own place fits with 0.68 and more.
Of anchors that a second sheet covers, four and more of each sheet had less than this there."""
_HOME_SEARCH = 2


@dataclass(frozen=True, slots=True)
class Coarse:
    """A whole-page placement: `matrix` takes the blank's pixels to the picture's."""

    matrix: Matrix
    agreeing: int
    anchors: int
    match: float
    elsewhere: int = 0
    """Of the anchors that are not in their place, how many put the page into one other: two sheets do."""

    @property
    def share(self) -> float:
        """Return the share of the anchors that agree."""
        return self.agreeing / max(1, self.anchors)

    @property
    def weight(self) -> float:
        """Return what two placements are compared by."""
        return self.share * self.match


def locate_anchors(
    low: Grey,
    anchors: tuple[Patch, ...],
    search: int | None,
    expected: Matrix | None = None,
    bend: Bend | None = None,
) -> Coarse | None:
    """Place the page by its anchors in the 1/16 picture `low`.

    `search` is how far (pixels of `low`) an anchor may be from where it is expected: its place on the blank,
    or where `expected` takes that. None looks everywhere. The placement that most anchors agree on wins
    (every pair proposes a similarity). The result's matrix takes 1/16 coordinates of the blank to those of
    `low`; with the bend of a lens, to those of a straight `low`.
    """
    if search is None:
        seen = [_everywhere(low, anchors)]
    else:
        seen = [_close_to(low, some, expected, bend) for some in anchor_banks(anchors, search)]
    if sum(len(scores) for _, _, scores in seen) < 4:
        return None
    reference, goal, weights = (np.concatenate(parts) for parts in zip(*seen, strict=True))
    if bend is not None:
        goal = bend.straight(goal)
    coarse = _consensus(reference, goal, np.maximum(weights, 0.0), len(anchors))
    if coarse is None:
        return None
    away = goal - (reference @ coarse.matrix[:2, :2].T + coarse.matrix[:2, 2])
    gone = np.flatnonzero((weights >= _SURE_MATCH) & (lengths(away) > _FAR_OFF))
    if len(gone) < 2:
        return coarse
    at_home = _at_home(low, anchors, coarse.matrix, bend)
    gone = [index for index in gone if tuple(reference[index]) not in at_home]
    return replace(coarse, elsewhere=_of_one_mind(away[gone]))


def _at_home(
    low: Grey, anchors: tuple[Patch, ...], matrix: Matrix, bend: Bend | None
) -> set[tuple[float, ...]]:
    """Return the middles (on the blank) of the anchors that are seen where this placement puts them."""
    seen = [_close_to(low, some, matrix, bend) for some in anchor_banks(anchors, _HOME_SEARCH)]
    return {
        tuple(middle)
        for middles, _, scores in seen
        for middle, score in zip(middles.tolist(), scores.tolist(), strict=True)
        if score >= _AT_HOME
    }


Seen = tuple[Points, Points, Points]
"""The middles of some anchors on the blank, where they were found, and how well."""


def _everywhere(low: Grey, anchors: Sequence[Patch]) -> Seen:
    """Look for anchors in the whole picture; those that do not fit in it are left out."""
    found: list[tuple[float, float, float, float, float]] = []
    for anchor in anchors:
        height, width = anchor.pixels.shape
        if low.shape[0] >= height + 2 and low.shape[1] >= width + 2:
            half_x, half_y = (width - 1) / 2, (height - 1) / 2
            x, y, score = find(low, anchor.pixels)
            found.append((anchor.left + half_x, anchor.top + half_y, x + half_x, y + half_y, score))
    table = np.array(found).reshape(-1, 5)
    return table[:, :2], table[:, 2:4], table[:, 4]


def _close_to(low: Grey, some: Banked, expected: Matrix | None, bend: Bend | None) -> Seen:
    """Look for anchors of one size close to where they are expected; those without room are left out."""
    bank, middles = some.bank, some.middles
    height, width = low.shape
    high, wide = bank.window
    corners = middles - bank.middle
    if expected is not None:
        corners = middles @ expected[:2, :2].T + expected[:2, 2] - bank.middle
    if bend is not None:
        corners = bend.bent(corners + bank.middle) - bank.middle
    first = np.rint(corners).astype(np.intp) - bank.places // 2
    # Ground off the picture repeats its edge: no place is looked at there.
    rows = np.clip(first[:, 1:] + np.arange(high), 0, height - 1)
    columns = np.clip(first[:, :1] + np.arange(wide), 0, width - 1)
    windows = low.take((rows * width)[:, :, None] + columns[:, None, :])
    limit = np.array([width - bank.width, height - bank.height])
    over = (first < 0) | (first + bank.places > limit + 1)
    off = (
        _places_off(first, np.flatnonzero(over[:, 0] | over[:, 1]), limit, bank.places)
        if over.any()
        else None
    )
    x, y, best = bank.find(windows, off)
    found = first + _points(x, y) + bank.middle
    if off is None:
        return middles, found, best
    # Three places each way are room enough.
    open_ = (np.minimum(limit, first + bank.places - 1) - np.maximum(0, first)).min(axis=1) >= 2
    return middles[open_], found[open_], best[open_]


def _places_off(
    first: NDArray[np.intp], over: NDArray[np.intp], limit: NDArray[np.intp], places: int
) -> Places:
    """Return the places that lie off the picture, of windows of which those `over` reach over its edge."""
    off = np.zeros((len(first), places, places), np.bool_)
    last_x, last_y = limit.tolist()
    for index in over.tolist():
        x, y = first[index].tolist()
        off[index, :, : max(0, -x)] = True
        off[index, :, max(0, last_x - x + 1) :] = True
        off[index, : max(0, -y)] = True
        off[index, max(0, last_y - y + 1) :] = True
    return off


def _consensus(reference: Points, found: Points, scores: Points, anchors: int) -> Coarse | None:
    source, goal = _complex(reference), _complex(found)
    first, second = _pairs(len(source))
    apart = source[second] - source[first]
    far = np.abs(apart) > 24
    first, second, apart = first[far], second[far], apart[far]
    turn = (goal[second] - goal[first]) / apart
    fair = (np.abs(np.abs(turn) - 1) < 0.10) & (np.abs(turn.imag) < _LARGEST_TURN * turn.real)
    turn, first = turn[fair], first[fair]
    if len(turn) == 0:
        return None
    shift = goal[first] - turn * source[first]
    agree = np.abs(goal - (turn[:, None] * source + shift[:, None])) < 1.6
    inliers = agree[int((agree @ scores).argmax())]
    if int(inliers.sum()) < 4:
        return None
    matrix = _STILL.copy()
    matrix[:2] = _fit_affine(reference[inliers], found[inliers], scores[inliers])
    # A second look with the affine fit takes in the anchors that stretch had kept out.
    placed = reference @ matrix[:2, :2].T + matrix[:2, 2]
    again = lengths(placed - found) < 1.6
    if int(again.sum()) > int(inliers.sum()):
        matrix[:2] = _fit_affine(reference[again], found[again], scores[again])
        inliers = again
    return Coarse(matrix, int(inliers.sum()), anchors, median(scores[inliers]))


def _of_one_mind(away: Points) -> int:
    """Return how many of the anchors that lie off by `away` lie off by the same."""
    far = _complex(away)
    return int((np.abs(far[:, None] - far) < 1.6).sum(axis=1).max(initial=0))


@lru_cache(maxsize=64)
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return each pair of so many things once."""
    return np.triu_indices(count, 1)


def _points(x: Points, y: Points) -> Points:
    return np.stack([x, y], axis=1)


def _complex(points: Points) -> NDArray[np.complex128]:
    return points[:, 0] + 1j * points[:, 1]


def _fit_affine(source: Points, goal: Points, weights: Points) -> Points:
    """Return the 2 x 3 affine of least weighted squares."""
    middle = source.mean(axis=0)
    rows = np.empty((len(source), 3))
    rows[:, :2], rows[:, 2] = source - middle, 1.0
    weighted = rows * (weights * weights)[:, None]
    # Held very lightly where all anchors stand in one line.
    normal = weighted.T @ rows + _STEADY
    solution = solved(normal, weighted.T @ goal).T
    solution[:, 2] -= solution[:, :2] @ middle
    return solution


@lru_cache(maxsize=64)
def anchor_banks(anchors: tuple[Patch, ...], search: int) -> tuple[Banked, ...]:
    """Return anchors prepared for searching. They are small, and a sheet is compared with every style's."""
    return banked(anchors, search, search)
