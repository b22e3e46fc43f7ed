"""A stand-in for a device on a link: real keys, real records, real protocol, no paper.

It writes records in memory and sends them as a device does: secure channel, introduce, wait for the welcome,
send from there, keep what is not acknowledged. It obeys any host.
"""

import hashlib
import socket
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from recount_host.links.tcp_link import monotonic_ms
from recount_protocol.delivery import CONNECTED, LOST, PAYLOAD, REFUSED, Delivery
from recount_protocol.introductions import prove
from recount_protocol.orders import Session, read_order
from recount_protocol.records import NO_HASH, Record, device_id, encode_record, record_hash, sign
from recount_protocol.secure_channel import SecureChannel, only_tls_1_3
from recount_protocol.tally_messages import (
    MAX_PAYLOAD_BYTES,
    MAX_RECORDS,
    OVER_TCP,
    TABLE_HASH,
    VERSION,
    Portions,
    pack,
    records_for_one_message,
    unpack,
)

READ_BYTES = 64 * 1024
CONTEXT = only_tls_1_3(server_side=False)


class StandIn:
    """The device's end of a tally link, and its journal in memory."""

    def __init__(self, name: str, key: Ed25519PrivateKey) -> None:
        self.name = name
        self.key = key
        self.public_key = key.public_key().public_bytes_raw()
        self.device = device_id(self.public_key)
        self.journal: list[tuple[bytes, bytes]] = []
        self.crops: dict[int, bytes] = {}
        self.withheld: set[int] = set()
        """Record numbers that are never sent, as by somebody who sits on the wire."""
        self.acknowledged_n = 0
        self.crops_taken: list[int] = []
        self.crop_bytes_sent = 0
        """Over all connections."""
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self.refused = ""
        self.programs: dict[bytes, bytearray] = {}
        self.head = NO_HASH
        self.boots = 0

    def write(self, kind: str, body: dict[str, Any], *, run: str = "", batch: int = 0) -> tuple[bytes, bytes]:
        """Append a record to the journal and return its bytes and signature."""
        record = Record(self.device, len(self.journal) + 1, self.head, kind, run, batch, body)
        data = encode_record(record)
        entry = (data, sign(self.key, data))
        self.journal.append(entry)
        self.head = record_hash(data)
        return entry

    def write_fault(self, word: str) -> None:
        """Append a record of the kind that needs nothing else."""
        self.write("fault", {"word": word, "detail": ""})

    def write_set_aside(self, sheet: int, crop: bytes, *, run: str, batch: int) -> None:
        """Append the record of a sheet that was set aside, with its crop."""
        self.crops[len(self.journal) + 1] = crop
        self.write(
            "sheet_judged",
            {
                "sheet": sheet,
                "fate": "set_aside",
                "choices": [],
                "reasons": ["overvote"],
                "style": "card-1",
                "length_mm": 279,
                "evidence": {},
                "crop_sha256": hashlib.sha256(crop).digest(),
                "crop_bytes": len(crop),
                "place": sheet,
                "feeder": [1, sheet, 0, sheet - 1, 0, 0],
            },
            run=run,
            batch=batch,
        )

    def connect(self, portions: Portions = OVER_TCP) -> "Connection":
        """Return this device's end of a new connection."""
        self.boots += 1
        return Connection(self, portions=portions)


