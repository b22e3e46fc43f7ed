"""The station's clock: monotonic microseconds, and the one place where the station waits.

Who owns the clock owns time: on the device it is the kernel's monotonic clock, in training and tests the
simulated world's. The station, the feeder link and the camera take time from here only. The link to the host
has a peer in the real world and keeps real time.
"""

import os
import select
import time
from collections.abc import Callable, Sequence
from typing import Protocol


class Waitable(Protocol):
    """A port whose bytes the clock waits for."""

    @property
    def written_bytes(self) -> int:
        """How many bytes were written to the port since it was opened."""
        ...

    def fileno(self) -> int:
        """Return the descriptor to wait on, or -1 while the port is not open."""
        ...

    def in_waiting(self) -> int:
        """Return how many bytes can be read at once."""
        ...


class Clock(Protocol):
    """Monotonic time, and waiting in it."""

    def now_us(self) -> int:
        """Return the microseconds since some fixed moment."""
        ...

    def wait(self, port: Waitable, until_us: int) -> int:
        """Wait for bytes, a button or `until_us`; return how many bytes the port holds then."""
        ...


class MonotonicClock:
    """The kernel's clock; `wake()` may be called from any thread (buttons, the link to the host)."""

    def __init__(self, others: Callable[[], Sequence[int]] = lambda: ()) -> None:
        """`others` gives the descriptors, besides the port's, that end a wait when they become readable."""
        self._others = others
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)

    def now_us(self) -> int:
        """Return CLOCK_MONOTONIC in microseconds."""
        return time.monotonic_ns() // 1000

    def wake(self) -> None:
        """End the wait that is going on, or the next one."""
        try:
            os.write(self._wake_write, b"!")
        except BlockingIOError:
            return  # a full pipe wakes as well as one more byte would

    def wait(self, port: Waitable, until_us: int) -> int:
        """Wait in select() on all of them; an unplugged port is ready, and its read tells."""
        descriptor = port.fileno()
        watched = [self._wake_read, *self._others()]
        if descriptor >= 0:
            watched.append(descriptor)
        timeout_s = max(0.0, (until_us - self.now_us()) / 1e6)
        ready, _, _ = select.select(watched, [], [], timeout_s)
        if self._wake_read in ready:
            os.read(self._wake_read, 4096)
        return port.in_waiting()

    def close(self) -> None:
        """Give the wake pipe back."""
        os.close(self._wake_read)
        os.close(self._wake_write)
