"""A device that finds a part of its own not as it was proved feeds nothing, and is armed no longer."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from device.tests.station.bench import Bench, Paper
from device.tests.station.test_arming import after_test, armed, fed_live, order
from recount_device.camera import Page
from recount_device.clock import Waitable
from recount_device.errors import CameraFault
from recount_device.self_test import BED_FILE, Failed, SelfTest

MakeBench = Callable[..., Bench]
DARK = Failed("camera", "its camera sees the empty bed darker than in its test", "Close the covers.")


class Bed:
    """A camera over an empty bed."""

    def __init__(self) -> None:
        self.grey = 48
        self.sides = 1
        self.fails = False
        self.is_stalled = False
        self._pictures = 0

    def capture(self, after_us: int) -> Sequence[Page]:
        del after_us
        if self.fails:
            raise CameraFault("no picture in time")
        self._pictures += not self.is_stalled
        noise = np.random.default_rng(self._pictures).integers(0, 2, (100, 80))
        return [(self.grey + noise).astype(np.uint8)] * self.sides

    def close(self) -> None: ...


class TickingClock:
    """A clock that goes on a little at each look."""

    step_us = 1

    def __init__(self) -> None:
        self._now_us = 0

    def now_us(self) -> int:
        self._now_us += self.step_us
        return self._now_us

    def wait(self, port: Waitable, until_us: int) -> int:
        raise AssertionError(f"a test of itself waits for nothing, not for {port} until {until_us}")


class Parts:
    """The parts of a device, and its test of them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.camera, self.clock, self.software = folder, Bed(), TickingClock(), "as started"
        self._test = SelfTest(folder, self.clock, self.camera, lambda: self.software)

    def failed(self, *, proving: bool = False, proved: bool = False) -> str:
        """Return why a part fails; empty where none does."""
        found = self._test(proving=proving, proved=proved)
        return "" if found is None else found.why

    def after_its_test(self) -> "Parts":
        assert self.failed(proving=True) == ""
        return self


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    return Parts(tmp_path)


def test_parts_that_are_as_they_were_proved_pass_and_leave_nothing_on_the_disk(parts: Parts) -> None:
    assert parts.after_its_test().failed(proved=True) == ""
    assert [path.name for path in parts.folder.iterdir()] == [BED_FILE]


@pytest.mark.parametrize(("grey", "than"), [(20, "darker"), (85, "brighter")])
def test_another_light_than_that_of_the_test_fails_an_armed_device_alone(
    parts: Parts, grey: int, than: str
) -> None:
    parts.after_its_test().camera.grey = grey
    assert than in parts.failed(proved=True)
    assert parts.failed() == ""


def test_a_lamp_that_ages_by_a_third_still_passes(parts: Parts) -> None:
    parts.after_its_test().camera.grey = 33
    assert parts.failed(proved=True) == ""


def test_on_a_very_dark_bed_a_few_levels_are_no_other_light(parts: Parts) -> None:
    parts.camera.grey = 3
    parts.after_its_test().camera.grey = 7
    assert parts.failed(proved=True) == ""


def test_a_bed_as_bright_as_paper_fails_before_any_test(parts: Parts) -> None:
    parts.camera.grey = 120
    assert "as bright as paper" in parts.failed(proving=True)


@pytest.mark.parametrize("content", [None, b"", b"[", b"{}", b'["48"]', b"[48.0, 48.0]"])
def test_an_armed_device_that_does_not_know_the_light_of_its_test_fails(
    parts: Parts, content: bytes | None
) -> None:
    path = parts.after_its_test().folder / BED_FILE
    path.unlink() if content is None else path.write_bytes(content)
    assert "not known how light" in parts.failed(proved=True)


def test_a_camera_without_a_picture_fails(parts: Parts) -> None:
    parts.camera.fails = True
    assert "no picture in time" in parts.failed()


def test_a_camera_that_gives_one_picture_twice_fails(parts: Parts) -> None:
    parts.camera.is_stalled = True
    assert "one picture twice" in parts.failed()


def test_a_camera_of_which_one_side_is_missing_fails_an_armed_device(parts: Parts) -> None:
    parts.camera.sides = 2
    parts.after_its_test().camera.sides = 1
    assert "not known how light" in parts.failed(proved=True)


