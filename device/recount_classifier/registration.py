"""Where the blank's points lie on a sheet: coarse over the whole page, then ever closer at the contest.

A registration is twelve numbers: for each of x and y on the sheet the coefficients of 1, u, v, uv, u2, v2,
where (u, v) are the blank's coordinates in the contest's own frame (`Style.frame`). The second-order terms
take what rollers and lenses do to paper near the contest; they are held close to zero unless the print
demands them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recount_classifier.matching import Bank, Places, bank_of, find
from recount_classifier.program import STYLES_KEPT, Patch
from recount_classifier.pyramid import Matrix, Pyramid
from recount_classifier.raster import Grey, solved, warp_into

Points = NDArray[np.float64]
Frame = tuple[float, float, float]
"""Middle (x, y) and scale of the registration's own coordinates (`Style.frame`)."""
Registration = tuple[float, ...]
"""The coefficients of x before those of y: twelve, or twenty where a lens calibration was used."""

TERMS = 6
BENT_TERMS = 10
"""With a lens calibration u3, u2v, uv2 and v3 follow: a lens bends by the cube of the distance."""
_SECOND_ORDER_STIFFNESS = 0.15
"""Ridge on the second-order terms, in patches: with ten patches they follow the paper, with four hardly."""
_FIRST_ORDER_STIFFNESS = 0.01
_STILL = np.eye(3)
_STEADY = np.diag((1e-9, 1e-9, 1e-9))
_NEAR = 2
"""How far print near the contest mostly is from where anchors or landmarks put it: it is tried first."""
_LARGEST_TURN = np.tan(0.16)
_OUTLIER_PX = 1.5
"""Distance at which a patch's vote begins to fade."""
_GRID = 9
"""Points a side at which a bent map is met by a polynomial."""
_HARDLY_HELD = np.diag(np.full(BENT_TERMS, 1e-9))
_LEAST_WEIGHT = 1e-3
"""Votes that weigh less together move nothing."""


_SURE_MATCH = 0.7
"""Correlation from which an anchor is surely found, wherever that is."""
_FAR_OFF = 3.0
"""In 1/16 pixels, 6 mm: no stretch or fold moves print so far."""


@dataclass(frozen=True, slots=True)
class Coarse:
    """A whole-page placement: `matrix` takes the blank's pixels to the picture's."""

    matrix: Matrix
    agreeing: int
    anchors: int
    match: float
    elsewhere: int
    """Of the anchors that do not agree, how many put the page into one other place: two sheets do."""

    @property
    def share(self) -> float:
        """Return the share of the anchors that agree."""
        return self.agreeing / max(1, self.anchors)

    @property
    def weight(self) -> float:
        """Return what two placements are compared by."""
        return self.share * self.match


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
    again = _lengths(placed - found) < 1.6
    if int(again.sum()) > int(inliers.sum()):
        matrix[:2] = _fit_affine(reference[again], found[again], scores[again])
        inliers = again
    placed = reference @ matrix[:2, :2].T + matrix[:2, 2]
    missed = (found - placed)[~inliers & (scores >= _SURE_MATCH)]
    return Coarse(matrix, int(inliers.sum()), anchors, median(scores[inliers]), _of_one_mind(missed))


def _of_one_mind(missed: Points) -> int:
    """Return how many of the anchors that lie off by `missed` lie off, far, by the same."""
    far = _complex(missed[_lengths(missed) > _FAR_OFF])
    return int((np.abs(far[:, None] - far) < 1.6).sum(axis=1).max(initial=0))


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
    """Return the median of a few values (numpy's own takes twenty times as long for so few)."""
    ordered: list[float] = sorted(values.tolist())
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


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
    """What a set of patches found: where they are on the blank and on the sheet, and how well each fitted."""

    terms: Points
    """Those of the registration (`TERMS`) at the blank's points."""
    goal: Points
    scores: Points
    windows: tuple[Grey, ...]
    """The ground each patch was searched in, as the blank lies."""
    offsets: Points
    """Where in its window each patch lay, minus where it was expected."""


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
        return fitted, float(_lengths(terms @ fitted.matrix - goal).max())


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


@dataclass(frozen=True, slots=True, eq=False)
class Banked:
    """Patches of one size prepared for searching."""

    members: NDArray[np.intp]
    """Which of all the patches they are."""
    middles: Points
    """On the blank, in pixels of the patches' level."""
    bank: Bank


@lru_cache(maxsize=64)
def anchor_banks(anchors: tuple[Patch, ...], search: int) -> tuple[Banked, ...]:
    """Return anchors prepared for searching. They are small, and a sheet is compared with every style's."""
    return _banked(anchors, search, search)


def _banked(patches: tuple[Patch, ...], search: int, near: int) -> tuple[Banked, ...]:
    """Return the patches prepared for searching, those of one size together."""
    sizes: dict[tuple[int, ...], list[int]] = {}
    for index, patch in enumerate(patches):
        sizes.setdefault(patch.pixels.shape, []).append(index)
    groups: list[Banked] = []
    for members in sizes.values():
        bank = bank_of([patches[index].pixels for index in members], 2 * search + 1, 2 * near + 1)
        corners = np.array([(patches[index].left, patches[index].top) for index in members], np.float64)
        groups.append(Banked(np.array(members), corners + bank.middle, bank))
    return tuple(groups)


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """The patches of one registration or two, prepared to be searched in one go."""

    groups: tuple[Banked, ...]
    parts: tuple[slice, ...]
    """Which of the patches are each registration's."""
    terms: Points
    halves: Points
    """Half of each patch's window, from its first pixel's middle to its last's."""


