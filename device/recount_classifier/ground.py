"""The contest's ground as the blank lies, and the ink on it that the blank does not explain.

Ink is a byte: 0 is the paper round the spot, 255 the printer's black. Paper is the envelope of the bright
ground, taken from the sheet itself, so that uneven light cancels; it never falls far below the contest's
usual paper, so that a large dark patch stays ink.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_classifier.points import median
from recount_classifier.program import Style
from recount_classifier.pyramid import Pyramid, build_pyramid
from recount_classifier.raster import (
    Grey,
    above,
    at_least,
    averaged,
    blurred,
    both,
    closed,
    darkened,
    dilated,
    either,
    eroded,
    grey_counts,
    less,
    ones,
    opened,
    resized,
    solved,
)
from recount_classifier.sheet_map import TERMS, Frame, Registration, SheetMap, sample, terms_of
from recount_classifier.strokes import halved_mask

_TILE = 256
"""Side of the pieces that are unwarped by one affine each; the bend inside one is below 0.1 px."""
_BENT_TILE = 64
"""The same under a lens: one that moves corners by a tenth bends 0.13 px there inside such a piece."""
_ENVELOPE_PX = 64
"""Print and marks narrower than this do not lower the paper's envelope."""
_PAPER_FLOOR = 0.8
GRAIN_PX = 3
"""Ink is averaged over this square: a camera's grain is no ink, and a pen's stroke is wider."""
_UNEVEN = 0.2
"""Share of the contrast by which paper may leave the plane that light lays over it."""
_LARGE_TARGET_PX = 20.0
_GREYS = np.arange(256)
_STEADY = np.diag((0.0, 1e-6, 1e-6))


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """What the blank says about the contest's ground."""

    envelope: Grey
    usual: NDArray[np.float32]
    black: float
    ink: Grey
    explained: Grey
    """The darkest ink that print may cause at each pixel, one pixel of misplacement allowed."""
    print_mask: Grey
    """Where print may lie (255), with its blurred edges."""
    words: Grey
    """Where print other than rules lies (1)."""
    outlines: Grey | None
    """Where a large target's outline may lie (255), at half size: strokes are followed across it."""
    core_print: Grey
    """Where words surely lie (255): their strokes without the edges."""


def flatten(crop: Grey, registration: Registration, style: Style, off_sheet: int = 0) -> Grey:
    """Return the crop as the blank lies, in the pixels of the style's reference box.

    Ground that is not on the crop becomes `off_sheet`: black, so that missing paper is never taken for paper.
    """
    sheet_map = SheetMap(registration, style.frame)
    pyramid = Pyramid((crop,), 0)
    if sheet_map.scale > 1.7:
        pyramid = build_pyramid(crop, 2, 0)
    left, top, right, bottom = style.reference_box
    flat = np.empty((bottom - top, right - left), np.uint8)
    tiles = _tiles_of(style.reference_box, style.frame, len(sheet_map.matrix))
    sample(
        [flat[part] for part in tiles.parts], pyramid, sheet_map, tiles.terms, tiles.halves, 1.0, off_sheet
    )
    return flat


@dataclass(frozen=True, slots=True, eq=False)
class _Tiles:
    """The pieces of a flat ground."""

    parts: tuple[tuple[slice, slice], ...]
    terms: NDArray[np.float64]
    """The registration's terms at their middles."""
    halves: NDArray[np.float64]
    """Half of each from its first pixel's middle to its last's."""


@lru_cache(maxsize=64)
def _tiles_of(box: tuple[int, int, int, int], frame: Frame, terms: int) -> _Tiles:
    left, top, right, bottom = box
    tile = _TILE if terms == TERMS else _BENT_TILE
    corners = [(x, y) for y in range(0, bottom - top, tile) for x in range(0, right - left, tile)]
    sizes = [(min(tile, right - left - x), min(tile, bottom - top - y)) for x, y in corners]
    parts = [
        (slice(y, y + high), slice(x, x + wide)) for (x, y), (wide, high) in zip(corners, sizes, strict=True)
    ]
    halves = (np.array(sizes, np.float64) - 1) / 2
    middles = np.array(corners) + np.array([left, top]) + halves
    return _Tiles(tuple(parts), terms_of(middles, frame, terms), halves)


def paper_envelope(flat: Grey) -> Grey:
    """Return the bright ground round every fourth pixel: closing by `_ENVELOPE_PX` of the quarter picture."""
    small = build_pyramid(flat, 2, 0).levels[-1]
    size = _ENVELOPE_PX // 4
    return averaged(closed(small, ones(size, size)), 5)


