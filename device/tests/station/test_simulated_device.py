"""The real station on the simulated machine: unmodified firmware, serial port, paper, hands and accidents."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from device.tests.station.bench import (
    ANN_AND_BOB,
    PROGRAM,
    BenchHost,
    BenchStore,
    InlineReader,
    QuickJournal,
    SlowReader,
    records_in,
)
from firmware_tests.rig import firmware_hash, firmware_sources
from recount_classifier.evidence import Evidence
from recount_classifier.program import Program
from recount_classifier.reading import Reading
from recount_device import passage
from recount_device.camera import Page
from recount_device.clock import Clock
from recount_device.config import parse_config
from recount_device.feeder_link import FeederLink
from recount_device.identity import open_identity
from recount_device.panel import Message, Panel
from recount_device.reader import Reader
from recount_device.run import Parts, make_station
from recount_device.simulator import connect
from recount_protocol.fates import COUNTED, SET_ASIDE
from recount_protocol.records import Record
from recount_world.client import WorldClient, control

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the simulated board runs on Linux only")

DEVICE = """
name = "table-1"
folder = "device"
feeder = "simulated:world.sock"
camera = "simulated:world.sock"
panel = "simulated:world.sock"
host = "tcp://127.0.0.1:1"
"""
SHEETS = 6
PLACES = ("counted", "set_aside", "not_accepted", "hopper", "path", "operator")


def read_as_counted(_sides: Sequence[Page], _program: Program) -> Reading:
    """Stand in for the classifier: these tests are about the path."""
    registration = tuple(float(n) for n in range(12))
    crop = np.zeros((8, 8), np.uint8)
    evidence = Evidence("card-1", 0, crop, (registration, registration), {})
    return Reading(COUNTED, ("D",), (), evidence, None)


class Watched:
    """The simulated panel, and what it shows."""

    def __init__(self, panel: Panel) -> None:
        self._panel = panel
        self.key = ""
        self.text = ""

    def show(self, message: Message) -> None:
        """Show it, and remember."""
        self.key, self.text = message.key, message.text
        self._panel.show(message)

    def pressed(self) -> list[str]:
        """Return the buttons pressed."""
        return self._panel.pressed()

    def close(self) -> None:
        """Close the panel."""
        self._panel.close()


HANDS_US = 500_000
"""How soon the officials' hands are in the path after the panel has called them."""


class World:
    """A world in a process of its own, and the device on it, which may be killed and started again."""

    def __init__(
        self,
        folder: Path,
        faults: str = "",
        device: str = "",
        sheets: str = "".join(f'[[sheet]]\nid = "{n}"\n' for n in range(1, SHEETS + 1)),
        make_reader: Callable[[Clock], Reader] = lambda _clock: InlineReader(read_as_counted),
    ) -> None:
        self.folder = folder
        self._device_toml = DEVICE + device
        self._make_reader = make_reader
        (folder / "WORLD.toml").write_text(
            f'socket = "world.sock"\nduplex = false\nseed = 3\n{faults}\n{sheets}'
        )
        (folder / "device").mkdir()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "recount_device", "simulate", str(folder / "WORLD.toml")],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert "simulated device at" in self._process.stdout.readline()
        self.control: WorldClient = control(folder / "world.sock")
        self.host = BenchHost()
        self._asked_us: int | None = None
        self.start()

    def start(self) -> None:
        """Start the device on its folder."""
        config = parse_config(self._device_toml, "DEVICE.toml", self.folder)
        self._device = device = connect(self.folder / "world.sock")
        panel = Watched(device.panel)
        parts = Parts(device.clock, device.camera, self._make_reader(device.clock), panel, device.open_feeder)
        self.panel = panel
        self.journal = QuickJournal(config.folder, open_identity(config.folder))
        self.feeder = FeederLink(parts.clock, parts.find_feeder)
        self.station = make_station(config, self.journal, parts, self.feeder, self.host, BenchStore())

    def kill(self) -> None:
        """End the station in the middle of what it does."""
        self.feeder.close()
        self._device.close()
        self.journal.close()

    def close(self) -> None:
        """End device and world."""
        self.kill()
        self.control.quit()
        self.control.close()
        self._process.wait(10)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def assign(self) -> None:
        """Have the host assign the run."""
        fields = {
            "precinct": "101",
            "contest": "governor",
            "program": PROGRAM.program_hash,
            "mode": "training",
        }
        self.host.order("assign_run", run="r1", **fields)

    def work(self, until: Callable[[], bool], limit: int = 20_000) -> None:
        """Let the device work until something is so, the officials settling what comes up."""
        for _ in range(limit):
            self.station.step()
            if until():
                return
            if self.panel.key == "batch_void_needed":
                break
            self._settle()
        raise AssertionError(f"no end: the panel shows {self.panel.key}: {self.panel.text}")

    def _settle(self) -> None:
        doubt = self.station.passage.doubt
        if doubt is None or self.panel.key != "ask_officials":
            self._asked_us = None
            return
        # No hand is in the path the moment the question is asked.
        now_us = self.control.now_us()
        self._asked_us = now_us if self._asked_us is None else self._asked_us
        if now_us < self._asked_us + HANDS_US:
            return
        places = self.control.positions()
        in_path, in_hand = places["path"], places["operator"]
        if in_path:
            self.control.set(cover_open=True)
            in_hand += self.control.take_out("path")
            self.control.set(cover_open=False)
        if in_hand:
            self.control.load(in_hand)
        fate = "returned" if in_hand else doubt.fate
        self.host.order("settle_doubt", run="r1", batch=1, sheet=doubt.number, fate=fate, by=ANN_AND_BOB)

    def batch_is_closed(self) -> bool:
        """Return whether the batch is closed."""
        return self.journal.history.last_batch > 0 and self.journal.history.batch is None

    def scan(self) -> None:
        """Scan everything, from the assignment to the closed batch."""
        self.assign()
        self.work(self.batch_is_closed)

    def records(self, kind: str | None = None) -> list[Record]:
        """Return the records written."""
        return records_in(self.folder / "device", kind)

    def reasons(self) -> list[str]:
        """Return the reasons of all sheets that came back."""
        return [reason for record in self.records("sheet_returned") for reason in record.body["reasons"]]

    def check(self) -> None:
        """Compare the tally with where the paper lies."""
        places = self.control.positions()
        (closed,) = self.records("batch_closed")
        assert closed.body["counted"] == len(places["counted"])
        assert closed.body["set_aside_sheets"] == len(places["set_aside"])
        assert closed.body["not_accepted_sheets"] == len(places["not_accepted"])
        everywhere = [sheet for place in PLACES for sheet in places[place]]
        assert sorted(everywhere) == [str(n) for n in range(1, SHEETS + 1)]
        assert places["hopper"] == places["path"] == places["operator"] == []


