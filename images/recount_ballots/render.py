"""Decks as pictures: every sheet drawn, damaged and scanned, the same bytes each time.

Beside the pictures stands a deck.toml for whoever feeds them: file names, lengths, truth and faults.
"""

import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from recount_ballots import corrections, paper
from recount_ballots.blank import Blank, Grey
from recount_ballots.deck import Deck, DeckSheet, read_deck
from recount_ballots.errors import DeckError
from recount_ballots.handwriting import write_words
from recount_ballots.layout import PlacedContest, Side
from recount_ballots.marks import mark
from recount_ballots.scanner import SCANNERS, scan
from recount_ballots.strokes import Pen, take

MM_PER_INCH = 25.4
RENDERING = 1
"""Raised when the same deck would give other pictures, so that cached ones are drawn anew."""
STAMP = "rendered.json"
Progress = Callable[[int, int], None]
"""Called with (sheets done, sheets in all)."""

_OTHER_CONTEST_MARKED = 0.9
_KINDS_ELSEWHERE = ("full", "full", "full", "x", "check")


@dataclass(frozen=True)
class Picture:
    """One side of a sheet as a scanner sees it, head first, and the JPEG quality to keep it at."""

    image: Grey
    jpeg: int


def render_sheet(deck: Deck, sheet: DeckSheet, side: Side = "front") -> Picture:
    """Return the picture of one side of a sheet; its chances follow from the deck's seed and the id."""
    rng = np.random.default_rng([deck.seed, zlib.crc32(sheet.id.encode()), side == "back"])
    blank = deck.ballots.blank(sheet.style, side)
    page = blank.image.copy()
    pen = take(sheet.tool, deck.ballots.dpi, rng)
    for contest in blank.layout.contests:
        if contest.contest.key == (sheet.contest or deck.ballots.recount):
            _vote(page, blank, contest, sheet, pen, rng)
        else:
            _vote_elsewhere(page, contest, pen, rng)
    mask = paper.whole(page)
    for words in sheet.damage:
        _damage(page, mask, words, rng, sheet)
    settings = SCANNERS[sheet.scanner](rng)
    return Picture(scan(page, settings.but(jpeg=0), rng, mask).image, settings.jpeg or 90)


def render_deck(folder: Path, out: Path, *, duplex: bool = False, progress: Progress | None = None) -> int:
    """Draw a deck's sheets into `out` unless they are there; return how many were drawn."""
    deck = read_deck(folder)
    stamp = _stamp(folder, duplex=duplex)
    if _is_current(out, stamp):
        return 0
    out.mkdir(parents=True, exist_ok=True)
    (out / STAMP).unlink(missing_ok=True)
    sides: tuple[Side, ...] = ("front", "back") if duplex else ("front",)
    for done, sheet in enumerate(deck.sheets, 1):
        for side in sides:
            write_picture(deck, sheet, side, out)
        if progress:
            progress(done, len(deck.sheets))
    (out / "deck.toml").write_text(feeding_deck(deck, sides), encoding="utf-8")
    (out / STAMP).write_text(stamp, encoding="utf-8")
    return len(deck.sheets)


def write_picture(deck: Deck, sheet: DeckSheet, side: Side, out: Path) -> Path:
    """Draw one side of a sheet into the folder `out`; return the JPEG file."""
    picture = render_sheet(deck, sheet, side)
    _, data = cv2.imencode(".jpg", picture.image, [cv2.IMWRITE_JPEG_QUALITY, picture.jpeg])
    file = out / picture_name(sheet, side)
    file.write_bytes(data.tobytes())
    return file


def picture_name(sheet: DeckSheet, side: Side) -> str:
    """Return the name of a side's picture file."""
    return f"{sheet.id}-{side}.jpg"


def feeding_deck(deck: Deck, sides: tuple[Side, ...] = ("front",)) -> str:
    """Return the deck.toml that goes with the pictures."""
    return f'title = "{deck.title}"\nprecinct = "{deck.precinct}"\n' + "".join(
        "\n[[sheet]]\n"
        + "".join(f"{key} = {_toml(value)}\n" for key, value in _feeding(deck, sheet, sides).items())
        for sheet in deck.sheets
    )


