"""The paper path: how sheets move by what the motors do, exactly, in jumps from change to change.

A position is a whole number of *ticks*, 10,000,000 to the millimetre, counted from the hopper's mouth in the
direction of feed: a motor at n steps a second (ten steps to the millimetre) moves paper by exactly n ticks in
a microsecond, so no rounding ever accumulates and a run repeats to the tick.

    pick roller   hopper's mouth   entry nip   entry sensor      camera sensor     flap      bins' sensors
        -20              0             20            30               430          480           680      mm

* Stacked sheets lie with their leading edges at the mouth. The pick roller, on a one-way clutch, drives the
  uppermost one as long as it lies under the roller and the transport does not hold it.
* The transport holds a sheet from the entry nip to the bins' sensors, forwards and backwards.
* A sheet driven forwards clear of a bin's sensor falls into that bin. One driven back clear of the entry nip
  slides down into the operator's hands.
* Which bin a sheet goes to is decided by where the flap stands when the leading edge comes to it.
* Sheets do not push each other: one that runs into a jammed one slides over it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from recount_world.paper import PILES, Paper, Place, Sheet

TICKS_PER_MM = 10_000_000


def ticks(mm: float) -> int:
    """Return a length in ticks."""
    return round(mm * TICKS_PER_MM)


def millimetres(length: int) -> float:
    """Return a length in millimetres."""
    return length / TICKS_PER_MM


@dataclass(frozen=True)
class Geometry:
    """Where things are along the path, in millimetres from the hopper's mouth."""

    entry_to_camera_mm: float = 400.0
    """From the entry sensor to the sensor at the far end of the camera bed."""
    camera_to_exit_mm: float = 250.0
    """From the camera sensor to each bin's sensor, along that bin's branch."""
    hopper_mm: float = -60.0
    """The hopper's switch: down while a sheet lies there."""
    pick_roller_mm: float = -20.0
    entry_mm: float = 30.0
    """Entry sensor, and the double-feed sensor beside it."""
    entry_nip_mm: float = 20.0
    """The first transport rollers: they have hold of a sheet before the entry sensor sees it."""
    flap_after_camera_mm: float = 50.0
    most_skew_deg: float = 6.0
    """A sheet more askew than this is caught between the side guides."""
    caught_mm: float = 150.0
    """So far past the entry sensor is the leading edge of a sheet that the guides catch."""
    flap_move_us: int = 60_000
    """The flap needs so long to change over; until then it stands where it stood."""

    @property
    def camera_mm(self) -> float:
        """The sensor at the far end of the camera bed."""
        return self.entry_mm + self.entry_to_camera_mm

    @property
    def flap_mm(self) -> float:
        """The diverter's flap."""
        return self.camera_mm + self.flap_after_camera_mm

    @property
    def exit_mm(self) -> float:
        """The bins' sensors."""
        return self.camera_mm + self.camera_to_exit_mm


class Edges(NamedTuple):
    """The geometry in ticks, where a leading or trailing edge changes something."""

    hopper: int
    pick_roller: int
    entry: int
    entry_nip: int
    camera: int
    flap: int
    exit: int


@dataclass
class Mark:
    """Something that happens when a sheet's leading edge gets to a position."""

    lead: int
    fault: int
    """Number of the fault in the world's list."""


@dataclass
class Carried:
    """A sheet in the path."""

    sheet: Sheet
    lead: int
    """Position of its leading edge, in ticks."""
    exit: int | None = None
    """The branch it is on, once past the flap: 0 counted, 1 set aside, 2 not accepted."""
    marks: list[Mark] = field(default_factory=list[Mark])
    skew_deg: float = 0.0
    """It lies askew by so much, clockwise as seen from above."""
    past_camera: bool = False
    """It was pushed in behind the camera: only the bin's sensor can see it."""

    @property
    def length(self) -> int:
        """Its length in ticks, along the line of the sensors."""
        return ticks(self.sheet.length_mm / math.cos(math.radians(self.skew_deg)))

    @property
    def tail(self) -> int:
        """Position of its trailing edge, in ticks."""
        return self.lead - self.length

    def covers(self, position: int) -> bool:
        """Tell whether the sheet lies over a position of the path."""
        return self.tail < position <= self.lead


