"""An overvote one of whose two marks is hidden from the camera is never counted for the other mark."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
import pytest

from device.tests.classifier.dabs import Dab, Grey
from device.tests.classifier.drawn_pages import Page, fresh_page, program
from recount_ballots.layout import Rect
from recount_ballots.scanner import ScanSettings, camera
from recount_classifier.reading import Reading, read_sheet

SHEETS = int(os.environ.get("RECOUNT_PAGES", "6")) // 3
KINDS = ("full", "full", "scribble", "partial", "x", "check", "line")
TOOLS = ("pencil", "light_pencil", "black_pen", "blue_pen")
_NEAR_PX = 400
"""How far from a target the light of a lamp is drawn."""

pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a target lies in a picture: its middle and its size there."""

    x: float
    y: float
    width: float
    height: float


Hide = Callable[[Grey, list[Place], np.random.Generator], None]
"""What hides the first of the places, in place; the others are the contest's other empty targets."""


# -- what hides a mark ---------------------------------------------------------------------------------------


def dabbed(hardness: float, grey: tuple[float, float] = (245, 255), all_empty: bool = False) -> Hide:
    """Return what lays a bright patch over the target, half to two and a half times as large.

    One with a hard edge reaches the outline: what leaves the whole outline untouched, nothing tells of.
    """

    def hide(picture: Grey, places: list[Place], rng: np.random.Generator) -> None:
        for place in places if all_empty else places[:1]:
            size = rng.uniform(0.5, 2.5) if hardness < 2 else rng.uniform(0.75, 1.5)
            half_width = 0.8 * size * place.width
            half_height = half_width if rng.random() < 0.3 else 0.8 * size * place.height
            dab = Dab(rng.uniform(0.6, 1.0), half_width, half_height, hardness, rng.uniform(*grey))
            x, y = rng.normal((place.x, place.y), (0.06 * place.width, 0.06 * place.height))
            dab.on(picture, x, y)

    return hide


def stickered(picture: Grey, places: list[Place], rng: np.random.Generator) -> None:
    """Stick a white label over the target, not straight."""
    place = places[0]
    size = (place.width * rng.uniform(1.1, 2.0), place.height * rng.uniform(1.1, 2.0))
    corners = cv2.boxPoints(((place.x, place.y), size, float(rng.normal(0, 6))))
    cv2.fillPoly(picture, [np.round(corners).astype(np.int32)], (float(rng.uniform(246, 255)),))


def rubbed_out(picture: Grey, places: list[Place], rng: np.random.Generator) -> None:
    """Rub the mark out so hard that the outline goes with it: a tenth stays, smeared."""
    place = places[0]
    wide, high = place.width * rng.uniform(0.7, 1.3), place.height * rng.uniform(0.8, 1.5)
    x0, x1, y0, y1 = (round(v) for v in (place.x - wide, place.x + wide, place.y - high, place.y + high))
    ground = picture[max(0, y0) : y1, max(0, x0) : x1]
    left_over = 255 - (255 - ground.astype(np.float32)) * np.float32(rng.uniform(0.02, 0.15))
    soft = np.asarray(cv2.GaussianBlur(left_over, (0, 0), sigmaX=3.0, sigmaY=1.0))
    Dab(1.0, wide * 0.8, high * 0.8, 4.0).on(ground, place.x - x0, place.y - y0)
    ground[:] = np.clip(np.minimum(ground, soft), 0, 255).astype(np.uint8)


def overexposed(picture: Grey, places: list[Place], rng: np.random.Generator) -> None:
    """Shine a lamp on one part of the contest: its ink drowns in light."""
    place = places[0]
    x0, y0 = (max(0, round(v) - _NEAR_PX) for v in (place.x, place.y))
    ground = picture[y0 : y0 + 2 * _NEAR_PX, x0 : x0 + 2 * _NEAR_PX]
    rows, columns = np.mgrid[0 : ground.shape[0], 0 : ground.shape[1]].astype(np.float32)
    turn = rng.uniform(0, 2 * np.pi)
    along = (columns + x0 - place.x) * np.cos(turn) + (rows + y0 - place.y) * np.sin(turn)
    light = rng.uniform(150, 330) / (1 + np.exp(-along / rng.uniform(4, 60)))
    ground[:] = np.clip(ground + light, 0, 255).astype(np.uint8)


def wiped(down: bool) -> Hide:
    """Return what lets a scanner lose a band of lines: white, or the line beside it over and over."""

    def hide(picture: Grey, places: list[Place], rng: np.random.Generator) -> None:
        place = places[0]
        middle, half = (place.x, place.width) if down else (place.y, place.height)
        low, high = round(middle - half * rng.uniform(0.4, 0.9)), round(middle + half * rng.uniform(0.4, 0.9))
        lines = picture.T if down else picture
        lines[low:high] = 255 if rng.random() < 0.5 else lines[low - 1]

    return hide


