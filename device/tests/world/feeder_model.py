"""A model of a day: whatever people, paper and cables do in any order, sheets end where they are counted.

The model knows for each sheet whether it has been counted, and as what; the world knows where it lies; the
board knows how many it has seen. The three must agree, with one sheet in doubt at a time at the most.
"""

import traceback
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from device.tests.world.bench import some_sheets
from device.tests.world.desk import Desk
from recount_world.board_process import BoardProcess
from recount_world.faults import read_fault
from recount_world.paper import PILES, Place, Sheet
from recount_world.path import ticks
from recount_world.script import Script
from recount_world.world import World

DAY_US = 200_000_000
BEFORE_EXIT_MM = 40.0
"""A hand that takes a sheet off its bin's sensor at the moment at which it should leave it, give or take
`jam_margin_mm`, is to the sensors a sheet that falls into the bin; only the count of the piles finds it (I3).
So no hand of the model does that: neither to a sheet whose end is that near, nor to one that is jammed in the
bin's mouth while the motors still turn."""

STRAY_SHEETS = 900_000
"""Numbers from here on were never given by the desk."""

FIELDS = {"halt": (), "ask": (), "feed": ("sheet",), "divert": ("sheet", "exit")}
"""Commands out of turn. No `clear`: a sheet between the sensors is seen by none of them, so the board has to
believe the station that hands took it out."""


class CountingDesk(Desk):
    """A desk that keeps the tally, and settles by looking where a judged sheet lies that did not land."""

    def __init__(self, world: World, **settings: Any) -> None:
        super().__init__(world, **settings)
        self.tally: dict[str, int] = {}
        """Each sheet counted, and the exit that it was counted as."""
        self.counted_twice: list[str] = []
        self.judged: str | None = None
        """The sheet whose verdict was given and whose end is not known."""

    def _take(self, name: str, fields: dict[str, Any]) -> None:
        if name == "landed" and self.judged is not None:
            self._count(self.judged, fields["exit"])
            self.judged = None
        super()._take(name, fields)

    def _judge(self) -> None:
        self.judged = self._pictured[0]
        super()._judge()

    def _count(self, sheet_id: str, exit_: int) -> None:
        if sheet_id in self.tally:
            self.counted_twice.append(sheet_id)
        self.tally[sheet_id] = exit_

    def _feed(self) -> None:
        self._settle_doubt()
        super()._feed()

    def _clear_path(self) -> None:
        self._settle_doubt()
        super()._clear_path()

    def _settle_doubt(self) -> None:
        """Look where the judged sheet lies: in a bin it is counted there, elsewhere it is returned."""
        if self.judged is None:
            return
        place = self.world.paper.place_of(self.judged)
        if place in PILES:
            self._count(self.judged, PILES.index(place))
        self.judged = None

    def say(self, name: str, **fields: int) -> None:
        """Say something out of turn."""
        self._say(name, **fields)


PAUSES = st.sampled_from([0, 15, 60, 150, 300, 450, 600, 800, 1100, 1600, 3000])
"""Milliseconds; a sheet takes some 1700 from the hopper into its bin."""


