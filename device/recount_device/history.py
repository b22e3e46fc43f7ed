"""What the device is in the middle of, folded from all its records: run, batch, sheets, settled acts.

The journal folds each record through here, at the start from the first on and then as it writes; nothing else
remembers. So what a restart finds is what was known before it, record for record.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recount_device.arming import Arming
from recount_device.batch import Batch, FeederCounts
from recount_protocol.records import Record


@dataclass(frozen=True)
class Run:
    """The run that the host assigned."""

    run: str
    precinct: str
    contest: str
    program_hash: bytes
    mode: str
    software: str
    firmware: str


@dataclass
class History:
    """The fold of a device's records."""

    run: Run | None = None
    batch: Batch | None = None
    """The open batch."""
    software: str = ""
    firmware: str = ""
    """What the device and its board were at the last start or opening of a run."""
    last_batch: int = 0
    last_sheet: int = 0
    """The highest sheet number on record; numbers reserved but not on record are the journal's."""
    runs_ended: set[str] = field(default_factory=set[str])
    batches: dict[int, str] = field(default_factory=dict[int, str])
    """Every batch's run, by its number."""
    batches_voided: set[int] = field(default_factory=set[int])
    sheets_settled: set[int] = field(default_factory=set[int])
    arming: Arming = field(default_factory=Arming)

    def take(self, record: Record) -> None:
        """Fold the next record."""
        body: Mapping[str, Any] = record.body
        self.arming.take(record)
        if record.kind in ("device_started", "run_opened"):
            self.software, self.firmware = body["software"], body["firmware"]
        if "sheet" in body:
            self.last_sheet = max(self.last_sheet, body["sheet"])
        match record.kind:
            case "run_opened":
                names = ("precinct", "contest", "program", "mode", "software", "firmware")
                self.run = Run(record.run, *(body[name] for name in names))
            case "run_closed":
                self.run = None
                self.runs_ended.add(record.run)
            case "batch_opened":
                self.last_batch = record.batch
                self.batches[record.batch] = record.run
                self.batch = Batch(record.run, record.batch, FeederCounts(*body["feeder"]))
            case "batch_closed":
                self.batch = None
            case "batch_voided":
                self.batches_voided.add(record.batch)
                if self.batch is not None and self.batch.number == record.batch:
                    self.batch = None
            case _:
                self._take_of_batch(record)

    def _take_of_batch(self, record: Record) -> None:
        if record.kind == "doubt_settled":
            self.sheets_settled.add(record.body["sheet"])
        if self.batch is not None and record.batch == self.batch.number:
            self.batch.take(record)
