"""How the points of a sheet come to lie in its picture: an exact map, forwards and backwards.

Points are pixel centres at whole numbers here, as OpenCV counts: a layout's coordinate minus 0.5. The order:
the feed's stretch; scale, turn and place of the sheet with perspective; the mirror; the lens.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

_GRID_PX = 16
_ROUNDS = 12


@dataclass(frozen=True)
class PageMap:
    """The map from the pixels of a blank to the pixels of its scan.

    `homography` places the page; before it the feed moves each row by `stretch_px` * sin(`stretch_waves` *
    2 pi * y / height + `stretch_phase`), after it the lens bends radii by (1 + `lens` * (r / R)^2), R half of
    the picture's diagonal from its middle.
    """

    homography: NDArray[np.float64]
    page_size: tuple[int, int]
    scan_size: tuple[int, int]
    stretch_px: float = 0.0
    stretch_waves: float = 0.6
    stretch_phase: float = 0.0
    lens: float = 0.0

    def to_scan(self, points: Points) -> Points:
        """Return where points of the blank (rows of x, y) lie in the scan."""
        points = np.asarray(points, np.float64).reshape(-1, 2).copy()
        points[:, 1] += self._stretch(points[:, 1])
        return self._bend(_project(self.homography, points))

    def to_page(self, points: NDArray[np.floating]) -> Points:
        """Return which points of the blank lie at points of the scan; good to 1e-6 px."""
        points = _project(
            np.linalg.inv(self.homography), self._unbend(np.asarray(points, np.float64).reshape(-1, 2))
        )
        stretched = points[:, 1].copy()
        for _ in range(_ROUNDS if self.stretch_px else 0):
            points[:, 1] = stretched - self._stretch(points[:, 1])
        return points

    def sampling_grid(self) -> NDArray[np.float32]:
        """Return for every pixel of the scan the point of the blank seen there (for cv2.remap).

        Computed at every 16th pixel and interpolated: the map is smooth, the error stays under 0.01 px.
        """
        width, height = self.scan_size
        columns, rows = width // _GRID_PX + 4, height // _GRID_PX + 4
        centres = (np.arange(max(columns, rows)) - 1 + 0.5) * _GRID_PX - 0.5
        x, y = np.meshgrid(centres[:columns], centres[:rows])
        coarse = (
            self.to_page(np.stack([x.ravel(), y.ravel()], axis=1))
            .reshape(rows, columns, 2)
            .astype(np.float32)
        )
        size = (columns * _GRID_PX, rows * _GRID_PX)
        fine = np.asarray(cv2.resize(coarse, size, interpolation=cv2.INTER_LINEAR), np.float32)
        return fine[_GRID_PX : _GRID_PX + height, _GRID_PX : _GRID_PX + width]

    def _stretch(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        height = self.page_size[1]
        return self.stretch_px * np.sin(self.stretch_waves * 2 * np.pi * y / height + self.stretch_phase)

    def _middle_and_radius(self) -> tuple[NDArray[np.float64], float]:
        size = np.array(self.scan_size, np.float64)
        return (size - 1) / 2, float(np.hypot(*size) / 2)

    def _bend(self, points: Points) -> Points:
        if not self.lens:
            return points
        middle, radius = self._middle_and_radius()
        away = points - middle
        r2 = (away**2).sum(axis=1, keepdims=True) / radius**2
        return np.asarray(middle + away * (1 + self.lens * r2), np.float64)

    def _unbend(self, points: Points) -> Points:
        if not self.lens:
            return points
        middle, radius = self._middle_and_radius()
        bent = points - middle
        away = bent
        for _ in range(_ROUNDS):
            r2 = (away**2).sum(axis=1, keepdims=True) / radius**2
            away = bent / (1 + self.lens * r2)
        return np.asarray(middle + away, np.float64)


def _project(homography: NDArray[np.floating], points: NDArray[np.floating]) -> Points:
    mapped = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ homography.T
    return np.asarray(mapped[:, :2] / mapped[:, 2:], np.float64)


def place(
    page_size: tuple[int, int],
    scan_size: tuple[int, int],
    *,
    scale: float = 1.0,
    turn_deg: float = 0.0,
    shift_px: tuple[float, float] = (0.0, 0.0),
    corners_px: NDArray[np.float64] | None = None,
    mirror: bool = False,
) -> NDArray[np.float64]:
    """Return the homography that lays a page into the middle of a picture, `shift_px` off.

    `turn_deg` turns clockwise as seen, by any angle; `corners_px` (4 rows: top left, top right, bottom right,
    bottom left) then moves the page's corners, a perspective; `mirror` at last swaps left and right.
    """
    angle = np.deg2rad(turn_deg)
    cos, sin = np.cos(angle) * scale, np.sin(angle) * scale
    middle, target = (np.array(size, np.float64) / 2 - 0.5 for size in (page_size, scan_size))
    linear = np.array([[cos, -sin], [sin, cos]])
    offset = target + np.array(shift_px) - linear @ middle
    homography = np.vstack([np.column_stack([linear, offset]), [0.0, 0.0, 1.0]])
    if corners_px is not None:
        homography = _perspective(homography, page_size, corners_px)
    if mirror:
        homography = np.array([[-1.0, 0, scan_size[0] - 1.0], [0, 1, 0], [0, 0, 1]]) @ homography
    return homography


def _perspective(
    homography: NDArray[np.float64], page_size: tuple[int, int], corners_px: NDArray[np.float64]
) -> NDArray[np.float64]:
    w, h = page_size
    corners = np.array([[-0.5, -0.5], [w - 0.5, -0.5], [w - 0.5, h - 0.5], [-0.5, h - 0.5]])
    placed = _project(homography, corners)
    bent = cv2.getPerspectiveTransform(placed.astype(np.float32), (placed + corners_px).astype(np.float32))
    return np.asarray(bent, np.float64) @ homography