class FeederMachine(RuleBasedStateMachine):
    """Random sequences of what can happen to a feeder."""

    sequences: ClassVar[int] = 0
    """How many sequences were run to their end."""
    events: ClassVar[Counter[str]] = Counter()

    @initialize(seed=st.integers(0, 10_000), sheets=st.integers(1, 3))
    def switch_on(self, seed: int, sheets: int) -> None:
        self._folder = TemporaryDirectory()
        script = Script(
            operator="none", sheets=some_sheets(sheets), seed=seed, bounce_us=1500, pick_spread_mm=15.0
        )
        self.world = World(script, BoardProcess(Path(self._folder.name), seed=seed))
        self.desk = CountingDesk(self.world)
        self.laid = sheets
        self.resets = 0
        self.desk.work(500_000)

    # --- what happens, each a while after the one before ---

    def _pass(self, milliseconds: int) -> None:
        self.desk.work(self.world.now_us + milliseconds * 1000)
        self.world.touch()

    def _happens(self, kind: str, **fields: Any) -> None:
        """Let a fault of the script's kinds happen now."""
        self.events[kind] += 1
        self.world.add_fault(read_fault({"kind": kind, **fields, "at_s": self.world.now_us / 1e6}, kind))

    @rule(pause_ms=PAUSES, count=st.integers(1, 2))
    def sheets_are_laid_on(self, pause_ms: int, count: int) -> None:
        self._pass(pause_ms)
        self.events["laid on"] += 1
        new = [Sheet(str(self.laid + place + 1)) for place in range(count)]
        self.laid += count
        self.world.touch()
        self.world.hands.load(new)
        self.world.settle()
        self.desk.resume()

    @rule(pause_ms=PAUSES)
    def the_sheet_jams(self, pause_ms: int) -> None:
        self._pass(pause_ms)
        self.events["jam"] += bool(self.world.path.bundles)
        for bundle in self.world.path.bundles:
            bundle.held = True
        self.world.settle()

    @rule(pause_ms=PAUSES, overlap_mm=st.one_of(st.none(), st.floats(5, 279)))
    def two_sheets_stick(self, pause_ms: int, overlap_mm: float | None) -> None:
        self._pass(pause_ms)
        overlap = {} if overlap_mm is None else {"overlap_mm": overlap_mm}
        sheets = list(self.world.paper.at(Place.HOPPER)[:2])
        if len(sheets) < 2:
            return
        self.events["double feed"] += 1
        self.world.add_fault(read_fault({"kind": "double_feed", "sheets": sheets, **overlap}, "double"))

    @rule(pause_ms=PAUSES, slip_mm=st.integers(50, 600))
    def the_pick_roller_slips(self, pause_ms: int, slip_mm: int) -> None:
        self._pass(pause_ms)
        sheet = self._uppermost()
        if sheet is None:
            return
        self.events["pick slip"] += 1
        self.world.add_fault(read_fault({"kind": "pick_slip", "sheet": sheet, "slip_mm": slip_mm}, "slip"))

    @rule(pause_ms=PAUSES, skew_deg=st.sampled_from([-8, -4, 2, 5, 7]))
    def the_next_sheet_goes_in_askew(self, pause_ms: int, skew_deg: int) -> None:
        self._pass(pause_ms)
        sheet = self._uppermost()
        if sheet is None:
            return
        self.events["askew"] += 1
        self.world.add_fault(read_fault({"kind": "pick_skew", "sheet": sheet, "skew_deg": skew_deg}, "askew"))

    @rule(pause_ms=PAUSES)
    def a_hand_pulls_the_sheet_out(self, pause_ms: int) -> None:
        self._pass(pause_ms)
        if not self._can_be_pulled():
            return
        self.events["pulled out"] += 1
        self.world.path.take(self.world.hands.in_path()[0], Place.OPERATOR)
        self.world.settle()

    def _uppermost(self) -> str | None:
        stack = self.world.paper.at(Place.HOPPER)
        return stack[0] if stack else None

    def _can_be_pulled(self) -> bool:
        """Tell whether the sensors can tell this hand from a landing; see BEFORE_EXIT_MM."""
        path = self.world.path
        near = path.edges.exit - ticks(2 * BEFORE_EXIT_MM)
        jammed_in_mouth = path.motors.turning and any(
            bundle.held and any(sheet.covers(path.edges.exit) for sheet in bundle.carried)
            for bundle in path.bundles
        )
        return (
            bool(self.world.hands.in_path())
            and not jammed_in_mouth
            and all(sheet.tail < near for sheet in path.carried())
        )

    @rule(pause_ms=PAUSES, for_s=st.sampled_from([0.05, 0.4, 1.5]))
    def the_cover_is_opened(self, pause_ms: int, for_s: float) -> None:
        self._pass(pause_ms)
        self._happens("cover_opened", for_s=for_s)

    @rule(pause_ms=PAUSES)
    def the_stop_is_pressed(self, pause_ms: int) -> None:
        self._pass(pause_ms)
        self._happens("stop_pressed")

    @rule(pause_ms=PAUSES)
    def the_board_loses_power(self, pause_ms: int) -> None:
        self._pass(pause_ms)
        self.resets += 1
        self._happens("board_reset")

    @rule(pause_ms=PAUSES, for_s=st.sampled_from([0.1, 0.45, 0.7, 2.0]))
    def the_cable_is_cut(self, pause_ms: int, for_s: float) -> None:
        self._pass(pause_ms)
        self._happens("cable_cut", for_s=for_s)

    @rule(pause_ms=PAUSES, for_s=st.sampled_from([0.2, 0.6, 1.5]))
    def the_cable_is_pulled_out(self, pause_ms: int, for_s: float) -> None:
        self._pass(pause_ms)
        self._happens("cable_unplugged", for_s=for_s)

    @rule(pause_ms=PAUSES, per_million=st.sampled_from([500, 5000]), for_s=st.sampled_from([0.2, 1.0]))
    def the_cable_is_noisy(self, pause_ms: int, per_million: int, for_s: float) -> None:
        self._pass(pause_ms)
        self._happens("cable_noise", per_million=per_million, for_s=for_s)

    @rule(pause_ms=PAUSES, garbage=st.binary(min_size=1, max_size=80))
    def garbage_comes_over_the_link(self, pause_ms: int, garbage: bytes) -> None:
        self._pass(pause_ms)
        self.events["garbage"] += 1
        self.world.from_station(garbage)

    @rule(
        pause_ms=PAUSES,
        command=st.sampled_from(sorted(FIELDS)),
        sheet=st.integers(0, 9),
        exit_=st.integers(0, 3),
    )
    def the_station_says_what_does_not_fit(self, pause_ms: int, command: str, sheet: int, exit_: int) -> None:
        self._pass(pause_ms)
        self.events[f"stray {command}"] += 1
        stray = {"sheet": STRAY_SHEETS + sheet, "exit": exit_}
        self.desk.say(command, **{name: stray[name] for name in FIELDS[command]})

    # --- what must be so ---

    @invariant()
    def no_sheet_is_counted_twice(self) -> None:
        assert not self.desk.counted_twice

    @invariant()
    def what_is_counted_lies_where_it_is_counted(self) -> None:
        for sheet_id, exit_ in self.desk.tally.items():
            assert self.world.paper.place_of(sheet_id) is PILES[exit_], sheet_id

    @invariant()
    def at_most_one_sheet_is_in_a_bin_and_not_yet_counted(self) -> None:
        fallen = {sheet for place in PILES for sheet in self.world.paper.at(place)}
        assert fallen - set(self.desk.tally) <= {self.desk.judged}

    def teardown(self) -> None:
        if not hasattr(self, "world"):
            return
        try:
            self.desk.work(self.world.now_us + DAY_US)
            self._check_the_end()
            type(self).sequences += 1
        finally:
            self.world.close()
            self._folder.cleanup()

    def _check_the_end(self) -> None:
        assert self.desk.done
        self.no_sheet_is_counted_twice()
        self.what_is_counted_lies_where_it_is_counted()
        assert set(self.desk.tally) == set(self.world.paper.sheets)  # none lost
        fell = Counter(line.split()[-1] for line in self.world.trace.lines if line.split()[1] == "lies")
        told = self.desk.exits_counted()
        for place in PILES:
            # A board that loses power takes a count with it that it has not told yet, one at the most.
            assert 0 <= fell[place.value] - told[place.value] <= self.resets, (fell, told)


def random_days(seed: int, sequences: int, *, steps: int = 15) -> Counter[str]:
    """Run random sequences of events; a rule that breaks is printed with the sequence that broke it."""
    machine = hypothesis.seed(seed)(type("SeededMachine", (FeederMachine,), {"sequences": 0}))
    figures: Counter[str] = Counter()
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=sequences,
                stateful_step_count=steps,
                deadline=None,
                database=None,
                phases=(Phase.generate,),  # a sequence takes too long to be made smaller
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )
    except Exception:  # noqa: BLE001 - whatever went wrong in a sequence, the other days are still to be run
        traceback.print_exc()
        figures["sequences that break a rule"] = 1
    figures["random sequences"] = machine.sequences
    return figures
