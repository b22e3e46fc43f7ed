"""From a blank ballot and its numbers to a style: chooses the print that registration and proof look for.

The two registration paths get disjoint print: no pixel of the blank belongs to patches of both. No landmark
lies where a voter may write. A blank on which this cannot be done is refused in words (BlankError).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_classifier.errors import BlankError
from recount_classifier.matching import ALIKE, find
from recount_classifier.program import ANCHOR_LEVEL, LANDMARK_LEVEL, WORKING_DPI, Patch, Path, Style, Target
from recount_classifier.pyramid import build_pyramid
from recount_classifier.raster import (
    Float,
    Grey,
    corner_energy,
    correlation,
    either,
    highest,
    resized,
    window_means,
)

Box = tuple[float, float, float, float]

ANCHORS_PX = (16, 12, 8)
"""Sides of the anchors: a page with little print on it has room for small ones only."""
ANCHOR_SEARCH = 9
LANDMARK_PX, LANDMARK_SEARCH = 20, 6
DETAIL_WIDTH, DETAIL_HEIGHT, DETAIL_SEARCH = 48, 32, 5
LABEL_WIDTH, LABEL_HEIGHT = 96, 32
REFERENCE_MARGIN = 24
"""Ground kept round the contest's box, in pixels (3 mm): lines and marks are followed into it. No wider: what
stands beside the contest is nobody's business in its recount."""

_SHEET_EDGE_PX = 24
"""3 mm along the sheet's edge, which scanners cut off: they belong to a contest where its targets do."""
_ANCHORS, _LANDMARKS = 13, 9
_WIDE_DETAILS = (8, 9)
_BESIDE_PX = 110
"""A target with a patch of the second path this close needs no other."""
_FEWEST_ANCHORS, _FEWEST_LANDMARKS, _FEWEST_DETAILS = 6, 4, 4
_LABEL_LIKENESS = 0.8
_BARE_SHARE = 0.1
"""Of the page's most telling print, what the best beside a target has at least: paper's grain has less."""
_NAME_REACH_PX = 0.6 * WORKING_DPI
"""How far the print of a name may be above or under its target, where nothing stands beside it."""
_ONE_PLACE_PX = 2
"""How far from its own place a patch may still be like itself. What has its like further on, as a piece of a
rule has all along the rule, could be found there: it tells no place."""
_TRIES = 40
"""Places looked at for each patch that is wanted."""
_SMALLEST_TARGET = 4
"""Pixels of the blank."""
_DECK_MARK_MM = (20, 5)
"""The least place for the TEST mark: TEST and a sheet code in 10 points."""
_DECK_MARK_PAPER = 0.75
_DECK_MARK_EMPTY_MM2 = 0.3
"""What is darker than this share of the paper is print; so much of it is dust of the blank's scan."""
_TARGETS_APART = 1.2
"""Distance of two targets' middles, in target widths or heights."""


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """A target as the spec gives it, in pixels of the blank."""

    option: str
    write_in: bool
    box: Box
    """Left, top, width, height."""


@dataclass(frozen=True, slots=True)
class StyleSpec:
    """A style as the spec gives it, in pixels of the blank."""

    id: str
    side: str
    dpi: float
    box: Box
    write_in_areas: tuple[Box, ...]
    targets: tuple[TargetSpec, ...]
    test_mark: Box | None = None


_Placed = tuple[TargetSpec, float, float, float, float]
"""A target and its left, top, width and height in working pixels."""


