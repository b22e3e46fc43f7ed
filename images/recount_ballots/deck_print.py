"""What a deck's overlay prints onto a ballot: TEST and the sheet's code in the place kept for it; marks."""

import cv2
import numpy as np

from recount_ballots.blank import Grey
from recount_ballots.layout import Rect

TONER_GREY = 28
_FONT = cv2.FONT_HERSHEY_DUPLEX
_FINE_BITS = 4
_FINE = 1 << _FINE_BITS
"""Parts of a pixel in which places are told to OpenCV."""


def print_deck_mark(page: Grey, place: Rect, code: str) -> None:
    """Print TEST and the sheet's code into `place`, in pixels of the page, in place."""
    words = f"TEST {code}"
    (width, height), below = cv2.getTextSize(words, _FONT, 1.0, 2)
    scale = min(place.width * 0.8 / width, place.height * 0.62 / (height + below))
    thick = max(1, round(2 * scale))
    (width, height), below = cv2.getTextSize(words, _FONT, scale, thick)
    x, y = place.centre
    origin = (round(x - width / 2), round(y + (height - below) / 2))
    layer = np.full(page.shape, 255, np.uint8)
    cv2.putText(layer, words, origin, _FONT, scale, (TONER_GREY,), thick, cv2.LINE_AA)
    page[:] = np.minimum(page, layer)


def print_mark(page: Grey, place: Rect) -> None:
    """Print a filled ellipse into `place`, in pixels of the page, in place."""
    x, y = place.centre
    axes = round(place.width / 2 * _FINE), round(place.height / 2 * _FINE)
    # The middle in OpenCV's pixel centres, which lie half a pixel off the page's corner.
    middle = round((x - 0.5) * _FINE), round((y - 0.5) * _FINE)
    cv2.ellipse(page, middle, axes, 0, 0, 360, (TONER_GREY,), -1, cv2.LINE_AA, _FINE_BITS)
