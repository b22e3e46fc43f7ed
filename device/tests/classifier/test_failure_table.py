"""What goes wrong with sheets, row by row: never a wrong count, and counted as often as it should be.

`make failure-table` reads 60 sheets a row (`failure_table.py`), this test fewer.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from device.tests.classifier.drawn_pages import (
    DPI,
    Page,
    contest_of,
    fresh_page,
    program,
    usual_design,
    with_candidates,
)
from recount_ballots import corrections, paper
from recount_ballots.design import Design
from recount_ballots.handwriting import write_words
from recount_ballots.marks import mark
from recount_ballots.names import random_design
from recount_ballots.scanner import ScanSettings, Streak
from recount_ballots.strokes import Pen, draw, take
from recount_classifier.evidence import Evidence
from recount_classifier.locate import locate
from recount_classifier.reading import read_sheet
from recount_classifier.sheet_map import SheetMap

PAGES = 5
TABLE_PAGES = 60

pytestmark = pytest.mark.timeout(600)


@dataclass(frozen=True)
class Row:
    """One condition: what is done to a fresh sheet, and how many of 60 must be counted for its voter."""

    name: str
    spoil: Callable[[Page], None]
    least: int = 0
    never: bool = False
    """Whether such a sheet must not be counted at all, for anybody."""
    reasons: frozenset[str] = frozenset()
    """When given, every sheet has at least one of these reasons, and is not counted."""


# -- what is done to sheets ----------------------------------------------------------------------------------


def votes(kind: str, tool: str | None = None) -> Callable[[Page], None]:
    return lambda page: page.mark(page.choice, kind, tool)


def scanned(**changes: object) -> Callable[[Page], None]:
    """Return what marks a sheet fully and scans it with those settings."""

    def spoil(page: Page) -> None:
        page.mark(page.choice)
        page.settings = page.settings.but(**changes)

    return spoil


def nothing_marked(page: Page) -> None:
    del page


def upside_down(page: Page) -> None:
    page.mark(page.choice)
    page.quarter_turns = 2


def quarter_turn(page: Page) -> None:
    page.mark(page.choice)
    page.quarter_turns = 1


def turned_up_to_6_degrees(page: Page) -> None:
    page.mark(page.choice)
    page.settings = page.settings.but(turn_deg=float(page.rng.uniform(-6, 6)), margin_px=90)


def scaled_up_to_8_percent(page: Page) -> None:
    page.mark(page.choice)
    page.settings = page.settings.but(scale=float(page.rng.uniform(0.92, 1.08)), margin_px=90)


def stretched_by_6_px(page: Page) -> None:
    page.mark(page.choice)
    page.settings = page.settings.but(stretch_px=6.0)


def beside_a_full_mark(kind: str) -> Callable[[Page], None]:
    """Return what marks the voter's choice and leaves another kind of ink on another option."""

    def spoil(page: Page) -> None:
        page.mark(page.choice)
        page.mark(page.other_choice(), kind, "black_pen")

    return spoil


def overvoted(page: Page) -> None:
    page.mark(page.choice)
    page.mark(page.other_choice())


def written_in_without_the_target(page: Page) -> None:
    area = page.contest.option("W").write_in_area
    assert area is not None
    write_words(page.image, "JANE ROE", area, take("black_pen", DPI, page.rng), page.rng)


def tail_of_a_neighbour(page: Page) -> None:
    """Mark with a long tail that ends close to the next target."""
    page.mark(page.choice)
    target = page.contest.option(page.choice).target
    x, y = target.centre
    way = 1 if page.choice == "A" else -1
    tail = np.array([(x, y), (x + 8, y + way * 20), (x + 12, y + way * 42)])
    draw(page.image, [tail], take("black_pen", DPI, page.rng), page.rng)


def torn_elsewhere(page: Page) -> None:
    """Tear a corner off, 20 to 55 % of the width, as far from the contest as the sheet allows."""
    page.mark(page.choice)
    height, width = page.image.shape
    x, y = page.contest.box.centre
    corner = ("bottom" if y < height / 2 else "top") + "-" + ("right" if x < width / 2 else "left")
    part = page.rng.uniform(0.2, 0.55)
    paper.tear_corner(page.paper, corner, part * width, part * 0.6 * height, page.rng)
    page.settings = page.settings.but(background=int(page.rng.integers(10, 60)))


def hole_over_a_target(page: Page) -> None:
    page.mark(page.choice)
    x, y = page.contest.option(page.other_choice()).target.centre
    paper.punch(page.paper, x, y, 24)
    page.settings = page.settings.but(background=int(page.rng.integers(10, 60)))