def compile_style(spec: StyleSpec, blank: Grey, other_side: Grey | None) -> Style:
    """Return the style of the contest on `blank`.

    Raises BlankError for a target or area outside the page or the contest's box, targets that overlap, too
    little print to find the page or the contest by, and labels too alike.
    """
    _check_places(spec, blank)
    factor = WORKING_DPI / spec.dpi
    page = _at_working_dpi(blank, factor)
    height, width = page.shape
    box = _off_the_edge(_outer(spec.box, factor, width, height), spec, factor, width, height)
    areas = tuple(_outer(area, factor, width, height) for area in spec.write_in_areas)
    targets = [
        (t, t.box[0] * factor, t.box[1] * factor, t.box[2] * factor, t.box[3] * factor) for t in spec.targets
    ]
    marked = np.zeros(page.shape, np.uint8)
    for _, left, top, wide, high in targets:
        _fill(marked, left - 0.45 * wide, top - 0.6 * high, left + 1.45 * wide, top + 1.6 * high)
    writing = np.zeros(page.shape, np.uint8)
    for area in areas:
        _fill(writing, *area)
    energy = corner_energy(page, 1.0, 5)

    labels = _choose_labels(spec, targets, page, energy, box, marked, writing)
    taken = np.zeros(page.shape, np.uint8)
    for label in labels:
        _fill(taken, label.left, label.top, label.left + LABEL_WIDTH, label.top + LABEL_HEIGHT)
    likeness = _likeness(spec, labels)

    closed = either(marked, writing)
    first_details, second_details = _choose_details(spec, targets, page, energy, box, closed, taken)
    first_landmarks, second_landmarks = _choose_landmarks(spec, page, box, closed)
    first_anchors, second_anchors = _choose_anchors(page, spec.id)
    margin = REFERENCE_MARGIN
    reference_box = (
        max(0, box[0] - margin),
        max(0, box[1] - margin),
        min(width, box[2] + margin),
        min(height, box[3] + margin),
    )
    return Style(
        id=spec.id,
        side=spec.side,
        width=width,
        height=height,
        box=box,
        write_in_areas=areas,
        targets=tuple(
            Target(t.option, left, top, wide, high, index)
            for index, (t, left, top, wide, high) in enumerate(targets)
        ),
        reference=page[reference_box[1] : reference_box[3], reference_box[0] : reference_box[2]].copy(),
        reference_box=reference_box,
        paths=(
            Path(first_anchors, first_landmarks, (*labels, *first_details)),
            Path(second_anchors, second_landmarks, second_details),
        ),
        other_side=() if other_side is None else _other_anchors(other_side, factor),
        test_mark=None if spec.test_mark is None else _outer(spec.test_mark, factor, width, height),
        label_likeness=likeness,
    )


# -- the spec's numbers --------------------------------------------------------------------------------------


def _check_places(spec: StyleSpec, blank: Grey) -> None:
    """Refuse places that lie outside what they must lie inside, and targets that cannot be told apart."""
    height, width = blank.shape
    page = (0.0, 0.0, float(width), float(height))
    on_page = f"on the page, which is {width} x {height} pixels"
    in_box = f"inside the contest_box {_words(spec.box)}"
    _demand(_holds(page, spec.box), spec, f"contest_box {_words(spec.box)} is not {on_page}")
    for target in spec.targets:
        left, top, wide, high = target.box
        edges = (left, top, left + wide, top + high)
        name = f"the target {_words(target.box)} of {target.option}"
        _demand(wide >= _SMALLEST_TARGET and high >= _SMALLEST_TARGET, spec, f"{name} is too small")
        _demand(_holds(page, edges), spec, f"{name} is not {on_page}")
        _demand(_holds(spec.box, edges), spec, f"{name} is not {in_box}")
    for area in spec.write_in_areas:
        _demand(_holds(spec.box, area), spec, f"the write-in area {_words(area)} is not {in_box}")
    for one, other in combinations([target.box for target in spec.targets], 2):
        _demand(_apart(one, other), spec, f"the targets {_words(one)} and {_words(other)} are too close")
    if spec.test_mark is not None:
        mark, box = spec.test_mark, spec.box
        outside = mark[0] >= box[2] or mark[2] <= box[0] or mark[1] >= box[3] or mark[3] <= box[1]
        _demand(_holds(page, mark), spec, f"test_mark {_words(mark)} is not {on_page}")
        _demand(outside, spec, f"test_mark {_words(mark)} must lie outside the contest_box")
        _check_deck_mark(spec, mark, blank)


