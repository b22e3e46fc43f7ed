"""The connected strokes of unexplained ink on the contest's ground, and what each of them touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from recount_classifier.raster import Grey, above, added, both, dilated, either, ones, parts, row_sums

_BRIDGE_PAIRS = 1
"""Pixels of half size that ink reaches each way: gaps of four pixels, as print tears into a stroke, do not
part it."""
_OUTLINE_BRIDGE_PAIRS = 2
"""Across a target's outline, where ink cannot be told from print, gaps of eight pixels do not."""

Counts = NDArray[np.float64]
Pixel = TypeVar("Pixel", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Strokes:
    """The strokes, as lists of pixels of half size. Stroke 0 does not exist: it is the ground."""

    count: int
    """One more than the number of strokes."""
    pixels: NDArray[np.intp]
    """Flat index of each pixel in the half-size picture."""
    labels: NDArray[np.int32]
    """The stroke that each pixel belongs to."""
    ink: NDArray[np.float64]
    """Ink pixels of the full picture under each pixel: 0 to 4."""
    boxes: NDArray[np.intp]
    """Left, top, width and height of each stroke, in pixels of half size."""

    def totals(self) -> Counts:
        """Return each stroke's ink pixels."""
        return _summed(self.labels, self.ink, self.count)

    def inside(self, mask: Grey) -> Counts:
        """Return each stroke's ink pixels where the half-size mask is not zero."""
        weights = self.ink * (mask.ravel()[self.pixels] > 0)
        return _summed(self.labels, weights, self.count)

    def touching(self, mask: Grey) -> Counts:
        """Return for each stroke, bridges included, how many half-size pixels of the mask it meets."""
        weights = (mask.ravel()[self.pixels] > 0).astype(np.float64)
        return _summed(self.labels, weights, self.count)

    def darker(self, excess: Grey, level: int) -> Counts:
        """Return of each stroke, bridges included, how many pixels of the full picture are above `level`."""
        rows, columns = excess.shape[0] // 2, excess.shape[1] // 2
        squares = excess[: 2 * rows, : 2 * columns].reshape(rows, 2, columns, 2)
        under = squares[self.pixels // columns, :, self.pixels % columns]
        return _summed(self.labels, (under > level).sum(axis=(1, 2)).astype(np.float64), self.count)

    def by_zone(self, zones: Grey, zone_count: int) -> Counts:
        """Return (strokes x zones): each stroke's ink pixels in the zones numbered 1 to `zone_count`."""
        index = self.labels * (zone_count + 1) + zones.ravel()[self.pixels]
        table = _summed(index, self.ink, self.count * (zone_count + 1))
        return table.reshape(self.count, zone_count + 1)[:, 1:]


def _summed(index: NDArray[np.integer], weights: Counts, length: int) -> Counts:
    return np.bincount(index, weights=weights, minlength=length).astype(np.float64, copy=False)


def find_strokes(excess: Grey, ink_level: int, outlines: Grey | None) -> Strokes:
    """Return the strokes of the excess ink above `ink_level`, followed across the targets' outlines.

    `outlines` is of half size, 255 where an outline may lie.
    """
    height, width = excess.shape
    rows, columns = height // 2, width // 2
    inked = above(excess[: rows * 2, : columns * 2], ink_level)
    upper, both_rows = inked[::2], added(inked[::2], inked[1::2])
    pairs = _near(row_sums(both_rows) > 0)
    if len(pairs) == 0:
        nothing = np.zeros(0, np.intp)
        return Strokes(1, nothing, nothing.astype(np.int32), np.zeros(0), np.zeros((1, 4), np.intp))
    upper, both_rows = upper[pairs], both_rows[pairs]
    joined = _bridged(upper, both_rows, _BRIDGE_PAIRS)
    if outlines is not None:
        joined = either(joined, both(_bridged(upper, both_rows, _OUTLINE_BRIDGE_PAIRS), outlines[pairs]))
    found = parts(joined)
    places = found.pixels(found.rows * columns + found.columns)
    moved = pairs - np.arange(len(pairs))
    pixels = places + found.each(moved[found.rows] * columns) if moved[-1] else places
    ink = both_rows.ravel()
    amount = (ink[2 * places] + ink[2 * places + 1]).astype(np.float64)
    boxes = found.boxes
    boxes[:, 1] = pairs[boxes[:, 1]]
    return Strokes(len(boxes), pixels, found.each(found.labels), amount, boxes)


def _bridged(upper: Grey, both_rows: Grey, reach: int) -> Grey:
    """Return where ink lies within 2 x `reach` pixels of each half-size pixel's upper left one.

    `upper` are the upper rows of the pairs; `both_rows` is not 0 where either row of a pair has ink.
    """
    tall = both_rows.copy()
    for step in range(1, reach + 1):
        np.maximum(tall[step:], both_rows[:-step], out=tall[step:])
        below = upper if step == reach else both_rows
        np.maximum(tall[:-step], below[step:], out=tall[:-step])
    return np.ascontiguousarray(dilated(tall, ones(4 * reach + 1, 1))[:, ::2])


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Where the strokes of several registrations of one contest lie.

    The first axis is the registrations'; the second the strokes', as many as the one with most has: where one
    has fewer, strokes without ink stand for them. Ink is counted in pixels.
    """

    ink: Counts
    in_zones: Counts
    """Ink in each of the zones."""
    in_kinds: Counts
    """Ink on each kind of ground."""
    touched: Counts
    """Half-size pixels of each kind of ground that a stroke meets, bridges included."""
    boxes: Counts
    """Left, top, width and height in pixels of the full picture."""


def spread(
    found: Sequence[Strokes], zones: NDArray[np.uint16], zone_count: int, kinds: Grey, kind_count: int
) -> Spread:
    """Return where these strokes lie, in zones numbered 1 to `zone_count` and on kinds of ground.

    `zones` and `kinds` are of half size; a pixel's kinds are the bits set in it.
    """
    count = max(strokes.count for strokes in found)
    rows = [strokes.labels + number * count for number, strokes in enumerate(found)]
    row, pixels = np.concatenate(rows), np.concatenate([strokes.pixels for strokes in found])
    ink = np.concatenate([strokes.ink for strokes in found])
    length, wide, many = count * len(found), zone_count + 1, 1 << kind_count
    by_zone = _summed(row * wide + zones.ravel()[pixels], ink, length * wide).reshape(-1, count, wide)
    kind = row * many + kinds.ravel()[pixels]
    has_kind = (np.arange(many)[:, None] >> np.arange(kind_count) & 1).astype(np.float64)
    by_kind = _summed(kind, ink, length * many).reshape(-1, count, many)
    met = np.bincount(kind, minlength=length * many).reshape(-1, count, many)
    boxes = np.zeros((len(found), count, 4))
    for number, strokes in enumerate(found):
        boxes[number, 1 : strokes.count] = strokes.boxes[1:] * 2
    return Spread(by_zone.sum(axis=2), by_zone[:, :, 1:], by_kind @ has_kind, met @ has_kind, boxes)


_NEAR_PAIRS = ones(7, 1)
"""Bridges reach four rows, two pairs: with one more, strokes of parted rows stay apart."""


def _near(inked: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the pairs of rows that bear ink or lie near one that does; most rows of a contest do not."""
    return np.flatnonzero(dilated(inked.view(np.uint8)[None], _NEAR_PAIRS))


def halved_mask(mask: NDArray[Pixel]) -> NDArray[Pixel]:
    """Return the mask at half size, as the strokes' pixels lie."""
    height, width = mask.shape
    return np.ascontiguousarray(mask[: height // 2 * 2 : 2, : width // 2 * 2 : 2])