def hole_over_the_mark(page: Page) -> None:
    page.mark(page.choice)
    x, y = page.contest.option(page.choice).target.centre
    paper.punch(page.paper, x, y, 24)
    page.settings = page.settings.but(background=int(page.rng.integers(10, 60)))


def streak_near_the_targets(page: Page) -> None:
    """Streak within 60 px of the targets' column."""
    page.mark(page.choice)
    x = page.contest.options[0].target.centre[0] + page.rng.uniform(-60, 60)
    place = (x + page.settings.margin_px) / (page.image.shape[1] + 2 * page.settings.margin_px)
    streak = Streak(float(place), float(page.rng.uniform(25, 90)), 1.5)
    page.settings = page.settings.but(streaks=(streak,), turn_deg=0.0, shift_px=(0.0, 0.0), scale=1.0)


def folded_through_a_target(page: Page) -> None:
    page.mark(page.choice)
    y = page.contest.option(page.other_choice()).target.centre[1] + page.rng.uniform(-6, 6)
    paper.fold(page.image, y, page.rng, tilt_px=page.rng.normal(0, 4))


def folded_elsewhere(page: Page) -> None:
    page.mark(page.choice)
    paper.fold(page.image, page.contest.box.bottom + 120, page.rng, tilt_px=page.rng.normal(0, 6))


def shown_through(strength: float) -> Callable[[Page], None]:
    """Return what lets the marks and words of another ballot's front shine through."""

    def spoil(page: Page) -> None:
        page.mark(page.choice)
        other = fresh_page((int(page.rng.integers(1 << 31)),), random_design(5))
        paper.show_through(page.image, other.image, strength)

    return spoil


def coffee_stained(page: Page) -> None:
    page.mark(page.choice)
    x, y = page.rng.uniform((300, 300), (1400, 1900))
    paper.coffee(page.image, x, y, 150, page.rng)


def coffee_over_the_contest(page: Page) -> None:
    page.mark(page.choice)
    x, y = np.array(page.contest.option(page.other_choice()).target.centre) + page.rng.normal(0, 60, 2)
    paper.coffee(page.image, x, y, 120, page.rng)


def stapled(page: Page) -> None:
    page.mark(page.choice)
    paper.staple(page.image, page.paper, 120, 95, page.rng)


def stapled_at_a_target(page: Page) -> None:
    page.mark(page.choice)
    x, y = page.contest.option(page.other_choice()).target.centre
    paper.staple(page.image, page.paper, x + 44, y, page.rng)


def erased(page: Page) -> None:
    """Mark another option in pencil, rub it out, and mark the choice."""
    other = page.other_choice()
    page.mark(other, "full", "pencil")
    corrections.erase(page.image, page.blank.image, page.contest.option(other).target, page.rng)
    page.mark(page.choice)


def painted_over(page: Page) -> None:
    other = page.other_choice()
    page.mark(other)
    corrections.paint_over(page.image, page.contest.option(other).target, page.rng)
    page.mark(page.choice)


def crossed_out(page: Page) -> None:
    page.mark(page.choice)
    name = page.contest.option(page.choice).name
    corrections.cross_out(page.image, name, take("black_pen", DPI, page.rng), page.rng)


def watermarked(grey: int) -> Callable[[Page], None]:
    def spoil(page: Page) -> None:
        paper.watermark(page.image, "SAMPLE", grey)
        page.mark(page.choice)

    return spoil


def two_sheets(page: Page) -> None:
    """Lay another marked ballot over part of the sheet, with its edge across the contest."""
    page.mark(page.choice)
    other = fresh_page((int(page.rng.integers(1 << 31)),))
    other.mark(other.choice)
    box = page.contest.box
    edge = int(page.rng.uniform(box.top + 20, box.bottom - 20))
    shift = int(page.rng.integers(60, 400))
    page.image[edge:] = np.roll(other.image, shift, axis=0)[edge:]
    page.image[edge - 2 : edge + 1] = np.minimum(page.image[edge - 2 : edge + 1], 150)


def a_sheet_over_a_sheet(page: Page) -> None:
    """Lay another marked ballot over the lower part of the sheet, a little off: its contest is whole."""
    page.mark(page.choice)
    other = fresh_page((int(page.rng.integers(1 << 31)),))
    other.mark(other.choice)
    shift = int(page.rng.integers(60, 130))
    edge = int(page.contest.box.top) + shift - 20
    page.image[edge:] = np.roll(other.image, shift, axis=0)[edge:]


def blank_paper(page: Page) -> None:
    page.image[:] = 255


