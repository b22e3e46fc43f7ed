"""The journal: every record of this device, on its disk before anything that depends on it moves.

SQLite in WAL mode with synchronous=FULL: of all settings tried, one that never lost an acknowledged row at a
power cut. One writer, the station; the link to the host reads the same file through connections of its own
(JournalReader): the journal is the outbox. Nothing is ever changed or deleted.

Opening checks every record: its bytes, its signature, its place in the chain. A journal that is not what was
written is refused in words, for people to decide; it is never repaired in silence. What is sound of it is
copied into a file beside it (salvage.py). An older copy of the whole folder has no fault in itself: the host
notices it, and refuses the device.
"""

import fcntl
import os
import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from zlib import crc32

from recount_device.durable import force_folder, write_durably
from recount_device.errors import JournalDamaged, OperatorError
from recount_device.history import History
from recount_device.identity import Identity
from recount_device.salvage import SOUND_FILE, SPOILED, salvage
from recount_protocol.errors import RecordError
from recount_protocol.records import (
    NO_HASH,
    Record,
    check_next,
    decode_record,
    encode_record,
    record_hash,
    sign,
    verify,
)

JOURNAL_FILE = "journal.sqlite"
LOCK_FILE = "device.lock"
BEGUN_FILE = "journal.begun"
"""Lies beside a journal that was begun: without it a file that was emptied or lost would be begun anew."""
FORMAT = 2
"""The `user_version` of the schema."""
WHAT_TO_DO = "keep the folder, tell the officials, and begin a new journal"

SCHEMA = """
CREATE TABLE records (n INTEGER PRIMARY KEY, bytes BLOB NOT NULL, signature BLOB NOT NULL) STRICT;
CREATE TABLE crops (n INTEGER PRIMARY KEY, sha256 BLOB NOT NULL, png BLOB NOT NULL) STRICT;
CREATE TABLE feeding (only INTEGER PRIMARY KEY CHECK (only = 1),
    sheet INTEGER NOT NULL, batch INTEGER NOT NULL, boot INTEGER NOT NULL, checksum INTEGER NOT NULL) STRICT;
PRAGMA user_version = 2;
"""


class Feeding(NamedTuple):
    """The last sheet number reserved, on the disk before the feeder hears it: it is never used twice."""

    sheet: int
    batch: int
    boot: int
    """The boot of the feeder's board that was asked to feed it."""

    @property
    def checksum(self) -> int:
        """CRC-32 of the numbers: they are no record, so neither chain nor signature covers them."""
        return crc32(f"{self.sheet} {self.batch} {self.boot}".encode())


class Entry(NamedTuple):
    """A record to be written."""

    kind: str
    run: str
    batch: int
    body: dict[str, Any]
    crop: bytes = b""
    """PNG of the contest, kept beside the record; b"" for none."""


@dataclass(frozen=True)
class Stored:
    """A record as it lies in the journal."""

    n: int
    record: bytes
    signature: bytes


class _NotAsWritten(Exception):
    """The content is not what this device wrote; the text says what is wrong."""


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, isolation_level=None)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA busy_timeout = 5000")
    return connection


def _lock(folder: Path) -> int:
    descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise OperatorError(f"{folder} is in use: this device is running already") from None
    return descriptor


