"""`make throughput`: a precinct of many sheets through firmware, stations, classifier and host.

All are processes, as in a recount. Prints how many sheets a minute of wall time were scanned, and the
station's own work on a sheet with its parts, at the median: from the moment at which it hears that the sheet
rests under the camera to the divert command. The figures go into docs/benchmarks.md.
"""

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from firmware_tests.benchmark_page import write_section
from firmware_tests.day import Day, DayError, Table, wait_until
from firmware_tests.demo import FAIRVIEW, MACHINE, WORK, build_program, order_of
from firmware_tests.timed_station import PARTS
from recount_ballots.deck import Deck, read_deck
from recount_ballots.errors import BallotError
from recount_ballots.render import MM_PER_INCH, picture_name, render_deck
from recount_world.errors import WorldGone

GOAL_SHEETS_A_MINUTE = 300
GOAL_OWN_WORK_MS = 60
BATCH_SHEETS = 100
"""Fewer than the deck has: the same picture twice in one batch would be asked about."""
LOOK_S = 0.5
MEANING = {
    "whole": "from rest under the camera to the divert command",
    "capture": "the picture, as it comes from the simulated camera",
    "read": "the reading process, and the way there and back: both steps of reading, the crop as PNG, "
    "whether it looks like a sheet read before",
    "journal": "the record on the disk",
}


def main(words: Sequence[str]) -> int:
    """Measure and print; 1 where a goal is missed."""
    parser = argparse.ArgumentParser(prog="make throughput", description="How fast a precinct is scanned.")
    parser.add_argument("--sheets", type=int, default=1000, help="sheets of the precinct (default: 1000)")
    # One: its computer has cores of its own, and simulated devices that share two cores wait for each other.
    parser.add_argument("--devices", type=int, default=1, help="devices (default: 1)")
    options = parser.parse_args(words)
    if not 1 <= options.devices <= options.sheets:
        parser.error("at least one device, and a sheet for each")
    try:
        with tempfile.TemporaryDirectory() as folder:
            seconds, times = measure(Path(folder), options.sheets, options.devices)
    except (DayError, BallotError, WorldGone, OSError) as error:
        print(f"throughput: {error}", file=sys.stderr)
        return 2
    figures, code = tell(options.sheets, options.devices, seconds, times)
    print(figures)
    write_section("throughput", f"## How fast a precinct is scanned\n\n{figures}")
    return code


def measure(folder: Path, sheets: int, devices: int) -> tuple[float, dict[str, list[float]]]:
    """Scan a precinct; return the seconds from assignment to the last closed batch, and the parts' times."""
    deck = read_deck(FAIRVIEW)
    pictures = WORK / FAIRVIEW.name
    render_deck(FAIRVIEW, pictures)
    with Day(folder, order_of(deck), build_program(folder, deck)) as day:
        day.open_host()
        names = [f"device-{number}" for number in range(1, devices + 1)]
        stack = precinct(deck, pictures, sheets)
        for number, name in enumerate(names):
            add_timed_table(day, name, stack[number::devices])
        day.count(deck.precinct, "H", sheets)
        begin = time.monotonic()
        day.assign(deck.precinct, *names)
        wait_until("all sheets are scanned", lambda: scanned(day, deck.precinct), 1800, LOOK_S)
        seconds = time.monotonic() - begin
        for table in day.tables.values():
            table.station.stop()
        return seconds, joined(folder / name / "times.json" for name in names)


def precinct(deck: Deck, pictures: Path, sheets: int) -> list[Mapping[str, object]]:
    """Return the deck's sheets that end in a pile the first time, again and again, as so many sheets."""
    usable = [
        one for one in deck.sheets if not one.fault and set(one.truth.fates) <= {"counted", "set_aside"}
    ]
    return [
        {
            "id": f"{number:05d}",
            "front": str((pictures / picture_name(sheet, "front")).absolute()),
            "turned": sheet.turned,
            "length_mm": round(deck.ballots.designs[sheet.style].height_in * MM_PER_INCH, 1),
        }
        for number, sheet in ((number, usable[number % len(usable)]) for number in range(sheets))
    ]


def add_timed_table(day: Day, name: str, sheets: Sequence[Mapping[str, object]]) -> Table:
    """Start a device whose station has a stopwatch."""
    table = day.add_table(name, sheets, duplex=False, world=MACHINE, device={"batch_sheets": BATCH_SHEETS})
    table.station.stop()
    own = (str(table.folder / "DEVICE.toml"), str(table.folder / "times.json"))
    table.station.words = (sys.executable, "-m", "firmware_tests.timed_station", *own)
    table.station.start()
    return table


def scanned(day: Day, precinct_id: str) -> bool:
    """Tell whether every hopper is empty and every batch closed."""
    for table in day.tables.values():
        table.station.check()
        table.world.check()
    if any(table.control.positions()["hopper"] for table in day.tables.values()):
        return False
    standing = [batch["standing"] for batch in day.batches(precinct_id)]
    return bool(standing) and "open" not in standing


def joined(files: Iterable[Path]) -> dict[str, list[float]]:
    """Return the parts' times of all stations."""
    times: dict[str, list[float]] = {part: [] for part in PARTS}
    for file in files:
        for part, values in json.loads(file.read_text(encoding="utf-8")).items():
            times[part] += values
    return times


def tell(sheets: int, devices: int, seconds: float, times: Mapping[str, list[float]]) -> tuple[str, int]:
    """Return the figures as a section of the page, and 1 where a goal is missed, else 0."""
    rate = 60 * sheets / seconds
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    scanners = "one device" if devices == 1 else f"{devices} devices"
    lines = [
        f"Written by `make throughput` on {machine}: {sheets} sheets on {scanners}, in",
        f"batches of {BATCH_SHEETS}, through paper path, firmware, stations, classifier and host, all of",
        "them processes. All of a part's time is counted, also what it waits for a core while the others",
        "are at work; several devices on one machine (`--devices`) wait for each other.",
        "",
        f"{rate:.0f} sheets a minute of wall time, {seconds:.0f} s in all (goal: {GOAL_SHEETS_A_MINUTE}).",
        "",
        f"| the station's own work on a sheet (goal: {GOAL_OWN_WORK_MS}) | median, ms | 95 % within, ms |",
        "| --- | --- | --- |",
    ]
    for part in PARTS:
        values = sorted(times[part])
        slow = values[int(len(values) * 0.95)]
        lines.append(f"| {MEANING[part]} | {statistics.median(values):.1f} | {slow:.1f} |")
    own_ms = statistics.median(times["whole"])
    return "\n".join(lines), int(rate < GOAL_SHEETS_A_MINUTE or own_ms > GOAL_OWN_WORK_MS)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
