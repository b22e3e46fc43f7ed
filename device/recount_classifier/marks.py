"""What a stack of targets bears: ink in core, ring and halo, and the strokes that make it.

All functions take stacks, arrays of n equal windows, so that one sheet's targets and millions of drawn ones
go through the same code. A window is the ground round a target, `window_of` pixels wide and high, centred on
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recount_classifier.raster import both, closed, column_sums, eroded, looked_up, ones, parts, row_sums

Stack = NDArray[np.uint8]
Values = NDArray[np.float32]

CORE, RING, HALO = 0.80, 1.28, 2.0
"""Where core, ring and halo end, as multiples of the target's half axes."""
_SHAPE_POWER = 3.0
"""Between an ellipse (2) and a rectangle: fits ovals, stadiums and boxes."""
_GROUND_TONE = 0.08
"""Ink below this is paper grain."""
_DEPTH = np.maximum(np.arange(256, dtype=np.float32) - np.float32(_GROUND_TONE * 255), 0)
"""Each grey of excess without that grain."""
_GROUND_PX, _BROAD_PX = 3, 5
"""Sides of a spot of ground: wider than a stroke's blurred edge; wider than a pencil's stroke (0.6 mm)."""
_PARTED_PX = 3
"""Ground on each side of a window beside others: closing by five pixels joins nothing across."""
_EDGES_PX = 3
"""Blurred edges of a stroke, both sides together: they make a dot wider, but are no length."""


@dataclass(frozen=True, slots=True, eq=False)
class Zones:
    """The zones of a target of one size inside its window."""

    width: int
    height: int
    masks: Values
    """3 x pixels: core, ring and halo, 1 inside."""
    core: NDArray[np.bool_]
    inside: NDArray[np.bool_]
    """Core and ring."""
    inner: tuple[slice, slice]
    """The rows and columns that `inside` takes."""
    halo: NDArray[np.bool_]


def window_of(target_width: float, target_height: float) -> tuple[int, int]:
    """Return the window's odd width and height for a target of this size."""
    return 2 * round(target_width * 1.1) + 1, 2 * round(target_height * 1.3) + 1


