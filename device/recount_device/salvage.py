"""What is sound of a damaged journal, kept beside it: for people, never for the device to go on from.

A device that went on from a part of its journal would give numbers to records that other records bear
already, perhaps with the host. So the damaged file stays as it is, what is sound is copied out, and people
decide.
"""

import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from recount_device.durable import force_folder
from recount_protocol.errors import RecordError
from recount_protocol.records import NO_HASH, check_next, decode_record, record_hash, verify

SOUND_FILE = "journal.sound.sqlite"

SPOILED = (sqlite3.DatabaseError, UnicodeDecodeError)
"""What reading a spoiled file raises: the second where SQLite's own message quotes bytes that are no text."""

_SCHEMA = """
CREATE TABLE records (n INTEGER PRIMARY KEY, bytes BLOB NOT NULL, signature BLOB NOT NULL) STRICT;
CREATE TABLE crops (n INTEGER PRIMARY KEY, sha256 BLOB NOT NULL, png BLOB NOT NULL) STRICT;
"""


def salvage(journal: Path, public_key: bytes) -> bool:
    """Copy the sound beginning of a damaged journal into a file beside it; return whether there is any.

    A record is sound when its bytes, its signature and the chain from the first record on are; a crop when a
    sound record names its hash. An earlier copy is replaced. Raises OSError or sqlite3.Error where the copy
    cannot be written.
    """
    target = journal.with_name(SOUND_FILE)
    beside = journal.with_name(f"{SOUND_FILE}.new")
    beside.unlink(missing_ok=True)
    beside.touch(mode=0o600)
    with closing(sqlite3.connect(beside)) as copy:
        copy.execute("PRAGMA synchronous = FULL")
        copy.executescript(_SCHEMA)
        with closing(sqlite3.connect(f"{journal.resolve().as_uri()}?mode=ro", uri=True)) as damaged, copy:
            wanted = _copy_records(damaged, copy, public_key)
            _copy_crops(damaged, copy, wanted)
    beside.replace(target)
    force_folder(target.parent)
    return bool(wanted)


def _copy_records(damaged: sqlite3.Connection, copy: sqlite3.Connection, public_key: bytes) -> list[bytes]:
    """Copy the sound records; return for each the hash of its crop, empty where it has none."""
    wanted: list[bytes] = []
    head = NO_HASH
    try:
        for n, content, signature in damaged.execute("SELECT n, bytes, signature FROM records ORDER BY n"):
            if type(content) is not bytes or type(signature) is not bytes or n != len(wanted) + 1:
                break
            record = decode_record(content)
            check_next(head, n, record)
            verify(public_key, content, signature)
            copy.execute("INSERT INTO records VALUES (?, ?, ?)", (n, content, signature))
            head = record_hash(content)
            wanted.append(record.body.get("crop_sha256", b""))
    except (RecordError, *SPOILED):
        # Here the sound part ends.
        return wanted
    return wanted


def _copy_crops(damaged: sqlite3.Connection, copy: sqlite3.Connection, wanted: list[bytes]) -> None:
    """Copy, one by one, the crops that can be read and are the ones that their records name."""
    for n, digest in enumerate(wanted, 1):
        if not digest:
            continue
        try:
            row = damaged.execute("SELECT png FROM crops WHERE n = ?", (n,)).fetchone()
        except SPOILED:
            continue  # its page is gone, another crop's may not be
        if row is not None and type(row[0]) is bytes and sha256(row[0]).digest() == digest:
            copy.execute("INSERT INTO crops VALUES (?, ?, ?)", (n, digest, row[0]))