def _feeding(deck: Deck, sheet: DeckSheet, sides: tuple[Side, ...]) -> Mapping[str, Any]:
    truth = sheet.truth
    table: dict[str, Any] = {"id": sheet.id}
    table |= {side: picture_name(sheet, side) for side in sides}
    table |= {
        "turned": sheet.turned,
        "length_mm": round(deck.ballots.designs[sheet.style].height_in * MM_PER_INCH, 1),
        "fate": truth.fates[0] if len(truth.fates) == 1 else list(truth.fates),
        "choices": list(truth.choices),
        "reasons": list(truth.reasons),
        "hand": truth.hand,
    }
    if sheet.fault:
        table["fault"] = dict(sheet.fault)
    return table


def _toml(value: object) -> str:
    """Return a value as TOML; strings, numbers and lists are written as in JSON."""
    if isinstance(value, Mapping):
        entries: Mapping[str, object] = value
        return "{ " + ", ".join(f"{key} = {_toml(entry)}" for key, entry in entries.items()) + " }"
    return json.dumps(value, ensure_ascii=False)


def _stamp(folder: Path, *, duplex: bool) -> str:
    """Return what the pictures depend on: the folder's files, this code's number, the libraries."""
    files = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.suffix in (".png", ".toml")
    }
    made_by = {"rendering": RENDERING, "opencv": cv2.__version__, "numpy": np.__version__}
    return json.dumps({**made_by, "duplex": duplex, "files": files}, indent=1)


def _is_current(out: Path, stamp: str) -> bool:
    try:
        return (out / STAMP).read_text(encoding="utf-8") == stamp
    except OSError:
        return False


def _vote(
    page: Grey, blank: Blank, contest: PlacedContest, sheet: DeckSheet, pen: Pen, rng: np.random.Generator
) -> None:
    dpi = blank.layout.units_per_inch
    for key, kind in sheet.marks.items():
        mark(page, contest.option(key).target, kind, pen, rng, dpi)
    for key in sheet.erased:
        corrections.erase(page, blank.image, contest.option(key).target, rng)
    for key in sheet.fluid:
        corrections.paint_over(page, contest.option(key).target, rng)
    for key in sheet.crossed_out:
        corrections.cross_out(page, contest.option(key).name, pen, rng)
    for key in sheet.underlined:
        corrections.underline(page, contest.option(key).name, pen, rng)
    for key in sheet.circled:
        corrections.circle_name(page, contest.option(key).name, pen, rng)
    if sheet.write_in:
        areas = [option.write_in_area for option in contest.options if option.write_in_area]
        if not areas:
            raise DeckError(f"sheet {sheet.id}: the contest has no write-in line")
        write_words(page, sheet.write_in, areas[0], pen, rng)


def _vote_elsewhere(page: Grey, contest: PlacedContest, pen: Pen, rng: np.random.Generator) -> None:
    if rng.random() > _OTHER_CONTEST_MARKED:
        return
    printed = [option for option in contest.options if not option.candidate.write_in]
    kind = _KINDS_ELSEWHERE[int(rng.integers(len(_KINDS_ELSEWHERE)))]
    for n in rng.permutation(len(printed))[: contest.contest.vote_for]:
        mark(page, printed[int(n)].target, kind, pen, rng)


def _damage(page: Grey, mask: paper.Mask, words: str, rng: np.random.Generator, sheet: DeckSheet) -> None:
    """Do to the paper what one entry of `damage` says, in place."""
    height, width = page.shape
    try:
        match words.split():
            case ["fold", y]:
                paper.fold(page, float(y) * height, rng, tilt_px=rng.normal(0, 12))
            case ["coffee", x, y]:
                paper.coffee(page, float(x) * width, float(y) * height, 0.13 * width, rng)
            case ["staple"]:
                paper.staple(page, mask, 0.07 * width, 0.045 * height, rng)
            case ["crumple"]:
                paper.crumple(page, rng)
            case ["tear_corner", corner, across, along] if corner in paper.CORNERS:
                paper.tear_corner(mask, corner, float(across) * width, float(along) * height, rng)
            case ["tear_side", side, top, bottom, depth] if side in ("left", "right"):
                paper.tear_side(
                    mask, side, float(top) * height, float(bottom) * height, float(depth) * width, rng
                )
            case _:
                raise DeckError(f'sheet {sheet.id}: there is no damage "{words}"')
    except ValueError:
        raise DeckError(f'sheet {sheet.id}: damage "{words}" has a word where a number belongs') from None
