"""The seam between the world and a feeder board: what a board says when it waits, what it is told then."""

from collections.abc import Mapping
from typing import NamedTuple, Protocol


class Request(NamedTuple):
    """What a board has done since its last wait, and how long it now waits."""

    outputs: tuple[tuple[int, int], ...] = ()
    """(GPIO, level), in order."""
    pulses: tuple[tuple[int, int], ...] = ()
    """(GPIO, steps a second) of each pulse generator that changed; 0 is off."""
    sent: bytes = b""
    """Bytes that went out of the UART."""
    wait_us: int = 0
    watchdog_ms: int | None = None
    """The watchdog was armed or fed, and bites so long from now."""


class Answer(NamedTuple):
    """What a waiting board is told."""

    now_us: int
    edges: tuple[tuple[int, int, int], ...] = ()
    """(GPIO, level, when) of the inputs, in order of time; all levels at the first wait after power on."""
    received: bytes = b""
    """Bytes that came in at the UART."""


class Board(Protocol):
    """A feeder board: the real firmware in its interpreter, or a scripted one in tests."""

    def power_on(self, boot: int) -> Request | None:
        """Start the board (its `boot`-th start) and let it run to its first wait; None: it died."""
        ...

    def resume(self, answer: Answer) -> Request | None:
        """Answer its wait and let it run to the next one; None: it died or reset itself."""
        ...

    def power_off(self) -> None:
        """Take its power; harmless when it is off."""
        ...

    def memory(self) -> Mapping[str, bytes]:
        """Return the files that its flash holds besides the firmware, by name."""
        ...

    def last_words(self) -> str:
        """Return the last line of the board's log, for an error message."""
        ...
