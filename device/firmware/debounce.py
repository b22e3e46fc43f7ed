"""Debouncing: from raw changes of the sensors' wires to edges that stand. No pins, no clock; no allocation.

A level counts once it has stood for `HOLD_US`; its edge bears the time at which it began to stand. So
contacts may bounce and dust may flash by for less than that, and lengths are still measured from the paper's
own edges. All sensors have the same hold, which keeps edges of different sensors in the order in which they
took place.
"""

from feeder import EDGE_DELAY_US, SENSORS, elapsed_us

HOLD_US = EDGE_DELAY_US
"""At 600 mm/s paper runs 1.8 mm in it."""

NONE = -1


class Debouncer:
    """The sensors' levels: raw, and standing."""

    def __init__(self) -> None:
        self.levels = bytearray(SENSORS)
        self.raw_levels = bytearray(SENSORS)
        self.edge_us = 0  # when the edge that `next_edge` returned last took place
        self._since_us = [0] * SENSORS

    def start(self, sensor: int, level: int) -> None:
        """Take `level` as standing: the board has just started."""
        self.levels[sensor] = level
        self.raw_levels[sensor] = level

    def change(self, sensor: int, level: int, at_us: int) -> None:
        """The wire of `sensor` shows `level` from `at_us` on."""
        if self.raw_levels[sensor] != level:
            self.raw_levels[sensor] = level
            self._since_us[sensor] = at_us

    def next_edge(self, now_us: int) -> int:
        """Return the sensor with the earliest edge that stands by `now_us` (its level: `levels`), or NONE."""
        found = NONE
        found_age_us = HOLD_US - 1
        sensor = 0
        while sensor < SENSORS:
            if self.raw_levels[sensor] != self.levels[sensor]:
                age_us = elapsed_us(now_us, self._since_us[sensor])
                if age_us > found_age_us:
                    found = sensor
                    found_age_us = age_us
            sensor += 1
        if found != NONE:
            self.levels[found] = self.raw_levels[found]
            self.edge_us = self._since_us[found]
        return found
