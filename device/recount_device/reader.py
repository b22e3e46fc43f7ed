"""The reader's seam: a sheet's pictures in, and its reading a while later, while the station goes on.

The station keeps the feeder's link alive while a sheet is read, however slow the machine is. Who reads
(a process, a thread, a test) is chosen where the device is put together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recount_classifier.program import Program
from recount_classifier.reading import Reading
from recount_device.camera import Page
from recount_device.page_ink import PageInk


@dataclass(frozen=True, eq=False)
class SheetRead:
    """What came of a sheet's pictures."""

    reading: Reading
    ink: PageInk | None = None
    """The ink of the page that bears the contest, where it was located."""


@dataclass(frozen=True)
class ReadingFailed:
    """There is no reading of these pictures: the reader broke down over them."""

    why: str


Outcome = SheetRead | ReadingFailed


class Reader(Protocol):
    """Reads one sheet at a time."""

    def begin(self, pages: Sequence[Page], program: Program, *, expects_test: bool) -> None:
        """Begin to read these pictures; only called while nothing is being read.

        `expects_test`: the sheet must bear the TEST mark; else it must not.
        """
        ...

    def result(self) -> Outcome | None:
        """Return what came of it, once; None while it is being read, and where nothing is."""
        ...

    def give_up(self) -> None:
        """Stop reading what is being read, and forget it."""
        ...

    def close(self) -> None:
        """End the reader."""
        ...