@lru_cache(maxsize=3 * STYLES_KEPT)
def _plan_of(paths: tuple[tuple[Patch, ...], ...], step: float, reach: int, frame: Frame) -> _Plan:
    """Return the patches of these registrations prepared for searching near the contest."""
    patches = tuple(patch for path in paths for patch in path)
    groups = _banked(patches, reach, _NEAR)
    middles, halves = np.empty((len(patches), 2)), np.empty((len(patches), 2))
    for group in groups:
        high, wide = group.bank.window
        middles[group.members], halves[group.members] = group.middles, ((wide - 1) / 2, (high - 1) / 2)
    ends = np.cumsum([0, *(len(path) for path in paths)]).tolist()
    parts = tuple(slice(*both) for both in pairwise(ends))
    return _Plan(groups, parts, terms_of(middles * step + (step - 1) / 2, frame), halves)


@dataclass(frozen=True, slots=True)
class Search:
    """What one registration looks for: its patches, on its pyramid, close to where its map puts them."""

    pyramid: Pyramid
    sheet_map: SheetMap | BentMap
    patches: tuple[Patch, ...]


def look_for(searches: Sequence[Search], patch_level: int, reach: int) -> list[Votes]:
    """Search each patch `reach` pixels of its level around where its registration's map puts it.

    The registrations' patches are searched in one go, which costs less, each in the ground of its own
    pyramid: nothing of one is used for another.
    """
    step = float(1 << patch_level)
    frame = searches[0].sheet_map.frame
    plan = _plan_of(tuple(search.patches for search in searches), step, reach, frame)
    count = len(plan.terms)
    windows: list[Grey] = [_NO_GROUND] * count
    stacks: list[NDArray[np.uint8]] = []
    for group in plan.groups:
        stack = np.empty((len(group.members), *group.bank.window), np.uint8)
        stacks.append(stack)
        for index, window in zip(group.members.tolist(), stack, strict=True):
            windows[index] = window
    goal, affines = np.empty((count, 2)), np.empty((count, 2, 2))
    for search, part in zip(searches, plan.parts, strict=True):
        own = (plan.terms[part], plan.halves[part], step)
        goal[part], affines[part] = sample(windows[part], search.pyramid, search.sheet_map, *own)
    away, scores = np.empty((count, 2)), np.empty(count)
    for group, stack in zip(plan.groups, stacks, strict=True):
        away[group.members, 0], away[group.members, 1], scores[group.members] = group.bank.find(stack)
    away -= reach
    away *= step
    goal += (affines @ away[:, :, None])[:, :, 0]
    return [
        Votes(plan.terms[part], goal[part], scores[part], tuple(windows[part]), away[part])
        for part in plan.parts
    ]


_NO_GROUND = np.zeros((0, 0), np.uint8)


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
    count = max(len(one.scores) for one in votes)
    terms, wanted, strength = (np.zeros((len(votes), count, last)) for last in (TERMS, 2, 1))
    placed, widest, turns = np.zeros((len(votes), 1, 2)), list[float](), list[Points]()
    for row, (one, prior) in enumerate(zip(votes, priors, strict=True)):
        _, _, a, b, c, d = prior.local_affine(prior.frame[0], prior.frame[1])
        turns.append(np.array([[a, b], [c, d]]))
        back = np.array([[d, -c], [-b, a]]) / (a * d - b * c)
        own = slice(len(one.scores))
        terms[row, own] = one.terms
        wanted[row, own] = apart = (one.goal - one.terms @ prior.matrix) @ back
        strength[row, own, 0] = np.where(one.scores >= lowest, np.maximum(one.scores, 0.0) ** 2, 0.0)
        use = strength[row, own, 0] > 0
        if use.any():
            fair = apart[use].T
            placed[row] = median(fair[0]), median(fair[1])
        widest.append(max(4.0 * tolerance_px, 3.0 * median(_lengths(apart - placed[row]))))
    both = np.concatenate([terms, wanted], axis=2)
    ridge = np.diag([1e-6, first_order, first_order, second_order, second_order, second_order])
    corrections = np.zeros((len(votes), TERMS, 2))
    corrections[:, 0] = placed[:, 0]
    distance = _lengths(wanted - placed)
    wide, close = np.array(widest)[:, None], 2.0 * tolerance_px
    for reach in (wide, 3.0 * tolerance_px, close, close):
        weights = np.maximum(1 - (distance / reach) ** 2, 0.0)[:, :, None]
        weights = strength * weights * weights
        sums = (terms * weights).transpose(0, 2, 1) @ both
        for row, heavy in enumerate((weights.sum(axis=1) >= _LEAST_WEIGHT).ravel().tolist()):
            if heavy:
                corrections[row] = solved(sums[row, :, :TERMS] + ridge, sums[row, :, TERMS:])
        placed = terms @ corrections
        distance = _lengths(wanted - placed)
    fits: list[Fit] = []
    for row, (one, prior) in enumerate(zip(votes, priors, strict=True)):
        coefficients = prior.matrix.T + (corrections[row] @ turns[row].T).T
        fitted = SheetMap(tuple(coefficients.ravel().tolist()), prior.frame)
        own = slice(len(one.scores))
        fits.append(Fit(fitted, placed[row, own], distance[row, own]))
    return fits
