"""The ledger's file: append-only, shared by several programs, and honest about damage."""

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy.exc import IntegrityError

from host.tests.enrolling import enrol
from host.tests.links.stand_in import StandIn
from recount_host.act import Person, act_hash, decode_act, encode_act
from recount_host.errors import OperatorError
from recount_host.ledger import Ledger, Verdict
from recount_host.ledger.errors import LedgerBusy, LedgerDamaged, LedgerMissing
from recount_host.ledger.ledger import open_ledger
from recount_host.ledger.schema import metadata
from recount_host.ledger.sqlite import open_engine, reading, writing

ANN = Person("Ann Lee", "official", "D")
BOB = Person("Bob Ray", "official", "R")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with a row in every table."""
    path = tmp_path / "ledger.sqlite"
    with Ledger(path, clock=lambda: "2026-12-01T09:00:00Z") as ledger:
        device = StandIn("device-1", Ed25519PrivateKey.from_private_bytes(bytes([1]) * 32))
        ledger.append_act("order_set", [ANN, BOB], {"text": "one"})
        ledger.append_act("program_added", [ANN], {"program": bytes(32)})
        ledger.introduce(device.device, device.name, device.public_key, 1, device.head)
        enrol(ledger, device.name, device.public_key)
        device.write_set_aside(1, b"picture", run="run-1", batch=1)
        device.write_fault("jam")
        device.write_fault("jam")
        device.write_fault("jam")
        ledger.add_records(device.journal[:2])
        ledger.add_record(*device.journal[3])
        ledger.add_record(b"no record", bytes(64))
        ledger.add_crop(device.device, 1, b"picture")
        ledger.add_program(bytes(32), b"program")
        ledger.add_scan(b"scan")
    return path


@pytest.fixture
def raw(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None)
    yield connection
    connection.close()


TABLES = [table.name for table in metadata.sorted_tables]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {table} SET rowid = rowid + 1",
        "DELETE FROM {table}",
        "INSERT OR REPLACE INTO {table} SELECT * FROM {table}",
    ],
)
def test_nothing_is_ever_changed_removed_or_overwritten(
    raw: sqlite3.Connection, table: str, statement: str
) -> None:
    before = raw.execute(f"SELECT * FROM {table}").fetchall()
    assert before, "every table has a row here"
    with pytest.raises(sqlite3.IntegrityError, match="the ledger only grows"):
        raw.execute(statement.format(table=table))
    assert raw.execute(f"SELECT * FROM {table}").fetchall() == before


def test_only_its_owner_can_look_into_it(tmp_path: Path) -> None:
    path = tmp_path / "locality" / "ledger.sqlite"
    with Ledger(path) as ledger:
        ledger.append_act("note", (ANN,), {"text": "noon"})
        files = list(path.parent.iterdir())
        assert len(files) == 3  # with the two files of its write-ahead log
        assert {file.stat().st_mode & 0o077 for file in (path.parent, *files)} == {0}


def test_every_commit_is_flushed_to_the_disk(path: Path, raw: sqlite3.Connection) -> None:
    assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    engine = open_engine(path, create=False)
    with reading(engine, path) as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2, "FULL"
    engine.dispose()


# Acts


def test_acts_are_numbered_and_each_names_the_one_before(path: Path) -> None:
    with Ledger(path) as ledger:
        first, second, _ = ledger.acts()
    assert (first.n, first.prev, second.n) == (1, bytes(32), 2)
    assert second.prev == act_hash(encode_act(first))
    assert first.by == (ANN, BOB)
    assert first.body == {"text": "one"}


def test_an_act_read_back_is_the_act_that_was_written(path: Path) -> None:
    body = {"number": 7, "words": ["a", "b"], "hash": bytes(32), "votes": {"D": 3}, "yes": True, "none": None}
    with Ledger(path) as ledger:
        written = ledger.append_act("count_entered", [ANN], body)
        assert ledger.acts()[-1] == written
        assert written.body == body


def test_a_turn_that_fails_leaves_nothing_behind(path: Path) -> None:
    with Ledger(path) as ledger:
        with pytest.raises(OperatorError), ledger.deciding() as turn:  # noqa: PT012 - the turn is the subject
            turn.append("figures_shown", [ANN], {"precinct": "101"})
            raise OperatorError("the law does not allow it")
        assert len(ledger.acts()) == 3


def test_a_turn_sees_its_own_acts_and_they_are_kept(path: Path) -> None:
    with Ledger(path) as ledger:
        with ledger.deciding() as turn:
            turn.append("figures_shown", [ANN], {"precinct": "101"})
            assert [act.kind for act in turn.acts()] == [
                "order_set",
                "program_added",
                "device_enrolled",
                "figures_shown",
            ]
            assert len(turn.records()) == 2
        assert len(ledger.acts()) == 4


def test_an_act_of_foreign_types_is_refused_before_it_is_written(path: Path) -> None:
    with Ledger(path) as ledger:
        with pytest.raises(TypeError):
            ledger.append_act("count_entered", [ANN], {"value": object()})
        assert len(ledger.acts()) == 3


_APPEND_MANY = """
import sys
from pathlib import Path
from recount_host.act import Person
from recount_host.ledger import Ledger
with Ledger(Path(sys.argv[1])) as ledger:
    for number in range(25):
        with ledger.deciding() as turn:
            turn.append("count_entered", [Person(sys.argv[2], "official", "D")], {"after": len(turn.acts())})
