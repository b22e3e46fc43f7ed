"""Finds the dots of a lens chart in a picture, and which dot of the grid each of them is. Pure.

Dots are known by their roundness and their size, which most of the picture's ink has; each is told its place
in the grid from a neighbour that has one, so that the grid may be bent, turned, and lack some dots.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Final, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_device.calibration.chart_sheet import COLUMNS, DOT_MM, PITCH_MM
from recount_device.errors import OperatorError

Grey = NDArray[np.uint8]
Points = NDArray[np.float64]

LEAST_DOTS: Final = 150
"""Fewer do not show a lens's bend at the edges."""
_LEAST_SHARE: Final = 0.8
"""Of the grid's places between the outermost dots, those where a dot must be found."""
_ENVELOPE_COLUMNS: Final = 430
"""The paper is looked for in a picture so wide: a dot of a letter sheet covers 8 of them."""
_ENVELOPE_PX: Final = 15
_LEAST_DOT_PX: Final = 8
"""Diameter of the smallest dot that can be placed well."""
_ROUND: Final = (0.62, 0.92)
"""Share of its box that a round spot fills (a circle: 0.785)."""
_SIZES: Final = (0.5, 2.0)
"""Areas of dots against the usual dot's; a lens presses the corners together."""
_SIZE_TOLERANCE: Final = 0.2
"""Dots are so much larger or smaller against their distances than the chart's at most."""
_NEAR: Final = 0.3
"""A dot lies within so many pitches of where its neighbour expects it."""

NO_CHART: Final = (
    "no lens chart is seen: print one with recount-device chart, and lay it flat under the camera, "
    "printed side up, all of it in the picture"
)


@dataclass(frozen=True, eq=False)
class Dots:
    """The chart's dots in one picture."""

    width: int
    height: int
    """Of the picture, in pixels."""
    chart: Points
    """Where each dot stands on the chart, in mm from one of the dots near the middle."""
    picture: Points
    """Where its middle lies in the picture, in pixels."""

    @property
    def px_per_mm(self) -> float:
        """Return the picture's scale, the mean over the whole field."""
        spread = float(np.sqrt(np.linalg.det(np.cov(self.picture.T)) / np.linalg.det(np.cov(self.chart.T))))
        return spread**0.5

    @property
    def reach(self) -> tuple[float, float]:
        """Return how much of the picture's width and height lies between the outermost dots."""
        across, down = self.picture.max(axis=0) - self.picture.min(axis=0)
        return float(across) / self.width, float(down) / self.height


def find_dots(picture: Grey) -> Dots:
    """Return the chart's dots. Raises OperatorError where the picture shows no chart."""
    paper = paper_under(picture)
    even = cast("Grey", cv2.divide(picture, paper, scale=255))
    _, ink = cv2.threshold(even, 0, 1, cv2.THRESH_BINARY_INV | cv2.THRESH_OTSU)
    _, _, stats, middles = cv2.connectedComponentsWithStats(np.asarray(ink, np.uint8), connectivity=8)
    stats = np.asarray(stats, np.int32)
    spots = _round_spots(stats[1:])
    if len(spots) < LEAST_DOTS:
        raise OperatorError(NO_CHART)
    boxes = stats[1:][spots]
    rough = np.asarray(middles[1:][spots], np.float64)
    places = _places_in_grid(rough)
    known = sorted(places)
    cells = np.array([places[index] for index in known])
    _refuse_patchy(cells)
    dots = Dots(picture.shape[1], picture.shape[0], cells * PITCH_MM, rough[known])
    size_mm = float(np.median(boxes[known][:, cv2.CC_STAT_AREA] * (4 / np.pi))) ** 0.5 / dots.px_per_mm
    if abs(size_mm / DOT_MM - 1) > _SIZE_TOLERANCE:
        raise OperatorError(NO_CHART)
    exact = np.array([_middle(even, boxes[index]) for index in known])
    return replace(dots, picture=exact)


