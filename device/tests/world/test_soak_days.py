"""The soak's days, a short one of each: `make rig-soak` runs thousands of sheets of them."""

from collections import Counter

import pytest

from device.tests.world.soak_days import clean_day, stuck_day

pytestmark = pytest.mark.usefixtures("micropython")


def test_clean_sheets_under_noise_stop_nothing() -> None:
    assert clean_day(seed=1, sheets=12) == Counter({"clean sheets": 12})


def test_no_double_or_triple_feed_is_counted_as_one() -> None:
    figures = stuck_day(seed=2, groups=12, blind=False)
    assert figures["stopped by double_feed"] + figures["stopped by over_long"] == 12
    assert figures["counted as one"] == 0


def test_what_slips_past_a_blind_double_feed_sensor_is_caught_by_length_or_by_the_peoples_count() -> None:
    figures = stuck_day(seed=3, groups=15, blind=True)
    assert figures["blind: counted as one"] > 0
    assert figures["blind: stopped by over_long"] + figures["blind: counted as one"] == 15
    assert figures["blind: not caught by I9 or I2"] == 0
