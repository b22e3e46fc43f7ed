"""What happens to the sheet itself: folds, stains, holes, tears, show-through, watermarks. All in place."""

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_ballots.blank import Grey

CORNERS = ("top-left", "top-right", "bottom-left", "bottom-right")
Mask = NDArray[np.uint8]
"""255 where there is paper, 0 where it is torn off or punched through."""


def whole(page: Grey) -> Mask:
    """Return the mask of an undamaged sheet."""
    return np.full(page.shape, 255, np.uint8)


def tear_corner(
    paper: Mask, corner: str, width_px: float, height_px: float, rng: np.random.Generator
) -> None:
    """Tear one of CORNERS off along a ragged edge, `width_px` across and `height_px` along the sheet."""
    rows, columns = paper.shape
    t = np.linspace(0, 1, 24)
    ragged = rng.normal(0, 0.006 * columns, (24, 2))
    edge = np.stack([width_px * (1 - t), height_px * t], axis=1) + ragged
    points = np.concatenate([[(-9.0, -9.0)], [(width_px, -9.0)], edge, [(-9.0, height_px)]])
    if corner.endswith("right"):
        points[:, 0] = columns - points[:, 0]
    if corner.startswith("bottom"):
        points[:, 1] = rows - points[:, 1]
    cv2.fillPoly(paper, [np.round(points).astype(np.int32)], 0, cv2.LINE_AA)


def tear_side(
    paper: Mask, side: str, top: float, bottom: float, depth_px: float, rng: np.random.Generator
) -> None:
    """Tear a piece out of the left or right edge between two heights, `depth_px` deep at its middle."""
    y = np.linspace(top, bottom, 30)
    depth = depth_px * np.sin(np.linspace(0, np.pi, 30)) ** 0.6 + rng.normal(0, 0.006 * paper.shape[1], 30)
    points = np.concatenate([[(-9.0, top)], np.stack([depth, y], axis=1), [(-9.0, bottom)]])
    if side == "right":
        points[:, 0] = paper.shape[1] - points[:, 0]
    cv2.fillPoly(paper, [np.round(points).astype(np.int32)], (0,), cv2.LINE_AA)


def punch(paper: Mask, x: float, y: float, radius_px: float) -> None:
    """Punch a round hole."""
    cv2.circle(paper, (round(x * 16), round(y * 16)), round(radius_px * 16), 0, -1, cv2.LINE_AA, 4)


def staple(page: Grey, paper: Mask, x: float, y: float, rng: np.random.Generator) -> None:
    """Leave the two holes of a staple with their dents."""
    angle = rng.normal(0, 0.4)
    for way in (-1, 1):
        px, py = x + way * 44 * np.cos(angle), y + way * 44 * np.sin(angle)
        cv2.circle(page, (round(px), round(py)), 5, 190, -1, cv2.LINE_AA)
        punch(paper, px, py, 2.2)


def fold(page: Grey, y: float, rng: np.random.Generator, depth: float = 60.0, tilt_px: float = 0.0) -> None:
    """Fold the sheet across at height `y`: a thin dark crease with a bright side; `depth` is its darkness."""
    columns = page.shape[1]
    line = y + np.linspace(-0.5, 0.5, columns) * tilt_px + np.cumsum(rng.normal(0, 0.05, columns))
    top, bottom = int(max(0, line.min() - 12)), int(min(page.shape[0], line.max() + 13))
    if top >= bottom:
        return
    distance = np.arange(top, bottom, dtype=np.float32)[:, None] - line[None, :].astype(np.float32)
    strength = np.clip(1 + np.cumsum(rng.normal(0, 0.02, columns)), 0.4, 1.3).astype(np.float32)[None, :]
    dark = np.exp(-((distance / 1.3) ** 2)) * depth * strength
    bright = np.exp(-(((distance - 4) / 3) ** 2)) * depth * 0.15
    page[top:bottom] = np.clip(page[top:bottom] - dark + bright, 0, 255).astype(np.uint8)


