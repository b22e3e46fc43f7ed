"""The devices of `make bench`: a process of its own that writes records and times their acknowledgement.

`python -m firmware_tests.bench_senders PORT MODE DEVICES RECORDS CROP_BYTES` prints figures as JSON. MODE
`backlog`: each device has so many records when it connects. MODE `pace`: it writes PACE_S records a second.
"""

import json
import selectors
import socket
import sys
import time
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from firmware_tests.bench_sheets import write_sheet_record
from host.tests.links.stand_in import Connection, StandIn
from recount_host.links.tcp_link import monotonic_ms

PACE_S = 5
"""Records that a device writes a second: two sheets and a half."""
READ_BYTES = 256 * 1024
LONGEST_S = 170


def key_of(index: int) -> Ed25519PrivateKey:
    """Return the key of the device with this index."""
    return Ed25519PrivateKey.from_private_bytes(sha256(f"bench {index}".encode()).digest())


class Sender:
    """One device with its connection."""

    def __init__(self, index: int, port: int, selector: selectors.BaseSelector) -> None:
        self.device = StandIn(f"device-{index}", key_of(index))
        self._port = port
        self._selector = selector
        self._unwritten = b""
        self.written_s: list[float] = []
        """When each record was written down, in this process's monotonic seconds."""
        self.waited_s: list[float] = []
        """How long each waited for its acknowledgement."""

    def connect(self) -> None:
        """Connect to the host."""
        self.link = socket.create_connection(("127.0.0.1", self._port))
        self.link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.link.setblocking(False)  # noqa: FBT003 - the socket's own signature
        self.connection: Connection = self.device.connect()
        self._selector.register(self.link, selectors.EVENT_READ, self)

    def write(self, crop_bytes: int) -> None:
        """Write the next record down."""
        write_sheet_record(self.device, crop_bytes)
        self.written_s.append(time.monotonic())

    def turn(self, *, readable: bool) -> int:
        """Serve the connection; return when it has to be served again, in milliseconds."""
        if readable:
            data = self.link.recv(READ_BYTES)
            if not data:
                raise SystemExit(f"bench: the host hung up on {self.device.name}: {self.device.refused}")
            self.connection.receive(data, monotonic_ms())
            self._note_acknowledged()
        if not self._unwritten:
            self._unwritten = self.connection.output(monotonic_ms())
        try:
            while self._unwritten:
                self._unwritten = self._unwritten[self.link.send(self._unwritten) :]
        except BlockingIOError:
            return monotonic_ms() + 2
        return self.connection.next_deadline_ms(monotonic_ms())

    def _note_acknowledged(self) -> None:
        now_s = time.monotonic()
        while len(self.waited_s) < self.device.acknowledged_n:
            self.waited_s.append(now_s - self.written_s[len(self.waited_s)])


def main() -> None:
    """Run the devices and print the figures."""
    port, mode, devices, records, crop_bytes = (
        int(word) if word.isdecimal() else word for word in sys.argv[1:]
    )
    assert isinstance(port, int)
    assert isinstance(devices, int)
    assert isinstance(records, int)
    assert isinstance(crop_bytes, int)
    selector = selectors.DefaultSelector()
    senders = [Sender(index, port, selector) for index in range(devices)]
    if mode == "backlog":
        for sender in senders:
            for _ in range(records):
                sender.write(crop_bytes)
    begun_s = time.monotonic()
    for sender in senders:
        sender.connect()
    run(senders, selector, records, crop_bytes if mode == "pace" else 0, begun_s)
    waited = sorted(wait for sender in senders for wait in sender.waited_s)
    figures = {
        "seconds": time.monotonic() - begun_s,
        "records": len(waited),
        "p50_ms": 1000 * waited[len(waited) // 2],
        "p99_ms": 1000 * waited[len(waited) * 99 // 100],
        "crops": sum(len(sender.device.crops_taken) for sender in senders),
    }
    print(json.dumps(figures))


def run(
    senders: list[Sender], selector: selectors.BaseSelector, records: int, crop_bytes: int, begun_s: float
) -> None:
    """Serve all connections until every device has its records acknowledged."""
    deadlines = dict.fromkeys(senders, 0)
    due_s: dict[Sender, float] = {}
    while any(len(sender.waited_s) < records for sender in senders):
        if time.monotonic() > begun_s + LONGEST_S:
            raise SystemExit("bench: the records were not acknowledged in time")
        readable = {key.data for key, _ in selector.select(0.001)}
        now_s, now_ms = time.monotonic(), monotonic_ms()
        if not due_s and all(sender.device.heard for sender in senders):
            # All are welcomed. Each has its own place in the fifth of a second: not all write at once.
            due_s = {sender: now_s + at / PACE_S / len(senders) for at, sender in enumerate(senders)}
        for sender in senders:
            writes = bool(due_s) and len(sender.device.journal) < records and now_s >= due_s[sender]
            if writes:
                due_s[sender] += 1 / PACE_S
                sender.write(crop_bytes)
            if writes or sender in readable or now_ms >= deadlines[sender]:
                deadlines[sender] = sender.turn(readable=sender in readable)


if __name__ == "__main__":
    main()
