"""Dirt on the camera's glass is told of before a sheet comes back for it; print is never taken for dirt."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from device.tests.classifier import real_ballots
from device.tests.classifier.drawn_pages import fresh_page, program
from device.tests.classifier.kit import real_sheets
from device.tests.station.bench import Bench, InlineReader, Paper
from recount_ballots.scanner import Streak
from recount_classifier.program import Program
from recount_classifier.reading import Reading, read_sheet
from recount_device.glass import SHEETS, Glass, Lines, lines_in

MARGIN_PX = 12


def first_target() -> float:
    """Return the middle of the targets' column, in pixels of the blank."""
    return program().styles[0].targets[0].centre[0]


@cache
def read(number: int, darkness: float, x: float | None = None) -> Reading:
    """Return a marked sheet's reading, with a line of that darkness (grey levels) in the picture at `x`."""
    page = fresh_page((number, 77))
    page.mark(page.choice)
    if darkness:
        width = page.image.shape[1] + 2 * MARGIN_PX
        place = ((first_target() if x is None else x) + MARGIN_PX) / width
        page.settings = page.settings.but(streaks=(Streak(place, darkness, 1.5),))
    return read_sheet([page.picture()], program())


def seen(reading: Reading, its: Program | None = None) -> Lines:
    """Return what a reading tells of the glass."""
    assert reading.evidence is not None
    return lines_in(reading.evidence, its or program())


def told_by(readings: Sequence[Reading]) -> list[int]:
    """Return at which sheets the glass is first said to be dirty."""
    glass = Glass()
    return [number for number, reading in enumerate(readings) if glass.look(seen(reading))]


def test_a_line_that_grows_through_the_targets_is_told_of_before_a_sheet_comes_back():
    readings = [read(number, 5.0 + 2.0 * number) for number in range(9)]
    returned = [number for number, reading in enumerate(readings) if "streak" in reading.reasons]
    (told,) = told_by(readings)
    assert returned, "the deck is too short to hurt"
    assert told < min(returned)


def test_a_line_beside_the_targets_is_told_of_once_and_hurts_nothing():
    box = program().styles[0].box
    readings = [read(number, 20.0, box[2] - 120.0) for number in range(SHEETS + 2)]
    assert [reading.fate for reading in readings] == ["counted"] * len(readings)
    assert len(told_by(readings)) == 1


def test_clean_sheets_tell_nothing():
    assert told_by([read(number, 0.0) for number in range(SHEETS + 1)]) == []


def test_a_line_that_moves_with_the_paper_is_no_dirt():
    at_rest = seen(read(0, 20.0))
    glass = Glass()
    assert [glass.look(at_rest) for _ in range(3 * SHEETS)] == [None] * (3 * SHEETS)


def test_one_sheet_without_the_line_shows_that_it_is_no_dirt_yet():
    striped, clean = [read(number, 16.0) for number in range(SHEETS - 1)], read(0, 0.0)
    assert told_by([*striped, clean, *striped]) == []


def test_after_a_cleaning_the_warning_ends():
    glass = Glass()
    for number in range(SHEETS):
        glass.look(seen(read(number, 16.0)))
    assert glass.is_dirty
    for number in range(3):
        glass.look(seen(read(number, 0.0)))
    assert not glass.is_dirty


def test_a_real_deck_gives_no_false_alarm(shared_folder: Path):
    name = "durant"
    folder = shared_folder / "ballots" / name
    contest = str(real_ballots.definition_of(folder)["contests"][0]["number"])
    sheets = [sheet for sheet in real_sheets(folder.parent, (name,), 1) if sheet[0].endswith(f" {contest}")]
    glass = Glass()
    readings = [(read_sheet(pages, its), its) for _, its, pages in sheets]
    located = [seen(reading, its) for reading, its in readings if reading.evidence is not None]
    assert [glass.look(lines) for lines in located] == [None] * len(located)
    assert len(located) > SHEETS


class AlwaysDirty(Glass):
    """Glass that says at the second sheet that it is dirty, and stays so."""

    sheets = 0

    @property
    def is_dirty(self) -> bool:
        return self.sheets > 1

    def look(self, seen: Lines) -> str | None:
        del seen
        self.sheets += 1
        return "a line at column 812 of picture 1 on 5 sheets" if self.sheets == 2 else None


def test_the_panel_asks_for_a_cleaning_and_the_record_says_so_once(tmp_path: Path):
    bench = Bench(tmp_path, [Paper(str(number)) for number in range(4)])
    bench.glass = AlwaysDirty()
    bench.reader = InlineReader(bench.camera.read, lines_of=lambda _reading: Lines(0, 0.0, 64.0, ()))
    bench.restart()
    bench.scan()
    faults = [record.body for record in bench.records("fault")]
    assert [fault["detail"] for fault in faults if fault["word"] == "dirty_glass"] == [
        "a line at column 812 of picture 1 on 5 sheets"
    ]
    assert "Clean the camera glass" in bench.panel.text
    assert bench.panel.key == "hopper_empty"
    assert len(bench.machine.bins["counted"]) == 4
