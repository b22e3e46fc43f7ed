"""A board at a USB port, as mpremote meets it: the real MicroPython interpreter's raw REPL at a pty.

What the interpreter for this machine does not do as a Pico does, is done here: a soft reset ends its process,
where a Pico says `soft reboot` and begins a new prompt.
"""

import os
import pty
import select
import subprocess
import threading
import tty
from pathlib import Path

from recount_world.board_process import interpreter

RAW_PROMPT = b"raw REPL; CTRL-B to exit\r\n>"
INTO_RAW = b"\r\x01"


class ReplBoard:
    """An interpreter behind a pseudo terminal; its files lie in a folder."""

    def __init__(self, flash: Path) -> None:
        self._flash = flash
        self._outer, outer_end = pty.openpty()
        tty.setraw(outer_end)
        self._outer_end = outer_end
        self.port = os.ttyname(outer_end)
        self.starts = 0
        self._stop_here, self._stop_there = os.pipe()
        self._start()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def close(self) -> None:
        os.write(self._stop_there, b"!")
        self._thread.join()
        self._end()
        for descriptor in (self._outer, self._outer_end, self._stop_here, self._stop_there):
            os.close(descriptor)

    def _start(self) -> None:
        self.starts += 1
        self._inner, theirs = pty.openpty()
        tty.setraw(theirs)
        self._process = subprocess.Popen(
            [interpreter(), "-X", "heapsize=192k"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=self._flash,
            start_new_session=True,
        )
        os.close(theirs)

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._inner)

    def _serve(self) -> None:
        while True:
            ready, _, _ = select.select([self._outer, self._inner, self._stop_here], [], [])
            if self._stop_here in ready:
                return
            if self._outer in ready:
                os.write(self._inner, os.read(self._outer, 4096))
            if self._inner in ready:
                self._pass_on()

    def _pass_on(self) -> None:
        try:
            data = os.read(self._inner, 4096)
        except OSError:  # its process has ended: this was a soft reset
            data = b""
        if data:
            os.write(self._outer, data)
            return
        self._end()
        self._start()
        os.write(self._outer, b"soft reboot\r\n")
        os.write(self._inner, INTO_RAW)
        greeting = b""
        while not greeting.endswith(RAW_PROMPT):
            greeting += os.read(self._inner, 4096)
        os.write(self._outer, RAW_PROMPT)
