"""Blank ballots from files: PNG, JPEG, TIFF and whatever else OpenCV reads, or a page of a PDF."""

import re
from pathlib import Path

import pypdfium2

from recount_classifier.decoding import ImageError, decode_image
from recount_classifier.raster import Grey
from recount_host.errors import OperatorError
from recount_host.given_files import read_given
from recount_host.programs.pdf_page import PdfError, page_of_pdf

MAX_BLANK_BYTES = 400_000_000
"""All ballots of a large county in one PDF have a tenth of it."""


class BlankFileError(OperatorError):
    """A blank ballot that cannot be read."""


def read_blank(name: str, folder: Path, dpi: float) -> Grey:
    """Return the grey blank that a spec names, relative to the spec's folder.

    "ballots.pdf#page=2" is the second page of a PDF, rendered at `dpi`. Raises BlankFileError.
    """
    file_name, page = _split(name)
    path = folder / file_name
    data = read_given(path, "the blank", MAX_BLANK_BYTES, BlankFileError)
    if data.startswith(b"%PDF"):
        try:
            return page_of_pdf(path, page, dpi)
        except PdfError as error:
            raise BlankFileError(f"the blank {path} {error}") from error
    if page is not None:
        raise BlankFileError(f"the blank {path} is no PDF: leave out #page={page}")
    try:
        return decode_image(data, as_shown=True)
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
