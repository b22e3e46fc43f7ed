"""What device and host say: records from the outbox in their order, crops behind them, orders back.

Nothing is said to a host before it has shown, by the secure channel, that it has the key which is pinned; and
nothing is done that its key has not signed for this device and this connection.

No I/O: bytes and times in, bytes out, and a JournalReader. The thread and the sockets are in host_link. A
record is sent from where the host says it stands (`welcome`), and again from there after any loss: the host
takes each once.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from recount_device.identity import Identity
from recount_device.journal import JournalReader
from recount_device.messages import sentence
from recount_device.program_store import MAX_PROGRAM_BYTES
from recount_protocol import tally_messages
from recount_protocol.delivery import CONNECTED, LOST, PAYLOAD, Delivery
from recount_protocol.errors import ChannelError, MessageError, OrderError
from recount_protocol.introductions import prove
from recount_protocol.key_words import key_words
from recount_protocol.orders import NONCE_BYTES, Session, read_order
from recount_protocol.secure_channel import SecureChannel, only_tls_1_3
from recount_protocol.tally_messages import Portions, records_for_one_message

RESEND_MS = 300
KEEPALIVE_MS = 500
DEAD_MS = 8000
MAX_CROP_PARTS_UNDER_WAY = 2
"""A new record waits for no more parts of a crop than these."""


@dataclass(frozen=True)
class Received:
    """An order of the host, or a program that has arrived whole (`program_arrived`: program, content)."""

    kind: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Introduction:
    """What this device tells of itself, besides its key."""

    name: str
    software: str
    firmware: str


class Pin(Protocol):
    """Which host this device obeys."""

    @property
    def words(self) -> str:
        """The words of its key; empty where none is pinned."""
        ...


class Desk(Protocol):
    """Where the session leaves what came, and finds what is to be told."""

    def put(self, received: Received) -> None:
        """Take an order or a program."""
        ...

    def set_present(self, present: bool, refusal: str = "") -> None:
        """Hear whether the host takes this device."""
        ...

    def offer(self, words: str) -> None:
        """Hear the words of a host that answers while none is pinned; people compare them."""
        ...

    @property
    def state(self) -> tuple[str, str]:
        """What the panel shows: its key and its text."""
        ...

    @property
    def program_wanted(self) -> bytes:
        """The hash of the program that is wanted; empty for none."""
        ...


class HostSession:
    """The device's end of the link to the host, over any number of connections."""

    def __init__(
        self,
        reader: JournalReader,
        identity: Identity,
        introduction: Introduction,
        pin: Pin,
        desk: Desk,
        boot_id: int,
        portions: Portions,
    ) -> None:
        self._reader = reader
        self._identity = identity
        self._introduction = introduction
        self._pin = pin
        self._desk = desk
        self._boot_id = boot_id
        self._context = only_tls_1_3(server_side=False)
        self._portions = portions
        self._delivery = Delivery(
            tally_messages.VERSION,
            tally_messages.TABLE_HASH,
            boot_id,
            tally_messages.MAX_PAYLOAD_BYTES,
            resend_ms=RESEND_MS,
            keepalive_ms=KEEPALIVE_MS,
            dead_ms=DEAD_MS,
        )
        self.refused = False
        """Whether the host does not take this device now: wait before the next try."""
        self._acknowledged_n = 0
        """The last record that the host said it has on its disk, over all connections."""
        self._forget()

    def _forget(self) -> None:
        self._channel = SecureChannel(self._context, server_side=False)
        self._host_key = b""
        """The key of the pinned host, once it has shown that it has it."""
        self._nonce = b""
        self._order_n = 0
        self._welcomed = False
        self._next_record = 0
        self._crop_from = 0
        self._crop_begun = 0, 0
        """The crop that the host has in part, and how much of it."""
        self._crop: tuple[int, bytes, bytes] | None = None
        self._crop_offset = 0
        self._crop_search_done_at = -1
        self._state_told: tuple[str, str] | None = None
        self._program = b""
        self._content = bytearray()

    def restart(self) -> None:
        """Begin anew on a fresh connection."""
        self._delivery.reset()
        self._delivery.receive(b"", 0)
        self._forget()
        self.refused = False
        self._desk.set_present(present=False)

    def receive(self, data: bytes, now_ms: int) -> None:
        """Take bytes from the host."""
        for kind, content in self._delivery.receive(data, now_ms):
            if self.refused:
                return
            if kind == CONNECTED:
                self._send_what_tls_wants()
            elif kind == PAYLOAD and isinstance(content, bytes):
                self._open(content)
            elif kind == LOST:
                self._forget()
                self._desk.set_present(present=False)
            else:
                # Another release answers there, or somebody who says so: shown, and tried again later.
                self._refuse(str(content))

    def output(self, now_ms: int) -> bytes:
        """Return the bytes to write now: records first, then words, then crops."""
        if self._welcomed:
            self._send_records()
            self._send_state()
            self._ask_for_program()
            self._send_crops()
        return self._delivery.output(now_ms)

    def next_deadline_ms(self, now_ms: int) -> int:
        """Return when `receive` and `output` are due at the latest."""
        return self._delivery.next_deadline_ms(now_ms)

    # --- what comes ---

    def _open(self, payload: bytes) -> None:
        """Take a payload through the secure channel."""
        try:
            message = self._channel.receive(payload)
            if self._channel.established and not self._host_key:
                self._meet_host(self._channel.peer_public_key)
        except ChannelError as error:
            self._refuse(sentence("channel_broken", error=error))
            return
        if self.refused:
            return
        self._send_what_tls_wants()
        if message:
            self._take(message)

    def _send_what_tls_wants(self) -> None:
        if payload := self._channel.output():
            self._delivery.send(payload)

    def _meet_host(self, key: bytes) -> None:
        """Go on only with the host that people have pinned."""
        words, pinned = key_words(key), self._pin.words
        if words == pinned:
            self._host_key = key
        elif pinned:
            why = sentence("host_is_another", words=words)
            self._refuse(why)
            self._desk.put(Received("link_fault", {"word": "another_host", "detail": why}))
        else:
            self._refuse("")
            self._desk.offer(words)

    def _introduce(self, challenge: bytes) -> None:
        self._nonce = secrets.token_bytes(NONCE_BYTES)
        self._order_n = 0
        next_n, head = self._reader.head()
        told = {
            **vars(self._introduction),
            "device": self._identity.device,
            "public_key": self._identity.public_key,
            "next_n": next_n,
            "head": head,
            "boot": self._boot_id,
            "nonce": self._nonce,
        }
        proof = prove(self._identity.private_key, self._host_key, challenge, told)
        self._send("introduce", **told, proof=proof)

    def _take(self, message: bytes) -> None:
        try:
            kind, fields = tally_messages.unpack(message)
        except MessageError as error:
            self._refuse(sentence("host_unknown_words", error=error))
            return
        if kind == "challenge":
            self._introduce(fields["nonce"])
        elif kind == "welcome":
            self._take_welcome(fields["next_n"], fields["crop_n"], fields["crop_offset"])
        elif kind == "acknowledged":
            self._acknowledged_n = max(self._acknowledged_n, fields["n"])
        elif kind == "crop_taken":
            self._crop_from = max(self._crop_from, fields["n"] + 1)
            self._crop = None
            self._crop_search_done_at = -1
        elif kind == "program_part":
            self._take_program_part(fields)
        elif kind == "refused":
            self._refuse(fields["why"])
        elif kind == "order":
            self._take_order(fields["order"], fields["signature"])

    def _take_order(self, data: bytes, signature: bytes) -> None:
        session = Session(self._identity.device, self._nonce)
        try:
            self._order_n, kind, fields = read_order(self._host_key, session, self._order_n, data, signature)
        except OrderError as error:
            why = sentence("forged_order", error=error)
            self._refuse(why)
            self._desk.put(Received("link_fault", {"word": "forged_order", "detail": why}))
            return
        self._desk.put(Received(kind, fields))

    def _take_welcome(self, next_n: int, crop_n: int, crop_offset: int) -> None:
        own_next_n, _ = self._reader.head()
        if next_n > own_next_n:
            self._refuse(sentence("journal_is_old"))
            return
        if not self._welcomed and next_n <= self._acknowledged_n:
            # It goes on all the same: a host may have had to begin from a copy. But it is on record, signed.
            why = sentence("host_is_old")
            self._desk.put(Received("link_fault", {"word": "host_is_old", "detail": why}))
        self._welcomed = True
        self._next_record = next_n
        self._crop_from = crop_n or next_n
        self._crop_begun = crop_n, crop_offset
        self._crop = None
        self._crop_search_done_at = -1
        self._desk.set_present(present=True)

    def _refuse(self, why: str) -> None:
        self._forget()
        self.refused = True
        self._desk.set_present(present=False, refusal=why)

    def _take_program_part(self, fields: Mapping[str, Any]) -> None:
        if fields["program"] != self._program or fields["offset"] != len(self._content):
            return
        if fields["total"] > MAX_PROGRAM_BYTES or not fields["part"]:
            self._program = b""
            self._refuse(sentence("program_too_long"))
            return
        self._content += fields["part"]
        if len(self._content) < fields["total"]:
            self._send("program_wanted", program=self._program, offset=len(self._content))
            return
        self._desk.put(
            Received("program_arrived", {"program": self._program, "content": bytes(self._content)})
        )
        self._program = b""
        self._content = bytearray()

    # --- what goes ---

    def _send(self, kind: str, **fields: object) -> None:
        self._delivery.send(self._channel.seal(tally_messages.pack(kind, **fields)))

    def _send_records(self) -> None:
        while self._delivery.can_send:
            stored = self._reader.records_from(self._next_record, tally_messages.MAX_RECORDS)
            if not stored:
                return
            waiting = ((item.record, item.signature) for item in stored)
            taken = records_for_one_message(waiting, self._portions.records_bytes)
            self._send("records", records=taken)
            self._next_record = stored[len(taken) - 1].n + 1

    def _send_state(self) -> None:
        state = self._desk.state
        if state[0] and state != self._state_told and self._delivery.can_send:
            self._state_told = state
            self._send("device_state", state=state[0], note=state[1])

    def _ask_for_program(self) -> None:
        wanted = self._desk.program_wanted
        if wanted and wanted != self._program and self._delivery.can_send:
            self._program = wanted
            self._content = bytearray()
            self._send("program_wanted", program=wanted, offset=0)

    def _send_crops(self) -> None:
        while self._delivery.can_send and self._delivery.unacknowledged < MAX_CROP_PARTS_UNDER_WAY:
            if self._crop is None and not self._find_crop():
                return
            assert self._crop is not None
            n, digest, png = self._crop
            if self._crop_offset >= len(png):
                return  # all of it is sent; `crop_taken` leads on
            part = png[self._crop_offset : self._crop_offset + self._portions.part_bytes]
            self._send("crop_part", n=n, offset=self._crop_offset, total=len(png), sha256=digest, part=part)
            self._crop_offset += len(part)

    def _find_crop(self) -> bool:
        """Take up the next crop whose record was sent; the journal is searched only for new records."""
        if self._crop_search_done_at == self._next_record:
            return False
        found = self._reader.crop_from(self._crop_from)
        if found is None or found[0] >= self._next_record:
            self._crop_search_done_at = self._next_record
            return False
        self._crop = found
        n, offset = self._crop_begun
        # Only once, and only what is there: else it begins anew.
        self._crop_offset = offset if n == found[0] and offset < len(found[2]) else 0
        self._crop_begun = 0, 0
        return True