def paper_under(picture: Grey) -> Grey:
    """Return the grey that the paper has at each pixel: dots and words are filled with what is round them."""
    height, width = picture.shape
    shrink = max(1, round(width / _ENVELOPE_COLUMNS))
    small = cv2.resize(picture, (width // shrink, height // shrink), interpolation=cv2.INTER_AREA)
    closed = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((_ENVELOPE_PX, _ENVELOPE_PX), np.uint8))
    smooth = cv2.blur(closed, (5, 5))
    return cast("Grey", cv2.resize(smooth, (width, height), interpolation=cv2.INTER_LINEAR))


def _round_spots(stats: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return which parts are round and have the size that most round ink has."""
    width, height = stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT]
    area = stats[:, cv2.CC_STAT_AREA].astype(np.float64)
    fill = area / (width * height)
    long = np.maximum(width, height) / np.minimum(width, height)
    fair = (fill > _ROUND[0]) & (fill < _ROUND[1]) & (long < 1.7) & (width >= _LEAST_DOT_PX)
    candidates = np.flatnonzero(fair)
    if len(candidates) < LEAST_DOTS:
        return candidates[:0]
    # The size under which half of the round ink lies: that of the dots, whatever else is round.
    ordered = candidates[np.argsort(area[candidates])]
    total = np.cumsum(area[ordered])
    usual = area[ordered[int(np.searchsorted(total, total[-1] / 2))]]
    share = area[candidates] / usual
    return candidates[(share > _SIZES[0]) & (share < _SIZES[1])]


def _places_in_grid(points: Points) -> dict[int, tuple[int, int]]:
    """Return (column, row) of each point that can be reached from the middlemost, which is (0, 0)."""
    first = int(np.argmin(((points - np.median(points, axis=0)) ** 2).sum(axis=1)))
    across, down = _steps_at(points, first)
    places, taken = {first: (0, 0)}, {(0, 0)}
    steps = {first: (across, down)}
    queue = deque([first])
    while queue:
        here = queue.popleft()
        column, row = places[here]
        across, down = steps[here]
        for move, (right, under) in ((across, (1, 0)), (-across, (-1, 0)), (down, (0, 1)), (-down, (0, -1))):
            cell = (column + right, row + under)
            if cell in taken:
                continue
            away = points - (points[here] + move)
            there = int(np.argmin((away**2).sum(axis=1)))
            if there in places or float(np.hypot(*away[there])) > _NEAR * float(np.hypot(*move)):
                continue
            places[there] = cell
            taken.add(cell)
            # What the step was here, it nearly is there.
            moved = points[there] - points[here]
            steps[there] = (moved * right, down) if right else (across, moved * under)
            queue.append(there)
    return places


def _steps_at(points: Points, first: int) -> tuple[Points, Points]:
    """Return the steps to the next dot right and below, as the nearest dots of the middlemost show them."""
    away = points - points[first]
    nearest = away[np.argsort((away**2).sum(axis=1))[1:5]]
    across = nearest[int(np.argmax(nearest[:, 0]))]
    down = nearest[int(np.argmax(nearest[:, 1]))]
    return across, down


def _refuse_patchy(cells: NDArray[np.int64]) -> None:
    """Raise OperatorError where the dots are no chart's, or too many of it are not seen."""
    columns, rows = cells.max(axis=0) - cells.min(axis=0) + 1
    if len(cells) < LEAST_DOTS or len(cells) < _LEAST_SHARE * columns * rows or min(columns, rows) > COLUMNS:
        raise OperatorError(NO_CHART)


def _middle(even: Grey, box: NDArray[np.int32]) -> tuple[float, float]:
    """Return the middle of a dot's ink, weighed by its darkness."""
    margin = max(2, round(float(box[cv2.CC_STAT_WIDTH]) / DOT_MM * 0.5))
    left, top = max(0, int(box[0]) - margin), max(0, int(box[1]) - margin)
    part = even[top : int(box[1] + box[3]) + margin, left : int(box[0] + box[2]) + margin]
    # Grain of the paper far from the middle would pull it: only what is clearly darker has a weight.
    ink = np.maximum(0.0, 0.8 - part.astype(np.float64) / 255)
    total = float(ink.sum())
    x = float(ink.sum(axis=0) @ np.arange(part.shape[1])) / total
    y = float(ink.sum(axis=1) @ np.arange(part.shape[0])) / total
    return left + x, top + y
