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
from recount_protocol import feeder_messages
from recount_protocol.delivery import CONNECTED, LOST, PAYLOAD, Delivery
from recount_world.board_process import BoardProcess, interpreter
from recount_world.errors import BoardError
from recount_world.faults import Fault, read_fault
from recount_world.paper import PILES
from recount_world.script import Script
from recount_world.world import World

CONFIGURATION = {
    "transport_mm_s": 600,
    "pick_mm_s": 300,
    "entry_to_camera_mm": 400,
    "camera_to_exit_mm": 250,
    "min_length_mm": 250,
    "max_length_mm": 300,
    "pick_timeout_ms": 1500,
    "diverter_settle_ms": 80,
    "jam_margin_mm": 40,
    "silence_ms": 500,
}
SHEETS = 4
DAY_US = 90_000_000
RETRY_US = 300_000


class Desk:
    """Feeds all sheets, each to the exit of its number, and clears every stop by hand."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.done = False
        self.exits_counted: Counter[str] = Counter()
        self._counts_of_boot = (0, 0, 0, 0, 0)
        self._received = b""
        self._sheet = 0
        self._again_us: int | None = None
        self._link = Delivery(
            feeder_messages.VERSION,
            feeder_messages.TABLE_HASH,
            4711,
            feeder_messages.MAX_PAYLOAD_BYTES,
            resend_ms=30,
            keepalive_ms=150,
            dead_ms=500,
        )
        self._boot = -1
        world.to_station = self._arrive

    def _arrive(self, data: bytes) -> None:
        self._received += data

    def work(self, until_us: int) -> None:
        """Work until all sheets are through, or to a moment."""
        while not self.done and self.world.now_us < until_us:
            now_ms = self.world.now_us // 1000
            data, self._received = self._received, b""
            for event in self._link.receive(data, now_ms):
                if event[0] == CONNECTED:
                    self._meet(int(event[1]))
                elif event[0] == PAYLOAD:
                    self._take(*feeder_messages.decode(event[1]))
                elif event[0] == LOST:
                    self._again_us = None
            if self._again_us is not None and self.world.now_us >= self._again_us:
                self._again_us = None
                self._clear_path()
            self.world.from_station(self._link.output(now_ms))
            limit_us = max(self._link.next_deadline_ms(now_ms) * 1000, self.world.now_us + 1)
            if self._again_us is not None:
                limit_us = min(limit_us, self._again_us)
            while not self._received and self.world.now_us < limit_us:
                self.world.step(limit_us)

    def _say(self, name: str, **fields: int) -> None:
        if self._link.can_send:
            self._link.send(feeder_messages.encode(name, **fields))

    def _meet(self, boot: int) -> None:
        if boot != self._boot:
            if self._boot >= 0:
                # The board may not see paper that lies between its sensors; a station knows of it.
                self._clear_path()
            self._boot = boot
            self._close_boot()
        self._say("configure", **CONFIGURATION)
        self._say("ask")

    def _take(self, name: str, fields: dict[str, Any]) -> None:
        if "counts" in fields:
            self._counts_of_boot = fields["counts"]
        if name in ("landed", "cleared") or (name == "report" and fields["state"] == feeder_messages.READY):
            self._feed()
        elif name == "at_camera":
            lying = self.world.hands.in_path()[0]
            self._say("divert", sheet=self._sheet, exit=int(lying) % 3)
        elif name == "stopped" and fields["reason"] == feeder_messages.HOPPER_EMPTY:
            if self.world.hands.in_hopper():
                self._clear_path()
            else:
                self.done = True
                self._close_boot()
        elif name == "stopped" or (name == "report" and fields["state"] == feeder_messages.STOPPED):
            self._clear_path()
        elif name == "refused":
            self._again_us = self.world.now_us + RETRY_US

    def _feed(self) -> None:
        self._again_us = None
        self._sheet += 1
        self._say("feed", sheet=self._sheet)

    def _clear_path(self) -> None:
        """Take all paper out of the path, lay it back on the hopper, and ask the board to go on."""
        hands = self.world.hands
        self.world.touch()
        hands.take_path()
        if hands.held():
            hands.lay_back(hands.held())
        self.world.settle()
        self._say("clear")
        # The answer may get lost with the board: ask again until it says what is so.
        self._again_us = self.world.now_us + 3 * RETRY_US

    def _close_boot(self) -> None:
        for place, count in zip(PILES, self._counts_of_boot[1:4], strict=True):
            self.exits_counted[place.value] += count
        self._counts_of_boot = (0, 0, 0, 0, 0)


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


@pytest.fixture(autouse=True)
def _with_interpreter() -> None:
    try:
        interpreter()
    except BoardError as error:
        pytest.skip(str(error))


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
        assert desk.exits_counted == Counter({place.value: fell[place.value] for place in PILES})
