"""The tables of the ledger, and the triggers that make them append-only.

Nothing is ever changed or removed: the triggers refuse it to every program that opens the file, ours
included. (They guard against mistakes. Against somebody who edits the file itself stand the chains and
signatures.)
"""

from sqlalchemy import Column, Integer, LargeBinary, MetaData, String, Table, UniqueConstraint

APPLICATION_ID = 0x52434E54
"""Marks the SQLite file as a recount ledger ("RCNT")."""

SCHEMA_VERSION = 4
"""Counted up with every change of the tables; another version is refused by name."""

metadata = MetaData()

introduced = Table(
    "introduced",  # keys that somebody has shown to have; which of them are enrolled is told by acts alone
    metadata,
    Column("stored", Integer, primary_key=True),
    Column("device", String, nullable=False, unique=True),
    Column("name", String, nullable=False),
    Column("public_key", LargeBinary, nullable=False),
    Column("first_seen_utc", String, nullable=False),
)


def _table_of_records(name: str) -> Table:
    return Table(
        name,
        metadata,
        Column("stored", Integer, primary_key=True),  # the order in which they came to disk
        Column("device", String, nullable=False),
        Column("n", Integer, nullable=False),
        Column("record", LargeBinary, nullable=False),
        Column("signature", LargeBinary, nullable=False),
        Column("received_utc", String, nullable=False),
        UniqueConstraint("device", "n"),
    )


records = _table_of_records("records")

early_records = _table_of_records("early_records")
"""Sound records that came before their predecessors: the proof that a gap exists."""

crops = Table(
    "crops",
    metadata,
    Column("stored", Integer, primary_key=True),
    Column("device", String, nullable=False),
    Column("n", Integer, nullable=False),
    Column("sha256", LargeBinary, nullable=False),
    Column("png", LargeBinary, nullable=False),
    UniqueConstraint("device", "n"),
)

programs = Table(
    "programs",
    metadata,
    Column("stored", Integer, primary_key=True),
    Column("hash", LargeBinary, nullable=False, unique=True),
    Column("data", LargeBinary, nullable=False),
)

scans = Table(
    "scans",  # of papers that were signed in ink; an act names each by its hash
    metadata,
    Column("stored", Integer, primary_key=True),
    Column("sha256", LargeBinary, nullable=False, unique=True),
    Column("data", LargeBinary, nullable=False),
)

refusals = Table(
    "refusals",
    metadata,
    Column("stored", Integer, primary_key=True),
    Column("device", String, nullable=False),
    Column("name", String, nullable=False),
    Column("why", String, nullable=False),
    Column("record_n", Integer, nullable=False),  # the record that it is about; 0: none
    Column("evidence", LargeBinary, nullable=False),
    Column("twins", Integer, nullable=False),  # 1: proof that the device's key is in two places
    Column("utc", String, nullable=False),
    UniqueConstraint("device", "name", "why", "record_n"),
)

acts = Table(
    "acts",
    metadata,
    Column("n", Integer, primary_key=True),
    Column("prev", LargeBinary, nullable=False),
    Column("act", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
)


def triggers() -> list[tuple[str, str]]:
    """Return each trigger's name and SQLite statement: they refuse to change, remove or overwrite a row."""
    made: list[tuple[str, str]] = []
    for table in metadata.sorted_tables:
        sentence = f"RAISE(ABORT, 'the ledger only grows: {table.name} are never changed or removed')"
        # INSERT OR REPLACE removes the old row without asking a DELETE trigger: it has to be caught before.
        present = " OR ".join(
            "(" + " AND ".join(f"{name} = NEW.{name}" for name in names) + ")"
            for names in _unique_keys(table)
        )
        # Only names of our own tables stand in these statements.
        exists = f"WHEN EXISTS (SELECT 1 FROM {table.name} WHERE {present}) "  # noqa: S608
        for event, word, when in (
            ("UPDATE", "update", ""),
            ("DELETE", "delete", ""),
            ("INSERT", "replace", exists),
        ):
            name = f"{table.name}_refuse_{word}"
            head = f"CREATE TRIGGER {name} BEFORE {event} ON {table.name} {when}"
            made.append((name, f"{head}BEGIN SELECT {sentence}; END"))
    return made


def _unique_keys(table: Table) -> list[tuple[str, ...]]:
    keys = [tuple(column.name for column in table.primary_key.columns)]
    keys += [(column.name,) for column in table.columns if column.unique]
    keys += [
        tuple(column.name for column in constraint.columns)
        for constraint in table.constraints
        if isinstance(constraint, UniqueConstraint) and len(constraint.columns) > 1
    ]
    return keys
