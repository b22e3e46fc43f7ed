"""What white sheets under the camera show: how even the light is, and what lies on the glass. Pure.

Two sheets are compared: a spot or line that is at one place of both pictures lies on the glass, one that is
on a single picture lies on that sheet. Nothing here is ever divided out of a picture: paper is measured round
every spot of each ballot, and the pixels that are judged stay those that the camera gave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_classifier.streaks import PALEST, dark_lines
from recount_device.calibration.chart_dots import Grey, paper_under
from recount_device.calibration.chart_optics import CLIPPED
from recount_device.calibration.chart_sheet import SHEET_WIDTH_MM
from recount_device.errors import OperatorError

_SMALL_COLUMNS: Final = 200
_EDGE_MM: Final = 6.0
"""The sheet's rim is left out: its edge, its shadow, the rollers' marks."""
_BLOCK_MM: Final = 10.0
_LEAST_SHEET: Final = 0.5
"""Share of the picture that a sheet fills at least."""
PALEST_SPOT: Final = 0.08
"""Darkness, as a share of the paper's brightness, from which something is a spot: a third of ink's 0.22."""
SMALLEST_SPOT_MM2: Final = 0.04
"""A smaller one is grain. The largest spot in an empty target of 2.5 x 2.5 mm may have 0.075 mm2."""
_MOST_SPOTS: Final = 2000
"""More are no dust: what lies there is printed."""
_SAME_PLACE_PX: Final = 2.5
_SAME_COLUMN_PX: Final = 4.0
"""A line's own width is no spot, and grain breaks a pale line into spots."""
_PRINTED_SHARE: Final = 0.002
"""Share of a blank sheet under spots, at most."""

NOT_WHITE: Final = "this is no blank white sheet: feed one, without print, marks or folds, that fills the bed"


@dataclass(frozen=True, slots=True)
class Dirt:
    """A spot or a line on the glass, in pixels of the picture."""

    x: float
    y: float
    """0 for a line, which runs from edge to edge."""
    mm2: float
    """0 for a line."""

    @property
    def words(self) -> str:
        """Return where it is, for people."""
        if self.mm2 == 0:
            return f"a line at column {self.x:.0f}"
        return f"a spot of {self.mm2:.2f} mm2 at column {self.x:.0f}, row {self.y:.0f}"


@dataclass(frozen=True, eq=False)
class WhiteSheets:
    """What two or more white sheets showed."""

    light: NDArray[np.float64]
    """Grey of the paper, a number for each piece of 10 x 10 mm; the mean of all sheets."""
    clipped_share: float
    dirt: tuple[Dirt, ...]
    """On the glass."""
    on_paper: int
    """Spots that only one sheet shows."""

    @property
    def darkest(self) -> float:
        """Return the darkest piece's grey."""
        return float(self.light.min())

    @property
    def evenness(self) -> float:
        """Return the darkest piece against the brightest."""
        return self.darkest / max(1.0, float(self.light.max()))


def white_sheets(pictures: Sequence[Grey]) -> WhiteSheets:
    """Return what the pictures of two or more white sheets show. Raises OperatorError for what is none."""
    if len(pictures) < 2:
        raise OperatorError("give two white sheets: dust on the glass is what both show at one place")
    if len({picture.shape for picture in pictures}) > 1:
        raise OperatorError("the pictures of the white sheets differ in size: take all with one camera mode")
    boxes = [_inside(picture) for picture in pictures]
    left, top = max(box[0] for box in boxes), max(box[1] for box in boxes)
    right, bottom = min(box[2] for box in boxes), min(box[3] for box in boxes)
    parts = [picture[top:bottom, left:right] for picture in pictures]
    px_per_mm = max(box[4] for box in boxes)
    light = np.mean([_blocks(part, px_per_mm) for part in parts], axis=0)
    clipped = max(float((part >= CLIPPED).mean()) for part in parts)
    lines = [dark_lines(np.ascontiguousarray(part), PALEST * float(np.median(part))) for part in parts]
    stays = [x for x, _ in lines[0] if all(_is_at(x, [its for its, _ in one]) for one in lines[1:])]
    spots = [[spot for spot in _spots(part, px_per_mm) if not _is_at(spot[0], stays)] for part in parts]
    both = [spot for spot in spots[0] if all(_has(spot[0], spot[1], one) for one in spots[1:])]
    dirt = [Dirt(x + left, 0.0, 0.0) for x in stays]
    dirt += [Dirt(x + left, y + top, mm2) for x, y, mm2 in both]
    return WhiteSheets(light, clipped, tuple(dirt), sum(map(len, spots)) - len(spots) * len(both))


