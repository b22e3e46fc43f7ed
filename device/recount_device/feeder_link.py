"""The link to the feeder board: a serial port, the delivery layer, and the feeder's messages.

Gives the station events in their order: the board is there (again), the board is gone, the board says
something. The port is opened, and opened anew after any loss, from here.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from struct import pack
from typing import Protocol

from recount_device.clock import Clock, Waitable
from recount_device.errors import LinkLost
from recount_device.messages import sentence
from recount_device.serial_port import FEEDER_BAUD, SerialPort
from recount_protocol import feeder_messages
from recount_protocol.delivery import (
    CLOSED,
    CONNECTED,
    DROPPED,
    LOST,
    PAYLOAD,
    REFUSED,
    RESTARTED,
    SILENT,
    Delivery,
)
from recount_protocol.errors import MessageError

RESEND_MS = 30
KEEPALIVE_MS = 150
DEAD_MS = 500
FIRMWARE_PATIENCE_US = 2_000_000
"""How long a board that is switched on together with the device may take until it tells its firmware."""
REOPEN_MS = 500
"""How long after a loss the port is looked for again."""

WHY_LOST: Mapping[str, str] = {
    SILENT: sentence("feeder_silent"),
    RESTARTED: sentence("feeder_restarted"),
    DROPPED: sentence("feeder_dropped"),
    CLOSED: sentence("feeder_closed"),
}
"""What the panel says of a lost connection."""


@dataclass(frozen=True)
class Connected:
    """The board answers; its boot id tells whether it started anew."""

    boot: int


@dataclass(frozen=True)
class Gone:
    """The board does not answer, or cannot be talked to."""

    why: str


@dataclass(frozen=True)
class Said:
    """One message of the board."""

    name: str
    fields: dict[str, int] = field(default_factory=dict[str, int])
    counts: tuple[int, int, int, int, int] | None = None


@dataclass(frozen=True)
class Identified:
    """The board told which firmware it is; comes after `Connected`, before any report."""

    firmware_hash: str
    """64 hexadecimal digits: SHA-256 over the board's own files."""


FeederEvent = Connected | Gone | Said | Identified


class Feeder(Protocol):
    """The board, as the station sees it."""

    @property
    def waitable(self) -> Waitable:
        """What the clock waits on."""
        ...

    def poll(self, readable: int) -> list[FeederEvent]:
        """Take what arrived and return what it means."""
        ...

    def send(self, name: str, **fields: int) -> None:
        """Send a message; dropped where the board is not there (`Connected` begins everything anew)."""
        ...

    def flush(self) -> None:
        """Write what is due."""
        ...

    def next_deadline_us(self) -> int:
        """Return when `poll` and `flush` are due at the latest."""
        ...


def new_boot_id() -> int:
    """Return a random boot id that is not 0."""
    return int.from_bytes(os.urandom(4), "little") | 1


