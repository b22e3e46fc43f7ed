"""One device on one link, as the host sees it: what it says, what it is told. No I/O, no ledger, no thread.

Bytes and times come in, bytes go out; what the ledger must do is left in `wants`, its answer comes by `told`.
The order of a session: hello (delivery) - secure channel - challenge - introduce, with its proof - welcome -
records, each acknowledged after it is on disk - crops behind them - program parts when the device asks - and
all the while the duties as signed orders, said again until done. A session ends with its connection; the next
connection is a new session, and begins anew.
"""

import secrets
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from recount_host.host_key import HostKey
from recount_host.ledger.rows import Outcome, Verdict
from recount_host.links.crop_under_way import CropPlace, CropUnderWay
from recount_host.links.wants import (
    CropKept,
    Dismissed,
    DutiesChanged,
    FetchProgram,
    Introduce,
    Introduced,
    KeepCrop,
    KeepRecords,
    ProgramFetched,
    RecordsKept,
    Reply,
    Want,
)
from recount_protocol.delivery import CONNECTED, LOST, PAYLOAD, REFUSED, Delivery
from recount_protocol.errors import ChannelError, MessageError, ProofError
from recount_protocol.introductions import check_proof
from recount_protocol.orders import NONCE_BYTES, Session, sign_order
from recount_protocol.secure_channel import SecureChannel
from recount_protocol.tally_messages import (
    MAX_PAYLOAD_BYTES,
    PART_BYTES,
    TABLE_HASH,
    VERSION,
    pack,
    signed_records,
    unpack,
)

RESEND_MS = 300
KEEPALIVE_MS = 500
DEAD_MS = 8_000
"""A device that computes for long is not lost; a pulled TCP cable is noticed after this."""

REPEAT_DUTIES_MS = 2_000
"""How often a device is told again what it has not done yet."""

WELCOME_AGAIN_MS = 2_000
"""How often a device whose records have a gap is asked to send again from the gap."""

FAREWELL_MS = 2_000
"""How long a refused device may take to hear why, before the link is closed."""

INTRODUCE_WITHIN_MS = 30_000
"""Who has not been welcomed by then is no device: a scanner of ports, or a cable with nothing at its end."""

MAX_WHY_LENGTH = 1000
"""The longest reason that a `refused` tells."""

MAX_WAITING = 64
"""Answers that wait because the device takes none: it asks for one at a time."""

MAX_UNANSWERED = 256
"""Records and other wants in flight above which nothing more is read: the device's queue fills, not ours."""


@dataclass(slots=True)
class Condition:
    """How things stand with this device, in words for the live page."""

    device: str = ""
    name: str = ""
    connected: bool = False
    welcomed: bool = False
    state: str = ""
    note: str = ""
    software: str = ""
    announced_n: int = 0
    """The last record that the device said it has when it introduced itself."""
    gap: str = ""
    """Which of its records are missing; empty when none is known to be."""
    problem: str = ""
    """Why the device, or what it sent, is refused; empty when it is not."""


_CROP_PART = ("n", "total", "sha256", "offset", "part")
"""The fields of the message, in the order in which they are looked at."""


