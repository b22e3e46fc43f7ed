"""A feeder board's program is installed, verified, and told; at the other end is a real MicroPython REPL."""

import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

from device.tests.board.repl_board import ReplBoard
from firmware_tests.rig import firmware_hash as hash_of_the_rig
from recount_device.cli import main
from recount_device.firmware_release import firmware_files, released_hash
from recount_world.board_process import BoardProcess


@pytest.fixture
def flash(tmp_path: Path, micropython: str) -> Path:
    (tmp_path / "flash").mkdir()
    return tmp_path / "flash"


@pytest.fixture(autouse=True)
def _port_that_does_not_vanish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recount_device.firmware_board.LEAVE_S", 0)


@pytest.fixture
def board(flash: Path) -> Generator[ReplBoard, None, None]:
    board = ReplBoard(flash)
    yield board
    board.close()


def lay_release(flash: Path) -> None:
    """Lay the released firmware on a board, as `install` does."""
    for file in firmware_files():
        (flash / file.folder).mkdir(exist_ok=True)
        shutil.copyfile(file.source, flash / file.folder / file.name)


def test_a_blank_board_gets_the_firmware_and_is_verified_and_runs_it(
    board: ReplBoard, flash: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (flash / "boot.py").write_text("print('somebody else was here')\n")
    (flash / "protective").write_bytes(b"kept")
    assert main(["firmware", "install", board.port]) == 0
    assert capsys.readouterr().out.endswith(f"has this release's firmware: {released_hash()}\n")
    assert not (flash / "boot.py").exists()
    assert (flash / "protective").read_bytes() == b"kept"
    assert main(["firmware", "verify", board.port]) == 0
    for file in firmware_files():
        assert (flash / file.folder / file.name).read_bytes() == file.source.read_bytes()


def test_every_difference_of_a_boards_firmware_is_named(
    board: ReplBoard, flash: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_release(flash)
    (flash / "main.py").write_text("print('hello')\n")
    (flash / "recount_protocol" / "frames.py").unlink()
    (flash / "spy.py").write_text("")
    assert main(["firmware", "verify", board.port]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "missing: frames.py",
        "not of this release: spy.py",
        "other content: main.py",
        f"the board at {board.port} does not have this release's firmware",
    ]


def test_info_tells_what_lies_on_a_board_by_the_hash_that_it_tells_the_station(
    board: ReplBoard, flash: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_release(flash)
    assert main(["firmware", "info", board.port]) == 0
    told = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert told["firmware"] == released_hash()
    assert told["release"] == "the same"
    assert told["programs"] == str(len(firmware_files()))


def test_the_released_hash_is_the_one_that_a_rig_and_the_boards_own_program_compute(flash: Path) -> None:
    files = [(file.name, file.source.read_bytes()) for file in firmware_files()]
    assert released_hash() == hash_of_the_rig(files)
    lay_release(flash)
    process = BoardProcess(flash, firmware=flash)
    assert process.power_on(1) is not None  # it runs as it was installed
    process.power_off()


def test_a_port_that_is_not_there_is_one_clear_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["firmware", "verify", "/dev/none"]) == 2
    assert main(["firmware", "verify", "usb:NONE"]) == 2
    assert main(["firmware"]) == 2
    assert main(["firmware", "burn"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    assert "there is no port /dev/none" in lines[0]


def test_a_port_without_a_board_is_one_clear_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("recount_device.firmware_board.TALK_TIMEOUT_S", 1.5)
    here, there = os.openpty()
    try:
        assert main(["firmware", "info", os.ttyname(there)]) == 2
    finally:
        os.close(here)
        os.close(there)
    assert "is MicroPython on it" in capsys.readouterr().err


def _no_module(_name: str) -> None:
    """Find no module."""


def test_without_mpremote_the_command_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("recount_device.firmware_board.find_spec", _no_module)
    assert main(["firmware", "info", "/dev/null"]) == 2
    assert "pip install recount-scanner[firmware]" in capsys.readouterr().err