@dataclass
class Bundle:
    """Sheets that move as one: a single one, or several that stick together, the uppermost first."""

    carried: list[Carried]
    slip: int = 0
    """Ticks that the pick roller still turns without moving it."""
    gripped: bool = False
    """The transport has had hold of it."""
    held: bool = False
    """Jammed: nothing but hands moves it."""
    hand_ticks_per_us: int = 0
    """Pushed by hand at this speed, whatever the motors do."""


@dataclass
class Motors:
    """What the board's pins make of the motors. Speeds in steps a second: ticks in a microsecond."""

    pick_steps_per_s: int = 0
    transport_steps_per_s: int = 0
    reverse: bool = False
    powered: bool = False

    @property
    def pick(self) -> int:
        """Speed of the pick roller's surface, ticks in a microsecond."""
        return self.pick_steps_per_s if self.powered else 0

    @property
    def transport(self) -> int:
        """Speed of the transport, ticks in a microsecond; negative towards the entry."""
        if not self.powered:
            return 0
        return -self.transport_steps_per_s if self.reverse else self.transport_steps_per_s

    @property
    def turning(self) -> bool:
        """Tell whether any motor turns."""
        return self.pick != 0 or self.transport != 0


class Arrival(NamedTuple):
    """A sheet left the path for a place."""

    sheet: str
    place: Place


