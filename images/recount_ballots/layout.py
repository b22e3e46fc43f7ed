"""Where everything of a ballot lies: from a design to rectangles and to the ink that is printed.

Coordinates are measured from the sheet's top left corner, x to the right, y down; the left edge of the first
pixel is 0.0 (so the centre of a pixel is at +0.5). Compositions are in points; `Layout.at` gives pixels.
"""

from dataclasses import dataclass, field
from typing import Literal

from recount_ballots.design import POINTS_PER_INCH, Candidate, Contest, Design
from recount_ballots.errors import DesignError

Side = Literal["front", "back"]

MARGIN_PT = 40.0
TIMING_LONG_PT, TIMING_SHORT_PT, TIMING_PITCH_PT = 13.5, 4.5, 18.0
TARGET_PT = {"oval": (8.75, 6.0), "box": (25.0, 13.5)}
TARGET_STROKE_PT = {"oval": 0.6, "box": 1.25}
ROW_PT = {"oval": 25.0, "box": 29.0}
TITLE_PT, INSTRUCTION_PT, GAP_PT, WRITE_IN_HEIGHT_PT = 16.0, 13.0, 8.0, 22.25


@dataclass(frozen=True)
class Rect:
    """An upright rectangle."""

    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Return the right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Return the lower edge."""
        return self.top + self.height

    @property
    def centre(self) -> tuple[float, float]:
        """Return the middle (x, y)."""
        return self.left + self.width / 2, self.top + self.height / 2

    def scaled(self, factor: float) -> "Rect":
        """Return the rectangle in other units."""
        return Rect(self.left * factor, self.top * factor, self.width * factor, self.height * factor)

    def grown(self, by: float) -> "Rect":
        """Return the rectangle with `by` more on each side."""
        return Rect(self.left - by, self.top - by, self.width + 2 * by, self.height + 2 * by)


@dataclass(frozen=True)
class PlacedOption:
    """One candidate's line: its target, its printed name, and its write-in area if it has one."""

    candidate: Candidate
    target: Rect
    name: Rect
    write_in_area: Rect | None = None

    def scaled(self, factor: float) -> "PlacedOption":
        """Return the line in other units."""
        area = self.write_in_area.scaled(factor) if self.write_in_area else None
        return PlacedOption(self.candidate, self.target.scaled(factor), self.name.scaled(factor), area)


@dataclass(frozen=True)
class PlacedContest:
    """A contest's box with its lines in the order of the ballot."""

    contest: Contest
    box: Rect
    options: tuple[PlacedOption, ...]

    def option(self, key: str) -> PlacedOption:
        """Return the line of option `key`, or raise DesignError."""
        for option in self.options:
            if option.candidate.key == key:
                return option
        raise DesignError(f"contest {self.contest.key} has no option {key}")

    def scaled(self, factor: float) -> "PlacedContest":
        """Return the contest in other units."""
        return PlacedContest(
            self.contest, self.box.scaled(factor), tuple(option.scaled(factor) for option in self.options)
        )


@dataclass(frozen=True)
class Layout:
    """One side of a ballot, in one unit of length."""

    width: float
    height: float
    units_per_inch: float
    contests: tuple[PlacedContest, ...]
    test_mark: Rect | None

    def contest(self, key: str) -> PlacedContest:
        """Return the contest `key`, or raise DesignError."""
        for placed in self.contests:
            if placed.contest.key == key:
                return placed
        raise DesignError(f"this side of the ballot has no contest {key}")

    def at(self, dpi: float) -> "Layout":
        """Return the layout in pixels of `dpi` to the inch."""
        factor = dpi / self.units_per_inch
        mark = self.test_mark.scaled(factor) if self.test_mark else None
        contests = tuple(contest.scaled(factor) for contest in self.contests)
        return Layout(self.width * factor, self.height * factor, dpi, contests, mark)

    @property
    def size_px(self) -> tuple[int, int]:
        """Return (width, height) in whole pixels, as the typesetter rounds them."""
        return round(self.width), round(self.height)


@dataclass(frozen=True)
class Text:
    """Printed words; (x, y) is the top left corner of the line of `size` points."""

    x: float
    y: float
    size: float
    words: str
    bold: bool = False
    width: float | None = None
    centred: bool = False
    mono: bool = False


