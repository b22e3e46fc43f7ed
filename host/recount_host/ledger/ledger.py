"""The ledger of one locality: what devices reported and what people did, kept for good.

One file, many programs: `recount-host serve` adds records, every command may append acts, all read. Records
are verified on receipt and stored as they came. Nothing is changed or removed afterwards (see schema.py).
"""

import hashlib
import threading
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from sqlalchemy import Connection, Table, func, insert, select

from recount_host.act import Act, Person
from recount_host.law.enrolment import Enrolment
from recount_host.ledger import acts_chain, intake, schema
from recount_host.ledger.arrivals import Arrival, arrived
from recount_host.ledger.checkers import Checkers, Share
from recount_host.ledger.contents import Contents
from recount_host.ledger.rows import Gap, Newcomer, Outcome, Refusal, StoredRecord
from recount_host.ledger.sqlite import damaged, open_engine, reading, writing
from recount_protocol.records import Record, decode_record

LEDGER_FILE = "ledger.sqlite"
"""Its name in the data folder of a locality."""


@dataclass(frozen=True)
class LookedAt:
    """Records on their way into the ledger: decoded, their signatures checked or being checked."""

    arrivals: Sequence[Arrival]
    shares: Sequence[Share]


class Turn:
    """One person's turn at the ledger: what was read still holds when the act is appended."""

    def __init__(
        self,
        connection: Connection,
        acts: tuple[Act, ...],
        records: tuple[Record, ...],
        clock: Callable[[], str],
    ) -> None:
        self._connection = connection
        self._acts = acts
        self._records = records
        self._clock = clock

    def acts(self) -> tuple[Act, ...]:
        """Return every act, those of this turn included."""
        return self._acts

    def records(self) -> tuple[Record, ...]:
        """Return every record, in the order they came; of one device always in the order of their numbers."""
        return self._records

    def append(self, kind: str, by: Sequence[Person], body: Mapping[str, Any]) -> Act:
        """Append an act; it is on disk when the turn ends without an error, and not at all otherwise."""
        act = acts_chain.append(self._connection, kind, by, body, self._clock())
        self._acts = (*self._acts, act)
        return act


