"""A tiny host: the protocol's other end, with records, crops and orders in memory, on any stream of bytes."""

from typing import Any

from protocol.tests.host_key import a_key, server_context
from recount_protocol.delivery import CONNECTED, PAYLOAD, Delivery
from recount_protocol.introductions import check_proof
from recount_protocol.key_words import key_words
from recount_protocol.orders import ORDERS, Session, sign_order
from recount_protocol.records import NO_HASH, check_next, decode_record, record_hash, verify
from recount_protocol.secure_channel import SecureChannel
from recount_protocol.tally_messages import (
    MAX_PAYLOAD_BYTES,
    TABLE_HASH,
    VERSION,
    pack,
    signed_records,
    unpack,
)

HOST_SEED, FALSE_SEED = 1, 66
CONTEXTS = {seed: server_context(a_key(seed)) for seed in (HOST_SEED, FALSE_SEED)}
HOST_WORDS, FALSE_WORDS = (
    key_words(a_key(seed).public_key().public_bytes_raw()) for seed in (HOST_SEED, FALSE_SEED)
)
CHALLENGE = b"c" * 32


class TinyHost:
    """Takes each record once, in order and verified, and each crop whole."""

    def __init__(
        self,
        programs: dict[bytes, bytes] | None = None,
        *,
        part_bytes: int = 1000,
        version: int = VERSION,
        seed: int = HOST_SEED,
    ) -> None:
        self.version = version
        self.key = a_key(seed)
        self._context = CONTEXTS[seed]
        self.channel = SecureChannel(self._context, server_side=True)
        self.order_n = 0
        self.programs = programs or {}
        self.part_bytes = part_bytes
        self.introduced: dict[str, Any] = {}
        self.records: list[bytes] = []
        self.crops: dict[int, bytes] = {}
        self.crop_bytes = 0
        """Bytes of crops that came, also of those that came again."""
        self.states: list[tuple[str, str]] = []
        self.heard: list[str] = []
        self.numbers: list[int] = []
        """The numbers of all records that came, also of those that came again."""
        self.connections = 0
        self.refuses = ""
        self.claims_next_n = 0
        """More records than it has, where it is not 0: what the host of an older journal would say."""
        self._head = NO_HASH
        self._key = b""
        self._parts = bytearray()
        self.delivery = self._new_delivery(1)

    def _new_delivery(self, boot: int) -> Delivery:
        return Delivery(
            self.version, TABLE_HASH, boot, MAX_PAYLOAD_BYTES, resend_ms=300, keepalive_ms=500, dead_ms=8000
        )

    def restart(self) -> None:
        """Start anew, with what is stored."""
        self.delivery = self._new_delivery(self.connections + 100)
        self._new_channel()

    def _new_channel(self) -> None:
        self.channel = SecureChannel(self._context, server_side=True)
        self.order_n = 0

    def receive(self, data: bytes, now_ms: int) -> None:
        for kind, content in self.delivery.receive(data, now_ms):
            if kind == CONNECTED:
                self.connections += 1
                self._new_channel()
            elif kind == PAYLOAD and isinstance(content, bytes):
                self._open(content)

    def _open(self, payload: bytes) -> None:
        was_established = self.channel.established
        message = self.channel.receive(payload)
        if reply := self.channel.output():
            self.delivery.send(reply)
        if self.channel.established and not was_established:
            self.send("challenge", nonce=CHALLENGE)
        if message:
            self._take(*unpack(message))

    @property
    def session(self) -> Session:
        """For whom the orders of this connection are good."""
        return Session(self.introduced["device"], self.introduced["nonce"])

    def send(self, kind: str, **fields: Any) -> None:
        """Send a message; an order as it must be signed."""
        if kind in ORDERS:
            self.order_n += 1
            order, signature = sign_order(self.key, self.session, self.order_n, kind, fields)
            kind, fields = "order", {"order": order, "signature": signature}
        self.delivery.send(self.channel.seal(pack(kind, **fields)))

    def _take(self, kind: str, fields: dict[str, Any]) -> None:
        self.heard.append(kind)
        getattr(self, f"_on_{kind}")(**fields)

    def _on_introduce(self, **fields: Any) -> None:
        check_proof(self.key.public_key().public_bytes_raw(), CHALLENGE, fields)
        self.introduced = fields
        self._key = fields["public_key"]
        if self.refuses:
            self.send("refused", why=self.refuses)
            return
        crop_n = min((n for n in self._crops_expected() if n not in self.crops), default=0)
        self.send(
            "welcome",
            next_n=self.claims_next_n or len(self.records) + 1,
            crop_n=crop_n,
            crop_offset=len(self._parts) if crop_n else 0,
        )

    def _crops_expected(self) -> list[int]:
        return [n for n, data in enumerate(self.records, 1) if decode_record(data).body.get("crop_sha256")]

    def _on_records(self, **fields: Any) -> None:
        for record, signature in signed_records(fields):
            verify(self._key, record, signature)
            self._take_record(record)
        self.send("acknowledged", n=len(self.records))

    def _take_record(self, record: bytes) -> None:
        decoded = decode_record(record)
        self.numbers.append(decoded.n)
        if decoded.n <= len(self.records):
            assert self.records[decoded.n - 1] == record
            return
        check_next(self._head, len(self.records) + 1, decoded)
        self.records.append(record)
        self._head = record_hash(record)

    def _on_crop_part(self, n: int, offset: int, total: int, sha256: bytes, part: bytes) -> None:
        assert decode_record(self.records[n - 1]).body["crop_sha256"] == sha256
        if offset == 0:
            self._parts.clear()
        assert offset == len(self._parts)
        self._parts += part
        self.crop_bytes += len(part)
        if len(self._parts) == total:
            self.crops[n] = bytes(self._parts)
            self._parts.clear()
            self.send("crop_taken", n=n)

    def _on_program_wanted(self, program: bytes, offset: int) -> None:
        content = self.programs[program]
        part = content[offset : offset + self.part_bytes]
        self.send("program_part", program=program, offset=offset, total=len(content), part=part)

    def _on_device_state(self, state: str, note: str) -> None:
        self.states.append((state, note))
