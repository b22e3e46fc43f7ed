"""The deck's sheets as pictures: the program's blanks, marked, stained, torn and scanned, from a seed.

They are for simulated devices, and for looking at; on paper the same sheets come from overlays and pens.
"""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import cv2
import numpy as np

from recount_ballots import paper
from recount_ballots.blank import Grey
from recount_ballots.deck_print import print_deck_mark, print_mark
from recount_ballots.handwriting import write_words
from recount_ballots.layout import Rect
from recount_ballots.marks import MIDDLE_PART, mark
from recount_ballots.scanner import page_scanner, scan
from recount_ballots.strokes import take
from recount_host.decks.composition import WORDS, Plan
from recount_host.programs.spec import StyleSpec

SEED = 802_2
MM_PER_INCH = 25.4
PRINTED_PARTS = {"full": (1.0, 1.0), "middle": (MIDDLE_PART, 0.8)}
"""Marks that overlays print: how much of the target's width and height each fills."""
_BLEEDS = 0.1
_SLIP_IN, _SLIP_GREY = 0.08, 238
"""How far a slip of paper reaches beyond the target under it, and its grey."""
_BED_GREY = 28
"""The camera's bed is dark: what is torn off shows."""
Damage = Callable[[Grey, paper.Mask, "StyleBlank", np.random.Generator], None]


@dataclass(frozen=True)
class StyleBlank:
    """A style's blank picture with its places, in pixels of the blank."""

    spec: StyleSpec
    dpi: float
    image: Grey
    other: Grey | None
    """The other side, where it is known."""


def rect_of(box: tuple[float, float, float, float]) -> Rect:
    """Return a box given by its edges."""
    left, top, right, bottom = box
    return Rect(left, top, right - left, bottom - top)


def draw_sheet(plan: Plan, code: str, blank: StyleBlank, foreign: Grey) -> Grey:
    """Return the picture of one sheet's side that bears the contest, head first; the same every time.

    A sheet that is fed again, under its code, is the same paper in another scan.
    """
    rng = np.random.default_rng([SEED, zlib.crc32(code.encode())])
    spec = blank.spec
    page = (foreign if plan.foreign else blank.image).copy()
    pen = take(plan.tool, blank.dpi, rng)
    for (option, target), kind in plan.marks.items():
        place = Rect(*spec.targets[option][target])
        if is_printed(plan, kind):
            print_mark(page, printed_mark(place, kind))
        else:
            mark(page, place, kind, pen, rng, blank.dpi)
    if plan.writing:
        area = rect_of(spec.write_in_areas[plan.area])
        line = Rect(area.left, area.top + area.height * 0.2, area.width * 0.8, area.height * 0.6)
        write_words(page, plan.writing, line, pen, rng)
    if plan.test_mark and spec.test_mark is not None:
        print_deck_mark(page, rect_of(spec.test_mark), code)
    mask = paper.whole(page)
    if plan.damage:
        _DAMAGES[plan.damage](page, mask, blank, rng)
    if plan.cut_mm:
        rows = round(plan.cut_mm * blank.dpi / MM_PER_INCH)
        page, mask = page[:rows], mask[:rows]
    if plan.again:
        rng = np.random.default_rng([SEED, zlib.crc32(f"{code} again".encode())])
    return _scanned(page, mask, rng)


def draw_back(code: str, other: Grey) -> Grey:
    """Return the picture of a sheet's other side, head first; the same every time."""
    rng = np.random.default_rng([SEED, zlib.crc32(f"{code} other".encode())])
    return _scanned(other.copy(), paper.whole(other), rng)


def _scanned(page: Grey, mask: paper.Mask, rng: np.random.Generator) -> Grey:
    # No dust: a speck in a target is for people, and where it fell would be chance.
    picture = scan(page, page_scanner(rng).but(jpeg=0, dust=0, background=_BED_GREY), rng, mask).image
    return np.ascontiguousarray(picture)


def is_printed(plan: Plan, kind: str) -> bool:
    """Return whether the overlay prints such a mark: filled ones, where no other pen is asked for."""
    return kind in PRINTED_PARTS and plan.tool == "black_pen" and not plan.foreign


