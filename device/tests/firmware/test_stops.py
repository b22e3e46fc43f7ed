"""What stops the feeder, and what leads out of a stop; through the real firmware."""

from collections.abc import Callable
from pathlib import Path

import pytest

from device.tests.firmware.bench import (
    CAMERA,
    COVER,
    ENABLE,
    ENTRY,
    EXITS,
    HOPPER,
    STOP,
    Bench,
    Sheet,
    a_ready_feeder,
)

COUNTED, SET_ASIDE, NOT_ACCEPTED, BACK = range(4)


def to_picking(bench: Bench) -> None:
    bench.paper.pick_slips = True
    bench.say("feed", sheet=1)
    bench.until(bench.moving)


def to_entering(bench: Bench) -> None:
    bench.ask("feed", "entered", sheet=1)


def to_at_camera(bench: Bench) -> None:
    bench.ask("feed", "at_camera", sheet=1)


def to_leaving(bench: Bench) -> None:
    to_at_camera(bench)
    bench.say("divert", sheet=1, exit=COUNTED)
    bench.until(bench.moving)


def to_backing(bench: Bench) -> None:
    to_at_camera(bench)
    bench.say("divert", sheet=1, exit=BACK)
    bench.until(bench.moving)


WHERE = {
    "picking": to_picking,
    "entering": to_entering,
    "at_camera": to_at_camera,
    "leaving": to_leaving,
    "backing": to_backing,
}


def cover_opens(bench: Bench) -> str:
    bench.paper.held[COVER] = 1
    return "cover_open"


def stop_is_pressed(bench: Bench) -> str:
    bench.paper.held[STOP] = 1
    return "stop_button"


def halt_is_sent(bench: Bench) -> str:
    bench.say("halt")
    return "halt"


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("cause", [cover_opens, stop_is_pressed, halt_is_sent])
def test_everything_stands_at_once(tmp_path: Path, where: str, cause: Callable[[Bench], str]) -> None:
    with a_ready_feeder(tmp_path) as bench:
        WHERE[where](bench)
        bench.heard.clear()
        began_us = bench.now_us
        reason = cause(bench)
        bench.until(lambda: bench.outputs[ENABLE] == 0)
        assert bench.now_us - began_us <= 10_000
        assert not any(bench.pulses.values())
        assert bench.stop_reason() == reason
        assert bench.state() == "stopped"
        places = [sheet.lead_mm for sheet in bench.paper.path]
        bench.run(1000)
        assert [sheet.lead_mm for sheet in bench.paper.path] == places


@pytest.mark.parametrize("where", WHERE)
def test_a_station_that_falls_silent_stops_what_it_began(tmp_path: Path, where: str) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.paper.flap_sticks_at = COUNTED
        WHERE[where](bench)
        for sheet in bench.paper.path:
            sheet.stuck_from_mm = (
                sheet.lead_mm + 1
            )  # so that it is still on its way when the silence is noticed
        bench.disconnect()
        bench.until(lambda: bench.outputs[ENABLE] == 0)
        bench.run(700)
        assert not bench.moving()
        bench.connect(boot_id=78)
        assert bench.state() == "stopped"


