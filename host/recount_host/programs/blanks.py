"""Blank ballots from files: PNG, JPEG, TIFF and whatever else OpenCV reads, or a page of a PDF."""

import re
from pathlib import Path
from typing import cast

import numpy as np
import pypdfium2

from recount_classifier.decoding import LARGEST_SIDE_PX, ImageError, decode_image
from recount_classifier.raster import Grey
from recount_host.errors import OperatorError

POINTS_PER_INCH = 72


class BlankFileError(OperatorError):
    """A blank ballot that cannot be read."""


def read_blank(name: str, folder: Path, dpi: float) -> Grey:
    """Return the grey blank that a spec names, relative to the spec's folder.

    "ballots.pdf#page=2" is the second page of a PDF, rendered at `dpi`. Raises BlankFileError.
    """
    file_name, page = _split(name)
    path = folder / file_name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BlankFileError(f"the blank {path} cannot be read: {error.strerror}") from error
    if data.startswith(b"%PDF"):
        return _render(data, path, page, dpi)
    if page is not None:
        raise BlankFileError(f"the blank {path} is no PDF: leave out #page={page}")
    try:
        return decode_image(data)
    except ImageError as error:
        raise BlankFileError(f"the blank {path}: {error}") from error


def pdf_pages(data: bytes) -> int:
    """Return how many pages a PDF has; 0 where it cannot be read."""
    try:
        with pypdfium2.PdfDocument(data) as document:
            return len(document)
    except pypdfium2.PdfiumError:
        return 0


def _split(name: str) -> tuple[str, int | None]:
    match = re.fullmatch(r"(.+)#page=([1-9][0-9]{0,4})", name)
    return (name, None) if match is None else (match[1], int(match[2]))


def _render(data: bytes, path: Path, page: int | None, dpi: float) -> Grey:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise BlankFileError(f"the blank {path} is a PDF that cannot be read: {error}") from error
    with document:
        count = len(document)
        if page is None and count > 1:
            raise BlankFileError(f"the blank {path} has {count} pages: name one, as {path.name}#page=1")
        number = page or 1
        if number > count:
            raise BlankFileError(f"the blank {path} has {count} pages, but no page {number}")
        sheet = document[number - 1]
        if max(sheet.get_size()) / POINTS_PER_INCH * dpi > LARGEST_SIDE_PX:
            raise BlankFileError(f"the blank {path}, page {number}, is too large at {dpi:g} dpi")
        # pypdfium2 takes any number as scale; its annotation says int by its default alone.
        scale = cast("int", dpi / POINTS_PER_INCH)
        picture = sheet.render(scale=scale, grayscale=True).to_numpy()
    grey = picture if picture.ndim == 2 else picture[:, :, 0]
    return np.ascontiguousarray(grey, dtype=np.uint8)
