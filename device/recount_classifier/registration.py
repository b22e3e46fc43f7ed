"""Where the blank's points lie on a sheet, close to the contest: print is looked for, and a map fitted to it.

The second-order terms of a registration (`sheet_map.py`) take what rollers and lenses do to paper near the
contest; they are held close to zero unless the print demands them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recount_classifier.banks import Banked, banked
from recount_classifier.points import Points, lengths, median
from recount_classifier.program import STYLES_KEPT, Patch
from recount_classifier.pyramid import Pyramid
from recount_classifier.raster import Grey, solved
from recount_classifier.sheet_map import TERMS, BentMap, Frame, SheetMap, sample, terms_of

_SECOND_ORDER_STIFFNESS = 0.15
"""Ridge on the second-order terms, in patches: with ten patches they follow the paper, with four hardly."""
_FIRST_ORDER_STIFFNESS = 0.01
_NEAR = 2
"""How far print near the contest mostly is from where anchors or landmarks put it: it is tried first."""
_OUTLIER_PX = 1.5
"""Distance at which a patch's vote begins to fade."""
_LEAST_WEIGHT = 1e-3
"""Votes that weigh less together move nothing."""


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
    groups = banked(patches, reach, _NEAR)
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
        widest.append(max(4.0 * tolerance_px, 3.0 * median(lengths(apart - placed[row]))))
    both = np.concatenate([terms, wanted], axis=2)
    ridge = np.diag([1e-6, first_order, first_order, second_order, second_order, second_order])
    corrections = np.zeros((len(votes), TERMS, 2))
    corrections[:, 0] = placed[:, 0]
    distance = lengths(wanted - placed)
    wide, close = np.array(widest)[:, None], 2.0 * tolerance_px
    for reach in (wide, 3.0 * tolerance_px, close, close):
        weights = np.maximum(1 - (distance / reach) ** 2, 0.0)[:, :, None]
        weights = strength * weights * weights
        sums = (terms * weights).transpose(0, 2, 1) @ both
        for row, heavy in enumerate((weights.sum(axis=1) >= _LEAST_WEIGHT).ravel().tolist()):
            if heavy:
                corrections[row] = solved(sums[row, :, :TERMS] + ridge, sums[row, :, TERMS:])
        placed = terms @ corrections
        distance = lengths(wanted - placed)
    fits: list[Fit] = []
    for row, (one, prior) in enumerate(zip(votes, priors, strict=True)):
        coefficients = prior.matrix.T + (corrections[row] @ turns[row].T).T
        fitted = SheetMap(tuple(coefficients.ravel().tolist()), prior.frame)
        own = slice(len(one.scores))
        fits.append(Fit(fitted, placed[row, own], distance[row, own]))
    return fits