def _check_deck_mark(spec: StyleSpec, mark: Box, blank: Grey) -> None:
    """Refuse a place for the TEST mark that is too small for its print, or not empty on the blank."""
    left, top, right, bottom = (round(edge) for edge in mark)
    wide_mm, high_mm = ((right - left) / spec.dpi * 25.4, (bottom - top) / spec.dpi * 25.4)
    least_wide, least_high = _DECK_MARK_MM
    _demand(
        wide_mm >= least_wide and high_mm >= least_high,
        spec,
        f"test_mark {_words(mark)} is {wide_mm:.0f} x {high_mm:.0f} mm; TEST and a sheet code need "
        f"{least_wide} x {least_high} mm",
    )
    place = blank[top:bottom, left:right]
    ink = int(np.count_nonzero(place < _DECK_MARK_PAPER * float(np.percentile(blank, 90))))
    mm2 = ink * (25.4 / spec.dpi) ** 2
    _demand(
        mm2 < _DECK_MARK_EMPTY_MM2,
        spec,
        f"test_mark {_words(mark)} is not empty on the blank: {mm2:.1f} square millimetres are printed there",
    )


def _demand(fulfilled: bool, spec: StyleSpec, complaint: str) -> None:
    if not fulfilled:
        raise BlankError(f"style {spec.id}: {complaint}")


def _holds(outer: Box, inner: Box) -> bool:
    """Return whether a box (left, top, right, bottom) with some extent lies inside another."""
    return outer[0] <= inner[0] < inner[2] <= outer[2] and outer[1] <= inner[1] < inner[3] <= outer[3]


def _apart(one: Box, other: Box) -> bool:
    """Return whether two targets (left, top, width, height) leave room between them to tell marks apart."""
    apart_x = abs((one[0] + one[2] / 2) - (other[0] + other[2] / 2)) / max(one[2], other[2])
    apart_y = abs((one[1] + one[3] / 2) - (other[1] + other[3] / 2)) / max(one[3], other[3])
    return apart_x >= _TARGETS_APART or apart_y >= _TARGETS_APART


def _words(box: Sequence[float]) -> str:
    return "[" + ", ".join(f"{number:g}" for number in box) + "]"


def _at_working_dpi(blank: Grey, factor: float) -> Grey:
    if abs(factor - 1) < 1e-9:
        return np.ascontiguousarray(blank)
    height, width = blank.shape
    kind = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return resized(blank, round(width * factor), round(height * factor), kind)


def _outer(box: Box, factor: float, width: int, height: int) -> tuple[int, int, int, int]:
    left, top, right, bottom = (number * factor for number in box)
    return (
        max(0, int(left)),
        max(0, int(top)),
        min(width, int(np.ceil(right))),
        min(height, int(np.ceil(bottom))),
    )


def _off_the_edge(
    box: tuple[int, int, int, int], spec: StyleSpec, factor: float, width: int, height: int
) -> tuple[int, int, int, int]:
    """Return the contest's box without the sheet's edge, but with all of its targets and write-in areas."""
    inside = [_outer(area, factor, width, height) for area in spec.write_in_areas]
    for left, top, wide, high in (target.box for target in spec.targets):
        inside.append(_outer((left, top, left + wide, top + high), factor, width, height))
    edge = _SHEET_EDGE_PX
    return (
        max(box[0], min(edge, *(one[0] for one in inside))),
        max(box[1], min(edge, *(one[1] for one in inside))),
        min(box[2], max(width - edge, *(one[2] for one in inside))),
        min(box[3], max(height - edge, *(one[3] for one in inside))),
    )


def _fill(mask: NDArray[np.uint8], left: float, top: float, right: float, bottom: float) -> None:
    mask[max(0, int(top)) : max(0, int(np.ceil(bottom))), max(0, int(left)) : max(0, int(np.ceil(right)))] = 1


# -- choosing print ------------------------------------------------------------------------------------------


def _blocked(mask: NDArray[np.uint8], width: int, height: int) -> NDArray[np.bool_]:
    """Return for each top left corner whether the window touches the mask."""
    area = window_means(mask.astype(np.float32), width, height) * (width * height)
    return area > 0.5


