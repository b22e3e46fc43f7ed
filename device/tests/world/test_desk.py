"""Sequences of the model in which the desk, its station, once went wrong."""

import pytest

from device.tests.world.feeder_model import FeederMachine

pytestmark = pytest.mark.usefixtures("micropython")


def test_a_sheet_pulled_out_before_its_arrival_was_told_gets_no_verdict() -> None:
    day = FeederMachine()
    day.switch_on(seed=1188, sheets=3)
    day.a_hand_pulls_the_sheet_out(pause_ms=0)
    day.a_hand_pulls_the_sheet_out(pause_ms=1600)
    day.the_cable_is_cut(pause_ms=450, for_s=2.0)  # the board tells the arrival when the cable is back
    day.a_hand_pulls_the_sheet_out(pause_ms=3000)
    day.the_cable_is_cut(pause_ms=1600, for_s=2.0)
    day.teardown()
    assert set(day.desk.tally) == {"1", "2", "3"}
