"""Writes the device's records: each with its run, its batch, and the feeder's own counts of that moment."""

from collections.abc import Mapping
from typing import Any, Protocol

from recount_device.batch import Batch, FeederCounts
from recount_device.history import History, Run
from recount_device.journal import Entry, Journal
from recount_protocol.fates import NOT_ACCEPTED, SET_ASIDE

TRAYS = (SET_ASIDE, NOT_ACCEPTED)
"""The bins whose sheets are looked for again by their place."""


MAX_DETAIL = 300
"""So much is kept of what a part or a library said when it failed."""


class Outbox(Protocol):
    """Whoever sends the records on."""

    def notify(self) -> None:
        """Hear that the journal holds more than before."""
        ...


class Scribe:
    """The one place that writes to the journal."""

    def __init__(self, journal: Journal, outbox: Outbox) -> None:
        self.journal = journal
        self._outbox = outbox
        self.boot = 0
        """The boot of the feeder's board; 0 before it answered."""
        self._counts: dict[int, FeederCounts] = {}

    @property
    def history(self) -> History:
        """What the records tell."""
        return self.journal.history

    @property
    def batch(self) -> Batch | None:
        """The open batch."""
        return self.history.batch

    def count(self, counts: tuple[int, int, int, int, int]) -> None:
        """Take note of the counts in a message of the board."""
        self._counts[self.boot] = FeederCounts(self.boot, *counts)
        if self.batch is not None:
            self.batch.observe(self._counts[self.boot])

    def counts(self, boot: int | None = None) -> FeederCounts:
        """Return the latest counts of the board: of that boot where they are known, else of the present one.

        A sheet that entered before the board started anew is accounted for in the counts of then.
        """
        zeros = FeederCounts(self.boot, 0, 0, 0, 0, 0)
        present = self._counts.get(self.boot, zeros)
        return present if boot is None else self._counts.get(boot, present)

    def write(self, *entries: Entry) -> None:
        """Put the entries on the disk, all or none, and tell the outbox."""
        self.journal.write(*entries)
        self._outbox.notify()

    def of_device(self, kind: str, body: Mapping[str, Any]) -> Entry:
        """Return an entry that belongs to the run and batch that are open now, if any."""
        run, batch = self.history.run, self.batch
        return Entry(kind, run.run if run else "", batch.number if batch else 0, dict(body))

    def of_fault(self, word: str, detail: str) -> Entry:
        """Return an entry of a fault; of `detail`, whoever said it, what prints on one line."""
        line = "".join(letter if letter.isprintable() else " " for letter in detail)
        return self.of_device("fault", {"word": word, "detail": line[:MAX_DETAIL]})

    def of_run(self, run: str, kind: str, body: Mapping[str, Any], batch: int = 0) -> Entry:
        """Return an entry of a run, or of one of its batches."""
        return Entry(kind, run, batch, dict(body))

    def of_sheet(self, kind: str, boot: int, body: Mapping[str, Any], crop: bytes = b"") -> Entry:
        """Return an entry of a sheet of the open batch, with the feeder's counts."""
        batch = self.open_batch()
        return Entry(kind, batch.run, batch.number, {**body, "feeder": list(self.counts(boot))}, crop)

    def open_batch(self) -> Batch:
        """Return the open batch; only called while a sheet of it is under way."""
        assert self.batch is not None, "a sheet is under way in no batch"
        return self.batch

    def open_run(self) -> Run:
        """Return the open run; only called while a batch of it is open."""
        assert self.history.run is not None, "a batch is open in no run"
        return self.history.run

    def place_in(self, fate: str) -> int:
        """Return the place of the next sheet in its tray, 1 at the bottom; 0 in the counted bin."""
        return self.open_batch().lying_in(fate) + 1 if fate in TRAYS else 0
