"""Suggesting contests on a blank page: which targets belong together, and the box round them and their print.

Where rules are printed they decide: a ruled box, a row of a table that begins with an office, or a stack of
ruled lines under a heading. Where none are, the order of the print decides: a heading between two rows of
targets begins another contest. A suggestion is a proposal for a person, who sees it drawn.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_ballots.layout import Rect
from recount_classifier.raster import Grey, dilated, either, ones, opened, resized
from recount_host.programs.finding import FINEST_DPI, find_targets, ink_share

_RULE_IN = 0.4
"""Straight print this long is a rule; box-shaped targets are taken out before."""
_JOINT_IN = 0.05
"""Gap that a corner of a ruled box may have, and how far edges of neighbours may lie apart."""
_OPEN_TABLE_IN = 1.5
"""Rules this long that begin and end together are the rows of a table, also where its sides are open."""
_OPEN_SIDE_IN = 0.25
_FRAME = 0.6
"""Share of the page's height: a higher cell is a frame of several contests."""
_LINE_GAP_IN, _LETTER_IN = 0.14, 0.02
"""Gap between the words of a line; the smallest letter."""
_SOLID = 0.85
"""Share of its rectangle that a timing mark fills."""
_ONE_CONTEST = 1.6
"""A heading between targets that stand further apart than this many usual steps begins another contest."""
_MARGIN_IN = 0.04
_Pixels = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class FoundContest:
    """A suggestion: a box in pixels of the page, and its targets column by column, from the top down."""

    box: Rect
    targets: tuple[Rect, ...]


@dataclass(frozen=True, slots=True)
class FoundPage:
    """What a blank page shows."""

    targets: tuple[Rect, ...]
    lines: tuple[Rect, ...]
    """Lines of text."""
    contests: tuple[FoundContest, ...]
    """From the top left down, column by column."""


@dataclass(slots=True)
class _Part:
    """A ruled cell, or several that belong together."""

    spot: Rect
    targets: list[Rect]
    has_text: bool


def look_at(page: Grey, dpi: float) -> FoundPage:
    """Return the targets, lines of text and suggested contests of an upright blank page, in its pixels."""
    factor = min(1.0, FINEST_DPI / dpi)
    if factor < 1:
        page = resized(page, round(page.shape[1] * factor), round(page.shape[0] * factor))
    dpi *= factor
    targets = list(find_targets(page, dpi))
    dark = (ink_share(page, dpi) > 60).astype(np.uint8)
    for spot in targets:
        _rectangle(dark, spot, 0.02 * dpi, 0)
    flat, upright = _rules(dark, dpi)
    lines = _lines(dark, either(flat, upright), dpi)
    contests = _contests(flat, upright, targets, lines, dpi)

    def back(spot: Rect) -> Rect:
        return spot.scaled(1 / factor)

    return FoundPage(
        tuple(map(back, targets)),
        tuple(map(back, lines)),
        tuple(FoundContest(back(c.box), tuple(map(back, c.targets))) for c in contests),
    )


def _rectangle(mask: Grey, spot: Rect, margin: float, value: int) -> None:
    top, left = max(0, int(spot.top - margin)), max(0, int(spot.left - margin))
    mask[top : int(spot.bottom + margin) + 1, left : int(spot.right + margin) + 1] = value


# -- rules and cells -----------------------------------------------------------------------------------------


def _rules(dark: Grey, dpi: float) -> tuple[Grey, Grey]:
    """Return the level and the upright rules, each lengthened so that corners close."""
    length, joint = round(_RULE_IN * dpi), 2 * round(_JOINT_IN * dpi) + 1
    flat = opened(dilated(dark, ones(1, 3)), ones(length, 1))
    upright = opened(dilated(dark, ones(3, 1)), ones(1, length))
    return dilated(flat, ones(joint, 1)), dilated(upright, ones(1, joint))


