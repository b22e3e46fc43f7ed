"""`make soak-link`: a million records over a wire that does everything a wire can do, each once and in order.

In memory the wire stands on a virtual clock: it drops, repeats, delays, corrupts, truncates, stalls, and the
connection is cut and either end restarted. Over a pty a real MicroPython sends, and every byte both ways may
be dropped or flipped. The sender keeps its records as a journal does and begins anew where the receiver says.
"""

import argparse
import os
import platform
import pty
import shutil
import subprocess
import sys
import time
import tty
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from select import select

from firmware_tests.benchmark_page import write_section
from protocol.tests.faulty_link import Faults, Wire
from recount_protocol.delivery import Delivery

PROTOCOL = Path(__file__).resolve().parents[1]
PEER = Path(__file__).with_name("soak_peer.py")
HEAP = "heapsize=192k"
NUMBER_BYTES = 8
RECORD_BYTES = 64
QUEUE = 64
FAULTS = Faults(lost=8, repeated=8, late=8, damaged=8, truncated=8)
WAVE_RECORDS = 10_000
"""In memory, after so many records on average something larger happens: a stall, a cut, a restart."""
PATIENCE_S = 30.0


class SoakFailed(Exception):
    """A record was lost, doubled or out of order, or nothing moved any more."""


@dataclass
class Figures:
    """What a soak has seen."""

    name: str
    records: int = 0
    seconds: float = 0.0
    resent: int = 0
    damaged: int = 0
    connections: int = 0
    restarts: int = 0
    most_waiting: int = 0
    """The most payloads and frames that waited anywhere at once; over a pty, what the host's end held alone:
    the sender lives in its interpreter's bounded heap."""

    def line(self) -> str:
        """Return them as one line for people."""
        return (
            f"{self.name}: {self.records} records, each once and in order, in {self.seconds:.0f} s "
            f"({self.records / max(self.seconds, 1e-9):.0f} a second); {self.resent} sent again, "
            f"{self.damaged} damaged frames, {self.connections} connections, {self.restarts} restarts; "
            f"at most {self.most_waiting} waited at once"
        )


def payload_of(number: int) -> bytes:
    """Return the record with this number, from 1; its body tells the number again."""
    return number.to_bytes(NUMBER_BYTES, "big") + (number * 2654435761 % 2**32).to_bytes(4, "big") * 14


@dataclass
class Receiver:
    """The host's part: it keeps what follows, and says at each connection what it has."""

    figures: Figures
    last: int = 0

    def take(self, payload: bytes) -> None:
        """Take a record. Raises SoakFailed where it is another than was sent, or not the next one."""
        number = int.from_bytes(payload[:NUMBER_BYTES], "big")
        if payload != payload_of(number):
            raise SoakFailed(f"record {number} is not the one that was sent")
        if number > self.last + 1:
            raise SoakFailed(f"record {number} came where {self.last + 1} is next")
        if number == self.last + 1:
            self.last = number
            self.figures.records += 1


