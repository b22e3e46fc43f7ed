"""Where things are on a style's ground: targets, words, write-in areas. The same for all its sheets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recount_classifier.ground import GRAIN_PX, reference_of
from recount_classifier.lines import Room, room_of
from recount_classifier.marks import open_pixels, window_of, zones_of
from recount_classifier.outlines import Outlines, outlines_of
from recount_classifier.program import Style
from recount_classifier.raster import Grey, above, averaged, bordered, both, dilated, not_above, ones
from recount_classifier.strokes import halved_mask

Window = tuple[slice, slice]
IN_BOX, IN_WRITING, IN_WORDS, BESIDE_PRINT = KINDS = range(4)
"""Kinds of ground: the contest's box, write-in areas, printed words; in the box, but within two pixels of
where print may lie, so that ink there may be print that lies a little off."""
PRINT_SLACK = ones(5, 5)
"""Print may lie two pixels from its place and still be present."""
Grey3 = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Place:
    """A target's window: which part of the ground it is, and which part of the window that fills."""

    outer: Window
    inner: Window


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """The windows round targets of one size."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    """Where each begins on the ground."""
    width: int
    height: int
    margin: int
    """How far at most they reach over the ground's edges; 0 when none does."""

    def part(self, inner: Window) -> Windows:
        """Return that part of each window, whose slices have a start and a stop."""
        rows, columns = inner
        wide, high = columns.stop - columns.start, rows.stop - rows.start
        return Windows(self.rows + rows.start, self.columns + columns.start, wide, high, self.margin)


@dataclass(frozen=True, slots=True, eq=False)
class Size:
    """The targets of one size, which are measured as one stack."""

    width: float
    height: float
    members: tuple[int, ...]
    windows: Windows
    inner: Windows
    """The parts of the windows that outlines lie in."""
    room: NDArray[np.float32]
    """For each member, how much of core, ring and halo print leaves open (`open_pixels`)."""
    paper: NDArray[np.intp]
    """For each member, the flat indices of the paper's envelope under its window, row by row."""
    blank_shares: NDArray[np.float32]
    """What `paper_shares` are on the blank: a printed bar of black beside a target is no missing paper."""
    outlines: Outlines


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """A style's windows and masks. Masks are of half size, as strokes are."""

    windows: tuple[Place, ...]
    sizes: tuple[Size, ...]
    targets: Grey
    """Inside which target a pixel lies (1 + its index), outline included; 0 elsewhere."""
    halos: Grey
    """Beside which target a pixel lies; 0 elsewhere."""
    zones: NDArray[np.uint16]
    """Both in one: a pixel beside a target has the target's number and the number of targets more."""
    kinds: Grey
    """The kinds of ground that each pixel is of, as bits: 1 << KINDS.index(kind)."""
    box: Grey
    writing: Grey
    words: Grey
    room: Room


@lru_cache(maxsize=64)
def places_of(style: Style) -> Places:
    """Return the style's windows and masks. Kept for each style in use."""
    left, top, right, bottom = style.reference_box
    shape = (bottom - top, right - left)
    inside, halos = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    windows: list[Place] = []
    for index, target in enumerate(style.targets):
        place = _place(style, index, shape)
        windows.append(place)
        zones = zones_of(target.width, target.height)
        inside[place.outer][zones.inside[place.inner]] = index + 1
        halos[place.outer][zones.halo[place.inner]] = index + 1
    halos[inside > 0] = 0
    box, writing = np.zeros(shape, np.uint8), np.zeros(shape, np.uint8)
    box[style.box[1] - top : style.box[3] - top, style.box[0] - left : style.box[2] - left] = 1
    for area in style.write_in_areas:
        writing[area[1] - top : area[3] - top, area[0] - left : area[2] - left] = 1
    beside_print = both(box, above(dilated(reference_of(style).print_mask, ones(5, 5)), 0))
    words = _words(style, inside, box)
    kinds = np.zeros(shape, np.uint8)
    for kind, mask in zip(KINDS, (box, writing, words, beside_print), strict=True):
        kinds |= (mask > 0).astype(np.uint8) << kind
    beside = np.where(halos > 0, halos.astype(np.uint16) + len(style.targets), 0)
    return Places(
        windows=tuple(windows),
        sizes=_sizes(style, windows),
        targets=halved_mask(inside),
        halos=halved_mask(halos),
        zones=halved_mask(np.where(inside > 0, inside, beside).astype(np.uint16)),
        kinds=halved_mask(kinds),
        box=halved_mask(box),
        writing=halved_mask(writing),
        words=halved_mask(words),
        room=room_of(reference_of(style).print_mask),
    )


