"""From an image file's bytes to a grey picture. Reading the file is the caller's."""

from __future__ import annotations

from typing import Any, cast

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_classifier.errors import ClassifierError
from recount_classifier.raster import Grey

MAX_IMAGE_BYTES = 200 * 1024 * 1024
"""A 22 inch sheet at 400 dpi, uncompressed in three colours, has 90 MB."""
SMALLEST_SIDE_PX, LARGEST_SIDE_PX = 200, 16000
_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_TYPE_AT = 25
_PNG_TRANSPARENT_TYPES = (3, 4, 6)
"""Of a palette, grey with opacity, colours with opacity."""
_OPAQUE = {"uint8": 255, "uint16": 65535}
# What the decoder would print about a damaged file, ImageError says in a sentence.
cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)


class ImageError(ClassifierError):
    """Bytes that are no usable picture of a sheet; the sentence says why."""


def decode_image(data: bytes, *, as_shown: bool = False) -> Grey:
    """Return the grey picture in an image file's bytes: anything OpenCV reads, 1-bit TIFF included.

    It is turned as an orientation tag says only `as_shown`, as people see it; a resolution tag is not looked
    at; transparent ground is white paper. Raises ImageError for bytes that are no image, or one too small or
    too large for a sheet.
    """
    if len(data) > MAX_IMAGE_BYTES:
        raise ImageError(f"the file is larger than {MAX_IMAGE_BYTES // 1024 // 1024} MB")
    if not data:
        raise ImageError("the file is empty")
    if data.startswith(_PNG_SIGNATURE) and not is_whole_png(data):
        raise ImageError("the file is a damaged PNG: copy it again")
    try:
        picture = _decode(data, as_shown=as_shown)
    except cv2.error as error:
        raise ImageError("the file is not an image, or one that cannot be read") from error
    if picture is None or picture.ndim != 2 or picture.dtype != np.uint8:
        raise ImageError("the file is not an image, or one that cannot be read")
    height, width = picture.shape
    if min(height, width) < SMALLEST_SIDE_PX or max(height, width) > LARGEST_SIDE_PX:
        raise ImageError(
            f"the image has {width} x {height} pixels; a sheet's picture has sides of "
            f"{SMALLEST_SIDE_PX} to {LARGEST_SIDE_PX}"
        )
    return picture


def is_whole_png(data: bytes) -> bool:
    """Return whether every chunk of what begins as a PNG lies within its bytes, up to the one that ends it.

    The decoder believes a chunk's length before it looks how much there is: four bytes could ask for 2 GB.
    """
    at = len(_PNG_SIGNATURE)
    while at + 12 <= len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        at += 12 + length
        if kind == b"IEND":
            return at <= len(data)
    return False


def _decode(data: bytes, *, as_shown: bool) -> Grey | None:
    encoded = np.frombuffer(data, np.uint8)
    if _may_be_transparent(data):
        colours = cv2.imdecode(encoded, cv2.IMREAD_UNCHANGED)
        if colours is not None and colours.ndim == 3 and colours.shape[2] == 4:
            return _on_white(colours)
    flags = cv2.IMREAD_GRAYSCALE | (0 if as_shown else cv2.IMREAD_IGNORE_ORIENTATION)
    return cast("Grey | None", cv2.imdecode(encoded, flags))


def _may_be_transparent(data: bytes) -> bool:
    """Return whether a file's kind can be transparent: a JPEG cannot, nor a PNG of the plain types."""
    if data.startswith(_PNG_SIGNATURE):
        return len(data) > _PNG_TYPE_AT and data[_PNG_TYPE_AT] in _PNG_TRANSPARENT_TYPES
    return data.startswith((b"II*\0", b"MM\0*", b"GIF8")) or data[8:12] == b"WEBP"


def _on_white(colours: NDArray[Any]) -> Grey | None:
    """Return the grey of a picture of blue, green, red and opacity, laid on white paper."""
    opaque = _OPAQUE.get(colours.dtype.name)
    if opaque is None:
        return None
    grey = cv2.cvtColor(colours[:, :, :3], cv2.COLOR_BGR2GRAY).astype(np.float32) * (255 / opaque)
    opacity = colours[:, :, 3].astype(np.float32) / opaque
    return np.round(grey * opacity + 255 * (1 - opacity)).astype(np.uint8)
