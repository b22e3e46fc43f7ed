"""Pale lines along the paper path in one picture of the contest: what dirt on the camera's glass looks like.

They are looked for far below the darkness at which a line touches a verdict (`lines.py`), so that people can
be told to clean the glass before any sheet comes back for it. One sheet proves nothing: a voter draws lines,
and print shows through. Who compares sheets is the device: dirt stays at its column of the picture, whatever
lies on the paper moves with the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recount_classifier.evidence import Evidence
from recount_classifier.program import Program, Style
from recount_classifier.raster import Grey, closed, ones, resized
from recount_classifier.sheet_map import SheetMap

_STRIP_PX = 16
"""Rows that are averaged: a fourth of the grain is left, and text shows its gaps from strip to strip."""
_WIDEST_PX = 12
_ENVELOPE_PX = 25
"""Paper is what a line narrower than half of this leaves of it."""
PALEST = 0.03
"""Darkness of a line, as a share of the contrast; the grain of a camera leaves a third of it at most."""
_LIGHT_STRIPS = 0.2
"""Share of the strips in which a line may be lost in something else."""
_PRINTED = 0.1
_PRINT_SLACK_PX = 4


@dataclass(frozen=True, slots=True)
class PaleLine:
    """A line that runs straight up and down the whole crop."""

    column: float
    """Its middle, in columns of the page's picture."""
    depth: float
    """How dark it is at least, as a share of the contrast between paper and print."""
    place: float
    """Where it crosses the middle of the contest on the blank, in pixels along the blank's row or column."""


def pale_lines(evidence: Evidence, program: Program) -> tuple[PaleLine, ...]:
    """Return the lines in the picture's columns that the blank has not printed there, the leftmost first."""
    style = program.styles_by_id[evidence.style_id]
    contrast = max(1.0, evidence.gates.get("white", 255.0) - evidence.gates.get("black", 0.0))
    sheet_map = SheetMap(evidence.registrations[0], style.frame)
    middle_x, middle_y = style.frame[:2]
    sx, sy, a, b, c, d = sheet_map.local_affine(middle_x, middle_y)
    lies = abs(b) > abs(a)
    printed = _printed_columns(style, lies)
    to_blank = np.linalg.inv(np.array([[a, b], [c, d]]))
    left, top, _, _ = style.reference_box
    row = evidence.crop.shape[0] / 2
    found: list[PaleLine] = []
    for column, depth in dark_lines(evidence.crop, PALEST * contrast):
        across, down = to_blank @ (column - sx, row - sy)
        place = float(middle_y + down if lies else middle_x + across)
        if not _is_printed(printed, place - (top if lies else left)):
            found.append(PaleLine(column + evidence.gates.get("crop_left", 0.0), depth / contrast, place))
    return tuple(found)


def dark_lines(picture: Grey, least_depth: float) -> list[tuple[float, float]]:
    """Return (middle, depth in grey levels) of the lines that run down the whole picture."""
    depths = _depths(picture)
    columns = np.flatnonzero(depths >= least_depth)
    if len(columns) == 0:
        return []
    runs = np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)
    return [
        (float(np.average(run, weights=depths[run])), float(depths[run].max()))
        for run in runs
        if len(run) <= _WIDEST_PX
    ]


def _depths(picture: Grey) -> NDArray[np.float64]:
    """Return for each column how much darker than its surroundings it is in nearly all strips."""
    height, width = picture.shape
    count = max(1, height // _STRIP_PX)
    strips = resized(picture[: count * _STRIP_PX], width, count)
    # The edge is repeated: a dark column at the edge has paper on one side only, and says nothing.
    paper = closed(strips, ones(_ENVELOPE_PX, 1))
    depth = np.sort(paper.astype(np.int16) - strips, axis=0)
    return depth[int(_LIGHT_STRIPS * count)].astype(np.float64)


@lru_cache(maxsize=64)
def _printed_columns(style: Style, lies: bool) -> NDArray[np.bool_]:
    """Return where the blank itself has lines along its columns; along its rows for a sheet that lies."""
    reference = style.reference.T if lies else style.reference
    return _depths(np.ascontiguousarray(reference)) >= _PRINTED * 255


def _is_printed(printed: NDArray[np.bool_], place: float) -> bool:
    first, last = round(place) - _PRINT_SLACK_PX, round(place) + _PRINT_SLACK_PX + 1
    return bool(printed[max(0, first) : max(0, last)].any())
