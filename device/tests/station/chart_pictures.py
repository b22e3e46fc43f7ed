"""Pictures of lens charts and white sheets as cameras of known faults take them."""

from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_ballots.scanner import Scan, ScanSettings, scan
from recount_device.calibration.chart_sheet import ChartSheet, chart_picture

Grey = NDArray[np.uint8]

SHARP = ScanSettings(scale=0.97, margin_px=30, background=40, noise=3.0, blur_px=0.7)
"""A camera over a dark bed, set up well: it bends nothing, and the chart's picture has its greys already."""
WHITE_GREY = 236


@cache
def chart(dpi: int = 150) -> Grey:
    """Return the chart as it is printed."""
    return chart_picture(ChartSheet(), dpi)


def chart_scan(settings: ScanSettings = SHARP, seed: int = 0, dpi: int = 150) -> Scan:
    """Return the chart under a camera, lying a little differently with each seed."""
    rng = np.random.default_rng(seed)
    placed = settings.but(
        turn_deg=settings.turn_deg + float(rng.normal(0, 0.8)),
        shift_px=(float(rng.normal(0, 6)), float(rng.normal(0, 6))),
        perspective_px=float(rng.uniform(2, 8)),
    )
    return scan(chart(dpi), placed, rng)


def white_sheet(settings: ScanSettings = SHARP, seed: int = 0, dpi: int = 100) -> Grey:
    """Return a white sheet under a camera."""
    size = (round(11 * dpi), round(8.5 * dpi))
    rng = np.random.default_rng(seed)
    return scan(np.full(size, WHITE_GREY, np.uint8), settings, rng).image


def lit(picture: Grey, light: NDArray[np.floating]) -> Grey:
    """Return the picture under a light of that shape (1: as it is), of the picture's size or smaller."""
    rows, columns = picture.shape
    shape = np.asarray(cv2.resize(light.astype(np.float32), (columns, rows), interpolation=cv2.INTER_LINEAR))
    return np.clip(picture * shape, 0, 255).astype(np.uint8)


def fallen(kind: str, least: float) -> NDArray[np.float64]:
    """Return a light that falls to `least` of its brightest, to one side or several."""
    y, x = np.mgrid[0:44, 0:34]
    across, down = x / 33, y / 43
    away = np.hypot(across - 0.5, down - 0.5) / np.hypot(0.5, 0.5)
    shapes = {
        "side": across,
        "corner": (across + down) / 2,
        "corners": away**2,
        "middle": 1 - away**2,
        "band": 0.5 + 0.5 * np.cos(3 * np.pi * down),
    }
    return 1 - (1 - least) * shapes[kind]
