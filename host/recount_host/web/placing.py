"""The places of a contest on its blanks as a form holds them, and what the form said as a draft's parts.

Pure: fields in, places out, and back. A box is written as four numbers in pixels of the blank: left, top,
right, bottom; a target as left, top, width, height, as in a spec. The script of the page only writes into
these fields, so that the form says the same without it.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recount_ballots.layout import Rect
from recount_classifier.raster import Grey
from recount_host.order import Order
from recount_host.programs.contests import FoundContest
from recount_host.programs.drafting import (
    WRITE_IN,
    DraftError,
    Numbered,
    Placed,
    Said,
    reading_order,
    snapped,
    suggested,
    writing_area,
)

OTHER, LINE = "other", "write_in"
"""What a target is for, beside "side:KEY": another candidate or answer; a write-in line."""
SIDE = "side:"
MAX_TARGETS = 300
_NUMBER = re.compile(r"-?[0-9]{1,5}(\.[0-9]{1,3})?")
_MARGIN_IN = 0.5


@dataclass(frozen=True, slots=True)
class Row:
    """One target of the form."""

    number: int
    target: str
    area: str
    """The place to write on, used where it is a write-in line."""
    view: str
    """The part of the page that shows its label: left, top, width, height."""
    what: str = OTHER
    name: str = ""
    again: bool = False
    """Whether the person or answer stands on this ballot twice, and this is the second time."""
    gone: bool = False
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class StylePlaces:
    """One style of the form."""

    number: int
    """From 0."""
    style: str
    side: str
    page: int
    """Number of its page among all pages looked at, from 0."""
    width: int
    height: int
    near: str
    """The part of the page round the contest."""
    box: str
    test: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class PlacesForm:
    """The whole form."""

    title: str
    key: str
    vote_for: str
    styles: tuple[StylePlaces, ...]


@dataclass(slots=True)
class _Read:
    """One style as the form told it."""

    on: Numbered
    box: Rect
    test_mark: Rect | None
    targets: list[Rect] = field(default_factory=list[Rect])
    areas: list[Rect] = field(default_factory=list[Rect])
    numbers: list[int] = field(default_factory=list[int])


def first_form(chosen: Sequence[Numbered], pages: Sequence[object], dpi: float, order: Order) -> PlacesForm:
    """Return the form as it is before a person touched it; contest, title and N are those of the order."""
    styles = tuple(
        _style_form(n, one, pages.index(one.on), suggested(one, dpi), dpi) for n, one in enumerate(chosen)
    )
    return PlacesForm(order.title, order.contest, str(order.vote_for), styles)


def _style_form(number: int, one: Numbered, page: int, placed: Placed, dpi: float) -> StylePlaces:
    height, width = one.on.page.shape
    margin = _MARGIN_IN * dpi
    box = placed.box
    left, top = max(0.0, box.left - margin), max(0.0, box.top - margin)
    right, bottom = min(width, box.right + margin), min(height, box.bottom + margin)
    rows = tuple(
        Row(n, _written(_sized(target)), _written(_edges(area)), _label_view(target, area, box))
        for n, (target, area) in enumerate(zip(placed.targets, placed.areas, strict=True), 1)
    )
    test = "" if placed.test_mark is None else _written(_edges(placed.test_mark))
    near = " ".join(f"{value:.0f}" for value in (left, top, right - left, bottom - top))
    return StylePlaces(
        number, one.on.style, one.on.side, page, width, height, near, _written(_edges(box)), test, rows
    )


def _label_view(target: Rect, area: Rect, box: Rect) -> str:
    """Return the part of the page that shows a target with the print beside it, on its roomier side."""
    reach = 14 * target.width
    to_the_right = area.left >= target.left
    left = target.left - 6 if to_the_right else max(box.left, min(area.left, target.right - reach))
    right = min(box.right, max(area.right, target.left + reach)) if to_the_right else target.right + 6
    top, bottom = min(target.top, area.top) - 4, max(target.bottom, area.bottom) + 4
    return " ".join(f"{value:.0f}" for value in (left, top, right - left, bottom - top))


def form_again(form: PlacesForm, fields: Mapping[str, str]) -> PlacesForm:
    """Return the form with what a person had put into it: nothing typed is lost when it is refused."""
    return PlacesForm(
        fields.get("title", form.title),
        fields.get("key", form.key),
        fields.get("vote_for", form.vote_for),
        tuple(_style_again(style, fields) for style in form.styles),
    )


def _style_again(style: StylePlaces, fields: Mapping[str, str]) -> StylePlaces:
    at = f"s{style.number}"
    views = {row.number: row.view for row in style.rows}
    rows = tuple(
        Row(
            n,
            fields[f"{at}-t{n}"],
            fields.get(f"{at}-t{n}-area", ""),
            views.get(n, "0 0 1 1"),
            fields.get(f"t{n}-what", OTHER),
            fields.get(f"t{n}-name", ""),
            f"t{n}-again" in fields,
            f"{at}-t{n}-gone" in fields,
            f"{at}-t{n}-hand" in fields,
        )
        for n in _numbers(fields, at)
    )
    return StylePlaces(
        style.number, style.style, style.side, style.page, style.width, style.height, style.near,
        fields.get(f"{at}-box", style.box), fields.get(f"{at}-test", style.test), rows or style.rows,
    )  # fmt: skip


def _numbers(fields: Mapping[str, str], at: str) -> list[int]:
    return [n for n in range(1, MAX_TARGETS + 1) if f"{at}-t{n}" in fields]


def read_places(
    chosen: Sequence[Numbered], fields: Mapping[str, str], dpi: float, order: Order
) -> tuple[list[Placed], Said]:
    """Return the contest on each style, and what was said of it. Raises DraftError in one sentence."""
    read = [_read_style(n, one, fields, dpi) for n, one in enumerate(chosen)]
    names = _names(read[0].numbers, fields, order)
    vote_for = fields.get("vote_for", "").strip()
    if not vote_for.isdecimal() or not 1 <= int(vote_for[:3]) <= 50:
        raise DraftError("how many a voter may choose is a number from 1 to 50")
    said = Said(
        " ".join(fields.get("key", "").split()),
        " ".join(fields.get("title", "").split()),
        int(vote_for[:3]),
        tuple(names),
        {side.name: side.key for side in order.sides},
    )
    return [_placed(one) for one in read], said


def _read_style(number: int, one: Numbered, fields: Mapping[str, str], dpi: float) -> _Read:
    at, height, width = f"s{number}", *one.on.page.shape
    what = f"ballot style {one.on.style}"
    box = _box(fields.get(f"{at}-box", ""), width, height, f"the contest's box of {what}")
    test = fields.get(f"{at}-test", "").strip()
    mark = _box(test, width, height, f"the place for TEST of {what}") if test else None
    found = _Read(one, box, mark)
    for n in _numbers(fields, at):
        if f"{at}-t{n}-gone" in fields:
            continue
        left, top, wide, high = _four(fields[f"{at}-t{n}"], f"target {n} of {what}")
        spot = Rect(left, top, wide, high)
        if wide <= 0 or high <= 0 or not _inside(spot, width, height):
            raise DraftError(f"target {n} of {what} does not lie on the page: draw it again")
        if f"{at}-t{n}-hand" in fields:
            spot = snapped(one.on.page, spot, one.contest.targets, dpi)
        found.targets.append(spot)
        found.numbers.append(n)
    if not found.targets:
        raise DraftError(f"no target is left on {what}: click on the places that a voter fills")
    order = reading_order(found.targets)
    found.targets = [found.targets[n] for n in order]
    found.numbers = [found.numbers[n] for n in order]
    contest = FoundContest(box, tuple(found.targets))
    for index, n in enumerate(found.numbers):
        told = fields.get(f"{at}-t{n}-area", "").strip()
        place = f"the place to write on of target {n} of {what}"
        found.areas.append(_box(told, width, height, place) if told else _area(one.on.page, index, contest))
    return found


def _area(page: Grey, index: int, contest: FoundContest) -> Rect:
    return writing_area(page, index, contest)


def _names(numbers: Sequence[int], fields: Mapping[str, str], order: Order) -> list[str]:
    """Return the name of each target's option; refuse what would exchange or merge options unseen."""
    sides = {side.key: side.name for side in order.sides}
    names: list[str] = []
    for n in numbers:
        what = fields.get(f"t{n}-what", OTHER)
        name = " ".join(fields.get(f"t{n}-name", "").split())
        if what == LINE:
            names.append(WRITE_IN)
            continue
        if what.startswith(SIDE):
            if what.removeprefix(SIDE) not in sides:
                raise DraftError(f"target {n} is given to a party that the order does not name")
            name = sides[what.removeprefix(SIDE)]
        if not name or name == WRITE_IN:
            raise DraftError(f"target {n} has no name: write the name that is printed beside it")
        if name in names and f"t{n}-again" not in fields:
            raise DraftError(
                f'"{name}" is the name at two targets, {numbers[names.index(name)]} and {n}: correct one, or '
                'say at the second that it is "printed twice"'
            )
        names.append(name)
    return names


def _placed(one: _Read) -> Placed:
    return Placed(one.on.on, one.box, tuple(one.targets), tuple(one.areas), one.test_mark)


def _box(text: str, width: int, height: int, what: str) -> Rect:
    left, top, right, bottom = _four(text, what)
    spot = Rect(left, top, right - left, bottom - top)
    if spot.width <= 0 or spot.height <= 0 or not _inside(spot, width, height):
        raise DraftError(f"{what} does not lie on the page: draw it again")
    return spot


def _four(text: str, what: str) -> tuple[float, float, float, float]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        raise DraftError(f"{what} has no place: draw it, or write four numbers")
    first, second, third, fourth = map(float, parts)
    return first, second, third, fourth


def _inside(spot: Rect, width: int, height: int) -> bool:
    return spot.left >= 0 and spot.top >= 0 and spot.right <= width and spot.bottom <= height


def _edges(spot: Rect) -> tuple[float, float, float, float]:
    return spot.left, spot.top, spot.right, spot.bottom


def _sized(spot: Rect) -> tuple[float, float, float, float]:
    return spot.left, spot.top, spot.width, spot.height


def _written(values: Sequence[float]) -> str:
    return ", ".join(f"{round(value, 1):g}" for value in values)
