"""A sheet before a scanner or a camera: geometry, light, dirt, noise, compression."""

from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_ballots.blank import Grey
from recount_ballots.geometry import PageMap, place
from recount_ballots.paper import Mask


@dataclass(frozen=True)
class Streak:
    """A dirty spot on the glass: a line along the feed at `x` (a fraction of the picture's width)."""

    x: float
    darkness: float = 70.0
    width_px: float = 2.0


@dataclass(frozen=True)
class ScanSettings:
    """What a scanner does to a sheet. The defaults do nothing at all.

    Lengths are pixels of the scan, angles degrees, greys 0 to 255. `turn_deg` holds skew and turns.
    `light` is the change of brightness from one edge to the other, across and along; `jpeg` a quality, 0 for
    none; `one_bit` a threshold, 0 for grey; `margin_px` what is seen round the sheet (negative: cut off).
    """

    turn_deg: float = 0.0
    scale: float = 1.0
    shift_px: tuple[float, float] = (0.0, 0.0)
    perspective_px: float = 0.0
    stretch_px: float = 0.0
    lens: float = 0.0
    margin_px: int = 0
    background: int = 255
    white: float = 255.0
    black: float = 0.0
    light: tuple[float, float] = (0.0, 0.0)
    streaks: tuple[Streak, ...] = ()
    dust: int = 0
    blur_px: float = 0.0
    noise: float = 0.0
    jpeg: int = 0
    one_bit: int = 0
    mirror: bool = False

    def but(self, **changes: object) -> "ScanSettings":
        """Return the settings with some changed."""
        return replace(self, **changes)  # pyright: ignore[reportArgumentType]


PERFECT = ScanSettings()


@dataclass(frozen=True)
class Scan:
    """The picture of a sheet, and where every point of the blank lies in it."""

    image: Grey
    page_map: PageMap


def page_scanner(rng: np.random.Generator) -> ScanSettings:
    """Return one pass through an ordinary sheet-fed scanner: small skew, slight noise, JPEG."""
    return ScanSettings(
        turn_deg=float(np.clip(rng.normal(0, 0.35), -1.2, 1.2)),
        scale=float(rng.uniform(0.992, 1.006)),
        shift_px=(float(rng.normal(0, 4)), float(rng.normal(0, 4))),
        stretch_px=float(rng.normal(0, 0.5)),
        margin_px=12,
        background=int(rng.integers(225, 250)),
        white=float(rng.uniform(232, 250)),
        black=float(rng.uniform(12, 34)),
        light=(float(rng.normal(0, 5)), float(rng.normal(0, 4))),
        dust=int(rng.integers(0, 10)),
        blur_px=float(rng.uniform(0.45, 0.75)),
        noise=float(rng.uniform(2, 5)),
        jpeg=int(rng.integers(78, 90)),
    )


def camera(rng: np.random.Generator) -> ScanSettings:
    """Return one picture of a camera over a dark bed: perspective, lens, uneven light, margins."""
    return ScanSettings(
        turn_deg=float(rng.normal(0, 0.8)),
        scale=float(rng.uniform(0.96, 0.99)),
        shift_px=(float(rng.normal(0, 8)), float(rng.normal(0, 8))),
        perspective_px=float(rng.uniform(2, 9)),
        lens=float(rng.normal(0, 0.006)),
        margin_px=30,
        background=int(rng.integers(14, 50)),
        white=float(rng.uniform(205, 240)),
        black=float(rng.uniform(18, 40)),
        light=(float(rng.normal(0, 16)), float(rng.normal(0, 16))),
        dust=int(rng.integers(0, 6)),
        blur_px=float(rng.uniform(0.6, 0.95)),
        noise=float(rng.uniform(2, 4.5)),
        jpeg=int(rng.integers(78, 90)),
    )


def worn_scanner(rng: np.random.Generator) -> ScanSettings:
    """Return one pass through a worn scanner: 3 degrees of skew, stretch, streaks, noise, hard JPEG."""
    streaks = tuple(
        Streak(float(rng.random()), float(rng.uniform(20, 70)), 1.5) for _ in range(int(rng.integers(0, 2)))
    )
    return page_scanner(rng).but(
        turn_deg=float(rng.uniform(-3, 3)),
        scale=float(rng.uniform(0.97, 1.02)),
        stretch_px=float(rng.normal(0, 2)),
        light=(float(rng.normal(0, 15)), float(rng.normal(0, 15))),
        streaks=streaks,
        dust=int(rng.integers(5, 40)),
        blur_px=float(rng.uniform(0.7, 1.2)),
        noise=float(rng.uniform(6, 14)),
        jpeg=int(rng.integers(40, 70)),
    )


