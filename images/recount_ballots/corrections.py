"""Second thoughts and stray ink: erasures, correction fluid, and what voters draw round names."""

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_ballots.blank import Grey
from recount_ballots.layout import Rect
from recount_ballots.marks import mark
from recount_ballots.strokes import Pen, Points, draw

FLUID_GREY = 251.0
"""Correction fluid as a camera sees it, a trace brighter than paper."""


def erase(page: Grey, blank: Grey, target: Rect, rng: np.random.Generator, left_over: float = 0.12) -> None:
    """Rub out a pencil mark, in place: `left_over` of its darkness stays as a smear on greyish paper."""
    part = _part(page, target.grown(target.width * 0.6))
    before, printed = page[part].astype(np.float32), blank[part].astype(np.float32)
    ghost = cv2.GaussianBlur(printed - before, (0, 0), sigmaX=3.0, sigmaY=1.0) * left_over
    smudge = cv2.GaussianBlur(rng.random(before.shape, np.float32), (0, 0), 3) * _oval_mask(before.shape) * 14
    page[part] = np.clip(printed - np.maximum(ghost, 0) - smudge, 0, 255).astype(np.uint8)


def paint_over(page: Grey, target: Rect, rng: np.random.Generator) -> None:
    """Cover a target and what is on it with correction fluid, in place; the printed target vanishes too."""
    part = _part(page, target.grown(target.height * rng.uniform(0.4, 0.7)))
    shape = page[part].shape
    mask = cv2.GaussianBlur(_oval_mask(shape), (0, 0), 1.2)
    rim = np.abs(cv2.Laplacian(np.asarray(mask), cv2.CV_32F)) * 60
    fluid = FLUID_GREY - np.clip(rim, 0, 30)
    page[part] = np.clip(page[part] * (1 - mask) + fluid * mask, 0, 255).astype(np.uint8)


def underline(page: Grey, name: Rect, pen: Pen, rng: np.random.Generator) -> None:
    """Underline a name, in place."""
    y = name.bottom + rng.uniform(1, 4)
    draw(
        page, [_wavy(name.left - 4, y, name.right + rng.uniform(0, 12), y + rng.normal(0, 3), rng)], pen, rng
    )


def cross_out(page: Grey, name: Rect, pen: Pen, rng: np.random.Generator) -> None:
    """Strike a name through, in place."""
    x, y = name.centre
    tilt = rng.normal(0, 4)
    del x
    draw(page, [_wavy(name.left - 8, y + tilt, name.right + 8, y - tilt, rng)], pen, rng)


def circle_name(page: Grey, name: Rect, pen: Pen, rng: np.random.Generator) -> None:
    """Draw a loop round a name, in place."""
    mark(page, name, "circle", pen, rng)


def stray_line(
    page: Grey, start: tuple[float, float], end: tuple[float, float], pen: Pen, rng: np.random.Generator
) -> None:
    """Draw a line that means nothing, in place."""
    draw(page, [_wavy(*start, *end, rng)], pen, rng)


def _wavy(x0: float, y0: float, x1: float, y1: float, rng: np.random.Generator) -> Points:
    t = np.linspace(0, 1, 12)
    bow = np.sin(t * np.pi * rng.uniform(0.8, 2.2)) * rng.normal(0, 2.5)
    return np.stack([x0 + (x1 - x0) * t, y0 + (y1 - y0) * t + bow], axis=1)


def _part(page: Grey, rect: Rect) -> tuple[slice, slice]:
    """Return the part of the page inside the rectangle."""
    top, bottom = max(0, int(rect.top)), min(page.shape[0], int(np.ceil(rect.bottom)))
    left, right = max(0, int(rect.left)), min(page.shape[1], int(np.ceil(rect.right)))
    return slice(top, bottom), slice(left, right)


def _oval_mask(shape: tuple[int, ...]) -> NDArray[np.float32]:
    y, x = np.ogrid[-1 : 1 : shape[0] * 1j, -1 : 1 : shape[1] * 1j]
    return np.clip((1 - x**2 - y**2) * 4, 0, 1).astype(np.float32)