@dataclass(frozen=True)
class Shape:
    """A printed rectangle or ellipse; `fill` is a grey of 0 (black) to 255 (none is no fill)."""

    rect: Rect
    kind: Literal["rect", "ellipse"] = "rect"
    fill: int | None = None
    stroke: float = 0.0


Ink = Text | Shape


@dataclass(frozen=True)
class Composition:
    """A side's layout and everything printed on it, in points."""

    layout: Layout
    ink: tuple[Ink, ...]


@dataclass
class _Draft:
    """A side while it is being composed."""

    design: Design
    side: Side
    ink: list[Ink] = field(default_factory=list[Ink])
    contests: list[PlacedContest] = field(default_factory=list[PlacedContest])


def compose(design: Design, side: Side = "front") -> Composition:
    """Return where everything of one side lies, in points; raises DesignError when it does not fit."""
    draft = _Draft(design, side)
    _corner_codes(draft)
    top, test_mark = _header(draft)
    _contests(draft, top)
    _footer(draft)
    layout = Layout(design.width_pt, design.height_pt, POINTS_PER_INCH, tuple(draft.contests), test_mark)
    return Composition(layout, tuple(draft.ink))


def _black(left: float, top: float, width: float, height: float) -> Shape:
    return Shape(Rect(left, top, width, height), fill=0)


def _corner_codes(draft: _Draft) -> None:
    """Print an oval ballot's timing marks (the lower edge bears its code) or a box ballot's bar code."""
    design = draft.design
    code = design.code * 2 + (draft.side == "back")
    if design.target == "box":
        x = MARGIN_PT - 12
        for bit in range(18):
            wide = 3.0 if (code >> bit) & 1 else 1.2
            draft.ink.append(_black(x, 30.0, wide, 34.0))
            x += wide + 1.4
        return
    left, right = 18.0, design.width_pt - 18.0 - TIMING_LONG_PT
    rows = int((design.height_pt - 36.0) / TIMING_PITCH_PT)
    for row in range(rows + 1):
        y = 16.0 + row * TIMING_PITCH_PT
        draft.ink.append(_black(left, y, TIMING_LONG_PT, TIMING_SHORT_PT))
        draft.ink.append(_black(right, y, TIMING_LONG_PT, TIMING_SHORT_PT))
    columns = int((right - left) / TIMING_PITCH_PT)
    last = 16.0 + rows * TIMING_PITCH_PT
    for column in range(1, columns):
        x = left + column * (right - left) / columns
        draft.ink.append(_black(x, 16.0, TIMING_LONG_PT, TIMING_SHORT_PT))
        if column < 4 or (code >> (column - 4)) & 1:
            draft.ink.append(_black(x, last, TIMING_LONG_PT, TIMING_SHORT_PT))


def _header(draft: _Draft) -> tuple[float, Rect | None]:
    """Print title and instructions; return the height where contests begin and the test mark's place."""
    design = draft.design
    width = design.width_pt
    if draft.side == "back":
        draft.ink += [
            Text(MARGIN_PT, 34, 9, f"{design.locality} - {design.precinct} - back of the ballot"),
            _seal(width / 2 - 36, design.height_pt - 150),
        ]
        draft.ink += _seal_words(width / 2, design.height_pt - 150, design.locality)
        return 56.0, None
    draft.ink += [
        Text(100, 30, 17, "OFFICIAL BALLOT", bold=True, width=width - 200, centred=True),
        Text(100, 51, 10.5, f"{design.election} - {design.date}", width=width - 200, centred=True),
        Text(100, 65, 10.5, f"{design.locality}, Virginia", width=width - 200, centred=True),
        Text(width - 136, 34, 8, design.precinct, bold=True, width=92),
        Text(width - 136, 46, 7, f"Style {design.code:05d}", width=92, mono=True),
        Shape(Rect(MARGIN_PT, 86, width - 2 * MARGIN_PT, 32), fill=238, stroke=0.5),
        Text(
            MARGIN_PT + 6,
            90,
            9.5,
            f"To vote, completely fill in the {design.target} beside your choice. Use black or blue ink.",
            bold=True,
        ),
        Text(
            MARGIN_PT + 6,
            103,
            9,
            "If you make a mistake, ask for a new ballot. To write in a name, use the line below the list.",
        ),
    ]
    mark = Rect(width - 136, 60, 88, 21) if design.test_mark else None
    return 126.0, mark


