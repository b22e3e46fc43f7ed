"""Where the blank's points lie on a sheet: coarse over the whole page, then ever closer at the contest.

A registration is twelve numbers: for each of x and y on the sheet the coefficients of 1, u, v, uv, u2, v2,
where (u, v) are the blank's coordinates in the contest's own frame (`Style.frame`). The second-order terms
take what rollers and lenses do to paper near the contest; they are held close to zero unless the print
demands them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from recount_classifier.matching import NO_PLACE, Bank, bank_of, find, peaks
from recount_classifier.program import STYLES_KEPT, Patch
from recount_classifier.pyramid import Matrix, Pyramid
from recount_classifier.raster import Grey, solved, warp_into

Points = NDArray[np.float64]
Registration = tuple[float, ...]
"""Twelve coefficients, those of x before those of y."""

TERMS = 6
_SECOND_ORDER_STIFFNESS = 0.15
"""Ridge on the second-order terms, in patches: with ten patches they follow the paper, with four hardly."""
_FIRST_ORDER_STIFFNESS = 0.01
_STEADY = np.diag((1e-9, 1e-9, 1e-9))
_OUTLIER_PX = 1.5
"""Distance at which a patch's vote begins to fade."""
_LEAST_WEIGHT = 1e-3
"""Votes that weigh less together move nothing."""


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
    low: Grey, anchors: tuple[Patch, ...], search: int | None, expected: Matrix | None = None
) -> Coarse | None:
    """Place the page by its anchors in the 1/16 picture `low`.

    `search` is how far (pixels of `low`) an anchor may be from where it is expected: its place on the blank,
    or where `expected` takes that. None looks everywhere. The placement that most anchors agree on wins
    (every pair proposes a similarity). The result's matrix takes 1/16 coordinates of the blank to those of
    `low`.
    """
    if search is None:
        seen = [_everywhere(low, anchors)]
    else:
        seen = [_close_to(low, some, expected) for some in anchor_banks(anchors, search)]
    if sum(len(scores) for _, _, scores in seen) < 4:
        return None
    reference, goal, weights = (np.concatenate(parts) for parts in zip(*seen, strict=True))
    return _consensus(reference, goal, np.maximum(weights, 0.0), len(anchors))


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


def _close_to(low: Grey, some: Banked, expected: Matrix | None) -> Seen:
    """Look for anchors of one size close to where they are expected; those without room are left out."""
    bank, middles = some.bank, some.middles
    height, width = low.shape
    high, wide = bank.window
    corners = middles - bank.middle
    if expected is not None:
        corners = middles @ expected[:2, :2].T + expected[:2, 2] - bank.middle
    first = np.round(corners).astype(np.intp) - bank.places // 2
    limit = np.array([width - bank.width, height - bank.height])
    room = np.minimum(limit, first + bank.places - 1) - np.maximum(0, first)
    open_ = room.min(axis=1) >= 2
    # Ground off the picture is only there to be left out again.
    ground = np.zeros((height + 2 * high, width + 2 * wide), np.uint8)
    ground[high : high + height, wide : wide + width] = low
    margin, last = np.array([wide, high]), np.array([width, height])
    at = np.clip(first + margin, 0, last + margin)
    windows = sliding_window_view(ground, (high, wide))[at[:, 1], at[:, 0]]
    scores = bank.scores(windows)
    if (first < 0).any() or (first + bank.places - 1 > limit).any():
        steps = np.arange(bank.places)
        across, down = first[:, :1] + steps, first[:, 1:] + steps
        off_x = (across < 0) | (across > limit[0])
        off_y = (down < 0) | (down > limit[1])
        scores[off_x[:, None, :] | off_y[:, :, None]] = NO_PLACE
    x, y, best = peaks(scores)
    found = first + _points(x, y) + bank.middle
    if open_.all():
        return middles, found, best
    return middles[open_], found[open_], best[open_]


