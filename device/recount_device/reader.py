"""The reader's seam: a sheet's pictures in, and its reading a while later, while the station goes on.

The station keeps the feeder's link alive while a sheet is read, however slow the machine is. Who reads
(a process, a thread, a test) is chosen where the device is put together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from recount_classifier.program import Program
from recount_classifier.reading import Reading
from recount_device.camera import Page
from recount_device.glass import Lines
from recount_device.pictures import encode_png


@dataclass(frozen=True, eq=False)
class SheetRead:
    """What came of a sheet's pictures: all that the station needs of them."""

    fate: str
    choices: tuple[str, ...]
    reasons: tuple[str, ...]
    style: str = ""
    """Empty, as all that follows, for a sheet whose contest was not located."""
    evidence: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The evidence but for its crop, in plain values."""
    crop: bytes = b""
    """The evidence's crop as PNG."""
    lines: Lines | None = None
    """What the crop tells of the camera's glass."""
    like: int = 0
    """The sheet kept of this batch that this one looks like; 0 for none."""


@dataclass(frozen=True)
class ReadingFailed:
    """There is no reading of these pictures: the reader broke down over them."""

    why: str


Outcome = SheetRead | ReadingFailed


def sheet_read(reading: Reading, lines: Lines | None = None, like: int = 0) -> SheetRead:
    """Return a reading as the station needs it."""
    evidence = reading.evidence
    if evidence is None:
        return SheetRead(reading.fate, reading.choices, reading.reasons)
    return SheetRead(
        reading.fate,
        reading.choices,
        reading.reasons,
        evidence.style_id,
        evidence.to_fields(),
        encode_png(evidence.crop),
        lines,
        like,
    )


class Reader(Protocol):
    """Reads one sheet at a time, and tells whether it looks like one that was kept of its batch."""

    def begin(self, pages: Sequence[Page], program: Program, *, expects_test: bool, batch: int) -> None:
        """Begin to read these pictures; only called while nothing is being read.

        `expects_test`: the sheet must bear the TEST mark; else it must not. Sheets kept of other batches
        than `batch` are forgotten.
        """
        ...

    def result(self) -> Outcome | None:
        """Return what came of it, once; None while it is being read, and where nothing is."""
        ...

    def keep(self, sheet: int) -> None:
        """Keep the sheet read last, under this number, to tell whether it comes again."""
        ...

    def forget(self, sheet: int) -> None:
        """Forget a sheet that was kept: it goes back to the stack, and comes again."""
        ...

    def give_up(self) -> None:
        """Stop reading what is being read, and forget it."""
        ...

    def close(self) -> None:
        """End the reader."""
        ...
