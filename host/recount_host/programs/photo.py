"""A blank ballot on a dark ground, photographed or scanned with the bed round it, set straight to its paper.

The paper's four edges are found and each is followed as a curve, so that perspective and the bend of a lens
go; what is between them is drawn anew in the resolution of a scan. It serves as a blank only: no vote is ever
read from pixels that were moved.
"""

from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_classifier.raster import Grey
from recount_host.errors import OperatorError
from recount_host.programs.drafting import COMMON_DPI

PAPERS_IN = ((8.5, 11.0), (8.5, 14.0), (8.5, 17.0), (8.5, 19.0), (8.5, 22.0), (8.27, 11.69))
PHOTO_DPI = 200.0
"""Resolution of the page that is made of a photo, where nobody asks for another."""
_EXACT = 0.005
"""A scanner's resolution is a usual one to this share, along every edge of the paper; a photo's is any."""

_DARK_BED = 0.6
"""The rim on a side where ground shows is darker than this share of the middle."""
_RIM = 0.008
"""Width of the rim, of the picture's."""
_GROUND_PX = 40
_FORM_SLACK = 0.03
_LEAST_DPI = 140.0
_FROM_CORNERS = 0.04
"""Share of an edge next to each corner that is not followed: corners are round, or bent up."""
_ROUGH_IN = 0.03
"""How far an edge may lie off its curve (95 % of its points): beyond is torn, folded or covered paper."""
_LEAST_POINTS = 40

_Points = NDArray[np.float64]


class PhotoError(OperatorError):
    """A photo of a blank that cannot be set straight."""


