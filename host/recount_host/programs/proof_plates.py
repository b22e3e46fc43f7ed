"""Where the number and name of each target stand on a proof: over as little print as may be.

A plate stands at its target where it hides next to nothing, else in the margin beside the picture, with a
line that leads to its target. Lengths are pixels of the picture while places are looked for, then points.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from recount_classifier.program import Style, Target
from recount_classifier.raster import Float

Box = tuple[float, float, float, float]
"""Left, top, width, height."""

_WIDEST_PT, _HIGHEST_PT = 500.0, 400.0
_LARGEST_SCALE = 0.5
"""Points for a pixel at the most: print is not shown larger than 1.4 times its size."""
_LETTER_PT, _PLATE_PT, _APART_PT = 3.9, 10.5, 6.0
_GAP_PX = 3.0
_HIDDEN_PX = 25.0
"""So many pixels of print a plate may hide before the margin is the better place."""
_DARKER_THAN_PAPER = 40
_MOST_CROSSED_PX = 20.0
"""So much print a line to the margin may cross: some rules; it must not strike a name out."""
_WORTH = 0.5
"""Margins make the picture smaller: they are used where they spare half of what plates would hide."""
_DEAR = 50.0
"""What a plate would hide of a target, or of another plate, at each pixel."""


@dataclass(frozen=True)
class Plate:
    """Where one plate stands, in points of the picture; left of it or right of it where it has a leader."""

    rect: Box
    leader: tuple[float, float, float] | None
    """From x, at height y, to x: the line to its target; None where it stands at the target."""


@dataclass(frozen=True)
class Placing:
    """The scale of a picture in points for a pixel, its plates, and the margins that they take."""

    scale: float
    plates: tuple[Plate, ...]
    margins: tuple[float, float]
    """Left and right, in points."""


@dataclass(frozen=True)
class _Place:
    left: float
    top: float
    cost: float
    leader: tuple[float, float] | None = None


def place_plates(style: Style, words: Sequence[str]) -> Placing:
    """Return where the plates with these words stand, one for each target of the style."""
    height, width = style.reference.shape
    scale = min(_WIDEST_PT / width, _HIGHEST_PT / height, _LARGEST_SCALE)
    inside, hidden = _placed(style, words, scale, 0.0)
    strip_pt = max(map(_wide_pt, words)) + _APART_PT
    smaller = min(scale, (_WIDEST_PT - 2 * strip_pt) / width)
    plates, left_hidden = _placed(style, words, smaller, strip_pt)
    if left_hidden > _WORTH * hidden:
        return Placing(scale, inside, (0.0, 0.0))
    scale = smaller
    before = max(0.0, *(-plate.rect[0] for plate in plates))
    behind = max(0.0, *(plate.rect[0] + plate.rect[2] - width * scale for plate in plates))
    return Placing(scale, plates, (before, behind))


def _wide_pt(text: str) -> float:
    return len(text) * _LETTER_PT + 6


def _placed(
    style: Style, words: Sequence[str], scale: float, strip_pt: float
) -> tuple[tuple[Plate, ...], float]:
    """Return the plates, with strips so wide beside the picture, and what they hide, in pixels of print."""
    strip = strip_pt / scale
    edge = round(strip)
    print_ = style.reference < np.median(style.reference) - _DARKER_THAN_PAPER
    taken = np.pad(print_.astype(np.float32), ((0, 0), (edge, edge)))
    left, top = style.reference_box[0] - edge, style.reference_box[1]
    boxes = [_moved(target, left, top) for target in style.targets]
    for box in boxes:
        _claim(taken, *box)
    found: list[Plate] = []
    hidden = 0.0
    for box, text in zip(boxes, words, strict=True):
        wide, high = _wide_pt(text) / scale, _PLATE_PT / scale
        best = min(_places(taken, box, wide, high, edge), key=lambda place: place.cost)
        hidden += best.cost
        _claim(taken, best.left, best.top, wide, high)
        middle = (box[1] + box[3] / 2) * scale
        leader = best.leader and ((best.leader[0] - edge) * scale, middle, (best.leader[1] - edge) * scale)
        rect = ((best.left - edge) * scale, best.top * scale, wide * scale, high * scale)
        found.append(Plate(rect, leader))
    return tuple(found), hidden


def _moved(target: Target, left: float, top: float) -> Box:
    return target.left - left, target.top - top, target.width, target.height


def _places(taken: Float, box: Box, wide: float, high: float, edge: int) -> Iterator[_Place]:
    """Yield where a plate may stand: round its target, and in the strips."""
    height, width = taken.shape
    x, y, w, h = box
    middle_x, middle_y = x + w / 2 - wide / 2, y + h / 2 - high / 2
    above, below = y - high - _GAP_PX, y + h + _GAP_PX
    for px, py in (
        (middle_x, above),
        (middle_x, below),
        (x + w + _GAP_PX, middle_y),
        (x - wide - _GAP_PX, middle_y),
        (x + w - wide, above),
        (x, above),
        (x + w - wide, below),
        (x, below),
    ):
        left = min(max(px, float(edge)), max(0.0, width - edge - wide))
        top = min(max(py, 0.0), max(0.0, height - high))
        yield _Place(left, top, _covered(taken, left, top, wide, high))
    if edge:
        row = y + h / 2
        for left, start, end in (
            (edge - wide - _GAP_PX, edge - _GAP_PX, x),
            (width - edge + _GAP_PX, width - edge + _GAP_PX, x + w),
        ):
            # Not up to the target itself, which is dear.
            crossed = _covered(taken, min(start, end + 1), row, abs(end - start) - 3, 0.0)
            hidden = _covered(taken, left, middle_y, wide, high)
            if crossed <= _MOST_CROSSED_PX:
                yield _Place(left, middle_y, _HIDDEN_PX + hidden, (start, end))


def _covered(taken: Float, x: float, y: float, wide: float, high: float) -> float:
    return float(taken[int(y) : int(y + high) + 1, max(0, int(x)) : int(x + wide) + 1].sum())


def _claim(taken: Float, x: float, y: float, wide: float, high: float) -> None:
    """Make a place dear: no plate may cover a target or another plate."""
    taken[max(0, int(y)) : int(y + high) + 1, max(0, int(x)) : int(x + wide) + 1] = _DEAR