def _sizes(style: Style, every: list[Place]) -> tuple[Size, ...]:
    members: dict[tuple[float, float], list[int]] = {}
    for index, target in enumerate(style.targets):
        members.setdefault((target.width, target.height), []).append(index)
    blank = reference_of(style)
    free = not_above(blank.print_mask, 0)
    ink = averaged(blank.ink, GRAIN_PX)
    darkest = dilated(ink, PRINT_SLACK)
    sizes: list[Size] = []
    for (width, height), indices in members.items():
        places = [every[i] for i in indices]
        windows = _windows_of(places, width, height)
        open_ground, print_ground, darkest_ground = (
            stacked([ground], windows) for ground in (free, ink, darkest)
        )
        room = open_pixels(open_ground, width, height)
        outlines = outlines_of(print_ground, darkest_ground, width, height)
        paper = _paper_under(places, blank.ink.shape)
        shares = paper_shares(blank.envelope, blank.usual, blank.black, paper)
        inner = windows.part(zones_of(width, height).inner)
        sizes.append(Size(width, height, tuple(indices), windows, inner, room, paper, shares, outlines))
    return tuple(sizes)


def paper_shares(
    envelope: Grey, usual: NDArray[np.float32], black: float, under: NDArray[np.intp]
) -> NDArray[np.float32]:
    """Return how far the ground is from the contest's paper at these indices, as shares of the contrast."""
    paper = usual.ravel()
    # The usual paper is a plane: its mean over a window is that of two opposite corners.
    contrast = (paper[under[:, 0]] + paper[under[:, -1]]) / 2 - np.float32(black)
    difference = envelope.ravel().take(under, mode="clip") - paper.take(under, mode="clip")
    return (difference / np.maximum(1, contrast)[:, None]).astype(np.float32, copy=False)


def _paper_under(places: Sequence[Place], shape: tuple[int, ...]) -> NDArray[np.intp]:
    """Return where the envelope (a quarter of the ground's size) lies under each window.

    Windows that the ground's edge cuts repeat their last row or column, so that all have one length.
    """
    quarter_rows, quarter_columns = (length // 4 for length in shape)
    outer = [place.outer for place in places]
    high = max(rows.stop // 4 + 1 - rows.start // 4 for rows, _ in outer)
    wide = max(columns.stop // 4 + 1 - columns.start // 4 for _, columns in outer)
    found = np.empty((len(outer), high, wide), np.intp)
    for index, (rows, columns) in enumerate(outer):
        last_row = min(rows.stop // 4, quarter_rows - 1)
        last_column = min(columns.stop // 4, quarter_columns - 1)
        y = np.minimum(np.arange(high) + rows.start // 4, last_row)
        x = np.minimum(np.arange(wide) + columns.start // 4, last_column)
        found[index] = y[:, None] * quarter_columns + x
    return found.reshape(len(outer), -1)


def _windows_of(places: Sequence[Place], target_width: float, target_height: float) -> Windows:
    """Return the windows of targets of one size."""
    wide, high = window_of(target_width, target_height)
    rows = np.array([place.outer[0].start - place.inner[0].start for place in places])
    columns = np.array([place.outer[1].start - place.inner[1].start for place in places])
    is_cut = any(place.inner != (slice(0, high), slice(0, wide)) for place in places)
    return Windows(rows, columns, wide, high, max(wide, high) if is_cut else 0)


def stacked(grounds: Sequence[Grey], windows: Windows) -> Grey3:
    """Return these windows of each ground, those of the first ground first, as one stack.

    What lies off the ground is 0.
    """
    height, width, margin = windows.height, windows.width, windows.margin
    rows, columns = windows.rows + margin, windows.columns + margin
    stacks: list[Grey3] = []
    for ground in grounds:
        around = bordered(ground, margin) if margin else np.ascontiguousarray(ground)
        pitch = around.shape[1]
        # Each row of a window is taken as one item: twice as fast as pixel by pixel.
        shape = (around.shape[0] - height + 1, pitch - width + 1, height)
        items = np.ndarray(shape, f"V{width}", around, strides=(pitch, 1, pitch))
        stacks.append(items[rows, columns].view(np.uint8).reshape(-1, height, width))
    return stacks[0] if len(stacks) == 1 else np.concatenate(stacks)


def _place(style: Style, index: int, shape: tuple[int, int]) -> Place:
    target = style.targets[index]
    wide, high = window_of(target.width, target.height)
    x, y = target.centre
    x0, y0 = round(x) - wide // 2 - style.reference_box[0], round(y) - high // 2 - style.reference_box[1]
    rows = slice(max(0, y0), min(shape[0], y0 + high))
    columns = slice(max(0, x0), min(shape[1], x0 + wide))
    return Place(
        (rows, columns),
        (slice(rows.start - y0, rows.stop - y0), slice(columns.start - x0, columns.stop - x0)),
    )


def _words(style: Style, inside: Grey, box: Grey) -> Grey:
    """Return where the contest's words are printed: its print without rules and targets."""
    outside = (inside == 0).astype(np.uint8)
    words = both(both(reference_of(style).words, box), outside)
    return dilated(words, ones(5, 5))
