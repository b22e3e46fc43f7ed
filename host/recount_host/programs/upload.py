"""What is taken as a blank from a browser: few kinds of files, with few pixels, looked at before decoding.

An image file of some kilobytes can unfold to gigabytes: its size in pixels is read from its head first.
"""

import struct
from collections.abc import Callable, Iterator

from recount_host.errors import OperatorError

MAX_FILE_BYTES = 40_000_000
"""An 11 x 22 inch sheet at 400 dpi, one byte a pixel, has 35 million."""
MAX_PIXELS = 60_000_000
"""The same sheet at 400 dpi has 35 million pixels, a letter sheet at 600 dpi 34."""


class UploadError(OperatorError):
    """A file that is not taken as a blank."""


def kind_of(data: bytes) -> str:
    """Return the suffix that fits a blank's bytes: .png, .jpg, .tif or .pdf.

    Raises UploadError for other bytes, too many of them, or a picture of too many pixels.
    """
    if not data:
        raise UploadError("no file was chosen, or it is empty: choose the blank ballot first")
    if len(data) > MAX_FILE_BYTES:
        raise UploadError(f"the file is larger than {MAX_FILE_BYTES // 1_000_000} MB: scan it at 300 dpi")
    if data.startswith(b"%PDF"):
        return ".pdf"
    for suffix, signatures, size_of in _KINDS:
        if data.startswith(signatures):
            try:
                width, height = size_of(data)
            except (struct.error, IndexError, ValueError, StopIteration):
                raise UploadError("the picture is damaged: scan or save it again") from None
            if width * height > MAX_PIXELS:
                raise UploadError(
                    f"the picture has {width} x {height} pixels, which is more than a ballot needs: "
                    "scan it at 200 to 300 dpi"
                )
            return suffix
    raise UploadError("the file is no PNG, JPEG, TIFF or PDF: save the scan as one of these")


def _png_size(data: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Return the size that the frame's head tells: the first segment SOF0 to SOF15 that is one."""
    at = 2
    while True:
        marker, length = struct.unpack_from(">HH", data, at)
        if 0xFFC0 <= marker <= 0xFFCF and marker not in (0xFFC4, 0xFFC8, 0xFFCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return width, height
        if marker < 0xFF00 or length < 2:
            raise ValueError("no frame")
        at += 2 + length


def _tiff_size(data: bytes) -> tuple[int, int]:
    """Return the size that the first directory tells, in tags 256 and 257."""
    order = "<" if data.startswith(b"II") else ">"
    (at,) = struct.unpack_from(f"{order}I", data, 4)
    sizes = [(tag, value) for tag, value in _tiff_tags(data, at, order) if tag in (256, 257)]
    # A tag that stands twice: who decodes the picture might take the other one.
    if sorted(tag for tag, _ in sizes) != [256, 257]:
        raise ValueError("no size, or more than one")
    found = dict(sizes)
    return found[256], found[257]


def _tiff_tags(data: bytes, at: int, order: str) -> Iterator[tuple[int, int]]:
    (count,) = struct.unpack_from(f"{order}H", data, at)
    for n in range(count):
        tag, kind = struct.unpack_from(f"{order}HH", data, at + 2 + 12 * n)
        if kind in (3, 4):
            (value,) = struct.unpack_from(order + ("H" if kind == 3 else "I"), data, at + 10 + 12 * n)
            yield tag, value


_KINDS: tuple[tuple[str, tuple[bytes, ...], Callable[[bytes], tuple[int, int]]], ...] = (
    (".png", (b"\x89PNG\r\n\x1a\n",), _png_size),
    (".jpg", (b"\xff\xd8\xff",), _jpeg_size),
    (".tif", (b"II*\0", b"MM\0*"), _tiff_size),
)
