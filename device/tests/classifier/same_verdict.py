"""The same sheets read in two environments: verdicts must be the same; how far apart the values are is told.

`python -m device.tests.classifier.same_verdict [--drawn N] [--contests N] -- PYTHON...` reads them here and
by the other command. `make same-verdict` does it with another release of OpenCV, `make same-verdict-arm64`
with an emulated processor, and test_same_verdict.py with parts of OpenCV switched off.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from device.tests.classifier.kit import REAL_SETS, Sheet, drawn_sheets, real_sheets, write_kit

REPOSITORY = Path(__file__).resolve().parents[3]
READER = Path(__file__).with_name("verdicts.py")


@dataclass(slots=True)
class Comparison:
    """What two environments read of the same sheets."""

    environments: tuple[str, str]
    read: int = 0
    counted: int = 0
    different: list[str] = field(default_factory=list[str])
    """What is not the same, a line a sheet."""
    exact: int = 0
    """Sheets of which not one value differs."""
    largest: dict[str, tuple[float, str]] = field(default_factory=dict[str, tuple[float, str]])
    """For each measure the largest difference, and where."""

    def lines(self) -> Iterator[str]:
        """Yield the comparison for people."""
        here, there = self.environments
        yield f"{here}\nagainst {there}:"
        yield (
            f"{self.read} readings ({self.counted} counted), {len(self.different)} with another verdict, "
            f"{self.exact} without any difference"
        )
        yield from self.different
        yield "largest differences (what is closer to its threshold than its guard is set aside):"
        for name, (most, where) in sorted(self.largest.items(), key=lambda item: -item[1][0]):
            if most > 0:
                yield f"  {name:<20} {most:.1e}  {where}"


def read_kit(
    kit: Path,
    python: Sequence[str],
    environment: Mapping[str, str] | None = None,
    packages: Path | None = None,
    processes: int = 1,
) -> dict[str, Any]:
    """Return what a Python reads of a kit, in so many processes.

    `environment` is added to the environment variables; `packages` is where its numpy and OpenCV lie, when it
    has none of its own. Raises CalledProcessError when it fails.
    """
    folders = [REPOSITORY / "device", REPOSITORY / "protocol"]
    if packages is not None:
        folders.append(packages.resolve())
    variables = {
        **os.environ,
        # A thread that waits for work takes the time of the process beside it.
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(map(str, folders)),
        **(environment or {}),
    }

    def read(part: int) -> dict[str, Any]:
        out = Path(folder) / f"verdicts-{part}.json"
        command = [*python, str(READER), str(kit), str(out), f"{part}/{processes}"]
        subprocess.run(command, check=True, env=variables)
        return json.loads(out.read_text(encoding="utf-8"))

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(processes) as waiting:
        first, *others = waiting.map(read, range(1, processes + 1))
    for other in others:
        first["verdicts"] |= other["verdicts"]
    return first


def compare(here: Mapping[str, Any], there: Mapping[str, Any]) -> Comparison:
    """Return how two environments' verdicts differ. Raises KeyError when the sheets are not the same."""
    found = Comparison((here["environment"], there["environment"]))
    for name, one in here["verdicts"].items():
        other = there["verdicts"][name]
        found.read += 1
        found.counted += one["same"]["fate"] == "counted"
        if one["same"] != other["same"]:
            parts = [f"{key} {one['same'][key]} / {other['same'].get(key)}" for key in one["same"]]
            found.different.append(f"  {name}: {'; '.join(parts)}")
        most = 0.0
        for place, value in one["values"].items():
            apart = abs(value - other["values"].get(place, float("inf")))
            most = max(most, apart)
            measure = place.split(".")[0]
            if apart >= found.largest.get(measure, (0.0, ""))[0]:
                found.largest[measure] = (apart, f"{name}, {place}")
        found.exact += most == 0
    return found


def main() -> int:
    """Read here and there; print the comparison; return 1 when any verdict differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--drawn", type=int, default=2, help="drawn sheets of each kind of trouble")
    parser.add_argument(
        "--contests", type=int, help="contests of each real sheet, others on the next (default: all)"
    )
    parser.add_argument("--packages", type=Path, help="where the other Python's packages lie")
    parser.add_argument("python", nargs="+", help="the command of the other Python")
    arguments = parser.parse_args()
    ballots = REPOSITORY.parent / "shared" / "ballots"
    sheets: Iterator[Sheet] = drawn_sheets(range(arguments.drawn))
    if ballots.is_dir():
        sheets = chain(sheets, real_sheets(ballots, REAL_SETS, arguments.contests))
    processes = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        kit = Path(folder)
        print(f"{write_kit(kit, sheets)} readings are made in each environment", flush=True)
        here = read_kit(kit, [sys.executable], processes=processes)
        start = time.monotonic()
        there = read_kit(kit, arguments.python, packages=arguments.packages, processes=processes)
        seconds = time.monotonic() - start
    found = compare(here, there)
    print("\n".join(found.lines()), f"\nthe other took {seconds:.0f} s", sep="")
    return 1 if found.different else 0


if __name__ == "__main__":
    raise SystemExit(main())
