"""A recorded run played again: the same firmware does the same; another one is found out, and where."""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from device.tests.world.bench import some_sheets
from device.tests.world.desk import Desk
from recount_device.cli import main
from recount_world.board_process import BoardProcess
from recount_world.errors import TraceError
from recount_world.faults import read_fault
from recount_world.pins import firmware_folder
from recount_world.replay import read_trace, replay
from recount_world.script import Script
from recount_world.trace import Trace
from recount_world.world import World

pytestmark = pytest.mark.usefixtures("micropython")

ACCIDENTS: tuple[Mapping[str, object], ...] = (
    {"kind": "stop_pressed", "at_s": 1.5},
    {"kind": "board_reset", "at_s": 3.0},
    {"kind": "cable_cut", "at_s": 5.0, "for_s": 1.0},
    {"kind": "cable_noise", "at_s": 8.0, "for_s": 1.0, "per_million": 2000},
)
STOPPED_OUTPUTS = "STOPPED: (False, STANDING, False, False),"
STOPPED_UNDER_CURRENT = "STOPPED: (False, STANDING, True, False),"


class AskingDesk(Desk):
    """A desk that asks the board at each connection which firmware it has, as a station does."""

    def _meet(self, boot: int) -> None:
        self._say("identify")
        super()._meet(boot)


def record(folder: Path, accidents: Iterable[Mapping[str, object]] = ACCIDENTS) -> Path:
    """Return the trace of a day with accidents, dust and bounce."""
    (folder / "flash").mkdir()
    script = Script(
        operator="none",
        sheets=some_sheets(5),
        faults=tuple(read_fault(entry, "fault") for entry in accidents),
        seed=11,
        bounce_us=1500,
        dust_per_minute=20.0,
    )
    with Trace(folder / "world.trace") as trace:
        world = World(script, BoardProcess(folder / "flash", seed=11), trace)
        try:
            desk = AskingDesk(world)
            desk.work(60_000_000)
            # Long enough at rest for the protective counter to be written; then a start that reads it.
            world.run_until(world.now_us + 4_000_000)
            world.reset_board()
            world.run_until(world.now_us + 1_000_000)
        finally:
            world.close()
    assert desk.done
    return folder / "world.trace"


def altered(folder: Path, name: str, old: str, new: str) -> Path:
    """Return a copy of the firmware with one thing changed."""
    shutil.copytree(firmware_folder(), folder / "altered")
    source = folder / "altered" / name
    text = source.read_text(encoding="utf-8")
    assert text.count(old) == 1
    source.write_text(text.replace(old, new), encoding="utf-8")
    return folder / "altered"


def test_the_same_firmware_does_again_what_a_day_of_accidents_recorded(tmp_path: Path) -> None:
    lines = read_trace(record(tmp_path))
    verdict = replay(lines)
    assert verdict.difference is None
    assert verdict.other_firmware is None
    assert verdict.compared == sum(line.word in {"pin", "pulses", "tx", "flash"} for line in lines)
    assert any(line.word == "flash" for line in lines)
    assert verdict.messages > 20


@pytest.mark.parametrize("part", [0.3, 0.65, 0.9])
def test_a_trace_that_ends_in_the_middle_of_a_line_is_replayed_as_far_as_it_goes(
    tmp_path: Path, part: float
) -> None:
    path = record(tmp_path)
    content = path.read_bytes()
    path.write_bytes(content[: round(len(content) * part)])
    assert replay(read_trace(path)).difference is None


def test_a_firmware_that_keeps_the_current_on_at_a_stop_is_found_at_the_first_stop(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = record(tmp_path)
    firmware = altered(tmp_path, "feeder.py", STOPPED_OUTPUTS, STOPPED_UNDER_CURRENT)
    verdict = replay(read_trace(trace), firmware)
    assert verdict.difference is not None
    assert str(verdict.difference.recorded).endswith("pin MOTOR_ENABLE 0")
    assert 1.5 <= verdict.seconds < 1.51  # when the stop was pressed
    assert main(["replay", str(trace), "--firmware", str(firmware)]) == 1
    shown = capsys.readouterr().out
    assert "the firmware is another one" in shown
    assert "different after 1.50" in shown
    assert "sensor STOP_BUTTON 1" in shown


def test_a_firmware_that_says_something_else_is_found_by_its_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = record(tmp_path)
    late = 'self._begin(now_us)\n        self._tell("entered", self.sheet, 0)'
    firmware = altered(tmp_path, "feeder.py", late, "self._begin(now_us)")
    assert main(["replay", str(trace), "--firmware", str(firmware)]) == 1
    shown = capsys.readouterr().out
    assert "entered(sheet=1, counts=(1, 0, 0, 0, 0))" in shown.splitlines()[-2]


def test_a_firmware_that_differs_in_nothing_but_its_hash_does_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = record(tmp_path)
    firmware = altered(tmp_path, "main.py", "REST_MS = 2000 ", "REST_MS = 2000  ")
    assert main(["replay", str(trace), "--firmware", str(firmware)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("the firmware is another one: ")
    assert "\nthe same: " in shown


def test_a_replay_command_says_that_all_is_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(record(tmp_path, ()))]) == 0
    assert capsys.readouterr().out.startswith("the same: ")


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "its first line must be"),
        ("0 sensor HOPPER 1\n", "its first line must be"),
        ("0 seed 7\n", "no board starts in this trace"),
        ("0 seed x\n0 board boots\n", "lacks a number"),
        ("0 seed 7\nnow sensor HOPPER 1\n", "line 2: a line is"),
        ("0 seed 7\n0 board boots\n0 sensor NOSE 1\n", "a sensor NOSE"),
        ("0 seed 7\n0 board boots\n0 rx zz\n", "lacks its bytes"),
    ],
)
def test_what_is_no_trace_is_one_clear_line(tmp_path: Path, content: str, why: str) -> None:
    path = tmp_path / "world.trace"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TraceError, match=why):
        replay(read_trace(path))


def test_a_missing_trace_or_firmware_is_the_operators_matter(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(tmp_path / "none")]) == 2
    assert main(["replay", str(tmp_path / "none"), "--firmware", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 2
