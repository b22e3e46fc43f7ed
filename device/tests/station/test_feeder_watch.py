"""A technician watches the feeder: sensors live, motors by guided steps, here on the simulated device."""

import io
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from device.tests.station.bench import Bench, Paper
from recount_device.cli import main
from recount_device.feeder_link import Connected, Gone, Identified, Said
from recount_device.feeder_watch import STEPS, Command, Watch
from recount_protocol import feeder_messages
from recount_world.client import control

READY = feeder_messages.READY
STOPPED = feeder_messages.STOPPED


def report(*sensors: str, state: int = READY, reason: int = 0) -> Said:
    bits = sum(1 << feeder_messages.SENSORS.index(sensor) for sensor in sensors)
    fields = {"state": state, "sheet": 0, "stop_reason": reason, "sensors": bits}
    return Said("report", {**fields, "last_sheet": 0, "last_exit": 255, "protective": 9}, (40, 30, 8, 2, 0))


def a_watch(step: int = 0) -> Watch:
    watch = Watch(configuration={"silence_ms": 500}, step=step)
    assert watch.take(Connected(7)) == [Command("configure", {"silence_ms": 500}), Command("ask", {})]
    watch.take(Identified("ab" * 32))
    watch.take(report())
    watch.news.clear()
    return watch


def test_a_sensors_step_is_done_when_it_was_seen_covered_and_uncovered() -> None:
    watch = a_watch()
    watch.take(report("hopper"))
    assert watch.step == 0
    watch.take(report())
    assert watch.step == 1
    assert watch.news == ["hopper 1", "hopper 0", f"step 1 of {len(STEPS)} done"]


def test_every_sensor_every_motor_and_every_exit_has_its_step() -> None:
    assert {step.sensor for step in STEPS if step.sensor} == set(feeder_messages.SENSORS)
    assert {step.exit for step in STEPS if step.exit} == set(feeder_messages.EXITS)
    assert {step.command for step in STEPS if step.command} == {"feed", "divert"}


def test_enter_feeds_one_sheet_and_sends_it_on_only_when_it_lies_at_the_camera() -> None:
    watch = a_watch(step=len(feeder_messages.SENSORS))
    assert watch.key("") == [Command("feed", {"sheet": 1})]
    watch.take(Said("at_camera", {"sheet": 1, "length_mm": 279}, (41, 30, 8, 2, 0)))
    assert watch.key("") == [Command("divert", {"sheet": 1, "exit": 0})]
    watch.take(Said("landed", {"sheet": 1, "exit": 0}, (41, 31, 8, 2, 0)))
    assert watch.guide().startswith("Step 12 of 17: Lay a sheet")
    assert watch.key("") == [Command("feed", {"sheet": 2})]


def test_what_the_board_counted_before_is_never_shown() -> None:
    watch = a_watch(step=len(feeder_messages.SENSORS))
    watch.take(Said("landed", {"sheet": 1, "exit": 0}, (41, 31, 8, 2, 0)))
    assert watch.lines()[-1] == "passed    entries 1, counted 1, set_aside 0, not_accepted 0, back 0"
    assert watch.passed == (1, 1, 0, 0, 0)
    watch.take(Gone("unplugged"))
    watch.take(Connected(8))  # it started anew, and so did its counts
    watch.take(Said("entered", {"sheet": 2}, (1, 0, 0, 0, 0)))
    assert watch.passed == (0, 0, 0, 0, 0)


def test_a_stop_in_the_middle_begins_with_the_sheet_in_the_hopper_again() -> None:
    watch = a_watch(step=len(feeder_messages.SENSORS))
    watch.key("")
    watch.take(Said("at_camera", {"sheet": 1, "length_mm": 279}, (1, 0, 0, 0, 0)))
    watch.take(Said("stopped", {"reason": feeder_messages.COVER_OPEN, "sheet": 1}, (1, 0, 0, 0, 0)))
    watch.take(report("camera", state=STOPPED, reason=feeder_messages.COVER_OPEN))
    assert watch.news[-2:] == ["stopped: cover_open. The cover was opened.", "camera 1"]
    assert "Take all paper out of the path" in watch.guide()
    assert watch.key("") == [Command("clear", {}), Command("ask", {})]
    watch.take(report())
    assert watch.key("") == [Command("feed", {"sheet": 2})]