class FeederLink:
    """The board at the end of a serial port."""

    def __init__(self, clock: Clock, find: Callable[[], str]) -> None:
        """`find` returns the port's path, anew each time; it may raise LinkLost."""
        self._clock = clock
        self._find = find
        self._port = SerialPort()
        self._delivery = Delivery(
            feeder_messages.VERSION,
            feeder_messages.TABLE_HASH,
            new_boot_id(),
            feeder_messages.MAX_PAYLOAD_BYTES,
            resend_ms=RESEND_MS,
            keepalive_ms=KEEPALIVE_MS,
            dead_ms=DEAD_MS,
        )
        self._reopen_ms = 0
        self._pending: list[FeederEvent] = []
        self.damaged_messages = 0
        self.firmware_hash = ""
        """What the board told last of its firmware; empty before."""

    @property
    def waitable(self) -> Waitable:
        """The port, as this link watches over it."""
        return self

    @property
    def written_bytes(self) -> int:
        """Bytes written since the port was opened."""
        return self._port.written_bytes

    def fileno(self) -> int:
        """Return the port's descriptor, -1 when closed."""
        return self._port.fileno()

    def in_waiting(self) -> int:
        """Return how many bytes the port holds; a port that is gone holds none, and is looked for again."""
        try:
            return self._port.in_waiting()
        except LinkLost as error:
            self._lost(error)
            return 0

    @property
    def connected(self) -> bool:
        """Whether the board answers."""
        return self._delivery.connected

    def _now_ms(self) -> int:
        return self._clock.now_us() // 1000

    def _lost(self, error: LinkLost) -> None:
        self._port.close()
        self._delivery.reset()
        self._reopen_ms = self._now_ms() + REOPEN_MS
        self._pending.append(Gone(str(error)))

    def _open_if_due(self) -> None:
        if self._port.is_open or self._now_ms() < self._reopen_ms:
            return
        try:
            self._port.open(self._find(), FEEDER_BAUD)
        except LinkLost as error:
            self._lost(error)

    def poll(self, readable: int) -> list[FeederEvent]:
        """Read `readable` bytes, open the port if it is time to, and return what happened, in order."""
        self._open_if_due()
        try:
            data = self._port.read(readable)
        except LinkLost as error:
            data = b""
            self._lost(error)
        for event in self._delivery.receive(data, self._now_ms()):
            self._take(event)
        events, self._pending = self._pending, []
        return events

    def await_firmware(self) -> None:
        """Wait a while until the board has told its firmware; what it says meanwhile is kept for `poll`."""
        until_us = self._clock.now_us() + FIRMWARE_PATIENCE_US
        heard: list[FeederEvent] = []
        readable = 0
        while True:
            heard += self.poll(readable)
            if self.firmware_hash or self._clock.now_us() >= until_us:
                break
            self.flush()
            readable = self._clock.wait(self, min(until_us, self.next_deadline_us()))
        self._pending = heard + self._pending

    def _take(self, event: tuple[str, int] | tuple[str, bytes] | tuple[str, str]) -> None:
        kind, content = event
        if kind == CONNECTED and isinstance(content, int):
            self._pending.append(Connected(content))
            self.send("identify")
        elif kind == PAYLOAD and isinstance(content, bytes):
            self._take_payload(content)
        elif kind in (LOST, REFUSED):
            self._pending.append(Gone(WHY_LOST.get(str(content), str(content))))

    def _take_payload(self, payload: bytes) -> None:
        try:
            name, fields = _decode(payload)
        except MessageError:
            # Its frame and its number were right: the board's program is not the one its hello promised.
            self.damaged_messages += 1
            self._pending.append(Gone(sentence("feeder_unknown_words")))
            self._delivery.reset()
            return
        if name == "firmware":
            self.firmware_hash = pack("<8I", *_numbers(fields["sha256"])).hex()
            self._pending.append(Identified(self.firmware_hash))
            return
        counts = fields.pop("counts", None)
        numbers = {key: value for key, value in fields.items() if isinstance(value, int)}
        self._pending.append(Said(name, numbers, _five(counts)))

    def send(self, name: str, **fields: int) -> None:
        """Queue one message; without a board it is dropped, and the board's report will say so."""
        if self._delivery.can_send:
            self._delivery.send(feeder_messages.encode(name, **fields))

    def flush(self) -> None:
        """Write what is due to the port."""
        try:
            self._port.write(self._delivery.output(self._now_ms()))
        except LinkLost as error:
            self._lost(error)

    def next_deadline_us(self) -> int:
        """Return when the delivery or the search for the port is due."""
        if self._pending:
            return self._clock.now_us()
        deadline_ms = (
            self._delivery.next_deadline_ms(self._now_ms()) if self._port.is_open else self._reopen_ms
        )
        return deadline_ms * 1000

    def close(self) -> None:
        """Close the port; the board notices the silence and stops."""
        self._port.close()


def _decode(payload: bytes) -> tuple[str, dict[str, int | tuple[int, ...]]]:
    name, fields = feeder_messages.decode(payload)
    if feeder_messages.sender(name) != feeder_messages.FEEDER:
        raise MessageError(f"the feeder sends {name}, which only the station sends")
    return name, fields


def _numbers(value: int | tuple[int, ...]) -> tuple[int, ...]:
    return value if isinstance(value, tuple) else (value,)


def _five(counts: int | tuple[int, ...] | None) -> tuple[int, int, int, int, int] | None:
    if not isinstance(counts, tuple):
        return None
    entries, counted, set_aside, not_accepted, back = counts
    return entries, counted, set_aside, not_accepted, back