class Ledger:
    """The open ledger. Threads may share it; close it at the end, or use it in a `with`."""

    def __init__(self, path: Path, *, create: bool = True, clock: "Callable[[], str] | None" = None) -> None:
        """Open the ledger at `path`, made when absent and `create`.

        `clock` gives the host's time as text (ISO 8601, Z). Raises LedgerMissing, LedgerDamaged, LedgerBusy.
        """
        self.path = path
        self._clock = clock or utc_now
        self._engine = open_engine(path, create=create)
        self._file = _identity(path)
        self._lock = threading.Lock()
        self._contents = Contents(path)
        self._checkers = Checkers()
        try:
            self._refreshed()
        except BaseException:
            self._engine.dispose()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._checkers.close()
        self._engine.dispose()

    # What is in it

    def acts(self) -> tuple[Act, ...]:
        """Return every act in order."""
        return tuple(self._refreshed().acts)

    def act_bytes(self) -> tuple[bytes, ...]:
        """Return every act's bytes as they were written, in order."""
        with reading(self._engine, self.path) as connection:
            return tuple(connection.execute(select(schema.acts.c.act).order_by(schema.acts.c.n)).scalars())

    def records(self, device: str | None = None) -> tuple[Record, ...]:
        """Return the records (of one device) in the order they came: of one device, that of their numbers."""
        records = self._refreshed().records
        return tuple(record for record in records if device is None or record.device == device)

    def records_after(self, count: int) -> tuple[Record, ...]:
        """Return the records behind the first `count`, in the order they came."""
        return tuple(self._refreshed().records[count:])

    def stored_records(self, device: str | None = None) -> tuple[StoredRecord, ...]:
        """Return the records with their bytes, signatures and times of receipt."""
        return self._stored(schema.records, device)

    def early_records(self) -> tuple[StoredRecord, ...]:
        """Return the records that came before their predecessors, in the order they came."""
        return self._stored(schema.early_records, None)

    def _stored(self, table: Table, device: str | None) -> tuple[StoredRecord, ...]:
        query = select(table).order_by(table.c.stored)
        if device is not None:
            query = query.where(table.c.device == device)
        with reading(self._engine, self.path) as connection:
            rows = connection.execute(query).all()
        return tuple(
            StoredRecord(decode_record(row.record), row.record, row.signature, row.received_utc)
            for row in rows
        )

    def devices(self) -> tuple[Enrolment, ...]:
        """Return the devices enrolled so far, those revoked since included, in the order of their acts."""
        return tuple(self._refreshed().devices.values())

    def newcomers(self) -> tuple[Newcomer, ...]:
        """Return the devices that have shown their key and wait for their enrolment."""
        return self._refreshed().newcomers()

    def gaps(self) -> tuple[Gap, ...]:
        """Return what is surely missing: a later signed record of the same device has come."""
        return self._refreshed().gaps()

    def refusals(self) -> tuple[Refusal, ...]:
        """Return what was not taken, in the order it came, each cause once."""
        with reading(self._engine, self.path) as connection:
            table = schema.refusals
            names = ("stored", "device", "name", "why", "record_n", "utc")
            columns = [table.c[name] for name in names]
            rows = connection.execute(select(*columns).order_by(table.c.stored)).all()
        return tuple(Refusal(*row) for row in rows)

    def refused_bytes(self, n: int) -> bytes | None:
        """Return what was kept of the bytes of refusal `n`, or None when there is no such refusal."""
        query = select(schema.refusals.c.evidence).where(schema.refusals.c.stored == n)
        with reading(self._engine, self.path) as connection:
            return connection.execute(query).scalar_one_or_none()

    def head(self, device: str) -> tuple[int, bytes]:
        """Return number and hash of the last record of `device`; (0, 32 zero bytes) when there is none."""
        return self._refreshed().head(device)

    def mark(self) -> tuple[int, ...]:
        """Return a few numbers that differ whenever anything was added, by whichever program."""
        tables = (
            schema.acts.c.n,
            schema.records.c.stored,
            schema.crops.c.stored,
            schema.early_records.c.stored,
        )
        rest = (schema.introduced.c.stored, schema.programs.c.stored, schema.refusals.c.stored)
        with reading(self._engine, self.path) as connection:
            row = connection.execute(
                select(*(select(func.coalesce(func.max(c), 0)).scalar_subquery() for c in (*tables, *rest)))
            ).one()
        return tuple(row)

    # What people do

    def append_act(self, kind: str, by: Sequence[Person], body: Mapping[str, Any]) -> Act:
        """Append one act that needs no look at the ledger before."""
        with self._writing() as connection:
            return acts_chain.append(connection, kind, by, body, self._clock())

    @contextmanager
    def deciding(self) -> Generator[Turn]:
        """Yield a Turn: read, decide and append while no other program can write. Keep it short.

        Whatever the block raises undoes the whole turn.
        """
        with self._writing() as connection:
            with self._lock:
                self._contents.refresh(connection)
                acts = tuple(self._contents.acts)
                records = tuple(self._contents.records)
            yield Turn(connection, acts, records, self._clock)

    # What devices send

    def introduce(self, device: str, name: str, public_key: bytes, next_n: int, head: bytes) -> Outcome:
        """Take an introduction, whose proof was checked: refused when key, name or chain do not fit.

        NOT_ENROLLED where no act enrolled this key; the key is kept, for people to compare.
        """
        claim = intake.Introduction(device, name, public_key, next_n, head)
        with self._writing() as connection:
            return intake.introduce(connection, self._as_of(connection), claim, self._clock())

    def add_record(self, data: bytes, signature: bytes) -> Outcome:
        """Verify one record and store it; on disk when this returns."""
        return self.add_records([(data, signature)])[0]

    def add_records(self, items: Sequence[tuple[bytes, bytes]]) -> list[Outcome]:
        """Verify and store records in this order in one transaction; on disk when this returns."""
        return self.add_looked_at(self.look_at(items))

    def look_at(self, items: Sequence[tuple[bytes, bytes]]) -> "LookedAt":
        """Decode records and begin to check their signatures: what takes long and needs no ledger.

        Many are checked by other processes, while this one writes down what was looked at before.
        """
        arrivals = arrived(items)
        return LookedAt(arrivals, self._checkers.begin(arrivals, self._key_of))

    def add_looked_at(self, looked_at: "LookedAt") -> list[Outcome]:
        """Store records that were looked at, each with its signature checked; on disk when this returns."""
        self._checkers.finish(looked_at.shares)
        with self._writing() as connection:
            contents = self._as_of(connection)
            outcomes = intake.add_records(connection, contents, looked_at.arrivals, self._clock())
            with self._lock:
                self._contents.expect(looked_at.arrivals)
        return outcomes

    def _key_of(self, device: str) -> bytes:
        """Return the key of an enrolled device as far as is known now; empty where none is."""
        known = self._contents.devices.get(device)
        return known.public_key if known else b""

    def add_crop(self, device: str, n: int, png: bytes) -> Outcome:
        """Store the crop of record `n`, if it is the very one that the record names by its SHA-256."""
        return self.add_crops([(device, n, png)])[0]

    def add_crops(self, crops: Sequence[tuple[str, int, bytes]]) -> list[Outcome]:
        """Store crops (device, record number, PNG) in one transaction; on disk when this returns."""
        with self._writing() as connection:
            return intake.add_crops(connection, self._as_of(connection), crops, self._clock())

    def crop(self, device: str, n: int) -> bytes | None:
        """Return the PNG of record `n`, or None when it has not come."""
        query = select(schema.crops.c.png).where(schema.crops.c.device == device, schema.crops.c.n == n)
        with reading(self._engine, self.path) as connection:
            return connection.execute(query).scalar_one_or_none()

    def crops(self) -> frozenset[tuple[str, int]]:
        """Return device and record number of every crop that has come."""
        return frozenset(self._refreshed().crops_here)

    def next_crop_n(self, device: str) -> int:
        """Return the lowest record number of `device` whose crop has not come; 0 when none is due."""
        return self.next_crops([device])[device]

    def next_crops(self, devices: Iterable[str]) -> Mapping[str, int]:
        """Return the same for several devices."""
        contents = self._refreshed()
        return {device: contents.next_crop_n(device) for device in devices}

    # Contest programs

    def add_program(self, program_hash: bytes, data: bytes) -> bool:
        """Keep a contest program under its hash; False when it is here already."""
        table = schema.programs
        with self._writing() as connection:
            if connection.execute(select(table.c.hash).where(table.c.hash == program_hash)).first():
                return False
            connection.execute(insert(table).values(hash=program_hash, data=data))
            return True

    def program(self, program_hash: bytes) -> bytes | None:
        """Return the file of a contest program, or None."""
        query = select(schema.programs.c.data).where(schema.programs.c.hash == program_hash)
        with reading(self._engine, self.path) as connection:
            return connection.execute(query).scalar_one_or_none()

    def program_hashes(self) -> tuple[bytes, ...]:
        """Return the hashes of all contest programs, oldest first."""
        query = select(schema.programs.c.hash).order_by(schema.programs.c.stored)
        with reading(self._engine, self.path) as connection:
            return tuple(connection.execute(query).scalars())

    # Scans of signed papers

    def add_scan(self, data: bytes) -> bytes:
        """Keep the scan of a paper under the SHA-256 of its file, and return that; once is enough."""
        digest = hashlib.sha256(data).digest()
        table = schema.scans
        with self._writing() as connection:
            if not connection.execute(select(table.c.stored).where(table.c.sha256 == digest)).first():
                connection.execute(insert(table).values(sha256=digest, data=data))
        return digest

    def scan(self, sha256: bytes) -> bytes | None:
        """Return the scan with this hash, or None."""
        query = select(schema.scans.c.data).where(schema.scans.c.sha256 == sha256)
        with reading(self._engine, self.path) as connection:
            return connection.execute(query).scalar_one_or_none()

    def refuse_twins(self, device: str, name: str, why: str, evidence: bytes) -> None:
        """Keep that this device's key is in two places, as the links have seen; nothing more is taken."""
        with self._writing() as connection:
            intake.refuse(connection, device, name, why, evidence, self._clock(), twins=True)

    def twins(self) -> frozenset[str]:
        """Return the devices whose key is known to be in two places."""
        return frozenset(self._refreshed().twins)

    def _as_of(self, connection: Connection) -> Contents:
        """Return what the ledger holds as of this transaction; while it writes, nobody else adds to that."""
        with self._lock:
            self._contents.refresh(connection)
            return self._contents

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        """Yield a writing transaction. Raises LedgerDamaged when the open file is not the one at `path` now.

        A file that was moved or removed would go on taking records, and nobody would find them.
        """
        if _identity(self.path) != self._file:
            raise damaged(self.path, "it was moved or removed while it was open")
        with writing(self._engine, self.path) as connection:
            yield connection

    def _refreshed(self) -> Contents:
        with reading(self._engine, self.path) as connection, self._lock:
            self._contents.refresh(connection)
            return self._contents


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells one file from another at the same place; None when there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def open_ledger(folder: Path, *, create: bool = False) -> Ledger:
    """Return the ledger in the data folder of a locality."""
    return Ledger(folder / LEDGER_FILE, create=create)


def utc_now() -> str:
    """Return the host's wall clock as text; it annotates, nothing is ordered by it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
