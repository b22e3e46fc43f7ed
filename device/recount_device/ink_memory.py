"""The ink of the sheets read in one batch, and which of them a new sheet looks like. Pure; memory only.

All pages of one style are laid on the first of them, as closely as its print allows. What most of the first
`LEARNING_SHEETS` have in common is the print; what a page has beyond it is its *pen ink*. Two pictures of one
sheet have the same pen ink to within what a scan changes; two voters' marks differ in shape and place
(VVSG 2.0, 1.1.6-F: a sheet that was read already is found).

Two voters who fill the same targets neatly cannot be told apart by their ink. So a sheet is judged only by
what few sheets have: ink where at most `COMMON_SHEETS` others have some. A sheet with too little of that, and
the first sheets of a style, are not judged: the question is asked only where it is worth two officials' time.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_device.page_ink import Grey, PageInk

LEARNING_SHEETS = 15
"""So many sheets of a style show what is print; before, none is judged."""
COMMON_SHEETS = 2
"""Ink in a place where more sheets than this have some is no sheet's own."""
LEAST_OWN_INK = 8.0
"""In cells of full black: about that of one and a half filled targets. With less a sheet is not judged."""
ALIKE = 0.05
"""Ink that one sheet has and the other has not, as a share of the lesser one's ink.

Measured on real sheets: the same paper scanned again at most 0.01, two voters' at least 0.11.
"""

_MARGIN_CELLS = 12
"""The page's edge is not looked at: there are the bed and the cut of the paper."""
_STREAK_SHARE = 0.2
"""A column with new ink in more of its cells than this is dirt on the glass."""
_EDGE_SHARE = 0.35
_LEAST_DARKNESS = 24
"""A cell differs when it is darker by this, and by that share of what lies at the edges beside it."""
_TILES = (7, 5)
_LEAST_TILES = 10
_FAR_CELLS = 8.0
_WORST_FIT_CELLS = 0.6
_COARSE = 16
"""Cells to a side of the squares by which most sheets are told apart at once."""
_COARSE_ALIKE = 0.15
"""How much the ink in these squares may differ, as a share of both sheets' ink together: what `ALIKE` cannot
see is a name written thinly, of which each cell is within what a scan changes, and all together are not.

Measured on real sheets: the same paper scanned again at most 0.05, two voters' at least 0.50; drawn ones with
the same marks, one of them with a name beside it, 0.23.
"""

_AROUND = np.ones((3, 3), np.uint8)
Values = NDArray[np.float64]


@dataclass
class _Kept:
    """A sheet's pen ink."""

    packed: bytes
    ink: float
    coarse: NDArray[np.int64]


@dataclass
class _Style:
    """What is known of one style's pages. Before its print is known, `learning` holds whole pages."""

    lay: "_Lay"
    learning: dict[int, Grey] = field(default_factory=dict[int, Grey])
    print_: Grey | None = None
    kept: dict[int, _Kept] = field(default_factory=dict[int, _Kept])
    sheets_with_ink: NDArray[np.uint16] | None = None


