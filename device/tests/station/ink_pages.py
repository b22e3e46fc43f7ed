"""Pages of one printed form with what different pens left on them, as the camera might see them."""

from collections.abc import Sequence
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_device.page_ink import PageInk

Grey = NDArray[np.uint8]
SHAPE = (1100, 848)
"""Rows and columns at 100 dpi."""
PAPER, INK = 240, 30


def printed_form() -> Grey:
    """Return the form as it was printed: rules, blocks of text, targets."""
    chance = np.random.default_rng(5)
    page = np.full(SHAPE, PAPER, np.uint8)
    for top in range(60, 1050, 70):
        cv2.rectangle(page, (40, top), (808, top + 60), INK, 2)
        for left in range(60, 760, 9):
            height = int(chance.integers(2, 12))
            cv2.rectangle(
                page, (left, top + 12), (left + int(chance.integers(2, 7)), top + 12 + height), INK, -1
            )
        for left in (150, 350, 550):
            cv2.ellipse(page, (left, top + 44), (10, 6), 0, 0, 360, INK, 1)
    return page


def voted(voter: int, words: int = 10) -> Grey:
    """Return the form with a voter's scribbles, each by another hand."""
    chance = np.random.default_rng([9, voter])
    page = printed_form()
    for _ in range(words):
        x, y = int(chance.integers(90, 700)), int(chance.integers(90, 1000))
        points = np.cumsum(chance.normal(0, 9, (14, 2)), axis=0) + np.array([x, y])
        cv2.polylines(page, [points.astype(np.int32)], isClosed=False, color=INK, thickness=3)
    return page


def scanned(page: Grey, scan: int) -> Grey:
    """Return the page as one pass through the scanner shows it: askew by a little, noisy, a shade lighter."""
    chance = np.random.default_rng([11, scan])
    rows, columns = page.shape
    turn = cv2.getRotationMatrix2D((columns / 2, rows / 2), float(chance.normal(0, 0.15)), 1)
    turn[:, 2] += chance.normal(0, 1.5, 2)
    moved = cv2.warpAffine(page, turn, (columns, rows), borderValue=PAPER)
    return np.clip(moved + chance.normal(0, 3, page.shape) + int(chance.integers(-6, 7)), 0, 255).astype(
        np.uint8
    )


@cache
def voters_ink(voter: int, scan: int) -> PageInk:
    """Return the ink of a voter's page in one of its scans."""
    return ink_of([scanned(voted(voter), scan)])


def ink_of(pages: Sequence[Grey]) -> PageInk:
    """Return the ink of a page that fills its picture."""
    rows, columns = SHAPE
    cells = cv2.resize(pages[0], (columns // 2, rows // 2), interpolation=cv2.INTER_AREA)
    return PageInk("form", cv2.subtract(np.full_like(cells, PAPER), cells).astype(np.uint8))
