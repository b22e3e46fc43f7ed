"""Finding small patches of the blank in pictures: normalised correlation with a sub-pixel peak.

`find` looks for one patch in one picture. A `Bank` looks for many patches of one size at once, each in its
own window: one matrix product for all of them costs a third of as many single searches (measured: 0.37 ms
against 1.2 ms for twelve patches of 48 x 32).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recount_classifier.raster import Float, Grey, correlation, highest, integrals

Values = NDArray[np.float64]
Stack = NDArray[np.uint8]
"""n equal windows."""

Places = NDArray[np.bool_]
"""n x down x across."""
Found = tuple[Values, Values, Values]
"""The x, y and correlation of n patches."""

ALIKE = 0.85
"""Print is chosen to be looked for only if nothing so much like it lies where it is looked for: what is found
with this correlation is it."""
NO_PLACE = -2.0
"""Score of a place that is none: below every correlation."""
_MIDDLE_GREY = np.float32(128)


def peak(scores: Float) -> tuple[float, float, float]:
    """Return (x, y, score) of the best match, refined by a parabola through its neighbours.

    A patch without contrast makes the correlation infinite or undefined; that is no match (score 0).
    """
    best, x, y = highest(scores)
    if not -1.01 <= best <= 1.01:
        return float(x), float(y), 0.0
    height, width = scores.shape
    dx = dy = 0.0
    if 0 < x < width - 1:
        dx = _vertex(float(scores[y, x - 1]), best, float(scores[y, x + 1]))
    if 0 < y < height - 1:
        dy = _vertex(float(scores[y - 1, x]), best, float(scores[y + 1, x]))
    return x + dx, y + dy, best


def _vertex(before: float, best: float, after: float) -> float:
    """Return where between its neighbours the top of a parabola lies, -0.5 to 0.5."""
    curve = before - 2 * best + after
    if curve >= 0 or min(before, after) <= NO_PLACE:
        return 0.0
    return max(-0.5, min(0.5, 0.5 * (before - after) / curve))


def find(window: Grey, patch: Grey) -> tuple[float, float, float]:
    """Return (x, y, correlation) of `patch`'s top left corner in `window`, which is not smaller."""
    return peak(correlation(window, patch))


@dataclass(frozen=True, slots=True, eq=False)
class Bank:
    """Patches of one size, prepared to be tried at some places across and down their windows."""

    height: int
    width: int
    places: int
    """How many places across, and as many down."""
    kernels: NDArray[np.float32]
    """For each patch a matrix (window pixels x places across): the patch, less its mean, at each place.

    It lies in memory with the window's pixels together, as products of so few columns are fastest."""
    energies: Values
    """Each patch's sum of squares about its mean (n x 1 x 1)."""
    near: Bank | None
    """The same patches for the middle places alone; None where all places are always looked at."""

    @property
    def window(self) -> tuple[int, int]:
        """Return a window's height and width."""
        return self.height + self.places - 1, self.width + self.places - 1

    @property
    def middle(self) -> Values:
        """Return a patch's middle (x, y) from its top left pixel."""
        return np.array([(self.width - 1) / 2, (self.height - 1) / 2])

    def find(self, windows: Stack, off: Places | None = None) -> Found:
        """Return the x, y and correlation of each patch's top left corner in its own window.

        No patch is found at places that are `off`. A patch that is surely found near the middle of its window
        is not looked for in the rest of it.
        """
        if self.near is None:
            return peaks(self._scores(windows, off))
        found, unsure = self._find_near(self.near, windows, off)
        if len(unsure):
            part = (windows[unsure], None if off is None else off[unsure])
            for values, again in zip(found, peaks(self._scores(*part, unsure)), strict=True):
                values[unsure] = again
        return found

    def _find_near(self, near: Bank, windows: Stack, off: Places | None) -> tuple[Found, NDArray[np.intp]]:
        """Return what is found near the middle of each window, and which patches are not surely found."""
        margin = (self.places - near.places) // 2
        _, high, wide = windows.shape
        middle = np.ascontiguousarray(windows[:, margin : high - margin, margin : wide - margin])
        off = None if off is None else off[:, margin:-margin, margin:-margin]
        scores = near._scores(middle, off)
        x, y, best = peaks(scores)
        # The best place at the edge of what was looked at may be the slope of a better one.
        inside = scores[:, 2:-2, 2:-2].max(axis=(1, 2))
        unsure = np.flatnonzero((best < ALIKE) | (inside < best))
        x += margin
        y += margin
        return (x, y, best), unsure

    def _scores(self, windows: Stack, off: Places | None, members: NDArray[np.intp] | None = None) -> Values:
        """Return the correlation of each patch, or of those members, at each place: n x down x across.

        It is 0 where the ground or the patch has no contrast, and `NO_PLACE` at places that are off, as all
        round the others.
        """
        count, places = len(windows), self.places
        kernels, energies = self.kernels, self.energies
        if members is not None:
            kernels, energies = kernels.transpose(0, 2, 1)[members].transpose(0, 2, 1), energies[members]
        products = np.matmul(rows_from(windows, self.height, places), kernels)
        scale = energies_under(windows, self.height, self.width, places)
        scale *= energies
        scores = np.full((count, places + 2, places + 2), NO_PLACE)
        inner = scores[:, 1:-1, 1:-1]
        np.divide(products, np.sqrt(scale, out=scale), out=inner)
        if off is not None:
            inner[off] = NO_PLACE
        return scores


