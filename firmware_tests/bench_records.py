"""Part of `make bench`: how much of a serial line records use, and how fast the ledger takes them.

The serial line is a pty whose bytes come out no faster than 1 Mbaud lets them (10 bits a byte, each way); the
records are those of judged and landed sheets. The ledger is held against a bare loop of signature checks.
"""

import os
import pty
import sys
import tempfile
import time
import tty
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from firmware_tests.benchmark_page import write_section
from recount_host.ledger import Ledger
from recount_protocol import tally_messages
from recount_protocol.delivery import Delivery
from recount_protocol.records import NO_HASH, Record, device_id, encode_record, record_hash, sign

WIRE_BYTES_S = 100_000
"""1 Mbaud: ten bits a byte."""
GOODPUT = 0.90
LEDGER_RECORDS_S = 8000
LEDGER_SHARE = 0.55
BATCH = 512
"""Records a transaction of the collector takes at most."""
SERIAL_S = 10.0
RECORDS = 20_000

Signed = tuple[bytes, bytes]


def signed_records(key: Ed25519PrivateKey, count: int) -> list[Signed]:
    """Return so many signed and chained records of sheets, as a device writes them."""
    device = device_id(key.public_key().public_bytes_raw())
    head = NO_HASH
    made: list[Signed] = []
    for n in range(1, count + 1):
        data = encode_record(Record(device, n, head, *_sheet(n)))
        head = record_hash(data)
        made.append((data, sign(key, data)))
    return made


def _sheet(n: int) -> tuple[str, str, int, dict[str, Any]]:
    """Return kind, run, batch and body: judged and landed in turn."""
    sheet, feeder = (n + 1) // 2, [71, n, n, 0, 0, 0]
    if n % 2 == 0:
        return (
            "sheet_landed",
            "run-1",
            1,
            {"sheet": sheet, "bin": "counted", "by": "feeder", "feeder": feeder},
        )
    evidence = {
        "style": "101",
        "side": 0,
        "registrations": [[n + k / 7 for k in range(20)]] * 2,
        "gates": {f"gate_{k}": n / (k + 3) for k in range(12)},
    }
    body = {
        "sheet": sheet, "fate": "counted", "choices": ["D"], "reasons": [], "style": "101", "length_mm": 279,
        "evidence": evidence, "crop_sha256": record_hash(b""), "crop_bytes": 200_000, "place": 0,
        "feeder": feeder,
    }  # fmt: skip
    return "sheet_judged", "run-1", 1, body


@dataclass
class PacedPort:
    """One end of a pty that takes bytes no faster than the wire would."""

    descriptor: int
    begun_s: float
    sent: int = 0
    waiting: bytearray = field(default_factory=bytearray)

    def write(self) -> None:
        """Let out what the wire has had time for."""
        allowed = int((time.monotonic() - self.begun_s) * WIRE_BYTES_S) - self.sent
        if allowed > 0 and self.waiting:
            try:
                written = os.write(self.descriptor, self.waiting[: min(allowed, 2048)])
            except BlockingIOError:
                return
            self.sent += written
            del self.waiting[:written]
        elif not self.waiting:
            # What the wire did not carry while there was nothing to send is lost to it.
            self.sent = int((time.monotonic() - self.begun_s) * WIRE_BYTES_S)

    def read(self) -> bytes:
        """Return what has come."""
        try:
            return os.read(self.descriptor, 65536)
        except BlockingIOError:
            return b""