def blurred(picture: Grey, places: list[Place], rng: np.random.Generator) -> None:
    """Smear the picture at the target, as a drop of water on the glass does."""
    place = places[0]
    wide, high = round(place.width * rng.uniform(0.6, 1.6)), round(place.height * rng.uniform(0.6, 1.6))
    part = (
        slice(round(place.y) - high, round(place.y) + high),
        slice(round(place.x) - wide, round(place.x) + wide),
    )
    picture[part] = cv2.GaussianBlur(picture[part], (0, 0), rng.uniform(3, 14))


ON_PAPER: dict[str, Hide] = {
    "soft white dab": dabbed(1.0),
    "correction fluid": dabbed(4.0),
    "thick correction fluid": dabbed(8.0),
    "white label": stickered,
    "outline rubbed out with the mark": rubbed_out,
}
IN_PICTURE: dict[str, Hide] = {
    "glare": dabbed(1.0, (255, 255)),
    "small bright glare": dabbed(2.0, (255, 255)),
    "glare over every empty target": dabbed(1.0, (255, 255), all_empty=True),
    "part of the contest overexposed": overexposed,
    "scan lines lost across": wiped(down=False),
    "scan lines lost down": wiped(down=True),
    "blur at the target": blurred,
}

# -- how sheets are seen -------------------------------------------------------------------------------------


def as_scanned(page: Page) -> ScanSettings:
    return page.settings


def by_a_camera(page: Page) -> ScanSettings:
    return camera(page.rng)


def on_grey_paper(page: Page) -> ScanSettings:
    return page.settings.but(white=float(page.rng.uniform(170, 205)), noise=6.0)


def as_coarse_jpeg(page: Page) -> ScanSettings:
    return page.settings.but(jpeg=10)


def in_one_bit(page: Page) -> ScanSettings:
    return page.settings.but(one_bit=int(page.rng.integers(120, 170)), jpeg=0)


Seen = Callable[[Page], ScanSettings]
SEEN = (as_scanned, by_a_camera, on_grey_paper, as_coarse_jpeg, in_one_bit)


@dataclass(frozen=True, slots=True)
class Overvoted:
    """A sheet with two marks as drawn, and its targets as the one to be hidden comes first."""

    page: Page
    targets: tuple[Rect, ...]
    """The one to be hidden, then those that are empty."""


def overvoted(name: str, seen: Seen, number: int) -> Overvoted:
    """Return a sheet with two marks."""
    page = fresh_page((zlib.crc32(f"{name} {seen.__name__}".encode()), number))
    hidden = page.other_choice()
    page.mark(page.choice)
    # What a picture of one bit shows of a pale pencil is nothing, whatever lies over it.
    tools = TOOLS[2:] if seen is in_one_bit else TOOLS
    kind, tool = (str(page.rng.choice(list(some))) for some in (KINDS, tools))
    page.mark(hidden, kind, tool)
    page.settings = seen(page)
    keys = [o.candidate.key for o in page.contest.options if o.candidate.key not in (page.choice, hidden)]
    return Overvoted(page, tuple(page.contest.option(key).target for key in (hidden, *keys)))


@cache
def picture_of(seen: Seen, number: int) -> tuple[Grey, list[Place]]:
    """Return the picture of an overvoted sheet, and where its targets lie there: one for all that hides."""
    sheet = overvoted("in the picture", seen, number)
    targets = sheet.targets
    scan = sheet.page.scanned()
    middles = scan.page_map.to_scan(np.array([target.centre for target in targets]))
    ends = scan.page_map.to_scan(np.array([(t.right, t.centre[1]) for t in targets]))
    scales = np.hypot(*(ends - middles).T) * 2 / [target.width for target in targets]
    places = [
        Place(float(x), float(y), target.width * scale, target.height * scale)
        for (x, y), target, scale in zip(middles, targets, scales, strict=True)
    ]
    return scan.image, places


def read(name: str, seen: Seen, number: int) -> Reading:
    """Read a sheet whose second mark is hidden."""
    if name in ON_PAPER:
        sheet = overvoted(name, seen, number)
        page, places = sheet.page, [Place(*t.centre, t.width, t.height) for t in sheet.targets]
        ON_PAPER[name](page.image, places, page.rng)
        return read_sheet([page.picture()], program())
    image, places = picture_of(seen, number)
    picture = image.copy()
    IN_PICTURE[name](picture, places, np.random.default_rng((zlib.crc32(name.encode()), number)))
    return read_sheet([picture], program())


@pytest.mark.parametrize("seen", SEEN, ids=lambda seen: seen.__name__)
@pytest.mark.parametrize("name", [*ON_PAPER, *IN_PICTURE])
def test_a_hidden_mark_never_makes_an_overvote_a_vote(name: str, seen: Seen):
    for number in range(SHEETS):
        reading = read(name, seen, number)
        assert reading.fate != "counted", f"sheet {number}: counted for {reading.choices}"


def test_print_under_a_dab_is_what_tells_of_it():
    """Without the look at outlines such sheets would be counted: the attack is a real one."""
    page = fresh_page((5, 1))
    page.mark(page.choice)
    target = page.contest.option(page.other_choice()).target
    Dab(0.9, target.width, target.height).on(page.image, *target.centre)
    reading = read_sheet([page.picture()], program())
    assert (reading.fate, reading.reasons) == ("set_aside", ("marginal_outline",))