def _inside(picture: Grey) -> tuple[int, int, int, int, float]:
    """Return the sheet's inner part (left, top, right, bottom) and the picture's pixels a millimetre."""
    height, width = picture.shape
    shrink = max(1, round(width / _SMALL_COLUMNS))
    small = cv2.resize(picture, (width // shrink, height // shrink), interpolation=cv2.INTER_AREA)
    smooth = cv2.medianBlur(small, 5)
    bright = (smooth > 0.5 * float(np.percentile(smooth, 80))).astype(np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(bright, connectivity=4)
    if len(stats) < 2:
        raise OperatorError(NOT_WHITE)
    x, y, wide, high, area = (int(n) for n in stats[1:][int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))])
    if area < _LEAST_SHEET * bright.size:
        raise OperatorError(NOT_WHITE)
    px_per_mm = min(wide, high) * shrink / SHEET_WIDTH_MM
    edge = round(_EDGE_MM * px_per_mm)
    # A turned sheet leaves dark corners in its box: the rim grows by as much as its sides slope.
    edge += round((1 - area / (wide * high)) * min(wide, high) * shrink / 2)
    box = (x * shrink + edge, y * shrink + edge, (x + wide) * shrink - edge, (y + high) * shrink - edge)
    if box[2] - box[0] < 10 * _BLOCK_MM * px_per_mm or box[3] - box[1] < 10 * _BLOCK_MM * px_per_mm:
        raise OperatorError(NOT_WHITE)
    return (*box, px_per_mm)


def _blocks(part: Grey, px_per_mm: float) -> NDArray[np.float64]:
    size = (
        max(3, round(part.shape[1] / (_BLOCK_MM * px_per_mm))),
        max(3, round(part.shape[0] / (_BLOCK_MM * px_per_mm))),
    )
    return np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA), np.float64)


def _spots(part: Grey, px_per_mm: float) -> list[tuple[float, float, float]]:
    """Return (x, y, area in mm2) of what is darker than the paper round it."""
    paper = paper_under(part)
    even = cv2.blur(cast("Grey", cv2.divide(part, paper, scale=250)), (3, 3))
    _, dark = cv2.threshold(even, round(250 * (1 - PALEST_SPOT)), 1, cv2.THRESH_BINARY_INV)
    mask = np.asarray(dark, np.uint8)
    if float(mask.mean()) > _PRINTED_SHARE * 10:
        raise OperatorError(NOT_WHITE)
    _, _, stats, middles = cv2.connectedComponentsWithStats(mask, connectivity=8)
    areas = stats[1:, cv2.CC_STAT_AREA] / px_per_mm**2
    large = np.flatnonzero(areas >= SMALLEST_SPOT_MM2)
    if len(large) > _MOST_SPOTS:
        raise OperatorError(NOT_WHITE)
    return [(float(middles[1:][i][0]), float(middles[1:][i][1]), float(areas[i])) for i in large]


def _is_at(x: float, columns: Sequence[float]) -> bool:
    return any(abs(x - column) <= _SAME_COLUMN_PX for column in columns)


def _has(x: float, y: float, spots: Sequence[tuple[float, float, float]]) -> bool:
    return any(
        abs(x - its_x) <= _SAME_PLACE_PX and abs(y - its_y) <= _SAME_PLACE_PX for its_x, its_y, _ in spots
    )