class InkMemory:
    """The sheets of one batch."""

    def __init__(self) -> None:
        self._styles: dict[str, _Style] = {}
        self._seen: tuple[_Style, Grey] | None = None
        """The sheet looked at last: its pen ink, or its page where the print is not known yet."""

    def look(self, page: PageInk | None) -> int | None:
        """Return the number of the kept sheet that this one looks like; None also where it has no page."""
        self._seen = None
        if page is None:
            return None
        style = self._styles.get(page.style_id)
        if style is None:
            style = self._styles[page.style_id] = _Style(_Lay(page.cells))
        cells = style.lay.on_first(page.cells)
        if cells is None:
            return None
        if style.print_ is None:
            self._seen = style, cells
            return None
        pen = _pen_ink(cells, style.print_)
        self._seen = style, pen
        return _most_like(style, pen)

    def keep(self, sheet: int) -> None:
        """Keep the sheet looked at last under this number, unless it could not be laid on the others."""
        if self._seen is None:
            return
        (style, ink), self._seen = self._seen, None
        if style.print_ is None:
            self._learn(style, sheet, ink)
        else:
            _keep(style, sheet, ink)

    def forget(self, sheet: int) -> None:
        """Forget a sheet: it goes back to the stack, and comes again."""
        for style in self._styles.values():
            style.learning.pop(sheet, None)
            style.kept.pop(sheet, None)

    @staticmethod
    def _learn(style: _Style, sheet: int, cells: Grey) -> None:
        style.learning[sheet] = cells
        if len(style.learning) < LEARNING_SHEETS:
            return
        print_ = np.median(np.stack(list(style.learning.values())), axis=0).astype(np.uint8)
        style.print_ = print_
        style.sheets_with_ink = np.zeros(print_.shape, np.uint16)
        for number, learnt in style.learning.items():
            _keep(style, number, _pen_ink(learnt, print_))
        style.learning.clear()


def _keep(style: _Style, sheet: int, pen: Grey) -> None:
    assert style.sheets_with_ink is not None
    style.sheets_with_ink += cv2.dilate(pen, _AROUND) > 0
    style.kept[sheet] = _Kept(zlib.compress(pen.tobytes(), 1), _amount(pen), _squares(pen))


def _most_like(style: _Style, pen: Grey) -> int | None:
    """Return the kept sheet whose pen ink is the same, the most alike of them."""
    assert style.sheets_with_ink is not None
    own = np.where(style.sheets_with_ink <= COMMON_SHEETS, pen, 0)
    if _amount(own) < LEAST_OWN_INK:
        return None
    amount, coarse = _amount(pen), _squares(pen)
    best: tuple[float, int] | None = None
    for sheet, kept in style.kept.items():
        lesser = min(amount, kept.ink)
        if np.abs(coarse - kept.coarse).sum() / 255 > _COARSE_ALIKE * (amount + kept.ink):
            continue
        other = np.frombuffer(zlib.decompress(kept.packed), np.uint8).reshape(pen.shape)
        share = _amount(_differing(pen, other)) / max(lesser, 1.0)
        if share <= ALIKE and (best is None or share < best[0]):
            best = share, sheet
    return None if best is None else best[1]


def _amount(ink: NDArray[np.uint8]) -> float:
    """Return an amount of ink in cells of full black."""
    return float(ink.sum(dtype=np.int64)) / 255


