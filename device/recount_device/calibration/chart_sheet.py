"""The lens chart: a sheet of dots at known places, as a PDF to print and as a picture for a simulated device.

Dots of 4 mm, 10 mm apart, nearly to the edges of the sheet. Their middles tell how the lens bends, their
edges how sharp the picture is, their black and the paper between them how it is exposed. The words and the
bar stand in the gaps between the rows; they are too small to be taken for dots.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

MM_PER_INCH: Final = 25.4
POINTS_PER_MM: Final = 72 / MM_PER_INCH
SHEET_WIDTH_MM: Final = 8.5 * MM_PER_INCH
LENGTHS_IN: Final = (11, 14, 17, 19, 22)
"""The lengths of ballots, and so of charts."""
PITCH_MM: Final = 10.0
DOT_MM: Final = 4.0
"""Diameter: 31 pixels at 200 dpi, 23 at 150."""
LEAST_MARGIN_MM: Final = 12.5
"""From the outermost dots' middles to the sheet's edge: no office printer needs more."""
COLUMNS: Final = 20
BAR_MM: Final = 100.0

PAPER_GREY, INK_GREY = 238, 24
"""The picture's greys: a camera that is set well shows paper and print so."""


@dataclass(frozen=True)
class ChartSheet:
    """A chart of one of the lengths."""

    length_in: int = 11

    @property
    def length_mm(self) -> float:
        """Return the sheet's length."""
        return self.length_in * MM_PER_INCH

    @property
    def rows(self) -> int:
        """Return how many rows of dots it has."""
        return 1 + int((self.length_mm - 2 * LEAST_MARGIN_MM) // PITCH_MM)

    @property
    def dots(self) -> NDArray[np.float64]:
        """Return the dots' middles in mm from the sheet's top left corner, row by row."""
        left = (SHEET_WIDTH_MM - (COLUMNS - 1) * PITCH_MM) / 2
        top = (self.length_mm - (self.rows - 1) * PITCH_MM) / 2
        x, y = np.meshgrid(left + np.arange(COLUMNS) * PITCH_MM, top + np.arange(self.rows) * PITCH_MM)
        return np.asarray(np.stack([x.ravel(), y.ravel()], axis=1), np.float64)

    @property
    def words(self) -> tuple[tuple[float, str], ...]:
        """Return (baseline in mm from the top, text) of each printed line; they stand right of the margin."""
        top = float(self.dots[0, 1])
        lines = (
            f"Lens chart of recount-device calibrate: 8.5 x {self.length_in} in, dots {PITCH_MM:g} mm apart",
            f"Print at 100 % (no fitting to the page), black on plain white. This bar is {BAR_MM:g} mm long:",
            "",
            "Feed it like a ballot, printed side up. Do not fold it: a crease bends what it measures.",
        )
        return tuple((top + (row + 0.5) * PITCH_MM + 0.8, text) for row, text in enumerate(lines) if text)

    @property
    def bar(self) -> tuple[float, float, float, float]:
        """Return the bar's box in mm: left, top, right, bottom."""
        left, top = float(self.dots[0, 0]), float(self.dots[0, 1]) + 2.5 * PITCH_MM
        return left, top - 0.15, left + BAR_MM, top + 0.15

    @property
    def ticks(self) -> tuple[tuple[float, float, float, float], ...]:
        """Return the boxes of the bar's two ends."""
        left, top, right, bottom = self.bar
        return tuple((x - 0.1, top - 1.2, x + 0.1, bottom + 1.2) for x in (left, right))


# -- the PDF -------------------------------------------------------------------------------------------------

_WORDS_PT: Final = 8.5
_ROUND: Final = 0.5522847498
"""Where the handles of four Bezier curves lie that make a circle, in radii."""


def chart_pdf(sheet: ChartSheet) -> bytes:
    """Return the chart as a PDF of one page, of nothing but shapes and the standard Helvetica."""
    height = sheet.length_mm * POINTS_PER_MM
    drawn = "\n".join(_pdf_shapes(sheet, height)).encode("ascii")
    size = f"[0 0 {SHEET_WIDTH_MM * POINTS_PER_MM:.2f} {height:.2f}]"
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox {size} /Contents 4 0 R "
        "/Resources << /Font << /F 5 0 R >> >> >>".encode("ascii"),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    )
    return _pdf_file(objects)


