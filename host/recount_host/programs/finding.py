"""Finding the targets of a blank page: outlines that a voter fills, of any size and vendor.

A target is an empty, even shape (oval, circle, box) with a thin outline. Letters have such shapes too, so the
evidence is in the repetition: targets come in equal shapes that stand in columns or rows, and none stands
inside a word. All lengths are inches, turned into pixels by the page's dpi; nothing is known of any vendor.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_ballots.layout import Rect
from recount_classifier.raster import (
    Float,
    Grey,
    averaged,
    blurred,
    closed,
    correlation,
    dilated,
    grey_counts,
    highest,
    less,
    ones,
    resized,
)

FINEST_DPI = 300.0
"""Finer blanks are looked at in this resolution: outlines are far thicker than its pixels."""

_SMALLEST_IN, _TALLEST_IN, _WIDEST_IN = 0.055, 0.42, 0.75
"""The inside of a target: check boxes of 2 mm at the least; taller is a cell of a table, not a target."""
_NARROWEST, _FLATTEST = 0.6, 5.0
"""Width by height."""
_Look = tuple[float, float, tuple[float, ...]]
_OUTLINES: tuple[_Look, ...] = (
    (0.2, 0.0, (0.0, 0.006, 0.014)),
    (0.45, 0.0, (0.0, 0.006)),
    (0.1, 0.006, (0.0,)),
)
"""Share of the printer's contrast at which an outline may close, how far (inches) the page is softened first,
and the gaps (inches) that a worn or coarse outline may have."""
_BROKEN_OUTLINES: tuple[_Look, ...] = ((0.2, 0.0, (0.026,)),)
"""For a page without any other: so wide a gap closes letters too."""
_FULL = 0.72
"""Share of its rectangle that the inside fills: an ellipse fills 0.785, a box all."""
_EVEN = 0.85
"""Likeness of the inside to its own mirror images."""
_PRINTED_INSIDE = 0.25
"""Share of the inside that may bear print (a number, a party's letter)."""
_THICK = 0.3
"""Outline by the inside's shorter side; bold letters are thicker."""
_LETTER_GAP, _CAPITAL_GAP, _BETWEEN_GAP = 0.17, 0.27, 0.45
"""Gaps in heights of a letter: to any other letter of its word; to one of the same height; to the letters on
both sides of it. A target keeps more distance from its label."""
_WORDS_AT_MOST = 0.12
"""Share of equal shapes that may stand between letters; with more they are letters themselves."""
_ALIKE_IN, _ALIKE = 0.012, 0.09
"""Difference in width and height of equal shapes: inches, and share."""
_ALIGNED_IN, _SKEW = 0.02, 0.015
"""How far targets of a column or row may stand off it: inches, and by each inch of distance."""
_TEMPLATE_LIKENESS = 0.62


@dataclass(frozen=True, slots=True)
class _Shape:
    spot: Rect
    """Outer edges of the outline."""
    inside_width: float
    inside_height: float
    edge: float
    """Thickness of the outline."""
    full: float
    """Share of its rectangle that the inside fills."""
    in_word: bool
    """Whether a letter stands right beside it."""
    between: bool
    """Whether letters of its line stand on both sides of it."""


def ink_share(page: Grey, dpi: float) -> Grey:
    """Return the ink at each pixel, 0 for the paper round it and 255 for the printer's black."""
    height, width = page.shape
    quarter = resized(page, max(1, width // 4), max(1, height // 4))
    side = max(5, round(0.14 * dpi))
    paper = resized(averaged(closed(quarter, ones(side, side)), 5), width, height, cv2.INTER_LINEAR)
    depth = less(paper, page)
    counts = grey_counts(depth)[::-1]
    darkest = max(1, page.size // 200)
    among_them = np.diff(np.minimum(np.cumsum(counts), darkest), prepend=0)
    black = max(24.0, float(among_them @ np.arange(255, -1, -1)) / darkest)
    return np.clip(depth.astype(np.float32) * (255 / black), 0, 255).astype(np.uint8)


def find_targets(page: Grey, dpi: float) -> tuple[Rect, ...]:
    """Return the targets of an upright blank page, from the top down, in its pixels.

    `dpi` is the page's resolution, 100 to 1200. Pages turned by more than a degree or two should be set
    straight before. A page that bears no two equal targets gives none.
    """
    factor = min(1.0, FINEST_DPI / dpi)
    if factor < 1:
        page = resized(page, round(page.shape[1] * factor), round(page.shape[0] * factor))
    ink = ink_share(page, dpi * factor)
    found = _targets(ink, dpi * factor, _OUTLINES) or _targets(ink, dpi * factor, _BROKEN_OUTLINES)
    return tuple(spot.scaled(1 / factor) for spot in sorted(found, key=lambda s: (s.top, s.left)))


def _targets(ink: Grey, dpi: float, outlines: Sequence[_Look]) -> list[Rect]:
    shapes = _unlike(_shapes(ink, dpi, outlines), dpi)
    accepted: list[Rect] = []
    for equal in _equal_shapes(shapes, dpi):
        alone = [shape for shape in equal if not shape.in_word]
        standing = [shape for shape in alone if _in_line(shape.spot, [s.spot for s in alone], dpi)]
        letters = sum(shape.between for shape in equal)
        if len(standing) >= 2 and len(standing) * 2 > len(equal) and letters <= _WORDS_AT_MOST * len(equal):
            accepted += [shape.spot for shape in standing]
            accepted += _missed(ink, [shape.spot for shape in standing], dpi)
    return _apart(accepted)


# -- shapes --------------------------------------------------------------------------------------------------


def _shapes(ink: Grey, dpi: float, outlines: Sequence[_Look]) -> Iterator[_Shape]:
    """Yield every even, empty, thinly outlined shape, some of them several times."""
    letters = _boxes((ink > 110).astype(np.uint8), 8)
    for level, soft_in, gaps_in in outlines:
        soft = blurred(ink, soft_in * dpi) if soft_in else ink
        dark = (soft > level * 255).astype(np.uint8)
        for gap_in in gaps_in:
            size = 1 + 2 * max(1, round(gap_in * dpi / 2)) if gap_in else 1
            whole = dark if size == 1 else closed_dark(dark, size)
            yield from _holes(whole, dark, letters, dpi)


def closed_dark(dark: Grey, size: int) -> Grey:
    """Return the mask (0 and 1) with gaps narrower than `size` pixels filled."""
    return cast("Grey", cv2.morphologyEx(dark, cv2.MORPH_CLOSE, ones(size, size)))


def _holes(whole: Grey, dark: Grey, letters: NDArray[np.int32], dpi: float) -> Iterator[_Shape]:
    """Yield the shapes among the closed light parts of a mask of print."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(1 - whole, connectivity=4)
    for index, (left, top, width, height, area) in enumerate(cast("NDArray[np.int32]", stats).tolist()):
        if not (
            index
            and _SMALLEST_IN * dpi <= height <= _TALLEST_IN * dpi
            and _SMALLEST_IN * dpi <= width <= _WIDEST_IN * dpi
            and _NARROWEST <= width / height <= _FLATTEST
            and area >= 0.5 * width * height
        ):
            continue
        hole = (labels[top : top + height, left : left + width] == index).astype(np.uint8)
        inside = _filled(hole)
        full = int(inside.sum())
        if full < _FULL * width * height or area < (1 - _PRINTED_INSIDE) * full or not _is_even(inside):
            continue
        edge = _outline_px(dark, inside, left, top, dpi)
        if edge is None or edge > max(_THICK * min(width, height), 2.0):
            continue
        spot = Rect(left - edge, top - edge, width + 2 * edge, height + 2 * edge)
        in_word, between = _among_letters(spot, letters)
        yield _Shape(spot, width, height, edge, full / (width * height), in_word, between)


def _filled(hole: Grey) -> Grey:
    """Return the hole with the print inside it filled."""
    contours, _ = cv2.findContours(hole, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    return cast("Grey", cv2.drawContours(np.zeros_like(hole), contours, -1, 1, -1))


def _is_even(inside: Grey) -> bool:
    """Whether the shape is its own mirror image, both ways."""
    for mirrored in (inside[::-1], inside[:, ::-1]):
        if np.count_nonzero(inside & mirrored) < _EVEN * np.count_nonzero(inside | mirrored):
            return False
    return True


def _outline_px(dark: Grey, inside: Grey, left: int, top: int, dpi: float) -> float | None:
    """Return how thick the outline is; None when there is no end to it, or none at all."""
    reach = max(4, round(0.04 * dpi))
    height, width = inside.shape
    y0, x0 = top - reach, left - reach
    if y0 < 0 or x0 < 0 or y0 + height + 2 * reach > dark.shape[0] or x0 + width + 2 * reach > dark.shape[1]:
        return None
    ground = dark[y0 : y0 + height + 2 * reach, x0 : x0 + width + 2 * reach]
    grown = cast("Grey", cv2.copyMakeBorder(inside, reach, reach, reach, reach, cv2.BORDER_CONSTANT, value=0))
    thickness = 0.0
    for step in range(reach):
        before = grown
        # A cross and a square in turn grow the shape about evenly in all directions.
        grown = dilated(before, ones(3, 3) if step % 2 else _CROSS)
        shell = grown > before
        share = float(ground[shell].mean())
        thickness += share
        if share < 0.5 and step > 0:
            return thickness
    return None


_CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)


def _boxes(mask: Grey, connectivity: int) -> NDArray[np.int32]:
    """Return left, top, right, bottom of each connected part."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=connectivity)
    boxes = cast("NDArray[np.int32]", stats)[1:, :4].copy()
    boxes[:, 2:] += boxes[:, :2]
    return boxes


def _among_letters(spot: Rect, letters: NDArray[np.int32]) -> tuple[bool, bool]:
    """Return whether a letter stands right beside the spot, and whether letters stand on both sides of it."""
    height = spot.height
    left, top, right, bottom = letters.T
    tall = bottom - top
    on_line = (np.abs(bottom - spot.bottom) < 0.15 * height) & (tall > 0.5 * height) & (tall < 1.6 * height)
    capital = on_line & (np.abs(top - spot.top) < 0.12 * height)
    before, after = spot.left - right, left - spot.right
    own = -0.1 * height
    gap = np.maximum(before, after)
    beside = on_line & (gap > own) & (gap < _LETTER_GAP * height)
    beside |= capital & (gap > own) & (gap < _CAPITAL_GAP * height)
    near = _BETWEEN_GAP * height
    between = np.any(on_line & (before > own) & (before < near)) and np.any(
        on_line & (after > own) & (after < near)
    )
    return bool(np.any(beside)), bool(between)


# -- repetition ----------------------------------------------------------------------------------------------


def _unlike(shapes: Iterator[_Shape], dpi: float) -> list[_Shape]:
    """Return each shape once: the same outline closes at several levels. The first found is the cleanest."""
    kept: list[_Shape] = []
    for shape in shapes:
        x, y = shape.spot.centre
        if not any(
            abs(x - k.spot.centre[0]) < 0.03 * dpi and abs(y - k.spot.centre[1]) < 0.03 * dpi for k in kept
        ):
            kept.append(shape)
    return kept


def _equal_shapes(shapes: Sequence[_Shape], dpi: float) -> list[list[_Shape]]:
    """Return groups of shapes equal in size, the largest first; a shape is in one group."""

    def alike(one: _Shape, other: _Shape) -> bool:
        sizes = (
            (one.inside_width, other.inside_width),
            (one.inside_height, other.inside_height),
        )
        return (
            all(abs(a - b) <= max(_ALIKE_IN * dpi, _ALIKE * a) for a, b in sizes)
            and abs(one.full - other.full) <= _ALIKE
            and abs(one.edge - other.edge) <= max(0.008 * dpi, 0.3 * one.edge)
        )

    left = list(shapes)
    groups: list[list[_Shape]] = []
    while left:
        group = max(([s for s in left if alike(middle, s)] for middle in left), key=len)
        groups.append(group)
        left = [shape for shape in left if shape not in group]
    return groups


def _in_line(spot: Rect, spots: Sequence[Rect], dpi: float) -> bool:
    """Whether another stands in its column or row."""
    x, y = spot.centre
    for other in spots:
        across, down = abs(other.centre[0] - x), abs(other.centre[1] - y)
        slack = _ALIGNED_IN * dpi
        if across + down > slack and (across < slack + _SKEW * down or down < slack + _SKEW * across):
            return True
    return False


def _missed(ink: Grey, spots: Sequence[Rect], dpi: float) -> list[Rect]:
    """Return what looks like the spots and stands in their columns or rows, but has a broken outline."""
    wide = round(float(np.median([s.width for s in spots])))
    high = round(float(np.median([s.height for s in spots])))
    margin = max(2, round(0.015 * dpi))
    pieces: list[Float] = []
    for spot in spots:
        x0, y0 = round(spot.centre[0] - wide / 2) - margin, round(spot.centre[1] - high / 2) - margin
        piece = ink[max(0, y0) : y0 + high + 2 * margin, max(0, x0) : x0 + wide + 2 * margin]
        if piece.shape == (high + 2 * margin, wide + 2 * margin):
            pieces.append(piece.astype(np.float32))
    if len(pieces) < 2:
        return []
    template = np.median(pieces, axis=0).astype(np.uint8)
    scores = correlation(ink, template)
    scores[~np.isfinite(scores)] = -1
    for spot in spots:
        _blot(scores, round(spot.left) - margin, round(spot.top) - margin, wide, high)
    found: list[Rect] = []
    for _ in range(len(spots) + 50):
        best, x, y = highest(scores)
        if best < _TEMPLATE_LIKENESS:
            break
        _blot(scores, x, y, wide, high)
        spot = Rect(x + margin, y + margin, wide, high)
        piece = ink[y : y + template.shape[0], x : x + template.shape[1]]
        if _in_line(spot, spots, dpi) and _outlined_all_round(piece, template):
            found.append(spot)
    return found


def _outlined_all_round(piece: Grey, template: Grey) -> bool:
    """Whether each quarter of the template's outline has ink on at least half of its length."""
    outline, inked = template > 90, dilated(piece, ones(3, 3)) > 60
    half_down, half_across = template.shape[0] // 2, template.shape[1] // 2
    for rows in (slice(0, half_down), slice(half_down, None)):
        for columns in (slice(0, half_across), slice(half_across, None)):
            quarter = outline[rows, columns]
            if np.count_nonzero(quarter & inked[rows, columns]) * 2 < np.count_nonzero(quarter):
                return False
    return True


def _blot(scores: Float, x: int, y: int, wide: int, high: int) -> None:
    scores[max(0, y - high) : max(0, y + high), max(0, x - wide) : max(0, x + wide)] = -1


def _apart(spots: Sequence[Rect]) -> list[Rect]:
    """Return the spots without those that overlap an earlier one."""
    kept: list[Rect] = []
    for spot in spots:
        if all(
            spot.left >= k.right or spot.right <= k.left or spot.top >= k.bottom or spot.bottom <= k.top
            for k in kept
        ):
            kept.append(spot)
    return kept
