"""SIGKILL of device, host and feeder board in mid-batch: nothing is lost, nothing counted twice."""

import random

import pytest

from firmware_tests.day import Day
from firmware_tests.killed_day import KILLS, check_figures, scan_and_kill
from firmware_tests.stacks import Stack


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kill", ["device", "host", "board"])
def test_a_kill_in_mid_batch_loses_no_sheet_and_counts_none_twice(day: Day, stack: Stack, kill: str) -> None:
    after = random.Random(kill).randrange(5, 25)
    assert scan_and_kill(day, stack, KILLS[kill], after) <= 1
    check_figures(day, stack)