def _pick(
    page: Grey,
    energy: Float,
    closed: NDArray[np.uint8],
    size: tuple[int, int],
    counts: tuple[int, int],
    search: int,
    spread: float,
    least_contrast: float = 10.0,
) -> tuple[tuple[Patch, ...], tuple[Patch, ...]]:
    """Choose disjoint patches for both paths in turn: textured, unlike what is near, far from each other."""
    width, height = size
    x0, y0, x1, y1 = _open_part(closed)
    worth = window_means(np.ascontiguousarray(energy[y0:y1, x0:x1]), width, height)
    worth[_blocked(np.ascontiguousarray(closed[y0:y1, x0:x1]), width, height)] = 0
    worth = np.sqrt(worth)
    # What each path would take next: worth, less where it has patches already, none where either has.
    ranked = (worth, worth.copy())
    away_least = (np.ones_like(worth), np.ones_like(worth))
    rows, columns = np.mgrid[0 : worth.shape[0], 0 : worth.shape[1]].astype(np.float32)
    chosen: tuple[list[Patch], list[Patch]] = ([], [])
    for _ in range(_TRIES * sum(counts)):
        wanting = [path for path in (0, 1) if len(chosen[path]) < counts[path]]
        if not wanting:
            break
        path = min(wanting, key=lambda candidate: len(chosen[candidate]))
        best, x, y = highest(ranked[path])
        if best <= 0:
            break
        patch = page[y0 + y : y0 + y + height, x0 + x : x0 + x + width]
        if float(patch.std()) < least_contrast or _repeats(page, x0 + x, y0 + y, patch, search):
            for rank in ranked:
                rank[max(0, y - 3) : y + 4, max(0, x - 3) : x + 4] = 0
            continue
        chosen[path].append(Patch(x0 + x, y0 + y, patch.copy()))
        away = np.clip(np.hypot(columns - x, rows - y) / np.float32(spread), 0.05, 1.0)
        nearer = np.minimum(away_least[path], away)
        np.multiply(ranked[path], nearer / away_least[path], out=ranked[path])
        away_least[path][:] = nearer
        for rank in ranked:
            rank[max(0, y - height + 1) : y + height, max(0, x - width + 1) : x + width] = 0
    return tuple(chosen[0]), tuple(chosen[1])


def _open_part(closed: NDArray[np.uint8]) -> tuple[int, int, int, int]:
    """Return the smallest rectangle (left, top, right, bottom) with all that is not closed."""
    rows, columns = np.flatnonzero((closed == 0).any(axis=1)), np.flatnonzero((closed == 0).any(axis=0))
    if len(rows) == 0:
        return 0, 0, 1, 1
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _repeats(page: Grey, x: int, y: int, patch: Grey, search: int) -> bool:
    """Whether something much like the patch stands within the search range: it could be mistaken for it."""
    height, width = patch.shape
    left, top = max(0, x - search), max(0, y - search)
    ground = page[top : y + height + search, left : x + width + search]
    scores = correlation(ground, patch)
    scores[~np.isfinite(scores)] = 0
    own_x, own_y = x - left, y - top
    near = _ONE_PLACE_PX
    scores[max(0, own_y - near) : own_y + near + 1, max(0, own_x - near) : own_x + near + 1] = -1
    return bool(scores.max() > ALIKE)


def _choose_anchors(page: Grey, style_id: str) -> tuple[tuple[Patch, ...], tuple[Patch, ...]]:
    """Return the whole-page anchors of both paths, in 1/16 pixels."""
    paths = _pick_anchors(page)
    if min(len(path) for path in paths) < _FEWEST_ANCHORS:
        height, width = (side / WORKING_DPI for side in page.shape)
        raise BlankError(
            f"style {style_id}: the blank has too little print to find the page by "
            f"({len(paths[0])} and {len(paths[1])} places; needed: {_FEWEST_ANCHORS}). By the spec's dpi the "
            f"page is {width:.1f} x {height:.1f} inches: if that is not its size, correct dpi"
        )
    return paths


def _other_anchors(other_side: Grey, factor: float) -> tuple[Patch, ...]:
    """Return the other side's anchors; none when it bears too little print to be known by."""
    paths = _pick_anchors(_at_working_dpi(other_side, factor))
    anchors = paths[0] + paths[1]
    return anchors if len(anchors) >= _FEWEST_ANCHORS else ()


