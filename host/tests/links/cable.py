"""A serial cable between host and device: a pty that a test may pull out and plug in again."""

import os
import pty
import select
import tty
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from host.tests.links.stand_in import Connection
from recount_host.links.tcp_link import monotonic_ms


class Cable:
    """A pty: the host opens `port`, the device reads and writes the other side. `port` may be re-pointed."""

    def __init__(self, link: Path) -> None:
        self.port = link
        self.device_side = -1
        self.plug_in()

    def plug_in(self) -> None:
        self.device_side, host_side = pty.openpty()
        tty.setraw(host_side)
        os.set_blocking(self.device_side, False)
        self.port.unlink(missing_ok=True)
        self.port.symlink_to(os.ttyname(host_side))
        self._host_side = host_side

    def pull(self) -> None:
        self.port.unlink()
        os.close(self.device_side)
        os.close(self._host_side)

    def serve(self, connection: Connection, until: Callable[[], bool], longest_ms: int = 20_000) -> bool:
        end_ms = monotonic_ms() + longest_ms
        while not until():
            now_ms = monotonic_ms()
            if now_ms > end_ms:
                return False
            unwritten = connection.output(now_ms)
            while unwritten:
                with suppress(BlockingIOError):
                    unwritten = unwritten[os.write(self.device_side, unwritten) :]
                connection.receive(self._read(0.0), monotonic_ms())
            connection.receive(self._read(0.02), monotonic_ms())
        return True

    def _read(self, wait_s: float) -> bytes:
        readable, _, _ = select.select([self.device_side], [], [], wait_s)
        if not readable:
            return b""
        try:
            return os.read(self.device_side, 65_536)
        except OSError:  # the host has not opened its side
            return b""
