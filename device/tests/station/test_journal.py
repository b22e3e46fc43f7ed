"""The journal: what is written is there, what was changed is found, and two processes never share it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from recount_device.errors import JournalDamaged, OperatorError
from recount_device.identity import open_identity
from recount_device.journal import JOURNAL_FILE, Entry, Feeding, Journal, JournalReader

FAULT = Entry("fault", "", 0, {"word": "test", "detail": "a line"})
PICTURE = b"a picture"
JUDGED = Entry(
    "sheet_judged",
    "r1",
    1,
    {
        "sheet": 1, "fate": "set_aside", "choices": [], "reasons": ["overvote"], "style": "card-1",
        "length_mm": 279, "evidence": {}, "crop_sha256": sha256(PICTURE).digest(), "crop_bytes": len(PICTURE),
        "place": 1, "feeder": [71, 1, 0, 0, 0, 0],
    },
    PICTURE,
)  # fmt: skip
STARTED = Entry("device_started", "", 0, {"software": "s", "firmware": "f", "boot": 1, "note": "n"})


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(tmp_path, open_identity(tmp_path))
    yield journal
    journal.close()


def test_only_its_owner_reads_the_journal_whoever_may_look_into_the_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    journal = reopen(tmp_path)
    journal.write(FAULT)
    kept = [path for path in tmp_path.iterdir() if path.name.startswith("journal.sqlite")]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}
    journal.close()


def test_a_journal_that_cannot_be_begun_says_so_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    identity = open_identity(tmp_path)
    monkeypatch.setattr(Path, "touch", fails)
    with pytest.raises(OperatorError, match="cannot be begun: No space left on device"):
        Journal(tmp_path, identity)


def reopen(folder: Path) -> Journal:
    return Journal(folder, open_identity(folder))


def change(folder: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(folder / JOURNAL_FILE)) as connection, connection:
        connection.execute(statement, values)


def a_closed_journal(folder: Path) -> None:
    journal = reopen(folder)
    journal.reserve(1, 1, 71)
    journal.write(STARTED, FAULT)
    journal.write(JUDGED)
    journal.close()


def test_the_disk_has_a_record_before_write_returns(tmp_path: Path, journal: Journal) -> None:
    journal.write(STARTED)
    with closing(sqlite3.connect(tmp_path / JOURNAL_FILE)) as other:
        assert other.execute("SELECT count(*) FROM records").fetchone() == (1,)
        assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_every_commit_is_forced_to_the_disk(journal: Journal) -> None:
    assert journal._connection.execute("PRAGMA synchronous").fetchone() == (2,)  # pyright: ignore[reportPrivateUsage]


def test_records_are_numbered_and_chained_over_a_restart(tmp_path: Path) -> None:
    a_closed_journal(tmp_path)
    journal = reopen(tmp_path)
    assert journal.next_n == 4
    journal.write(FAULT)
    journal.close()
    assert reopen_and_close(tmp_path) == 5


def reopen_and_close(folder: Path) -> int:
    journal = reopen(folder)
    journal.close()
    return journal.next_n


def test_records_of_one_write_are_there_all_or_not_at_all(tmp_path: Path, journal: Journal) -> None:
    with pytest.raises(Exception, match="word"):
        journal.write(FAULT, Entry("fault", "", 0, {"word": "", "detail": ""}))
    assert journal.next_n == 1
    with closing(sqlite3.connect(tmp_path / JOURNAL_FILE)) as other:
        assert other.execute("SELECT count(*) FROM records").fetchone() == (0,)


def test_a_number_that_is_on_record_but_was_never_reserved_is_damage(tmp_path: Path) -> None:
    a_closed_journal(tmp_path)
    change(
        tmp_path, "UPDATE feeding SET sheet = 0, batch = 0, boot = 0, checksum = ?", Feeding(0, 0, 0).checksum
    )
    with pytest.raises(JournalDamaged, match="never reserved"):
        reopen(tmp_path)


def test_a_sheet_number_is_on_the_disk_before_it_is_used(tmp_path: Path, journal: Journal) -> None:
    journal.reserve(17, 2, 71)
    with closing(sqlite3.connect(tmp_path / JOURNAL_FILE)) as other:
        assert other.execute("SELECT sheet, batch, boot FROM feeding").fetchone() == (17, 2, 71)


def test_a_second_process_is_refused(tmp_path: Path, journal: Journal) -> None:
    with pytest.raises(OperatorError, match="is running already"):
        reopen(tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) || 'x' AS BLOB) WHERE n = 1",
        "UPDATE records SET bytes = CAST(substr(bytes, 1, length(bytes) - 1) || 'x' AS BLOB) WHERE n = 3",
        "UPDATE records SET signature = zeroblob(64) WHERE n = 2",
        "DELETE FROM records WHERE n = 1",
        "DELETE FROM records WHERE n = 2",
        "UPDATE records SET n = 9 WHERE n = 3",
        "UPDATE feeding SET sheet = 2",
        "UPDATE feeding SET boot = 70",
        "DELETE FROM feeding",
        "UPDATE crops SET png = x'00'",
        "DELETE FROM crops",
        "PRAGMA user_version = 9",
        "DROP TABLE records",
    ],
)
def test_a_journal_that_was_changed_is_refused_in_words(tmp_path: Path, statement: str) -> None:
    a_closed_journal(tmp_path)
    change(tmp_path, statement)
    with pytest.raises(JournalDamaged, match=JOURNAL_FILE):
        reopen(tmp_path)


def test_a_journal_of_another_device_is_refused(tmp_path: Path) -> None:
    a_closed_journal(tmp_path)
    (tmp_path / "device.key").unlink()
    with pytest.raises(JournalDamaged):
        reopen(tmp_path)


@pytest.mark.parametrize("at_byte", [0, 60, 4096, 8150])
def test_a_journal_with_rotten_bytes_is_refused_in_words(tmp_path: Path, at_byte: int) -> None:
    a_closed_journal(tmp_path)
    path = tmp_path / JOURNAL_FILE
    content = bytearray(path.read_bytes())
    for place in range(at_byte, at_byte + 40):
        content[place] ^= 0x5A
    path.write_bytes(bytes(content))
    with pytest.raises(JournalDamaged, match=r"tell the officials|has format"):
        reopen(tmp_path)


def test_a_truncated_journal_is_refused_in_words(tmp_path: Path) -> None:
    a_closed_journal(tmp_path)
    path = tmp_path / JOURNAL_FILE
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(JournalDamaged, match="tell the officials"):
        reopen(tmp_path)


def test_a_power_cut_at_the_very_first_start_leaves_a_journal_that_can_begin(tmp_path: Path) -> None:
    (tmp_path / JOURNAL_FILE).touch()
    assert reopen_and_close(tmp_path) == 1


def test_a_full_disk_is_told_in_one_sentence(journal: Journal) -> None:
    connection = journal._connection  # pyright: ignore[reportPrivateUsage]
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(OperatorError, match=r"cannot be written .*full"):
        journal.write(FAULT._replace(crop=bytes(100_000)))


def test_the_reader_gives_records_and_crops_in_their_order(tmp_path: Path) -> None:
    a_closed_journal(tmp_path)
    reader = JournalReader(tmp_path / JOURNAL_FILE)
    assert [stored.n for stored in reader.records_from(2, 10)] == [2, 3]
    crop = reader.crop_from(1)
    assert crop is not None
    assert (crop[0], crop[2]) == (3, PICTURE)
    assert reader.crop_from(4) is None
    assert reader.head()[0] == 4
    reader.close()
