"""Pictures as they are kept: PNG, because a crop must be the very pixels that were judged."""

import cv2
import numpy as np
from numpy.typing import NDArray

PNG_ARGUMENTS = (
    cv2.IMWRITE_PNG_COMPRESSION,
    1,
    cv2.IMWRITE_PNG_STRATEGY,
    cv2.IMWRITE_PNG_STRATEGY_RLE,
    cv2.IMWRITE_PNG_FILTER,
    cv2.IMWRITE_PNG_FILTER_SUB,
)
"""For scanned paper: half the time of OpenCV's own choice and no more bytes (measured: 7 ms against 13 ms for
a crop of 1679 x 260 pixels, 257 kB against 270 kB). The level comes first: it resets the strategy."""


def encode_png(crop: NDArray[np.uint8]) -> bytes:
    """Return the grey picture as PNG bytes, without loss."""
    written, encoded = cv2.imencode(".png", crop, PNG_ARGUMENTS)
    assert written, "a grey picture of allowed size can always be written as PNG"
    return encoded.tobytes()