def _consensus(reference: Points, found: Points, scores: Points, anchors: int) -> Coarse | None:
    source, goal = _complex(reference), _complex(found)
    first, second = _pairs(len(source))
    apart = source[second] - source[first]
    far = np.abs(apart) > 24
    first, second, apart = first[far], second[far], apart[far]
    turn = (goal[second] - goal[first]) / apart
    fair = (np.abs(np.abs(turn) - 1) < 0.10) & (np.abs(np.angle(turn)) < 0.16)
    turn = turn[fair]
    if len(turn) == 0:
        return None
    shift = goal[first[fair]] - turn * source[first[fair]]
    error = np.abs(goal[None] - (turn[:, None] * source[None] + shift[:, None]))
    agree = error < 1.6
    inliers = agree[int((agree @ scores).argmax())]
    if int(inliers.sum()) < 4:
        return None
    matrix = np.eye(3)
    matrix[:2] = _fit_affine(reference[inliers], found[inliers], scores[inliers])
    # A second look with the affine fit takes in the anchors that stretch had kept out.
    placed = reference @ matrix[:2, :2].T + matrix[:2, 2]
    again = _lengths(placed - found) < 1.6
    if int(again.sum()) > int(inliers.sum()):
        matrix[:2] = _fit_affine(reference[again], found[again], scores[again])
        inliers = again
    return Coarse(matrix, int(inliers.sum()), anchors, median(scores[inliers]))


