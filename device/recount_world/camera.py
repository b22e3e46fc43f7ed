"""What the cameras see: the sheet as it lies on the bed, several sheets over each other, or the empty bed.

A single sheet (or several that lie fully over each other) at rest in its place gives its own image, untouched
but for how it lies and for the noise. Anything else is laid out on the picture of the bed. The camera above
sees the uppermost side, the one below (with `duplex`) the lowest.

Noise of one grey level up or down lies over every picture, another one each time, as a real camera has it;
the world's seed repeats it.
"""

from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import cast

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_world.errors import ScriptError
from recount_world.paper import Sheet
from recount_world.path import Carried, PaperPath, millimetres

Page = NDArray[np.uint8]

BED_GREY = 48
"""The bed is dark, so that paper's edges show."""
PAPER_GREY = 245
BED_BEYOND_CAMERA_MM = 10.0
"""The picture reaches so far past the camera sensor."""
AT_REST_MM = 5.0
"""A leading edge so near the camera sensor lies in its place."""
DPI = 200
"""Scale of pictures without any image in them."""
LETTER_WIDTH_MM = 215.9
EXPOSURE_US = 10_000
"""Paper that moves during it is smeared."""
MM_PER_INCH = 25.4

_PAGES_KEPT = 12
_NOISE_SHIFTS = 251
"""The noise is one pattern, shifted by so many columns and rows: 63,001 pictures until it comes again."""


def read_page(path: Path) -> Page:
    """Return an image file as a grey page. Raises ScriptError for a file that is no image."""
    # As the classifier reads files: a tag that says how to turn the picture is not obeyed.
    page = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE | cv2.IMREAD_IGNORE_ORIENTATION)
    if page is None:
        raise ScriptError(f"{path} is no image that OpenCV reads (PNG, JPEG, TIFF)")
    return cast("Page", page)


class Pages:
    """Image files, read ahead by a thread and kept for a while."""

    def __init__(self) -> None:
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="pages")
        self._kept: OrderedDict[Path, Future[Page]] = OrderedDict()

    def expect(self, path: Path) -> None:
        """Begin to read a file that will be wanted soon."""
        if path not in self._kept:
            self._kept[path] = self._reader.submit(read_page, path)
        self._kept.move_to_end(path)
        while len(self._kept) > _PAGES_KEPT:
            self._kept.popitem(last=False)

    def page(self, path: Path) -> Page:
        """Return a file's page."""
        self.expect(path)
        return self._kept[path].result()

    def close(self) -> None:
        """Stop the thread."""
        self._reader.shutdown(cancel_futures=True)