def handwritten_letter(page: Page) -> None:
    page.image[:] = 255
    pen = Pen(40, 4, 0)
    for y in range(200, 2000, 90):
        x = np.linspace(150, 1500, 120)
        draw(page.image, [np.stack([x, y + page.rng.normal(0, 16, 120)], axis=1)], pen, page.rng)


def onto(make_design: Callable[[], Design]) -> Callable[[Page], None]:
    """Return what replaces the sheet by a marked one of another design."""

    def spoil(page: Page) -> None:
        other = fresh_page((int(page.rng.integers(1 << 31)),), make_design())
        placed = other.contest
        mark(other.image, placed.options[0].target, "full", take("black_pen", DPI, page.rng), page.rng, DPI)
        page.blank, page.image = other.blank, other.image
        page.paper = paper.whole(other.image)

    return spoil


def names_rotated() -> Design:
    first, *rest, write_in = contest_of(usual_design()).candidates
    names = [*rest, first]
    kept = [replace(new, key=old.key) for new, old in zip(names, (first, *rest), strict=True)]
    return with_candidates(usual_design(), (*kept, write_in))


def one_name_changed() -> Design:
    first, second, *rest = contest_of(usual_design()).candidates
    return with_candidates(usual_design(), (first, replace(second, name="Harold Ingram"), *rest))


REFUSED = frozenset(
    {"wrong_style", "other_contest", "names_exchanged", "name_changed", "mirror_image", "blank_paper",
     "not_on_paper", "distorted", "blurred", "exposure", "contrast", "wrong_side"}
)  # fmt: skip

TABLE = (
    Row("full marks", votes("full"), 59),
    Row("hasty full marks", votes("scribble"), 55),
    Row("X", votes("x"), 59),
    Row("partial marks", votes("partial"), 55),
    Row("check marks", votes("check"), 24),
    Row("single lines", votes("line"), 52),
    Row("1 mm lines across the long axis", votes("long_axis", "pencil"), 52),
    Row("circles", votes("circle")),
    Row("black ink", votes("full", "black_pen"), 59),
    Row("blue ink", votes("full", "blue_pen"), 59),
    Row("red ink", votes("full", "red_pen"), 59),
    Row("gel pen", votes("full", "gel_pen"), 59),
    Row("pencil", votes("full", "pencil"), 59),
    # As pale as another side's mark that shows through: people look at most of them (`marked_tone`).
    Row("light pencil", votes("full", "light_pencil"), 20),
    Row("nothing marked", nothing_marked, never=True, reasons=frozenset({"undervote"})),
    Row("two marks", overvoted, never=True, reasons=frozenset({"overvote"})),
    Row("a dot beside a full mark", beside_a_full_mark("dot")),
    Row("a resting pen beside a full mark", beside_a_full_mark("resting")),
    Row("a hesitation tick beside a full mark", beside_a_full_mark("tick")),
    Row(
        "a written name, its target empty", written_in_without_the_target, never=True,
        reasons=frozenset({"write_in"}),
    ),
    Row("the tail of a neighbour's mark", tail_of_a_neighbour, 59),
    Row("upside down", upside_down, 59),
    Row("a quarter turn", quarter_turn, 59),
    Row("turned up to 6 degrees", turned_up_to_6_degrees, 54),
    Row("scaled up to 8 %", scaled_up_to_8_percent, 38),
    Row("noise of 25 grey levels", scanned(noise=25.0), 59),
    Row("JPEG of quality 10", scanned(jpeg=10), 59),
    Row("blur of 3 px", scanned(blur_px=3.0), never=True),
    Row("a quarter of the contrast", scanned(white=200.0, black=150.0), never=True),
    Row("stretched by 6 px", stretched_by_6_px, 43),
    Row("perspective and a lens", scanned(perspective_px=9.0, lens=0.006), 55),
    Row("uneven light", scanned(light=(40.0, 40.0)), 55),
    Row("a corner torn off elsewhere", torn_elsewhere, 59),
    Row("a hole over another target", hole_over_a_target, never=True),
    Row("a hole over the mark", hole_over_the_mark, never=True),
    Row("a streak near the targets", streak_near_the_targets, 42),
    Row("a fold through a target", folded_through_a_target, 15),
    Row("a fold elsewhere", folded_elsewhere, 59),
    Row("bleed-through of 12 %", shown_through(0.12), 55),
    Row("bleed-through of 25 %", shown_through(0.25), 47),
    Row("coffee on the sheet", coffee_stained, 45),
    Row("coffee on the contest", coffee_over_the_contest),
    Row("staple holes elsewhere", stapled, 59),
    Row("a staple hole at a target", stapled_at_a_target),
    Row("another mark rubbed out", erased),
    Row("another mark under correction fluid", painted_over),
    Row("the name crossed out", crossed_out, never=True),
    Row("a pale watermark", watermarked(225), 50),
    Row("a watermark", watermarked(205)),
    Row("two sheets overlapped", two_sheets, never=True),
    Row(
        "a sheet over a sheet, its contest whole", a_sheet_over_a_sheet, never=True,
        reasons=frozenset({"two_sheets"}) | REFUSED,
    ),
    Row("blank paper", blank_paper, never=True, reasons=REFUSED),
    Row("another document", handwritten_letter, never=True, reasons=REFUSED),
    Row("a mirror image", scanned(mirror=True), never=True, reasons=REFUSED),
    Row("another ballot", onto(lambda: random_design(5)), never=True, reasons=REFUSED),
    Row("the names rotated by one", onto(names_rotated), never=True, reasons=REFUSED),
    Row("one name changed", onto(one_name_changed), never=True, reasons=REFUSED),
)  # fmt: skip