def shows_ground(page: Grey) -> bool:
    """Return whether dark ground shows beside the paper, on one side at least."""
    height, width = page.shape
    rim = max(2, round(_RIM * width))
    middle = float(np.median(page[height // 4 : -height // 4, width // 4 : -width // 4]))
    rims = (page[:rim], page[-rim:], page[:, :rim], page[:, -rim:])
    return any(float(np.median(part)) < _DARK_BED * middle for part in rims)


def straightened(page: Grey, name: str, given_dpi: float | None) -> Grey:
    """Return the paper on its ground as a page, its edges the picture's.

    A scan keeps its pixels' size, a photo gets a resolution: the given one, or PHOTO_DPI. Where no ground
    shows on a side, the paper ends with the picture. Raises PhotoError in one sentence that begins with the
    picture's name.
    """
    edge = _GROUND_PX
    page = cast("Grey", cv2.copyMakeBorder(page, edge, edge, edge, edge, cv2.BORDER_CONSTANT, value=0))
    sides = _sides(page, name)
    to_paper = _to_square(sides)
    curves = [_curve(_moved(side, to_paper), name) for side in sides.edges]
    width, height = _size(sides, name, given_dpi)
    across, down = np.meshgrid((np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height)
    top, right, bottom, left = curves
    # In the square of the corners: the four curves, and between them what they give by their distance.
    x = across + (1 - across) * np.polyval(left, down) + across * np.polyval(right, down)
    y = down + (1 - down) * np.polyval(top, across) + down * np.polyval(bottom, across)
    square = np.stack([x.ravel(), y.ravel()], axis=1)
    places = (
        _moved(square, np.asarray(np.linalg.inv(to_paper), np.float64))
        .reshape(height, width, 2)
        .astype(np.float32)
        - 0.5
    )
    drawn = cv2.remap(page, places, None, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return cast("Grey", drawn)


@dataclass(frozen=True)
class _Sides:
    corners: _Points
    """Top left, top right, bottom right, bottom left."""
    edges: tuple[_Points, _Points, _Points, _Points]
    """Points on the upper, right, lower and left edge."""


def _sides(page: Grey, name: str) -> _Sides:
    """Return the paper's corners and the points of its edges, in pixels."""
    soft = cv2.GaussianBlur(page, (0, 0), 2)
    _, light = cv2.threshold(soft, 0, 1, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    size = max(9, round(page.shape[1] * 0.01)) | 1
    # Print that touches an edge must not notch the paper.
    whole = cv2.morphologyEx(light, cv2.MORPH_CLOSE, np.ones((size, size), np.uint8))
    contours, _ = cv2.findContours(whole, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    largest = max(contours, key=cv2.contourArea, default=None)
    if largest is None or cv2.contourArea(largest) < 0.3 * page.size:
        raise PhotoError(f"{name}: no paper is seen on the dark ground: fill the picture with the ballot")
    outline = largest.reshape(-1, 2).astype(np.float64) + 0.5
    box = cv2.boxPoints(cv2.minAreaRect(largest)).astype(np.float64)
    by_sum, by_difference = box.sum(axis=1), box[:, 0] - box[:, 1]
    rough = box[[by_sum.argmin(), by_difference.argmax(), by_sum.argmax(), by_difference.argmin()]]
    lines = [_line(_along(outline, rough, n), name) for n in range(4)]
    corners = np.array([_crossing(lines[n - 1], lines[n], name) for n in range(4)])
    top, right, bottom, left = (_along(outline, corners, n) for n in range(4))
    return _Sides(corners, (top, right, bottom, left))


def _along(outline: _Points, corners: _Points, n: int) -> _Points:
    """Return the outline's points along the edge from corner n to the next, without those at its ends."""
    start, end = corners[n], corners[(n + 1) % 4]
    length = float(np.hypot(*(end - start)))
    towards = (end - start) / length
    away = np.array([-towards[1], towards[0]])
    share = (outline - start) @ towards / length
    beside = np.abs((outline - start) @ away)
    chosen = (share > _FROM_CORNERS) & (share < 1 - _FROM_CORNERS) & (beside < 0.05 * length)
    return outline[chosen]


def _line(points: _Points, name: str) -> tuple[float, float, float]:
    """Return a, b, c of the straight line a x + b y = c through points."""
    if len(points) < _LEAST_POINTS:
        raise PhotoError(
            f"{name}: not all four edges of the paper are seen: lay it flat, all of it in the picture"
        )
    fitted = cv2.fitLine(points.astype(np.float32), cv2.DIST_HUBER, 0, 0.01, 0.01).ravel()
    dx, dy, x, y = (float(value) for value in fitted)
    return -dy, dx, -dy * x + dx * y


def _crossing(one: tuple[float, float, float], other: tuple[float, float, float], name: str) -> _Points:
    matrix = np.array([one[:2], other[:2]])
    if abs(float(np.linalg.det(matrix))) < 0.5:
        raise PhotoError(f"{name}: the paper's edges make no rectangle: photograph it from straight above")
    return np.linalg.solve(matrix, np.array([one[2], other[2]]))


def _to_square(sides: _Sides) -> _Points:
    """Return the perspective map that takes the corners to those of the unit square."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    made = cv2.getPerspectiveTransform(sides.corners.astype(np.float32), square)
    return np.asarray(made, np.float64)


def _moved(points: _Points, matrix: _Points) -> _Points:
    ahead = np.column_stack([points, np.ones(len(points))]) @ matrix.T
    return ahead[:, :2] / ahead[:, 2:]


def _curve(points: _Points, name: str) -> _Points:
    """Return the polynomial of an edge's offset from its straight line, in the unit square."""
    spread = np.ptp(points, axis=0)
    along, off = (points[:, 0], points[:, 1]) if spread[0] > spread[1] else (points[:, 1], points[:, 0])
    off = off - np.round(np.median(off))
    fitted = _fitted(along, off)
    for _ in range(2):
        beside = np.abs(np.polyval(fitted, along) - off)
        near = beside <= max(np.percentile(beside, 90), 1e-4)
        fitted = _fitted(along[near], off[near])
    if np.percentile(np.abs(np.polyval(fitted, along) - off), 95) > _ROUGH_IN / PAPERS_IN[0][0]:
        raise PhotoError(
            f"{name}: an edge of the paper is torn, folded or covered: lay a whole ballot down flat"
        )
    return fitted


def _fitted(along: _Points, off: _Points) -> _Points:
    return np.asarray(np.polyfit(along, off, 3), np.float64)


def _size(sides: _Sides, name: str, given_dpi: float | None) -> tuple[int, int]:
    """Return the width and height of the page in pixels; which paper it is, its form tells."""
    top, right, bottom, left = (
        float(np.hypot(*(sides.corners[(n + 1) % 4] - sides.corners[n]))) for n in range(4)
    )
    wide, high = (top + bottom) / 2, (left + right) / 2
    form = high / wide
    width_in, height_in = min(PAPERS_IN, key=lambda paper: abs(form * paper[0] / paper[1] - 1))
    if abs(form * width_in / height_in - 1) > _FORM_SLACK:
        raise PhotoError(
            f"{name}: the paper is {form:.2f} times as high as wide, which is no usual ballot: scan it, or "
            "photograph it from straight above, all of it in the picture"
        )
    if wide / width_in < _LEAST_DPI:
        raise PhotoError(
            f"{name}: the paper has {wide / width_in:.0f} pixels to the inch, fewer than {_LEAST_DPI:.0f}: "
            "go nearer with the camera, or scan it"
        )
    dpi = min(COMMON_DPI, key=lambda usual: abs(wide / width_in - usual))
    edges = ((top, width_in), (bottom, width_in), (left, height_in), (right, height_in))
    if given_dpi in (None, dpi) and all(abs(px / inches / dpi - 1) < _EXACT for px, inches in edges):
        return round(wide), round(high)
    dpi = given_dpi or PHOTO_DPI
    return round(width_in * dpi), round(height_in * dpi)
