"""Commands that do not fit are refused, whatever comes over the wire; through the real firmware."""

import os
import random
from pathlib import Path

import pytest

from device.tests.firmware.bench import CONFIGURATION, TRANSPORT_STEP, Bench, a_ready_feeder
from device.tests.firmware.noise import under_noise

COUNTED, SET_ASIDE, NOT_ACCEPTED, BACK = range(4)


def test_the_measures_of_the_path_are_echoed(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.connect()
        assert bench.ask("configure", "configured", **CONFIGURATION) == CONFIGURATION


@pytest.mark.parametrize(
    "change",
    [{"min_length_mm": 361}, {"transport_mm_s": 24}, {"pick_mm_s": 5}],
    ids=["the shortest longer than the longest", "rollers too slow", "pick too slow"],
)
def test_measures_that_cannot_be_met_are_refused(tmp_path: Path, change: dict[str, int]) -> None:
    with Bench(tmp_path) as bench:
        bench.connect()
        assert bench.ask("configure", "refused", **(CONFIGURATION | change)) == {
            "kind": 1,
            "sheet": 0,
            "state": 0,
        }
        assert bench.state() == "unconfigured"


def test_nothing_is_fed_before_the_measures_are_known(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.load()
        bench.connect()
        assert bench.ask("feed", "refused", sheet=1) == {"kind": 2, "sheet": 1, "state": 0}
        assert not bench.moving()


def test_the_verdict_for_another_sheet_moves_nothing(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "at_camera", sheet=7)
        for exit_ in (COUNTED, SET_ASIDE, NOT_ACCEPTED, BACK):
            refused = bench.ask("divert", "refused", sheet=8, exit=exit_)
            assert refused == {"kind": 3, "sheet": 8, "state": 4}
        assert bench.pulses[TRANSPORT_STEP] == 0
        bench.ask("divert", "landed", sheet=7, exit=COUNTED)


def test_a_verdict_that_comes_early_is_refused(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "entered", sheet=7)
        bench.ask("divert", "refused", sheet=7, exit=COUNTED)
        bench.hear("at_camera")
        bench.run(500)
        assert bench.paper.path


def test_a_second_verdict_is_refused(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "at_camera", sheet=7)
        bench.say("divert", sheet=7, exit=SET_ASIDE)
        bench.ask("divert", "refused", sheet=7, exit=COUNTED)
        bench.hear("landed")
        assert bench.paper.landed == [SET_ASIDE]


def test_a_second_sheet_is_not_fed_while_one_is_in_the_path(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=2) as bench:
        bench.ask("feed", "at_camera", sheet=7)
        assert bench.ask("feed", "refused", sheet=8) == {"kind": 2, "sheet": 8, "state": 4}
        assert len(bench.paper.hopper) == 1


def test_a_number_is_used_for_one_sheet_only(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=2) as bench:
        bench.ask("feed", "at_camera", sheet=7)
        bench.ask("divert", "landed", sheet=7, exit=COUNTED)
        bench.ask("feed", "refused", sheet=7)
        assert len(bench.paper.hopper) == 1


def test_measures_do_not_change_under_a_sheet(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "at_camera", sheet=7)
        assert bench.ask("configure", "refused", **CONFIGURATION)["kind"] == 1


def test_the_boards_own_messages_are_no_commands(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.say("entered", sheet=3, counts=(9, 9, 9, 9, 9))  # type: ignore[arg-type]
        bench.run(100)
        assert bench.report()["counts"] == (0, 0, 0, 0, 0)


NOISE_BYTES = int(os.environ.get("FEEDER_NOISE_BYTES", "100000"))
"""How much garbage the board is given; the soak gives 24 MB, an hour at 100 frames a second."""


@pytest.mark.timeout(0 if NOISE_BYTES > 1_000_000 else 60)
def test_garbage_moves_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    figures = under_noise(tmp_path, seed=5, noise_bytes=NOISE_BYTES)
    assert figures.pop("bytes of garbage") >= NOISE_BYTES
    assert not any(figures.values()), figures


@pytest.mark.parametrize("one_in", [3000, 300])
def test_flipped_and_lost_bytes_cost_time_never_a_sheet(tmp_path: Path, one_in: int) -> None:
    chance = random.Random(7)

    def bad_wire(sent: bytes) -> bytes:
        received = bytearray()
        for byte in sent:
            luck = chance.randrange(one_in)
            if luck == 0:
                received.append(byte ^ (1 << chance.randrange(8)))
            elif luck != 1:
                received.append(byte)
        return bytes(received)

    with a_ready_feeder(tmp_path, sheets=6, silence_ms=2000) as bench:
        assert bench.station is not None
        bench.station.dead_ms = 2000
        bench.wire = bad_wire
        for sheet in range(1, 7):
            bench.ask("feed", "at_camera", sheet=sheet)
            bench.ask("divert", "landed", sheet=sheet, exit=sheet % 3)
        assert bench.report()["counts"] == (6, 2, 2, 2, 0)
        assert bench.paper.landed == [1, 2, 0, 1, 2, 0]


def test_a_flood_of_bytes_does_not_hold_the_stop_up(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("feed", "entered", sheet=1)
        bench.paper.held[9] = 1
        began_us = bench.now_us
        while bench.moving():
            bench.garbage = b"\x55" * 40
            bench.turn()
            assert bench.now_us - began_us < 10_000


def test_the_watchdog_watches_from_the_first_measures_on(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.connect()
        assert bench.watchdog_ms == 0
        bench.configure()
        bench.run(10)
        assert bench.watchdog_ms == 2000


def test_a_flood_of_commands_is_answered_or_ends_the_connection(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        assert bench.station is not None
        bench.ask("feed", "at_camera", sheet=1)
        for _ in range(400):
            while bench.station.can_send:
                bench.say("ask")
            bench.turn()
        bench.until(lambda: bench.station is not None and bench.station.connected)
        bench.run(200)
        assert bench.state() in {"at_camera", "stopped"}
        assert bench.report()["counts"] == (1, 0, 0, 0, 0)
        assert not bench.was_reset
