"""Pictures as they are kept: PNG, because a crop must be the very pixels that were judged."""

import cv2
import numpy as np
from numpy.typing import NDArray

PNG_COMPRESSION = 1
"""Of zlib's 1 to 9: 1 costs a quarter of the time of 3 for a tenth more bytes."""


def encode_png(crop: NDArray[np.uint8]) -> bytes:
    """Return the grey picture as PNG bytes, without loss."""
    written, encoded = cv2.imencode(".png", crop, [cv2.IMWRITE_PNG_COMPRESSION, PNG_COMPRESSION])
    assert written, "a grey picture of allowed size can always be written as PNG"
    return encoded.tobytes()
