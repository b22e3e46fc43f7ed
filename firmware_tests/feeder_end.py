"""The station's end of the feeder link on any rig: says commands, hears what the board tells."""

import itertools
from typing import Any, NamedTuple

from firmware_tests.rig import Rig, RigError
from recount_protocol import feeder_messages
from recount_protocol.delivery import CONNECTED, PAYLOAD, Delivery

PATH_MM = {
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
PATIENCE_MS = 10_000
SENSOR_MS = 30
"""A sensor has surely shown what hands did."""

BOOTS = itertools.count(1000)
SHEETS = itertools.count(1)
"""A board takes no number twice, nor the same station for a new one: they count up over all ends."""


class Heard(NamedTuple):
    """A message of the board's."""

    name: str
    fields: dict[str, Any]


class FeederEnd:
    """One connection after the other to one feeder."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.paper = rig.paper
        self.heard: list[Heard] = []
        self.sheet = 0
        self._link = self._new_link()

    def _new_link(self) -> Delivery:
        return Delivery(
            feeder_messages.VERSION,
            feeder_messages.TABLE_HASH,
            next(BOOTS),
            feeder_messages.MAX_PAYLOAD_BYTES,
            resend_ms=30,
            keepalive_ms=150,
            dead_ms=500,
        )

    def run(self, milliseconds: int) -> None:
        """Let time pass, the link alive."""
        until_ms = self.rig.now_ms() + milliseconds
        while self.rig.now_ms() < until_ms:
            self._turn(until_ms)

    def be_silent(self, milliseconds: int) -> None:
        """Say nothing for so long, and begin anew afterwards."""
        until_ms = self.rig.now_ms() + milliseconds
        while self.rig.now_ms() < until_ms:
            self.rig.exchange(b"", until_ms)
        self._link = self._new_link()

    def pour(self, garbage: bytes) -> None:
        """Send bytes that are no frames of ours."""
        self._take(self.rig.exchange(garbage, self.rig.now_ms() + 1))

    def _turn(self, until_ms: int) -> None:
        now_ms = self.rig.now_ms()
        out = self._link.output(now_ms)
        self._take(self.rig.exchange(out, min(until_ms, self._link.next_deadline_ms(now_ms))))

    def _take(self, data: bytes) -> None:
        for event in self._link.receive(data, self.rig.now_ms()):
            if event[0] == CONNECTED:
                self.heard.append(Heard("connected", {}))
            elif event[0] == PAYLOAD:
                self.heard.append(Heard(*feeder_messages.decode(event[1])))

    def say(self, name: str, **fields: int) -> None:
        """Send a command."""
        self.heard.clear()
        self._link.send(feeder_messages.encode(name, **fields))

    def hear(self, *names: str, patience_ms: int = PATIENCE_MS) -> Heard:
        """Return the first message of one of these names. Raises RigError when none comes."""
        end_ms = self.rig.now_ms() + patience_ms
        while True:
            for message in self.heard:
                if message.name in names:
                    return message
            if self.rig.now_ms() >= end_ms:
                raise RigError(f"the board did not say {' or '.join(names)}; it said {self.heard}")
            self._turn(end_ms)

    def begin(self) -> None:
        """Connect, take all paper away and make the feeder ready."""
        self.paper.clear()
        self.paper.cover(open_=False)
        self.hear("connected")
        self.run(SENSOR_MS)
        self.say("clear")
        self.hear("cleared")
        self.say("configure", **PATH_MM)
        self.hear("configured")

    def feed(self, *awaited: str) -> Heard:
        """Feed the next sheet and return the first of the awaited messages."""
        self.run(SENSOR_MS)
        self.sheet = next(SHEETS)
        self.say("feed", sheet=self.sheet)
        return self.hear(*(awaited or ("at_camera",)))

    def divert(self, exit_: int) -> Heard:
        """Send the sheet to an exit and await that it has landed."""
        self.say("divert", sheet=self.sheet, exit=exit_)
        return self.hear("landed")

    def report(self) -> dict[str, Any]:
        """Return the board's report."""
        self.say("ask")
        return self.hear("report").fields

    def stop_reason(self) -> str:
        """Return why the feeder stops, awaited."""
        return feeder_messages.STOP_REASONS[self.hear("stopped").fields["reason"]]
