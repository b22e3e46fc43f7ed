"""What the ledger holds, in memory: read once, then only what was added since.

The ledger only grows, so what was read stays true. Every chain is checked link by link while it is read.
"""

import gc
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, CursorResult, Table, func, select

from recount_host.act import NO_ACT, Act, ActError
from recount_host.law.enrolment import Enrolment, enrolments
from recount_host.ledger import schema
from recount_host.ledger.acts_chain import read_acts
from recount_host.ledger.arrivals import Arrival
from recount_host.ledger.rows import Gap, Newcomer
from recount_host.ledger.sqlite import damaged
from recount_protocol.records import NO_HASH, Record, RecordError, check_next, decode_record, record_hash

_LAST_ROWS = select(
    *(
        select(func.coalesce(func.max(column), 0)).scalar_subquery()
        for column in (
            schema.acts.c.n,
            schema.introduced.c.stored,
            schema.records.c.stored,
            schema.early_records.c.stored,
            schema.crops.c.stored,
            schema.refusals.c.stored,
        )
    )
)
"""The number of the last row of each table that is read."""

FREEZE_EVERY = 5_000
"""Records after which the interpreter is told that what it holds stays.

Else it looks through all of them for garbage, again and again: that took a third of what a record costs here,
and the more there are, the longer everybody waits meanwhile.
"""