def _pdf_file(objects: tuple[bytes, ...]) -> bytes:
    """Return the file of these objects, numbered from 1: the first is the catalogue (ISO 32000-1, 7.5)."""
    content = bytearray(b"%PDF-1.4\n")
    starts: list[int] = []
    for number, body in enumerate(objects, 1):
        starts.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(content)
    content += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    content += b"".join(b"%010d 00000 n \n" % start for start in starts)
    content += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    content += b"startxref\n%d\n%%%%EOF\n" % table
    return bytes(content)


def _pdf_shapes(sheet: ChartSheet, height: float) -> Iterator[str]:
    radius = DOT_MM / 2 * POINTS_PER_MM
    handle = radius * _ROUND
    for x_mm, y_mm in sheet.dots:
        x, y = x_mm * POINTS_PER_MM, height - y_mm * POINTS_PER_MM
        yield _pdf_dot(x, y, radius, handle)
    for left, top, right, bottom in (sheet.bar, *sheet.ticks):
        box = (left, sheet.length_mm - bottom, right - left, bottom - top)
        yield " ".join(f"{mm * POINTS_PER_MM:.3f}" for mm in box) + " re f"
    left = float(sheet.dots[0, 0]) * POINTS_PER_MM
    for baseline, text in sheet.words:
        y = height - baseline * POINTS_PER_MM
        yield f"BT /F {_WORDS_PT} Tf {left:.2f} {y:.2f} Td ({_escaped(text)}) Tj ET"


def _pdf_dot(x: float, y: float, r: float, handle: float) -> str:
    """Return a disc as four curves, from its right round over the top."""
    curves = (
        (r, handle, handle, r, 0.0, r),
        (-handle, r, -r, handle, -r, 0.0),
        (-r, -handle, -handle, -r, 0.0, -r),
        (handle, -r, r, -handle, r, 0.0),
    )
    told = (" ".join(f"{(x, y)[i % 2] + part:.3f}" for i, part in enumerate(curve)) for curve in curves)
    return f"{x + r:.3f} {y:.3f} m " + " ".join(f"{curve} c" for curve in told) + " f"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


# -- the picture ---------------------------------------------------------------------------------------------


def chart_picture(sheet: ChartSheet, dpi: int = 200) -> NDArray[np.uint8]:
    """Return the chart as a camera that bends nothing would show it, to a hundredth of a pixel."""
    per_mm = dpi / MM_PER_INCH
    width, height = round(SHEET_WIDTH_MM * per_mm), round(sheet.length_mm * per_mm)
    ink = np.zeros((height, width), np.float32)
    radius = DOT_MM / 2 * per_mm
    for x, y in sheet.dots * per_mm - 0.5:
        _add_dot(ink, float(x), float(y), radius)
    for left, top, right, bottom in (sheet.bar, *sheet.ticks):
        rows = slice(round(top * per_mm), max(round(top * per_mm) + 1, round(bottom * per_mm)))
        ink[rows, round(left * per_mm) : max(round(left * per_mm) + 1, round(right * per_mm))] = 1.0
    picture = np.round(PAPER_GREY + ink * (INK_GREY - PAPER_GREY)).astype(np.uint8)
    left = round(float(sheet.dots[0, 0]) * per_mm)
    for baseline, text in sheet.words:
        where = (left, round(baseline * per_mm))
        cv2.putText(picture, text, where, cv2.FONT_HERSHEY_SIMPLEX, 0.0029 * dpi, (INK_GREY,), 1, cv2.LINE_AA)
    return picture


def _add_dot(ink: NDArray[np.float32], x: float, y: float, radius: float) -> None:
    left, top = int(x - radius) - 1, int(y - radius) - 1
    size = int(2 * radius) + 4
    rows, columns = np.mgrid[top : top + size, left : left + size]
    cover = np.clip(radius + 0.5 - np.hypot(columns - x, rows - y), 0.0, 1.0)
    ink[top : top + size, left : left + size] = np.maximum(ink[top : top + size, left : left + size], cover)
