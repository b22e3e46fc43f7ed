"""Reads sheets in a process of its own: the station's end. `reading_worker` is the other.

Pictures lie in memory that both processes see, the reading comes back over a pipe. A reader that hangs is
ended and started anew, and one that breaks down over a picture takes nothing with it: the station goes on,
and the sheet goes back to the operator.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Pipe

import numpy as np

from recount_classifier.lens import Lens
from recount_classifier.program import Program
from recount_device.camera import Page
from recount_device.reader import Outcome, ReadingFailed
from recount_device.reading_words import (
    MAX_OUTCOME_BYTES,
    MAX_WHY,
    Forget,
    Keep,
    Read,
    Word,
    outcome_from,
    word_bytes,
)
from recount_protocol.fields import FieldError

NO_SPINNING = {
    "OPENBLAS_NUM_THREADS": "1",
    "OPENCV_THREAD_POOL_ACTIVE_WAIT_MAIN": "0",
    "OPENCV_THREAD_POOL_ACTIVE_WAIT_WORKER": "0",
}
"""The libraries' threads wait for work by running in circles. Measured on two cores: one of them was lost to
everybody else while sheets were read, and two threads took as long as one after the other."""

END_PATIENCE_S = 2.0
"""How long the process may take to end by itself."""


class ReadingProcess:
    """A process that reads one sheet at a time; started at once, so that it is ready for the first."""

    def __init__(self, lens: Lens | None = None) -> None:
        """`lens` is the calibration of the camera that takes the fronts."""
        self._lens = lens
        self._memory = os.memfd_create("pages")
        self._is_reading = False
        self._start()

    def _start(self) -> None:
        self._connection, theirs = Pipe()
        self._known_program = b""
        # -P: what lies in the working folder is no part of this program.
        words = (sys.executable, "-P", "-m", "recount_device.reading_worker")
        handed_over = (theirs.fileno(), self._memory)
        self._process = subprocess.Popen(  # noqa: S603  this very program, under another name
            [*words, *map(str, handed_over)],
            pass_fds=handed_over,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **NO_SPINNING},
        )
        theirs.close()

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def begin(self, pages: Sequence[Page], program: Program, *, expects_test: bool, batch: int) -> None:
        """Have the process read these pictures; it is started anew where it has ended."""
        assert not self._is_reading, "one sheet at a time"
        if self._process.poll() is not None:
            self._end()
            self._start()
        start = 0
        for page in pages:
            os.pwrite(self._memory, np.ascontiguousarray(page).reshape(-1).data, start)
            start += page.size
        content = b"" if program.program_hash == self._known_program else program.to_bytes()
        shapes = tuple((page.shape[0], page.shape[1]) for page in pages)
        self._is_reading = True
        self._say(Read(shapes, content, expects_test, batch, self._lens))
        self._known_program = program.program_hash

    def _say(self, word: Word) -> None:
        with suppress(OSError):  # it has just ended: `result` tells, or the next `begin`
            self._connection.send_bytes(word_bytes(word))

    def keep(self, sheet: int) -> None:
        """Have the process keep the sheet read last."""
        self._say(Keep(sheet))

    def forget(self, sheet: int) -> None:
        """Have the process forget a sheet that it kept."""
        self._say(Forget(sheet))

    def result(self) -> Outcome | None:
        """Return the reading, or that the process failed over it; None while it is reading."""
        if not self._is_reading:
            return None
        try:
            if not self._connection.poll():
                return None
            data = self._connection.recv_bytes(MAX_OUTCOME_BYTES)
        except (EOFError, OSError):
            return ReadingFailed(f"the reading process ended with {self._anew()}")
        try:
            outcome = outcome_from(data)
        except FieldError as error:
            self._anew()
            return ReadingFailed(f"the reading process said what is no reading: {error}"[:MAX_WHY])
        self._is_reading = False
        return outcome

    def give_up(self) -> None:
        """End a process that is reading, and start it anew."""
        if self._is_reading:
            self._anew()

    def await_result(self, limit_s: float) -> None:
        """Wait until there is a result, so long at most."""
        if self._is_reading:
            self._connection.poll(limit_s)

    def descriptors(self) -> Sequence[int]:
        """Return what becomes readable when there is a result."""
        return (self._connection.fileno(),) if self._is_reading else ()

    def _anew(self) -> int:
        """End the process and start another; return the exit code of the one that ended."""
        self._is_reading = False
        code = self._end()
        self._start()
        return code

    def _end(self) -> int:
        """End the process, at once; return its exit code."""
        self._connection.close()
        self._process.kill()
        return self._process.wait()

    def close(self) -> None:
        """Let the process end, by force where it does not."""
        self._connection.close()
        try:
            self._process.wait(0 if self._is_reading else END_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._end()
        os.close(self._memory)


class StandingReader:
    """A reading process in a world whose time stands still while the device computes.

    `begin` returns when the reading is done: so it takes none of the world's time, and a run repeats exactly.
    """

    def __init__(self, process: ReadingProcess, limit_s: float) -> None:
        """`limit_s` is in real seconds; what is not read by then is given up by the station."""
        self._process = process
        self._limit_s = limit_s

    def begin(self, pages: Sequence[Page], program: Program, *, expects_test: bool, batch: int) -> None:
        """Read these pictures."""
        self._process.begin(pages, program, expects_test=expects_test, batch=batch)
        self._process.await_result(self._limit_s)

    def result(self) -> Outcome | None:
        """Return the reading; None where it was not done within the limit."""
        return self._process.result()

    def keep(self, sheet: int) -> None:
        """Keep the sheet read last."""
        self._process.keep(sheet)

    def forget(self, sheet: int) -> None:
        """Forget a sheet that was kept."""
        self._process.forget(sheet)

    def give_up(self) -> None:
        """End a process that is reading still."""
        self._process.give_up()

    def close(self) -> None:
        """End the process."""
        self._process.close()