def _pick_anchors(page: Grey) -> tuple[tuple[Patch, ...], tuple[Patch, ...]]:
    low = build_pyramid(page, ANCHOR_LEVEL, 0).levels[-1]
    energy = corner_energy(low, 0.8, 3)
    nowhere_closed = np.zeros(low.shape, np.uint8)
    spread = float(np.hypot(*low.shape)) / 4
    counts = (_ANCHORS, _ANCHORS)
    paths: tuple[tuple[Patch, ...], tuple[Patch, ...]] = ((), ())
    for side in ANCHORS_PX:
        paths = _pick(low, energy, nowhere_closed, (side, side), counts, ANCHOR_SEARCH, spread, 6.0)
        if min(len(path) for path in paths) >= _FEWEST_ANCHORS:
            break
    return paths


def _choose_landmarks(
    spec: StyleSpec, page: Grey, box: tuple[int, int, int, int], closed: NDArray[np.uint8]
) -> tuple[tuple[Patch, ...], tuple[Patch, ...]]:
    """Return the landmarks near the contest of both paths, in 1/4 pixels."""
    quarter = build_pyramid(page, LANDMARK_LEVEL, 0).levels[-1]
    energy = corner_energy(quarter, 0.8, 3)
    height, width = quarter.shape
    mask = resized(closed, width, height, cv2.INTER_NEAREST)
    paths: tuple[tuple[Patch, ...], tuple[Patch, ...]] = ((), ())
    for reach in (50, 100, 200, 4000):
        ground = _outside(mask, [edge / 4 for edge in box], reach)
        spread = (
            min(width, (box[2] - box[0]) / 4 + 2 * reach) + min(height, (box[3] - box[1]) / 4 + 2 * reach)
        ) / 6
        paths = _pick(
            quarter,
            energy,
            ground,
            (LANDMARK_PX, LANDMARK_PX),
            (_LANDMARKS, _LANDMARKS),
            LANDMARK_SEARCH,
            spread,
        )
        if min(len(path) for path in paths) >= _LANDMARKS:
            return paths
    if min(len(path) for path in paths) < _FEWEST_LANDMARKS:
        raise BlankError(f"style {spec.id}: there is too little print on the blank to find the contest by")
    return paths


def _choose_details(
    spec: StyleSpec,
    targets: Sequence[_Placed],
    page: Grey,
    energy: Float,
    box: tuple[int, int, int, int],
    closed: NDArray[np.uint8],
    labels: NDArray[np.uint8],
) -> tuple[tuple[Patch, ...], tuple[Patch, ...]]:
    """Return the full-resolution patches of both paths; the labels are the first path's already."""
    closed = either(closed, labels)
    size = (DETAIL_WIDTH, DETAIL_HEIGHT)
    around: tuple[tuple[Patch, ...], tuple[Patch, ...]] = (
        (),
        _beside_targets(targets, page, energy, box, closed),
    )
    for patch in around[1]:
        _fill(closed, patch.left, patch.top, patch.left + DETAIL_WIDTH, patch.top + DETAIL_HEIGHT)
    paths = around
    for reach in (24, 60, 120, 240, 480):
        spread = (box[2] - box[0] + box[3] - box[1] + 4 * reach) / 6
        wide = _pick(
            page, energy, _outside(closed, box, reach), size, _WIDE_DETAILS, DETAIL_SEARCH, spread, 14.0
        )
        paths = (around[0] + wide[0], around[1] + wide[1])
        if all(len(found) >= wanted for found, wanted in zip(wide, _WIDE_DETAILS, strict=True)):
            return paths
    if len(paths[1]) < _FEWEST_DETAILS:
        raise BlankError(
            f"style {spec.id}: there is too little print near the contest for a second registration"
        )
    return paths


