"""Handwriting: capital letters from a few strokes each, as a hand prints a name on a write-in line."""

import numpy as np

from recount_ballots.blank import Grey
from recount_ballots.layout import Rect
from recount_ballots.strokes import Pen, Points, draw

_LETTERS = {
    # strokes of points in a box 4 wide and 6 high, y down
    "A": "06 20 46|14 34",
    "B": "06 00 30 42 33 03|33 44 36 06",
    "C": "41 30 10 01 05 16 36 45",
    "D": "00 06 26 44 42 20 00",
    "E": "40 00 06 46|03 33",
    "F": "40 00 06|03 33",
    "G": "41 30 10 01 05 16 36 45 43 23",
    "H": "00 06|40 46|03 43",
    "I": "20 26",
    "J": "40 45 36 16 05",
    "K": "00 06|40 03 46",
    "L": "00 06 46",
    "M": "06 00 23 40 46",
    "N": "06 00 46 40",
    "O": "10 01 05 16 36 45 41 30 10",
    "P": "06 00 30 41 42 33 03",
    "Q": "10 01 05 16 36 45 41 30 10|24 46",
    "R": "06 00 30 41 42 33 03|23 46",
    "S": "41 30 10 01 12 34 45 36 16 05",
    "T": "00 40|20 26",
    "U": "00 05 16 36 45 40",
    "V": "00 26 40",
    "W": "00 16 22 36 40",
    "X": "00 46|40 06",
    "Y": "00 23 40|23 26",
    "Z": "00 40 06 46",
    "?": "01 10 30 41 23 24|26 26",
    ".": "26 26",
    "-": "13 33",
    "0": "10 01 05 16 36 45 41 30 10",
    "1": "11 20 26",
    "2": "01 10 30 41 06 46",
    "3": "00 40 23 44 36 16 05",
}
WIDTH_OF_LETTER = 0.62
"""Width of a letter with its gap, in heights of the letter."""


def letter_strokes(letter: str) -> list[Points]:
    """Return the strokes of one letter in a box of height 1 and width 2/3; unknown letters are blank."""
    spelled = _LETTERS.get(letter.upper(), "")
    paths = [
        [(int(p[0]) / 6, int(p[1]) / 6) for p in stroke.split()] for stroke in spelled.split("|") if stroke
    ]
    return [np.array(path, np.float64) for path in paths]


def _rounded(points: Points) -> Points:
    """Return the path with its corners cut twice (Chaikin), as a quick hand does."""
    for _ in range(2):
        if len(points) < 3:
            return points
        first, last = points[:1], points[-1:]
        quarter, three = points[:-1] * 0.75 + points[1:] * 0.25, points[:-1] * 0.25 + points[1:] * 0.75
        points = np.concatenate([first, np.stack([quarter, three], axis=1).reshape(-1, 2), last])
    return points


def text_strokes(
    words: str, left: float, baseline: float, height: float, rng: np.random.Generator
) -> list[Points]:
    """Return strokes of words from `left` along `baseline`, letters about `height` pixels high."""
    slant, drift = rng.normal(-0.12, 0.08), rng.normal(0, 0.02)
    strokes: list[Points] = []
    x = left
    for letter in words:
        size = height * rng.normal(1, 0.06)
        for path in letter_strokes(letter):
            shaken = _rounded(path + rng.normal(0, 0.035, path.shape))
            up = (1 - shaken[:, 1]) * size
            strokes.append(
                np.stack([x + shaken[:, 0] * size - slant * up, baseline + (x - left) * drift - up], axis=1)
            )
        x += height * WIDTH_OF_LETTER * rng.normal(1.15, 0.06)
    return strokes


def write_words(page: Grey, words: str, area: Rect, pen: Pen, rng: np.random.Generator) -> None:
    """Write words into an area of the page, in place; letters are made small enough to fit its width."""
    fitting = area.width * 0.94 / (max(len(words), 1) * WIDTH_OF_LETTER * 1.2)
    height = min(area.height * rng.uniform(0.6, 0.75), fitting)
    left = area.left + area.width * rng.uniform(0.02, 0.05)
    baseline = area.top + (area.height + height) / 2 * rng.uniform(0.97, 1.03)
    strokes = text_strokes(words, left, baseline, height, rng)
    if strokes:
        draw(page, strokes, pen, rng)
