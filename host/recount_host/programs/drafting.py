"""From blank pages to the draft of a spec: contests numbered, one chosen, its places written down as TOML.

What a person still has to say (names, N, which lines are write-ins) may be given at once, or is left for them
to write into the draft; `program build` refuses a draft that is not complete, and says what it lacks.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np

from recount_ballots.layout import Rect
from recount_classifier.raster import Grey, window_means
from recount_host.errors import OperatorError
from recount_host.programs.contests import FoundContest, FoundPage
from recount_host.programs.finding import ink_share
from recount_host.programs.spec import OptionSpec, ProgramSpec, StyleSpec
from recount_host.programs.spec_text import spec_text

WRITE_IN = "write-in"
"""The name by which a line is said to be a write-in."""

PAPER_WIDTHS_IN = (8.5, 11.0, 8.27)
COMMON_DPI = (150, 200, 240, 300, 400, 600)
_DPI_SLACK = 0.035

_TEST_MARK_IN = (1.5, 0.3)
_TEST_MARK_EDGE_IN, _TEST_MARK_CLEAR_IN = 0.3, 0.08
_SNAP_IN, _SNAP_LIKENESS, _SNAP_TRIES = 0.12, 0.6, 4
"""How far a hand may be off a target, how like the target must be to another, and to how many it is held."""


class DraftError(OperatorError):
    """A draft cannot be written from what was found and said."""


@dataclass(frozen=True, slots=True)
class Side:
    """One page that was looked at."""

    style: str
    side: str
    blank: str
    other_side: str | None
    page: Grey
    found: FoundPage


@dataclass(frozen=True, slots=True)
class Numbered:
    """A contest that was found, under the number by which a person chooses it."""

    number: int
    on: Side
    contest: FoundContest


@dataclass(frozen=True, slots=True)
class Said:
    """What the person said about the contest; empty words are left for the draft."""

    key: str = "contest"
    title: str = "Title of the contest"
    vote_for: int = 1
    options: tuple[str, ...] = ()
    """A name for each target in order; the same name again is the same option printed once more."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """The key of an option by its name, where the order of the court gives it one; others get a letter."""


@dataclass(frozen=True, slots=True)
class Placed:
    """The contest on one style: suggested by us, or as a person moved it."""

    on: Side
    box: Rect
    targets: tuple[Rect, ...]
    areas: tuple[Rect, ...]
    """The place to write on beside each target, for those that are write-in lines."""
    test_mark: Rect | None


def guess_dpi(width_px: int) -> int | None:
    """Return the usual resolution in which a sheet of a usual width has so many pixels, or None."""
    for width_in in PAPER_WIDTHS_IN:
        for dpi in COMMON_DPI:
            if abs(width_px / width_in / dpi - 1) < _DPI_SLACK:
                return dpi
    return None


def style_id(name: str) -> str:
    """Return a word for a style made from the name of its blank."""
    word = re.sub(r"[^A-Za-z0-9_.\-]+", "-", name).strip("-.")[:32]
    return word if word and word[0].isalnum() else f"s{word}"[:32]


def numbered(sides: Sequence[Side]) -> tuple[Numbered, ...]:
    """Return every contest found, numbered from 1 through all pages."""
    flat = [(side, contest) for side in sides for contest in side.found.contests]
    return tuple(Numbered(n, side, contest) for n, (side, contest) in enumerate(flat, 1))


def suggested(one: Numbered, dpi: float) -> Placed:
    """Return a contest that was found as it is placed when no person moves it."""
    side, contest = one.on, one.contest
    areas = tuple(writing_area(side.page, index, contest) for index in range(len(contest.targets)))
    return Placed(side, contest.box, contest.targets, areas, empty_place(side.page, side.found, contest, dpi))


def draft(chosen: Sequence[Placed], said: Said, dpi: float) -> str:
    """Return the TOML of a spec of one contest that stands, in the same order, on each style chosen.

    Raises DraftError when the styles disagree in the number of targets, a style is chosen twice, or the
    options said are not one for each target.
    """
    if not chosen:
        raise DraftError("no contest is chosen")
    counts = {len(one.targets) for one in chosen}
    if len(counts) > 1:
        raise DraftError(
            f"the contests chosen have {' and '.join(map(str, sorted(counts)))} targets: they are not the "
            "same contest, or a target was not found; choose again, or write the spec by hand"
        )
    styles = [one.on.style for one in chosen]
    if len(set(styles)) < len(styles):
        raise DraftError("two contests of one ballot style are chosen: a program recounts one contest")
    count = counts.pop()
    if said.options and len(said.options) != count:
        raise DraftError(f"{len(said.options)} options are named, but the contest has {count} targets")
    keys, names = _options(said, count)
    options = tuple(_option(key, names[keys.index(key)]) for key in dict.fromkeys(keys))
    spec = ProgramSpec(
        said.key,
        said.title,
        said.vote_for,
        dpi,
        options,
        tuple(_style(one, keys, names) for one in chosen),
    )
    if said.options:
        return spec_text(spec)
    notes = {one.on.style: _places(one, keys) for one in chosen}
    return spec_text(spec, _TO_DO, notes)


_TO_DO = (
    "A draft: write title, vote_for and every name; a write-in line gets write_in = true instead of a name,",
    "and its place in write_in_areas.",
)


def _option(key: str, name: str) -> OptionSpec:
    return OptionSpec(key, "", write_in=True) if name == WRITE_IN else OptionSpec(key, name)


def _places(one: Placed, keys: Sequence[str]) -> list[str]:
    """Return what the draft says of the places to write on, for a person to choose from."""
    said = ["the places to write on beside the targets, in their order, for the write-in lines:"]
    for key, place in zip(keys, one.areas, strict=True):
        said.append(f"  {key} {[round(number) for number in _corners(place)]}")
    return said


def _corners(spot: Rect) -> tuple[float, float, float, float]:
    return spot.left, spot.top, spot.right, spot.bottom


def _options(said: Said, count: int) -> tuple[list[str], list[str]]:
    """Return the key and the name of each target's option."""
    names = list(said.options) or [""] * count
    letters = (letter for letter in map(_letter, range(10 * count + 500)) if letter not in said.keys.values())
    keys: list[str] = []
    written = 0
    for index, name in enumerate(names):
        if name == WRITE_IN:
            written += 1
            keys.append(f"W{written}")
        elif name and name in names[:index]:
            keys.append(keys[names.index(name)])
        else:
            keys.append(said.keys.get(name) or next(letters))
    return keys, names