def coffee(
    page: Grey, x: float, y: float, radius_px: float, rng: np.random.Generator, depth: float = 45.0
) -> None:
    """Put a coffee cup down: a ring, darker at its rims, with a pale inside."""
    pad = int(radius_px * 1.25)
    top, bottom, left, right = int(y) - pad, int(y) + pad, int(x) - pad, int(x) + pad
    top, left = max(top, 0), max(left, 0)
    region = page[top:bottom, left:right]
    yy, xx = np.mgrid[top : top + region.shape[0], left : left + region.shape[1]].astype(np.float32)
    angle = np.arctan2(yy - y, xx - x)
    wobble = 1 + 0.03 * np.sin(3 * angle + rng.uniform(0, 6)) + 0.02 * np.sin(7 * angle + rng.uniform(0, 6))
    r = np.hypot(xx - x, yy - y) / (radius_px * wobble)
    ring = np.exp(-(((r - 1) / 0.05) ** 2)) * (0.6 + 0.4 * np.sin(angle + rng.uniform(0, 6))) + 0.22 * (r < 1)
    region[:] = np.clip(region - np.maximum(ring, 0) * depth, 0, 255).astype(np.uint8)


def smudge(
    page: Grey, x: float, y: float, radius_px: float, rng: np.random.Generator, depth: float = 55.0
) -> None:
    """Rub graphite over the paper: a broad pale shade that thins out along the finger's way."""
    long, across = 2.2 * radius_px, radius_px
    top, left = max(int(y - 2 * across), 0), max(int(x - 2 * long), 0)
    region = page[top : int(y + 2 * across), left : int(x + 2 * long)]
    yy, xx = np.mgrid[top : top + region.shape[0], left : left + region.shape[1]].astype(np.float32)
    shade = np.exp(-(((xx - x) / long) ** 2) - ((yy - y) / across) ** 2)
    grain = cv2.GaussianBlur(rng.normal(1, 0.8, region.shape).astype(np.float32), (0, 0), 1.2)
    region[:] = np.clip(region - shade * np.clip(grain, 0, 2) * depth, 0, 255).astype(np.uint8)


def show_through(page: Grey, back: Grey, strength: float = 0.12) -> None:
    """Let the other side's ink shine through, mirrored and blurred; `strength` 0 to 1."""
    other = cv2.GaussianBlur(cv2.flip(back, 1), (0, 0), 1.5)
    if other.shape != page.shape:
        other = cv2.resize(other, (page.shape[1], page.shape[0]))
    page[:] = cv2.subtract(page, cv2.convertScaleAbs(255 - other, alpha=strength))


def watermark(page: Grey, words: str, grey: int = 205) -> None:
    """Print large slanted pale words across the page, under the ink (as on sample and duplicated ballots)."""
    rows, columns = page.shape
    layer = np.full(page.shape, 255, np.uint8)
    scale = columns / (len(words) * 22)
    size, _ = cv2.getTextSize(words, cv2.FONT_HERSHEY_SIMPLEX, scale, int(scale * 5))
    origin = (int((columns - size[0]) / 2), int((rows + size[1]) / 2))
    cv2.putText(layer, words, origin, cv2.FONT_HERSHEY_SIMPLEX, scale, grey, int(scale * 5), cv2.LINE_AA)
    turn = cv2.getRotationMatrix2D((columns / 2, rows / 2), 50, 1.0)
    layer = cv2.warpAffine(layer, turn, (columns, rows), borderMode=cv2.BORDER_CONSTANT, borderValue=(255,))
    page[:] = np.minimum(page, layer)


def crumple(page: Grey, rng: np.random.Generator, depth: float = 14.0) -> None:
    """Shade the sheet as if it had been crumpled and smoothed out again."""
    coarse = rng.normal(0, 1, (14, 11)).astype(np.float32)
    soft = cv2.resize(coarse, (page.shape[1], page.shape[0]), interpolation=cv2.INTER_CUBIC)
    page[:] = np.clip(page + np.asarray(soft) * depth, 0, 255).astype(np.uint8)
