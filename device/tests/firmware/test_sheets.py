"""One sheet after another through the real firmware, from the hopper to where its verdict sends it."""

from pathlib import Path

import pytest

from device.tests.firmware.bench import (
    DIVERTER_A,
    DIVERTER_B,
    ENABLE,
    ENTRY_TO_CAMERA_MM,
    LAMP,
    PICK_STEP,
    REVERSE,
    STEPS_PER_MM,
    TRANSPORT_STEP,
    Bench,
    a_ready_feeder,
)

COUNTED, SET_ASIDE, NOT_ACCEPTED, BACK = range(4)


@pytest.mark.parametrize("exit_", [COUNTED, SET_ASIDE, NOT_ACCEPTED])
def test_a_sheet_lands_where_its_verdict_says(tmp_path: Path, exit_: int) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "at_camera", sheet=41)
        landed = bench.ask("divert", "landed", sheet=41, exit=exit_)
        assert bench.paper.landed == [exit_]
        expected = [1, 0, 0, 0, 0]
        expected[1 + exit_] = 1
        assert landed == {"sheet": 41, "exit": exit_, "counts": tuple(expected)}
        assert not bench.moving()
        assert bench.state() == "ready"


def test_a_sheet_sent_back_falls_clear_of_the_entry(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "at_camera", sheet=41)
        landed = bench.ask("divert", "landed", sheet=41, exit=BACK)
        assert bench.paper.returned == 1
        assert landed == {"sheet": 41, "exit": BACK, "counts": (1, 0, 0, 0, 1)}
        assert bench.outputs[REVERSE] == 1
        assert bench.state() == "ready"


def test_the_entry_is_told_before_the_camera(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "at_camera", sheet=5)
        assert [message.name for message in bench.heard] == ["entered", "at_camera"]
        assert bench.heard[0].fields == {"sheet": 5, "counts": (1, 0, 0, 0, 0)}


def test_at_the_camera_the_sheet_rests_until_its_verdict_comes(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "at_camera", sheet=5)
        place_mm = bench.paper.path[0].lead_mm
        bench.run(3000)
        assert bench.paper.path[0].lead_mm == place_mm
        assert ENTRY_TO_CAMERA_MM <= place_mm < ENTRY_TO_CAMERA_MM + 5
        assert bench.state() == "at_camera"


@pytest.mark.parametrize("length_mm", [210.0, 279.4, 355.6])
def test_the_length_is_measured_to_a_millimetre(tmp_path: Path, length_mm: float) -> None:
    with a_ready_feeder(tmp_path, sheets=0) as bench:
        bench.load(length_mm=length_mm)
        at_camera = bench.ask("feed", "at_camera", sheet=1)
        assert abs(at_camera["length_mm"] - length_mm) <= 1


@pytest.mark.parametrize("speed_mm_s", [25, 1500])
def test_the_slowest_and_fast_rollers_feed_as_well(tmp_path: Path, speed_mm_s: int) -> None:
    with a_ready_feeder(tmp_path, transport_mm_s=speed_mm_s) as bench:
        bench.say("feed", sheet=1)
        assert abs(bench.hear("at_camera", 30_000)["length_mm"] - 279) <= 1
        bench.say("divert", sheet=1, exit=SET_ASIDE)
        bench.hear("landed", 30_000)


def test_the_pick_motor_rests_once_the_sheet_has_entered(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=2) as bench:
        bench.ask("feed", "entered", sheet=1)
        bench.run(10)
        assert bench.pulses[PICK_STEP] == 0
        assert bench.pulses[TRANSPORT_STEP] == 600 * STEPS_PER_MM
        bench.hear("at_camera")
        assert len(bench.paper.hopper) == 1


def test_the_diverter_stands_before_the_sheet_moves(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "at_camera", sheet=1)
        bench.output_log.clear()
        bench.pulse_log.clear()
        bench.ask("divert", "landed", sheet=1, exit=SET_ASIDE)
        moved_us = next(at for at, gpio, level in bench.output_log if (gpio, level) == (DIVERTER_A, 1))
        started_us = next(at for at, gpio, rate in bench.pulse_log if gpio == TRANSPORT_STEP and rate)
        assert started_us - moved_us >= 80_000


def test_a_diverter_that_already_stands_there_is_not_waited_for(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=2, diverter_settle_ms=5000) as bench:
        bench.ask("feed", "at_camera", sheet=1)
        bench.ask("divert", "landed", sheet=1, exit=COUNTED)
        bench.ask("feed", "at_camera", sheet=2)
        began_us = bench.now_us
        bench.ask("divert", "landed", sheet=2, exit=COUNTED)
        assert bench.now_us - began_us < 2_000_000


def test_each_exit_has_its_place_of_the_diverter(tmp_path: Path) -> None:
    places: dict[int, tuple[int, int]] = {}
    with a_ready_feeder(tmp_path, sheets=3) as bench:
        for exit_ in (COUNTED, SET_ASIDE, NOT_ACCEPTED):
            bench.ask("feed", "at_camera", sheet=exit_ + 1)
            bench.ask("divert", "landed", sheet=exit_ + 1, exit=exit_)
            places[exit_] = (bench.outputs[DIVERTER_A], bench.outputs[DIVERTER_B])
    assert places == {COUNTED: (0, 0), SET_ASIDE: (1, 0), NOT_ACCEPTED: (0, 1)}


def test_the_lamp_lights_the_bed_while_sheets_are_fed(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.load()
        bench.connect()
        assert bench.outputs[LAMP] == 0
        bench.configure()
        bench.ask("feed", "at_camera", sheet=1)
        assert bench.outputs[LAMP] == 1


def test_the_motors_have_no_current_between_sheets(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        assert bench.outputs[ENABLE] == 0
        bench.ask("feed", "at_camera", sheet=1)
        assert bench.outputs[ENABLE] == 1
        bench.ask("divert", "landed", sheet=1, exit=COUNTED)
        bench.run(20)
        assert bench.outputs[ENABLE] == 0


def test_a_pick_that_slips_is_tried_once_more(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.paper.pick_slips = True
        bench.heard.clear()
        bench.say("feed", sheet=1)
        bench.until(lambda: bench.pulses.get(PICK_STEP, 0) > 0)
        bench.until(lambda: bench.pulses[PICK_STEP] == 0)
        assert bench.heard == []
        bench.paper.pick_slips = False
        assert bench.hear("at_camera")["sheet"] == 1


def test_twenty_sheets_land_and_are_counted(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=20) as bench:
        for sheet in range(1, 21):
            bench.ask("feed", "at_camera", sheet=sheet)
            bench.ask("divert", "landed", sheet=sheet, exit=sheet % 4)
        assert bench.report()["counts"] == (20, 5, 5, 5, 5)
        assert sorted(bench.paper.landed) == [0] * 5 + [1] * 5 + [2] * 5
        assert bench.paper.returned == 5


def test_sheets_run_on_while_the_boards_microseconds_wrap(tmp_path: Path) -> None:
    wrap_us = 1 << 30
    with Bench(tmp_path, start_us=wrap_us - 1_000_000) as bench:
        bench.load(3)
        bench.configure()
        for sheet in range(1, 4):
            assert bench.ask("feed", "at_camera", sheet=sheet)["length_mm"] == 279
            bench.ask("divert", "landed", sheet=sheet, exit=SET_ASIDE)
        assert bench.now_us > wrap_us
        assert bench.paper.landed == [SET_ASIDE] * 3
