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

NO_PLACE = -2.0
"""Score of a place that is none: below every correlation."""
_MIDDLE_GREY = 128


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

    @property
    def window(self) -> tuple[int, int]:
        """Return a window's height and width."""
        return self.height + self.places - 1, self.width + self.places - 1

    @property
    def middle(self) -> Values:
        """Return a patch's middle (x, y) from its top left pixel."""
        return np.array([(self.width - 1) / 2, (self.height - 1) / 2])

    def scores(self, windows: Stack) -> Values:
        """Return the correlation of each patch with its own window at each place: n x down x across.

        It is 0 where the ground or the patch has no contrast.
        """
        count, places = len(windows), self.places
        products = np.matmul(rows_from(windows, self.height, places), self.kernels)
        scale = energies_under(windows, self.height, self.width, places) * self.energies
        return products.reshape(count, places, places) / np.sqrt(scale)

    def find(self, windows: Stack) -> tuple[Values, Values, Values]:
        """Return the x, y and correlation of each patch's top left corner in its own window."""
        return peaks(self.scores(windows))


_LEAST_ENERGY = 0.5
"""Sum of squares that stands for none: of whole greys that are not all equal it is more."""


def bank_of(patches: Sequence[Grey], places: int) -> Bank:
    """Prepare patches of one size for that many places across and down."""
    grey = np.stack(patches).astype(np.float64)
    count, height, width = grey.shape
    centred = grey - grey.mean(axis=(1, 2), keepdims=True)
    wide = width + places - 1
    kernels = np.zeros((count, places, height, wide), np.float32)
    for place in range(places):
        kernels[:, place, :, place : place + width] = centred
    energies = np.maximum((centred * centred).sum(axis=(1, 2), keepdims=True), _LEAST_ENERGY)
    kernels = kernels.reshape(count, places, height * wide).transpose(0, 2, 1)
    return Bank(height, width, places, kernels, energies)


def peaks(scores: Values) -> tuple[Values, Values, Values]:
    """Return x, y and score of the best place of each window, refined as `peak` does."""
    count, down, across = scores.shape
    windows = np.arange(count)
    rows, columns = np.divmod(scores.reshape(count, -1).argmax(axis=1), across)
    best = scores[windows, rows, columns]
    left = scores[windows, rows, np.maximum(columns - 1, 0)]
    right = scores[windows, rows, np.minimum(columns + 1, across - 1)]
    above = scores[windows, np.maximum(rows - 1, 0), columns]
    below = scores[windows, np.minimum(rows + 1, down - 1), columns]
    inside_x, inside_y = (columns > 0) & (columns < across - 1), (rows > 0) & (rows < down - 1)
    x = columns + _vertices(left, best, right, inside_x)
    return x, rows + _vertices(above, best, below, inside_y), best


def _vertices(before: Values, best: Values, after: Values, inside: NDArray[np.bool_]) -> Values:
    """Return where between their neighbours the tops of parabolas lie, -0.5 to 0.5; 0 at an edge."""
    curve = before - 2 * best + after
    refined = inside & (curve < 0) & (np.minimum(before, after) > NO_PLACE)
    place = 0.5 * (before - after) / np.where(refined, curve, -1.0)
    return np.where(refined, np.minimum(np.maximum(place, -0.5), 0.5), 0.0)


def rows_from(windows: Stack, height: int, places: int) -> NDArray[np.float32]:
    """Return for each window and each place down the `height` rows of the window from there, as one row."""
    count, high, wide = windows.shape
    centred = np.subtract(windows, np.float32(_MIDDLE_GREY), dtype=np.float32)
    return _view(centred, (count, places, height * wide), (high * wide, wide, 1)).copy()


def energies_under(windows: Stack, height: int, width: int, places: int) -> Values:
    """Return the sum of squares about the mean under a patch at each place."""
    count, high, wide = windows.shape
    totals, squares = integrals(windows.reshape(count * high, wide))
    total = _boxes(totals, count, high, (height, width), places)
    energy = _boxes(squares, count, high, (height, width), places)
    energy -= total * total * (1.0 / (height * width))
    return np.maximum(energy, _LEAST_ENERGY, out=energy)


def _boxes(integral: NDArray[Any], count: int, high: int, patch: tuple[int, int], places: int) -> Values:
    """Return the sums over a patch at each place of each of the windows that lie below each other."""
    height, width = patch
    row = integral.shape[1]
    shape, strides = (count, places, row), (high * row, row, 1)
    bands = _view(integral[height:], shape, strides) - _view(integral, shape, strides)
    return np.subtract(bands[:, :, width:], bands[:, :, :places], dtype=np.float64)


def _view(array: NDArray[Any], shape: tuple[int, ...], strides: tuple[int, ...]) -> NDArray[Any]:
    """Return an array's items as another shape, `strides` items apart."""
    size = array.itemsize
    return np.ndarray(shape, array.dtype, array, 0, tuple(size * step for step in strides))
