"""The feeder board's program: the link to the station, the feeder, the board, in one loop."""

import gc
import machine
import os
import own_files
import protective
import sys

from board import Board, now_us
from feeder import SENSORS, STATES, Feeder, Message
from recount_protocol import feeder_messages
from recount_protocol.delivery import LOST, PAYLOAD, Delivery
from recount_protocol.errors import MessageError
from struct import unpack
from time import ticks_diff, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recount_protocol.delivery import Event

RESEND_MS = 30
KEEPALIVE_MS = 150
SILENCE_MS = 500  # until `configure` tells another
FAULTS_TO_RESET = 3
REST_MS = 2000  # a feeder that has rested so long is between batches, or a person is at it


class Clock:
    """Milliseconds since the board's start that never wrap, from a counter that does."""

    def __init__(self) -> None:
        self._last = ticks_ms()
        self._now_ms = 0

    def now_ms(self) -> int:
        """Return the time; must be called at least once in six days."""
        ticks = ticks_ms()
        self._now_ms += ticks_diff(ticks, self._last)
        self._last = ticks
        return self._now_ms


class Program:
    """One feeder board between its wires and its station."""

    def __init__(self) -> None:
        self._board = Board()
        self._feeder = Feeder()
        self._clock = Clock()
        self._link = Delivery(
            feeder_messages.VERSION,
            feeder_messages.TABLE_HASH,
            int.from_bytes(os.urandom(4), "little"),
            feeder_messages.MAX_PAYLOAD_BYTES,
            resend_ms=RESEND_MS,
            keepalive_ms=KEEPALIVE_MS,
            dead_ms=SILENCE_MS,
        )
        self._link_due_ms = 0
        self._state_seen = ""
        self._state_since_ms = 0
        self._protective = protective.read()  # what the file holds
        self._protective_landed = 0  # how many of the sheets landed since the start are in it
        self._firmware = own_files.digest()
        self._identity_wanted = False
        self._faults = 0
        self.refused_payloads = 0
        self._board.start(self._feeder)

    def run(self) -> None:
        """Run for ever. Whatever goes wrong in here stops the motors and is told."""
        try:
            while True:
                try:
                    self._turn()
                except Exception as error:  # noqa: BLE001 - whatever it is, nothing may move any more
                    self._fail(error)
                self._board.wait()
        finally:
            self._board.stop_motors()  # a person at the REPL stopped the program

    def _fail(self, error: Exception) -> None:
        self._board.stop_motors()
        sys.print_exception(error, sys.stderr)  # type: ignore[arg-type]
        self._faults += 1
        if self._faults >= FAULTS_TO_RESET:
            machine.reset()
        self._feeder.fault(now_us())
        self._board.apply(self._feeder)
        self._link.reset()
        gc.collect()

    def _turn(self) -> None:
        data = self._board.read()
        now_ms = self._clock.now_ms()
        link_due = data or now_ms >= self._link_due_ms
        if link_due:
            for event in self._link.receive(data, now_ms):
                self._take(event)
        self._board.step(self._feeder)
        if self._tell() or link_due:
            out = self._link.output(now_ms)
            if out:
                self._board.write(out)
            self._link_due_ms = self._link.next_deadline_ms(now_ms)
        self._rest(now_ms)

    def _take(self, event: "Event") -> None:
        """Do what an event of the link asks for."""
        if event[0] == LOST:
            self._identity_wanted = False
            self._feeder.silent(now_us())
            self._feeder.forget_messages()
        elif event[0] == PAYLOAD:
            try:
                name, fields = feeder_messages.decode(event[1])
            except MessageError:
                self.refused_payloads += 1  # no command: nothing moves; the station's own tables forbid it
                return
            if feeder_messages.sender(name) != feeder_messages.STATION:
                self.refused_payloads += 1
                return
            if name == "identify":
                self._identity_wanted = True
                return
            self._feeder.command(name, fields, now_us())  # type: ignore[arg-type]  # no counts among them
            if self._feeder.speeds_new:
                self._board.set_speeds(self._feeder)
                self._link.dead_ms = self._feeder.parameters["silence_ms"]

    def _tell(self) -> bool:
        """Give the link what the feeder has to say; return whether there was something."""
        if not self._link.connected:
            self._feeder.forget_messages()
            return False
        if self._feeder.messages_lost:
            # The station does not take what it is told: it is as good as silent, and must begin anew.
            self._link.reset()
            self._feeder.silent(now_us())
            self._feeder.forget_messages()
            return True
        told = False
        if self._identity_wanted and self._link.can_send:
            self._identity_wanted = False
            self._link.send(feeder_messages.encode("firmware", sha256=unpack("<8I", self._firmware)))
            told = True
        while self._link.can_send:
            message = self._feeder.next_message()
            if message is None:
                break
            self._link.send(self._encoded(message))
            told = True
        return told

    def _encoded(self, message: Message) -> bytes:
        feeder = self._feeder
        name = message.name
        counts = tuple(message.counts)
        if name == "configured":
            return feeder_messages.encode(name, **feeder.parameters)
        if name == "refused":
            kind = feeder_messages.MESSAGES[message.command][0]
            state = STATES.index(feeder.state)
            return feeder_messages.encode(name, kind=kind, sheet=message.sheet, state=state)
        if name == "report":
            return feeder_messages.encode(
                name,
                state=STATES.index(feeder.state),
                sheet=feeder.sheet,
                stop_reason=feeder.reason,
                sensors=sum([1 << sensor for sensor in range(SENSORS) if feeder.levels[sensor]]),
                last_sheet=feeder.last_sheet,
                last_exit=feeder.last_exit,
                protective=self._protective_now(),
                counts=counts,
            )
        if name == "cleared":
            return feeder_messages.encode(name, counts=counts)
        field = VALUE_FIELDS[name]
        if field == "":
            return feeder_messages.encode(name, sheet=message.sheet, counts=counts)
        return feeder_messages.encode(name, sheet=message.sheet, counts=counts, **{field: message.value})

    def _rest(self, now_ms: int) -> None:
        """Between sheets nothing hurries: collect what the link has left behind; later, keep the counter."""
        state = self._feeder.state
        if state != self._state_seen:
            self._state_seen = state
            self._state_since_ms = now_ms
            if self._feeder.resting():
                gc.collect()
        elif (
            self._feeder.landed_total != self._protective_landed
            and self._feeder.resting()
            and now_ms >= self._state_since_ms + REST_MS
        ):
            self._keep_protective()

    def _protective_now(self) -> int:
        if self._protective == protective.UNREADABLE:
            return protective.UNREADABLE
        return self._protective + self._feeder.landed_total - self._protective_landed

    def _keep_protective(self) -> None:
        count = self._protective_now()
        self._protective_landed = self._feeder.landed_total  # also if writing fails: not a fault each turn
        if count != protective.UNREADABLE:
            self._protective = count
            protective.write(count)


VALUE_FIELDS = {"entered": "", "at_camera": "length_mm", "landed": "exit", "stopped": "reason"}
"""The message's own field, which the feeder gives as `value`."""


if __name__ == "__main__":
    Program().run()