def _letter(index: int) -> str:
    letter = chr(ord("A") + index % 26)
    return letter if index < 26 else f"{letter}{index // 26}"


def _style(one: Placed, keys: Sequence[str], names: Sequence[str]) -> StyleSpec:
    side = one.on
    targets: dict[str, tuple[tuple[float, float, float, float], ...]] = {}
    for key, spot in zip(keys, one.targets, strict=True):
        targets[key] = (*targets.get(key, ()), (spot.left, spot.top, spot.width, spot.height))
    return StyleSpec(
        id=side.style,
        side="front" if side.side == "front" else "back",
        blank=side.blank,
        contest_box=_corners(one.box),
        targets=targets,
        other_side=side.other_side,
        write_in_areas=tuple(
            _corners(area) for area, name in zip(one.areas, names, strict=True) if name == WRITE_IN
        ),
        test_mark=None if one.test_mark is None else _corners(one.test_mark),
    )


def writing_area(page: Grey, index: int, contest: FoundContest) -> Rect:
    """Return the place of a contest's box that belongs to a target's line, on the roomier side of it.

    It ends at the next target, an upright rule, or the contest's box.
    """
    target, box = contest.targets[index], contest.box
    x, y = target.centre
    others = [other for other in contest.targets if other is not target]
    row = [o for o in others if abs(o.centre[1] - y) < 1.2 * target.height]
    left = max([box.left, *(o.right for o in row if o.right < target.left)])
    right = min([box.right, *(o.left for o in row if o.left > target.right)])
    column = [o for o in others if abs(o.centre[0] - x) < target.width]
    top = max([box.top, *((o.centre[1] + y) / 2 for o in column if o.centre[1] < y)])
    bottom = min([box.bottom, *((o.centre[1] + y) / 2 for o in column if o.centre[1] > y)])
    if column and top == box.top:
        # Above the first line of a column stands the heading.
        top = max(top, y - (bottom - y))
    if column and bottom == box.bottom:
        bottom = min(bottom, y + max(y - top, 1.5 * target.height))
    edge = 2.0
    for rule in _upright_rules(page, Rect(left, top, right - left, bottom - top)):
        if rule < target.left:
            left = max(left, rule)
        elif rule > target.right:
            right = min(right, rule)
    if target.left - left > right - target.right:
        left, right = left + edge, target.left - edge
    else:
        left, right = target.right + edge, right - edge
    return Rect(left, top + edge, right - left, bottom - top - 2 * edge)