def _seal(left: float, top: float) -> Shape:
    return Shape(Rect(left, top, 72, 72), kind="ellipse", stroke=1.6)


def _seal_words(middle: float, top: float, locality: str) -> list[Ink]:
    return [
        Shape(Rect(middle - 30, top + 6, 60, 60), kind="ellipse", stroke=0.6),
        Text(middle - 30, top + 20, 7, "ELECTORAL", width=60, centred=True, bold=True),
        Text(middle - 30, top + 30, 7, "BOARD", width=60, centred=True, bold=True),
        Text(middle - 30, top + 42, 6, locality, width=60, centred=True),
    ]


def block_height(contest: Contest, target: str) -> float:
    """Return the height in points that a contest takes on a ballot with such targets."""
    return TITLE_PT + INSTRUCTION_PT + ROW_PT[target] * len(contest.candidates) + 5.0


def _contests(draft: _Draft, top: float) -> None:
    """Fill the columns from the left; a contest that fits nowhere is a DesignError."""
    design = draft.design
    floor = design.height_pt - (170.0 if draft.side == "back" else 46.0)
    column_width = (design.width_pt - 2 * MARGIN_PT - GAP_PT * (design.columns - 1)) / design.columns
    column, y = 0, top
    for contest in design.front if draft.side == "front" else design.back:
        height = block_height(contest, design.target)
        if y + height > floor:
            column, y = column + 1, top
        if column >= design.columns or y + height > floor:
            raise DesignError(f"ballot {design.name}: contest {contest.key} does not fit on the {draft.side}")
        left = MARGIN_PT + column * (column_width + GAP_PT)
        draft.contests.append(_contest(draft, contest, Rect(left, y, column_width, height)))
        y += height + GAP_PT


def _contest(draft: _Draft, contest: Contest, box: Rect) -> PlacedContest:
    target_shape = draft.design.target
    draft.ink += [
        Shape(box, stroke=0.8),
        Shape(Rect(box.left, box.top, box.width, TITLE_PT), fill=215, stroke=0.8),
        Text(box.left + 5, box.top + 3, 10.5, contest.title, bold=True),
        Text(box.left + 5, box.top + TITLE_PT + 3, 8.5, contest.instruction),
    ]
    width, height = TARGET_PT[target_shape]
    options: list[PlacedOption] = []
    for row, candidate in enumerate(contest.candidates):
        top = box.top + TITLE_PT + INSTRUCTION_PT + row * ROW_PT[target_shape]
        middle = top + ROW_PT[target_shape] / 2
        target = Rect(box.left + 10, middle - height / 2, width, height)
        draft.ink.append(
            Shape(
                target,
                kind="ellipse" if target_shape == "oval" else "rect",
                stroke=TARGET_STROKE_PT[target_shape],
            )
        )
        text_left = target.right + 9
        text_width = box.right - text_left - 6
        if candidate.write_in:
            area = Rect(text_left, middle - 13, text_width, WRITE_IN_HEIGHT_PT - 3)
            draft.ink += [
                _black(text_left, area.bottom, text_width, 0.6),
                Text(text_left, area.bottom + 1, 5, "Write-in"),
            ]
            options.append(PlacedOption(candidate, target, Rect(text_left, area.bottom, text_width, 6), area))
            continue
        name_height = 11.0 if not candidate.party else 20.0
        draft.ink.append(Text(text_left, middle - name_height / 2, 11, candidate.name, bold=True))
        if candidate.party:
            draft.ink.append(Text(text_left, middle + 1.5, 8, candidate.party))
        name = Rect(text_left, middle - name_height / 2, min(text_width, 6.5 * len(candidate.name)), 11.0)
        options.append(PlacedOption(candidate, target, name))
    return PlacedContest(contest, box, tuple(options))


def _footer(draft: _Draft) -> None:
    design = draft.design
    words = "Turn the ballot over" if draft.side == "front" and design.back else "End of the ballot"
    draft.ink.append(
        Text(
            MARGIN_PT,
            design.height_pt - 36,
            8,
            f"{words} - {design.name}",
            width=design.width_pt - 80,
            centred=True,
        )
    )