MakeWorld = Callable[..., World]


@pytest.fixture
def a_world(tmp_path: Path) -> Iterator[MakeWorld]:
    """Give a maker of worlds; they end with the test."""
    made: list[World] = []

    def make(faults: str = "", first_take_us: Sequence[int] = ()) -> World:
        def make_reader(clock: Clock) -> Reader:
            return SlowReader(clock, read_as_counted, first_take_us)

        made.append(World(tmp_path, faults, make_reader=make_reader))
        return made[-1]

    yield make
    for world in made:
        world.close()


def test_every_sheet_lands_and_the_batch_closes(a_world: MakeWorld) -> None:
    world = a_world()
    world.scan()
    world.check()
    assert world.records("batch_closed")[0].body["entries"] == SHEETS
    assert world.reasons() == []


def test_a_run_names_the_firmware_that_the_board_runs(a_world: MakeWorld) -> None:
    world = a_world()
    world.assign()
    world.work(lambda: world.journal.history.run is not None)
    sources = firmware_hash((source.name, source.read_bytes()) for source in firmware_sources())
    assert world.records("run_opened")[0].body["firmware"].startswith(sources)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ('kind = "jam"\nsheet = "3"\nat_mm = 330', "jam"),
        ('kind = "double_feed"\nsheets = ["3", "4"]', "double_feed"),
        ('kind = "cover_opened"\nwhen_sheet = "3"\nat_mm = 200', "cover_open"),
        ('kind = "stop_pressed"\nwhen_sheet = "3"\nat_mm = 200', "stop_button"),
        ('kind = "camera_stalled"\nwhen_sheet = "3"\nat_mm = 200\nfor_s = 1.0', "same_image"),
    ],
)
def test_an_accident_before_the_verdict_gives_the_sheet_back(
    a_world: MakeWorld, fault: str, reason: str
) -> None:
    world = a_world(f"[[fault]]\n{fault}")
    world.scan()
    world.check()
    assert reason in world.reasons()


@pytest.mark.parametrize("at_mm", [500, 700, 800])
def test_a_jam_after_the_verdict_is_settled_by_the_officials(a_world: MakeWorld, at_mm: int) -> None:
    world = a_world(f'[[fault]]\nkind = "jam"\nsheet = "3"\nat_mm = {at_mm}')
    world.scan()
    world.check()
    assert len(world.records("sheet_in_doubt")) == len(world.records("doubt_settled")) == 1


@pytest.mark.parametrize("at_mm", [60, 330, 390, 600])
def test_a_board_that_loses_its_power_loses_no_sheet(a_world: MakeWorld, at_mm: int) -> None:
    world = a_world(f'[[fault]]\nkind = "board_reset"\nwhen_sheet = "3"\nat_mm = {at_mm}')
    world.scan()
    world.check()
    assert len(world.records("sheet_in_doubt")) <= 1


