"""The world: one clock, the paper path, the board, the cable, people's hands. It jumps from event to event.

Nothing here waits for real time and nothing depends on it: `server` decides how far the clock may go. At
every moment things happen in one order: paper moves, what was due is done, sensors show what is so, the board
runs until it waits again.
"""

import random
from collections.abc import Callable
from dataclasses import replace

from recount_world.accidents import strike
from recount_world.agenda import Agenda
from recount_world.auto_operator import AutoOperator, Panel
from recount_world.board import Answer, Board, Request
from recount_world.camera import Camera, Page
from recount_world.errors import BoardError
from recount_world.faults import PICKED, Fault
from recount_world.hands import Hands
from recount_world.inputs import Inputs
from recount_world.line import Cable, Wire
from recount_world.outputs import Outputs
from recount_world.paper import Paper, Place
from recount_world.path import Bundle, Carried, Mark, PaperPath, ticks
from recount_world.pins import firmware_pins
from recount_world.script import Script
from recount_world.sensors import Ailments, Switches, sensor_levels
from recount_world.trace import Trace

BOOT_US = 300_000
"""From power on to the firmware's first line."""
LEAST_WAIT_US = 20
"""A board that asks for no wait at all gets this one, or time would stand still."""
IDLE_US = 2_000_000
"""So long after the last motion nothing more is to be hurried: time keeps to real time."""
MOST_STARTS = 5
"""So many starts of the board in a row without a first wait: it never will."""


