"""Lines and words on a colour picture: the few ways in which explanations are drawn.

A picture is height x width x 3 bytes, blue first, as OpenCV has them; a colour is its three bytes.
"""

from __future__ import annotations

import re

import cv2
import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
Colour = tuple[int, int, int]
Points = NDArray[np.float64]

_FRACTION_BITS = 4
"""Lines are placed to a sixteenth of a pixel."""
_MOST_DASHES = 2000
"""In one line: a registration that is far off may make it endless."""


def plain(width: int, height: int, colour: Colour) -> Picture:
    """Return a picture of one colour."""
    return np.full((height, width, 3), colour, np.uint8)


def text_width(words: str, size: float, *, bold: bool = False) -> int:
    """Return how many pixels wide `text` draws these words. Size 1 has capitals 22 px high."""
    return int(cv2.getTextSize(words, _face(bold), size, 1)[0][0])


def text(
    picture: Picture, words: str, x: float, y: float, size: float, colour: Colour, *, bold: bool = False
) -> int:
    """Draw words on the line y, from x on; return where they end."""
    cv2.putText(picture, words, (round(x), round(y)), _face(bold), size, colour, 1, cv2.LINE_AA)
    return round(x) + text_width(words, size, bold=bold)


def _face(bold: bool) -> int:
    return cv2.FONT_HERSHEY_DUPLEX if bold else cv2.FONT_HERSHEY_SIMPLEX


def wrapped(words: str, width: int, size: float, *, bold: bool = False) -> list[str]:
    """Return the words in lines no wider than `width`, a longer word excepted; a number keeps its sign."""
    lines: list[str] = []
    for word in re.findall(r"\S+(?: %\S*)?", words):
        if lines and text_width(f"{lines[-1]} {word}", size, bold=bold) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def outline(picture: Picture, points: Points, colour: Colour, thickness: int) -> None:
    """Draw a closed line through the points."""
    _lines(picture, [points], colour, thickness, closed=True)


def dashed(
    picture: Picture, points: Points, colour: Colour, thickness: int, dash_px: float, gap_px: float
) -> None:
    """Draw a closed line through the points in dashes."""
    ring = np.concatenate([points, points[:1]])
    places = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(ring, axis=0).T))])
    total = float(places[-1])
    count = min(_MOST_DASHES, max(3, round(total / (dash_px + gap_px))))
    share = dash_px / (dash_px + gap_px)
    pieces: list[Points] = []
    for index in range(count):
        steps = np.linspace(index, index + share, 6) * total / count
        pieces.append(
            np.column_stack([np.interp(steps, places, ring[:, 0]), np.interp(steps, places, ring[:, 1])])
        )
    _lines(picture, pieces, colour, thickness, closed=False)


def _lines(picture: Picture, lines: list[Points], colour: Colour, thickness: int, *, closed: bool) -> None:
    whole = [np.round(line * (1 << _FRACTION_BITS)).astype(np.int32) for line in lines]
    cv2.polylines(picture, whole, closed, colour, thickness, cv2.LINE_AA, _FRACTION_BITS)


def filled(picture: Picture, left: float, top: float, right: float, bottom: float, colour: Colour) -> None:
    """Fill a rectangle; right and bottom belong to it."""
    cv2.rectangle(picture, (round(left), round(top)), (round(right), round(bottom)), colour, cv2.FILLED)


def badge(picture: Picture, words: str, x: float, y: float, colour: Colour) -> None:
    """Draw a small round sign with a letter or number, centred on (x, y)."""
    radius = max(11, 5 + text_width(words, 0.5, bold=True) // 2)
    cv2.circle(picture, (round(x), round(y)), radius + 1, (255, 255, 255), cv2.FILLED, cv2.LINE_AA)
    cv2.circle(picture, (round(x), round(y)), radius, colour, cv2.FILLED, cv2.LINE_AA)
    half = text_width(words, 0.5, bold=True) / 2
    text(picture, words, x - half, y + 5, 0.5, (255, 255, 255), bold=True)