def _upright_rules(page: Grey, place: Rect) -> list[float]:
    """Return where rules run down all of a place."""
    x0 = int(place.left)
    ground = page[int(place.top) + 4 : int(place.bottom) - 4, x0 : int(place.right)]
    if ground.size == 0:
        return []
    middle = (float(ground.min()) + float(np.median(ground))) / 2
    dark = np.pad(ground < middle, ((0, 0), (1, 1)))
    # A rule that leans by a pixel or two still has its ink in this pixel column or the next, in every row.
    along = (dark[:, :-2] | dark[:, 1:-1] | dark[:, 2:]).mean(axis=0)
    return [float(x0 + column) for column in np.flatnonzero(along > 0.9)]


def empty_place(page: Grey, found: FoundPage, contest: FoundContest, dpi: float) -> Rect | None:
    """Return the topmost empty place for a test mark, outside every contest's box, or None."""
    wide, high = round(_TEST_MARK_IN[0] * dpi), round(_TEST_MARK_IN[1] * dpi)
    clear, edge = round(_TEST_MARK_CLEAR_IN * dpi), round(_TEST_MARK_EDGE_IN * dpi)
    print_ = (ink_share(page, dpi) > 60).astype(np.float32)
    for other in (contest, *found.contests):
        box = other.box
        print_[max(0, int(box.top)) : int(box.bottom) + 1, max(0, int(box.left)) : int(box.right) + 1] = 1
    height, width = print_.shape
    print_[:edge], print_[height - edge :], print_[:, :edge], print_[:, width - edge :] = 1, 1, 1, 1
    means = window_means(print_, wide + 2 * clear, high + 2 * clear)
    free = means[: height - high - 2 * clear, : width - wide - 2 * clear] <= 1e-6
    rows, columns = np.nonzero(free)
    if len(rows) == 0:
        return None
    return Rect(int(columns[0]) + clear, int(rows[0]) + clear, wide, high)


def reading_order(spots: Sequence[Rect]) -> tuple[int, ...]:
    """Return the indices of targets column by column from the left, each from the top down."""
    columns: list[list[int]] = []
    for index in sorted(range(len(spots)), key=lambda n: spots[n].centre[0]):
        last = spots[columns[-1][-1]] if columns else None
        if last is not None and spots[index].centre[0] - last.centre[0] < spots[index].width / 2:
            columns[-1].append(index)
        else:
            columns.append([index])
    return tuple(n for column in columns for n in sorted(column, key=lambda n: spots[n].top))


def snapped(page: Grey, by_hand: Rect, like: Sequence[Rect], dpi: float) -> Rect:
    """Return a target that a person pointed at, laid where the print near it is most like other targets.

    Without any like it, it stays where it was pointed at.
    """
    reach, edge = round(_SNAP_IN * dpi), 3
    best, place = _SNAP_LIKENESS, by_hand
    for other in like[:_SNAP_TRIES]:
        x, y = max(0, round(other.left) - edge), max(0, round(other.top) - edge)
        high, wide = round(other.height) + 2 * edge, round(other.width) + 2 * edge
        template = page[y : y + high, x : x + wide]
        left = max(0, round(by_hand.centre[0] - wide / 2) - reach)
        top = max(0, round(by_hand.centre[1] - high / 2) - reach)
        ground = page[top : top + high + 2 * reach, left : left + wide + 2 * reach]
        if ground.shape[0] < high or ground.shape[1] < wide or template.shape != (high, wide):
            continue
        found = cv2.matchTemplate(ground, template, cv2.TM_CCOEFF_NORMED)
        if float(found.max()) > best:
            best = float(found.max())
            row, column = divmod(int(found.argmax()), found.shape[1])
            place = Rect(left + column + other.left - x, top + row + other.top - y, other.width, other.height)
    return place
