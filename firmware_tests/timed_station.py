"""The station as it is, with a stopwatch at the parts of its own work on a sheet; for `make throughput`.

`python -m firmware_tests.timed_station DEVICE.toml OUT.json` runs `recount-device run DEVICE.toml` and
writes, at its end, how long each part took for each sheet.
"""

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recount_device import cli, passage
from recount_device.journal import Journal
from recount_device.reading_process import StandingReader
from recount_device.simulator import SimulatedCamera

PARTS = ("whole", "capture", "read", "journal")


class Stopwatch:
    """Milliseconds by part, one number for each sheet."""

    def __init__(self) -> None:
        self.sheets: dict[str, list[float]] = defaultdict(list)
        self._now: dict[str, float] | None = None

    def whole(self, act: Callable[..., Any]) -> Callable[..., Any]:
        """Return the act that is a sheet's whole; the parts in it are added to that sheet."""

        def timed(*given: Any, **named: Any) -> Any:
            self._now = dict.fromkeys(PARTS, 0.0)
            try:
                return self.part("whole", act)(*given, **named)
            finally:
                for name, value in self._now.items():
                    self.sheets[name].append(value)
                self._now = None

        return timed

    def part(self, name: str, act: Callable[..., Any]) -> Callable[..., Any]:
        """Return the act, timed while a sheet is at work."""

        def timed(*given: Any, **named: Any) -> Any:
            begin = time.perf_counter()
            try:
                return act(*given, **named)
            finally:
                if self._now is not None:
                    self._now[name] += (time.perf_counter() - begin) * 1000

        return timed


def watched() -> Stopwatch:
    """Put the stopwatch into the station's own functions."""
    watch = Stopwatch()
    station: Any = passage.Passage
    station.came_to_rest = watch.whole(station.came_to_rest)
    for owner, name, part in (
        (StandingReader, "begin", "read"),
        (Journal, "write", "journal"),
        (SimulatedCamera, "capture", "capture"),
    ):
        setattr(owner, name, watch.part(part, getattr(owner, name)))
    return watch


def main(device: str, out: str) -> int:
    """Run the station and write the times when it ends."""
    watch = watched()
    try:
        return cli.main(["run", device])
    finally:
        Path(out).write_text(json.dumps(watch.sheets), encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
