"""Scans of signed papers as files: which kinds are taken, and how many pages they have.

When a scan may be kept, and what its act holds, is the law's matter (law/signed_papers.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from recount_classifier.decoding import ImageError, decode_image
from recount_host.errors import OperatorError
from recount_host.given_files import read_given
from recount_host.programs.blanks import pdf_pages

MAX_SCAN_BYTES = 64_000_000
"""A statement of twenty pages, each scanned in colour at 300 dpi, has some 20 MB."""


class ScanError(OperatorError):
    """A file that is no scan of a paper."""


@dataclass(frozen=True, slots=True)
class Scan:
    """A file that was looked at: a scan of a paper."""

    data: bytes
    type: str
    """The end of its name in the evidence: pdf, png or jpg."""
    pages: int


def _picture_pages(data: bytes) -> int:
    try:
        decode_image(data)
    except ImageError:
        return 0
    return 1


_KINDS: Mapping[str, tuple[bytes, Callable[[bytes], int]]] = {
    "pdf": (b"%PDF-", pdf_pages),
    "png": (b"\x89PNG\r\n\x1a\n", _picture_pages),
    "jpg": (b"\xff\xd8\xff", _picture_pages),
}
"""By type: how such a file begins, and its pages; 0 where it cannot be read."""


def read_scan(path: Path) -> Scan:
    """Return the scan in this file. Raises ScanError."""
    data = read_given(path, "the scan", MAX_SCAN_BYTES, ScanError, "scan it in grey, at 300 dpi")
    for name, (begins, count) in _KINDS.items():
        if data.startswith(begins):
            pages = count(data)
            if not pages:
                raise ScanError(f"the scan {path} cannot be read: it is damaged, or locked; scan it again")
            return Scan(data, name, pages)
    raise ScanError(f"the scan {path} is no PDF, PNG or JPEG: save the scan as one of these")