class PaperPath:
    """The sheets between hopper and bins, the motors, the flap."""

    def __init__(self, paper: Paper, geometry: Geometry | None = None) -> None:
        self.paper = paper
        self.geometry = geometry or Geometry()
        self.motors = Motors()
        self.bundles: list[Bundle] = []
        shape = self.geometry
        self.edges = Edges(
            hopper=ticks(shape.hopper_mm),
            pick_roller=ticks(shape.pick_roller_mm),
            entry=ticks(shape.entry_mm),
            entry_nip=ticks(shape.entry_nip_mm),
            camera=ticks(shape.camera_mm),
            flap=ticks(shape.flap_mm),
            exit=ticks(shape.exit_mm),
        )
        self.flap_stuck = False
        """It stays where it stands, whatever it is told."""
        self._flap = 0
        self._flap_next = (0, 0)

    # The flap.

    def command_flap(self, exit_number: int, now_us: int) -> None:
        """Send the flap towards an exit; it stands there `flap_move_us` later."""
        if self.flap_stuck:
            self._flap_next = (self.flap(now_us), now_us)
        elif exit_number != self._flap_next[0]:
            self._flap = self.flap(now_us)
            self._flap_next = (exit_number, now_us + self.geometry.flap_move_us)

    def flap(self, now_us: int) -> int:
        """Return the exit that the flap leads to."""
        target, since_us = self._flap_next
        return target if now_us >= since_us else self._flap

    # What moves, and until when nothing changes.

    def carried(self) -> Iterator[Carried]:
        """Yield every sheet in the path, the uppermost of sheets that stick together first."""
        for bundle in self.bundles:
            yield from bundle.carried

    def speed(self, bundle: Bundle) -> int:
        """Return how fast a bundle moves, in ticks in a microsecond; negative towards the entry."""
        if bundle.hand_ticks_per_us:
            return bundle.hand_ticks_per_us
        if bundle.held:
            return 0
        if self._transported(bundle):
            return self.motors.transport
        if self._under_pick_roller(bundle) and not bundle.slip:
            return self.motors.pick
        return 0

    def _transported(self, bundle: Bundle) -> bool:
        nip, end = self.edges.entry_nip, self.edges.exit
        return any(sheet.lead >= nip and sheet.tail < end for sheet in bundle.carried)

    def _under_pick_roller(self, bundle: Bundle) -> bool:
        return any(sheet.covers(self.edges.pick_roller) for sheet in bundle.carried)

    def next_change_us(self) -> int | None:
        """Return in how many microseconds, at least 1, paper next changes anything; None: never."""
        soonest: int | None = None
        for bundle in self.bundles:
            change = self._bundle_change_us(bundle)
            if change is not None and (soonest is None or change < soonest):
                soonest = change
        return soonest

    def _bundle_change_us(self, bundle: Bundle) -> int | None:
        speed = self.speed(bundle)
        if speed == 0:
            if bundle.slip and self.motors.pick and not bundle.held and not self._transported(bundle):
                return -(-bundle.slip // self.motors.pick)
            return None
        changes: list[int] = []
        for sheet in bundle.carried:
            for edge in (sheet.lead, sheet.tail):
                changes.extend(_crossings_us(edge, self.edges, speed))
            if speed > 0:
                changes.extend(_crossings_us(sheet.lead, [mark.lead for mark in sheet.marks], speed))
        return min(changes, default=None)

    def advance(self, elapsed_us: int) -> None:
        """Move every sheet by the motors' work of that time, in which nothing else may change."""
        for bundle in self.bundles:
            way = self.speed(bundle) * elapsed_us
            if way:
                for sheet in bundle.carried:
                    sheet.lead += way
            elif bundle.slip and not bundle.held and not self._transported(bundle):
                bundle.slip = max(0, bundle.slip - self.motors.pick * elapsed_us)

    # What follows from where the paper is.

    def settle(self, now_us: int) -> list[Arrival]:
        """Let paper take its branch and fall into bins or hands; return what left the path."""
        self._choose_branches(now_us)
        arrivals: list[Arrival] = []
        for bundle in list(self.bundles):
            arrivals.extend(self._fall_into_bins(bundle))
            arrivals.extend(self._fall_out(bundle))
            if not bundle.carried:
                self.bundles.remove(bundle)
        return arrivals

    def _choose_branches(self, now_us: int) -> None:
        for sheet in self.carried():
            if sheet.past_camera:
                continue
            if sheet.lead < self.edges.flap:
                sheet.exit = None
            elif sheet.exit is None:
                sheet.exit = self.flap(now_us)

    def _fall_into_bins(self, bundle: Bundle) -> Iterator[Arrival]:
        # The lower one of sheets that stick together lies lower in the bin too.
        for sheet in reversed(list(bundle.carried)):
            if sheet.tail >= self.edges.exit and sheet.exit is not None:
                bundle.carried.remove(sheet)
                yield self._leave(sheet, PILES[sheet.exit])

    def _fall_out(self, bundle: Bundle) -> Iterator[Arrival]:
        if bundle.held or bundle.hand_ticks_per_us:
            return
        if self._transported(bundle):
            bundle.gripped = True
        if bundle.gripped and all(sheet.lead < self.edges.entry_nip for sheet in bundle.carried):
            for sheet in list(bundle.carried):
                bundle.carried.remove(sheet)
                yield self._leave(sheet, Place.OPERATOR)

    def _leave(self, sheet: Carried, place: Place) -> Arrival:
        self.paper.move(sheet.sheet.id, place)
        return Arrival(sheet.sheet.id, place)

    def wants_sheet(self) -> bool:
        """Tell whether the pick roller turns on the uppermost sheet of the stack."""
        if not self.motors.pick or not self.paper.at(Place.HOPPER):
            return False
        return not any(self._under_pick_roller(bundle) for bundle in self.bundles)

    # What hands do.

    def put(self, bundle: Bundle) -> None:
        """Lay a bundle into the path; its sheets are moved there from wherever they lay."""
        for sheet in bundle.carried:
            self.paper.move(sheet.sheet.id, Place.PATH)
        self.bundles.append(bundle)

    def take(self, sheet_id: str, to: Place) -> None:
        """Take a sheet out of the path by hand; those that stuck to it stay, free of it."""
        for bundle in list(self.bundles):
            for sheet in list(bundle.carried):
                if sheet.sheet.id == sheet_id:
                    bundle.carried.remove(sheet)
                    self.paper.move(sheet_id, to)
            if not bundle.carried:
                self.bundles.remove(bundle)

    def square_up(self) -> None:
        """Push sheets short of the entry sensor back onto the stack, as hands do that lay paper on."""
        for bundle in list(self.bundles):
            if all(sheet.lead < self.edges.entry and not sheet.past_camera for sheet in bundle.carried):
                self.bundles.remove(bundle)
                self.paper.lay_on_hopper([sheet.sheet.id for sheet in bundle.carried])


def _crossings_us(edge: int, positions: Edges | list[int], speed: int) -> Iterator[int]:
    """Yield in how many microseconds an edge of paper crosses each position that lies ahead of it.

    Paper covers a position when its leading edge is at or past it and its trailing edge is not: forwards an
    edge has crossed at the position itself, backwards once it is before it.
    """
    for position in positions:
        if speed > 0 and edge < position:
            yield -((edge - position) // speed)
        elif speed < 0 and edge >= position:
            yield (edge - position) // -speed + 1
