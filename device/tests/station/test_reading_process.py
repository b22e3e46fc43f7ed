"""Reading in a process of its own: the same readings, and nothing that happens in it harms the station."""

import os
import signal
from collections.abc import Iterator

import cv2
import numpy as np
import pytest

from device.tests.classifier.drawn_pages import fresh_page, program
from device.tests.least_program import least_program
from device.tests.station.test_clock import Closed
from recount_classifier.program import Option, Program
from recount_classifier.reading import read_sheet
from recount_device.camera import Page
from recount_device.clock import MonotonicClock
from recount_device.glass import lines_in
from recount_device.ink_memory import LEARNING_SHEETS
from recount_device.pictures import encode_png
from recount_device.reader import Outcome, ReadingFailed, SheetRead
from recount_device.reading_process import ReadingProcess, StandingReader
from recount_protocol.fates import NOT_ACCEPTED, RETURNED

PROGRAM = least_program(
    "governor", "Governor", [Option("D", "Ann", write_in=False), Option("R", "Bob", write_in=False)]
)
PAGES = [np.full((400, 300), 250, np.uint8), np.full((400, 300), 40, np.uint8)]
PATIENCE_S = 20.0


@pytest.fixture
def process() -> Iterator[ReadingProcess]:
    """Give a reading process."""
    process = ReadingProcess()
    yield process
    process.close()


def outcome_of(
    process: ReadingProcess, pages: list[Page], program: Program = PROGRAM, batch: int = 1
) -> Outcome | None:
    """Read the pages."""
    process.begin(pages, program, expects_test=False, batch=batch)
    process.await_result(PATIENCE_S)
    return process.result()


def test_it_reads_as_the_classifier_does(process: ReadingProcess) -> None:
    here = read_sheet(PAGES, PROGRAM)
    for _ in range(2):
        there = outcome_of(process, PAGES)
        assert isinstance(there, SheetRead)
        assert (there.fate, there.reasons) == (here.fate, here.reasons)
    assert here.fate in (NOT_ACCEPTED, RETURNED)


def scribbled(hand: int) -> Page:
    """Return a voter's page with words of that hand beside the contests."""
    page = fresh_page((1, 5)).picture().copy()
    chance = np.random.default_rng(hand)
    for _ in range(30):
        start = chance.integers(100, [page.shape[1] - 300, page.shape[0] - 300])
        points = np.cumsum(chance.normal(0, 20, (14, 2)), axis=0) + start
        cv2.polylines(page, [points.astype(np.int32)], isClosed=False, color=(30,), thickness=6)
    return page


def read_and_keep(process: ReadingProcess, sheet: int, page: Page, batch: int = 1) -> SheetRead:
    """Read a page that is located, and keep it."""
    outcome = outcome_of(process, [page], program(), batch)
    assert isinstance(outcome, SheetRead)
    assert outcome.style, outcome.reasons
    process.keep(sheet)
    return outcome


def test_it_tells_which_sheet_of_the_batch_a_page_looks_like(process: ReadingProcess) -> None:
    pages = [scribbled(hand) for hand in range(3)]
    for sheet in range(1, LEARNING_SHEETS + 1):
        assert read_and_keep(process, sheet, pages[0]).like == 0
    assert read_and_keep(process, 50, pages[1]).like == 0
    assert read_and_keep(process, 51, pages[2]).like == 0
    assert read_and_keep(process, 52, pages[1]).like == 50
    process.forget(50)
    process.forget(52)
    assert read_and_keep(process, 53, pages[1]).like == 0
    assert read_and_keep(process, 54, pages[2], batch=2).like == 0, "another batch knows nothing of it"


def test_it_gives_the_record_all_that_it_holds_of_a_reading(process: ReadingProcess) -> None:
    page = fresh_page((1, 5)).picture()
    here = read_sheet([page], program())
    there = outcome_of(process, [page], program())
    assert isinstance(there, SheetRead)
    assert here.evidence is not None
    assert there.evidence == here.evidence.to_fields()
    assert there.crop == encode_png(here.evidence.crop)
    assert there.lines == lines_in(here.evidence, program())


def test_there_is_no_result_before_it_is_there_and_none_twice(process: ReadingProcess) -> None:
    assert process.result() is None
    assert list(process.descriptors()) == []
    assert outcome_of(process, PAGES) is not None
    assert process.result() is None


def test_a_reader_that_breaks_down_says_so_and_reads_the_next_sheet(process: ReadingProcess) -> None:
    no_picture = np.zeros((0, 0), np.uint8)
    assert isinstance(outcome_of(process, [no_picture]), ReadingFailed)
    assert isinstance(outcome_of(process, PAGES), SheetRead)


def test_a_process_that_dies_while_it_reads_is_started_anew(process: ReadingProcess) -> None:
    os.kill(process.pid, signal.SIGSTOP)
    process.begin(PAGES, PROGRAM, expects_test=False, batch=1)
    os.kill(process.pid, signal.SIGKILL)
    process.await_result(PATIENCE_S)
    assert process.result() == ReadingFailed("the reading process ended with -9")
    assert isinstance(outcome_of(process, PAGES), SheetRead)


def test_a_process_that_dies_between_two_sheets_is_started_anew(process: ReadingProcess) -> None:
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert isinstance(outcome_of(process, PAGES), SheetRead)


def test_a_process_that_hangs_can_be_given_up(process: ReadingProcess) -> None:
    os.kill(process.pid, signal.SIGSTOP)
    process.begin(PAGES, PROGRAM, expects_test=False, batch=1)
    assert process.result() is None
    process.give_up()
    assert process.result() is None
    assert isinstance(outcome_of(process, PAGES), SheetRead)


def test_a_signal_to_all_processes_leaves_the_reader_to_the_station(process: ReadingProcess) -> None:
    assert isinstance(outcome_of(process, PAGES), SheetRead)
    before = process.pid
    os.kill(before, signal.SIGTERM)
    os.kill(before, signal.SIGINT)
    assert isinstance(outcome_of(process, PAGES), SheetRead)
    assert process.pid == before


def test_where_time_stands_still_the_reading_is_there_at_once(process: ReadingProcess) -> None:
    reader = StandingReader(process, PATIENCE_S)
    reader.begin(PAGES, PROGRAM, expects_test=False, batch=1)
    assert isinstance(reader.result(), SheetRead)


def test_a_wait_of_the_stations_clock_ends_with_the_reading(process: ReadingProcess) -> None:
    clock = MonotonicClock(process.descriptors)
    process.begin(PAGES, PROGRAM, expects_test=False, batch=1)
    clock.wait(Closed(), clock.now_us() + int(PATIENCE_S * 1e6))
    assert isinstance(process.result(), SheetRead)
    clock.close()
