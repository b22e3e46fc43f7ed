"""Long days of one kind of paper with the real firmware: what the soak counts, world by world.

The noise is stated here. Paper is 100 um thick, give or take 10, and 279.4 mm long, give or take 0.8.
The double-feed sensor reads up to 25 um wrong on each sheet, and is wholly wrong for up to 2 ms at a time, a
hundred times a minute. The optical sensors bounce for up to 1.5 ms after each edge, and dust passes each of
them 20 times a minute. The pick roller slips for up to 15 mm before it grips.
"""

import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from device.tests.world.desk import Desk, Landing
from recount_world.board_process import BoardProcess
from recount_world.faults import Fault, read_fault
from recount_world.paper import PILES, Sheet
from recount_world.script import Script
from recount_world.trace import Trace
from recount_world.world import World

NOISE: dict[str, Any] = {
    "bounce_us": 1500,
    "dust_per_minute": 20.0,
    "double_feed_error_um": 25.0,
    "double_feed_flicker": 100.0,
    "pick_spread_mm": 15.0,
}
DAY_US = 1 << 50
TRIPLE_SHARE = 0.3
FULL_SHARE = 0.3
BETWEEN = 10
"""After so many stuck groups comes a sheet by itself."""


def _sheet(number: int, chance: random.Random) -> Sheet:
    return Sheet(
        str(number), length_mm=279.4 + chance.uniform(-0.8, 0.8), thickness_um=chance.randint(90, 110)
    )


def _run(sheets: Iterable[Sheet], faults: Iterable[Fault], seed: int, *, lays_back: bool) -> Desk:
    with TemporaryDirectory() as folder:
        script = Script(operator="none", sheets=tuple(sheets), faults=tuple(faults), seed=seed, **NOISE)
        world = World(script, BoardProcess(Path(folder), seed=seed), Trace(keep=False))
        desk = Desk(world, lays_back=lays_back)
        try:
            desk.work(DAY_US)
        finally:
            world.close()
    return desk


def clean_day(seed: int, sheets: int) -> Counter[str]:
    """Feed clean sheets. Every stop, and every difference between counts and paper, is a fault of ours."""
    chance = random.Random(seed)
    desk = _run((_sheet(number, chance) for number in range(sheets)), (), seed, lays_back=True)
    figures = Counter({"clean sheets": len(desk.landings), "resets": desk.connections - 1})
    figures["false stops"] = sum(stop.reason != "hopper_empty" for stop in desk.stops)
    figures["sheets elsewhere"] = sheets - sum(
        int(sheet) % 3 == number for number, place in enumerate(PILES) for sheet in desk.world.paper.at(place)
    )
    figures["days without I9"] = int(not desk.i9_holds())
    return figures


def stuck_day(seed: int, groups: int, *, blind: bool) -> Counter[str]:
    """Feed sheets that stick together; with `blind` the double-feed sensor sees none of it.

    Groups are taken out by hand and laid aside when the feeder stops. A group that lands has been counted as
    one sheet; then the people's count of the pile is greater than the machine's, and I2 fails.
    """
    chance = random.Random(seed)
    sheets: list[Sheet] = []
    faults: list[Fault] = [read_fault({"kind": "blind_double_feed"}, "blind")] if blind else []
    for group in range(groups):
        count = 3 if chance.random() < TRIPLE_SHARE else 2
        stuck = [_sheet(len(sheets) + place, chance) for place in range(count)]
        sheets.extend(stuck)
        entry: dict[str, Any] = {"kind": "double_feed", "sheets": [sheet.id for sheet in stuck]}
        if chance.random() >= FULL_SHARE:
            entry["overlap_mm"] = chance.uniform(0, 278)
        faults.append(read_fault(entry, f"group {group}"))
        if group % BETWEEN == BETWEEN - 1:
            sheets.append(_sheet(len(sheets), chance))
    desk = _run(sheets, faults, seed, lays_back=False)
    prefix = "blind: " if blind else ""
    figures: Counter[str] = Counter(resets=desk.connections - 1)
    figures[prefix + "stuck groups"] = groups
    extra = [len(_in_bins(desk, landing)) - 1 for landing in desk.landings]
    figures[prefix + "counted as one"] = sum(more > 0 for more in extra)
    for stop in desk.stops:
        if stop.reason != "hopper_empty":
            figures[f"{prefix}stopped by {stop.reason}"] += 1
    by_people = sum(len(desk.world.paper.at(place)) for place in PILES)
    caught = sum(extra) if not desk.i9_holds() else by_people - len(desk.landings)
    figures[prefix + "not caught by I9 or I2"] = max(0, sum(extra) - caught)
    return figures


def _in_bins(desk: Desk, landing: Landing) -> list[str]:
    """Return the sheets of one landing that really lie in a bin."""
    return [sheet for sheet in landing.pictured if desk.world.paper.place_of(sheet) in PILES]
