"""The SQLite file under the ledger: how it is opened, checked and locked.

WAL with synchronous=FULL: Python's default (DELETE/FULL) lost an acknowledged row at power cuts, this does
not. Every transaction that writes begins IMMEDIATE, so that what it read before it wrote still holds when it
commits, however many programs have the file open.
"""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, OperationalError

from recount_host.durable import force_folder, make_private_folder
from recount_host.ledger.errors import LedgerBusy, LedgerDamaged, LedgerMissing
from recount_host.ledger.schema import APPLICATION_ID, SCHEMA_VERSION, metadata, triggers

BUSY_TIMEOUT_MS = 15_000
"""How long a program waits for another one's transaction; theirs last milliseconds."""

WHOLE_CHECK_BYTES = 256 * 1024 * 1024
"""Up to this size every opening checks the whole file, which takes a second; serve always does.

What is read is checked in any case: pages by SQLite, acts and records by their chains.
"""

_HEADER = b"SQLite format 3\x00"


def open_engine(path: Path, *, create: bool) -> Engine:
    """Return the engine of the ledger at `path`, made when absent and `create`.

    Raises LedgerMissing, LedgerDamaged (not a ledger, another version, torn) or LedgerBusy (also where the
    folder is another user's).
    """
    existed = _exists(path)
    if not existed and not create:
        raise LedgerMissing(f"there is no ledger at {path}: start recount-host serve there first")
    if existed:
        _check_header(path)
    else:
        _make_private(path)
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_TIMEOUT_MS / 1000})
    event.listen(engine, "connect", _set_up_connection)
    event.listen(engine, "begin", _begin)
    try:
        _make_or_check(engine, path, whole=create or path.stat().st_size <= WHOLE_CHECK_BYTES)
    except BaseException:
        engine.dispose()
        raise
    return engine


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError as error:
        raise LedgerBusy(
            f"the ledger {path} cannot be looked at: {error.strerror}; its folder is its owner's alone, "
            "so work as the user who started recount-host serve"
        ) from error
    except OSError as error:
        raise LedgerBusy(f"the ledger {path} cannot be looked at: {error.strerror}") from error


def _make_private(path: Path) -> None:
    """Make the file, and its folder where there is none: it holds figures that nobody may look up early."""
    try:
        make_private_folder(path.parent)
    except OSError as error:
        raise LedgerBusy(f"the folder {path.parent} cannot be made: {error.strerror}") from error
    try:
        path.touch(mode=0o600)
        force_folder(path.parent)
    except OSError as error:
        raise LedgerBusy(f"the ledger {path} cannot be made: {error.strerror}") from error


@contextmanager
def reading(engine: Engine, path: Path) -> Generator[Connection]:
    """Yield a connection that sees one state of the ledger."""
    with _in_words(path), engine.connect() as connection, connection.begin():
        yield connection


@contextmanager
def writing(engine: Engine, path: Path) -> Generator[Connection]:
    """Yield a connection in a transaction that nobody else can write beside; on disk when the block ends."""
    with (
        _in_words(path),
        engine.connect().execution_options(recount_write=True) as connection,
        connection.begin(),
    ):
        yield connection


@contextmanager
def _in_words(path: Path) -> Generator[None]:
    try:
        yield
    except OperationalError as error:
        raise _busy_or_damaged(path, error) from error
    except DatabaseError as error:
        if "append" in str(error.orig) or "only grows" in str(error.orig):
            raise
        raise damaged(path, str(error.orig)) from error
    except UnicodeDecodeError as error:  # SQLite's message quotes a spoiled name
        raise damaged(path, "its tables cannot be read") from error


def damaged(path: Path, where: str) -> LedgerDamaged:
    """Return the error for a ledger whose content at `where` is not as written."""
    return LedgerDamaged(
        f"the ledger {path} is damaged ({where}): stop, keep the file as it is, "
        "and go on from its last sound copy"
    )


def _busy_or_damaged(path: Path, error: OperationalError) -> LedgerBusy | LedgerDamaged:
    why = str(error.orig)
    if "malformed" in why or "not a database" in why or "no such table" in why or "no such column" in why:
        return damaged(path, why)
    if "locked" in why:
        return LedgerBusy(f"the ledger {path} is held by another program; end that one and try again")
    return LedgerBusy(f"the ledger {path} cannot be used now ({why}): look at the disk and try again")


def _check_header(path: Path) -> None:
    try:
        with path.open("rb") as file:
            start = file.read(len(_HEADER))
    except OSError as error:
        raise LedgerBusy(f"the ledger {path} cannot be read: {error.strerror}") from error
    if start and start != _HEADER:
        raise damaged(path, "it is not an SQLite file")


def _set_up_connection(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # BEGIN is sent by _begin, not guessed by the driver
    for pragma in (
        f"busy_timeout={BUSY_TIMEOUT_MS}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "trusted_schema=OFF",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    write = connection.get_execution_options().get("recount_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _make_or_check(engine: Engine, path: Path, *, whole: bool) -> None:
    with writing(engine, path) as connection:
        if not _names(connection):
            _make(connection)
    with reading(engine, path) as connection:
        _check(connection, path, whole=whole)


def _make(connection: Connection) -> None:
    metadata.create_all(connection)
    for _, statement in triggers():
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql(f"PRAGMA application_id={APPLICATION_ID}")
    connection.exec_driver_sql(f"PRAGMA user_version={SCHEMA_VERSION}")


def _check(connection: Connection, path: Path, *, whole: bool) -> None:
    if connection.exec_driver_sql("PRAGMA application_id").scalar_one() != APPLICATION_ID:
        raise LedgerDamaged(f"{path} is an SQLite file, but not a recount ledger: name another folder")
    version = connection.exec_driver_sql("PRAGMA user_version").scalar_one()
    if version != SCHEMA_VERSION:
        raise LedgerDamaged(
            f"the ledger {path} is of version {version}, this program writes version {SCHEMA_VERSION}: "
            "use the program that made it"
        )
    wanted = {table.name for table in metadata.sorted_tables} | {name for name, _ in triggers()}
    if lost := sorted(wanted - _names(connection)):
        raise damaged(path, f"{lost[0]} is missing from it")
    found = "ok" if not whole else str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar_one())
    if found != "ok":
        raise damaged(path, found.splitlines()[-1])


def _names(connection: Connection) -> set[str]:
    return set(connection.exec_driver_sql("SELECT name FROM sqlite_master").scalars())
