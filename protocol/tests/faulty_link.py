"""Two ends of a link joined by a wire that loses, repeats, reorders, damages and cuts, on a virtual clock."""

import heapq
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from recount_protocol.delivery import Delivery

if TYPE_CHECKING:
    from recount_protocol.delivery import Event

NUMBER_BYTES = 8


@dataclass(frozen=True)
class Faults:
    """How often, in a thousand frames, each fault strikes."""

    lost: int = 0
    repeated: int = 0
    late: int = 0
    damaged: int = 0
    truncated: int = 0


@dataclass
class Wire:
    """One direction: what is written comes out later, maybe changed."""

    faults: Faults
    random: Random
    delay_ms: int = 3
    _flying: list[tuple[int, int, bytes]] = field(default_factory=list[tuple[int, int, bytes]])
    _tickets: int = 0

    def write(self, data: bytes, now_ms: int) -> None:
        """Send `data`, frame by frame through the faults."""
        for frame in data.split(b"\0"):
            if frame:
                for piece in self._struck(frame + b"\0"):
                    late = self._strikes(self.faults.late)
                    self._fly(piece, now_ms + self.delay_ms + (self.random.randrange(200) if late else 0))

    def read(self, now_ms: int) -> bytes:
        """Return what has arrived by now."""
        arrived: list[bytes] = []
        while self._flying and self._flying[0][0] <= now_ms:
            arrived.append(heapq.heappop(self._flying)[2])
        return b"".join(arrived)

    @property
    def next_ms(self) -> int | None:
        """When the next bytes arrive."""
        return self._flying[0][0] if self._flying else None

    def cut(self) -> None:
        """Lose all that is under way."""
        self._flying.clear()

    def _fly(self, piece: bytes, arrival_ms: int) -> None:
        self._tickets += 1
        heapq.heappush(self._flying, (arrival_ms, self._tickets, piece))

    def _struck(self, frame: bytes) -> list[bytes]:
        if self._strikes(self.faults.lost):
            return []
        if self._strikes(self.faults.damaged):
            position = self.random.randrange(len(frame))
            changed = frame[position] ^ (1 << self.random.randrange(8))
            frame = frame[:position] + bytes([changed]) + frame[position + 1 :]
        if self._strikes(self.faults.truncated):
            frame = frame[: self.random.randrange(len(frame))]
        return [frame, frame] if self._strikes(self.faults.repeated) else [frame]

    def _strikes(self, in_a_thousand: int) -> bool:
        return self.random.randrange(1000) < in_a_thousand


@dataclass
class Pair:
    """Two ends, `left` and `right`, and what each of them was told."""

    left: Delivery
    right: Delivery
    there: Wire
    back: Wire
    now_ms: int = 0
    left_events: "list[Event]" = field(default_factory=list)
    right_events: "list[Event]" = field(default_factory=list)

    def step(self, end_ms: int | None = None) -> None:
        """Let time run to the next thing that happens, at most to `end_ms`, and let it happen."""
        due = [self.left.next_deadline_ms(self.now_ms), self.right.next_deadline_ms(self.now_ms)]
        due += [moment for wire in (self.there, self.back) if (moment := wire.next_ms) is not None]
        if end_ms is not None:
            due.append(end_ms)
        self.now_ms = max(self.now_ms, min(due))
        self.left_events += self.left.receive(self.back.read(self.now_ms), self.now_ms)
        self.right_events += self.right.receive(self.there.read(self.now_ms), self.now_ms)
        self.there.write(self.left.output(self.now_ms), self.now_ms)
        self.back.write(self.right.output(self.now_ms), self.now_ms)

    def run(self, duration_ms: int) -> None:
        """Run for so long."""
        end_ms = self.now_ms + duration_ms
        while self.now_ms < end_ms:
            self.step(end_ms)

    def connect(self) -> None:
        """Run until both ends are connected."""
        for _step in range(10_000):
            if self.left.connected and self.right.connected:
                return
            self.step()
        raise AssertionError("the ends did not connect")


def an_end(boot_id: int, **changed: int) -> Delivery:
    """Return one end with the feeder link's settings."""
    settings = {"version": 1, "table_hash": 0xABCD, "boot_id": boot_id, "max_payload_bytes": 240, **changed}
    return Delivery(**settings)


def a_pair(faults: Faults | None = None, seed: int = 1, **changed: int) -> Pair:
    """Return two ends with a wire of `faults` between them."""
    random = Random(seed)
    struck = faults or Faults()
    return Pair(an_end(1, **changed), an_end(2, **changed), Wire(struck, random), Wire(struck, random))


def numbered(number: int, length: int = NUMBER_BYTES) -> bytes:
    """Return a payload that tells its number."""
    return number.to_bytes(NUMBER_BYTES, "big") + b"\0" * (length - NUMBER_BYTES)


def numbers(events: "list[Event]") -> list[int]:
    """Return the numbers of the payloads among `events`."""
    return [int.from_bytes(event[1][:NUMBER_BYTES], "big") for event in events if event[0] == "payload"]
