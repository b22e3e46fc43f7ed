"""What a deck's overlay prints onto a ballot: TEST and the sheet's code, in the place kept for it."""

import cv2
import numpy as np

from recount_ballots.blank import Grey
from recount_ballots.layout import Rect

TONER_GREY = 28
_FONT = cv2.FONT_HERSHEY_DUPLEX


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
