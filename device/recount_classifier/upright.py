"""The contest as people see it: the sheet's own pixels turned upright, and nothing else of the ballot.

The stored crop is evidence and stays as it is: the judge needs its margin. Its margin also shows a little of
the contests beside it, which are nobody's business in this recount; what lies outside the contest's box is
hatched over here.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_classifier.evidence import Evidence
from recount_classifier.program import Program, Style
from recount_classifier.raster import Grey
from recount_classifier.sheet_map import SheetMap

Points = NDArray[np.float64]

_HATCH_GROUND, _HATCH_LINE = 232, 200
_HATCH_STEP_PX = 9
_SLACK_PX = 3.0
"""Blank pixels round the contest's box that are shown too: a rule on its edge is seen whole."""
_EDGE_POINTS = 12
_FAR_PX = 1e5
"""Beyond every picture; stored evidence may hold a registration that leads further."""


@dataclass(frozen=True, slots=True, eq=False)
class Upright:
    """A contest's own pixels, turned by quarters until its print stands upright."""

    pixels: Grey
    """Without the rest of the ballot: that is hatched."""
    style: Style
    _quarters: int
    _crop_shape: tuple[int, int]
    _maps: tuple[SheetMap, SheetMap]

    def points(self, blank: Points, registration: int = 0) -> Points:
        """Return where a registration (0 or 1) puts these points of the blank, in `pixels`."""
        return _turned(self._maps[registration].points(blank), self._quarters, self._crop_shape)

    @property
    def scale(self) -> float:
        """Return pixels per pixel of the blank."""
        return self._maps[0].scale


def upright(evidence: Evidence, program: Program) -> Upright:
    """Return the contest's own pixels upright. Raises KeyError for a style that is not in the program."""
    style = program.styles_by_id[evidence.style_id]
    first, second = (SheetMap(registration, style.frame) for registration in evidence.registrations)
    _, _, a, _, c, _ = first.local_affine(style.frame[0], style.frame[1])
    quarters = round(float(np.degrees(np.arctan2(c, a))) / 90) % 4
    shape = evidence.crop.shape
    turned = np.ascontiguousarray(np.rot90(evidence.crop, quarters))
    edge = _turned(first.points(_edge_of(style)), quarters, shape)
    return Upright(_hatched(turned, edge), style, quarters, shape, (first, second))


def contest_only(evidence: Evidence, program: Program) -> Grey:
    """Return the picture that people see of a stored crop: upright, with nothing but this contest."""
    shown = upright(evidence, program)
    left, top, right, bottom = box_in(shown)
    return np.ascontiguousarray(shown.pixels[top:bottom, left:right])


def box_in(shown: Upright) -> tuple[int, int, int, int]:
    """Return the rectangle (left, top, right, bottom) of `pixels` that holds the contest's box."""
    edge = shown.points(_edge_of(shown.style))
    height, width = shown.pixels.shape
    low, high = np.floor(edge.min(axis=0)), np.ceil(edge.max(axis=0)) + 1
    left, top = max(0, int(low[0])), max(0, int(low[1]))
    return left, top, max(left + 1, min(width, int(high[0]))), max(top + 1, min(height, int(high[1])))


def _edge_of(style: Style) -> Points:
    """Return points of the blank along the contest's box, all round."""
    left, top, right, bottom = style.box
    return along_box(left - _SLACK_PX, top - _SLACK_PX, right - 1 + _SLACK_PX, bottom - 1 + _SLACK_PX)


def along_box(left: float, top: float, right: float, bottom: float) -> Points:
    """Return points along a rectangle, all round: mapped, they follow the sheet's bends."""
    part = np.linspace(0, 1, _EDGE_POINTS, endpoint=False)
    across, down = left + part * (right - left), top + part * (bottom - top)
    ends = np.full(_EDGE_POINTS, 1.0)
    return np.concatenate(
        [
            np.column_stack([across, ends * top]),
            np.column_stack([ends * right, down]),
            np.column_stack([left + right - across, ends * bottom]),
            np.column_stack([ends * left, top + bottom - down]),
        ]
    )


def _turned(points: Points, quarters: int, shape: tuple[int, int]) -> Points:
    """Return crop points as `np.rot90(crop, quarters)` moves them."""
    height, width = shape
    x, y = points[:, 0], points[:, 1]
    moved = ((x, y), (y, width - 1 - x), (width - 1 - x, height - 1 - y), (height - 1 - y, x))[quarters]
    return np.clip(np.column_stack(moved), -_FAR_PX, _FAR_PX)


def _hatched(picture: Grey, edge: Points) -> Grey:
    """Return the picture with all outside the closed line hatched over."""
    rows, columns = np.mgrid[0 : picture.shape[0], 0 : picture.shape[1]]
    on_line = (rows + columns) % _HATCH_STEP_PX < 2
    hatch = np.where(on_line, _HATCH_LINE, _HATCH_GROUND).astype(np.uint8)
    inside = np.zeros(picture.shape, np.uint8)
    cv2.fillPoly(inside, [np.round(edge).astype(np.int32)], 1)
    return np.where(inside > 0, picture, hatch)
