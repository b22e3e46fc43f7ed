"""From blank pages to the draft of a spec: contests numbered, one chosen, its places written down as TOML.

What a person still has to say (names, N, which lines are write-ins) may be given at once, or is left for them
to write into the draft; `program build` refuses a draft that is not complete, and says what it lacks.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recount_classifier.raster import Grey, window_means
from recount_host.errors import OperatorError
from recount_host.programs.contests import FoundContest, FoundPage
from recount_host.programs.finding import Spot, ink_share
from recount_host.programs.spec import OptionSpec, ProgramSpec, StyleSpec
from recount_host.programs.spec_text import spec_text

WRITE_IN = "write-in"
"""The name by which a line is said to be a write-in."""

PAPER_WIDTHS_IN = (8.5, 11.0, 8.27)
COMMON_DPI = (150, 200, 240, 300, 400, 600)
_DPI_SLACK = 0.035

_TEST_MARK_IN = (1.5, 0.3)
_TEST_MARK_EDGE_IN, _TEST_MARK_CLEAR_IN = 0.3, 0.08


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


def draft(chosen: Sequence[Numbered], said: Said, dpi: float) -> str:
    """Return the TOML of a spec of one contest that stands, in the same order, on each style chosen.

    Raises DraftError when the styles disagree in the number of targets, a style is chosen twice, or the
    options said are not one for each target.
    """
    if not chosen:
        raise DraftError("no contest is chosen")
    counts = {len(one.contest.targets) for one in chosen}
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
    keys, names = _options(said.options, count)
    options = tuple(_option(key, names[keys.index(key)]) for key in dict.fromkeys(keys))
    spec = ProgramSpec(
        said.key,
        said.title,
        said.vote_for,
        dpi,
        options,
        tuple(_style(one, keys, names, dpi) for one in chosen),
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


def _places(one: Numbered, keys: Sequence[str]) -> list[str]:
    """Return what the draft says of the places to write on, for a person to choose from."""
    said = ["the places to write on beside the targets, in their order, for the write-in lines:"]
    for index, key in enumerate(keys):
        place = writing_area(one.on.page, index, one.contest)
        said.append(f"  {key} {[round(number) for number in _corners(place)]}")
    return said


def _corners(spot: Spot) -> tuple[float, float, float, float]:
    return spot.left, spot.top, spot.right, spot.bottom


def _options(said: Sequence[str], count: int) -> tuple[list[str], list[str]]:
    """Return the key and the name of each target's option."""
    names = list(said) or [""] * count
    keys: list[str] = []
    printed, written = 0, 0
    for index, name in enumerate(names):
        if name == WRITE_IN:
            written += 1
            keys.append(f"W{written}")
        elif name and name in names[:index]:
            keys.append(keys[names.index(name)])
        else:
            keys.append(_letter(printed))
            printed += 1
    return keys, names


def _letter(index: int) -> str:
    letter = chr(ord("A") + index % 26)
    return letter if index < 26 else f"{letter}{index // 26}"


def _style(one: Numbered, keys: Sequence[str], names: Sequence[str], dpi: float) -> StyleSpec:
    side, contest = one.on, one.contest
    targets: dict[str, tuple[tuple[float, float, float, float], ...]] = {}
    for key, spot in zip(keys, contest.targets, strict=True):
        targets[key] = (*targets.get(key, ()), (spot.left, spot.top, spot.width, spot.height))
    mark = empty_place(side.page, side.found, contest, dpi)
    return StyleSpec(
        id=side.style,
        side="front" if side.side == "front" else "back",
        blank=side.blank,
        contest_box=_corners(contest.box),
        targets=targets,
        other_side=side.other_side,
        write_in_areas=tuple(
            _corners(writing_area(side.page, index, contest))
            for index, name in enumerate(names)
            if name == WRITE_IN
        ),
        test_mark=None if mark is None else _corners(mark),
    )


def writing_area(page: Grey, index: int, contest: FoundContest) -> Spot:
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
    for rule in _upright_rules(page, Spot(left, top, right - left, bottom - top)):
        if rule < target.left:
            left = max(left, rule)
        elif rule > target.right:
            right = min(right, rule)
    if target.left - left > right - target.right:
        left, right = left + edge, target.left - edge
    else:
        left, right = target.right + edge, right - edge
    return Spot(left, top + edge, right - left, bottom - top - 2 * edge)


def _upright_rules(page: Grey, place: Spot) -> list[float]:
    """Return where rules run down all of a place."""
    x0 = int(place.left)
    ground = page[int(place.top) + 4 : int(place.bottom) - 4, x0 : int(place.right)]
    if ground.size == 0:
        return []
    middle = (float(ground.min()) + float(np.median(ground))) / 2
    # A rule that leans by a pixel or two still has most of its ink in one pixel column or the next.
    share = np.convolve((ground < middle).mean(axis=0), np.ones(3), "same")
    return [float(x0 + column) for column in np.flatnonzero(share > 0.9)]


def empty_place(page: Grey, found: FoundPage, contest: FoundContest, dpi: float) -> Spot | None:
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
    return Spot(int(columns[0]) + clear, int(rows[0]) + clear, wide, high)
