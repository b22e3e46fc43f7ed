"""A page's ink as a small upright picture: what two sheets of one style are compared by. Pure.

The page is laid down as the blank lies, by the contest's registration, in cells of 4 x 4 pixels of the blank
(50 dpi). Grey is the darkness over the paper round about, so that light and paper do not matter. It says
where print and pen are, and is too coarse to read.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_classifier.evidence import Evidence
from recount_classifier.program import Style

Grey = NDArray[np.uint8]
CELL_PX = 4
"""Pixels of the blank to a cell's side."""
_PAPER_CELLS = 8
"""The paper's own grey is the lightest in squares of three times so many cells."""


@dataclass(frozen=True, slots=True, eq=False)
class PageInk:
    """One page of a sheet."""

    style_id: str
    cells: Grey
    """Darkness of each cell over the paper round about, 0 to 255."""


def page_ink(page: Grey, evidence: Evidence, style: Style) -> PageInk | None:
    """Return the ink of the page that `evidence` was taken from; None where its crop is not of this page."""
    to_page = _blank_to_page(page, evidence, style)
    if to_page is None:
        return None
    scale = float(np.sqrt(abs(np.linalg.det(to_page[:, :2]))))
    shrink = max(1, round(CELL_PX * scale))
    small = _shrunk(page, shrink)
    # A cell's middle lies half a cell's side less half a pixel from the middle of its first pixel.
    cell_to_small = np.empty((2, 3))
    cell_to_small[:, :2] = to_page[:, :2] * (CELL_PX / shrink)
    middle = to_page[:, :2] @ np.full(2, (CELL_PX - 1) / 2) + to_page[:, 2]
    cell_to_small[:, 2] = (middle - (shrink - 1) / 2) / shrink
    upright = cv2.warpAffine(
        small,
        cell_to_small,
        (style.width // CELL_PX, style.height // CELL_PX),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_REPLICATE,
    )
    return PageInk(style.id, _darkness(upright.astype(np.uint8, copy=False)))


def _blank_to_page(page: Grey, evidence: Evidence, style: Style) -> NDArray[np.float64] | None:
    """Return the 2 x 3 map from the blank to the page: the first registration without its bends."""
    x, y = int(evidence.gates["crop_left"]), int(evidence.gates["crop_top"])
    rows, columns = evidence.crop.shape
    if not np.array_equal(page[y : y + rows, x : x + columns], evidence.crop):
        return None
    middle_x, middle_y, size = style.frame
    terms = np.array(evidence.registrations[0]).reshape(2, -1)
    linear = terms[:, 1:3] / size
    offset = terms[:, 0] - linear @ np.array([middle_x, middle_y]) + np.array([x, y])
    return np.column_stack([linear, offset])


def _shrunk(page: Grey, times: int) -> Grey:
    """Return the page so many times smaller; halves first, for which OpenCV has a path six times as fast."""
    while times > 1:
        step = 2 if times % 2 == 0 else times
        rows, columns = (side // step for side in page.shape)
        page = cv2.resize(
            page[: rows * step, : columns * step], (columns, rows), interpolation=cv2.INTER_AREA
        ).astype(np.uint8, copy=False)
        times //= step
    return page


def _darkness(upright: Grey) -> Grey:
    rows, columns = upright.shape
    blocks = (max(1, columns // _PAPER_CELLS), max(1, rows // _PAPER_CELLS))
    coarse = cv2.resize(upright, blocks, interpolation=cv2.INTER_AREA)
    paper = cv2.resize(
        cv2.dilate(coarse, np.ones((3, 3), np.uint8)), (columns, rows), interpolation=cv2.INTER_LINEAR
    )
    return cv2.subtract(paper, upright).astype(np.uint8, copy=False)
