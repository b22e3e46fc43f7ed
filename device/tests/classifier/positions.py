"""Grounds full of targets, drawn by the hundred: what millions of ballot positions are judged on.

A *sheet* here is the flat ground of an invented contest with about a hundred targets in a grid, as `flatten`
would return it. Voters' marks, dirt and the paper's faults come from banks of patches drawn once by
`recount_ballots`; registration errors, tone, light, noise and compression are those of a scanner. What every
target truly bears is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from recount_ballots.layout import Rect
from recount_ballots.marks import WIDTHS_MM, mark_patch
from recount_ballots.strokes import TOOLS, Pen, Points, cover, draw, take
from recount_classifier.marks import HALO
from recount_classifier.program import WORKING_DPI, Path, Style, Target

Grey = NDArray[np.uint8]
Chance = np.random.Generator

PX_PER_MM = WORKING_DPI / 25.4
CLEAR_MM, CLEAR_SHARE = 1.0, 0.25
"""A clear mark is that wide and that much darker than paper, at least, and goes through or round a target."""
_TOUCH_REACH, _TOUCH_COVER = 0.35, 0.2
"""Of a target's width and of its inside: dots and ticks that take more are small marks, and drawn again."""
_TITLE_PX = 40
_GAP = (13, 4)
"""Ground between the halos of two targets, across (a letter stands there) and down."""


# -- kinds ---------------------------------------------------------------------------------------------------

FILLED = ("full", "scribble", "partial")
MEANT = (*FILLED, "x", "check", "line", "long_axis", "circle")
"""What voters mean as a mark. Never empty when clear."""
TOUCHES = ("dot", "tick", "resting", "outside")
"""Pen on paper that marks nothing."""
SMALL = ("dot", "tick")
VOTERS_TOOLS = tuple(tool for tool in TOOLS if tool != "faint_pencil")
"""What voters write with; the other is for the sheets of a deck that must be doubtful."""
DIRT = ("dust", "hair", "smear", "show_through", "crease")
HIDDEN = "hidden"
"""A mark under a dab that is bright enough to hide it: glare, correction fluid."""
ON_SHEETS = ("fold", "streak", "watermark")
"""What runs over many targets of a sheet."""
DRAWN = (*MEANT, *TOUCHES, *DIRT, HIDDEN)
KINDS = ("nothing", *DRAWN, *ON_SHEETS)
"""What a target bears. All but MEANT and HIDDEN must never be taken for a mark."""
KIND_NUMBERS = {kind: number for number, kind in enumerate(KINDS)}

_BORNE: dict[str, float] = dict.fromkeys(DRAWN, 0.0215)
"""Share of the positions that bear each kind."""
_SHEETS_WITH = {"fold": 0.65, "streak": 0.60, "watermark": 0.08}


# -- targets -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shape:
    """Targets of one form and size, in working pixels, in a grid `across` x `down`."""

    name: str
    width: float
    height: float
    is_box: bool
    stroke_px: float
    across: int
    down: int
    share: float
    """Share of the sheets that have such targets."""

    @property
    def box(self) -> tuple[float, float]:
        """Return width and height in whole pixels that hold such a target wherever it lies."""
        return float(np.ceil(self.width)) + 1, float(np.ceil(self.height)) + 1

    @property
    def pitch(self) -> tuple[int, int]:
        """Return the distance of two targets' middles, across and down."""
        wide, high = (round(HALO * extent) for extent in self.box)
        return wide + _GAP[0], high + _GAP[1]


SHAPES = (
    Shape("oval 3.1 x 2.1 mm", 24.3, 16.7, is_box=False, stroke_px=1.7, across=14, down=18, share=0.86),
    Shape("oval 5.1 x 3.3 mm", 40.0, 26.0, is_box=False, stroke_px=2.2, across=10, down=12, share=0.06),
    Shape("box 2.5 x 2.5 mm", 20.0, 20.0, is_box=True, stroke_px=2.0, across=14, down=16, share=0.06),
    Shape("box 8.8 x 4.8 mm", 69.4, 37.5, is_box=True, stroke_px=3.5, across=7, down=9, share=0.02),
)