class World:
    """Everything that the station cannot see but through its port, its camera and its buttons."""

    def __init__(self, script: Script, board: Board, trace: Trace | None = None) -> None:
        self.script = script
        self.now_us = 0
        self.trace = trace or Trace()
        self.paper = Paper(script.sheets)
        self.path = PaperPath(self.paper, script.geometry)
        self.switches = Switches()
        self.ailments = Ailments()
        self.camera = Camera(self.path, duplex=script.duplex, seed=script.seed)
        self.panel: Panel | None = None
        self.to_station: Callable[[bytes], None] = _lost
        self.hang_up: Callable[[], None] = _nothing
        """Tells the station's serial port that it is gone."""
        self.station_down: Callable[[], None] = _nothing
        """Takes the station's power."""
        self._agenda = Agenda()
        self._chance = random.Random(script.seed)  # noqa: S311 - a simulation's dice, not a key
        self.inputs = Inputs(self._agenda, self._chance, self.trace, script.bounce_us)
        self.outputs = Outputs(self.path, self.switches)
        self.hands = Hands(self)
        self.operator = AutoOperator(self.hands) if script.operator == "auto" else None
        self._pins = firmware_pins()
        self.faults: list[Fault] = []
        self._last_motion_us = 0
        self._paper_us = 0
        self._paper_due_us: int | None = None
        self._touched = True
        self.cable = Cable()
        self._down = Wire(self.cable, self._chance)
        self._up = Wire(self.cable, self._chance)
        self._board = board
        self._boots = 0
        self._failed_starts = 0
        self._board_due_us: int | None = None
        self._watchdog_us: int | None = None
        self._turn_us = -1
        """When the board last took a turn."""
        self._received = b""
        self.trace.note(0, "seed", script.seed)
        for fault in script.faults:
            self.add_fault(fault)
        self.inputs.plan_dust(0, script.dust_per_minute)
        self.inputs.plan_flicker(0, script.double_feed_flicker)
        self.later(BOOT_US, self._boot)
        self._show_sensors()

    def close(self) -> None:
        """Take the board's power and let go of everything."""
        self._board.power_off()
        self.camera.close()
        self.trace.close()

    # Time.

    def next_event_us(self) -> int:
        """Return when something happens next; with a board that runs there is always something."""
        due = (self._board_due_us, self._watchdog_us, self._paper_due_us, self._agenda.next_us)
        moments = [moment for moment in due if moment is not None]
        return max(min(moments, default=self.now_us + IDLE_US), self.now_us)

    def step(self, limit_us: int) -> None:
        """Go to the next event and let it happen, or to `limit_us` where none comes before."""
        moment = self.next_event_us()
        if self.path.motors.turning:
            self._last_motion_us = min(moment, limit_us)
        if moment > limit_us:
            self.now_us = max(limit_us, self.now_us)
            return
        self.now_us = moment
        if self._paper_due_us is not None and self._paper_due_us <= moment:
            self.touch()
        while (action := self._agenda.take(moment)) is not None:
            self.touch()
            action()
        if self._watchdog_us is not None and self._watchdog_us <= moment:
            self.trace.note(moment, "watchdog")
            self.reset_board()
        self.settle()

    def run_until(self, moment_us: int) -> None:
        """Let time run to a moment."""
        while self.now_us < moment_us:
            self.step(moment_us)

    def idle(self) -> bool:
        """Tell whether nothing moves, has moved lately or is about to be done by hands."""
        return not self._agenda.hurried and self.now_us - self._last_motion_us > IDLE_US

    def touch(self) -> None:
        """Bring the paper to the present moment: something is about to act on it, or to look at it.

        Between two changes the paper need not be moved: nothing depends on where in between it is.
        """
        self.path.advance(self.now_us - self._paper_us)
        self._paper_us = self.now_us
        self._touched = True

    def later(self, delay_us: int, action: Callable[[], None]) -> None:
        """Do something after a while."""
        self._agenda.add(self.now_us + delay_us, action)

    # Paper, sensors and board come to rest at this moment.

    def settle(self) -> None:
        """Let everything follow that follows at this moment, until the board waits for later."""
        while True:
            if self._touched:
                self._touched = False
                self._settle_paper()
                self._show_sensors()
                change_us = self.path.next_change_us()
                self._paper_due_us = None if change_us is None else self.now_us + change_us
            if not self._wake_board():
                return

    def _settle_paper(self) -> None:
        while True:
            if self.path.wants_sheet():
                self._pick()
            struck = [
                (sheet, mark)
                for sheet in self.path.carried()
                for mark in sheet.marks
                if sheet.lead >= mark.lead
            ]
            for sheet, mark in struck:
                sheet.marks.remove(mark)
                self._strike(self.faults[mark.fault])
            arrivals = self.path.settle(self.now_us)
            for arrival in arrivals:
                self.trace.note(self.now_us, "lies", arrival.sheet, arrival.place.value)
                self.camera.unfocused.discard(arrival.sheet)
            if not struck and not arrivals:
                return

    def _pick(self) -> None:
        """Let the pick roller take hold of the uppermost sheet, and of those that stick to it."""
        stack = self.paper.at(Place.HOPPER)
        first = stack[0]
        slip_mm = self._chance.random() * self.script.pick_spread_mm
        if self.script.double_feed_error_um:
            error_um = self.script.double_feed_error_um
            self.ailments.double_feed_error_um = self._chance.uniform(-error_um, error_um)
        ids, offsets = [first], [0]
        skew_deg = 0.0
        for fault in self._lying_faults(first):
            if fault.kind == "double_feed" and set(fault.sheets) <= set(stack):
                ids, offsets = self._stuck_together(fault)
            elif fault.kind == "pick_slip":
                slip_mm += float(fault.fields["slip_mm"])
            elif fault.kind == "pick_skew":
                skew_deg = float(fault.fields["skew_deg"])
            elif fault.kind == "blurred":
                self.camera.unfocused.add(first)
            else:
                continue
            fault.left -= 1
        if abs(skew_deg) > self.path.geometry.most_skew_deg:
            self._catch(first)
        carried = [
            Carried(self.paper.sheets[sheet_id], -offset, marks=self._marks(sheet_id), skew_deg=skew_deg)
            for sheet_id, offset in zip(ids, offsets, strict=True)
        ]
        self.path.put(Bundle(carried, slip=ticks(slip_mm)))
        for sheet in carried:
            self.camera.expect(sheet.sheet)
        self.trace.note(self.now_us, "picked", *ids)

    def _catch(self, sheet_id: str) -> None:
        """Let the side guides catch a sheet on its way."""
        caught_mm = self.path.geometry.caught_mm
        self.faults.append(Fault("jam", when_sheet=sheet_id, at_mm=caught_mm, fields={"sheet": sheet_id}))

    def _lying_faults(self, first: str) -> list[Fault]:
        """Return the faults that lie in the paper and begin with this sheet."""
        return [
            fault for fault in self.faults if fault.kind in PICKED and fault.left and fault.sheets[0] == first
        ]

    def _stuck_together(self, fault: Fault) -> tuple[list[str], list[int]]:
        """Return the sheets that stick together, and how far each leading edge lies behind the first."""
        ids = list(fault.sheets)
        offsets = [0]
        for sheet_id in ids[:-1]:
            length_mm = self.paper.sheets[sheet_id].length_mm
            behind_mm = max(0.0, length_mm - float(fault.fields.get("overlap_mm", length_mm)))
            offsets.append(offsets[-1] + ticks(behind_mm))
        return ids, offsets

    def _marks(self, sheet_id: str) -> list[Mark]:
        entry = self.path.edges.entry
        return [
            Mark(entry + ticks(fault.at_mm), number)
            for number, fault in enumerate(self.faults)
            if fault.when_sheet == sheet_id and fault.left
        ]

    def _show_sensors(self) -> None:
        """Turn what is so now into the edges that the board will be told."""
        self.inputs.show(sensor_levels(self.path, self.switches, self.ailments), self.now_us)

    # Accidents.

    def add_fault(self, fault: Fault) -> None:
        """Let a fault happen when its moment comes; a moment that is past is now."""
        fault = replace(fault)
        self.faults.append(fault)
        if fault.at_us is not None:
            self._agenda.add(max(fault.at_us, self.now_us), lambda: self._strike(fault), hurried=False)

    def _strike(self, fault: Fault) -> None:
        if fault.left:
            fault.left -= 1
            self.trace.note(self.now_us, "fault", fault.kind, *fault.sheets)
            strike(self, fault)

    # The station's end.

    def unplug_cable(self) -> None:
        """Pull the cable out of the station: its serial port is gone, and comes back as another one."""
        self.cable.cut = self.cable.unplugged = True
        self.hang_up()

    def plug_cable(self) -> None:
        """Put the cable back."""
        self.cable.cut = self.cable.unplugged = False

    def from_station(self, data: bytes) -> None:
        """Send the station's bytes down the cable to the board."""
        if not data:
            return
        arriving = self._down.send(data, self.now_us)
        if arriving is not None:
            self._agenda.add(arriving.at_us, lambda: self._receive(arriving.data), hurried=False)

    def _receive(self, data: bytes) -> None:
        self.trace.note(self.now_us, "rx", data.hex())
        self._received += data

    def show_panel(self, panel: Panel | None) -> None:
        """Show what the station says, or nothing where the station is gone; the operator looks at it."""
        if panel is not None and panel != self.panel:
            self.trace.note(self.now_us, "panel", panel.key, panel.sheet)
        self.panel = panel
        if self.operator is not None:
            self.operator.see(panel)

    def capture(self) -> tuple[Page, ...]:
        """Return what the cameras see now."""
        self.touch()
        self.trace.note(self.now_us, "capture", *(sheet.sheet.id for sheet in self.path.carried()))
        return self.camera.capture()

    # The board.

    def reset_board(self) -> None:
        """Take the board's power: its pins fall back, bytes under way to it are lost, it starts anew."""
        self._board.power_off()
        self._board_down("reset")

    def _board_down(self, why: str) -> None:
        self.touch()
        self.trace.note(self.now_us, "board", why)
        self._board_due_us = None
        self._watchdog_us = None
        self._received = b""
        self.outputs.drop(self.now_us)
        boots = self._boots
        self.later(BOOT_US, lambda: self._boot() if self._boots == boots else None)

    def _boot(self) -> None:
        self._boots += 1
        self.inputs.tell_all(self.now_us)
        self._received = b""
        for name, content in sorted(self._board.memory().items()):
            self.trace.note(self.now_us, "flash", name, content.hex())
        self.trace.note(self.now_us, "board", "boots")
        request = self._board.power_on(self._boots)
        if request is None:
            self._failed_starts += 1
            if self._failed_starts >= MOST_STARTS:
                words = self._board.last_words()
                raise BoardError(f"the firmware died at {MOST_STARTS} starts in a row: {words}")
            self._board_down("dead at its start")
            return
        self._failed_starts = 0
        self._take(request)

    def _wake_board(self) -> bool:
        """Answer the board's wait where there is something to tell or its time is up; tell whether it ran."""
        if self._board_due_us is None:
            return False
        if not self.inputs.pending and not self._received and self._board_due_us > self.now_us:
            return False
        if self.inputs.pending or self._received:
            # A board that took its turn at this moment already takes another one.
            self.trace.note(self.now_us, "told", *["again"][: self._turn_us == self.now_us])
        self._turn_us = self.now_us
        answer = Answer(self.now_us, self.inputs.take_edges(), self._received)
        self._received = b""
        request = self._board.resume(answer)
        if request is None:
            self._board_down("dead")
        else:
            self._take(request)
        return True

    def _take(self, request: Request) -> None:
        """Let the pins do what the board did to them."""
        if request.outputs or request.pulses:
            self.touch()
        for gpio, level in request.outputs:
            name = self._pins.name.get(gpio, f"GPIO{gpio}")
            self.outputs.set_level(name, level, self.now_us)
            self.trace.note(self.now_us, "pin", name, level)
        for gpio, rate in request.pulses:
            name = self._pins.name.get(gpio, f"GPIO{gpio}")
            self.outputs.set_pulses(name, rate)
            self.trace.note(self.now_us, "pulses", name, rate)
        if request.sent:
            self.trace.note(self.now_us, "tx", request.sent.hex())
            arriving = self._up.send(request.sent, self.now_us)
            if arriving is not None:
                self._agenda.add(arriving.at_us, lambda: self.to_station(arriving.data), hurried=False)
        if request.watchdog_ms is not None:
            self._watchdog_us = self.now_us + request.watchdog_ms * 1000
        self._board_due_us = self.now_us + max(request.wait_us, LEAST_WAIT_US)


def _nothing() -> None:
    """Do nothing: nobody is there to whom this matters."""


def _lost(data: bytes) -> None:
    """Take bytes that nobody listens for."""
    del data