@dataclass
class Memory:
    """Two ends in memory, on a virtual clock."""

    records: int
    figures: Figures
    random: Random
    faults: Faults = FAULTS
    now_ms: int = 0
    boots: int = 0
    sender: Delivery = field(init=False)
    receiver: Delivery = field(init=False)
    host: Receiver = field(init=False)
    next_number: int = 0
    """What the sender sends next; 0 before it was told."""

    def __post_init__(self) -> None:
        self.host = Receiver(self.figures)
        self.sender, self.receiver = self._end(), self._end()
        self.there, self.back = Wire(self.faults, self.random), Wire(self.faults, self.random)

    def _end(self) -> Delivery:
        self.boots += 1
        return Delivery(
            1, 0xABCD, self.boots, 240, window=32, queue_payloads=QUEUE, resend_ms=40, dead_ms=600
        )

    def run(self) -> None:
        """Run until every record is there. Raises SoakFailed."""
        stuck_ms, before = 0, 0
        while self.host.last < self.records:
            self.step()
            if self.random.randrange(WAVE_RECORDS // 16) == 0:
                self.strike()
            if self.host.last != before:
                before, stuck_ms = self.host.last, self.now_ms
            if self.now_ms - stuck_ms > 120_000:
                raise SoakFailed(f"nothing has moved for two minutes behind record {before}")

    def step(self) -> None:
        """Let time run to the next thing that happens."""
        if self.next_number:
            while self.sender.can_send and self.next_number <= self.records:
                self.sender.send(payload_of(self.next_number))
                self.next_number += 1
        due = [self.sender.next_deadline_ms(self.now_ms), self.receiver.next_deadline_ms(self.now_ms)]
        due += [moment for wire in (self.there, self.back) if (moment := wire.next_ms) is not None]
        self.now_ms = max(self.now_ms, min(due))
        for kind, value in self.sender.receive(self.back.read(self.now_ms), self.now_ms):
            if kind == "payload":
                assert isinstance(value, bytes)
                self.next_number = int.from_bytes(value[:NUMBER_BYTES], "big")
            elif kind == "lost":
                self.next_number = 0
        for kind, value in self.receiver.receive(self.there.read(self.now_ms), self.now_ms):
            if kind == "payload":
                assert isinstance(value, bytes)
                self.host.take(value)
            elif kind == "connected":
                self.receiver.send((self.host.last + 1).to_bytes(NUMBER_BYTES, "big"))
        self.there.write(self.sender.output(self.now_ms), self.now_ms)
        self.back.write(self.receiver.output(self.now_ms), self.now_ms)
        waiting = self.sender.unacknowledged + self.receiver.unacknowledged
        waiting += len(self.there._flying) + len(self.back._flying)
        self.figures.most_waiting = max(self.figures.most_waiting, waiting)

    def strike(self) -> None:
        """Let something larger happen."""
        what = self.random.randrange(4)
        if what == 0:  # both directions stand still
            self.now_ms += self.random.randrange(2_000)
        elif what == 1:  # the cable is pulled and put back
            self.there.cut()
            self.back.cut()
            self.sender.reset()
            self.receiver.reset()
        else:
            self._note_stats(self.sender if what == 2 else self.receiver)
            self.figures.restarts += 1
            if what == 2:
                self.sender, self.next_number = self._end(), 0
            else:
                self.receiver = self._end()

    def _note_stats(self, end: Delivery) -> None:
        self.figures.resent += end.stats["resent"]
        self.figures.connections += end.stats["connects"]
        self.figures.damaged += sum(n for cause, n in end._reader.counts.items() if cause != "frames")

    def close(self) -> None:
        """Add up the figures."""
        for end in (self.sender, self.receiver):
            self._note_stats(end)


def in_memory(records: int, seed: int) -> Figures:
    """Soak the link in memory; return the figures. Raises SoakFailed."""
    figures = Figures("in memory, virtual clock")
    begun = time.perf_counter()
    link = Memory(records, figures, Random(seed))
    link.run()
    link.close()
    figures.seconds = time.perf_counter() - begun
    return figures


# MicroPython over a pty


@contextmanager
def micropython(records: int) -> Generator[int]:
    """Yield the descriptor of a pty behind which MicroPython sends its records."""
    command = os.environ.get("MICROPYTHON") or shutil.which(
        "micropython", path=str(Path(sys.executable).parent)
    )
    if not command:
        raise SoakFailed("there is no MicroPython interpreter: install the extra [simulator]")
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    os.set_blocking(slave, False)
    process = subprocess.Popen(
        [command, "-X", HEAP, str(PEER), str(records)],
        stdin=master,
        stdout=master,
        env={**os.environ, "MICROPYPATH": str(PROTOCOL)},
    )
    try:
        yield slave
    finally:
        process.kill()
        process.wait()
        os.close(slave)
        os.close(master)


def struck(data: bytes, rate: float, random: Random) -> bytes:
    """Return the bytes with each dropped, or flipped in one bit, at this rate."""
    result = bytearray()
    for byte in data:
        dice = random.random()
        if dice >= rate:
            result.append(byte ^ (1 << random.randrange(8)) if dice < 2 * rate else byte)
    return bytes(result)


def over_a_pty(records: int, rate: float, seed: int) -> Figures:
    """Let MicroPython send records at a fault rate a byte; return the figures. Raises SoakFailed."""
    figures = Figures(f"MicroPython over a pty, {rate:g} drops and {rate:g} flips a byte")
    random = Random(seed)
    host = Receiver(figures)
    end = Delivery(1, 0xABCD, 2, 240, window=8, queue_payloads=8, resend_ms=30, dead_ms=1000)
    begun = last_ms = time.monotonic()
    with micropython(records) as port:
        while host.last < records:
            now_ms = int((time.monotonic() - begun) * 1000)
            wait_ms = min(50, end.next_deadline_ms(now_ms) - now_ms)
            readable, _, _ = select([port], [], [], max(0, wait_ms) / 1000)
            data = struck(os.read(port, 4096), rate, random) if readable else b""
            now_ms = int((time.monotonic() - begun) * 1000)
            for kind, value in end.receive(data, now_ms):
                if kind == "payload":
                    assert isinstance(value, bytes)
                    host.take(value)
                    last_ms = time.monotonic()
                elif kind == "connected":
                    end.send((host.last + 1).to_bytes(NUMBER_BYTES, "big"))
            figures.most_waiting = max(figures.most_waiting, end.unacknowledged)
            written = struck(end.output(now_ms), rate, random)
            while written:
                written = written[os.write(port, written) :]
            if time.monotonic() - last_ms > PATIENCE_S:
                raise SoakFailed(f"nothing has moved for {PATIENCE_S:.0f} s behind record {host.last}")
    figures.seconds = time.monotonic() - begun
    figures.connections = end.stats["connects"]
    figures.resent = end.stats["duplicates"] + end.stats["gaps"]
    figures.damaged = sum(n for cause, n in end._reader.counts.items() if cause != "frames")
    return figures


LEAST_SHARE = 0.001
"""Of the whole soak: two records of its smallest part."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all parts and print their figures; 1 where a record was lost, doubled or out of order."""
    parser = argparse.ArgumentParser(prog="make soak-link", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="only so much of it")
    parser.add_argument("--seed", type=int, default=802)
    args = parser.parse_args(arguments)
    if not LEAST_SHARE <= args.share <= 100:
        parser.error(f"--share must be from {LEAST_SHARE} to 100: with less a part has no record to lose")
    try:
        all_figures = list(told(parts(args.share, args.seed)))
    except SoakFailed as error:
        print(f"soak-link: {error}", file=sys.stderr)
        return 1
    if args.share == 1:
        write_section("soak-link", section(all_figures))
        print("written to docs/benchmarks.md")
    return 0


def parts(share: float, seed: int) -> Generator[Figures]:
    """Yield the figures of each part when it is over. Raises SoakFailed."""
    yield in_memory(round(1_000_000 * share), seed)
    yield over_a_pty(round(50_000 * share), 1e-4, seed)
    yield over_a_pty(round(2_000 * share), 1e-3, seed)


def told(all_figures: Iterable[Figures]) -> Generator[Figures]:
    """Yield them as they come, each printed."""
    for figures in all_figures:
        print(figures.line(), flush=True)
        yield figures


def section(all_figures: Sequence[Figures]) -> str:
    """Return the section of docs/benchmarks.md: what each part sent, and what it met."""
    rows = [
        f"| {part.name} | {part.records:,} | {part.seconds:.0f} | {part.resent:,} | {part.damaged:,} | "
        f"{part.connections:,} | {part.restarts:,} | {part.most_waiting} |"
        for part in all_figures
    ]
    written = (
        f"Written by `make soak-link` on {os.cpu_count()} cores of {platform.machine()}, Python "
        f"{platform.python_version()}. Every record arrived once and in order; anything else ends the "
        "target with an error. In memory the wire drops, repeats, delays, damages and truncates frames, "
        "stalls, is cut, and either end is started again. Over the pty each byte of either direction is "
        "dropped or has a bit flipped, each as often as the row says; *sent again* are there those that "
        "came twice or out of turn."
    )
    head = (
        "| link | records | seconds | sent again | damaged frames | connections | restarts | most waiting |"
    )
    ruler = "| --- | --: | --: | --: | --: | --: | --: | --: |"
    return "\n".join(["# Links that do their worst", "", written, "", head, ruler, *rows])


if __name__ == "__main__":
    sys.exit(main())