class Contents:
    """Acts, records, devices, gaps and due crops as of the last refresh. Not thread-safe by itself."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.acts: list[Act] = []
        self.records: list[Record] = []
        self.devices: Mapping[str, Enrolment] = {}
        self._introduced: dict[str, Newcomer] = {}
        self._introduced_before: int | None = None
        """How many were here when the ledger was opened."""
        self._act_hash = NO_ACT
        self._records_read = 0
        self._introduced_read = 0
        self._crops_read = 0
        self._early_read = 0
        self._frozen = 0
        self._heads: dict[str, tuple[int, bytes]] = {}
        self._early: dict[str, set[int]] = {}
        self._crops_due: dict[str, dict[int, bytes]] = {}
        """Device -> number and hash of each crop that has not come, the lowest number first."""
        self.twins: set[str] = set()
        """Devices whose key is known to be in two places."""
        self._refusals_read = 0
        self.crops_here: set[tuple[str, int]] = set()
        self._decoded: dict[bytes, Record] = {}
        """Records just taken in, by the SHA-256 of their bytes."""

    def refresh(self, connection: Connection) -> None:
        """Read what was added. Raises LedgerDamaged, naming the place, where a chain does not hold."""
        # One look tells which tables have grown: most rounds of the collector find one of them.
        acts, introduced, records, early, crops, refusals = tuple(connection.execute(_LAST_ROWS).one())
        if acts > len(self.acts):
            self._read_acts(connection)
        if introduced > self._introduced_read:
            self._read_introduced(connection)
        if self._introduced_before is None:
            self._introduced_before = len(self._introduced)
        if records > self._records_read:
            self._read_records(connection)
        if early > self._early_read:
            self._read_early(connection)
        if crops > self._crops_read:
            self._read_crops(connection)
        if refusals > self._refusals_read:
            self._read_refusals(connection)

    def expect(self, arrivals: Iterable[Arrival]) -> None:
        """Remember what these records decode to, for the next refresh, which reads their bytes from disk."""
        self._decoded |= {each.digest: each.record for each in arrivals if each.record is not None}

    def head(self, device: str) -> tuple[int, bytes]:
        """Return number and hash of the last record of `device`."""
        return self._heads.get(device, (0, NO_HASH))

    def next_crop_n(self, device: str) -> int:
        """Return the lowest record number whose crop has not come; 0 when none is due."""
        return next(iter(self._crops_due.get(device, ())), 0)

    def crop_due(self, device: str, n: int) -> bytes:
        """Return the hash of the crop of this record while it has not come; else empty."""
        return self._crops_due.get(device, {}).get(n, b"")

    def early(self, device: str) -> Collection[int]:
        """Return the numbers of the records of `device` that came before their predecessors."""
        return self._early.get(device, ())

    @property
    def introduced_since_opening(self) -> int:
        """How many keys were shown for the first time since the ledger was opened."""
        return len(self._introduced) - (self._introduced_before or 0)

    def is_introduced(self, device: str) -> bool:
        """Return whether the key of this device is kept here."""
        return device in self._introduced

    def newcomers(self) -> tuple[Newcomer, ...]:
        """Return the devices that have shown their key and are not enrolled, in the order they came."""
        return tuple(one for one in self._introduced.values() if one.device not in self.devices)

    def gaps(self) -> tuple[Gap, ...]:
        """Return the first stretch of missing records of every device that has one."""
        found: list[Gap] = []
        for device, numbers in self._early.items():
            head, _ = self.head(device)
            waiting = min((n for n in numbers if n > head + 1), default=0)
            if waiting:
                found.append(Gap(device, self.devices[device].name, head + 1, waiting - 1))
        return tuple(found)

    def _read_acts(self, connection: Connection) -> None:
        try:
            fresh, self._act_hash = read_acts(connection, self.acts, self._act_hash)
        except ActError as error:
            raise damaged(self._path, str(error)) from error
        self.acts += fresh
        self.devices = enrolments(self.acts)

    def _read_introduced(self, connection: Connection) -> None:
        for row in _behind(connection, schema.introduced, self._introduced_read):
            self._introduced[row.device] = Newcomer(row.device, row.name, row.public_key, row.first_seen_utc)
            self._introduced_read = row.stored

    def _read_records(self, connection: Connection) -> None:
        columns = ("device", "n", "record")
        for row in _behind(connection, schema.records, self._records_read, *columns):
            digest = record_hash(row.record)
            record = self._sound(row.device, row.n, row.record, digest)
            self.records.append(record)
            self._heads[record.device] = (record.n, digest)
            self._records_read = row.stored
            crop = crop_sha256(record)
            if crop and (record.device, record.n) not in self.crops_here:
                self._crops_due.setdefault(record.device, {})[record.n] = crop
        self._decoded.clear()
        if self._records_read >= self._frozen + FREEZE_EVERY:
            self._frozen = self._records_read
            gc.freeze()

    def _sound(self, device: str, n: int, data: bytes, digest: bytes) -> Record:
        number, head = self.head(device)
        try:
            # The same bytes, by their hash: what they were decoded to when they came.
            record = self._decoded.get(digest) or decode_record(data)
            check_next(head, number + 1, record)
        except RecordError as error:
            raise damaged(self._path, f"record {n} of {device}: {error}") from error
        if (record.device, record.n) != (device, n):
            raise damaged(self._path, f"record {n} of {device} is another one")
        return record

    def _read_early(self, connection: Connection) -> None:
        for row in _behind(connection, schema.early_records, self._early_read, "device", "n"):
            self._early.setdefault(row.device, set()).add(row.n)
            self._early_read = row.stored

    def _read_crops(self, connection: Connection) -> None:
        for row in _behind(connection, schema.crops, self._crops_read, "device", "n"):
            self.crops_here.add((row.device, row.n))
            self._crops_due.get(row.device, {}).pop(row.n, None)
            self._crops_read = row.stored

    def _read_refusals(self, connection: Connection) -> None:
        for row in _behind(connection, schema.refusals, self._refusals_read, "device", "twins"):
            self.twins |= {row.device} if row.twins else set()
            self._refusals_read = row.stored


def crop_sha256(record: Record) -> bytes:
    """Return the SHA-256 of the crop that belongs to `record`; empty when none does."""
    if record.kind != "sheet_judged":
        return b""
    return record.body["crop_sha256"]


def _behind(connection: Connection, table: Table, stored: int, *columns: str) -> CursorResult[Any]:
    """Return the rows of a table behind the one with this number: these columns and `stored`, or all."""
    wanted = [table.c[name] for name in ("stored", *columns)] if columns else [table]
    return connection.execute(select(*wanted).where(table.c.stored > stored).order_by(table.c.stored))
