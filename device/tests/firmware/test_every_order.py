"""Whatever comes in whatever order: the pure state machine under random events, random days on the board."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from device.tests.firmware.bench import (
    CONFIGURATION,
    COVER,
    ENABLE,
    REVERSE,
    Bench,
    Sheet,
)
from device.tests.firmware.sources import firmware_module

feeder = firmware_module("feeder")

DAYS = int(os.environ.get("FEEDER_DAYS", "10"))
"""Random days on the real firmware; the soak asks for thousands."""

RUNS = int(os.environ.get("FEEDER_RUNS", "150"))
"""Random runs of the pure state machine."""

# --- the pure state machine ---

STEP = st.one_of(
    st.tuples(st.just("edge"), st.integers(0, 8), st.booleans()),
    st.tuples(st.just("time"), st.sampled_from([1, 20, 80, 300, 700, 1500, 16000]), st.just(0)),
    st.tuples(st.just("feed"), st.integers(1, 4), st.just(0)),
    st.tuples(st.just("divert"), st.integers(1, 4), st.integers(0, 3)),
    st.tuples(st.sampled_from(["clear", "halt", "ask", "configure", "silent"]), st.just(0), st.just(0)),
)

SHEETS_WAY = [
    ("edge", 0, True),
    ("feed", 1, 0),
    ("edge", 1, True),
    ("time", 470, 0),
    ("edge", 1, False),
    ("time", 200, 0),
    ("edge", 2, True),
    ("divert", 1, 0),
    ("time", 80, 0),
    ("time", 340, 0),
    ("edge", 3, True),
    ("time", 60, 0),
    ("edge", 2, False),
    ("time", 350, 0),
    ("edge", 3, False),
]
"""One sheet as it should go; random steps are thrown in between."""


@dataclass
class Watch:
    """A feeder and what must be true of it."""

    feeder: Any = field(default_factory=feeder.Feeder)
    now_us: int = 0
    counts: list[int] = field(default_factory=lambda: [0] * 5)
    entered: list[int] = field(default_factory=list[int])
    landed: list[int] = field(default_factory=list[int])
    judged: int = 0
    lying: set[int] = field(default_factory=set[int])
    """Exits that the sheet in the path lay over when the feeder stopped."""

    def take(self, step: tuple[str, int, Any]) -> None:
        kind, first, second = step
        one = self.feeder
        state = one.state
        # No hand moves paper in the moment of a stop: what an edge then means has a test of its own.
        self.now_us += 10_000 if kind == "edge" and state == feeder.STOPPED else 5000
        if kind == "edge":
            self._count(first, second)
            at_us = (self.now_us - 3000) % (1 << 30)
            if one.levels[first] != int(second):
                one.edge(first, second, at_us, self.now_us % (1 << 30))
        elif kind == "time":
            until_us = self.now_us + first * 1000
            while self.now_us < until_us:
                self.now_us = min(self.now_us + 20_000, until_us)
                one.tick(self.now_us % (1 << 30))
        elif kind == "silent":
            one.silent(self.now_us % (1 << 30))
        else:
            before = one.state, one.sheet
            fields = CONFIGURATION | {"sheet": first, "exit": second}
            one.command(kind, fields, self.now_us % (1 << 30))
            if kind == "divert" and before[0] != feeder.DIVERTING and one.state == feeder.DIVERTING:
                assert before == (feeder.AT_CAMERA, first)
                self.judged = first
        one.tick(self.now_us % (1 << 30))
        if one.state == feeder.STOPPED != state:
            here = state == feeder.LEAVING and one.sheet and one.levels[3 + one._exit] and one._at_exit
            self.lying = {3 + one._exit} if here else set()
        self._listen()
        self._check()

    def _count(self, sensor: int, covered: bool) -> None:
        one = self.feeder
        if one.levels[sensor] == int(covered):
            return
        backwards = one.state == feeder.BACKING
        if sensor == feeder.ENTRY and covered:
            self.counts[0] += not backwards and not (one.state == feeder.STOPPED and one.sheet)
        elif sensor == feeder.ENTRY:
            self.counts[4] += backwards
        elif sensor in {3, 4, 5} and not covered:
            leaving_there = one.state == feeder.LEAVING and sensor == 3 + one._exit
            at_us = (self.now_us - 3000) % (1 << 30)
            snatched = leaving_there and one._landed_event(at_us) != feeder.LANDED
            self.counts[sensor - 2] += not backwards and sensor not in self.lying and not snatched
        self.lying.discard(sensor)

    def _listen(self) -> None:
        while (message := self.feeder.next_message()) is not None:
            if message.name == "entered":
                self.entered.append(message.sheet)
            elif message.name == "landed":
                self.landed.append(message.sheet)
                if message.value != feeder.EXIT_BACK:
                    assert message.sheet == self.judged
            elif message.name == "stopped":
                assert feeder.REASONS[message.value] != feeder.FIRMWARE_ERROR

    def _check(self) -> None:
        one = self.feeder
        assert list(one.counts) == self.counts
        numbers = [value for value in vars(one).values() if isinstance(value, int)]
        assert all(abs(number) < 1 << 30 for number in numbers)  # else the board allocates
        assert len(set(self.entered)) == len(self.entered)
        assert len(set(self.landed)) == len(self.landed)
        assert set(self.landed) <= set(self.entered)
        if one.state == feeder.STOPPED:
            assert not one.pick_runs
            assert one.transport == feeder.STANDING
            assert not one.powered
        if one.state == feeder.LEAVING:
            assert one.sheet == self.judged
        if one.transport == feeder.FORWARD:
            assert one.state in {feeder.PICKING, feeder.ENTERING, feeder.LEAVING}


@pytest.mark.timeout(0 if RUNS > 1000 else 60)
@settings(max_examples=RUNS, deadline=None)
@given(st.lists(STEP, max_size=40), st.booleans())
def test_random_events_break_no_rule(steps: list[tuple[str, int, Any]], configured: bool) -> None:
    watch = Watch()
    if configured:
        watch.take(("configure", 0, 0))
    for step in steps:
        watch.take(step)


@pytest.mark.timeout(0 if RUNS > 1000 else 60)
@settings(max_examples=RUNS, deadline=None)
@given(st.dictionaries(st.integers(0, len(SHEETS_WAY)), st.lists(STEP, max_size=2), max_size=3))
def test_random_events_in_the_middle_of_a_sheet_break_no_rule(
    thrown_in: dict[int, list[tuple[str, int, Any]]],
) -> None:
    watch = Watch()
    watch.take(("configure", 0, 0))
    for place, step in enumerate([*SHEETS_WAY, ("ask", 0, 0)]):
        for other in thrown_in.get(place, []):
            watch.take(other)
        watch.take(step)
    if not thrown_in:
        assert watch.landed == [1]


@pytest.mark.parametrize("edge_ms_after_stop", [-0.5, 0.0, 1.5])
@pytest.mark.parametrize(("way_ms", "landed"), [(200, 0), (350, 1)])
def test_an_exits_edge_from_about_the_stop_is_a_landing_only_if_the_sheet_was_through(
    way_ms: int, landed: int, edge_ms_after_stop: float
) -> None:
    watch = Watch()
    for step in [("configure", 0, 0), *SHEETS_WAY[:-2], ("time", way_ms, 0)]:
        watch.take(step)
    one, now_us = watch.feeder, watch.now_us + 5000
    covered, clear = True, False
    one.edge(feeder.COVER, covered, now_us - 4000, now_us)
    cleared_us = now_us + int(edge_ms_after_stop * 1000)  # bounced: it stands later than the cover's
    one.edge(feeder.EXIT_COUNTED, clear, cleared_us, cleared_us + 3000)
    assert one.state == feeder.STOPPED
    assert one.counts[1] == landed


def test_a_sheet_drawn_from_its_bin_has_not_landed_however_long_it_lay_there() -> None:
    for minutes in (0.1, 8, 9, 17, 18, 40):  # the board's clock wraps after 17.9 minutes
        watch = Watch()
        for step in [
            ("configure", 0, 0),
            *SHEETS_WAY[:-1],
            ("halt", 0, 0),
            ("time", int(minutes * 60_000), 0),
        ]:
            watch.take(step)
        watch.take(("edge", feeder.EXIT_COUNTED, False))
        assert watch.feeder.counts[1] == 0


# --- days on the real firmware ---


@dataclass(frozen=True)
class Attempt:
    """One sheet of a day, and what befalls it."""

    exit: int
    length_mm: float
    double: bool
    stuck_from_mm: float
    accident: str
    after_ms: int


ATTEMPT = st.builds(
    Attempt,
    exit=st.integers(0, 3),
    length_mm=st.sampled_from([279.4, 279.4, 355.6, 215.9, 120.0, 380.0]),
    double=st.sampled_from([False] * 7 + [True]),
    stuck_from_mm=st.sampled_from([1e9] * 7 + [35.0, 150.0, 385.0, 450.0, 655.0, 800.0]),
    accident=st.sampled_from(["", "", "", "", "cover", "halt", "silence", "reset", "restart", "second"]),
    after_ms=st.integers(0, 1700),
)


class Day:
    """A station and an operator who only know what the board says; and what really happened to the paper."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.sheet = 0
        self.by_hand = 0
        self.past = [0] * 5  # the counts of boots before this one, as far as they were told
        self.unsure = 0  # sheets that were in the path when the board's counts were lost
        self.stations = 100

    def feed(self, attempt: Attempt) -> None:
        """Feed one sheet, and bring the feeder back to ready, whatever happens."""
        bench = self.bench
        self.sheet += 1
        bench.load(length_mm=attempt.length_mm, double=attempt.double, stuck_from_mm=attempt.stuck_from_mm)
        bench.forget()
        bench.say("feed", sheet=self.sheet)
        accident_us = bench.now_us + attempt.after_ms * 1000 if attempt.accident else None
        answered = False
        until_us = bench.now_us + 20_000_000
        while not self._over():
            assert bench.now_us < until_us, bench.heard
            if accident_us is not None and bench.now_us >= accident_us:
                accident_us = None
                if self._befall(attempt.accident):
                    break
            if not answered and any(message.name == "at_camera" for message in bench.heard):
                answered = True
                bench.say("divert", sheet=self.sheet, exit=attempt.exit)
            bench.turn()
        self._put_right()

    def _over(self) -> bool:
        return any(message.name in {"landed", "stopped"} for message in self.bench.heard)

    def _befall(self, accident: str) -> bool:
        """Let it happen; return whether the station has lost the thread by it."""
        bench = self.bench
        if accident == "cover":
            bench.paper.held[COVER] = 1
        elif accident == "halt":
            bench.say("halt")
        elif accident == "second" and self._entry_is_free():
            bench.paper.path.append(Sheet(lead_mm=0.1))
            bench.paper.entries += 1
        elif accident == "silence":
            bench.disconnect()
            bench.run(700)
        elif accident == "restart":
            self.stations += 1
            bench.connect(self.stations)
        elif accident == "reset":
            told = bench.last_counts()
            self.past = [before + count for before, count in zip(self.past, told, strict=True)]
            self.unsure += sum(sheet.lead_mm >= 0 for sheet in bench.paper.path)
            bench.restart()
        return accident in {"silence", "restart", "reset"}

    def _entry_is_free(self) -> bool:
        """Return whether a sheet pushed in now lies behind the one in the path, not upon it."""
        ahead = all(sheet.lead_mm - sheet.length_mm > 5 for sheet in self.bench.paper.path)
        return ahead and not self.bench.outputs.get(REVERSE)

    def _put_right(self) -> None:
        """Do what the station and the operator do after a stop, or after a sheet that landed."""
        bench = self.bench
        bench.run(30)
        bench.paper.held.clear()
        self.stations += 1
        if bench.station is None:
            bench.connect(self.stations)
        for _ in range(4):
            bench.run(60)
            bench.until(lambda: not bench.moving())
            report = bench.report()
            if report["state"] == 1:
                break
            assert report["state"] in {0, 8}
            self._clear_path()
            bench.paper.hopper.clear()
            bench.run(30)
            bench.ask("clear", "cleared")
            bench.ask("configure", "configured", **CONFIGURATION)
        bench.paper.hopper.clear()
        assert bench.state() == "ready"
        assert all(sheet.lead_mm < 0 for sheet in bench.paper.path)  # picked half-way: back onto the stack
        bench.paper.path.clear()

    def _clear_path(self) -> None:
        """Take the paper out, also what lies half in a bin."""
        self.by_hand += sum(sheet.lead_mm >= 0 for sheet in self.bench.paper.path)
        self.bench.paper.path.clear()

    def check(self) -> None:
        """The board's counts are where the paper is; only what lay in the path at a reset may be in doubt."""
        paper = self.bench.paper
        told = self.bench.report()["counts"]
        counts = [before + count for before, count in zip(self.past, told, strict=True)]
        true = [paper.entries, *(paper.landed.count(exit_) for exit_ in range(3)), paper.returned]
        differences = [real - count for real, count in zip(true, counts, strict=True)]
        assert all(0 <= difference <= self.unsure for difference in differences), (true, counts)
        if not self.unsure:
            assert paper.entries == len(paper.landed) + paper.returned + self.by_hand


@pytest.mark.timeout(0 if DAYS > 100 else 60)
@settings(
    max_examples=DAYS,
    deadline=None,
    derandomize=DAYS <= 100,  # the same days each time; a soak has new ones
    phases=(Phase.explicit, Phase.generate),  # a day takes too long to be made smaller
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(attempts=st.lists(ATTEMPT, min_size=1, max_size=5))
def test_a_random_day_ends_with_every_sheet_counted_where_it_lies(
    tmp_path: Path, attempts: list[Attempt]
) -> None:
    with Bench(tmp_path) as bench:
        bench.configure()
        day = Day(bench)
        for attempt in attempts:
            day.feed(attempt)
        day.check()
        assert bench.outputs[ENABLE] == 0