def test_half_a_second_of_silence_at_the_camera_is_a_stop(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_at_camera(bench)
        bench.run(200)
        bench.disconnect()
        bench.run(520)
        bench.connect(boot_id=78)
        report = bench.report()
        assert (report["state"], report["stop_reason"], report["sheet"]) == (8, 6, 1)


def test_how_long_silence_may_last_is_the_stations_to_say(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, silence_ms=1500) as bench:
        to_at_camera(bench)
        bench.run(200)
        bench.disconnect()
        bench.run(1200)
        assert bench.outputs[ENABLE] == 1
        bench.run(500)
        assert bench.outputs[ENABLE] == 0


def test_another_station_in_the_middle_of_a_sheet_is_a_stop(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_at_camera(bench)
        bench.connect(boot_id=78)
        bench.heard.clear()
        assert bench.state() == "stopped"
        bench.say("divert", sheet=1, exit=COUNTED)
        bench.hear("refused")
        assert not bench.moving()


def test_silence_between_sheets_needs_nobodys_help(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.disconnect()
        bench.run(2000)
        bench.connect(boot_id=78)
        assert bench.state() == "ready"


def test_an_empty_hopper_is_told_and_left_by_clear(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=0) as bench:
        assert bench.ask("feed", "stopped", sheet=1) == {"reason": 1, "sheet": 0, "counts": (0, 0, 0, 0, 0)}
        bench.load()
        bench.ask("clear", "cleared")
        assert bench.ask("feed", "at_camera", sheet=1)["sheet"] == 1


def test_a_sheet_that_cannot_be_picked_leaves_the_path_empty(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.paper.pick_slips = True
        assert bench.ask("feed", "stopped", sheet=1) == {"reason": 12, "sheet": 0, "counts": (0, 0, 0, 0, 0)}
        bench.ask("clear", "cleared")
        assert bench.state() == "ready"


@pytest.mark.parametrize("place_mm", [30, 200, 390])
def test_a_jam_before_the_camera_is_noticed_by_distance(tmp_path: Path, place_mm: float) -> None:
    with a_ready_feeder(tmp_path, sheets=0) as bench:
        bench.load(stuck_from_mm=place_mm)
        bench.ask("feed", "entered", sheet=1)
        began_us = bench.now_us
        assert bench.stop_reason() == "jam"
        assert bench.now_us - began_us <= 440_000 * 1000 // 600 + 20_000
        assert bench.hear("stopped")["sheet"] == 1


@pytest.mark.parametrize("place_mm", [420, 640, 660, 900])
def test_a_jam_behind_the_camera_is_noticed_by_distance(tmp_path: Path, place_mm: float) -> None:
    with a_ready_feeder(tmp_path, sheets=0) as bench:
        bench.load(stuck_from_mm=place_mm)
        to_at_camera(bench)
        bench.say("divert", sheet=1, exit=SET_ASIDE)
        assert bench.stop_reason() == "jam"
        assert bench.paper.landed == []
        assert bench.hear("stopped")["counts"] == (1, 0, 0, 0, 0)


def test_a_double_feed_stops_and_may_only_go_back(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=0) as bench:
        bench.load(double=True)
        bench.say("feed", sheet=1)
        assert bench.stop_reason() == "double_feed"
        for exit_ in (COUNTED, SET_ASIDE, NOT_ACCEPTED):
            refused = bench.ask("divert", "refused", sheet=1, exit=exit_)
            assert refused == {"kind": 3, "sheet": 1, "state": 8}
        assert bench.ask("divert", "landed", sheet=1, exit=BACK)["counts"] == (1, 0, 0, 0, 1)
        assert bench.paper.returned == 1
        assert bench.state() == "ready"


def test_a_double_part_in_the_middle_of_a_sheet_is_seen(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_entering(bench)
        bench.run(200)
        bench.heard.clear()
        bench.paper.path[0].double = True
        assert bench.stop_reason() == "double_feed"


@pytest.mark.parametrize("length_mm", [363, 380, 430, 700])
def test_an_over_long_sheet_stops_before_it_is_past_the_camera_and_goes_back(
    tmp_path: Path, length_mm: float
) -> None:
    with a_ready_feeder(tmp_path, sheets=0) as bench:
        bench.load(length_mm=length_mm)
        bench.say("feed", sheet=1)
        assert bench.stop_reason() == "over_long"
        assert bench.paper.path[0].lead_mm < 405
        bench.ask("divert", "landed", sheet=1, exit=BACK)
        assert bench.paper.returned == 1


@pytest.mark.parametrize("length_mm", [355.0, 358.5, 359.4])
def test_a_sheet_just_within_the_longest_is_no_fault(tmp_path: Path, length_mm: float) -> None:
    with a_ready_feeder(tmp_path, sheets=0) as bench:
        bench.load(length_mm=length_mm)
        assert bench.ask("feed", "at_camera", sheet=1)["length_mm"] == round(length_mm)


def test_a_short_sheet_stops_and_goes_back(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=0) as bench:
        bench.load(length_mm=120)
        bench.say("feed", sheet=1)
        assert bench.stop_reason() == "short_sheet"
        assert bench.ask("divert", "landed", sheet=1, exit=BACK)["counts"] == (1, 0, 0, 0, 1)


def test_a_second_sheet_close_behind_is_counted_and_stops(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_entering(bench)
        bench.until(lambda: bench.paper.path[0].lead_mm > 279 + 20)
        bench.heard.clear()
        bench.paper.path.append(Sheet(lead_mm=0.1))
        assert bench.stop_reason() == "unexpected_sheet"
        assert bench.hear("stopped")["counts"] == (2, 0, 0, 0, 0)


def test_a_sheet_in_the_wrong_bin_is_counted_there_and_stops(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.paper.flap_sticks_at = COUNTED
        to_at_camera(bench)
        bench.say("divert", sheet=1, exit=SET_ASIDE)
        assert bench.stop_reason() == "wrong_exit"
        assert bench.hear("stopped")["sheet"] == 1
        bench.ask("clear", "refused")
        bench.paper.path.clear()  # it slides down into the bin
        bench.run(20)
        assert bench.ask("clear", "cleared")["counts"] == (1, 1, 0, 0, 0)


@pytest.mark.parametrize("where", ["picking", "entering", "at_camera", "leaving", "backing"])
@pytest.mark.parametrize("exit_", [COUNTED, SET_ASIDE])
def test_a_sheet_slipped_past_the_camera_is_counted_whatever_goes_on(
    tmp_path: Path, where: str, exit_: int
) -> None:
    with a_ready_feeder(tmp_path) as bench:
        WHERE[where](bench)
        bench.heard.clear()
        bench.paper.held[EXITS[exit_]] = 1
        assert bench.stop_reason() == "unexpected_sheet"
        bench.paper.held[EXITS[exit_]] = 0
        bench.run(50)
        assert bench.report()["counts"][1 + exit_] == 1


@pytest.mark.parametrize("cause", [cover_opens, halt_is_sent])
def test_a_sheet_drawn_from_a_bins_mouth_after_a_stop_has_not_landed(
    tmp_path: Path, cause: Callable[[Bench], str]
) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_leaving(bench)
        bench.until(lambda: bench.paper.path[0].lead_mm > 700)
        cause(bench)
        bench.hear("stopped")
        bench.paper.path.clear()
        bench.paper.held.clear()
        bench.run(20)
        assert bench.ask("clear", "cleared")["counts"] == (1, 0, 0, 0, 0)


def test_a_sheet_drawn_from_its_bins_sensor_that_it_reached_as_the_feeder_stopped_has_not_landed(
    tmp_path: Path,
) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_leaving(bench)
        # The sensor sees it, and its level has not stood for 3 ms when the stop comes.
        bench.until(lambda: bench.paper.path[0].lead_mm >= 650)
        bench.ask("halt", "stopped")
        bench.run(200)
        assert bench.report()["sensors"] & 1 << 3
        bench.paper.path.clear()
        bench.run(20)
        assert bench.ask("clear", "cleared")["counts"] == (1, 0, 0, 0, 0)


def test_a_sheet_snatched_from_a_bins_mouth_on_its_way_has_not_landed(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_leaving(bench)
        bench.until(lambda: bench.paper.path[0].lead_mm > 824)
        bench.paper.path.clear()
        assert bench.stop_reason() == "jam"
        assert bench.hear("stopped")["sheet"] == 1
        assert bench.ask("clear", "cleared")["counts"] == (1, 0, 0, 0, 0)


def test_a_sheet_slipped_into_a_bin_during_a_stop_is_counted(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_leaving(bench)
        bench.until(lambda: bench.paper.path[0].lead_mm > 700)
        bench.ask("halt", "stopped")
        bench.paper.path.clear()
        for level in (0, 1, 0):
            bench.paper.held[EXITS[COUNTED]] = level
            bench.run(50)
        assert bench.ask("clear", "cleared")["counts"] == (1, 1, 0, 0, 0)


def test_a_sheet_on_a_bins_sensor_at_power_on_is_for_people(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_leaving(bench)
        bench.until(lambda: bench.paper.path[0].lead_mm > 700)
        bench.restart()
        bench.paper.path.clear()
        bench.run(20)
        assert bench.ask("clear", "cleared")["counts"] == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("gpio", [ENTRY, CAMERA, *EXITS])
def test_paper_where_none_can_be_stops_a_ready_feeder(tmp_path: Path, gpio: int) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.heard.clear()
        bench.paper.held[gpio] = 1
        assert bench.stop_reason() == "unexpected_sheet"
        bench.ask("feed", "refused", sheet=1)


def test_a_sheet_slipped_into_a_bin_by_hand_is_counted(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.paper.held[EXITS[COUNTED]] = 1
        bench.run(100)
        bench.paper.held[EXITS[COUNTED]] = 0
        bench.run(100)
        assert bench.report()["counts"] == (0, 1, 0, 0, 0)


def test_a_sheet_that_is_drawn_from_under_the_camera_stops(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_at_camera(bench)
        bench.heard.clear()
        bench.paper.path.clear()
        assert bench.stop_reason() == "jam"


def test_a_sheet_drawn_out_through_the_entry_by_hand_is_no_second_entry(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_at_camera(bench)
        bench.say("halt")
        bench.hear("stopped")
        bench.paper.path[0].lead_mm = 150  # covers the entry again
        bench.run(50)
        bench.paper.path.clear()
        bench.run(50)
        assert bench.ask("clear", "cleared")["counts"] == (1, 0, 0, 0, 0)


def test_the_sheet_under_pick_that_enters_as_the_feeder_stops_keeps_its_number(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.say("feed", sheet=9)
        bench.until(lambda: bool(bench.paper.path) and bench.paper.path[0].lead_mm > -0.8)
        bench.paper.held[COVER] = 1
        bench.heard.clear()
        bench.until(lambda: len(bench.heard) == 2)
        assert {message.name for message in bench.heard} == {"stopped", "entered"}
        report = bench.report()
        assert (report["sheet"], report["counts"]) == (9, (1, 0, 0, 0, 0))


def test_clear_needs_cover_stop_and_path_to_be_as_they_should(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        for gpio in (COVER, STOP, ENTRY, EXITS[2]):
            bench.paper.held[gpio] = 1
            bench.run(20)
            assert bench.ask("clear", "refused")["kind"] == 4
            bench.paper.held[gpio] = 0
            bench.run(20)
            bench.ask("clear", "cleared")


def test_the_first_reason_of_a_stop_stays(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.ask("halt", "stopped")
        bench.paper.held[COVER] = 1
        bench.run(50)
        assert bench.ask("halt", "stopped")["reason"] == 13
        assert bench.report()["stop_reason"] == 13


def test_a_sheet_that_hands_may_have_touched_is_not_driven_back(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path, sheets=0) as bench:
        bench.load(double=True)
        bench.say("feed", sheet=1)
        bench.hear("stopped")
        bench.paper.held[COVER] = 1
        bench.run(50)
        bench.ask("divert", "refused", sheet=1, exit=BACK)
        bench.paper.held[COVER] = 0
        bench.run(50)
        bench.ask("divert", "refused", sheet=1, exit=BACK)


def test_a_judged_sheet_is_not_driven_back_after_a_halt(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_leaving(bench)
        bench.ask("halt", "stopped")
        bench.ask("divert", "refused", sheet=1, exit=BACK)


def test_a_halted_sheet_that_was_not_judged_goes_back(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_at_camera(bench)
        assert bench.ask("halt", "stopped")["sheet"] == 1
        bench.ask("divert", "landed", sheet=1, exit=BACK)
        assert bench.paper.returned == 1


def test_a_board_reset_with_a_sheet_in_the_path_is_a_stop(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        to_at_camera(bench)
        bench.restart()
        bench.configure()
        report = bench.report()
        assert (report["state"], report["stop_reason"], report["counts"]) == (8, 11, (0, 0, 0, 0, 0))
        bench.ask("feed", "refused", sheet=2)
        bench.ask("clear", "refused")
        bench.paper.path[0].lead_mm = 200  # drawn out by hand, over the entry sensor
        bench.run(50)
        bench.paper.path.clear()
        bench.run(50)
        assert bench.ask("clear", "cleared")["counts"] == (0, 0, 0, 0, 0)
        assert bench.state() == "ready"


def test_clear_before_the_first_configure_leaves_an_unconfigured_feeder(tmp_path: Path) -> None:
    with Bench(tmp_path) as bench:
        bench.connect()
        bench.ask("halt", "stopped")
        bench.ask("clear", "cleared")
        assert bench.state() == "unconfigured"


def test_the_hopper_that_runs_empty_with_the_last_pick_is_no_fault(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.say("feed", sheet=1)
        bench.until(bench.moving)
        bench.paper.held[HOPPER] = 0
        assert bench.hear("at_camera")["sheet"] == 1


@pytest.mark.parametrize("lead_mm", [285, 330, 395])
def test_a_sheet_that_no_sensor_sees_after_a_reset_never_passes_the_camera(
    tmp_path: Path, lead_mm: float
) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.paper.path.append(Sheet(lead_mm=lead_mm))
        assert bench.ask("feed", "stopped", sheet=2)["reason"] == 10
        assert max(sheet.lead_mm for sheet in bench.paper.path) < 410
        assert bench.paper.landed == []


def test_a_short_sheet_hidden_between_camera_and_bin_is_counted_when_it_comes_out(tmp_path: Path) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.paper.path.append(Sheet(lead_mm=630, length_mm=216, exit=SET_ASIDE))
        assert bench.ask("feed", "stopped", sheet=2)["reason"] == 10
        bench.paper.path = [
            sheet for sheet in bench.paper.path if sheet.exit is None
        ]  # it falls into the bin
        bench.run(50)
        assert bench.report()["counts"][1:] == (0, 1, 0, 0)


@pytest.mark.parametrize("where", WHERE)
def test_a_reset_in_every_state_moves_nothing_until_people_have_looked(tmp_path: Path, where: str) -> None:
    with a_ready_feeder(tmp_path) as bench:
        WHERE[where](bench)
        seen = any(bench.paper.levels()[gpio] for gpio in (ENTRY, CAMERA, *EXITS))
        bench.restart()
        bench.pulse_log.clear()
        bench.configure()
        report = bench.report()
        assert (report["state"], report["stop_reason"]) == ((8, 11) if seen else (1, 0))
        bench.ask("divert", "refused", sheet=1, exit=COUNTED)
        bench.run(500)
        assert not bench.pulse_log


@pytest.mark.parametrize("sensor", [ENTRY, CAMERA, EXITS[0]])
def test_a_sensor_stuck_at_paper_lets_nothing_be_fed(tmp_path: Path, sensor: int) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.paper.held[sensor] = 1
        bench.run(50)
        bench.ask("feed", "refused", sheet=1)
        bench.ask("clear", "refused")
        assert not bench.moving()


@pytest.mark.parametrize(
    ("sensor", "reasons"),
    [(ENTRY, {"pick_failed", "unexpected_sheet"}), (CAMERA, {"jam"}), (EXITS[COUNTED], {"jam"})],
)
def test_a_sensor_blind_to_paper_stops_the_sheet_it_does_not_see(
    tmp_path: Path, sensor: int, reasons: set[str]
) -> None:
    with a_ready_feeder(tmp_path) as bench:
        bench.paper.held[sensor] = 0
        bench.say("feed", sheet=1)
        if sensor == EXITS[COUNTED]:
            bench.hear("at_camera")
            bench.say("divert", sheet=1, exit=COUNTED)
        assert bench.stop_reason() in reasons
        assert not bench.moving()
