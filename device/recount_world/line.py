"""The cable between station and board: bytes take time; a cut one loses them, a noisy one bends them."""

import random
from dataclasses import dataclass
from typing import NamedTuple

BAUD = 460_800
BITS_PER_BYTE = 10
"""A start bit, eight of data, a stop bit."""


class Delivery(NamedTuple):
    """Bytes that will have arrived whole at a moment."""

    at_us: int
    data: bytes


@dataclass
class Cable:
    """Both ways of the cable; each way sends one byte after the other."""

    cut: bool = False
    unplugged: bool = False
    """The station's end is in nobody's port."""
    flips_per_million: int = 0
    """So many of a million bytes have one bit flipped."""


class Wire:
    """One way of the cable."""

    def __init__(self, cable: Cable, noise: random.Random) -> None:
        self._cable = cable
        self._noise = noise
        self._free_us = 0

    def send(self, data: bytes, now_us: int) -> Delivery | None:
        """Return when these bytes arrive, and as what; None when the cable is cut."""
        begin_us = max(now_us, self._free_us)
        self._free_us = begin_us + len(data) * BITS_PER_BYTE * 1_000_000 // BAUD + 1
        if self._cable.cut:
            return None
        return Delivery(self._free_us, self._bent(data))

    def _bent(self, data: bytes) -> bytes:
        if not self._cable.flips_per_million:
            return data
        chance = self._cable.flips_per_million / 1_000_000
        return bytes(
            byte ^ (1 << self._noise.randrange(8)) if self._noise.random() < chance else byte for byte in data
        )
