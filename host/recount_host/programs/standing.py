"""How a blank lies in its picture: level or not; upright, upside down or on a side. Its print tells.

Rules and lines of print lie in few rows and columns of pixels when a blank lies level, and in many when it
does not. Letters of a line stand on one baseline, and most of those that differ in height differ at the top:
a blank lies upright when that is so. It holds for every script with capitals and small letters.
"""

from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_classifier.raster import Grey, resized
from recount_host.programs.finding import ink_share

_NARROW_PAPER_IN = 8.5
"""The shorter side of usual ballots; letters are told by their size, for which that is close enough."""
_ENOUGH_DPI = 200.0
_LETTER_IN = (0.03, 0.25)
_NEXT, _BESIDE = 0.5, 0.5
"""How far behind a letter the next one of its line begins, and how far its middle may lie off; in heights."""
_LEVEL_IN, _TALLER = 0.008, 0.15
"""Off one line by no more; taller by that share of its height."""
_SURE, _FEWEST = 2.0, 20
"""Pairs of letters that speak for another position: so many times those for upright, and so many at least."""

_MOST_DEG, _STEP_DEG, _FINE_DEG = 12.0, 0.25, 0.02
"""How far a blank may be turned, and the steps in which that is looked for: roughly, and about the best."""
_LEVEL_DEG = 0.5
"""Turned by less it stays as it lies: a box round a contest that goes across the sheet is off by 2 mm."""
_LEVEL_DPI, _CLEARLY = 100.0, 5.0
"""Resolution that shows how a page is turned, and how far its best angle must stand out from the others."""

_Boxes = NDArray[np.float64]
"""Left, top, right, bottom."""


def upright(page: Grey) -> Grey:
    """Return the page with its print upright: turned by quarter turns, or as it is where nothing is sure."""
    letters, dpi, width, height = _letters(page)
    speaking: list[int] = []
    for _ in range(4):
        speaking.append(_on_a_baseline(letters, dpi))
        # A quarter turn against the clock, as np.rot90 makes it.
        left, top, right, bottom = letters.T
        letters = np.stack([top, width - right, bottom, width - left], axis=1)
        height, width = width, height
    turns = int(np.argmax(speaking))
    if turns == 0 or speaking[turns] < max(_FEWEST, _SURE * speaking[0]):
        return page
    return np.ascontiguousarray(np.rot90(page, turns))


def level(page: Grey) -> Grey:
    """Return the page turned by some degrees so that its print lies level, or as it is where it does."""
    turned = _turned_deg(page)
    if abs(turned) < _LEVEL_DEG:
        return page
    height, width = page.shape
    back = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), -turned, 1)
    paper = float(np.median(page))
    return cast("Grey", cv2.warpAffine(page, back, (width, height), flags=cv2.INTER_CUBIC, borderValue=paper))


def _turned_deg(page: Grey) -> float:
    """Return by how many degrees against the clock the print is turned; 0 where that is not clear."""
    factor = min(1.0, _LEVEL_DPI * _NARROW_PAPER_IN / min(page.shape))
    if factor < 1:
        page = resized(page, round(page.shape[1] * factor), round(page.shape[0] * factor))
    rows, columns = np.nonzero(ink_share(page, _LEVEL_DPI) > 110)
    if len(rows) == 0:
        return 0.0

    def levelness(degrees: float) -> float:
        slope = float(np.tan(np.radians(degrees)))
        return _unevenness(rows + slope * columns) + _unevenness(columns - slope * rows)

    roughly = np.arange(-_MOST_DEG, _MOST_DEG + _STEP_DEG, _STEP_DEG)
    told = [levelness(degrees) for degrees in roughly]
    if max(told) < _CLEARLY * float(np.median(told)):
        return 0.0
    near = float(roughly[int(np.argmax(told))])
    finely = np.arange(near - _STEP_DEG, near + _STEP_DEG, _FINE_DEG)
    return float(finely[int(np.argmax([levelness(degrees) for degrees in finely]))])


def _unevenness(places: NDArray[np.float64]) -> float:
    """Return how much neighbouring rows differ in how many of these places lie in them."""
    counts = np.bincount(np.round(places - places.min()).astype(np.int64))
    return float(np.square(np.diff(counts.astype(np.float64))).sum())


def _letters(page: Grey) -> tuple[_Boxes, float, int, int]:
    """Return the letters, and resolution, width and height of the picture that they were found in."""
    dpi = min(page.shape) / _NARROW_PAPER_IN
    if dpi > _ENOUGH_DPI:
        factor = _ENOUGH_DPI / dpi
        page = resized(page, round(page.shape[1] * factor), round(page.shape[0] * factor))
        dpi = _ENOUGH_DPI
    dark = (ink_share(page, dpi) > 110).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(dark, connectivity=8)
    left, top, wide, high = cast("NDArray[np.int32]", stats)[1:, :4].T.astype(np.float64)
    smallest, largest = (size * dpi for size in _LETTER_IN)
    is_letter = (np.maximum(wide, high) < largest) & (np.minimum(wide, high) > smallest / 2)
    is_letter &= np.maximum(wide, high) > smallest
    height, width = page.shape
    return np.stack([left, top, left + wide, top + high], axis=1)[is_letter], dpi, width, height


def _on_a_baseline(letters: _Boxes, dpi: float) -> int:
    """Return how many letters and their next ones stand on one line below, and differ above."""
    letters = letters[np.argsort(letters[:, 0])]
    starts, level, count = letters[:, 0], _LEVEL_IN * dpi, 0
    for left, top, right, bottom in letters.tolist():
        high = bottom - top
        first, last = np.searchsorted(starts, (max(left + 1, right - 0.1 * high), right + _NEXT * high))
        others = letters[first:last]
        middles = (others[:, 1] + others[:, 3]) / 2
        in_line = others[np.abs(middles - (top + bottom) / 2) < _BESIDE * high]
        if len(in_line) == 0:
            continue
        _, other_top, _, other_bottom = in_line[0].tolist()
        taller = max(2 * level, _TALLER * max(high, other_bottom - other_top))
        count += abs(other_bottom - bottom) <= level and abs(other_top - top) > taller
    return count
