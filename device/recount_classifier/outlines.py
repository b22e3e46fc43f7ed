"""Whether each target's printed outline stands on the sheet with the ink it has on the blank.

What hides a voter's mark (glare, correction fluid, an eraser, a worn spot, a saturated exposure, a wiped scan
line) hides print as well: paper that merely bears no mark still bears its outline. So a target with a pale
outline is not clearly empty. Marks only darken an outline.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recount_classifier.marks import Zones, zones_of

Stack = NDArray[np.uint8]
Values = NDArray[np.float32]

_SECTORS = 4
"""Parts of an outline that are looked at apart: a patch may hide one side of it. Eighths would part hidden
marks from scans of one bit, whose thin outlines are ragged, less well (tried on 801 hidden marks)."""
_FEWEST_PX = 3
"""Pixels of outline that a sector has at least to say anything."""
_STRONG_INK, _LEAST_INK = 60, 20
"""Ink (of 255) that is outline on the blank: from 60 on, or from half of a pale outline's darkest; never
below 20."""
_PALEST_PRINT = 0.7
"""A sheet whose outlines are all paler than this, against the blank, is not measured by itself any more."""


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """The printed outlines of n targets of one size, as the blank has them."""

    weights: Values
    """n x pixels of the windows' inner parts (`Zones.inner`): what each pixel of outline on a sheet is
    multiplied with, so that the blank's own is 1."""
    sectors: Values
    """Pixels x sectors: 1 where a pixel lies in a sector."""
    known: NDArray[np.bool_]
    """n x sectors: whether the sector has any outline."""
    is_printed: NDArray[np.bool_]
    """Whether a target has any outline."""
    middle: NDArray[np.intp]
    """2 x n: the two middle ones of a target's sectors that have outline, from the palest; often the same."""


def outlines_of(ink: Stack, darkest: Stack, target_width: float, target_height: float) -> Outlines:
    """Return the outlines on the blank's windows (n, height, width) round targets of one size.

    `ink` is the blank's, averaged as a sheet's is; `darkest` the darkest of it round each pixel.
    """
    zones = zones_of(target_width, target_height)
    inside = np.where(zones.inside, ink, 0)[:, *zones.inner].reshape(len(ink), -1)
    level = np.clip(inside.max(axis=1) // 2, _LEAST_INK, _STRONG_INK)
    printed = inside >= level[:, None]
    sectors = _sectors_of(zones, target_width, target_height)
    pixels = printed.astype(np.float32) @ sectors
    known = pixels >= _FEWEST_PX
    share = 1 / np.maximum(pixels, 1) @ sectors.T
    weights = printed * share / np.maximum(darkest[:, *zones.inner].reshape(len(ink), -1), 1)
    many = np.count_nonzero(known, axis=1)
    middle = np.stack([np.maximum(many - 1, 0) // 2, np.minimum(many // 2, _SECTORS - 1)])
    return Outlines(weights.astype(np.float32), sectors, known, many > 0, middle)


def _sectors_of(zones: Zones, target_width: float, target_height: float) -> Values:
    rows, columns = np.mgrid[zones.inner]
    turn = np.arctan2((rows - zones.height // 2) / target_height, (columns - zones.width // 2) / target_width)
    sector = ((turn + np.pi) / (2 * np.pi) * _SECTORS).astype(np.intp) % _SECTORS
    return (sector.reshape(-1, 1) == np.arange(_SECTORS)).astype(np.float32)


def measure_outlines(darkest: Stack, outlines: Outlines) -> Values:
    """Return of each target the palest and the middle sector (sheets x n x 2), 1 for the blank's ink.

    `darkest` is the darkest ink round each pixel, so that a little misplacement does not matter: the inner
    parts of the n targets' windows on a sheet, or several such stacks one after the other. Targets without
    any outline have 1.
    """
    count = len(outlines.known)
    ink = darkest.reshape(len(darkest) // count, count, -1) * outlines.weights
    # Sectors without outline stand last, as infinitely dark.
    shares = np.sort(np.where(outlines.known, ink @ outlines.sectors, np.float32(np.inf)), axis=2)
    targets, (low, high) = np.arange(count), outlines.middle
    middle = (shares[:, targets, low] + shares[:, targets, high]) / 2
    return np.where(
        outlines.is_printed[:, None], np.stack([shares[:, :, 0], middle], axis=2), np.float32(1.0)
    )


def against_usual(measured: Values) -> Values:
    """Return each target's palest sector (sheets x n) against what is usual on its sheet.

    A sheet scanned paler, or through a lens, has all its outlines paler. Marks, which make outlines darker,
    have no say beyond the blank's ink. Of few targets the darker ones say what is usual.
    """
    middles = np.sort(measured[:, :, 1], axis=1)
    usual = np.clip(middles[:, middles.shape[1] // 2], _PALEST_PRINT, 1.0)
    return (measured[:, :, 0] / usual[:, None]).astype(np.float32)