"""


def test_several_programs_append_at_once_and_the_chain_holds(path: Path) -> None:
    programs = [
        subprocess.Popen([sys.executable, "-c", _APPEND_MANY, str(path), name])
        for name in ("Ann", "Bob", "Cid")
    ]
    assert [program.wait(timeout=50) for program in programs] == [0, 0, 0]
    with Ledger(path) as ledger:
        acts = ledger.acts()
    assert [act.n for act in acts] == list(range(1, 3 + 75 + 1))
    assert all(act.body["after"] == act.n - 1 for act in acts[3:]), (
        "what a turn read still held when it wrote"
    )


def test_one_program_sees_what_another_appended(path: Path) -> None:
    with Ledger(path) as one, Ledger(path) as other:
        before = one.mark()
        other.append_act("count_entered", [ANN], {})
        assert one.mark() != before
        assert one.acts()[-1].kind == "count_entered"


# Damage


def open_it(path: Path) -> None:
    with Ledger(path, create=False):
        pass


def test_a_missing_ledger_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(LedgerMissing, match="there is no ledger at"):
        open_ledger(tmp_path)
    assert list(tmp_path.iterdir()) == [], "looking makes nothing"


def test_a_file_of_another_kind_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"this is a letter, not a ledger")
    with pytest.raises(LedgerDamaged, match="it is not an SQLite file"):
        open_it(path)


def test_another_programs_database_is_no_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE songs (name)")
    other.close()
    with pytest.raises(LedgerDamaged, match="not a recount ledger"):
        open_it(path)


def test_a_ledger_of_another_version_is_left_alone(path: Path, raw: sqlite3.Connection) -> None:
    raw.execute("PRAGMA user_version = 99")
    with pytest.raises(LedgerDamaged, match="is of version 99"):
        open_it(path)


def test_a_ledger_whose_guards_were_removed_is_damaged(path: Path, raw: sqlite3.Connection) -> None:
    raw.execute("DROP TRIGGER acts_refuse_delete")
    with pytest.raises(LedgerDamaged, match="acts_refuse_delete is missing"):
        open_it(path)


def test_a_torn_file_gives_one_sentence(path: Path, raw: sqlite3.Connection) -> None:
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(LedgerDamaged, match="is damaged") as caught:
        open_it(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("middle", [0.3, 0.5, 0.7, 0.9])
def test_an_overwritten_page_gives_one_sentence(path: Path, raw: sqlite3.Connection, middle: float) -> None:
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    data = bytearray(path.read_bytes())
    start = int(len(data) * middle) // 4096 * 4096
    data[start : start + 4096] = b"\xff" * 4096
    path.write_bytes(data)
    with pytest.raises(LedgerDamaged, match="is damaged"):
        open_it(path)


def test_tables_whose_names_are_no_text_any_more_give_one_sentence(
    path: Path, raw: sqlite3.Connection
) -> None:
    """SQLite quotes the spoiled name in its message, which then is no text."""
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raw.close()
    path.write_bytes(path.read_bytes().replace(b"PRIMARY KEY (n)", b"PRIMARY KEY (\xee)"))
    with pytest.raises(LedgerDamaged, match="its tables cannot be read"):
        open_it(path)


def test_an_edited_act_is_named(path: Path, raw: sqlite3.Connection) -> None:
    _edit(raw, "acts", "act", b"one", b"two")
    with pytest.raises(LedgerDamaged, match="act 1 is not as it was written"):
        open_it(path)


def test_an_act_edited_with_its_hash_breaks_the_chain(path: Path, raw: sqlite3.Connection) -> None:
    _edit(raw, "acts", "act", b"one", b"two")
    (data,) = raw.execute("SELECT act FROM acts WHERE n = 1").fetchone()
    assert decode_act(data).body == {"text": "two"}
    _without_guard(raw, "acts", "UPDATE acts SET hash = ? WHERE n = 1", (act_hash(data),))
    with pytest.raises(LedgerDamaged, match="act 2 does not follow the act before it"):
        open_it(path)


def test_an_edited_record_is_named(path: Path, raw: sqlite3.Connection) -> None:
    _edit(raw, "records", "record", b"overvote", b"write_in")
    with pytest.raises(LedgerDamaged, match="record 2 of"):
        open_it(path)


def test_a_removed_record_is_named(path: Path, raw: sqlite3.Connection) -> None:
    _without_guard(raw, "records", "DELETE FROM records WHERE n = 1", ())
    with pytest.raises(LedgerDamaged, match="record 2 of"):
        open_it(path)


def test_a_folder_that_cannot_be_made_gives_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerBusy, match="cannot be made"):
        Ledger(tmp_path / "file" / "ledger.sqlite")


def test_a_folder_of_another_user_gives_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_path: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", forbidden)
    with pytest.raises(LedgerBusy, match="work as the user who started recount-host serve"):
        open_engine(tmp_path / "ledger.sqlite", create=False)


def test_a_name_that_no_folder_can_have_gives_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(LedgerBusy, match="cannot be looked at: File name too long"):
        open_engine(tmp_path / ("x" * 300) / "ledger.sqlite", create=True)


def test_a_ledger_held_by_another_program_gives_one_sentence(
    path: Path, raw: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recount_host.ledger.sqlite.BUSY_TIMEOUT_MS", 10)
    with Ledger(path) as ledger:
        raw.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerBusy, match="is held by another program"):
            ledger.append_act("count_entered", [ANN], {})


def test_a_ledger_removed_while_it_is_open_takes_nothing_more(path: Path) -> None:
    with Ledger(path) as ledger:
        path.rename(path.with_name("elsewhere.sqlite"))
        with pytest.raises(LedgerDamaged, match="moved or removed"):
            ledger.append_act("count_entered", [ANN], {})


def test_a_disk_that_is_full_in_the_middle_of_a_batch_keeps_none_of_it(path: Path) -> None:
    device = StandIn("device-2", Ed25519PrivateKey.from_private_bytes(bytes([2]) * 32))
    for _ in range(100):
        device.write("fault", {"word": "jam", "detail": "x" * 900})
    with Ledger(path, create=False) as ledger:
        enrol(ledger, device.name, device.public_key)
        before = ledger.records()
        with ledger._engine.connect() as connection:  # the only one of this thread: it is used again
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 4}")
        with pytest.raises(LedgerBusy, match=r"\(database or disk is full\): look at the disk"):
            ledger.add_records(device.journal)
        assert ledger.records() == before
        with ledger._engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA max_page_count=1000000")
        assert {outcome.verdict for outcome in ledger.add_records(device.journal)} == {Verdict.STORED}


def test_our_own_mistake_is_no_damage(path: Path) -> None:
    engine = open_engine(path, create=False)
    with pytest.raises(IntegrityError), writing(engine, path) as connection:
        connection.exec_driver_sql("DELETE FROM acts")
    engine.dispose()


def _edit(raw: sqlite3.Connection, table: str, column: str, old: bytes, new: bytes) -> None:
    (data,) = raw.execute(f"SELECT {column} FROM {table} ORDER BY 1 LIMIT 1").fetchone()
    assert old in data
    _without_guard(
        raw, table, f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (data.replace(old, new), data)
    )


def _without_guard(raw: sqlite3.Connection, table: str, statement: str, values: tuple[object, ...]) -> None:
    """Do what somebody does who edits the file: take the guards away, and put them back."""
    guards = raw.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?", (table,)
    ).fetchall()
    for name, _ in guards:
        raw.execute(f"DROP TRIGGER {name}")
    raw.execute(statement, values)
    for _, sql in guards:
        raw.execute(sql)