_LEAST_ENERGY = 0.5
"""Sum of squares that stands for none: of whole greys that are not all equal it is more."""


def bank_of(patches: Sequence[Grey], places: int, near: int = 0) -> Bank:
    """Prepare patches of one size for that many places across and down; the middle `near` are tried first."""
    grey = np.stack(patches).astype(np.float64)
    count, height, width = grey.shape
    centred = grey - grey.mean(axis=(1, 2), keepdims=True)
    wide = width + places - 1
    kernels = np.zeros((count, places, height, wide), np.float32)
    for place in range(places):
        kernels[:, place, :, place : place + width] = centred
    energies = np.maximum((centred * centred).sum(axis=(1, 2), keepdims=True), _LEAST_ENERGY)
    kernels = kernels.reshape(count, places, height * wide).transpose(0, 2, 1)
    first = bank_of(patches, near) if 0 < near < places else None
    return Bank(height, width, places, kernels, energies, first)


def peaks(scores: Values) -> Found:
    """Return x, y and score of the best place of each window, refined as `peak` does.

    `scores` are n x down x across with a border of `NO_PLACE`, which does not count.
    """
    count, down, across = scores.shape
    best_at = scores.reshape(count, -1).argmax(axis=1)
    place = np.empty((2, count))
    place[1] = best_at // across
    place[0] = best_at - across * place[1]
    place -= 1
    at = best_at + np.arange(0, scores.size, down * across)
    best = scores.take(at)
    around = scores.take(at + np.array(((-1,), (-across,), (1,), (across,))))
    before, after = around[:2], around[2:]
    curve = before - 2 * best + after
    # No parabola, or a neighbour that is none: not refined.
    curve[(curve >= 0) | (np.minimum(before, after) <= NO_PLACE)] = -np.inf
    before -= after
    before *= 0.5
    before /= curve
    place += before
    return place[0], place[1], best


def rows_from(windows: Stack, height: int, places: int) -> NDArray[np.float32]:
    """Return for each window and each place down the `height` rows of the window from there, as one row.

    Greys are less the middle grey.
    """
    count, high, wide = windows.shape
    centred = np.subtract(windows, _MIDDLE_GREY, dtype=np.float32)
    return np.ndarray(
        (count, places, height * wide), np.float32, centred, 0, (4 * high * wide, 4 * wide, 4)
    ).copy()


def energies_under(windows: Stack, height: int, width: int, places: int) -> Values:
    """Return the sum of squares about the mean under a patch at each place: n x down x across."""
    count, high, wide = windows.shape
    totals, squares = integrals(windows.reshape(count * high, wide))
    shape, apart = (count, places, wide + 1), (high * (wide + 1), wide + 1)
    total = _sums_under(totals, shape, apart, height, width)
    energy = _sums_under(squares, shape, apart, height, width)
    total *= total
    total *= 1.0 / (height * width)
    energy -= total
    return np.maximum(energy, _LEAST_ENERGY, out=energy)


def _sums_under(
    integral: NDArray[Any], shape: tuple[int, int, int], apart: tuple[int, int], height: int, width: int
) -> Values:
    """Return the sums over a patch at each place of each of the windows that lie below each other."""
    size, kind = integral.itemsize, integral.dtype
    strides = (apart[0] * size, apart[1] * size, size)
    bands = np.ndarray(shape, kind, integral, height * strides[1], strides)
    bands = np.subtract(bands, np.ndarray(shape, kind, integral, 0, strides), dtype=np.float64)
    return bands[:, :, width:] - bands[:, :, : shape[2] - width]