SCANNERS = {"page_scanner": page_scanner, "camera": camera, "worn_scanner": worn_scanner}


def scan(page: Grey, settings: ScanSettings, rng: np.random.Generator, paper: Mask | None = None) -> Scan:
    """Return the picture that such a scanner makes of a sheet; `paper` tells where the sheet is torn."""
    page_map = _page_map((page.shape[1], page.shape[0]), settings, rng)
    image = _sampled(page, page_map, settings, paper)
    if settings.blur_px:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), settings.blur_px), np.uint8)
    image = _lit(image, settings, rng)
    if settings.one_bit:
        image = np.asarray(cv2.threshold(image, settings.one_bit, 255, cv2.THRESH_BINARY)[1], np.uint8)
    if settings.jpeg:
        _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, settings.jpeg])
        image = np.asarray(cv2.imdecode(data, cv2.IMREAD_GRAYSCALE), np.uint8)
    return Scan(image, page_map)


def _page_map(page_size: tuple[int, int], settings: ScanSettings, rng: np.random.Generator) -> PageMap:
    lying = round(settings.turn_deg / 90) % 2 == 1
    width, height = (page_size[1], page_size[0]) if lying else page_size
    scan_size = (width + 2 * settings.margin_px, height + 2 * settings.margin_px)
    corners = rng.uniform(-1, 1, (4, 2)) * settings.perspective_px if settings.perspective_px else None
    homography = place(
        page_size,
        scan_size,
        scale=settings.scale,
        turn_deg=settings.turn_deg,
        shift_px=settings.shift_px,
        corners_px=corners,
        mirror=settings.mirror,
    )
    phase = float(rng.uniform(0, 2 * np.pi)) if settings.stretch_px else 0.0
    return PageMap(homography, page_size, scan_size, settings.stretch_px, 0.6, phase, settings.lens)


def _sampled(page: Grey, page_map: PageMap, settings: ScanSettings, paper: Mask | None) -> Grey:
    """Return the page as it lies, in its own greys toned to the scanner's, on the background."""
    toned = np.clip(settings.black + np.arange(256) * (settings.white - settings.black) / 255, 0, 255)
    page = np.asarray(cv2.LUT(page, np.round(toned).astype(np.uint8)), np.uint8)
    if paper is not None and int(paper.min()) < 255:
        hole = np.float32(1) - paper.astype(np.float32) / np.float32(255)
        page = np.round(page + hole * (np.float32(settings.background) - page)).astype(np.uint8)
    grid = page_map.sampling_grid()
    border = (float(settings.background),)
    nothing: Any = None  # the grid holds both coordinates; OpenCV's types want a second one all the same
    sampled = cv2.remap(
        page, grid, nothing, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=border
    )
    return np.asarray(sampled, np.uint8)


def _lit(image: Grey, settings: ScanSettings, rng: np.random.Generator) -> Grey:
    """Return the picture under uneven light, with streaks, dust and noise."""
    if not (any(settings.light) or settings.streaks or settings.noise or settings.dust):
        return image
    height, width = image.shape
    across, along = settings.light
    change = np.zeros(image.shape, np.float32)
    if across or along:
        x, y = (
            np.linspace(-0.5, 0.5, width, dtype=np.float32),
            np.linspace(-0.5, 0.5, height, dtype=np.float32),
        )
        change += (x * across)[None, :] + (y * along)[:, None]
    for streak in settings.streaks:
        offset = (np.arange(width, dtype=np.float32) - streak.x * width) / max(streak.width_px, 0.5)
        change -= (np.exp(-(offset**2)) * streak.darkness)[None, :]
    if settings.noise:
        change += _noise(image.shape, settings.noise, rng)
    for _ in range(settings.dust):
        spot = (int(rng.integers(width)), int(rng.integers(height)))
        cv2.circle(change, spot, int(rng.integers(1, 3)), (-float(rng.uniform(60, 170)),), -1, cv2.LINE_AA)
    return np.asarray(cv2.add(image, change, dtype=cv2.CV_8U), np.uint8)


def _noise(shape: tuple[int, ...], deviation: float, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return normal noise: a quarter is drawn and laid out four times at random offsets, for speed."""
    rows = shape[0] // 4 + 1
    strip = rng.standard_normal((rows, shape[1]), np.float32) * np.float32(deviation)
    parts = [np.roll(strip, int(offset), axis=1) for offset in rng.integers(0, shape[1], 4)]
    return np.concatenate(parts)[: shape[0]]