def printed_mark(target: Rect, kind: str) -> Rect:
    """Return what holds the ellipse that is printed as a mark of a target."""
    wide, high = PRINTED_PARTS[kind]
    width, height = target.width * wide, target.height * high
    x, y = target.centre
    return Rect(x - width / 2, y - height / 2, width, height)


def _beside(blank: StyleBlank) -> float:
    """Return a height of the page well away from the contest and from the TEST mark."""
    height = blank.image.shape[0]
    boxes = [blank.spec.contest_box, *([blank.spec.test_mark] if blank.spec.test_mark else [])]
    heights = np.linspace(0.15, 0.85, 29) * height
    gaps = [min(max(top - y, y - bottom) for _, top, _, bottom in boxes) for y in heights]
    return float(heights[int(np.argmax(gaps))])


def _fold(page: Grey, _mask: paper.Mask, blank: StyleBlank, rng: np.random.Generator) -> None:
    paper.fold(page, _beside(blank), rng)


def _stain(page: Grey, _mask: paper.Mask, blank: StyleBlank, rng: np.random.Generator) -> None:
    paper.coffee(page, page.shape[1] * 0.4, _beside(blank), 0.35 * blank.dpi, rng)


def _smudge(page: Grey, _mask: paper.Mask, blank: StyleBlank, rng: np.random.Generator) -> None:
    paper.smudge(page, page.shape[1] * 0.5, _beside(blank), 0.2 * blank.dpi, rng)


def _bleed_through(page: Grey, _mask: paper.Mask, blank: StyleBlank, rng: np.random.Generator) -> None:
    back = blank.image if blank.other is None else blank.other
    paper.show_through(page, back, _BLEEDS * float(rng.uniform(0.8, 1.0)))


def _words(page: Grey, _mask: paper.Mask, blank: StyleBlank, rng: np.random.Generator) -> None:
    wide, high = page.shape[1] * 0.5, 0.5 * blank.dpi
    line = Rect(page.shape[1] * 0.25, _beside(blank) - high / 2, wide, high)
    write_words(page, WORDS, line, take("marker", blank.dpi, rng), rng)


def _covered(page: Grey, _mask: paper.Mask, blank: StyleBlank, _rng: np.random.Generator) -> None:
    """Stick paper over the target that stands first."""
    targets = [Rect(*box) for boxes in blank.spec.targets.values() for box in boxes]
    first = min(targets, key=lambda target: (target.top, target.left))
    beyond = _SLIP_IN * blank.dpi
    rows = slice(round(first.top - beyond), round(first.top + first.height + beyond))
    columns = slice(round(first.left - beyond), round(first.left + first.width + beyond))
    page[rows, columns] = _SLIP_GREY


def _torn(_page: Grey, mask: paper.Mask, blank: StyleBlank, rng: np.random.Generator) -> None:
    """Tear from the nearer edge to beyond the middle of the target that is nearest to it."""
    width = mask.shape[1]
    targets = [Rect(*box) for boxes in blank.spec.targets.values() for box in boxes]
    from_left = min(target.centre[0] for target in targets) < width - max(t.centre[0] for t in targets)
    x = (min if from_left else max)(target.centre[0] for target in targets)
    nearest = next(target for target in targets if target.centre[0] == x)
    reach = 0.5 * blank.dpi
    top, bottom = nearest.centre[1] - reach, nearest.centre[1] + reach
    depth = (x if from_left else width - x) + nearest.width
    edge = np.linspace(top, bottom, 40)
    deep = depth * np.sin(np.linspace(0, np.pi, 40)) ** 0.3 + rng.normal(0, 0.004 * width, 40)
    points = np.stack([deep if from_left else width - deep, edge], axis=1)
    outer = -9.0 if from_left else width + 9.0
    closed = np.concatenate([[(outer, top)], points, [(outer, bottom)]])
    cv2.fillPoly(mask, [np.round(closed).astype(np.int32)], (0,), cv2.LINE_AA)


_DAMAGES: Mapping[str, Damage] = {
    "fold": _fold,
    "stain": _stain,
    "smudge": _smudge,
    "bleed_through": _bleed_through,
    "words": _words,
    "covered": _covered,
    "torn": _torn,
}