@dataclass(frozen=True, slots=True, eq=False)
class Blank:
    """An unmarked ground, the style that says so, and where exactly its targets lie."""

    shape: Shape
    image: Grey
    style: Style
    centres: NDArray[np.float64]
    """n x 2, pixel centres at whole numbers."""
    cells: Grey
    """Whose cell a pixel of half size lies in: 1 + the target's index; 0 in none."""


def draw_ground(shape: Shape, rng: Chance) -> Blank:
    """Return the blank ground of a shape; every target lies differently against the pixels."""
    across, down = shape.pitch
    width, height = across * shape.across + 16, down * shape.down + _TITLE_PX + 16
    image = np.full((height, width), 255, np.uint8)
    cv2.putText(image, "Member, Board of Electors " * 2, (8, 30), cv2.FONT_HERSHEY_DUPLEX, 0.9, (0,), 2, 16)
    centres: list[tuple[float, float]] = []
    targets: list[Target] = []
    for row, column in product(range(shape.down), range(shape.across)):
        x = 8 + column * across + (across - _GAP[0]) / 2 + rng.uniform(-0.5, 0.5)
        y = _TITLE_PX + 8 + row * down + down / 2 + rng.uniform(-0.5, 0.5)
        outline = _outline(shape) + np.array([x + 0.5, y + 0.5])
        draw(image, [outline], Pen(0, shape.stroke_px, 0), rng)
        letter = chr(ord("A") + len(targets) % 26)
        place = (round(x - across / 2 - 5), round(y + 5))
        if column:
            cv2.putText(image, letter, place, cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0,), 2, 16)
        left, top = np.floor(x + 0.5 - shape.width / 2), np.floor(y + 0.5 - shape.height / 2)
        centres.append((x, y))
        targets.append(Target(str(len(targets)), left, top, *shape.box, 0))
    whole = (0, 0, width, height)
    nowhere = Path((), (), ())
    style = Style(
        shape.name, "front", width, height, (4, 4, width - 4, height - 4), (), tuple(targets), image, whole,
        (nowhere, nowhere), (), None, 0.0,
    )  # fmt: skip
    return Blank(shape, image, style, np.array(centres), _cells(shape, width, height))


