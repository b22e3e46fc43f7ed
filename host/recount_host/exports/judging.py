"""The pictures of a bundle judged again: here where they are few, on all cores where they are many."""

import multiprocessing
import os
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import NamedTuple, Self

from recount_classifier.program import Program, read_program
from recount_host.errors import OperatorError
from recount_host.exports.judged import judge_again
from recount_host.exports.report import Report
from recount_protocol.records import Record

MANY = 200
"""So many pictures take longer than starting processes for them."""
WAITING_A_CORE = 8
"""Pictures handed to the processes ahead of what they have done: bounds the memory."""


class Case(NamedTuple):
    """One sheet that is judged again."""

    path: str
    """Where its picture stands in the bundle."""
    record: Record
    png: bytes
    program: bytes
    """The hash of the program by which it was judged."""


class Judges:
    """Takes cases and tells the report what became of each, in their order. Use it in a `with`."""

    def __init__(self, report: Report, many: int = MANY) -> None:
        self._report = report
        self._many = many
        self._programs: Mapping[bytes, Program] = {}
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: deque[tuple[Case, Future[str]]] = deque()
        self._cores = os.cpu_count() or 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def begin(self, programs: Mapping[bytes, Program], cases: int) -> None:
        """Take note of all programs, and of how many cases will come."""
        self._programs = programs
        if cases >= self._many and self._cores > 1:
            # Fresh processes: they share neither locks nor libraries' threads with whoever verifies.
            self._pool = ProcessPoolExecutor(
                self._cores,
                multiprocessing.get_context("spawn"),
                _take_programs,
                ([program.to_bytes() for program in programs.values()],),
            )

    def judge(self, case: Case) -> None:
        """Judge a case, now or soon."""
        if self._pool is None:
            self._tell(case, judge_again(case.record, case.png, self._programs[case.program]))
            return
        self._waiting.append((case, self._pool.submit(_judge, case)))
        if len(self._waiting) >= WAITING_A_CORE * self._cores:
            self._tell_oldest()

    def finish(self) -> None:
        """Wait until all cases are judged."""
        while self._waiting:
            self._tell_oldest()

    def _tell_oldest(self) -> None:
        case, coming = self._waiting.popleft()
        try:
            self._tell(case, coming.result())
        except BrokenProcessPool:
            raise OperatorError(
                f"a process that judged pictures was ended near {case.path}: close other programs, "
                "their memory may be needed, and verify again"
            ) from None

    def _tell(self, case: Case, difference: str) -> None:
        self._report.did("crops")
        if difference:
            self._report.fails(case.path, f"sheet {case.record.body['sheet']}: {difference}")


# In the processes

_known: dict[bytes, Program] = {}


def _take_programs(files: Iterable[bytes]) -> None:
    for program in map(read_program, files):
        _known[program.program_hash] = program


def _judge(case: Case) -> str:
    return judge_again(case.record, case.png, _known[case.program])
