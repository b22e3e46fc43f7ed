"""A page of a PDF as a grey picture, drawn by a process of its own with bounds on memory and time.

A PDF of some kilobytes can hold a picture that unfolds to gigabytes; only the process that draws it fails.
`python -m recount_host.programs.pdf_page FILE PAGE DPI` writes a line "WIDTH HEIGHT" and the pixels.
"""

import resource
import subprocess
import sys
from pathlib import Path
from typing import cast

import numpy as np
import pypdfium2

from recount_classifier.decoding import LARGEST_SIDE_PX
from recount_classifier.raster import Grey
from recount_host.errors import OperatorError

POINTS_PER_INCH = 72
MAX_BYTES = 1_500_000_000
"""Of address space: a page of 12,000 x 12,000 pixels and the pictures on it take a third."""
MAX_SECONDS = 20


class PdfError(OperatorError):
    """A page that cannot be drawn; the sentence goes on after the file's name."""


def page_of_pdf(path: Path, page: int | None, dpi: float) -> Grey:
    """Return a page at a resolution; the only one where none is named. Raises PdfError."""
    words = [sys.executable, "-m", "recount_host.programs.pdf_page", str(path), str(page or 0), f"{dpi:g}"]
    try:
        # Our own program, and the path of a file that is there: nothing of it is read by a shell.
        drawn = subprocess.run(words, capture_output=True, timeout=2 * MAX_SECONDS, check=False)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise PdfError("is a PDF that takes too long to draw") from error
    if drawn.returncode == 2:
        raise PdfError(drawn.stderr.decode("utf-8", "replace").strip())
    head, _, pixels = drawn.stdout.partition(b"\n")
    if drawn.returncode != 0 or not head:
        raise PdfError("is a PDF that takes too much memory or time to draw, or is damaged")
    width, height = map(int, head.split())
    return np.frombuffer(pixels, np.uint8).reshape(height, width).copy()


def _draw(path: Path, page: int, dpi: float) -> Grey:
    try:
        document = pypdfium2.PdfDocument(path.read_bytes())
    except pypdfium2.PdfiumError as error:
        raise PdfError(f"is a PDF that cannot be read: {error}") from error
    with document:
        count = len(document)
        if page == 0 and count > 1:
            raise PdfError(f"has {count} pages: name one, as {path.name}#page=1")
        number = page or 1
        if number > count:
            raise PdfError(f"has {count} pages, but no page {number}")
        sheet = document[number - 1]
        if max(sheet.get_size()) / POINTS_PER_INCH * dpi > LARGEST_SIDE_PX:
            raise PdfError(f"has a page {number} that is too large at {dpi:g} dpi")
        # pypdfium2 takes any number as scale; its annotation says int by its default alone.
        scale = cast("int", dpi / POINTS_PER_INCH)
        picture = sheet.render(scale=scale, grayscale=True).to_numpy()
    grey = picture if picture.ndim == 2 else picture[:, :, 0]
    return np.ascontiguousarray(grey, dtype=np.uint8)


def main(path: str, page: str, dpi: str) -> int:
    """Draw within the bounds, and write the picture; 2 with a sentence where it cannot be."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    try:
        grey = _draw(Path(path), int(page), float(dpi))
    except PdfError as error:
        print(error, file=sys.stderr)
        return 2
    height, width = grey.shape
    sys.stdout.buffer.write(f"{width} {height}\n".encode() + grey.tobytes())
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