def _cells(shape: Shape, width: int, height: int) -> Grey:
    """Return whose cell each pixel of half size lies in."""
    across, down = shape.pitch
    columns = (np.arange(0, width // 2 * 2, 2) - 8) // across
    rows = (np.arange(0, height // 2 * 2, 2) - 8 - _TITLE_PX) // down
    numbers = rows[:, None] * shape.across + columns[None, :] + 1
    off = (rows < 0)[:, None] | (rows >= shape.down)[:, None] | (columns < 0) | (columns >= shape.across)
    return np.where(off, 0, numbers).astype(np.uint8)


def _outline(shape: Shape) -> Points:
    """Return the middle line of the printed outline round (0, 0); the target's size holds all of its ink."""
    a, b = (shape.width - shape.stroke_px) / 2, (shape.height - shape.stroke_px) / 2
    if shape.is_box:
        return np.array([(-a, -b), (a, -b), (a, b), (-a, b), (-a, -b)])
    angle = np.linspace(0, 2 * np.pi, 73)
    return np.stack([a * np.cos(angle), b * np.sin(angle)], axis=1)


TakePen = Callable[[Chance], Pen]

# -- banks ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """One drawn patch: paper is 255; `left` and `top` from the target's middle."""

    pixels: Grey
    left: int
    top: int
    depth: float
    """How much darker than paper its ink is in the middle, 0 to 255."""
    is_wide: bool
    """Whether it is at least CLEAR_MM wide."""


@dataclass(frozen=True, slots=True, eq=False)
class Bank:
    """All that sheets of one shape are composed of."""

    blank: Blank
    prints: tuple[Grey, ...]
    """The blank as printed, fed and registered: displaced by fractions of a pixel, blurred, paler."""
    marks: dict[str, tuple[Mark, ...]]
    dabs: tuple[Grey, ...]
    """What a dab over a target leaves of the ink under it, 0 to 255; the target's middle is its own."""


def make_bank(shape: Shape, marks_of_kind: int, prints: int, rng: Chance, pen: TakePen) -> Bank:
    """Draw a bank; equal chances give equal banks. Voters mark with `pen`."""
    blank = draw_ground(shape, rng)
    return Bank(
        blank,
        tuple(_printed(blank, rng, is_crooked=n % 25 == 24) for n in range(prints)),
        {kind: tuple(_draw_mark(shape, kind, rng, pen) for _ in range(marks_of_kind)) for kind in DRAWN},
        tuple(_draw_dab(shape, rng) for _ in range(marks_of_kind)),
    )


def _printed(blank: Blank, rng: Chance, *, is_crooked: bool) -> Grey:
    """Return the blank as a scanner's registered picture shows it.

    Usual displacements have a deviation of 0.15 px; a crooked print goes up to 1.2 px.
    """
    height, width = blank.image.shape
    field = rng.normal(0, 0.12, (6, 6, 2)) + rng.normal(0, 0.1, 2)
    if is_crooked:
        field = np.clip(field * 5, -0.85, 0.85)
    smooth = np.asarray(cv2.resize(field.astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC))
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    # OpenCV's type stubs want a second grid, which it does not need here.
    nothing: Any = None
    grid = np.stack([x, y], axis=2) + smooth
    moved = cv2.remap(blank.image, grid, nothing, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    paler = 255 - (255 - np.asarray(moved, np.float32)) * np.float32(rng.uniform(0.8, 1.0))
    return _blurred(paler, rng.uniform(0.45, 0.95))


def _blurred(picture: NDArray[np.float32], sigma: float) -> Grey:
    return np.clip(np.round(np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma))), 0, 255).astype(np.uint8)


def any_pen(rng: Chance, widest_mm: float = 1.6, palest: float = 190) -> Pen:
    """Return a pen: half of the time one of the usual tools, otherwise any width and shade."""
    if rng.random() < 0.5:
        tool = VOTERS_TOOLS[int(rng.integers(len(VOTERS_TOOLS)))]
        pen = take(tool, WORKING_DPI, rng)
        return Pen(min(pen.grey, palest), min(pen.width_px, widest_mm * PX_PER_MM), pen.grain)
    width = rng.uniform(0.4, widest_mm)
    return Pen(float(rng.uniform(10, palest)), float(width * PX_PER_MM), float(rng.uniform(0, 0.4)))


def pale_pen(rng: Chance) -> Pen:
    """Return a pen that is as pale as a clear mark may be, and as wide."""
    return Pen(float(rng.uniform(150, 190)), float(rng.uniform(CLEAR_MM, 1.6) * PX_PER_MM), 0.0)


def _draw_mark(shape: Shape, kind: str, rng: Chance, pen: TakePen) -> Mark:
    if kind in DIRT:
        return _DIRT[kind](shape, rng)
    if kind == HIDDEN:
        kind = MEANT[int(rng.integers(len(MEANT)))]
    if kind in MEANT:
        return _voters_mark(shape, kind, pen(rng), rng)
    while True:
        mark = _voters_mark(shape, kind, any_pen(rng, widest_mm=0.8), rng)
        if kind not in SMALL or _is_touch(shape, mark):
            return mark


def _draw_dab(shape: Shape, rng: Chance) -> Grey:
    """Return a dab with a soft edge, half to two and a half times as large as the target, near its middle."""
    size, strength, hardness = rng.uniform(0.5, 2.5), rng.uniform(0.7, 1.0), rng.choice([1.0, 1.0, 2.0])
    wide, high = round(shape.width), round(shape.height)
    rows, columns = np.mgrid[-high : high + 1, -wide : wide + 1].astype(np.float32)
    x, y = rng.normal(0, 0.06 * shape.width, 2)
    reach_x, reach_y = 0.8 * size * shape.width, 0.8 * size * shape.height
    distance = ((columns - x) / reach_x) ** 2 + ((rows - y) / reach_y) ** 2
    return np.round(255 - 255 * strength * np.exp(-(distance**hardness))).astype(np.uint8)


def _voters_mark(shape: Shape, kind: str, pen: Pen, rng: Chance) -> Mark:
    target = Rect(-shape.width / 2, -shape.height / 2, shape.width, shape.height)
    patch = mark_patch(target, kind, pen, rng, WORKING_DPI)
    width_px = WIDTHS_MM[kind] * PX_PER_MM if kind in WIDTHS_MM else pen.width_px
    is_wide = kind in FILLED or width_px >= CLEAR_MM * PX_PER_MM
    return _mark(patch.coverage * np.float32(255 - pen.grey), patch.left, patch.top, is_wide=is_wide, rng=rng)


def _mark(darkness: NDArray[np.float32], left: int, top: int, *, is_wide: bool, rng: Chance) -> Mark:
    """Return a patch of that darkness as a lens shows it."""
    padded = np.pad(darkness, 3)
    inked = padded[padded > 0.5 * padded.max(initial=1.0)]
    depth = float(np.median(inked)) if inked.size else 0.0
    return Mark(_blurred(255 - padded, rng.uniform(0.45, 0.95)), left - 3, top - 3, depth, is_wide)


def _is_touch(shape: Shape, mark: Mark) -> bool:
    """Return whether a mark is as small as a pen's touch."""
    rows, columns = np.nonzero(mark.pixels < 255 - mark.depth / 2)
    reach = np.hypot(np.ptp(rows) + 1, np.ptp(columns) + 1)
    inside = (shape.width - 2 * shape.stroke_px) * (shape.height - 2 * shape.stroke_px)
    inside *= 1.0 if shape.is_box else np.pi / 4
    return bool(reach < _TOUCH_REACH * shape.width and len(rows) < _TOUCH_COVER * inside)


def _somewhere(shape: Shape, rng: Chance, reach: float = 1.6) -> NDArray[np.float64]:
    """Return a point in or round the target."""
    return rng.uniform(-reach, reach, 2) * (shape.width / 2, shape.height / 2)


def _dust(shape: Shape, rng: Chance) -> Mark:
    """Draw one to four specks of 0.1 to 0.4 mm."""
    specks = [_somewhere(shape, rng)[None, :] for _ in range(int(rng.integers(1, 5)))]
    pen = Pen(float(rng.uniform(60, 195)), float(rng.uniform(1.0, 3.2)), 0)
    return _stroked(specks, pen, rng)


def _hair(shape: Shape, rng: Chance) -> Mark:
    """Draw a fibre: 0.1 to 0.18 mm wide, 1 to 7 mm long, bent."""
    turn = rng.uniform(0, 2 * np.pi) + np.cumsum(rng.normal(0, 0.25, 12))
    steps = np.stack([np.cos(turn), np.sin(turn)], axis=1) * rng.uniform(1, 7) * PX_PER_MM / 12
    path = np.cumsum(steps, axis=0)
    path += _somewhere(shape, rng, 0.8) - path[int(rng.integers(12))]
    return _stroked([path], Pen(float(rng.uniform(40, 170)), float(rng.uniform(0.8, 1.4)), 0.2), rng)


def _stroked(strokes: list[Points], pen: Pen, rng: Chance) -> Mark:
    patch = cover(strokes, pen, rng)
    darkness = patch.coverage * np.float32(255 - pen.grey)
    return _mark(darkness, patch.left, patch.top, is_wide=False, rng=rng)


def _smear(shape: Shape, rng: Chance) -> Mark:
    """Draw what an eraser leaves of a full pencil mark: a twelfth to an eighth of its ink, spread."""
    mark = _voters_mark(shape, "full", take("pencil", WORKING_DPI, rng), rng)
    ghost = np.pad((255 - mark.pixels).astype(np.float32), 12) * np.float32(rng.uniform(0.08, 0.125))
    spread = np.asarray(cv2.GaussianBlur(ghost, (0, 0), sigmaX=3.0, sigmaY=1.0), np.float32)
    return _mark(spread, mark.left - 12, mark.top - 12, is_wide=False, rng=rng)


def _show_through(shape: Shape, rng: Chance) -> Mark:
    """Let a mark of the other side shine through, anywhere round the target: 5 to 15 % of its ink."""
    mark = _voters_mark(shape, ("full", "scribble", "x")[int(rng.integers(3))], any_pen(rng), rng)
    shine = np.pad((255 - mark.pixels).astype(np.float32), 6) * np.float32(rng.uniform(0.05, 0.15))
    soft = np.asarray(cv2.GaussianBlur(shine, (0, 0), 1.5), np.float32)
    dx, dy = np.round(_somewhere(shape, rng, 1.2)).astype(int)
    return _mark(soft, mark.left - 6 + int(dx), mark.top - 6 + int(dy), is_wide=False, rng=rng)


def _crease(shape: Shape, rng: Chance) -> Mark:
    """Draw a crease of crumpled paper: 3 to 10 mm long, straight, pale."""
    turn, length = rng.uniform(0, np.pi), rng.uniform(3, 10) * PX_PER_MM
    half = np.array([np.cos(turn), np.sin(turn)]) * length / 2
    middle = _somewhere(shape, rng, 0.8)
    pen = Pen(float(rng.uniform(185, 235)), float(rng.uniform(1.0, 2.6)), 0.2)
    return _stroked([np.stack([middle - half, middle + half])], pen, rng)


_DIRT: dict[str, Callable[[Shape, Chance], Mark]] = {
    "dust": _dust,
    "hair": _hair,
    "smear": _smear,
    "show_through": _show_through,
    "crease": _crease,
}


# -- sheets --------------------------------------------------------------------------------------------------

_NOISES = 12
_SHARES_UP_TO = np.cumsum([shape.share for shape in SHAPES]) / sum(shape.share for shape in SHAPES)
_COMPRESSED = 0.1
"""Share of the sheets that were kept as JPEG."""
_LIGHT = 12.0
"""Largest change of brightness across a ground, in grey levels, to either side."""


@dataclass(frozen=True, slots=True, eq=False)
class Noise:
    """Noise on uneven light: what it brightens and what it darkens, at each pixel one of the two."""

    brighter: Grey
    darker: Grey

    def lay_on(self, flat: Grey, rng: Chance) -> None:
        """Lay a part of it over the ground, in place: any part."""
        height, width = flat.shape
        y, x = (int(rng.integers(room)) for room in np.subtract(self.darker.shape, flat.shape))
        part = (slice(y, y + height), slice(x, x + width))
        cv2.add(flat, self.brighter[part], dst=flat)
        cv2.subtract(flat, self.darker[part], dst=flat)


@dataclass(frozen=True, slots=True, eq=False)
class Supply:
    """Banks of all shapes, and noise pictures."""

    banks: tuple[Bank, ...]
    noises: tuple[Noise, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A flat ground with what each of its targets bears."""

    flat: Grey
    style: Style
    cells: Grey
    """Whose cell a pixel of half size lies in."""
    kinds: NDArray[np.uint8]
    clear: NDArray[np.bool_]
    """Whether a target bears a clear mark."""


def make_supply(marks_of_kind: int, prints: int, seed: tuple[int, ...], pen: TakePen = any_pen) -> Supply:
    """Draw everything that sheets are made of; rare shapes get smaller banks."""
    rng = np.random.default_rng(seed)
    banks = tuple(
        make_bank(shape, max(12, round(marks_of_kind * min(1.0, shape.share * 3))), prints, rng, pen)
        for shape in SHAPES
    )
    height = max(bank.blank.image.shape[0] for bank in banks) + 64
    width = max(bank.blank.image.shape[1] for bank in banks) + 64
    return Supply(banks, tuple(_noise(height, width, rng) for _ in range(_NOISES)))


def _noise(height: int, width: int, rng: Chance) -> Noise:
    """Return noise of 2 to 14 grey levels, a trace smooth, on uneven light."""
    grain = rng.standard_normal((height, width), np.float32) * np.float32(rng.uniform(2, 14))
    if rng.random() < 0.5:
        grain = np.asarray(cv2.GaussianBlur(grain, (0, 0), 0.5), np.float32)
    slope_x, slope_y = rng.uniform(-_LIGHT, _LIGHT, 2)
    light = np.linspace(-slope_x, slope_x, width)[None, :] + np.linspace(-slope_y, slope_y, height)[:, None]
    change = np.clip(np.round(grain + light), -255, 255)
    return Noise(np.maximum(change, 0).astype(np.uint8), np.maximum(-change, 0).astype(np.uint8))


def compose(supply: Supply, rng: Chance) -> Sheet:
    """Return one sheet with its marks, as a scanner sees it."""
    bank = supply.banks[int(_SHARES_UP_TO.searchsorted(rng.random(), side="right"))]
    blank = bank.blank
    flat = bank.prints[int(rng.integers(len(bank.prints)))].copy()
    kinds, depths = put_marks(flat, bank, rng, _BORNE)
    for fault, share in _SHEETS_WITH.items():
        if rng.random() < share:
            touched = _FAULTS[fault](flat, blank, rng)
            kinds[touched & (kinds == 0)] = KIND_NUMBERS[fault]
    return scanned(flat, blank, kinds, depths, supply, rng)


def scanned(
    flat: Grey,
    blank: Blank,
    kinds: NDArray[np.uint8],
    depths: NDArray[np.float64],
    supply: Supply,
    rng: Chance,
) -> Sheet:
    """Return the sheet as a scanner sees it; `depths` are those of the targets' wide marks, else 0."""
    white, black = rng.uniform(205, 250), rng.uniform(12, 40)
    flat = np.asarray(cv2.convertScaleAbs(flat, alpha=(white - black) / 255, beta=black), np.uint8)
    supply.noises[int(rng.integers(len(supply.noises)))].lay_on(flat, rng)
    if rng.random() < _COMPRESSED:
        flat = _compressed(flat, int(rng.integers(40, 91)))
    clear = depths / 255 * (white - black) / white >= CLEAR_SHARE
    return Sheet(flat, blank.style, blank.cells, kinds, clear)


def put_marks(
    flat: Grey, bank: Bank, rng: Chance, borne: Mapping[str, float]
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Lay marks onto the ground, in place; return each target's kind, and its mark's depth if it is wide.

    `borne` is the share of the targets that bear each kind.
    """
    centres = bank.blank.centres
    count, drawable = len(centres), list(borne)
    kinds, depths = np.zeros(count, np.uint8), np.zeros(count)
    drawn = np.searchsorted(np.cumsum(list(borne.values())), rng.random(count), side="right")
    which = rng.random(count).tolist()
    columns, rows = np.round(centres + 0.5).astype(int).T.tolist()
    for index in np.flatnonzero(drawn < len(drawable)).tolist():
        kind = drawable[drawn[index]]
        marks = bank.marks[kind]
        mark = marks[int(which[index] * len(marks))]
        _lay(flat, mark.pixels, columns[index] + mark.left, rows[index] + mark.top)
        if kind == HIDDEN:
            x, y = centres[index]
            _lay_over(flat, bank.dabs[int(which[index] * len(bank.dabs))], round(x), round(y))
        kinds[index] = KIND_NUMBERS[kind]
        depths[index] = mark.depth if mark.is_wide and kind in MEANT else 0.0
    return kinds, depths


def _lay(flat: Grey, pixels: Grey, left: int, top: int) -> None:
    """Lay ink onto the ground, in place: it never lightens."""
    if left < 0 or top < 0:
        pixels = pixels[max(0, -top) :, max(0, -left) :]
        left, top = max(0, left), max(0, top)
    height, width = pixels.shape
    region = flat[top : top + height, left : left + width]
    if region.shape != pixels.shape:
        pixels = pixels[: region.shape[0], : region.shape[1]]
    if pixels.size:
        cv2.min(region, pixels, dst=region)


def _lay_over(flat: Grey, left_over: Grey, x: int, y: int) -> None:
    """Let a dab's middle lie at (x, y), in place. Every dab fits the ground round every target."""
    high, wide = left_over.shape
    region = flat[y - high // 2 : y + high // 2 + 1, x - wide // 2 : x + wide // 2 + 1]
    left = left_over[: region.shape[0], : region.shape[1]]
    region[:] = 255 - np.asarray(cv2.multiply(255 - region, left, scale=1 / 255), np.uint8)


def _compressed(flat: Grey, quality: int) -> Grey:
    _, data = cv2.imencode(".jpg", flat, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_GRAYSCALE), np.uint8)


def _line_over(flat: Grey, blank: Blank, rng: Chance, *, down: bool) -> NDArray[np.bool_]:
    """Darken a straight line from edge to edge through a row or column of targets; return which it meets."""
    axis = 0 if down else 1
    half = (blank.shape.width, blank.shape.height)[axis] / 2
    through = int(rng.integers(len(blank.centres)))
    middle = blank.centres[through, axis] + rng.uniform(-1.2, 1.2) * half
    spread, darkness = rng.uniform(0.8, 1.5), rng.uniform(12, 110)
    low = max(0, int(middle) - 6)
    band = flat[:, low : int(middle) + 7] if down else flat[low : int(middle) + 7]
    offsets = np.arange(band.shape[1 - axis]) + low - middle
    dark = np.round(np.exp(-((offsets / spread) ** 2)) * darkness).astype(np.uint8)
    band[:] = cv2.subtract(band, np.broadcast_to(dark[None, :] if down else dark[:, None], band.shape).copy())
    return np.abs(blank.centres[:, axis] - middle) < half * 1.3


def _watermark(flat: Grey, blank: Blank, rng: Chance) -> NDArray[np.bool_]:
    """Print pale slanted words under the ink; return which targets lie mostly on them."""
    height, width = flat.shape
    layer = np.full((height, width), 255, np.uint8)
    grey, stroke = int(rng.integers(222, 241)), int(rng.integers(14, 60))
    for start in range(-height, width + height, stroke * 3):
        cv2.line(layer, (start, 0), (start + height, height), (grey,), stroke, cv2.LINE_AA)
    np.minimum(flat, layer, out=flat)
    a, b = int(blank.shape.width / 2), int(blank.shape.height / 2)
    means = np.asarray(cv2.blur(layer, (2 * a, 2 * b)))
    columns, rows = np.round(blank.centres).astype(int).T
    return means[rows, columns] < 255 - 0.3 * (255 - grey)


_FAULTS: dict[str, Callable[[Grey, Blank, Chance], NDArray[np.bool_]]] = {
    "fold": partial(_line_over, down=False),
    "streak": partial(_line_over, down=True),
    "watermark": _watermark,
}
