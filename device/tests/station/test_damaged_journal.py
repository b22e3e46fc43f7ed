"""A journal that storage spoiled: never taken for sound, never changed, and its sound beginning is kept."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recount_device.errors import JournalDamaged
from recount_device.identity import KEY_FILE, open_identity
from recount_device.journal import BEGUN_FILE, JOURNAL_FILE, Entry, Journal
from recount_device.salvage import SOUND_FILE
from recount_device.show import fold_journal

PAGE_BYTES = 4096
SHEETS = 6
Row = tuple[int, bytes, bytes]


def judged(sheet: int) -> Entry:
    picture = sha256(bytes([sheet])).digest() * 90
    body = {
        "sheet": sheet, "fate": "set_aside", "choices": [], "reasons": ["overvote"], "style": "card-1",
        "length_mm": 279, "evidence": {}, "crop_sha256": sha256(picture).digest(), "crop_bytes": len(picture),
        "place": 1, "feeder": [71, sheet, 0, 0, 0, 0],
    }  # fmt: skip
    return Entry("sheet_judged", "r1", 1, body, picture)


@cache
def files() -> tuple[bytes, bytes]:
    """Return the bytes of a journal of some sheets, and of its device's key."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        journal = Journal(folder, open_identity(folder))
        journal.write(
            Entry("device_started", "", 0, {"software": "s", "firmware": "f", "boot": 1, "note": "n"})
        )
        for sheet in range(1, SHEETS + 1):
            journal.reserve(sheet, 1, 71)
            journal.write(judged(sheet))
        journal.close()
        return (folder / JOURNAL_FILE).read_bytes(), (folder / KEY_FILE).read_bytes()


def lay_out(folder: Path, journal: bytes) -> None:
    (folder / JOURNAL_FILE).write_bytes(journal)
    (folder / KEY_FILE).write_bytes(files()[1])
    (folder / KEY_FILE).chmod(0o600)
    (folder / BEGUN_FILE).touch()


def rows(path: Path, table: str = "records") -> Sequence[Row]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT * FROM {table} ORDER BY n").fetchall()


@cache
def written() -> tuple[Row, ...]:
    with TemporaryDirectory() as name:
        (Path(name) / JOURNAL_FILE).write_bytes(files()[0])
        return tuple(rows(Path(name) / JOURNAL_FILE))


def check(folder: Path) -> None:
    """Open the journal: it holds what was written, or is refused with its sound beginning kept."""
    try:
        journal = Journal(folder, open_identity(folder))
    except JournalDamaged as error:
        sentence = str(error)
        assert "\n" not in sentence
        assert "tell the officials" in sentence or "has format" in sentence
        if (folder / SOUND_FILE).exists():
            sound = rows(folder / SOUND_FILE)
            assert tuple(sound) == written()[: len(sound)]
            assert ("copied into" if sound else "nothing of it is sound") in sentence
            for n, digest, png in rows(folder / SOUND_FILE, "crops"):
                assert sha256(png).digest() == digest
                assert n <= len(sound)
    else:
        assert journal.next_n == len(written()) + 1
        assert tuple(journal.feeding) == (SHEETS, 1, 71)
        journal.close()
        assert tuple(rows(folder / JOURNAL_FILE)) == written()


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_rotten_bits_are_found_wherever_they_are(data: st.DataObject) -> None:
    content = bytearray(files()[0])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] ^= 1 << data.draw(st.integers(0, 7))
    with TemporaryDirectory() as name:
        lay_out(Path(name), bytes(content))
        check(Path(name))


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_a_page_of_other_content_is_found(data: st.DataObject) -> None:
    """As when a card gives back another block than the one asked for."""
    content = bytearray(files()[0])
    pages = len(content) // PAGE_BYTES
    page, other = data.draw(st.integers(0, pages - 1)), data.draw(st.integers(-1, pages - 1))
    at = page * PAGE_BYTES
    block = bytes(PAGE_BYTES) if other < 0 else files()[0][other * PAGE_BYTES : (other + 1) * PAGE_BYTES]
    content[at : at + PAGE_BYTES] = block
    with TemporaryDirectory() as name:
        lay_out(Path(name), bytes(content))
        check(Path(name))


@pytest.mark.parametrize("page", range(len(files()[0]) // PAGE_BYTES))
@pytest.mark.parametrize("more", [0, 511])
def test_a_journal_cut_off_at_any_page_is_refused(page: int, more: int, tmp_path: Path) -> None:
    lay_out(tmp_path, files()[0][: page * PAGE_BYTES + more])
    with pytest.raises(JournalDamaged, match="tell the officials"):
        Journal(tmp_path, open_identity(tmp_path))


def test_tables_whose_names_are_no_text_any_more_are_told_in_words(tmp_path: Path) -> None:
    """SQLite quotes the spoiled name in its message, which then is no text."""
    lay_out(tmp_path, files()[0].replace(b"CHECK (only", b"CHECK (onl\xf9"))
    with pytest.raises(JournalDamaged, match="tell the officials"):
        Journal(tmp_path, open_identity(tmp_path))
    with pytest.raises(JournalDamaged, match="is damaged"):
        fold_journal(tmp_path / JOURNAL_FILE, bytes(32))


def test_a_journal_that_is_gone_is_not_begun_anew(tmp_path: Path) -> None:
    lay_out(tmp_path, b"")
    (tmp_path / JOURNAL_FILE).unlink()
    with pytest.raises(JournalDamaged, match="is gone or was emptied"):
        Journal(tmp_path, open_identity(tmp_path))


def test_the_damaged_file_stays_as_it_is(tmp_path: Path) -> None:
    content = bytearray(files()[0])
    content[content.index(written()[4][2])] ^= 1
    lay_out(tmp_path, bytes(content))
    for _ in range(2):
        with pytest.raises(JournalDamaged, match=r"a record is not what was written.*copied into"):
            Journal(tmp_path, open_identity(tmp_path))
        assert (tmp_path / JOURNAL_FILE).read_bytes() == content
        assert len(rows(tmp_path / SOUND_FILE)) == 4
        assert len(rows(tmp_path / SOUND_FILE, "crops")) == 3


def test_a_sound_part_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    lay_out(tmp_path, files()[0][:PAGE_BYTES])
    (tmp_path / f"{SOUND_FILE}.new").mkdir()
    with pytest.raises(JournalDamaged, match="could not be copied out"):
        Journal(tmp_path, open_identity(tmp_path))