@dataclass(slots=True)
class Found:
    """What became of a row's sheets."""

    fates: Counter[str] = field(default_factory=Counter[str])
    """`counted` for its voter's choice, or the fate with all its reasons."""
    wrong: list[str] = field(default_factory=list[str])
    """What must not be, a line a sheet."""

    def shortfall(self, row: Row, pages: int) -> int:
        """Return how many sheets too few were counted."""
        return max(0, pages * row.least // TABLE_PAGES - self.fates["counted"])


def read_row(row: Row, pages: int) -> Found:
    """Read so many sheets of a row."""
    found = Found()
    for number in range(pages):
        page = fresh_page((zlib.crc32(row.name.encode()), number))
        row.spoil(page)
        reading = read_sheet([page.picture()], program())
        right = reading.fate == "counted" and reading.choices == (page.choice,) and not row.never
        found.fates["counted" if right else ", ".join((reading.fate, *reading.reasons))] += 1
        if reading.fate == "counted" and not right:
            found.wrong.append(f"sheet {number}: counted for {reading.choices}")
        if row.reasons and not row.reasons & set(reading.reasons):
            found.wrong.append(f"sheet {number}: {reading.fate} for {reading.reasons}")
    return found


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_the_sheet_is_never_counted_wrongly_and_often_enough_rightly(
    row: Row, record_property: Callable[[str, object], None]
):
    found = read_row(row, PAGES)
    record_property("found", dict(found.fates))
    assert found.wrong == [], found.fates
    assert found.shortfall(row, PAGES) == 0, found.fates


MEDIAN_PX, HIGH_PX = 0.1, 0.5
"""Of the registration error: the median, and the 99.9th percentile."""


def test_registration_errors_stay_far_below_a_pixel(record_property: Callable[[str, object], None]):
    median, high = registration_error_px(4 * PAGES)
    record_property("registration error", f"median {median:.3f} px, 99.9th percentile {high:.3f} px")
    assert median <= MEDIAN_PX
    assert high <= HIGH_PX


def registration_error_px(pages: int) -> tuple[float, float]:
    """Return median and 99.9th percentile of how far from the targets the registrations put them."""
    errors: list[float] = []
    for number in range(pages):
        page = fresh_page((20, number))
        page.mark(page.choice)
        page.settings = _rough_scan(page)
        scan = page.scanned()
        evidence = locate([scan.image], program())
        assert isinstance(evidence, Evidence), evidence
        style = program().styles[0]
        centres = np.array([target.centre for target in style.targets])
        true = scan.page_map.to_scan(centres)
        for registration in evidence.registrations:
            sheet_map = SheetMap(registration, style.frame)
            places = sheet_map.points(centres)
            # The crop's corner is a whole number of pixels; that it is the right one shows in its pixels.
            left, top = np.round(np.median(true - places, axis=0)).astype(int)
            height, width = evidence.crop.shape
            assert np.array_equal(scan.image[top : top + height, left : left + width], evidence.crop)
            away = np.hypot(*(places + np.array([left, top]) - true).T) / sheet_map.scale
            errors += away.tolist()
    return float(np.median(errors)), float(np.quantile(errors, 0.999))


def _rough_scan(page: Page) -> ScanSettings:
    rng = page.rng
    return page.settings.but(
        turn_deg=float(rng.uniform(-3, 3)),
        scale=float(rng.uniform(0.96, 1.02)),
        perspective_px=float(rng.uniform(0, 9)),
        margin_px=60,
        noise=float(rng.uniform(2, 12)),
        blur_px=float(rng.uniform(0.5, 1.1)),
        jpeg=int(rng.integers(50, 91)),
    )