@lru_cache(maxsize=256)
def zones_of(target_width: float, target_height: float) -> Zones:
    """Return the zones of targets of this size."""
    width, height = window_of(target_width, target_height)
    rows, columns = np.mgrid[0:height, 0:width]
    u = np.abs(columns - width // 2) / (target_width / 2)
    v = np.abs(rows - height // 2) / (target_height / 2)
    radius = (u**_SHAPE_POWER + v**_SHAPE_POWER) ** (1 / _SHAPE_POWER)
    core, ring, halo = radius < CORE, (radius >= CORE) & (radius < RING), (radius >= RING) & (radius < HALO)
    masks = np.stack([core, ring, halo]).reshape(3, -1).astype(np.float32)
    inside = radius < RING
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    inner = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    return Zones(width, height, masks, core, inside, inner, halo)


@dataclass(frozen=True, slots=True)
class Levels:
    """The excess (of 255) from which a pixel is something."""

    ink: int
    """Ink, against the brightest paper near it."""
    shade: int
    """Shade on the ground round a target: below, it is paper with its grain."""
    pale: int
    """Ink that is too dark to be a shade, however broad it is."""


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """Measurements of n targets; every field is an array of n. Shares are 0 to 1."""

    core: Values
    """Mean excess ink on the core's ground that print leaves open, paper grain taken off."""
    ring: Values
    halo: Values
    cover: Values
    """Share of the core's pixels, as far as print leaves them open, that are ink."""
    ground: Values
    """Excess of the darkest ground round the target: a stain, a shade, pale print that goes on outside it."""
    relief: Values
    """As `cover`, of pixels that are ink even against that ground."""
    tone: Values
    """Mean excess of those pixels: how dark the mark is."""
    spot_px: Values
    """Ink pixels in core and ring of the largest connected spot there."""
    span: Values
    """Extent without its edges, in target widths, of the spot that has most of the core's ink: what a
    neighbour's mark sends over the outline makes a touch no longer."""
    body: Values
    """Share of the ink in core and ring left when a pixel is taken off every edge: a hair has none."""


def open_pixels(free: Stack, target_width: float, target_height: float) -> Values:
    """Return for each window how many pixels of core, ring and halo (n x 3) print leaves open, at least 1.

    `free` is 1 where no print hides ink.
    """
    zones = zones_of(target_width, target_height)
    return np.maximum(free.reshape(len(free), -1).astype(np.float32) @ zones.masks.T, 1)


def measure(excess: Stack, room: Values, target_width: float, target_height: float, levels: Levels) -> Marks:
    """Measure a stack (n, height, width) of excess ink round targets of one size.

    `room` is what `open_pixels` says: a row for each window. Span and body are those of the ink that stands
    out from the ground.
    """
    zones = zones_of(target_width, target_height)
    marks = Marks(*np.zeros((10, len(excess)), np.float32))
    flat = excess.reshape(len(excess), -1)
    # Most windows bear nothing but grain: all that is measured there is 0.
    toned = np.flatnonzero(flat.max(axis=1) > _GROUND_TONE * 255)
    if len(toned) == 0:
        return marks
    flat = flat[toned]
    depth = looked_up(flat, _DEPTH)
    marks.core[toned], marks.ring[toned], marks.halo[toned] = (depth @ zones.masks.T / room[toned] / 255).T
    inked = flat > levels.ink
    having = np.flatnonzero((inked & zones.inside.ravel()).any(axis=1))
    if len(having) == 0:
        return marks
    some, flat, inked = toned[having], flat[having], inked[having]
    core = zones.core.ravel()
    marks.cover[some] = row_sums((inked & core).view(np.uint8)) / room[some, 0]
    darkest = _darkest_ground(flat.reshape(-1, zones.height, zones.width), inked, zones, levels)
    marks.ground[some] = darkest / np.float32(255)
    rising = flat > np.minimum(darkest + levels.ink, 255).astype(np.uint8)[:, None]
    standing = (rising & core).view(np.uint8)
    pixels = row_sums(standing)
    marks.relief[some] = pixels / room[some, 0]
    marks.tone[some] = row_sums(flat * standing) / np.maximum(pixels, 1) / 255
    shaded = np.flatnonzero(darkest)
    both_ways = np.concatenate([inked, rising[shaded]])
    spot, span, body = _spots(both_ways, zones, target_width)
    marks.spot_px[some] = spot[: len(some)]
    for measured, of_all in ((marks.span, span), (marks.body, body)):
        measured[some] = of_all[: len(some)]
        measured[some[shaded]] = of_all[len(some) :]
    return marks


def _darkest_ground(
    excess: Stack, inked: NDArray[np.bool_], zones: Zones, levels: Levels
) -> NDArray[np.int32]:
    """Return for each window how much darker (of 255) the darkest ground round the target is than paper.

    Ground is a spot in the halo that is paler than ink; or one that is pale, but broader than a stroke: a
    printed tint, a stain. It is as dark as its palest pixel.
    """
    pitch = zones.width + 2 * _PARTED_PX
    bare = excess.ravel() * ~inked.ravel()
    pale = excess * (excess < levels.pale)
    narrow = eroded(_parted(bare.reshape(excess.shape)), ones(_GROUND_PX, _GROUND_PX))
    broad = eroded(_parted(pale), ones(_BROAD_PX, _BROAD_PX))
    spots = np.maximum(narrow, broad)[_PARTED_PX:-_PARTED_PX]
    # Column by column first: the windows lie beside each other.
    in_halo = spots.reshape(zones.height, len(excess), pitch)[:, :, _PARTED_PX:-_PARTED_PX]
    darkest = (in_halo * zones.halo[:, None, :]).max(axis=0).max(axis=1).astype(np.int32)
    return np.maximum(darkest - levels.shade, 0)


def _spots(inked: NDArray[np.bool_], zones: Zones, target_width: float) -> tuple[Values, Values, Values]:
    """Return of each window's core and ring the largest ink spot, the main spot's extent, the ink's body."""
    spot, span, body = (np.zeros(len(inked), np.float32) for _ in range(3))
    # The windows' inner parts lie beside each other in one picture, parted so that nothing joins across.
    rows, columns = zones.inner
    windows = inked.reshape(-1, zones.height, zones.width)
    inner = windows[:, rows, columns]
    masks = _parted(inner & zones.inside[rows, columns])
    whole = _parted(windows[:, _grown(rows), _grown(columns)])
    pitch = masks.shape[1] // len(inked)
    thick = eroded(whole, ones(3, 3)).reshape(len(whole), len(inked), -1)[1:-1, :, 1:-1]
    thick = both(np.ascontiguousarray(thick).reshape(masks.shape), masks)
    body[:] = _pixels(thick, pitch) / np.maximum(_pixels(masks, pitch), 1)
    # Gaps that the printed outline tears into a stroke are bridged.
    found = parts(closed(masks, ones(5, 5)))
    owners = found.boxes[1:, 0] // pitch
    pixels, labels = found.pixels(found.rows * masks.shape[1] + found.columns), found.each(found.labels)
    inked_pixels = masks.ravel()[pixels]
    core = np.tile(_parted(zones.core[None, rows, columns]), len(inked)).ravel()[pixels]
    areas, in_core = (
        np.bincount(labels, weights=weights)[1:].astype(np.float32)
        for weights in (inked_pixels, inked_pixels & core)
    )
    np.maximum.at(spot, owners, areas)
    most = np.zeros_like(spot)
    np.maximum.at(most, owners, in_core)
    main = (in_core > 0) & (in_core == most[owners])
    extents = np.hypot(*np.maximum(found.boxes[1:, 2:] - _EDGES_PX, 0).T) / target_width
    np.maximum.at(span, owners[main], extents[main].astype(np.float32))
    return spot, span, body


def _parted(windows: Stack | NDArray[np.bool_]) -> Stack:
    """Return the windows beside each other in one picture, with empty ground round each."""
    count, height, width = windows.shape
    parted = np.zeros((height + 2 * _PARTED_PX, count, width + 2 * _PARTED_PX), np.uint8)
    parted[_PARTED_PX:-_PARTED_PX, :, _PARTED_PX:-_PARTED_PX] = windows.transpose(1, 0, 2)
    return parted.reshape(len(parted), -1)


def _pixels(masks: Stack, pitch: int) -> NDArray[np.int64]:
    """Return how many pixels of each window of the picture are set; windows are `pitch` wide."""
    return column_sums(masks).reshape(-1, pitch).sum(axis=1)


def _grown(part: slice) -> slice:
    """Return the part with one more on each side; a window is much larger than its inner part."""
    return slice(part.start - 1, part.stop + 1)
