"""The feeder on a rig: the same tests on the virtual device, on a Pico on the bench, on a whole device."""

import random

import pytest

from firmware_tests.feeder_end import SENSOR_MS, FeederEnd

EXITS = {"counted": 0, "set_aside": 1, "not_accepted": 2}
BACK = 3


def change(feeder: FeederEnd, before: tuple[int, ...]) -> list[int]:
    """Return by how much the board's counts have grown: entries, counted, set aside, not accepted, back."""
    return [now - then for now, then in zip(feeder.report()["counts"], before, strict=True)]


@pytest.mark.parametrize("bin_", EXITS)
def test_a_sheet_lands_where_its_verdict_sends_it_and_is_counted_there(feeder: FeederEnd, bin_: str) -> None:
    before, lay = feeder.report()["counts"], feeder.paper.where()
    feeder.paper.lay()
    feeder.feed()
    landed = feeder.divert(EXITS[bin_])
    assert landed.fields["exit"] == EXITS[bin_]
    expected = [1, 0, 0, 0, 0]
    expected[1 + EXITS[bin_]] = 1
    assert change(feeder, before) == expected
    where = feeder.paper.where()
    assert getattr(where, bin_) == getattr(lay, bin_) + 1
    assert (where.hopper, where.path) == (0, 0)


@pytest.mark.parametrize("length_mm", [260.0, 279.4, 295.0])
def test_the_length_of_a_sheet_is_told_to_3_mm(feeder: FeederEnd, length_mm: float) -> None:
    feeder.paper.lay(length_mm=length_mm)
    told_mm = feeder.feed().fields["length_mm"]
    assert told_mm == pytest.approx(length_mm, abs=3)


@pytest.mark.parametrize("stuck", [2, 3])
def test_sheets_that_stick_together_never_come_to_the_camera_and_are_driven_back(
    feeder: FeederEnd, stuck: int
) -> None:
    before, lay = feeder.report()["counts"], feeder.paper.where()
    feeder.paper.lay(stuck=stuck)
    feeder.feed("stopped", "at_camera")
    assert feeder.stop_reason() == "double_feed"
    assert feeder.divert(BACK).fields["exit"] == BACK
    assert change(feeder, before) == [1, 0, 0, 0, 1]
    assert feeder.paper.where().operator == lay.operator + stuck


@pytest.mark.parametrize(("length_mm", "reason"), [(330.0, "over_long"), (200.0, "short_sheet")])
def test_a_sheet_of_another_length_stops_the_feeder(feeder: FeederEnd, length_mm: float, reason: str) -> None:
    feeder.paper.lay(length_mm=length_mm)
    feeder.feed("stopped", "at_camera")
    assert feeder.stop_reason() == reason


def test_a_verdict_for_another_sheet_moves_nothing(feeder: FeederEnd) -> None:
    before = feeder.report()["counts"]
    feeder.paper.lay()
    feeder.feed()
    feeder.say("divert", sheet=feeder.sheet + 1, exit=0)
    feeder.hear("refused")
    feeder.run(1000)
    assert change(feeder, before) == [1, 0, 0, 0, 0]
    assert feeder.paper.where().path == 1


def test_an_open_cover_stops_the_sheet_and_bars_the_way_until_it_is_closed(feeder: FeederEnd) -> None:
    feeder.paper.lay()
    feeder.feed("entered")
    feeder.paper.cover(open_=True)
    assert feeder.stop_reason() == "cover_open"
    feeder.say("clear")
    feeder.hear("refused")
    feeder.paper.clear()
    feeder.paper.cover(open_=False)
    feeder.run(SENSOR_MS)
    feeder.say("clear")
    feeder.hear("cleared")


def test_a_silent_station_stops_the_sheet(feeder: FeederEnd) -> None:
    feeder.paper.lay()
    feeder.feed()
    feeder.be_silent(800)
    feeder.heard.clear()
    feeder.hear("connected")
    report = feeder.report()
    assert report["stop_reason"] == 6
    assert report["sheet"] == feeder.sheet
    assert feeder.paper.where().path == 1


def test_a_jam_stops_the_feeder_until_the_path_is_empty(feeder: FeederEnd) -> None:
    feeder.paper.lay()
    feeder.paper.jam(200)
    feeder.feed("stopped", "at_camera")
    assert feeder.stop_reason() == "jam"
    feeder.say("clear")
    feeder.hear("refused")
    feeder.paper.clear()
    feeder.run(SENSOR_MS)
    feeder.say("clear")
    feeder.hear("cleared")


def test_garbage_on_the_link_moves_nothing_and_costs_no_sheet(feeder: FeederEnd) -> None:
    chance = random.Random(3)
    before = feeder.report()["counts"]
    feeder.paper.lay()
    for _ in range(40):
        feeder.pour(chance.randbytes(100))
        feeder.run(5)
    assert change(feeder, before) == [0, 0, 0, 0, 0]
    feeder.feed()
    feeder.divert(0)