@pytest.mark.parametrize("at_mm", [60, 390, 500])
def test_a_cable_that_is_cut_and_joined_again_loses_no_sheet(a_world: MakeWorld, at_mm: int) -> None:
    world = a_world(f'[[fault]]\nkind = "cable_cut"\nwhen_sheet = "3"\nat_mm = {at_mm}\nfor_s = 2.0')
    world.scan()
    world.check()
    assert len(world.records("sheet_in_doubt")) <= 1


@pytest.mark.parametrize("at_mm", [60, 390, 500])
def test_a_cable_that_is_pulled_out_and_comes_back_as_another_port_loses_no_sheet(
    a_world: MakeWorld, at_mm: int
) -> None:
    world = a_world(f'[[fault]]\nkind = "cable_unplugged"\nwhen_sheet = "3"\nat_mm = {at_mm}\nfor_s = 1.5')
    world.scan()
    world.check()
    assert len(world.records("sheet_in_doubt")) <= 1


def test_a_sheet_that_the_guides_catch_comes_back_and_is_fed_again(a_world: MakeWorld) -> None:
    world = a_world('[[fault]]\nkind = "pick_skew"\nsheet = "3"\nskew_deg = 8')
    world.scan()
    world.check()
    assert [record.body["reasons"] for record in world.records("sheet_returned")] == [["jam"]]


def test_noise_on_the_cable_changes_nothing(a_world: MakeWorld) -> None:
    world = a_world('[[fault]]\nkind = "cable_noise"\nper_million = 2000')
    world.scan()
    world.check()


@pytest.mark.parametrize("steps", [30, 60, 90])
def test_a_device_that_is_killed_in_mid_batch_counts_each_sheet_once(a_world: MakeWorld, steps: int) -> None:
    world = a_world()
    world.assign()
    world.work(lambda: world.journal.history.batch is not None)
    for _ in range(steps):
        world.station.step()
    world.kill()
    world.start()
    world.scan()
    world.check()
    assert len(world.records("sheet_in_doubt")) <= 1


def test_a_sheet_slipped_past_the_camera_keeps_the_batch_from_closing(a_world: MakeWorld) -> None:
    world = a_world(
        '[[fault]]\nkind = "slip"\nsheet = "extra"\nbin = "counted"\nwhen_sheet = "4"\nat_mm = 100'
    )
    world.assign()
    world.work(lambda: world.panel.key == "batch_void_needed")
    assert world.records("batch_closed") == []


def read_by_turns() -> Callable[[Sequence[Page], Program], Reading]:
    """Return a reader whose every second sheet is for the officials."""
    read: list[int] = []

    def reader(sides: Sequence[Page], program: Program) -> Reading:
        read.append(1)
        reading = read_as_counted(sides, program)
        return reading if len(read) % 2 else Reading(SET_ASIDE, (), ("overvote",), reading.evidence, None)

    return reader


def test_a_device_without_a_diverter_has_a_person_lay_sheets_in_their_tray(tmp_path: Path) -> None:
    world = World(
        tmp_path, device='diverter = "prompt"\n', make_reader=lambda _clock: InlineReader(read_by_turns())
    )
    try:
        world.scan()
        world.check()
        (closed,) = world.records("batch_closed")
        assert (closed.body["counted"], closed.body["set_aside_sheets"]) == (SHEETS // 2, SHEETS // 2)
        assert closed.body["exits"]["set_aside"] == 0
        assert closed.body["by_hand"] == SHEETS // 2
    finally:
        world.close()


def test_a_reader_slower_than_the_feeders_patience_is_no_silent_station(a_world: MakeWorld) -> None:
    world = a_world(first_take_us=[1_500_000, 800_000])
    world.scan()
    world.check()
    assert world.reasons() == []
    assert world.records("batch_closed")[0].body["counted"] == SHEETS


def test_a_reader_that_hangs_gives_the_sheet_back_and_then_to_the_officials(
    a_world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage, "READING_LIMIT_US", 700_000)
    world = a_world(first_take_us=[2_000_000, 2_000_000])
    world.scan()
    world.check()
    assert world.reasons() == ["reading_failed"]
    (closed,) = world.records("batch_closed")
    assert (closed.body["not_accepted"], closed.body["counted"]) == ({"reading_failed": 1}, SHEETS - 1)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ('kind = "cover_opened"\nat_s = 2.5', "cover_open"),
        ('kind = "board_reset"\nat_s = 2.5', "path_not_clear"),
        ('kind = "cable_cut"\nat_s = 2.2\nfor_s = 1.0', "station_silent"),
        ('kind = "cable_cut"\nat_s = 2.2\nfor_s = 0.2', ""),
    ],
)
def test_an_accident_while_a_sheet_is_read_gives_it_back_unread(
    a_world: MakeWorld, fault: str, reason: str
) -> None:
    # The first sheet comes to rest under the camera after two seconds of this world.
    world = a_world(f"[[fault]]\n{fault}", first_take_us=[1_500_000])
    world.scan()
    world.check()
    assert world.reasons()[:1] == [reason] * bool(reason)
    assert world.records("sheet_in_doubt") == []
