"""The process that reads: `python -m recount_device.reading_worker PIPE MEMORY`, started by the station.

Takes the words of `reading_words`, and answers each `Read` with a SheetRead or a ReadingFailed. It ends
when the station does: signals are the station's to obey.

What the verdict needs and what it does not wait for go side by side: while one thread judges the contest and
makes its PNG, another compares the page's ink with the sheets kept of this batch. What sheets looked like is
in this process's memory only: it is gone with the batch, and with the process.
"""

import mmap
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from multiprocessing.connection import Connection

import numpy as np

from recount_classifier.evidence import Evidence, Refusal
from recount_classifier.program import Program, read_program
from recount_classifier.reading import judge_located, locate_sheet
from recount_device.camera import Page
from recount_device.glass import lines_in
from recount_device.ink_memory import InkMemory
from recount_device.page_ink import page_ink
from recount_device.reader import Outcome, ReadingFailed, sheet_read
from recount_device.reading_words import MAX_WORD_BYTES, Forget, Keep, Read, Word, outcome_bytes, word_from

SWITCH_S = 0.0005
"""How long a thread keeps the interpreter from the other; Python's own 5 ms is half a judgement."""


class Pages:
    """The pictures in the memory that the station shares, without a copy."""

    def __init__(self, memory: int) -> None:
        self._memory = memory
        self._mapped = np.zeros(0, np.uint8)

    def seen(self, shapes: Sequence[tuple[int, int]]) -> list[Page]:
        """Return the pictures that lie there one after the other."""
        size = os.fstat(self._memory).st_size
        if size > self._mapped.size:
            # Kept from sheet to sheet: a new mapping costs a fault for every page of it.
            self._mapped = np.frombuffer(mmap.mmap(self._memory, size, prot=mmap.PROT_READ), np.uint8)
        pages: list[Page] = []
        start = 0
        for rows, columns in shapes:
            pages.append(self._mapped[start : start + rows * columns].reshape(rows, columns))
            start += rows * columns
        return pages


class SheetReader:
    """Reads sheets, and remembers those of the batch."""

    def __init__(self) -> None:
        self._beside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ink")
        self._inks = InkMemory()
        self._batch = 0
        self._program: Program | None = None

    def take(self, word: Word, pages: Pages) -> Outcome | None:
        """Do what the station says; return what it waits for."""
        match word:
            case Keep():
                self._inks.keep(word.sheet)
            case Forget():
                self._inks.forget(word.sheet)
            case Read():
                return self._read(word, pages.seen(word.shapes))
        return None

    def _read(self, word: Read, pages: Sequence[Page]) -> Outcome:
        """Return what came of a sheet; nothing is raised, whatever its pictures do to the classifier."""
        if word.program:
            self._program = read_program(word.program)
        assert self._program is not None, "the station sends the program before the first sheet"
        if word.batch != self._batch:
            # What a voter's page looks like is kept no longer than its batch is open.
            self._inks, self._batch = InkMemory(), word.batch
        try:
            return self._outcome(pages, self._program, word)
        except Exception as error:  # noqa: BLE001  whatever it is, this sheet has no reading: people count it
            traceback.print_exc()
            return ReadingFailed(f"{type(error).__name__}: {error}")

    def _outcome(self, pages: Sequence[Page], program: Program, word: Read) -> Outcome:
        located = locate_sheet(pages, program, expects_test=word.expects_test, lens=word.lens)
        like = self._beside.submit(self._looks_like, pages, located, program)
        try:
            lines = lines_in(located, program) if isinstance(located, Evidence) else None
            return replace(sheet_read(judge_located(located, program), lines), like=like.result())
        finally:
            wait([like])  # also after an error: the next sheet finds the memory at rest

    def _looks_like(self, pages: Sequence[Page], located: Evidence | Refusal, program: Program) -> int:
        """Return the sheet kept of this batch that this one looks like; 0 for none."""
        ink = None
        if isinstance(located, Evidence):
            ink = page_ink(pages[located.side_index], located, program.styles_by_id[located.style_id])
        return self._inks.look(ink) or 0


def serve(connection: Connection, memory: int) -> None:
    """Do what the station says until its end is closed."""
    reader, pages = SheetReader(), Pages(memory)
    while True:
        try:
            word = word_from(connection.recv_bytes(MAX_WORD_BYTES))
        except EOFError:
            return
        outcome = reader.take(word, pages)
        if outcome is not None:
            connection.send_bytes(outcome_bytes(outcome))


def main(words: Sequence[str]) -> int:
    """Serve at the descriptors that the station handed over."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    sys.setswitchinterval(SWITCH_S)
    pipe, memory = map(int, words)
    try:
        serve(Connection(pipe), memory)
    except (BrokenPipeError, ConnectionResetError):
        return 0  # the station is gone, and with it whoever wanted the reading
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
