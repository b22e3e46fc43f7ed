"""The serial port of the simulated device: a pseudo terminal whose bytes are counted, so that runs repeat."""

import array
import fcntl
import os
import pty
import select
import termios
import time
import tty

from recount_world.errors import CallError

PATIENCE_S = 5.0
"""Real seconds to wait for bytes that the kernel has taken and not yet passed on."""


class PseudoPort:
    """A pty: the station opens the slave by name, the world holds both ends."""

    def __init__(self) -> None:
        self._master, self._slave = pty.openpty()
        # Held open here, so that a station's death hangs nothing up: a UART knows no hang-up.
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.name = os.ttyname(self._slave)
        self._taken = 0
        self.overflow_bytes = 0
        """Bytes lost because the station let its buffer (4095 bytes) fill up."""

    def close(self) -> None:
        """Close both ends."""
        os.close(self._master)
        os.close(self._slave)

    def readable(self) -> int:
        """Return how many bytes wait for the station."""
        count = array.array("i", [0])
        fcntl.ioctl(self._slave, termios.FIONREAD, count)
        return count[0]

    def give(self, data: bytes) -> None:
        """Send bytes to the station; they are readable when this returns. What does not fit is lost."""
        before = self.readable()
        try:
            sent = os.write(self._master, data)
        except BlockingIOError:
            sent = 0
        self.overflow_bytes += len(data) - sent
        deadline_s = time.monotonic() + PATIENCE_S
        while self.readable() < before + sent:
            if time.monotonic() > deadline_s:
                # Flushed or read meanwhile by a station that is not in a wait: they did get through.
                return
            time.sleep(0)

    def take(self, written: int | None) -> bytes:
        """Return the bytes that the station has written: up to the `written`-th since the port was opened.

        With None, those that are there. Raises CallError when the bytes spoken of do not come.
        """
        if written is None:
            return self._read(65536)
        if written < self._taken:
            raise CallError(f"wait: written is {written}, and {self._taken} bytes have been written already")
        parts: list[bytes] = []
        deadline_s = time.monotonic() + PATIENCE_S
        while self._taken < written:
            part = self._read(written - self._taken)
            parts.append(part)
            if not part:
                left_s = deadline_s - time.monotonic()
                if left_s <= 0 or not select.select([self._master], [], [], left_s)[0]:
                    raise CallError(
                        f"wait: written is {written}, and only {self._taken} bytes came through the port"
                    )
        return b"".join(parts)

    def _read(self, count: int) -> bytes:
        try:
            data = os.read(self._master, count)
        except BlockingIOError:
            return b""
        self._taken += len(data)
        return data
