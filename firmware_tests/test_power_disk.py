"""The disk that loses power finds a program that does not sync; what ours promise is there after a cut."""

import os
import random
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from firmware_tests.power_disk import SYNCS, Disk, DiskLog, Loss, Recorder, Step, record
from recount_device.durable import write_durably
from recount_device.host_pin import HostPin
from recount_device.identity import open_identity
from recount_device.journal import Entry, Journal
from recount_device.run import make_own_folder
from recount_host.host_key import open_host_key
from recount_host.ledger.ledger import LEDGER_FILE, Ledger

ROWS = 30


def in_a_process(disk: DiskLog, act: Callable[[Recorder], None]) -> bytes:
    """Do `act` in a recorded process of its own; return what it said to `say` before its end."""
    disk.begin()
    here, there = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.dup2(there, 1)
            act(record([disk]))
            code = 0
        finally:
            os._exit(code)
    os.close(there)
    _, status = os.waitpid(pid, 0)
    with os.fdopen(here, "rb") as pipe:
        said = pipe.read()
    assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL), said
    return said


def a_disk(tmp_path: Path) -> DiskLog:
    folder = tmp_path / "disk"
    folder.mkdir()
    return DiskLog(folder)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def rows_kept(disk: DiskLog, synchronous: str, at: int, loss: Loss, *, before: bool) -> tuple[int, int]:
    """Return how many rows SQLite had promised when it was cut off, and how many are there."""

    def insert(recorder: Recorder) -> None:
        recorder.arm(at, ("write",), die, before=before)
        connection = sqlite3.connect(disk.folder / "rows.sqlite", isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute("CREATE TABLE rows (n INTEGER PRIMARY KEY, text TEXT)")
        for n in range(ROWS):
            connection.execute("INSERT INTO rows VALUES (?, ?)", (n, "row " * 900))
            os.write(1, b".")

    promised = len(in_a_process(disk, insert))
    disk.cut(random.Random(at), loss)
    connection = sqlite3.connect(disk.folder / "rows.sqlite")
    try:
        if not connection.execute("SELECT name FROM sqlite_schema").fetchall():
            return promised, 0
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return promised, connection.execute("SELECT count(*) FROM rows").fetchone()[0]
    finally:
        connection.close()


@pytest.mark.parametrize("loss", Loss)
@pytest.mark.parametrize("before", [True, False])
def test_wal_with_full_sync_keeps_every_row_it_promised(tmp_path: Path, loss: Loss, *, before: bool) -> None:
    disk = a_disk(tmp_path)
    promised, there = rows_kept(disk, "FULL", 60, loss, before=before)
    assert 0 < promised <= there <= promised + 1


def test_a_program_that_does_not_sync_each_row_is_found_out(tmp_path: Path) -> None:
    promised, there = rows_kept(a_disk(tmp_path), "NORMAL", 60, Loss.SOME, before=False)
    assert there < promised


def test_a_file_that_was_synced_but_not_its_folder_may_be_gone(tmp_path: Path) -> None:
    disk = a_disk(tmp_path)

    def write(_: Recorder) -> None:
        with (disk.folder / "file").open("wb") as file:
            file.write(b"content")
            file.flush()
            os.fsync(file.fileno())

    in_a_process(disk, write)
    disk.cut(random.Random(1), Loss.ALL)
    assert not (disk.folder / "file").exists()


@pytest.mark.parametrize("at", range(1, 5))
@pytest.mark.parametrize("loss", Loss)
@pytest.mark.parametrize("before", [True, False])
def test_a_file_written_durably_is_the_old_or_the_new_one(
    tmp_path: Path, at: int, loss: Loss, *, before: bool
) -> None:
    disk = a_disk(tmp_path)
    (disk.folder / "file").write_bytes(b"old")

    def write(recorder: Recorder) -> None:
        recorder.arm(at, (*SYNCS, "rename", "create"), die, before=before)
        write_durably(disk.folder / "file", b"new")
        os.write(1, b"done")

    done = in_a_process(disk, write) == b"done"
    disk.cut(random.Random(at), loss)
    assert (disk.folder / "file").read_bytes() in ({b"new"} if done else {b"old", b"new"})


def test_a_write_is_torn_at_sectors() -> None:
    disk = Disk()
    disk.names[""] = disk.sure_names[""] = None
    for step in (
        Step("create", "file"), Step("write", "file", 100, b"a" * 2000), Step("sync_folder", ""),
    ):  # fmt: skip
        disk.do(step)
    held = {disk.after_cut(random.Random(n), Loss.LAST_TORN).files["file"] for n in range(20)}
    assert len(held) > 3
    for content in held:
        for begin in range(0, len(content), 512):
            assert len(set(content[max(begin, 100) : begin + 512])) == 1


def the_device_s_folder(folder: Path) -> str:
    make_own_folder(folder / "of" / "device")
    return open_identity(folder / "of" / "device").words


def the_host_it_obeys(folder: Path) -> str:
    make_own_folder(folder / "device")
    pin = HostPin(folder / "device")
    if not pin.words:
        pin.pin("time gallery cotton roast balance hard midnight negative")
    return pin.words


def its_journal(folder: Path) -> str:
    own = folder / "device"
    make_own_folder(own)
    journal = Journal(own, open_identity(own))
    if journal.next_n == 1:
        body = {"software": "s", "firmware": "f", "boot": 1, "note": ""}
        journal.write(Entry("device_started", "", 0, body))
    head = journal.head.hex()
    journal.close()
    return head


def the_host_s_key(folder: Path) -> str:
    Ledger(folder / "of" / "host" / LEDGER_FILE).close()
    return open_host_key(folder / "of" / "host").words


@pytest.mark.parametrize("loss", Loss)
@pytest.mark.parametrize("begin", [the_device_s_folder, the_host_it_obeys, its_journal, the_host_s_key])
def test_what_a_first_start_made_is_there_after_a_power_cut(
    tmp_path: Path, begin: Callable[[Path], str], loss: Loss
) -> None:
    disk = a_disk(tmp_path)

    def tell(_: Recorder) -> None:
        os.write(1, begin(disk.folder).encode())

    made = in_a_process(disk, tell)
    disk.cut(random.Random(1), loss)
    assert made
    assert in_a_process(disk, tell) == made