class Connection:
    """One connection of a stand-in: bytes and times in, bytes out."""

    def __init__(self, owner: StandIn, *, portions: Portions = OVER_TCP, version: int = VERSION) -> None:
        self._owner = owner
        self._portions = portions
        self.boot = int.from_bytes(hashlib.sha256(f"{owner.device} {owner.boots}".encode()).digest()[:4]) | 1
        self.channel = SecureChannel(CONTEXT, server_side=False)
        self.nonce = self.boot.to_bytes(32)
        self._order_n = 0
        self._introduced = False
        self._delivery = Delivery(
            version,
            TABLE_HASH,
            self.boot,
            MAX_PAYLOAD_BYTES,
            resend_ms=300,
            keepalive_ms=500,
            dead_ms=8000,
        )
        self._next_n = 0
        self._crop_n = 0
        self._crop_offset = 0
        self._outbox: list[bytes] = []
        self.after_welcome: list[bytes] = []
        """Messages that go out once the host has welcomed this device."""
        self.over = False

    def receive(self, data: bytes, now_ms: int) -> None:
        """Take bytes from the host."""
        for kind, value in self._delivery.receive(data, now_ms):
            if kind == CONNECTED:
                self._delivery.send(self.channel.output())
            elif kind == LOST:
                self.over = True
                self.channel = SecureChannel(CONTEXT, server_side=False)
                self._next_n, self._order_n, self._introduced = 0, 0, False
            elif kind == REFUSED:
                self._owner.refused = str(value)
                self.over = True
            elif kind == PAYLOAD:
                assert isinstance(value, bytes)
                message = self.channel.receive(value)
                if reply := self.channel.output():
                    self._delivery.send(reply)
                if message:
                    self._take(*unpack(message))

    def output(self, now_ms: int) -> bytes:
        """Return bytes for the host."""
        while self._introduced and self._delivery.can_send and (payload := self._next_payload()) is not None:
            self._delivery.send(self.channel.seal(payload))
        return self._delivery.output(now_ms)

    def next_deadline_ms(self, now_ms: int) -> int:
        """Return when both must be called again at the latest."""
        return self._delivery.next_deadline_ms(now_ms)

    def ask_for_program(self, program: bytes) -> None:
        """Ask for a contest program from its beginning."""
        self._owner.programs[program] = bytearray()
        self.after_welcome.append(pack("program_wanted", program=program, offset=0))

    def say(self, state: str, note: str = "") -> None:
        """Send the words for the live page."""
        self.after_welcome.append(pack("device_state", state=state, note=note))

    def introduction(self, challenge: bytes) -> dict[str, Any]:
        """Return the fields of `introduce`."""
        owner = self._owner
        told = {
            "device": owner.device,
            "name": owner.name,
            "public_key": owner.public_key,
            "software": "stand-in",
            "firmware": "",
            "next_n": len(owner.journal) + 1,
            "head": owner.head,
            "boot": self.boot,
            "nonce": self.nonce,
        }
        return {**told, "proof": prove(owner.key, self.channel.peer_public_key, challenge, told)}

    def _introduce(self, challenge: bytes) -> None:
        self._introduced = True
        self._outbox.insert(0, pack("introduce", **self.introduction(challenge)))

    def _take(self, kind: str, fields: dict[str, Any]) -> None:
        owner = self._owner
        if kind == "order":
            session = Session(owner.device, self.nonce)
            key = self.channel.peer_public_key
            self._order_n, kind, fields = read_order(key, session, self._order_n, **fields)
        if kind == "challenge":
            self._introduce(fields["nonce"])
            return
        owner.heard.append((kind, fields))
        if kind == "welcome":
            self._next_n = fields["next_n"]
            self._crop_n, self._crop_offset = fields["crop_n"], fields["crop_offset"]
        elif kind == "acknowledged":
            owner.acknowledged_n = fields["n"]
        elif kind == "crop_taken":
            owner.crops_taken.append(fields["n"])
            self._crop_n, self._crop_offset = 0, 0
        elif kind == "refused":
            owner.refused = fields["why"]
        elif kind == "program_part":
            self._take_program_part(fields)

    def _take_program_part(self, fields: dict[str, Any]) -> None:
        received = self._owner.programs[fields["program"]]
        if fields["offset"] == len(received):
            received += fields["part"]
        if len(received) < fields["total"]:
            wish = pack("program_wanted", program=fields["program"], offset=len(received))
            self._outbox.append(wish)

    def _next_payload(self) -> bytes | None:
        if self._outbox:
            return self._outbox.pop(0)
        if self.after_welcome and self._next_n:
            return self.after_welcome.pop(0)
        return self._next_records() or self._next_crop_part()

    def _next_records(self) -> bytes | None:
        owner = self._owner
        if not self._next_n:
            return None
        last_n = min(len(owner.journal), self._next_n + MAX_RECORDS - 1)
        numbers = [n for n in range(self._next_n, last_n + 1) if n not in owner.withheld]
        waiting = (owner.journal[n - 1] for n in numbers)
        taken = records_for_one_message(waiting, self._portions.records_bytes)
        self._next_n = numbers[len(taken) - 1] + 1 if taken else last_n + 1
        return pack("records", records=taken) if taken else None

    def _next_crop_part(self) -> bytes | None:
        owner = self._owner
        if self._crop_n == 0 and self._next_n:
            waiting = (n for n in owner.crops if n < self._next_n and n not in owner.crops_taken)
            self._crop_n, self._crop_offset = min(waiting, default=0), 0
        crop = owner.crops.get(self._crop_n)
        if crop is None or self._crop_offset >= len(crop):
            return None
        part = crop[self._crop_offset : self._crop_offset + self._portions.part_bytes]
        offset, self._crop_offset = self._crop_offset, self._crop_offset + len(part)
        owner.crop_bytes_sent += len(part)
        sha256 = hashlib.sha256(crop).digest()
        return pack("crop_part", n=self._crop_n, offset=offset, total=len(crop), sha256=sha256, part=part)


def run_over_tcp(
    connection: Connection, port: int, until: Callable[[], bool], *, longest_ms: int = 20_000
) -> bool:
    """Serve one connection to the host at a loopback port until `until`, the end, or the time is up.

    Returns whether `until` was met.
    """
    end_ms = monotonic_ms() + longest_ms
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while not until():
            now_ms = monotonic_ms()
            if connection.over or now_ms >= end_ms:
                return False
            if out := connection.output(now_ms):
                link.sendall(out)
            wait_ms = max(1, min(connection.next_deadline_ms(now_ms) - now_ms, 50))
            link.settimeout(wait_ms / 1000)
            try:
                data = link.recv(READ_BYTES)
            except TimeoutError:
                data = b""
            else:
                if not data:
                    return until()
            connection.receive(data, monotonic_ms())
        return True