def _cells(rules: Grey) -> tuple[_Pixels, list[Rect | None]]:
    """Return the label of the cell at each pixel, and each cell's rectangle.

    The ground round everything, which reaches the page's edge, has none; nor has label 0, the rules, nor a
    frame that is most of the page high.
    """
    _, labels, stats, _ = cv2.connectedComponentsWithStats(1 - rules, connectivity=4)
    height, width = rules.shape
    cells: list[Rect | None] = [None]
    for left, top, wide, high, _ in cast("_Pixels", stats)[1:].tolist():
        outside = left == 0 or top == 0 or left + wide == width or top + high == height
        cells.append(None if outside or high > _FRAME * height else Rect(left, top, wide, high))
    return cast("_Pixels", labels), cells


def _open_sides(flat: Grey, targets: Sequence[Rect], dpi: float) -> Grey:
    """Return the sides that tables lack whose rows are rules of one length, with targets between them."""
    sides = np.zeros_like(flat)
    ends = sorted(_spots(flat), key=lambda spot: spot.top)
    ends = [spot for spot in ends if spot.width >= _OPEN_TABLE_IN * dpi]
    near, inset = _OPEN_SIDE_IN * dpi, _JOINT_IN * dpi
    for above, below in pairwise(ends):
        # A timing mark may lengthen one of the two: the side runs where both have their rule.
        left, right = max(above.left, below.left), min(above.right, below.right)
        is_row = any(
            above.top < target.centre[1] < below.top and left < target.centre[0] < right for target in targets
        )
        if is_row and abs(above.left - below.left) < near and abs(above.right - below.right) < near:
            for x in (left + inset, right - 1 - inset):
                cv2.line(sides, (int(x), int(above.top)), (int(x), int(below.bottom)), 1, 2)
    return sides


def _spots(mask: Grey) -> list[Rect]:
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    return [Rect(*box) for box in cast("_Pixels", stats)[1:, :4].tolist()]


def _lines(dark: Grey, rules: Grey, dpi: float) -> list[Rect]:
    """Return the lines of text."""
    words = np.where(dilated(rules, ones(3, 3)) > 0, 0, dark).astype(np.uint8)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(words, connectivity=8)
    _, _, width, height, area = cast("_Pixels", stats).T
    solid = (area > _SOLID * width * height) & (np.minimum(width, height) > 2 * _LETTER_IN * dpi)
    words[solid[cast("_Pixels", labels)]] = 0
    joined = cast("Grey", cv2.morphologyEx(words, cv2.MORPH_CLOSE, ones(round(_LINE_GAP_IN * dpi), 1)))
    smallest = _LETTER_IN * dpi
    return [s for s in _spots(joined) if s.height >= 2 * smallest and s.width >= smallest]


# -- putting together ----------------------------------------------------------------------------------------


