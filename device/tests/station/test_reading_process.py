"""Reading in a process of its own: the same readings, and nothing that happens in it harms the station."""

import os
import signal
from collections.abc import Iterator

import numpy as np
import pytest

from device.tests.least_program import least_program
from recount_classifier.program import Option
from recount_classifier.reading import read_sheet
from recount_device.camera import Page
from recount_device.clock import MonotonicClock
from recount_device.reader import Outcome, ReadingFailed, SheetRead
from recount_device.reading_process import ReadingProcess, StandingReader
from recount_protocol.fates import NOT_ACCEPTED, RETURNED

PROGRAM = least_program(
    "governor", "Governor", [Option("D", "Ann", write_in=False), Option("R", "Bob", write_in=False)]
)
PAGES = [np.full((400, 300), 250, np.uint8), np.full((400, 300), 40, np.uint8)]
PATIENCE_S = 20.0


class NoPort:
    """A port that is not open."""

    written_bytes = 0

    def fileno(self) -> int:
        return -1

    def in_waiting(self) -> int:
        return 0


@pytest.fixture
def process() -> Iterator[ReadingProcess]:
    """Give a reading process."""
    process = ReadingProcess()
    yield process
    process.close()


def outcome_of(process: ReadingProcess, pages: list[Page]) -> Outcome | None:
    """Read the pages."""
    process.begin(pages, PROGRAM, expects_test=False)
    process.await_result(PATIENCE_S)
    return process.result()


def test_it_reads_as_the_classifier_does(process: ReadingProcess) -> None:
    here = read_sheet(PAGES, PROGRAM)
    for _ in range(2):
        there = outcome_of(process, PAGES)
        assert isinstance(there, SheetRead)
        assert (there.reading.fate, there.reading.reasons) == (here.fate, here.reasons)
    assert here.fate in (NOT_ACCEPTED, RETURNED)


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
    process.begin(PAGES, PROGRAM, expects_test=False)
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
    process.begin(PAGES, PROGRAM, expects_test=False)
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
    reader.begin(PAGES, PROGRAM, expects_test=False)
    assert isinstance(reader.result(), SheetRead)


def test_a_wait_of_the_stations_clock_ends_with_the_reading(process: ReadingProcess) -> None:
    clock = MonotonicClock(process.descriptors)
    process.begin(PAGES, PROGRAM, expects_test=False)
    clock.wait(NoPort(), clock.now_us() + int(PATIENCE_S * 1e6))
    assert isinstance(process.result(), SheetRead)
    clock.close()
