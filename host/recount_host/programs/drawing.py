"""Drawing on a blank page what was found on it: boxes and numbers, legible in black and white."""

from collections.abc import Sequence

import cv2
import numpy as np

from recount_ballots.layout import Rect
from recount_classifier.raster import Grey
from recount_host.programs.drafting import Numbered, Side

_DARK, _LIGHT = 0, 255


def drawn(side: Side, found: Sequence[Numbered]) -> Grey:
    """Return the page, its print softened, with each contest's box and number and its targets numbered."""
    page = (160 + side.page.astype(np.float32) * (95 / 255)).astype(np.uint8)
    scale = max(page.shape[1] / 1700, 0.5)
    for spot in side.found.targets:
        _box(page, spot, round(2 * scale), 2 * scale)
    for one in found:
        _box(page, one.contest.box, round(4 * scale), 0)
        _tag(page, f"contest {one.number}", one.contest.box.left, one.contest.box.top, 1.1 * scale)
        for number, spot in enumerate(one.contest.targets, 1):
            _tag(page, str(number), spot.left - 2 * scale, spot.top, 0.7 * scale)
    return page


def encode_png(picture: Grey) -> bytes:
    """Return the picture as a PNG file's bytes."""
    return cv2.imencode(".png", picture)[1].tobytes()


def _box(page: Grey, spot: Rect, line: int, margin: float) -> None:
    first = (int(spot.left - margin), int(spot.top - margin))
    second = (int(spot.right + margin), int(spot.bottom + margin))
    cv2.rectangle(page, first, second, _DARK, max(1, line))


def _tag(page: Grey, words: str, right: float, top: float, size: float) -> None:
    """Write words on a white plate whose lower right corner lies at (right, top), or on the page's edge."""
    thick = max(1, round(2 * size))
    (width, height), _ = cv2.getTextSize(words, cv2.FONT_HERSHEY_SIMPLEX, size, thick)
    x, y = max(2, int(right) - width), max(height + 4, int(top))
    cv2.rectangle(page, (x - 2, y - height - 4), (x + width + 2, y + 4), _LIGHT, -1)
    cv2.putText(page, words, (x, y), cv2.FONT_HERSHEY_SIMPLEX, size, _DARK, thick, cv2.LINE_AA)