def _contests(
    flat: Grey, upright: Grey, targets: Sequence[Rect], lines: Sequence[Rect], dpi: float
) -> list[FoundContest]:
    labels, spots = _table_cells(flat, upright, targets, dpi)
    parts = {index: _Part(spot, [], has_text=False) for index, spot in enumerate(spots) if spot is not None}
    loose: list[Rect] = []
    for target in targets:
        part = parts.get(_label_at(labels, target))
        loose.append(target) if part is None else part.targets.append(target)
    for line in lines:
        part = parts.get(_label_at(labels, line))
        if part is not None:
            part.has_text = True
    page = Rect(0, 0, labels.shape[1], labels.shape[0])
    found = [_contest_of(part, page, dpi) for part in _stacks(_rows(list(parts.values()), dpi), dpi)]
    free = [line for line in lines if _label_at(labels, line) not in parts]
    found += _unruled(loose, free, [c.box for c in found], labels.shape, dpi)
    column = 1.5 * dpi
    return sorted(found, key=lambda c: (c.box.left // column, c.box.top))


def _table_cells(
    flat: Grey, upright: Grey, targets: Sequence[Rect], dpi: float
) -> tuple[_Pixels, list[Rect | None]]:
    """Return the cells, those of tables with open sides too; rules between the lines of a box cut nothing."""
    rules = either(flat, upright)
    labels, spots = _cells(rules)
    held = [_label_at(labels, target) for target in targets]
    boxes = [index for index in set(held) if held.count(index) > 1 and spots[index] is not None]
    sides = np.where(np.isin(labels, boxes), 0, _open_sides(flat, targets, dpi)).astype(np.uint8)
    return _cells(either(rules, sides))


def _label_at(labels: _Pixels, spot: Rect) -> int:
    x, y = spot.centre
    return int(labels[min(int(y), labels.shape[0] - 1), min(int(x), labels.shape[1] - 1)])


def _contest_of(part: _Part, page: Rect, dpi: float) -> FoundContest:
    """Return the contest; a target at the edge of an open table has some ground round it."""
    margin = _MARGIN_IN * dpi
    core = _round(part.targets)
    left, top = max(0.0, core.left - margin), max(0.0, core.top - margin)
    right, bottom = min(page.right, core.right + margin), min(page.bottom, core.bottom + margin)
    ground = Rect(left, top, right - left, bottom - top)
    return FoundContest(_round([part.spot, ground]), _by_column(part.targets, dpi))


def _by_column(targets: Sequence[Rect], dpi: float) -> tuple[Rect, ...]:
    columns: list[list[Rect]] = []
    for target in sorted(targets, key=lambda s: s.left):
        if columns and abs(columns[-1][0].left - target.left) < 0.1 * dpi:
            columns[-1].append(target)
        else:
            columns.append([target])
    return tuple(t for column in columns for t in sorted(column, key=lambda s: s.top))


def _chains(parts: Sequence[_Part], follows: Callable[[Rect, Rect], bool]) -> Iterator[list[_Part]]:
    """Yield the parts in chains: each part of a chain follows the one before it, in the order given."""
    left = list(parts)
    while left:
        chain = [left.pop(0)]
        for part in list(left):
            if follows(part.spot, chain[-1].spot):
                chain.append(part)
                left.remove(part)
        yield chain


def _rows(parts: list[_Part], dpi: float) -> list[_Part]:
    """Join the cells of each row of a table that begins with a cell of text alone, the office."""
    near = 2 * _JOINT_IN * dpi

    def is_next_cell(spot: Rect, last: Rect) -> bool:
        return (
            abs(spot.top - last.top) < near
            and abs(spot.bottom - last.bottom) < near
            and abs(spot.left - last.right) < near
        )

    rows: list[_Part] = []
    for row in _chains(sorted(parts, key=lambda part: part.spot.left), is_next_cell):
        is_office = not row[0].targets and row[0].has_text
        if is_office and any(part.targets for part in row[1:]):
            rows.append(_joined(row))
        else:
            rows += row
    return rows


def _stacks(parts: list[_Part], dpi: float) -> list[_Part]:
    """Join ruled lines of one target each, and the heading on top of them; only what has targets is kept."""
    near = 2 * _JOINT_IN * dpi

    def is_next_line(spot: Rect, last: Rect) -> bool:
        return (
            abs(spot.left - last.left) < near
            and abs(spot.right - last.right) < near
            and abs(spot.top - last.bottom) < near
        )

    found: list[_Part] = []
    for stack in _chains(sorted(parts, key=lambda part: part.spot.top), is_next_line):
        found += _cut(stack)
    return found


def _cut(stack: Sequence[_Part]) -> list[_Part]:
    """Return the contests of a stack: a heading begins one, and a cell of several targets is one."""
    contests: list[list[_Part]] = []
    heading: list[_Part] = []
    for part in stack:
        if not part.targets:
            heading = [part] if part.has_text else []
        elif heading or len(part.targets) > 1 or not contests or len(contests[-1][-1].targets) > 1:
            contests.append([*heading, part])
            heading = []
        else:
            contests[-1].append(part)
    return [_joined(parts) for parts in contests]


def _joined(parts: Sequence[_Part]) -> _Part:
    return _Part(
        _round([part.spot for part in parts]),
        [target for part in parts for target in part.targets],
        any(part.has_text for part in parts),
    )


def _round(spots: Sequence[Rect]) -> Rect:
    left, top = min(s.left for s in spots), min(s.top for s in spots)
    return Rect(left, top, max(s.right for s in spots) - left, max(s.bottom for s in spots) - top)


# -- contests without rules ----------------------------------------------------------------------------------


def _unruled(
    targets: Sequence[Rect], lines: Sequence[Rect], ruled: Sequence[Rect], shape: tuple[int, ...], dpi: float
) -> list[FoundContest]:
    """Return the contests that stand in no ruled box."""
    columns: list[list[Rect]] = []
    for target in _by_column(targets, dpi):
        if columns and abs(columns[-1][0].left - target.left) < 0.1 * dpi:
            columns[-1].append(target)
        else:
            columns.append([target])
    groups = [group for column in columns for group in _between_headings(column, lines)]
    groups = _beside_each_other(groups, dpi)
    found: list[FoundContest] = []
    for group in groups:
        others = [_round(other) for other in groups if other is not group] + list(ruled)
        found.append(FoundContest(_box_round(group, lines, others, shape, dpi), _by_column(group, dpi)))
    return found


def _between_headings(column: Sequence[Rect], lines: Sequence[Rect]) -> list[list[Rect]]:
    """Cut a column of targets where print stands in a gap wider than its steps."""
    steps = [below.centre[1] - above.centre[1] for above, below in pairwise(column)]
    groups = [[column[0]]]
    for step, (above, below) in zip(steps, pairwise(column), strict=True):
        usual = min(steps)
        heading = any(
            above.centre[1] + 0.7 * usual < line.centre[1] < below.centre[1] - 0.7 * usual for line in lines
        )
        if step > _ONE_CONTEST * usual and heading:
            groups.append([below])
        else:
            groups[-1].append(below)
    return groups


def _beside_each_other(groups: list[list[Rect]], dpi: float) -> list[list[Rect]]:
    """Join lone targets of one row: a question whose answers stand side by side."""
    joined: list[list[Rect]] = []
    for group in groups:
        for earlier in joined:
            y = group[0].centre[1]
            if len(group) == 1 and all(abs(target.centre[1] - y) < 0.05 * dpi for target in earlier):
                earlier.extend(group)
                break
        else:
            joined.append(list(group))
    return joined


def _box_round(
    group: Sequence[Rect], lines: Sequence[Rect], others: Sequence[Rect], shape: tuple[int, ...], dpi: float
) -> Rect:
    """Return the box of a group with the print that stands with it and with no other."""
    core = _round(group)
    inside = [*group]
    reach = 0.3 * dpi
    top = core.top
    for line in sorted(lines, key=lambda s: -s.top):
        beside = line.bottom > core.top - 0.1 * dpi and line.top < core.bottom + 0.1 * dpi
        above = line.bottom <= top and line.bottom > top - reach
        if not (beside or above) or any(_between(line, core, other) for other in others):
            continue
        if above and not beside and (line.right < core.left - 4 * dpi or line.left > core.right + 4 * dpi):
            continue
        inside.append(line)
        top = min(top, line.top)
    box = _round(inside)
    margin = _MARGIN_IN * dpi
    left, top = max(0.0, box.left - margin), max(0.0, box.top - margin)
    right, bottom = min(float(shape[1]), box.right + margin), min(float(shape[0]), box.bottom + margin)
    return Rect(left, top, right - left, bottom - top)


def _between(line: Rect, core: Rect, other: Rect) -> bool:
    """Whether a line stands nearer to another group, or beyond it."""
    beside = line.bottom > other.top and line.top < other.bottom
    if beside and _off(line, other) <= _off(line, core):
        return True
    return (
        line.bottom <= core.top
        and other.bottom <= core.top
        and line.top < other.bottom
        and (line.left < other.right and line.right > other.left)
    )


def _off(line: Rect, spot: Rect) -> float:
    """Return the gap across between a line and a group."""
    return max(0.0, spot.left - line.right, line.left - spot.right)