class Journal:
    """The records of one device, open for writing by one process."""

    def __init__(self, folder: Path, identity: Identity) -> None:
        """Open the journal in `folder`, or begin one, and fold it into `history`.

        Raises OperatorError where another process has it, JournalDamaged where it is not what was written.
        """
        self.path = folder / JOURNAL_FILE
        self._identity = identity
        self._lock = _lock(folder)
        self.history = History()
        self.head = NO_HASH
        """Hash of the last record."""
        self.next_n = 1
        """The number of the next record."""
        self.feeding = Feeding(0, 0, 0)
        try:
            self._open(folder)
        except BaseException:
            os.close(self._lock)
            raise

    def _open(self, folder: Path) -> None:
        begun = folder / BEGUN_FILE
        if begun.exists() and (not self.path.exists() or self.path.stat().st_size == 0):
            raise JournalDamaged(f"the journal {self.path} is gone or was emptied: {WHAT_TO_DO}")
        try:
            if not self.path.exists():
                # For its owner alone, whatever the folder's mode: it holds figures and pictures.
                self.path.touch(mode=0o600)
            self._connection = _connect(self.path, "rw")
            self._connection.execute("PRAGMA journal_mode = WAL")
            if self._is_empty():
                self._begin()
                force_folder(folder)
            self._check()
        except (*SPOILED, _NotAsWritten) as error:
            self._refuse(str(error))
        except OSError as error:
            raise OperatorError(f"the journal {self.path} cannot be begun: {error.strerror}") from None
        if not begun.exists():
            write_durably(begun, b"")

    def _begin(self) -> None:
        self._connection.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
        values = (*self.feeding, self.feeding.checksum)
        self._connection.execute("INSERT INTO feeding VALUES (1, ?, ?, ?, ?)", values)
        self._connection.execute("COMMIT")

    def _refuse(self, why: str) -> NoReturn:
        """Keep what is sound, and raise JournalDamaged in words."""
        try:
            any_sound = salvage(self.path, self._identity.public_key)
        except (sqlite3.Error, OSError) as error:
            kept = f"what is sound of it could not be copied out ({error})"
        else:
            # How many records those are is not said: people may still have to count the sheets blind.
            copied = f"what is sound of it was copied into {SOUND_FILE}"
            kept = copied if any_sound else "nothing of it is sound"
        raise JournalDamaged(f"the journal {self.path} is damaged ({why}); {kept}: {WHAT_TO_DO}") from None

    def _is_empty(self) -> bool:
        """Tell a file that a power cut left before its tables were made."""
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        return tables == 0

    def _check(self) -> None:
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            raise JournalDamaged(f"the journal {self.path} has format {version}, this program reads {FORMAT}")
        (state,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        if state != "ok":
            raise _NotAsWritten(state.splitlines()[-1])
        crops: dict[int, bytes] = {}
        for n, content, signature in self._connection.execute("SELECT * FROM records ORDER BY n"):
            if n != self.next_n:
                raise _NotAsWritten("a record is missing")
            body = self._check_record(n, content, signature).body
            if body.get("crop_sha256"):
                crops[n] = body["crop_sha256"]
        self._check_feeding()
        self._check_crops(crops)

    def _check_feeding(self) -> None:
        rows = self._connection.execute("SELECT sheet, batch, boot, checksum FROM feeding").fetchall()
        if len(rows) != 1 or Feeding(*rows[0][:3]).checksum != rows[0][3]:
            raise _NotAsWritten("the sheet number that was reserved last is not what was written")
        self.feeding = Feeding(*rows[0][:3])
        if self.feeding.sheet < self.history.last_sheet:
            raise _NotAsWritten("it holds a sheet number that was never reserved")

    def _check_record(self, n: int, content: bytes, signature: bytes) -> Record:
        if type(content) is not bytes or type(signature) is not bytes:
            raise _NotAsWritten("a record is no bytes")
        try:
            record = decode_record(content)
            check_next(self.head, n, record)
            verify(self._identity.public_key, content, signature)
        except RecordError as error:
            raise _NotAsWritten(f"a record is not what was written: {error}") from None
        self._advance(record, content)
        return record

    def _check_crops(self, expected: dict[int, bytes]) -> None:
        """Compare each crop with the hash in its signed record, not with the one that lies beside it."""
        for n, png in self._connection.execute("SELECT n, png FROM crops ORDER BY n"):
            if type(png) is not bytes or sha256(png).digest() != expected.pop(n, b""):
                raise _NotAsWritten("the picture of a record is not what was written")
        if expected:
            raise _NotAsWritten("the picture of a record is missing")

    def _advance(self, record: Record, content: bytes) -> None:
        self.history.take(record)
        self.head = record_hash(content)
        self.next_n += 1

    @contextmanager
    def _transaction(self) -> Generator[None]:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise OperatorError(
                f"the journal {self.path} cannot be written ({error}): is the disk full?"
            ) from error

    def reserve(self, sheet: int, batch: int, boot: int) -> None:
        """Put on the disk that `sheet` is the number of the next sheet fed."""
        reserved = Feeding(sheet, batch, boot)
        with self._transaction():
            self._connection.execute(
                "UPDATE feeding SET sheet = ?, batch = ?, boot = ?, checksum = ?",
                (*reserved, reserved.checksum),
            )
        self.feeding = reserved

    def write(self, *entries: Entry) -> None:
        """Put records, with their crops, on the disk: all of them or none. Returns when they are there."""
        written: list[tuple[Record, bytes]] = []
        n, head = self.next_n, self.head
        with self._transaction():
            for entry in entries:
                record = Record(
                    self._identity.device, n, head, entry.kind, entry.run, entry.batch, entry.body
                )
                content = encode_record(record)
                self._insert(n, content, entry.crop)
                written.append((record, content))
                n, head = n + 1, record_hash(content)
        for record, content in written:
            self._advance(record, content)

    def _insert(self, n: int, content: bytes, crop: bytes) -> None:
        signature = sign(self._identity.private_key, content)
        self._connection.execute("INSERT INTO records VALUES (?, ?, ?)", (n, content, signature))
        if crop:
            self._connection.execute("INSERT INTO crops VALUES (?, ?, ?)", (n, sha256(crop).digest(), crop))

    def close(self) -> None:
        """Close the file and let another process have it."""
        self._connection.close()
        os.close(self._lock)


class JournalReader:
    """A reader of the journal, for one thread."""

    def __init__(self, path: Path) -> None:
        self._connection = _connect(path, "ro")

    def head(self) -> tuple[int, bytes]:
        """Return the number of the record to come, and the hash of the last one."""
        row = self._connection.execute("SELECT n, bytes FROM records ORDER BY n DESC LIMIT 1").fetchone()
        return (1, NO_HASH) if row is None else (row[0] + 1, record_hash(row[1]))

    def records_from(self, n: int, limit: int) -> Sequence[Stored]:
        """Return at most `limit` records, from number `n` on."""
        rows = self._connection.execute(
            "SELECT n, bytes, signature FROM records WHERE n >= ? ORDER BY n LIMIT ?", (n, limit)
        )
        return [Stored(*row) for row in rows]

    def crop_from(self, n: int) -> tuple[int, bytes, bytes] | None:
        """Return (number, SHA-256, PNG) of the first crop from record `n` on, or None."""
        return self._connection.execute(
            "SELECT n, sha256, png FROM crops WHERE n >= ? ORDER BY n LIMIT 1", (n,)
        ).fetchone()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
