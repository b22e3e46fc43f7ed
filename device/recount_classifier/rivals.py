"""Whether another option's label stands where a label should: every label is held against every place.

All of them are first compared at half the size, in one product; only those that come near enough to matter
there are compared pixel by pixel. So the cost of thirty labels is not nine hundred searches.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recount_classifier.matching import Bank, Stack, Values, bank_of, energies_under, find, rows_from
from recount_classifier.raster import resized

_SLACK = 0.2
"""How much better pixels may fit than their halves do, with room: at the same place halves fit better."""


@dataclass(frozen=True, slots=True, eq=False)
class Rivals:
    """The labels of a style, prepared to be held against each other's places."""

    labels: Stack
    other: NDArray[np.bool_]
    """Whether the label of the column is another printed option's than that of the row."""
    half: Bank
    merged: NDArray[np.float32]
    """The half labels' kernels side by side."""

    def best(self, windows: Stack, least: Values) -> Values:
        """Return for each window how well the best rival fits there; -1 where none reaches `least`."""
        best = np.full(len(windows), -1.0)
        if not self.other.any():
            return best
        near = self.other & (self._at_half(windows) > least[:, None] - _SLACK)
        for window, label in np.argwhere(near).tolist():
            best[window] = max(best[window], find(windows[window], self.labels[label])[2])
        return best

    def _at_half(self, windows: Stack) -> Values:
        """Return how well each label (columns) fits at the best place of each window (rows), at half size."""
        bank, count, places = self.half, len(windows), self.half.places
        halves = _halves(windows, bank.window)
        products = rows_from(halves, bank.height, places).reshape(-1, len(self.merged)) @ self.merged
        fits = products.reshape(4, count, places, len(self.labels), places)
        scale = energies_under(halves, bank.height, bank.width, places).astype(np.float32)
        fits /= np.sqrt(scale, out=scale).reshape(4, count, places, 1, places)
        best = fits.max(axis=(0, 2, 4))
        return best / np.sqrt(bank.energies[:, 0, 0])


def rivals_of(labels: Stack, search: int, options: Sequence[str], not_printed: Collection[str]) -> Rivals:
    """Prepare the labels of targets of these options; `not_printed` are write-ins, which are no rivals."""
    keys = np.array(options)
    names = np.array([option not in not_printed for option in options])
    other = names[:, None] & names[None, :] & (keys[:, None] != keys[None, :])
    _, height, width = labels.shape
    halves = [resized(label[: height & ~1, : width & ~1], width // 2, height // 2) for label in labels]
    # Steps of two pixels from four starts: together they look at every place.
    half = bank_of(halves, search + 1)
    merged = np.ascontiguousarray(half.kernels.transpose(1, 0, 2).reshape(half.kernels.shape[1], -1))
    return Rivals(labels, other, half, merged)


def _halves(windows: Stack, window: tuple[int, int]) -> Stack:
    """Return the windows at half size from each of the four starts: 4 n windows.

    Later starts lack the last row or column, which is repeated: what is found there is found elsewhere too.
    """
    count, (high, wide) = len(windows), window
    longer = np.empty((count, windows.shape[1] + 1, windows.shape[2] + 1), np.uint8)
    longer[:, :-1, :-1] = windows
    longer[:, -1, :-1], longer[:, :, -1] = windows[:, -1], longer[:, :, -2]
    halves = np.empty((4, count * high, wide), np.uint8)
    for start in range(4):
        down, across = divmod(start, 2)
        part = longer[:, down : down + 2 * high, across : across + 2 * wide].reshape(-1, 2 * wide)
        halves[start] = resized(part, wide, count * high)
    return halves.reshape(4 * count, high, wide)
