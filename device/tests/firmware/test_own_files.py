"""The board tells which firmware it is: a hash over its own files, as they lie on its flash."""

import shutil
import struct
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from device.tests.firmware.bench import FIRMWARE, ROOT, SHIMS, Bench, a_ready_feeder
from device.tests.firmware.sources import firmware_module
from firmware_tests.rig import firmware_hash, firmware_sources
from recount_protocol import feeder_messages


def told(answer: dict[str, Any]) -> str:
    """Return the hash that a board told, in hexadecimal digits."""
    return struct.pack("<8I", *answer["sha256"]).hex()


def hash_of_board(flash: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Start a board whose files lie in `flash`, as on a Pico, and ask it."""
    path = f"{SHIMS}:{flash}"
    monkeypatch.setattr("device.tests.firmware.bench.micropython_path", lambda: path)
    with Bench(flash, flash / "main.py") as bench:
        bench.connect()
        return told(bench.ask("identify", "firmware"))


@pytest.fixture
def flash(tmp_path: Path) -> Path:
    """Give a folder with the firmware as it lies on a Pico: one folder, the protocol's in a folder of it."""
    shutil.copytree(FIRMWARE, tmp_path / "flash", ignore=shutil.ignore_patterns("__pycache__"))
    protocol = tmp_path / "flash" / feeder_messages.__name__.split(".")[0]
    protocol.mkdir()
    for source in firmware_sources():
        if source.parent != FIRMWARE:
            shutil.copy(source, protocol)
    return tmp_path / "flash"


def test_the_board_tells_the_hash_of_its_sources(tmp_path: Path) -> None:
    expected = firmware_hash((source.name, source.read_bytes()) for source in firmware_sources())
    with Bench(tmp_path) as bench:
        bench.connect()
        assert told(bench.ask("identify", "firmware")) == expected


def test_the_same_files_on_the_flash_of_a_board_have_the_same_hash(
    flash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = firmware_hash((source.name, source.read_bytes()) for source in firmware_sources())
    assert hash_of_board(flash, monkeypatch) == expected


@pytest.mark.parametrize("name", ["feeder.py", "recount_protocol/frames.py", "main.py"])
def test_one_changed_byte_is_another_firmware(
    name: str, flash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = hash_of_board(flash, monkeypatch)
    with (flash / name).open("a", encoding="utf-8") as file:
        file.write("#")
    assert hash_of_board(flash, monkeypatch) != before


def test_a_program_that_is_added_to_the_board_is_another_firmware(
    flash: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = hash_of_board(flash, monkeypatch)
    (flash / "boot.py").write_text("", encoding="utf-8")
    added = hash_of_board(flash, monkeypatch)
    (flash / "boot.py").unlink()
    (flash / "protective").write_bytes(b"a file that is no program")
    assert hash_of_board(flash, monkeypatch) == before != added


def test_the_list_of_protocol_modules_is_what_lies_on_the_board() -> None:
    on_board = sorted(source.stem for source in firmware_sources() if source.parent != FIRMWARE)
    assert sorted(firmware_module("own_files").PROTOCOL_MODULES) == on_board


def test_a_feeder_tells_its_firmware_also_with_a_sheet_in_the_path(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "at_camera", sheet=1)
        before = bench.report()
        assert len(told(bench.ask("identify", "firmware"))) == sha256().digest_size * 2
        assert bench.report() == before


def test_anybody_gets_the_same_hash_by_the_command_in_the_guide() -> None:
    guide = (ROOT / "docs" / "feeder.md").read_text(encoding="utf-8")
    command = guide[guide.index("    sha256sum ") : guide.index("| sha256sum\n") + len("| sha256sum\n")]
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    expected = firmware_hash((source.name, source.read_bytes()) for source in firmware_sources())
    assert done.stdout.split()[0] == expected
