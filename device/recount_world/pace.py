"""How fast the world's clock may run: from event to event, or along with real time."""

import time


class Pace:
    """Ties the world's clock to this process's monotonic clock while it is to keep real time."""

    def __init__(self) -> None:
        self._anchor: tuple[float, int] | None = None

    def loosen(self) -> None:
        """Let the next moment of real time begin a new tie."""
        self._anchor = None

    def allowed_us(self, now_us: int) -> int:
        """Return how far the world's clock may have come by now; `now_us` is where it stands."""
        monotonic_s = time.monotonic()
        if self._anchor is None:
            self._anchor = (monotonic_s, now_us)
        begin_s, begin_us = self._anchor
        return begin_us + round((monotonic_s - begin_s) * 1_000_000)