class Noise:
    """What a sensor adds of its own: a third of the pixels one level brighter, a third one darker."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._brighter = self._darker = np.zeros((0, 0), np.uint8)
        self._pictures = 0

    def over(self, view: Page) -> Page:
        """Return a picture with noise that no picture had before."""
        rows, columns = view.shape
        top, left = divmod(self._pictures, _NOISE_SHIFTS)
        top %= _NOISE_SHIFTS
        self._pictures += 1
        self._reach(rows + _NOISE_SHIFTS, columns + _NOISE_SHIFTS)
        part = slice(top, top + rows), slice(left, left + columns)
        return cast("Page", cv2.subtract(cv2.add(view, self._brighter[part]), self._darker[part]))

    def _reach(self, rows: int, columns: int) -> None:
        """Have a pattern of at least this size."""
        has_rows, has_columns = self._brighter.shape
        if rows > has_rows or columns > has_columns:
            size = max(rows, has_rows), max(columns, has_columns)
            thirds = np.random.default_rng(self._seed).integers(0, 3, size, np.uint8)
            self._brighter, self._darker = (thirds == 1).astype(np.uint8), (thirds == 2).astype(np.uint8)


class Camera:
    """The cameras over and, with `duplex`, under the bed."""

    def __init__(self, path: PaperPath, *, duplex: bool, seed: int = 0) -> None:
        self._path = path
        self._duplex = duplex
        self._pages = Pages()
        self._noise = Noise(seed)
        self._last: tuple[Page, ...] = ()
        self.stalled = False
        """They give the pictures that they gave last."""
        self.dim = False
        """The lamp is weak."""
        self.unfocused: set[str] = set()
        """Sheets whose pictures come out blurred."""

    def close(self) -> None:
        """Let go of the images."""
        self._pages.close()

    def expect(self, sheet: Sheet) -> None:
        """Read a sheet's images ahead: it is on its way."""
        for image in (sheet.front, sheet.back):
            if image is not None:
                self._pages.expect(image)

    def capture(self) -> tuple[Page, ...]:
        """Return what each camera sees now: (above,) or (above, below)."""
        if not self.stalled or not self._last:
            self._last = tuple(self._noise.over(view) for view in self._views())
        return self._last

    def _views(self) -> list[Page]:
        lying = [sheet for sheet in self._path.carried() if self._is_on_bed(sheet)]
        views = [self._view(lying, from_above=True)]
        if self._duplex:
            views.append(self._view(list(reversed(lying)), from_above=False))
        return views

    def _is_on_bed(self, sheet: Carried) -> bool:
        edges = self._path.edges
        return not sheet.past_camera and sheet.lead > edges.entry and sheet.tail < edges.camera

    def _in_its_place(self, sheet: Carried) -> bool:
        return abs(millimetres(sheet.lead - self._path.edges.camera)) <= AT_REST_MM

    def _view(self, lying: list[Carried], *, from_above: bool) -> Page:
        """Return one camera's picture of sheets given from its own side: the nearest first."""
        if lying and self._in_its_place(lying[0]) and self._hides(lying[0], lying[1:]):
            view = self._side(lying[0].sheet, from_above=from_above)
        else:
            view = self._laid_out(lying, from_above=from_above)
        if lying and lying[0].skew_deg:
            view = _turned(view, lying[0].skew_deg if from_above else -lying[0].skew_deg)
        if any(sheet.sheet.id in self.unfocused for sheet in lying):
            view = cast("Page", cv2.GaussianBlur(view, (0, 0), 6))
        smear_mm = abs(self._path.motors.transport) * EXPOSURE_US / 10_000_000
        if lying and smear_mm:
            rows = max(1, round(smear_mm * DPI / MM_PER_INCH))
            view = cast("Page", cv2.blur(view, (1, rows)))
        return (view * 0.35).astype(np.uint8) if self.dim else view

    @staticmethod
    def _hides(upper: Carried, others: list[Carried]) -> bool:
        return all(
            abs(millimetres(other.lead - upper.lead)) <= 1 and other.length <= upper.length
            for other in others
        )

    def _side(self, sheet: Sheet, *, from_above: bool) -> Page:
        """Return the side of a sheet that one camera sees, as the sheet lies."""
        sees_front = from_above != sheet.wrong_side
        image, other = (sheet.front, sheet.back) if sees_front else (sheet.back, sheet.front)
        if image is not None:
            page = self._pages.page(image)
        elif other is not None:
            page = np.full_like(self._pages.page(other), PAPER_GREY)
        else:
            page = np.full((_pixels(sheet.length_mm), _pixels(LETTER_WIDTH_MM)), PAPER_GREY, np.uint8)
        return cast("Page", cv2.rotate(page, cv2.ROTATE_180)) if sheet.turned else page

    def _laid_out(self, lying: list[Carried], *, from_above: bool) -> Page:
        """Return the bed with the sheets on it, the nearest last so that it covers the others."""
        edges = self._path.edges
        bed_mm = millimetres(edges.camera - edges.entry) + BED_BEYOND_CAMERA_MM
        pages = [(sheet, self._side(sheet.sheet, from_above=from_above)) for sheet in lying]
        width = max((page.shape[1] for _, page in pages), default=_pixels(LETTER_WIDTH_MM))
        rows_per_mm = pages[0][1].shape[0] / lying[0].sheet.length_mm if pages else DPI / MM_PER_INCH
        bed = np.full((round(bed_mm * rows_per_mm), width), BED_GREY, np.uint8)
        for sheet, page in reversed(pages):
            rows = round(sheet.sheet.length_mm * rows_per_mm)
            fitting = cv2.resize(page, (page.shape[1], rows), interpolation=cv2.INTER_AREA)
            from_edge_mm = millimetres(edges.camera - sheet.lead) + BED_BEYOND_CAMERA_MM
            _paste(bed, cast("Page", fitting), round(from_edge_mm * rows_per_mm))
        return bed


def _turned(view: Page, clockwise_deg: float) -> Page:
    """Return a picture turned about its middle, the bed showing at its corners."""
    rows, columns = view.shape
    turn = cv2.getRotationMatrix2D((columns / 2, rows / 2), -clockwise_deg, 1.0)
    return cast("Page", cv2.warpAffine(view, turn, (columns, rows), borderValue=(BED_GREY,)))


def _pixels(mm: float) -> int:
    return round(mm * DPI / MM_PER_INCH)


def _paste(bed: Page, page: Page, top: int) -> None:
    """Lay a page on the bed in the middle, its first row at `top`, which may lie off the bed."""
    first, last = max(top, 0), min(top + page.shape[0], bed.shape[0])
    if first >= last:
        return
    left = (bed.shape[1] - page.shape[1]) // 2
    bed[first:last, left : left + page.shape[1]] = page[first - top : last - top]