def usual_paper(envelope: Grey, black: float) -> NDArray[np.float32]:
    """Return what the paper would be at each envelope pixel if the light changed evenly across the contest.

    A plane through the bright ground; holes, dark patches and glare, which do not lie on it, have no say.
    """
    step = max(1, min(envelope.shape) // 8)
    terms = _plane_terms(envelope.shape, step)
    values = envelope[::step, ::step].ravel().astype(np.float64)
    middle = median(values)
    reach = _UNEVEN * max(1.0, middle - black)
    fair = np.abs(values - middle) < 2 * reach
    plane = np.array([middle, 0.0, 0.0])
    for _ in range(2):
        if np.count_nonzero(fair) < 6:
            break
        used = (terms * fair[:, None]).T
        # Held very lightly where all of the fair ground lies in one line.
        plane = solved(used @ terms + _STEADY, used @ values[:, None]).ravel()
        fair = np.abs(values - terms @ plane) < reach
    height, width = envelope.shape
    across = plane[0] + plane[1] * np.arange(width)
    down = plane[2] * np.arange(height)
    return across.astype(np.float32) + down.astype(np.float32)[:, None]


@lru_cache(maxsize=64)
def _plane_terms(shape: tuple[int, int], step: int) -> NDArray[np.float64]:
    """Return 1, column and row of every `step`th pixel of such a picture, as a plane needs them."""
    rows, columns = np.mgrid[0 : shape[0] : step, 0 : shape[1] : step].reshape(2, -1)
    return np.stack([np.ones(rows.shape), columns, rows], axis=1)


def ink_of(flat: Grey, envelope: Grey, usual: NDArray[np.float32], black: float) -> Grey:
    """Return the ink at each pixel, by the paper round it and the printer's black of the sheet."""
    darkest = int(envelope.min())
    # The usual paper is a plane: it is brightest at a corner.
    brightest = float(usual[[0, 0, -1, -1], [0, -1, 0, -1]].max())
    if darkest < brightest - (1 - _PAPER_FLOOR) * (brightest - black):
        floor = np.clip(usual - (1 - _PAPER_FLOOR) * (usual - black), 0, 255).astype(np.uint8)
        envelope = np.maximum(envelope, floor)
    height, width = flat.shape
    paper = resized(envelope, width, height, cv2.INTER_LINEAR)
    ink = less(paper, flat)
    blackest = round(max(0.0, black))
    # In place: a ground's pictures would not fit the core's cache.
    span = darkened(paper, blackest, into=paper)
    if darkest <= blackest:
        span = at_least(span, 1)
    return cast("Grey", cv2.divide(ink, span, dst=ink, scale=255.0))


def black_of(flat: Grey) -> float:
    """Return the print's black on the flat ground: the mean of its darkest hundredth."""
    counts = grey_counts(np.ascontiguousarray(flat[::2, ::3]))
    up_to = counts.cumsum()
    darkest = max(1, int(up_to[-1]) // 100)
    last = int(up_to.searchsorted(darkest))
    fewer = int(up_to[last - 1]) if last else 0
    total = int(counts[:last] @ _GREYS[:last]) + (darkest - fewer) * last
    return total / darkest


@lru_cache(maxsize=64)
def reference_of(style: Style) -> Reference:
    """Return what the style's blank explains. Kept for each style in use."""
    flat = style.reference
    envelope, black = paper_envelope(flat), black_of(flat)
    usual = usual_paper(envelope, black)
    ink = ink_of(flat, envelope, usual, black)
    dark = above(ink, 110)
    rules = either(opened(dark, ones(60, 1)), opened(dark, ones(1, 40)))
    spread = dilated(ink, ones(3, 3))
    explained = np.maximum(blurred(spread, 0.8), spread)
    # Rules run where the registration has little to hold on to: they are allowed to lie three pixels off.
    explained = np.maximum(explained, dilated(rules, ones(7, 7)) * np.uint8(255))
    # So is a target's outline, by one pixel more than words: its slivers must not look like marks.
    outlines = dilated(both(dark, _round_targets(style)), ones(5, 5))
    explained = np.maximum(explained, outlines * np.uint8(255))
    words = less(dark, dilated(rules, ones(7, 7)))
    return Reference(
        envelope=envelope,
        usual=usual,
        black=black,
        ink=ink,
        explained=explained,
        print_mask=above(explained, 64, 255),
        words=words,
        outlines=halved_mask(outlines) * np.uint8(255) if outlines.any() else None,
        core_print=both(above(eroded(ink, ones(2, 2)), 150, 255), words * np.uint8(255)),
    )


def _round_targets(style: Style) -> Grey:
    """Return where the targets are large enough (1) for a wider outline to leave their inside open."""
    left, top, _, _ = style.reference_box
    mask = np.zeros(style.reference.shape, np.uint8)
    for target in style.targets:
        if target.height >= _LARGE_TARGET_PX:
            x0, y0 = round(target.left) - left - 2, round(target.top) - top - 2
            mask[max(0, y0) : y0 + round(target.height) + 5, max(0, x0) : x0 + round(target.width) + 5] = 1
    return mask


def excess_of(ink: Grey, reference: Reference) -> Grey:
    """Return the ink that print does not explain."""
    return less(ink, reference.explained)
