"""Pens and what they leave on paper: strokes with sub-pixel places, as coverage, put onto a page."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_ballots.blank import Grey

MM_PER_INCH = 25.4
_SUPERSAMPLE = 8
_SHIFT = 4
_WHITE = 255

Points = NDArray[np.float64]
"""A polyline: rows of (x, y)."""


@dataclass(frozen=True)
class Tool:
    """A pen or pencil as a grey camera sees it.

    `grey` is the shade of full coverage (0 black, 255 white) and its spread, `width_mm` the stroke's width
    and spread, `grain` how much of the paper shows through (0 an even pen, 0.5 a hard pencil).
    """

    name: str
    grey: tuple[float, float]
    width_mm: tuple[float, float]
    grain: float = 0.0


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("black_pen", (38, 12), (0.6, 0.08), 0.03),
        Tool("blue_pen", (82, 14), (0.6, 0.08), 0.05),
        Tool("red_pen", (118, 14), (0.6, 0.08), 0.05),
        Tool("gel_pen", (20, 8), (0.75, 0.06)),
        Tool("marker", (24, 10), (1.5, 0.2)),
        Tool("pencil", (95, 12), (0.7, 0.1), 0.25),
        Tool("light_pencil", (168, 10), (0.6, 0.1), 0.4),
        Tool("faint_pencil", (185, 4), (0.6, 0.1), 0.3),
    )
}


@dataclass(frozen=True)
class Pen:
    """One tool in one hand: the tool with its spread drawn, in pixels of the page."""

    grey: float
    width_px: float
    grain: float


def take(tool: str | Tool, dpi: float, rng: np.random.Generator) -> Pen:
    """Return a pen of that kind as one voter holds it."""
    kind = TOOLS[tool] if isinstance(tool, str) else tool
    grey = float(np.clip(rng.normal(*kind.grey), 0, 235))
    width = float(max(rng.normal(*kind.width_mm), kind.width_mm[0] * 0.6)) * dpi / MM_PER_INCH
    return Pen(grey, width, kind.grain)


@dataclass(frozen=True)
class Patch:
    """Coverage (0 none, 1 full) of a small part of a page, with the pixel of its top left corner."""

    coverage: NDArray[np.float32]
    left: int
    top: int


def cover(
    strokes: Sequence[Points], pen: Pen, rng: np.random.Generator, width_px: float | None = None
) -> Patch:
    """Return what strokes of the pen cover; points are in pixels, (0, 0) the corner of the first pixel."""
    width = pen.width_px if width_px is None else width_px
    every = np.concatenate(strokes)
    pad = width / 2 + 3
    left, top = (int(v) for v in np.floor(every.min(axis=0) - pad))
    right, bottom = (int(v) for v in np.ceil(every.max(axis=0) + pad))
    scale = _SUPERSAMPLE
    thickness = _thickness(width * scale)
    canvas = np.zeros(((bottom - top) * scale, (right - left) * scale), np.uint8)
    for stroke in strokes:
        # corner coordinates -> OpenCV's pixel centres, in fixed point
        fixed = np.round((((stroke - (left, top)) * scale) - 0.5) * (1 << _SHIFT)).astype(np.int32)
        if len(fixed) == 1:
            fixed = np.repeat(fixed, 2, axis=0)
        cv2.polylines(
            canvas,
            [fixed],
            isClosed=False,
            color=(255,),
            thickness=thickness,
            lineType=cv2.LINE_AA,
            shift=_SHIFT,
        )
    small = cv2.resize(canvas, (right - left, bottom - top), interpolation=cv2.INTER_AREA)
    coverage = np.asarray(small, np.float32) / np.float32(255)
    if pen.grain:
        coverage *= _grain(coverage.shape, pen.grain, rng)
    return Patch(coverage, left, top)


def _thickness(width: float) -> int:
    """Return the `thickness` that makes OpenCV's smoothed lines so wide; measured: 2 * floor(t / 2) + 1.5."""
    return max(1, 2 * round((width - 1.5) / 2))


def _grain(shape: tuple[int, ...], amount: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return a texture of 1 - amount to 1: paper fibres that the tool does not reach."""
    noise = rng.random(shape, np.float32)
    smooth = cv2.GaussianBlur(noise, (0, 0), 0.8)
    texture = 1 - np.float32(amount) * np.clip((np.asarray(smooth, np.float32) - 0.25) * 2, 0, 1)
    return np.asarray(texture, np.float32)


def put(page: Grey, patch: Patch, grey: float) -> None:
    """Lay ink onto the page, in place; off the page nothing happens.

    `grey` is what it shows on white paper (255): of what lies below, it lets through that share of the light.
    """
    height, width = patch.coverage.shape
    top, left = max(patch.top, 0), max(patch.left, 0)
    bottom, right = min(patch.top + height, page.shape[0]), min(patch.left + width, page.shape[1])
    if top >= bottom or left >= right:
        return
    region = page[top:bottom, left:right]
    part = patch.coverage[top - patch.top : bottom - patch.top, left - patch.left : right - patch.left]
    paper = region.astype(np.float32)
    region[:] = np.round(paper * (1 - part * np.float32(1 - grey / _WHITE))).astype(np.uint8)


def draw(
    page: Grey, strokes: Sequence[Points], pen: Pen, rng: np.random.Generator, width_px: float | None = None
) -> None:
    """Draw strokes onto the page, in place."""
    put(page, cover(strokes, pen, rng, width_px), pen.grey)
