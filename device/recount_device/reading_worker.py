"""The process that reads: `python -m recount_device.reading_worker PIPE MEMORY`, started by the station.

Takes (shapes of the pictures in the shared memory, contest program or b"" for the one before, whether a TEST
mark is expected) and answers with a SheetRead or a ReadingFailed. It ends when the station does: signals are
the station's to obey.
"""

import mmap
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing.connection import Connection

import numpy as np

from recount_classifier.program import Program, read_program
from recount_classifier.reading import Reading, read_sheet
from recount_device.camera import Page
from recount_device.page_ink import PageInk, page_ink
from recount_device.reader import Outcome, ReadingFailed, SheetRead
from recount_protocol.fates import RETURNED


def pages_in(memory: int, shapes: Sequence[tuple[int, int]]) -> list[Page]:
    """Return the pictures that lie one after the other in the shared memory, without a copy."""
    mapped = mmap.mmap(memory, os.fstat(memory).st_size, prot=mmap.PROT_READ)
    pages: list[Page] = []
    start = 0
    for rows, columns in shapes:
        pages.append(np.frombuffer(mapped, np.uint8, rows * columns, start).reshape(rows, columns))
        start += rows * columns
    return pages


def read(pages: Sequence[Page], program: Program, *, expects_test: bool) -> Outcome:
    """Return the reading of a sheet, without its measurements: the record holds what they are made from."""
    try:
        reading = read_sheet(pages, program, expects_test=expects_test)
        return SheetRead(replace(reading, verdict=None), _ink(pages, reading, program))
    except Exception as error:  # noqa: BLE001  whatever it is, this sheet has no reading: people count it
        traceback.print_exc()
        return ReadingFailed(f"{type(error).__name__}: {error}")


def _ink(pages: Sequence[Page], reading: Reading, program: Program) -> PageInk | None:
    """Return the ink of the page that the verdict was read from."""
    evidence = reading.evidence
    if evidence is None or reading.fate == RETURNED:
        return None
    return page_ink(pages[evidence.side_index], evidence, program.styles_by_id[evidence.style_id])


def serve(connection: Connection, memory: int) -> None:
    """Read what comes until the station's end is closed."""
    program: Program | None = None
    while True:
        try:
            shapes, content, expects_test = connection.recv()
        except EOFError:
            return
        if content:
            program = read_program(content)
        assert program is not None, "the station sends the program before the first sheet"
        connection.send(read(pages_in(memory, shapes), program, expects_test=expects_test))


def main(words: Sequence[str]) -> int:
    """Serve at the descriptors that the station handed over."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    pipe, memory = map(int, words)
    try:
        serve(Connection(pipe), memory)
    except (BrokenPipeError, ConnectionResetError):
        return 0  # the station is gone, and with it whoever wanted the reading
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