@lru_cache(maxsize=64)
def _pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return each pair of so many things once."""
    return np.triu_indices(count, 1)


def _points(x: Points, y: Points) -> Points:
    return np.stack([x, y], axis=1)


def _complex(points: Points) -> NDArray[np.complex128]:
    return points[:, 0] + 1j * points[:, 1]


def _lengths(vectors: Points) -> Points:
    """Return the length of each vector of the last axis."""
    return np.hypot(vectors[..., 0], vectors[..., 1])


def median(values: Points) -> float:
    """Return the median of a few values (numpy's own takes ten times as long for so few)."""
    ordered = np.sort(values)
    half = len(ordered) // 2
    return float(ordered[half]) if len(ordered) % 2 else float(ordered[half - 1] + ordered[half]) / 2


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


@dataclass(frozen=True, slots=True)
class Votes:
    """What a set of patches found: the blank's points, the sheet's points, and how well each fitted."""

    source: Points
    goal: Points
    scores: Points
    windows: tuple[Grey, ...]
    """The ground each patch was searched in, as the blank lies."""
    offsets: Points
    """Where in its window each patch lay, minus where it was expected."""


class SheetMap:
    """A map from the blank to the sheet that can be asked for a local affine."""

    def __init__(self, coefficients: Registration, frame: tuple[float, float, float]) -> None:
        self.coefficients = coefficients
        self.frame = frame
        self.matrix = np.array(coefficients).reshape(2, TERMS).T
        """The coefficients of x and y on the sheet, side by side."""

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

    def local_affines(self, points: Points) -> tuple[Points, Points]:
        """Return for each of the blank's points the sheet's point (n x 2) and the affine (n x 2 x 2)."""
        centre_x, centre_y, scale = self.frame
        u, v = (points[:, 0] - centre_x) / scale, (points[:, 1] - centre_y) / scale
        terms = np.zeros((3, len(points), TERMS))
        terms[0] = _terms(points, self.frame)
        # Their slopes along u and along v.
        terms[1, :, 1], terms[1, :, 3], terms[1, :, 4] = 1.0, v, 2 * u
        terms[2, :, 2], terms[2, :, 3], terms[2, :, 5] = 1.0, u, 2 * v
        values = terms @ self.matrix
        return values[0], values[1:].transpose(1, 2, 0) / scale

    def points(self, source: Points) -> Points:
        """Return the sheet's points of the blank's points."""
        return _terms(source, self.frame) @ self.matrix

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
    terms = np.empty((len(source), TERMS))
    u, v = (source[:, 0] - x) / scale, (source[:, 1] - y) / scale
    terms[:, 0], terms[:, 1], terms[:, 2] = 1.0, u, v
    terms[:, 3], terms[:, 4], terms[:, 5] = u * v, u * u, v * v
    return terms


def sample(
    place: Grey,
    pyramid: Pyramid,
    level: int,
    sheet_map: SheetMap,
    corner: tuple[float, float],
    off_sheet: int,
) -> None:
    """Fill `place` with the sheet's ground under a window of the blank, as the blank lies.

    The window's top left pixel centre is the blank's point `corner`; its pixels are the blank's and are
    interpolated from the pyramid's `level`. Ground off the picture is `off_sheet`.
    """
    height, width = place.shape
    half_x, half_y = (width - 1) / 2, (height - 1) / 2
    sx, sy, a, b, c, d = sheet_map.local_affine(corner[0] + half_x, corner[1] + half_y)
    factor, offset = pyramid.to_page(level)
    a, b, c, d = a / factor, b / factor, c / factor, d / factor
    matrix = np.array(
        [
            [a, b, (sx - offset) / factor - a * half_x - b * half_y],
            [c, d, (sy - offset) / factor - c * half_x - d * half_y],
        ]
    )
    warp_into(place, pyramid.levels[level], matrix, off_sheet)


def level_for(pyramid: Pyramid, step: float, scale: float) -> int:
    """Return the pyramid level whose pixels are closest to, not much coarser than, `step` blank pixels."""
    wanted = step * scale
    level = 0
    while level + 1 < len(pyramid.levels) and float(1 << (level + 1)) <= wanted * 1.15:
        level += 1
    return level


@dataclass(frozen=True, slots=True, eq=False)
class Banked:
    """Patches of one size prepared for searching, and which of all the patches they are."""

    members: list[int]
    middles: Points
    """On the blank, in pixels of the patches' level."""
    bank: Bank


@lru_cache(maxsize=64)
def anchor_banks(anchors: tuple[Patch, ...], search: int) -> tuple[Banked, ...]:
    """Return anchors prepared for searching. They are small, and a sheet is compared with every style's."""
    return _banked(anchors, search)


@lru_cache(maxsize=3 * STYLES_KEPT)
def _banks_of(patches: tuple[Patch, ...], search: int) -> tuple[Banked, ...]:
    return _banked(patches, search)


def _banked(patches: tuple[Patch, ...], search: int) -> tuple[Banked, ...]:
    """Return the patches prepared for searching, those of one size together."""
    sizes: dict[tuple[int, ...], list[int]] = {}
    for index, patch in enumerate(patches):
        sizes.setdefault(patch.pixels.shape, []).append(index)
    groups: list[Banked] = []
    for members in sizes.values():
        bank = bank_of([patches[index].pixels for index in members], 2 * search + 1)
        corners = np.array([(patches[index].left, patches[index].top) for index in members], np.float64)
        groups.append(Banked(members, corners + bank.middle, bank))
    return tuple(groups)


@dataclass(frozen=True, slots=True)
class Search:
    """What one registration looks for: its patches, on its pyramid, close to where its map puts them."""

    pyramid: Pyramid
    sheet_map: SheetMap
    patches: tuple[Patch, ...]


def look_for(searches: Sequence[Search], patch_level: int, reach: int) -> list[Votes]:
    """Search each patch `reach` pixels of its level around where its registration's map puts it.

    The registrations' patches are searched in one go, which costs less, each in the ground of its own
    pyramid: nothing of one is used for another.
    """
    step = float(1 << patch_level)
    owners = [search for search in searches for _ in search.patches]
    patches = tuple(patch for search in searches for patch in search.patches)
    count = len(patches)
    source, goal, offsets = np.empty((count, 2)), np.empty((count, 2)), np.empty((count, 2))
    scores, windows = np.empty(count), dict[int, Grey]()
    for group in _banks_of(patches, reach):
        members, bank = group.members, group.bank
        middles = group.middles * step + (step - 1) / 2
        high, wide = bank.window
        stack = np.empty((len(members), high, wide), np.uint8)
        half = np.array([(wide - 1) / 2, (high - 1) / 2])
        places, affines = np.empty((len(members), 2)), np.empty((len(members), 2, 2))
        for search in searches:
            own = [row for row, index in enumerate(members) if owners[index] is search]
            if not own:
                continue
            part = slice(own[0], own[-1] + 1)
            places[part], affines[part] = search.sheet_map.local_affines(middles[part])
            _fill_windows(stack[part], search, places[part], affines[part], half, step)
        x, y, scores[members] = bank.find(stack)
        away = (_points(x, y) - reach) * step
        source[members], offsets[members] = middles, away
        goal[members] = places + (affines @ away[:, :, None])[:, :, 0]
        windows.update(zip(members, stack, strict=True))
    return _parted(searches, source, goal, scores, offsets, windows)


def _fill_windows(
    stack: NDArray[np.uint8], search: Search, middles: Points, affines: Points, half: Points, step: float
) -> None:
    """Fill a stack with the sheet's ground round these points of the sheet, as the blank lies."""
    level = level_for(search.pyramid, step, search.sheet_map.scale)
    factor, offset = search.pyramid.to_page(level)
    matrices = np.empty((len(middles), 2, 3))
    matrices[:, :, :2] = affines * (step / factor)
    matrices[:, :, 2] = (middles - offset) / factor - matrices[:, :, :2] @ half
    ground = search.pyramid.levels[level]
    for place, matrix in zip(stack, matrices, strict=True):
        warp_into(place, ground, matrix)


def _parted(
    searches: Sequence[Search],
    source: Points,
    goal: Points,
    scores: Points,
    offsets: Points,
    windows: Mapping[int, Grey],
) -> list[Votes]:
    """Return for each search its own votes of all the patches'."""
    votes: list[Votes] = []
    start = 0
    for search in searches:
        end = start + len(search.patches)
        part = slice(start, end)
        own = tuple(windows[index] for index in range(start, end))
        votes.append(Votes(source[part], goal[part], scores[part], own, offsets[part]))
        start = end
    return votes


@dataclass(frozen=True, slots=True)
class Fit:
    """A map that votes agree on. Offsets and distances are pixels of the blank, one for each vote."""

    sheet_map: SheetMap
    offsets: Points
    """Where the map puts each patch, minus where it was expected when it was searched."""
    distances: Points
    """How far from there each patch was found."""


def fit(
    votes: Sequence[Votes],
    priors: Sequence[SheetMap],
    lowest: float,
    tolerance_px: float = _OUTLIER_PX,
    first_order: float = _FIRST_ORDER_STIFFNESS,
    second_order: float = _SECOND_ORDER_STIFFNESS,
) -> list[Fit]:
    """Return for each registration the map that its votes agree on, and how each vote stands to it.

    Votes below the correlation `lowest` have no say. Votes far from the others lose theirs step by step
    (Tukey's weights, from a wide start). The corrections to the priors are held small by ridges where votes
    are few. Registrations are fitted in one go, which costs less; nothing of one is used for another.
    """
    shape = (len(votes), max(len(one.scores) for one in votes))
    terms, wanted, strength = np.zeros((*shape, TERMS)), np.zeros((*shape, 2)), np.zeros(shape)
    placed, widest, turns = np.zeros((*shape, 2)), np.empty((len(votes), 1)), list[Points]()
    for row, (one, prior) in enumerate(zip(votes, priors, strict=True)):
        _, _, a, b, c, d = prior.local_affine(prior.frame[0], prior.frame[1])
        turns.append(np.array([[a, b], [c, d]]))
        back = np.array([[d, -c], [-b, a]]) / (a * d - b * c)
        count = len(one.scores)
        terms[row, :count] = own = _terms(one.source, prior.frame)
        wanted[row, :count] = apart = (one.goal - own @ prior.matrix) @ back
        strength[row, :count] = np.where(one.scores >= lowest, np.maximum(one.scores, 0.0) ** 2, 0.0)
        use = strength[row, :count] > 0
        if use.any():
            placed[row] = median(apart[use, 0]), median(apart[use, 1])
        away = _lengths(apart - placed[row, :count])
        widest[row] = max(4.0 * tolerance_px, 3.0 * median(away))
    ridge = np.diag([1e-6, first_order, first_order, second_order, second_order, second_order])
    corrections = np.zeros((len(votes), TERMS, 2))
    corrections[:, 0] = placed[:, 0]
    distance = _lengths(wanted - placed)
    for reach in (widest, 3.0 * tolerance_px, 2.0 * tolerance_px, 2.0 * tolerance_px):
        weights = strength * np.maximum(1 - (distance / reach) ** 2, 0.0) ** 2
        weighted = (terms * weights[:, :, None]).transpose(0, 2, 1)
        normals, values = weighted @ terms + ridge, weighted @ wanted
        for row in np.flatnonzero(weights.sum(axis=1) >= _LEAST_WEIGHT).tolist():
            corrections[row] = solved(normals[row], values[row])
        placed = terms @ corrections
        distance = _lengths(wanted - placed)
    fits: list[Fit] = []
    for row, (one, prior) in enumerate(zip(votes, priors, strict=True)):
        coefficients = prior.matrix.T + (corrections[row] @ turns[row].T).T
        fitted = SheetMap(tuple(coefficients.ravel().tolist()), prior.frame)
        count = len(one.scores)
        fits.append(Fit(fitted, placed[row, :count], distance[row, :count]))
    return fits