def test_a_refusal_and_an_unknown_key_are_told_in_words() -> None:
    watch = a_watch()
    watch.key("z")
    watch.take(Said("refused", {"kind": 2, "sheet": 1, "state": READY}, None))
    assert watch.news == ["there is no key 'z'", "the board refuses feed while it is ready"]
    assert watch.key("") == []  # a sensor's step ends by itself
    assert watch.key("h") == [Command("halt", {})]
    assert watch.key("c") == [Command("clear", {})]


def test_skipped_steps_are_told_at_the_end() -> None:
    watch = a_watch()
    while watch.now is not None:
        watch.key("s")
    assert watch.guide() == "All steps are through. 13 were skipped. q ends."
    assert not watch.done
    watch.key("q")
    assert watch.done


@pytest.fixture
def folder(tmp_path: Path, micropython: str) -> Generator[Path, None, None]:
    sheets = "\n".join(f'[[sheet]]\nid = "{number}"' for number in range(4))
    (tmp_path / "WORLD.toml").write_text(f'socket = "world.sock"\noperator = "none"\n{sheets}\n')
    part = '"simulated:world.sock"'
    (tmp_path / "DEVICE.toml").write_text(
        f'name = "t"\nfolder = "t"\nfeeder = {part}\ncamera = {part}\npanel = {part}\n'
        'host = "tcp://127.0.0.1:7411"\n'
    )
    command = [sys.executable, "-m", "recount_device", "simulate", str(tmp_path / "WORLD.toml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield tmp_path
        process.terminate()


class Shown(io.StringIO):
    """What is shown, and word to whoever waits for more of it."""

    def __init__(self) -> None:
        super().__init__()
        self.more = threading.Condition()

    def flush(self) -> None:
        with self.more:
            self.more.notify_all()


class Typing(io.StringIO):
    """A person who types what fits what is shown, until all steps are through."""

    def __init__(self, out: Shown) -> None:
        super().__init__()
        self._out = out
        self._answered = 0

    def __iter__(self) -> "Typing":
        return self

    def __next__(self) -> str:
        with self._out.more:
            self._out.more.wait_for(lambda: len(self._steps()) > self._answered)
        steps = self._steps()
        self._answered = len(steps)
        if steps[-1].startswith("All"):
            return "q\n"
        return "\n" if "Enter" in steps[-1] else "s\n"

    def _steps(self) -> list[str]:
        return [line for line in self._out.getvalue().splitlines() if line.startswith(("Step", "All"))]


def test_a_simulated_feeder_is_led_through_all_its_motors_and_exits(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = Shown()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stdin", Typing(out))
    assert main(["feeder", "watch", str(folder / "DEVICE.toml")]) == 0
    shown = out.getvalue().splitlines()
    assert [line for line in shown if line.startswith("left the path")] == [
        "left the path: counted",
        "left the path: set_aside",
        "left the path: not_accepted",
        "left the path: back",
    ]
    assert "at the camera: 279 mm long" in shown
    with control(folder / "world.sock") as people:
        positions = people.positions()
    assert (positions["counted"], positions["set_aside"], positions["not_accepted"]) == (["0"], ["1"], ["2"])
    assert positions["operator"] == ["3"]


def test_a_device_with_an_open_batch_lets_nobody_feed_sheets_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "DEVICE.toml").write_text(
        'name = "t"\nfolder = "t"\nfeeder = "serial:/dev/none"\ncamera = "picamera2"\npanel = "gpio"\n'
        'host = "tcp://127.0.0.1:7411"\n'
    )
    (tmp_path / "t").mkdir()
    bench = Bench(tmp_path / "t", [Paper("1", mishaps=("jam_after",))])
    bench.scan()
    bench.journal.close()
    assert main(["feeder", "watch", str(tmp_path / "DEVICE.toml")]) == 2
    assert "device t has a batch open" in capsys.readouterr().err