class DeviceSession:
    """The host's end of one connection to one device."""

    def __init__(self, boot_id: int, identity: HostKey) -> None:
        self._identity = identity
        self._channel = SecureChannel(identity.context, server_side=True)
        self._challenge = b""
        self._order_n = 0
        self._delivery = Delivery(
            VERSION,
            TABLE_HASH,
            boot_id,
            MAX_PAYLOAD_BYTES,
            resend_ms=RESEND_MS,
            keepalive_ms=KEEPALIVE_MS,
            dead_ms=DEAD_MS,
        )
        self.wants: list[Want] = []
        """What the ledger is asked; the caller takes them away in order and answers each by `told`."""
        self.condition = Condition()
        self.finished = False
        """The session is over: the link is to be closed once what `output` gave is written."""
        self._introduction: Introduce | None = None
        self._device_session = Session("", b"")
        """For whom this connection's orders are good."""
        self._unanswered = 0
        self._now_ms = 0
        self._outbox: deque[bytes] = deque()
        """Messages that wait, not yet sealed: the channel wants them in the order in which they are sent."""
        self._acknowledge_n = 0
        self._acknowledged_n = 0
        self._welcome_ms: int | None = None
        self._welcome_wanted: tuple[int, int] | None = None
        self._crop_place = CropPlace()
        self._crop_at_ledger = False
        """A crop waits to be written down: no other is taken meanwhile, so memory is bounded."""
        self._next_crop_n = 0
        self._duties: tuple[tuple[str, dict[str, Any]], ...] = ()
        self._duties_due_ms = 0
        self._farewell_ms: int | None = None
        self._began_ms: int | None = None

    @property
    def may_read(self) -> bool:
        """Whether more may be read from the link now; False holds back a device that outruns the disk."""
        return self._unanswered < MAX_UNANSWERED and not self.finished

    @property
    def device(self) -> str:
        """Return the id of the device that was welcomed here; empty before."""
        return self.condition.device if self.condition.welcomed else ""

    @property
    def stats(self) -> dict[str, int]:
        """Return the delivery layer's counters of every cause."""
        return self._delivery.stats

    # Bytes and time

    def receive(self, data: bytes, now_ms: int) -> None:
        """Take bytes that came, or none when only time passed."""
        self._now_ms = now_ms
        if self._began_ms is None:
            self._began_ms = now_ms
        for event in self._delivery.receive(data, now_ms):
            self._take_event(event)
        if not self.condition.welcomed and now_ms >= self._began_ms + INTRODUCE_WITHIN_MS:
            self._end()
        if self._farewell_ms is not None and (
            now_ms >= self._farewell_ms or not (self._outbox or self._delivery.unacknowledged)
        ):
            self._end()

    def output(self, now_ms: int) -> bytes:
        """Return the bytes to write now."""
        self._now_ms = now_ms
        if self._delivery.connected and self._farewell_ms is None:
            self._say_what_is_due()
        while self._outbox and self._delivery.can_send:
            self._delivery.send(self._channel.seal(self._outbox.popleft()))
        return self._delivery.output(now_ms)

    def next_deadline_ms(self, now_ms: int) -> int:
        """Return when `receive` (with no bytes) and `output` must be called again at the latest."""
        deadlines = [self._delivery.next_deadline_ms(now_ms)]
        if self._farewell_ms is not None:
            deadlines.append(self._farewell_ms)
        elif self.condition.welcomed:
            if self._duties:
                deadlines.append(self._duties_due_ms)
            if self._welcome_wanted is not None:
                deadlines.append((self._welcome_ms or 0) + WELCOME_AGAIN_MS)
            if self._acknowledge_n > self._acknowledged_n and self._delivery.can_send:
                deadlines.append(now_ms)
        return max(now_ms, min(deadlines))

    # What the ledger answers

    def told(self, reply: Reply, now_ms: int) -> None:
        """Take the ledger's answer to a want, or news of duties."""
        self._now_ms = now_ms
        if self.finished or self._farewell_ms is not None:
            return
        match reply:
            case Introduced():
                self._told_introduced(reply)
            case RecordsKept():
                self._told_records(reply)
            case CropKept():
                self._told_crop(reply)
            case ProgramFetched():
                self._told_program(reply)
            case Dismissed():
                self.dismiss(reply.why)
            case DutiesChanged():
                if reply.duties != self._duties:
                    self._duties = reply.duties
                    self._duties_due_ms = now_ms

    def dismiss(self, why: str) -> None:
        """Tell the device why it is not taken, then end."""
        if self.finished or self._farewell_ms is not None:
            return
        # What a device sent may be quoted in it: never longer than the message that carries it.
        why = why[:MAX_WHY_LENGTH]
        self.condition.problem = why
        if not self._channel.established:
            self._end()  # there is no way to tell it
            return
        self._outbox.clear()
        self._outbox.append(pack("refused", why=why))
        self._farewell_ms = self._now_ms + FAREWELL_MS

    def _told_introduced(self, reply: Introduced) -> None:
        self._unanswered -= 1
        if reply.outcome.verdict in (Verdict.REFUSED, Verdict.NOT_ENROLLED):
            self.dismiss(reply.outcome.sentence)
            return
        self.condition.welcomed = True
        self._acknowledged_n = self._acknowledge_n = reply.outcome.next_n - 1
        self._next_crop_n = reply.crop_n
        self._crop_place = reply.crop_place
        self._welcome(reply.outcome.next_n, reply.crop_n, reply.crop_place.offset_of(reply.crop_n))
        if self._acknowledge_n:
            # What was stored while the last connection broke was never acknowledged there.
            self._outbox.append(pack("acknowledged", n=self._acknowledge_n))
        self._duties_due_ms = self._now_ms

    def _told_records(self, reply: RecordsKept) -> None:
        self._unanswered -= len(reply.outcomes)
        for outcome in reply.outcomes:
            if self._farewell_ms is None:
                self._told_record(outcome)

    def _told_record(self, outcome: Outcome) -> None:
        if outcome.verdict is Verdict.REFUSED:
            self.dismiss(outcome.sentence)
            return
        if outcome.verdict is Verdict.GAP:
            self.condition.gap = outcome.sentence
            self._welcome_wanted = (outcome.next_n, self._next_crop_n)
            return
        self.condition.gap = ""
        self._welcome_wanted = None
        self._acknowledge_n = max(self._acknowledge_n, outcome.next_n - 1)

    def _told_crop(self, reply: CropKept) -> None:
        self._unanswered -= 1
        self._crop_at_ledger = False
        if reply.outcome.verdict is Verdict.REFUSED:
            self.dismiss(reply.outcome.sentence)
            return
        self._next_crop_n = reply.next_crop_n
        if reply.outcome.verdict is Verdict.GAP:
            return  # its record is missing; the welcome that asks for it brings the crop too
        self._answer(pack("crop_taken", n=reply.n))

    def _told_program(self, reply: ProgramFetched) -> None:
        self._unanswered -= 1
        if reply.data is None:
            self.condition.problem = (
                f"it asks for the contest program {reply.program.hex()[:12]}, which is not here"
            )
            return
        self.condition.problem = ""
        part = reply.data[reply.offset : reply.offset + PART_BYTES]
        self._answer(
            pack("program_part", program=reply.program, offset=reply.offset, total=len(reply.data), part=part)
        )

    def _answer(self, message: bytes) -> None:
        """Say what the device asked for; one that only asks and takes no answer is left."""
        if len(self._outbox) >= MAX_WAITING:
            self.condition.problem = "it asks again and again and takes no answer"
            self._end()
            return
        self._outbox.append(message)

    # What the device says

    def _take_event(self, event: tuple[str, Any]) -> None:
        kind, value = event
        if kind == CONNECTED:
            self.condition.connected = True
        elif kind == LOST:
            self._end()
        elif kind == REFUSED:
            self.condition.problem = value
            self._end()
        elif kind == PAYLOAD and not self.finished:
            self._open(value)

    def _open(self, payload: bytes) -> None:
        """Take a payload through the secure channel."""
        was_established = self._channel.established
        try:
            message = self._channel.receive(payload)
        except ChannelError as error:
            self.condition.problem = f"what came on its line was changed, or is no device's ({error})"
            self._end()
            return
        if reply := self._channel.output():
            self._delivery.send(reply)
        if self._channel.established and not was_established:
            self._challenge = secrets.token_bytes(NONCE_BYTES)
            self._outbox.append(pack("challenge", nonce=self._challenge))
        if message and self._farewell_ms is None:
            self._take_message(message)

    def _take_message(self, message: bytes) -> None:
        try:
            kind, fields = unpack(message)
        except MessageError as error:
            self.dismiss(f"it sent something that is not a message: {error}")
            return
        take = _TAKE.get(kind)
        if take is None:
            self.dismiss(f"it sent {kind}, which only the host may send")
        elif kind != "introduce" and not self.condition.welcomed:
            self.dismiss(f"it sent {kind} before it was welcomed")
        else:
            take(self, fields)

    def take_introduce(self, fields: dict[str, Any]) -> None:
        """Take what the device says of itself; the ledger judges it."""
        if self._introduction is not None:
            self.dismiss("it introduced itself twice")
            return
        self.condition.name = fields["name"]
        try:
            check_proof(self._identity.public_key, self._challenge, fields)
        except ProofError as error:
            self.dismiss(str(error))
            return
        told = ("device", "name", "public_key", "next_n", "head", "boot")
        self._introduction = Introduce(*(fields[name] for name in told))
        self._device_session = Session(fields["device"], fields["nonce"])
        self.condition.device = fields["device"]
        self.condition.software = fields["software"]
        self.condition.announced_n = fields["next_n"] - 1
        self._want(self._introduction)

    def take_records(self, fields: dict[str, Any]) -> None:
        """Take records; they are acknowledged once they are on disk."""
        items = tuple(signed_records(fields))
        self._want(KeepRecords(items), len(items))

    def take_crop_part(self, fields: dict[str, Any]) -> None:
        """Take a part of a crop; the last one sends the whole to the ledger."""
        if self._crop_at_ledger:
            return  # said again after a welcome: the answer that comes for it leads on
        n, total, sha256, offset, part = (fields[name] for name in _CROP_PART)
        if offset == 0:
            self._crop_place.crop = CropUnderWay(n, total, sha256)
        crop = self._crop_place.crop
        if crop is None or not crop.fits(n, total, sha256, offset, len(part)):
            # It begins again at offset 0, which costs a few parts and cannot go wrong.
            self._crop_place.crop = None
            self._welcome_wanted = (self._acknowledge_n + 1, self._next_crop_n or n)
            return
        crop.received += part
        if len(crop.received) == crop.total:
            self._crop_place.crop = None
            self._crop_at_ledger = True
            self._want(KeepCrop(self.condition.device, crop.n, bytes(crop.received)))

    def take_program_wanted(self, fields: dict[str, Any]) -> None:
        """Take the wish for a part of a contest program."""
        self._want(FetchProgram(fields["program"], fields["offset"]))

    def take_device_state(self, fields: dict[str, Any]) -> None:
        """Take the words for the live page."""
        self.condition.state = fields["state"]
        self.condition.note = fields["note"]

    # What is said to the device

    def _say_what_is_due(self) -> None:
        if not self.condition.welcomed:
            return
        if self._welcome_wanted is not None and self._now_ms >= (self._welcome_ms or 0) + WELCOME_AGAIN_MS:
            self._welcome(*self._welcome_wanted)
        if self._acknowledge_n > self._acknowledged_n and self._delivery.can_send:
            self._acknowledged_n = self._acknowledge_n
            self._outbox.appendleft(pack("acknowledged", n=self._acknowledge_n))
        if self._duties and not self._outbox and self._now_ms >= self._duties_due_ms:
            self._duties_due_ms = self._now_ms + REPEAT_DUTIES_MS
            self._outbox.extend(self._order(kind, fields) for kind, fields in self._duties)

    def _order(self, kind: str, fields: dict[str, Any]) -> bytes:
        self._order_n += 1
        order, signature = sign_order(
            self._identity.private_key, self._device_session, self._order_n, kind, fields
        )
        return pack("order", order=order, signature=signature)

    def _welcome(self, next_n: int, crop_n: int, crop_offset: int = 0) -> None:
        self._welcome_wanted = None
        self._welcome_ms = self._now_ms
        self._outbox.append(pack("welcome", next_n=next_n, crop_n=crop_n, crop_offset=crop_offset))

    def _want(self, want: Want, weight: int = 1) -> None:
        self._unanswered += weight
        self.wants.append(want)

    def _end(self) -> None:
        self.condition.connected = False
        self.finished = True


_TAKE: dict[str, Callable[[DeviceSession, dict[str, Any]], None]] = {
    "introduce": DeviceSession.take_introduce,
    "records": DeviceSession.take_records,
    "crop_part": DeviceSession.take_crop_part,
    "program_wanted": DeviceSession.take_program_wanted,
    "device_state": DeviceSession.take_device_state,
}
"""What each kind of message from a device does."""
