"""Rigs: their files, what is missing, the first failure, and the second Pico's paper path."""

import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from firmware_tests.hardware_rigs import PersonsPaper, PicoPaper, ask_firmware
from firmware_tests.rig import (
    OnlyOnce,
    Rig,
    RigError,
    RigMissing,
    Where,
    read_rig,
)
from recount_world.paper import Paper, Sheet
from recount_world.path import TICKS_PER_MM, Bundle, Carried, PaperPath
from recount_world.pins import INPUTS, firmware_pins
from recount_world.sensors import Ailments, Switches, sensor_levels

HERE = Path(__file__).resolve().parent


def paper_path() -> Any:
    """Load the second Pico's program."""
    spec = spec_from_file_location("paper_path", HERE / "rigs" / "paper_path.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- files ---


@pytest.mark.parametrize("name", ["pico-pair", "bench"])
def test_the_rig_files_here_can_be_read(name: str) -> None:
    assert read_rig(HERE / "rigs" / f"{name}.toml").kind == name


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('kind = "oscilloscope"', "kind must be one of virtual, pico-pair, bench"),
        ('kind = "bench"\nlink = "/dev/x"', "names these ports and no others: link, feeder_usb"),
        ('kind = "virtual"\nlink = "/dev/x"', "names these ports and no others"),
        ("kind = ", "cannot be read as a rig"),
    ],
)
def test_a_mistake_in_a_rig_file_is_one_clear_line(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "rig.toml"
    file.write_text(text)
    with pytest.raises(RigError, match=sentence) as raised:
        read_rig(file)
    assert "\n" not in str(raised.value)


# --- hardware that is not here, hardware that fails ---


def test_without_the_hardware_the_feeders_tests_are_skipped_and_say_what_is_missing() -> None:
    file = HERE / "rigs" / "pico-pair.toml"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "no:cacheprovider",
            str(HERE / "test_feeder.py"),
            "--rig",
            file,
        ],
        capture_output=True,
        text=True,
        cwd=HERE.parent,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "15 skipped" in done.stdout
    assert "the feeder link: no adapter with the serial number FEEDER-ADAPTER is plugged in" in done.stdout


def test_what_failed_on_a_rig_once_is_told_again_and_not_tried_again() -> None:
    tries: list[int] = []

    def open_rig() -> Rig:
        tries.append(1)
        raise RigError("the feeder link is gone")

    once = OnlyOnce(open_rig)
    for _ in range(3):
        with pytest.raises(RigError, match="the feeder link is gone"):
            once.rig()
    once.failed("test_later", "another failure")
    with pytest.raises(RigError, match="the feeder link is gone"):
        once.rig()
    assert len(tries) == 1


def test_a_test_that_failed_on_the_rig_bars_the_tests_after_it() -> None:
    once = OnlyOnce(lambda: pytest.fail("opened all the same"))
    once.failed("test_a_jam", "the board did not say stopped")
    with pytest.raises(RigError, match="not tried again: the rig failed in test_a_jam"):
        once.rig()


# --- which firmware it is ---


def test_a_rig_without_its_board_is_missing_and_says_so() -> None:
    with pytest.raises(RigMissing, match="the feeder's USB: no adapter with the serial number E0"):
        ask_firmware("usb:E0")


def test_a_port_without_micropython_is_a_fault_of_the_rig(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recount_device.firmware_board.TALK_TIMEOUT_S", 1.0)
    here, there = os.openpty()
    try:
        with pytest.raises(RigError, match="is MicroPython on it"):
            ask_firmware(os.ttyname(there))
    finally:
        os.close(here)
        os.close(there)


# --- the second Pico ---


class FakePort:
    """A serial port with the second Pico's program at its other end."""

    def __init__(self, path: Any) -> None:
        self._path = path
        self._waiting = b""

    @property
    def in_waiting(self) -> int:
        """Return how many bytes wait."""
        return len(self._waiting)

    def reset_input_buffer(self) -> None:
        """Forget what waits."""
        self._waiting = b""

    def write(self, data: bytes) -> None:
        """Let the program answer."""
        self._waiting += f"{self._path.command(data.decode())}\r\n".encode()

    def read(self, count: int) -> bytes:
        """Return what waits."""
        data, self._waiting = self._waiting[:count], self._waiting[count:]
        return data


def test_the_second_pico_lays_moves_and_counts_paper_as_it_is_told() -> None:
    module = paper_path()
    path = module.Path()
    paper = PicoPaper(FakePort(path))  # type: ignore[arg-type]
    paper.lay(2)
    paper.lay(stuck=3)
    assert paper.where() == Where(5, 0, 0, 0, 0, 0)
    for exit_ in (0, 2):
        for _ in range(1000):
            path.move(4, 10, exit_)
    assert paper.where().not_accepted + paper.where().counted == 5
    assert paper.where().hopper == 0


def test_the_second_pico_drives_a_sheet_back_into_the_hands_and_holds_one_that_jams() -> None:
    module = paper_path()
    path = module.Path()
    paper = PicoPaper(FakePort(path))  # type: ignore[arg-type]
    paper.lay()
    for _ in range(60):
        path.move(10, 10, 0)
    for _ in range(60):
        path.move(0, -10, 0)
    assert paper.where().operator == 1
    paper.lay()
    paper.jam(200)
    for _ in range(1000):
        path.move(10, 10, 0)
    assert path.path[0][0] == module.ENTRY + 200 * module.STEPS_PER_MM
    paper.cover(open_=True)
    assert path.levels() & module.COVER_BIT
    paper.clear()
    assert paper.where().path == 0


def test_a_line_that_the_second_pico_does_not_know_is_an_error() -> None:
    paper = PicoPaper(FakePort(paper_path().Path()))  # type: ignore[arg-type]
    with pytest.raises(RigError, match="no such command: fly 3"):
        paper.say("fly 3")
    with pytest.raises(RigError, match="other numbers are needed: lay one"):
        paper.say("lay one")


def test_the_second_picos_sensors_see_paper_at_the_same_steps_as_the_simulated_devices() -> None:
    module = paper_path()
    theirs = module.Path()
    theirs.command("lay 1 279.4 1")
    ours = PaperPath(Paper([Sheet("1")]))
    pins = firmware_pins()
    assert tuple(pins.gpio[name] for name in INPUTS) == module.SENSOR_PINS
    ours.put(Bundle([Carried(ours.paper.sheets["1"], 0)]))
    theirs.move(1, 1, 0)
    for step in range(1, 10_000):
        for carried in ours.carried():
            carried.lead = step * (TICKS_PER_MM // module.STEPS_PER_MM)
        ours.settle(0)
        seen = sensor_levels(ours, Switches(), Ailments())
        bits = sum(seen[name] << place for place, name in enumerate(INPUTS) if name != "HOPPER")
        assert bits == theirs.levels() & ~module.HOPPER_BIT, f"at step {step}"
        theirs.move(1, 1, 0)


# --- a person ---


def test_a_person_is_asked_again_until_the_counts_are_six_numbers() -> None:
    answers = iter(["", "many", "0 0 1 0 0 2"])
    asked: list[str] = []

    def ask(question: str) -> str:
        asked.append(question)
        return next(answers)

    assert PersonsPaper(ask).where() == Where(0, 0, 1, 0, 0, 2)
    assert len(asked) == 3