def test_a_clock_that_runs_backwards_fails(parts: Parts) -> None:
    parts.clock.step_us = -1
    assert "runs backwards" in parts.failed()


def test_files_that_were_changed_while_the_device_runs_fail_it(parts: Parts) -> None:
    parts.software = "another"
    assert "changed while it ran" in parts.failed()


def test_a_disk_that_takes_no_file_fails(parts: Parts) -> None:
    parts.folder.rename(parts.folder.with_name("gone"))
    assert "does not take a file" in parts.failed()


def test_a_disk_that_gives_back_other_bytes_fails(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(_path: Path) -> bytes:
        return b"other"

    monkeypatch.setattr(Path, "read_bytes", other)
    assert "other bytes" in parts.failed()


# What the device does with it


def test_a_device_tests_itself_at_its_start_and_before_each_runs_first_sheet(a_bench: MakeBench) -> None:
    bench = a_bench([])
    bench.steps()
    assert bench.tests == [(False, False)], "at its start"
    armed(bench)
    assert bench.tests[1:] == [(True, False)], "before the test's first sheet, which proves it"
    assert fed_live(bench) == 1
    assert bench.tests[2:] == [(False, True)], "before the first live sheet"
    bench.restart()
    bench.steps()
    assert bench.tests[3:] == [(False, True)], "armed, and started anew"


def test_a_failed_test_of_itself_disarms_the_device_until_it_passes_logic_and_accuracy_again(
    a_bench: MakeBench,
) -> None:
    bench = armed(a_bench([]))
    bench.failed = DARK
    assert fed_live(bench) == 0
    assert "The device's test of itself failed: its camera sees the empty bed darker" in bench.panel.text
    (fault,) = [one for one in bench.records("fault") if one.body["word"] == "self_test_failed"]
    assert fault.body["detail"] == f"camera: {DARK.why}"
    (disarmed,) = bench.records("device_disarmed")
    assert DARK.why in disarmed.body["why"]
    assert any("test of itself failed" in note for _state, note in bench.host.states)
    bench.failed = None
    bench.press("confirm")
    bench.press("start")
    bench.steps(40)
    assert bench.records("sheet_judged")[1:] == [], "mended, but not proved again"
    assert "This device is not armed" in bench.panel.text


def test_a_device_that_fails_at_its_start_stays_disarmed_after_the_next(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    bench.failed = DARK
    bench.restart()
    bench.steps()
    assert len(bench.records("device_disarmed")) == 1
    bench.failed = None
    bench.restart()
    assert fed_live(bench) == 0


def test_in_training_too_nothing_is_fed_before_the_device_passes_its_own_test(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.failed = DARK
    bench.steps()
    bench.assign()
    bench.press("start")
    bench.steps(40)
    assert bench.records("batch_opened") == []
    assert bench.panel.shown[-1].question == "Is it mended? Press Confirm."
    bench.failed = None
    bench.press("confirm")
    bench.press("start")
    bench.until("hopper_empty")
    assert len(bench.records("sheet_judged")) == 1


def test_a_test_that_passed_before_a_part_failed_arms_nothing(a_bench: MakeBench) -> None:
    bench = after_test(a_bench([]))
    bench.failed = DARK
    bench.restart()
    bench.steps()
    bench.failed = None
    bench.press("confirm")
    bench.host.order("arm_device", **order())
    bench.steps()
    assert bench.records("device_armed") == []
    assert "the last thing it ran is not the test test-1" in bench.panel.text


def test_a_sensor_that_still_sees_paper_after_the_path_was_cleared_disarms(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    bench.machine.sensor_is_stuck = True
    bench.machine.hopper[:] = [Paper("a live sheet")]
    bench.assign("live-1", "live")
    bench.press("start")
    assert bench.panel.key == "take_out_and_return", "first people look for paper"
    assert bench.records("device_disarmed") == []
    bench.press("confirm")
    (disarmed,) = bench.records("device_disarmed")
    assert "a sensor of the path sees paper" in disarmed.body["why"]
    bench.press("confirm")
    assert "sensor of the path" in bench.panel.text
    assert len(bench.records("device_disarmed")) == 1
    bench.machine.sensor_is_stuck = False
    bench.press("confirm")
    assert bench.panel.text.startswith("This device is not armed")
