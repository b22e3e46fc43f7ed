"""The board's input wires: what the sensors show, with bounce and dust, as edges in order of time."""

import random
from collections.abc import Callable, Mapping, Sequence

from recount_world.agenda import Agenda
from recount_world.pins import INPUTS, firmware_pins
from recount_world.trace import Trace

OPTICAL = INPUTS[1:6]
"""The sensors that look at paper along the path."""
DOUBLE_FEED = ("DOUBLE_FEED",)
DUST_US = 400
"""A speck of dust is past in this time."""
FLICKER_US = 2000
"""The double-feed sensor reads wrong for so long at the most."""

Edge = tuple[int, int, int]
"""GPIO, level, moment."""


class Inputs:
    """The input wires of the board, and the edges that it has not been told yet."""

    def __init__(self, agenda: Agenda, chance: random.Random, trace: Trace, bounce_us: int) -> None:
        self._agenda = agenda
        self._chance = chance
        self._trace = trace
        self._bounce_us = bounce_us
        self._gpio = firmware_pins().gpio
        self._true: Mapping[str, int] = {}
        self._flickering: set[str] = set()
        self._edges: list[Edge] = []
        self.shown: dict[str, int] = {}
        """The level of each wire, by name."""

    @property
    def pending(self) -> bool:
        """Whether there are edges that the board has not been told."""
        return bool(self._edges)

    def show(self, levels: Mapping[str, int], now_us: int) -> None:
        """Bring the wires to these levels: every difference is an edge."""
        for name, level in levels.items():
            if self._bounce_us and name in OPTICAL and level != self._true.get(name, level):
                self._bounce(name, now_us)
            shown = level ^ (name in self._flickering)
            if shown != self.shown.get(name):
                self.shown[name] = shown
                self._edges.append((self._gpio[name], shown, now_us))
                self._trace.note(now_us, "sensor", name, shown)
        self._true = levels

    def take_edges(self) -> tuple[Edge, ...]:
        """Return the edges that the board has not been told; they count as told then."""
        edges, self._edges = tuple(self._edges), []
        return edges

    def tell_all(self, now_us: int) -> None:
        """Let the next edges be all levels: the board has just started."""
        self._edges = [(self._gpio[name], level, now_us) for name, level in self.shown.items()]

    def _bounce(self, name: str, now_us: int) -> None:
        """Let a sensor fall back once, a moment after its edge."""
        back = self._chance.randint(1, self._bounce_us // 2 or 1)
        again = self._chance.randint(back + 1, self._bounce_us + 1)
        self._agenda.add(now_us + back, lambda: self._flickering.add(name))
        self._agenda.add(now_us + again, lambda: self._flickering.discard(name))

    def plan_dust(self, now_us: int, specks_per_minute: float) -> None:
        """Let specks of dust pass each optical sensor, so many a minute."""
        if specks_per_minute:
            self._plan_false_pulse(now_us, OPTICAL, specks_per_minute * len(OPTICAL), lambda: DUST_US)

    def plan_flicker(self, now_us: int, pulses_per_minute: float) -> None:
        """Let the double-feed sensor read wrong for a moment, so many times a minute."""
        if pulses_per_minute:
            self._plan_false_pulse(
                now_us, DOUBLE_FEED, pulses_per_minute, lambda: self._chance.randint(1, FLICKER_US)
            )

    def _plan_false_pulse(
        self, now_us: int, names: Sequence[str], pulses_per_minute: float, duration_us: Callable[[], int]
    ) -> None:
        """Plan one false pulse, sometime at one of the sensors, and the next one after its end."""
        name = self._chance.choice(names)
        begin_us = now_us + round(self._chance.expovariate(pulses_per_minute / 60e6)) + 1

        def begin() -> None:
            self._flickering.add(name)
            end_us = begin_us + duration_us()
            self._agenda.add(end_us, lambda: self._flickering.discard(name), hurried=False)
            self._plan_false_pulse(end_us, names, pulses_per_minute, duration_us)

        self._agenda.add(begin_us, begin, hurried=False)