def _squares(pen: Grey) -> NDArray[np.int64]:
    rows, columns = (side // _COARSE * _COARSE for side in pen.shape)
    squares = pen[:rows, :columns].reshape(rows // _COARSE, _COARSE, columns // _COARSE, _COARSE)
    return squares.sum(axis=(1, 3), dtype=np.int64)


def _beyond(one: Grey, other: Grey) -> Grey:
    """Return the ink that `one` has and `other` has not, but for what a shift of a part of a cell makes."""
    limit = cv2.addWeighted(_edges(one), _EDGE_SHARE, _edges(other), _EDGE_SHARE, _LEAST_DARKNESS)
    return cv2.subtract(cv2.subtract(one, other), limit).astype(np.uint8, copy=False)


def _edges(cells: Grey) -> Grey:
    return cv2.subtract(cv2.dilate(cells, _AROUND), cv2.erode(cells, _AROUND)).astype(np.uint8, copy=False)


def _pen_ink(cells: Grey, print_: Grey) -> Grey:
    return _without_dirt(_beyond(cells, print_))


def _differing(one: Grey, other: Grey) -> Grey:
    return _without_dirt(cv2.add(_beyond(one, other), _beyond(other, one)).astype(np.uint8, copy=False))


def _without_dirt(ink: Grey) -> Grey:
    """Return ink without the page's margin and without lines along the feed."""
    clean = np.zeros_like(ink)
    inner = slice(_MARGIN_CELLS, -_MARGIN_CELLS)
    clean[inner, inner] = ink[inner, inner]
    streaks = np.count_nonzero(clean, axis=0) > _STREAK_SHARE * ink.shape[0]
    streaks |= np.roll(streaks, 1) | np.roll(streaks, -1)
    clean[:, streaks] = 0
    return clean


class _Lay:
    """Lays pages on the first of their style, by the print in tiles of it."""

    def __init__(self, first: Grey) -> None:
        rows, columns = first.shape
        self._shape = rows, columns
        self._tiles: list[tuple[slice, slice, NDArray[np.float32]]] = []
        down, across = _TILES
        self._window = cv2.createHanningWindow((columns // across, rows // down), cv2.CV_32F)
        for row in range(down):
            for column in range(across):
                top, left = row * rows // down, column * columns // across
                tile = slice(top, top + rows // down), slice(left, left + columns // across)
                self._tiles.append((*tile, first[tile].astype(np.float32)))
        y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
        self._x, self._y = x, y
        # A bend is smooth: it is computed at the middles of squares and drawn out between them.
        square_y, square_x = np.mgrid[0 : rows // _COARSE, 0 : columns // _COARSE].astype(np.float64)
        middle_x = (square_x + 0.5) * columns / (columns // _COARSE) - 0.5
        middle_y = (square_y + 0.5) * rows / (rows // _COARSE) - 0.5
        self._squares = square_x.shape
        self._terms = _terms(middle_x.ravel(), middle_y.ravel(), self._shape)

    def on_first(self, cells: Grey) -> Grey | None:
        """Return the page as it lies on the first one; None where their print does not fit."""
        if cells.shape != self._shape:
            return None
        places, shifts = self._shifts(cells)
        if len(places) < _LEAST_TILES:
            return None
        bend = self._fitted(places, shifts)
        if bend is None:
            return None
        rows, columns = self._shape
        moved = (self._terms @ bend).astype(np.float32).reshape(*self._squares, 2)
        dx, dy = (cv2.resize(np.ascontiguousarray(moved[..., n]), (columns, rows)) for n in (0, 1))
        laid = cv2.remap(cells, self._x + dx, self._y + dy, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return laid.astype(np.uint8, copy=False)

    def _shifts(self, cells: Grey) -> tuple[Values, Values]:
        """Return the middles of the tiles that were found again, and how far each lies from there."""
        places: list[tuple[float, float]] = []
        shifts: list[tuple[float, float]] = []
        for down, across, first in self._tiles:
            (dx, dy), response = cv2.phaseCorrelate(
                first, cells[down, across].astype(np.float32), self._window
            )
            if response > 0.15 and abs(dx) < _FAR_CELLS and abs(dy) < _FAR_CELLS:
                places.append(((across.start + across.stop) / 2, (down.start + down.stop) / 2))
                shifts.append((dx, dy))
        return np.array(places), np.array(shifts)

    def _fitted(self, places: Values, shifts: Values) -> Values | None:
        """Return the six terms of each direction that the tiles agree on."""
        terms = _terms(places[:, 0], places[:, 1], self._shape)
        weights = np.ones(len(places))
        bend: Values = np.zeros((terms.shape[1], 2))
        off: Values = np.zeros(len(places))
        for _ in range(4):
            weighted = terms * weights[:, None]
            left = terms.T @ weighted + 1e-3 * np.eye(terms.shape[1])
            bend = np.linalg.solve(left, weighted.T @ shifts).astype(np.float64)
            off = np.hypot(*(shifts - terms @ bend).T)
            weights = 1 / (1 + (off / 0.4) ** 2)
        return bend if float(np.median(off)) <= _WORST_FIT_CELLS else None


def _terms(x: Values, y: Values, shape: Sequence[int]) -> Values:
    rows, columns = shape
    u, v = (x - columns / 2) / columns, (y - rows / 2) / rows
    return np.column_stack([np.ones_like(u), u, v, u * v, u * u, v * v])
