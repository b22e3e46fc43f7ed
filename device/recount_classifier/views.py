"""One picture of a sheet, small and upright, in each of the ways that the page may lie in it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recount_classifier.lens import Lens
from recount_classifier.points import Points
from recount_classifier.program import ANCHOR_LEVEL, WORKING_DPI
from recount_classifier.pyramid import Matrix, Pyramid, build_pyramid
from recount_classifier.raster import Grey, resized, warped

KNOWN_DPI = (200, 300, 150, 240, 400, 600, 100)
_TURNS = (0.0, -4.0, 4.0)


@dataclass(frozen=True, slots=True)
class Guess:
    """How the sheet may lie in the picture: scale (its pixels per working pixel), quarter turns, skew."""

    scale: float
    quarters: int
    skew_deg: float = 0.0
    mirrored: bool = False


@dataclass(frozen=True, slots=True)
class ViewBend:
    """A lens's bend in the pixels of a small view."""

    lens: Lens
    to_page: Matrix

    def bent(self, points: Points) -> Points:
        """Return where points of the straight view lie in the real one."""
        return self._from_page(self.lens.bent(self._on_page(points)))

    def slopes(self, points: Points) -> NDArray[np.float64]:
        """Return for points of the straight view the map's derivatives (n x 2 x 2)."""
        linear = self.to_page[:2, :2]
        return np.linalg.inv(linear) @ self.lens.slopes(self._on_page(points)) @ linear

    def straight(self, points: Points) -> Points:
        """Return where points of the real view would lie without the lens's bend."""
        return self._from_page(self.lens.straight(self._on_page(points)))

    def _on_page(self, points: Points) -> Points:
        return points @ self.to_page[:2, :2].T + self.to_page[:2, 2]

    def _from_page(self, points: Points) -> Points:
        return (points - self.to_page[:2, 2]) @ np.linalg.inv(self.to_page[:2, :2]).T


@dataclass
class Page:
    """One picture with its two pyramids and the small views made of it so far."""

    image: Grey
    lens: Lens | None = None
    """What the camera's lens does, where that is known: places are found in the straight picture then."""
    both_at_once: bool = False
    """Both pyramids are made when one is wanted: what is read after them stays in the processor's cache."""
    _pyramids: dict[int, Pyramid] = field(default_factory=dict[int, Pyramid])
    _views: dict[tuple[int, Guess], tuple[Grey, Matrix]] = field(
        default_factory=dict[tuple[int, Guess], tuple[Grey, Matrix]]
    )

    def pyramid(self, start: int) -> Pyramid:
        """Return the pyramid of a path."""
        if start not in self._pyramids:
            depth = max(ANCHOR_LEVEL, int(np.ceil(np.log2(max(self.image.shape) / 140))))
            for one in (0, 1) if self.both_at_once else (start,):
                self._pyramids[one] = build_pyramid(self.image, depth, one)
        return self._pyramids[start]

    def view(self, start: int, guess: Guess) -> tuple[Grey, Matrix]:
        """Return the 1/16 picture as the guess would set it upright, and the matrix from it to the page."""
        key = (start, guess)
        if key not in self._views:
            self._views[key] = _make_view(self.pyramid(start), guess)
        return self._views[key]


def _make_view(pyramid: Pyramid, guess: Guess) -> tuple[Grey, Matrix]:
    wanted = float(1 << ANCHOR_LEVEL) * guess.scale
    level = min(max(0, int(np.floor(np.log2(wanted) + 0.05))), len(pyramid.levels) - 1)
    low = pyramid.levels[level]
    factor, offset = pyramid.to_page(level)
    matrix = np.array([[factor, 0, offset], [0, factor, offset], [0, 0, 1.0]])
    shrink = factor / wanted
    if abs(shrink - 1) > 0.02:
        height, width = low.shape
        size = (max(4, round(width * shrink)), max(4, round(height * shrink)))
        low = resized(low, *size)
        fx, fy = width / size[0], height / size[1]
        matrix = matrix @ np.array([[fx, 0, (fx - 1) / 2], [0, fy, (fy - 1) / 2], [0, 0, 1.0]])
    if guess.mirrored:
        matrix = matrix @ np.array([[-1.0, 0, low.shape[1] - 1], [0, 1, 0], [0, 0, 1]])
        low = np.ascontiguousarray(low[:, ::-1])
    height, width = low.shape
    if guess.quarters == 1:
        matrix = matrix @ np.array([[0.0, 1, 0], [-1, 0, height - 1], [0, 0, 1]])
        low = np.ascontiguousarray(np.rot90(low, -1))
    elif guess.quarters == 2:
        matrix = matrix @ np.array([[-1.0, 0, width - 1], [0, -1, height - 1], [0, 0, 1]])
        low = np.ascontiguousarray(low[::-1, ::-1])
    elif guess.quarters == 3:
        matrix = matrix @ np.array([[0.0, -1, width - 1], [1, 0, 0], [0, 0, 1]])
        low = np.ascontiguousarray(np.rot90(low, 1))
    if guess.skew_deg:
        height, width = low.shape
        middle_x, middle_y = (width - 1) / 2, (height - 1) / 2
        cos, sin = np.cos(np.radians(guess.skew_deg)), np.sin(np.radians(guess.skew_deg))
        turn = np.array(
            [
                [cos, -sin, middle_x - cos * middle_x + sin * middle_y],
                [sin, cos, middle_y - sin * middle_x - cos * middle_y],
                [0.0, 0.0, 1.0],
            ]
        )
        low = warped(low, turn[:2], width, height, None)
        matrix = matrix @ turn
    return low, matrix


def likely_guesses(page: Grey, width: int, height: int) -> list[Guess]:
    """Return the likely ways a page of working size width x height fills the picture."""
    likely: list[Guess] = []
    for quarters, across, down in _lying(page):
        by_width, by_height = across / width, down / height
        if abs(by_width / by_height - 1) < 0.06:
            scale = _snapped((by_width * by_height) ** 0.5)
            likely += [Guess(scale, quarters), Guess(scale, quarters + 2)]
    return likely


def possible_guesses(page: Grey, width: int, height: int) -> list[Guess]:
    """Return every way such a page may lie in the picture, also with more or less than it in the picture."""
    scales = [guess.scale for guess in likely_guesses(page, width, height)]
    possible: list[Guess] = []
    for quarters, across, down in _lying(page):
        fitting = min(across / width, down / height)
        known = [dpi / WORKING_DPI for dpi in KNOWN_DPI if 0.5 < dpi / WORKING_DPI / fitting < 1.12]
        for scale in dict.fromkeys([*scales, *known, _snapped(fitting), fitting * 0.9]):
            possible += [Guess(scale, quarters + half, skew) for skew in _TURNS for half in (0, 2)]
    possible.sort(key=lambda g: (abs(g.skew_deg), g.quarters % 2))
    return possible


def _lying(page: Grey) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
    """Return (quarter turns, extent across, extent down) of a picture that lies upright or on its side."""
    rows, columns = page.shape
    return (0, columns, rows), (1, rows, columns)


def _snapped(scale: float) -> float:
    """Return the scale of a usual scanner resolution when it is within 3 %."""
    for dpi in KNOWN_DPI:
        if abs(scale * WORKING_DPI / dpi - 1) < 0.03:
            return dpi / WORKING_DPI
    return scale
