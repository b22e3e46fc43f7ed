"""Random days of the model, some; `make rig-soak` runs thousands."""

import pytest

from device.tests.world.feeder_model import random_days

pytestmark = pytest.mark.usefixtures("micropython")


def test_whatever_happens_every_sheet_lies_where_it_is_counted_and_none_is_counted_twice() -> None:
    figures = random_days(seed=4, sequences=12)
    assert figures["sequences that break a rule"] == 0
    assert figures["random sequences"] >= 12
