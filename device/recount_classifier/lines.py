"""Straight lines from edge to edge of the ground: scan streaks along the paper path, and folds.

They are no marks: they are taken off the ink, as far as it is no darker than they are. Those that meet a
target are reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recount_classifier.raster import Grey, above, added, column_sums, dilated, not_above, ones, transposed

_LINE_LEVEL = 18
"""Excess ink (of 255) at which a pixel may belong to a line: streaks are often pale."""
_STRIP_PX = 16
"""Rows that are averaged before a line is followed; the sheet leans less than a pixel in so few."""
_WOBBLE = ones(3, 1)
_WIDEST_PX = 12
_EDGE_PX = 2
"""Blurred edge on each side of a line, taken off with it."""
_WIDENED_PX = 1
"""A line looks so much wider on each side than it is: ink is averaged over three pixels, and may wobble."""
_UNEVEN, _UNEVEN_GREY = 1.5, 24
"""A line may be so many times as dark in one spot as it usually is, and more by the grain of its picture."""
_LEAST_ROOM = 0.35
"""Share of a line's length that must be free of print to say anything about it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One straight line: its middle and half width (pixels, with blurred edges) at the ground's middle."""

    middle: float
    half_width: float
    slope: float

    def at(self, place: float, length: int) -> float:
        """Return the line's middle at a distance along it; `length` is the ground's extent along the line."""
        return self.middle + self.slope * (place - (length - 1) / 2)


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines down and the lines across the ground."""

    down: tuple[Line, ...]
    across: tuple[Line, ...]

    def __bool__(self) -> bool:
        """Return whether there is any line."""
        return bool(self.down or self.across)


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """How many pixels of each strip of the ground are free of print, for lines down and across."""

    down: Grey
    across: Grey


def room_of(print_mask: Grey) -> Room:
    """Return the room for lines on a ground with this print."""
    free = not_above(print_mask, 0)
    return Room(_strips_down(free), _strips_across(free))


def find_lines(excess: Grey, room: Room, slope: float, least_cover: float, darkest_across: int) -> Lines:
    """Return the straight lines across the ground.

    `slope` is how far the sheet's own columns lean on the ground (pixels right per pixel down): streaks
    follow the sheet's path, not the print. Lines across count only while they are paler than
    `darkest_across`: a dark line across the contest may be a pen's.
    """
    dark = above(excess, _LINE_LEVEL)
    down = _along(_strips_down(dark), room.down, slope, least_cover)
    across = _along(_strips_across(dark), room.across, -slope, least_cover)
    kept = tuple(line for line in across if _depth(excess, line) < darkest_across)
    return Lines(down, kept)


def erase(excess: Grey, lines: Lines) -> None:
    """Take the lines off the ink, in place; ink that is darker than its line, as a pen's across it, stays."""
    for line in lines.down:
        _erase(excess, line)
    for line in lines.across:
        _erase(excess.T, line)


def _erase(excess: Grey, line: Line) -> None:
    """Take off a line that runs down the ground."""
    height, width = excess.shape
    rows = np.arange(height)
    reach = int(line.half_width + 0.5)
    middles = np.round(line.middle + line.slope * (rows - (height - 1) / 2)).astype(np.intp)
    places = rows[:, None], np.clip(middles[:, None] + np.arange(-reach, reach + 1), 0, width - 1)
    strip = excess[places]
    dark = strip.max(axis=1)
    dark = dark[dark > _LINE_LEVEL]
    if len(dark) == 0:
        return  # a line beside it has taken it off
    strip[strip <= float(np.median(dark)) * _UNEVEN + _UNEVEN_GREY] = 0
    excess[places] = strip


def _strips_down(mask: Grey) -> Grey:
    """Return for each strip of rows how many pixels of every column are set (1)."""
    count = max(1, mask.shape[0] // _STRIP_PX)
    rows = mask[: count * _STRIP_PX]
    if len(rows) < _STRIP_PX:
        return rows.sum(axis=0, dtype=np.uint8)[None]
    # Sixteen rows of 0 or 1 fit in a byte. Rows are added in pairs, which lie beside each other as one row.
    width = rows.shape[1]
    while len(rows) > count:
        pairs = rows.reshape(len(rows) // 2, 2 * width)
        rows = added(pairs[:, :width], pairs[:, width:])
    return rows


def _strips_across(mask: Grey) -> Grey:
    """Return for each strip of columns how many pixels of every row are set (1)."""
    return _strips_down(transposed(mask))


def _along(strips: Grey, room: Grey, slope: float, least_cover: float) -> tuple[Line, ...]:
    """Return the lines of that slope that are dark in `least_cover` of the room they have."""
    count, width = strips.shape
    least_room = _LEAST_ROOM * _STRIP_PX * count
    # No line is darker than the darkest spots of all strips together.
    if int(strips.max(axis=1).sum()) <= least_cover * least_room:
        return ()
    # A hair's wobble inside a strip is allowed: the darkest of each spot and its neighbours stands for it.
    wide = np.minimum(dilated(strips, _WOBBLE), room)
    if int(wide.max(axis=1).sum()) <= least_cover * least_room:
        return ()
    shifts = np.round(slope * (np.arange(count) - (count - 1) / 2) * _STRIP_PX).astype(np.intp)
    if shifts.any():
        places = np.clip(np.arange(width) + shifts[:, None], 0, width - 1)
        places += np.arange(0, count * width, width)[:, None]
        wide, room = wide.ravel()[places], room.ravel()[places]
    lit, free = column_sums(wide), column_sums(room).astype(np.float32)
    columns = np.flatnonzero((lit > least_cover * free) & (free > least_room))
    if len(columns) == 0:
        return ()
    runs = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
    return tuple(
        Line((run[0] + run[-1]) / 2, (run[-1] - run[0]) / 2 + _EDGE_PX, slope)
        for run in runs
        if len(run) <= _WIDEST_PX
    )


def _depth(excess: Grey, line: Line) -> float:
    """Return the middle darkness of a line across, along its length."""
    height, width = excess.shape
    places = np.arange(0, width, 4)
    rows = np.clip(
        np.round(line.middle + line.slope * (places - (width - 1) / 2)).astype(np.intp), 1, height - 2
    )
    around = np.maximum(np.maximum(excess[rows - 1, places], excess[rows, places]), excess[rows + 1, places])
    return float(np.median(around))


def meeting(
    lines: tuple[Line, ...],
    centres: NDArray[np.float64],
    half_extents: NDArray[np.float64],
    places: NDArray[np.float64],
    length: int,
) -> NDArray[np.bool_]:
    """Return which targets a line's dark part reaches into: `centres` across it, `places` along it."""
    met = np.zeros(len(centres), np.bool_)
    for line in lines:
        away = np.abs(line.middle + line.slope * (places - (length - 1) / 2) - centres)
        met |= away <= half_extents + max(0.0, line.half_width - _EDGE_PX - _WIDENED_PX)
    return met