def _beside_targets(
    targets: Sequence[_Placed], page: Grey, energy: Float, box: tuple[int, int, int, int], closed: Grey
) -> tuple[Patch, ...]:
    """Return the second path's print close to each target, as the labels are the first path's."""
    chosen: list[Patch] = []
    closed = closed.copy()
    size = (DETAIL_WIDTH, DETAIL_HEIGHT)
    for _, left, top, wide, high in targets:
        x, y = left + wide / 2, top + high / 2
        if any(np.hypot(p.left + 24 - x, p.top + 16 - y) < _BESIDE_PX for p in chosen):
            continue
        reach = 2 * _BESIDE_PX
        ground = _outside(closed, (x, y, x, y), reach)
        ground = either(ground, _outside(closed, box, 60))
        rows, columns = np.mgrid[0 : 2 * reach, 0 : 2 * reach].astype(np.float32) - reach
        near = np.zeros_like(energy)
        y0, x0 = max(0, int(y) - reach), max(0, int(x) - reach)
        part = energy[y0 : int(y) + reach, x0 : int(x) + reach]
        weight = 1 / (1 + (np.hypot(rows, columns) / 60) ** 2)
        near[y0 : int(y) + reach, x0 : int(x) + reach] = part * weight[-part.shape[0] :, -part.shape[1] :]
        for patch in _pick(page, near, ground, size, (0, 1), DETAIL_SEARCH, 80.0, 14.0)[1]:
            chosen.append(patch)
            _fill(closed, patch.left, patch.top, patch.left + DETAIL_WIDTH, patch.top + DETAIL_HEIGHT)
    return tuple(chosen)


def _outside(closed: NDArray[np.uint8], box: Sequence[float], reach: int) -> NDArray[np.uint8]:
    """Return `closed`, closed also beyond `reach` round the box."""
    mask = np.ones_like(closed)
    top, bottom = max(0, int(box[1]) - reach), int(box[3]) + reach
    left, right = max(0, int(box[0]) - reach), int(box[2]) + reach
    mask[top:bottom, left:right] = closed[top:bottom, left:right]
    return mask


# -- labels --------------------------------------------------------------------------------------------------


def _choose_labels(
    spec: StyleSpec,
    targets: Sequence[_Placed],
    page: Grey,
    energy: Float,
    box: tuple[int, int, int, int],
    marked: NDArray[np.uint8],
    writing: NDArray[np.uint8],
) -> tuple[Patch, ...]:
    """Return the most telling print beside each target, unlike that beside any target of another option."""
    width, height = LABEL_WIDTH, LABEL_HEIGHT
    worth = np.sqrt(window_means(energy, width, height))
    worth[_blocked(marked, width, height)] = 0
    # Print in a write-in area may be written over: taken only where there is no other.
    worth[_blocked(writing, width, height)] *= 0.5
    bare = _BARE_SHARE * float(worth.max())
    chosen: list[Patch] = []
    for index, (target, *_) in enumerate(targets):
        x0, y0, ground = _nearer_first(worth, targets[index], _beside(index, targets, box))
        if float(ground.max()) < bare:
            x0, y0, ground = _nearer_first(worth, targets[index], _cell(index, targets, box))
        patch = _distinct_label(target, page, ground, x0, y0, chosen, targets)
        if patch is None:
            raise BlankError(
                f"style {spec.id}: beside the target {_words(target.box)} of {target.option}, inside the "
                "contest_box, is no print that tells it from the other options (too little print, a label "
                "like another's, or a box that leaves the names out)"
            )
        chosen.append(patch)
    return tuple(chosen)


def _nearer_first(worth: Float, target: _Placed, room: tuple[int, int, int, int]) -> tuple[int, int, Float]:
    """Return the worth of each label whose top left corner lies in a room, less the further it is off.

    With the left and top of the room, which is one place at least.
    """
    _, left, top, wide, high = target
    x0, y0, x1, y1 = room
    ground = worth[y0 : max(y0, y1) + 1, x0 : max(x0, x1) + 1].copy()
    rows, columns = np.mgrid[0 : ground.shape[0], 0 : ground.shape[1]]
    gap = np.maximum(0, np.maximum(left - (columns + x0 + LABEL_WIDTH), columns + x0 - (left + wide)))
    drop = np.abs(rows + y0 + LABEL_HEIGHT / 2 - (top + high / 2))
    ground /= 1 + 0.004 * gap + 0.01 * drop
    return x0, y0, ground