def serial_goodput(records: Sequence[Signed], seconds: float) -> tuple[float, int]:
    """Return the bytes of records and signatures that arrive a second over the line, and their number."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    begun = time.monotonic()
    ports = [PacedPort(descriptor, begun) for descriptor in (master, slave)]
    settings = {"max_payload_bytes": tally_messages.MAX_PAYLOAD_BYTES, "resend_ms": 300}
    ends = [Delivery(1, 1, boot_id, **settings) for boot_id in (1, 2)]
    for port in ports:
        os.set_blocking(port.descriptor, False)
    waiting = iter(records)
    arrived, arrived_bytes, first_s = 0, 0, 0.0
    try:
        while not first_s or time.monotonic() < first_s + seconds:
            now_ms = int((time.monotonic() - begun) * 1000)
            for port, end in zip(ports, ends, strict=True):
                for kind, value in end.receive(port.read(), now_ms):
                    if kind == "payload":
                        assert isinstance(value, bytes)
                        first_s = first_s or time.monotonic()
                        _, fields = tally_messages.unpack(value)
                        arrived, arrived_bytes = arrived + 1, arrived_bytes + len(fields["record"]) + 64
                if len(port.waiting) < 4096:
                    port.waiting += end.output(now_ms)
                port.write()
            while ends[0].can_send and (following := next(waiting, None)):
                ends[0].send(tally_messages.pack("record", record=following[0], signature=following[1]))
    finally:
        os.close(slave)
        os.close(master)
    return arrived_bytes / seconds, arrived


def bare_verify(public_key: bytes, records: Sequence[Signed]) -> float:
    """Return the signatures checked a second by nothing but the library."""
    key = Ed25519PublicKey.from_public_bytes(public_key)
    begun = time.perf_counter()
    for data, signature in records:
        key.verify(signature, data)
    return len(records) / (time.perf_counter() - begun)


def into_the_ledger(folder: Path, key: Ed25519PrivateKey, records: Sequence[Signed]) -> float:
    """Return the records a second that are verified and on disk."""
    public_key = key.public_key().public_bytes_raw()
    with Ledger(folder / "ledger.sqlite") as ledger:
        introduce(ledger, device_id(public_key), public_key)
        begun = time.perf_counter()
        for at in range(0, len(records), BATCH):
            ledger.add_records(records[at : at + BATCH])
        seconds = time.perf_counter() - begun
        if len(ledger.records()) != len(records):
            raise SystemExit("bench: the ledger did not take every record")
    return len(records) / seconds


def introduce(ledger: Ledger, device: str, public_key: bytes) -> None:
    """Make the device known to the ledger."""
    from host.tests.enrolling import enrol  # noqa: PLC0415  only here is a host needed

    enrol(ledger, "alpha", public_key)
    ledger.introduce(device, "alpha", public_key, 1, NO_HASH)


def main() -> int:
    """Measure, write the section, return 1 where an aim is not met."""
    key = Ed25519PrivateKey.generate()
    records = signed_records(key, RECORDS)
    goodput, arrived = serial_goodput(records, SERIAL_S)
    bare = bare_verify(key.public_key().public_bytes_raw(), records)
    with tempfile.TemporaryDirectory() as folder:
        ledger = into_the_ledger(Path(folder), key, records)
    length = sum(len(data) for data, _ in records) / len(records)
    line = f"{goodput:,.0f} bytes/s of {WIRE_BYTES_S:,} ({arrived} records)"
    share = f"{ledger / bare:.1%} of a bare loop of signature checks ({bare:,.0f}/s)"
    rows = (
        ("records over a serial line of 1 Mbaud", line, f"{goodput / WIRE_BYTES_S:.1%}", f"{GOODPUT:.0%}"),
        (
            "verified records into the ledger",
            f"{ledger:,.0f} records/s",
            share,
            f"{LEDGER_RECORDS_S:,}/s and {LEDGER_SHARE:.0%}",
        ),
    )
    text = (
        f"# Records: the line and the ledger\n\nRecords of judged and landed sheets, {length:.0f} bytes on "
        f"average and 64 of signature, which are counted with them; {BATCH} a transaction. The line is the "
        "delivery alone, without the secure channel.\n\n"
        "| what | measured | share | at least |\n| --- | --- | --- | --- |\n"
    ) + "\n".join(f"| {' | '.join(row)} |" for row in rows)
    write_section("bench (records)", text)
    print(text)
    met = goodput >= GOODPUT * WIRE_BYTES_S and ledger >= max(LEDGER_RECORDS_S, LEDGER_SHARE * bare)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
