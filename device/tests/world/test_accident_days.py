"""Days of accidents with the real firmware: nothing is lost, and its counts are what the paper did."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from device.tests.world.bench import some_sheets
from device.tests.world.desk import Desk
from recount_world.board_process import BoardProcess
from recount_world.faults import Fault, read_fault
from recount_world.paper import PILES
from recount_world.script import Script
from recount_world.world import World

pytestmark = pytest.mark.usefixtures("micropython")

SHEETS = 4
DAY_US = 90_000_000

IDS = st.sampled_from([str(number) for number in range(1, SHEETS + 1)])
PLACES_MM = st.integers(0, 900)
SHORT_OF_EXITS_MM = st.integers(0, 640)
"""A sheet snatched off a bin's sensor has landed for the board; only the count of the piles finds that."""


def entries(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for one kind of fault."""
    return st.fixed_dictionaries({"kind": st.just(kind), **fields})


FAULTS = st.one_of(
    entries("jam", sheet=IDS, at_mm=PLACES_MM),
    entries("pulled_out", sheet=IDS, at_mm=SHORT_OF_EXITS_MM),
    entries("pick_slip", sheet=IDS, slip_mm=st.integers(0, 600)),
    entries("cover_opened", when_sheet=IDS, at_mm=PLACES_MM),
    entries("stop_pressed", when_sheet=IDS, at_mm=PLACES_MM),
    entries("board_reset", when_sheet=IDS, at_mm=PLACES_MM),
    entries("cable_cut", when_sheet=IDS, at_mm=PLACES_MM, for_s=st.floats(0.05, 2)),
    entries(
        "double_feed",
        sheets=st.sampled_from([["1", "2"], ["2", "3"], ["3", "4"]]),
        overlap_mm=st.integers(5, 279),
    ),
    entries("cable_noise", per_million=st.just(500)),
)


def a_day_of(faults: Sequence[Fault], **script: Any) -> tuple[World, Desk]:
    """Run a day to its end and return what is left of it."""
    with TemporaryDirectory() as folder:
        setting = Script(operator="none", sheets=some_sheets(SHEETS), faults=tuple(faults), **script)
        world = World(setting, BoardProcess(Path(folder), seed=setting.seed))
        desk = Desk(world)
        try:
            desk.work(DAY_US)
        finally:
            world.close()
    return world, desk


def described(entries: Sequence[dict[str, Any]]) -> list[Fault]:
    return [read_fault(entry, f"fault {number}") for number, entry in enumerate(entries, 1)]


@given(entries=st.lists(FAULTS, max_size=4), seed=st.integers(0, 1000))
@settings(max_examples=8, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(entries=[], seed=1)
@example(entries=[{"kind": "jam", "sheet": "2", "at_mm": 700}], seed=1)
@example(entries=[{"kind": "board_reset", "when_sheet": "4", "at_mm": 350}], seed=1)
def test_a_day_of_accidents_ends_with_every_sheet_in_its_bin_and_with_true_counts(
    entries: list[dict[str, Any]], seed: int
) -> None:
    world, desk = a_day_of(described(entries), seed=seed, bounce_us=1500, pick_spread_mm=15.0)
    assert desk.done
    for number, place in enumerate(PILES):
        sent = {sheet.id for sheet in some_sheets(SHEETS) if int(sheet.id) % 3 == number}
        assert set(world.paper.at(place)) == sent
    if not any(entry["kind"] == "board_reset" for entry in entries):
        # A board that loses power takes the counts that it has not told yet with it.
        fell = Counter(line.split()[-1] for line in world.trace.lines if line.split()[1] == "lies")
        assert desk.exits_counted() == Counter({place.value: fell[place.value] for place in PILES})