def _beside(
    index: int, targets: Sequence[_Placed], box: tuple[int, int, int, int]
) -> tuple[int, int, int, int]:
    """Return where a label beside a target may begin (a box of corners): between the row's neighbours."""
    _, left, top, wide, high = targets[index]
    low, high_x = box[0], box[2]
    for _, o_left, o_top, o_wide, o_high in _others(index, targets):
        if abs((o_top + o_high / 2) - (top + high / 2)) > 1.2 * max(high, o_high):
            continue
        if o_left + o_wide <= left:
            low = max(low, int(o_left + o_wide))
        elif o_left >= left + wide:
            high_x = min(high_x, int(o_left))
    first = int(top + high / 2 - LABEL_HEIGHT / 2 - 0.13 * WORKING_DPI)
    last = int(top + high / 2 - LABEL_HEIGHT / 2 + 0.13 * WORKING_DPI)
    return low, max(box[1], first), high_x - LABEL_WIDTH, min(box[3] - LABEL_HEIGHT, last)


def _cell(
    index: int, targets: Sequence[_Placed], box: tuple[int, int, int, int]
) -> tuple[int, int, int, int]:
    """Return where a label above or under a target may begin (a box of corners), half way to neighbours.

    Up and down it goes to the column's neighbours, but no further than a name stands from its target.
    """
    _, left, top, wide, high = targets[index]
    x, y = left + wide / 2, top + high / 2
    low, high_x = float(box[0]), float(box[2])
    low_y, high_y = max(float(box[1]), y - _NAME_REACH_PX), min(float(box[3]), y + _NAME_REACH_PX)
    for _, o_left, o_top, o_wide, o_high in _others(index, targets):
        o_x, o_y = o_left + o_wide / 2, o_top + o_high / 2
        if abs(o_y - y) <= 1.2 * max(high, o_high):
            low, high_x = (max(low, (x + o_x) / 2), high_x) if o_x < x else (low, min(high_x, (x + o_x) / 2))
        elif abs(o_x - x) <= 1.2 * max(wide, o_wide):
            low_y, high_y = (max(low_y, o_top + o_high), high_y) if o_y < y else (low_y, min(high_y, o_top))
    return int(low), int(low_y), int(high_x) - LABEL_WIDTH, int(high_y) - LABEL_HEIGHT


def _others(index: int, targets: Sequence[_Placed]) -> Sequence[_Placed]:
    return [*targets[:index], *targets[index + 1 :]]


def _distinct_label(
    target: TargetSpec,
    page: Grey,
    worth: Float,
    x0: int,
    y0: int,
    chosen: Sequence[Patch],
    targets: Sequence[_Placed],
) -> Patch | None:
    rivals = [
        patch
        for patch, (other, *_) in zip(chosen, targets, strict=False)
        if other.option != target.option and not (other.write_in and target.write_in)
    ]
    floor = 0.25 * float(worth.max()) if worth.size else 0.0
    for _ in range(12):
        best, x, y = highest(worth)
        if best <= max(floor, 1e-4):
            return None
        left, top = x0 + x, y0 + y
        pixels = page[top : top + LABEL_HEIGHT, left : left + LABEL_WIDTH]
        if float(pixels.std()) >= 12 and all(
            _alike(pixels, rival.pixels) < _LABEL_LIKENESS for rival in rivals
        ):
            return Patch(left, top, pixels.copy())
        worth[max(0, y - 6) : y + 7, max(0, x - 12) : x + 13] = 0
    return None


def _alike(one: Grey, other: Grey) -> float:
    """Return the highest correlation of two labels within the search range."""
    edge = DETAIL_SEARCH
    inner = other[edge:-edge, edge:-edge]
    return max(0.0, find(one, inner)[2])


def _likeness(spec: StyleSpec, labels: Sequence[Patch]) -> float:
    worst = 0.0
    for index, label in enumerate(labels):
        for other, rival in enumerate(labels[:index]):
            one, two = spec.targets[index], spec.targets[other]
            if one.option != two.option and not (one.write_in and two.write_in):
                worst = max(worst, _alike(label.pixels, rival.pixels))
    return worst
