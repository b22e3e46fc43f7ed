"""Delivery when an adversary owns the wire: every frame ever written may arrive at any time, often, changed.

The model knows what each end sent in each of its connections. Whatever the adversary does: what an end takes
in one connection is the beginning of what the other sent in one connection, and no connection of the other's
is ever taken from twice. When the adversary gives up, all that waits arrives.
"""

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from protocol.tests.faulty_link import an_end
from recount_protocol.delivery import Delivery

QUEUE = 12
WINDOW = 3
LABEL_BYTES = 12


@dataclass
class End:
    """One end, and what the model knows of it."""

    delivery: Delivery
    boot_id: int
    connections: int = 0
    sent: int = 0
    written: list[bytes] = field(default_factory=list[bytes])
    taken_from: tuple[int, int] | None = None
    taken: int = 0
    finished: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])

    def label(self) -> bytes:
        """Return a payload that says by whom, in which connection and as which it was sent."""
        words = (self.boot_id, self.connections, self.sent)
        return b"".join(word.to_bytes(4, "big") for word in words)


class AdversaryOnTheWire(RuleBasedStateMachine):
    """Left and right, with the adversary between them."""

    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 0
        self.boots = 2
        self.ends = [End(self._boot(1), 1), End(self._boot(2), 2)]

    @staticmethod
    def _boot(boot_id: int) -> Delivery:
        return an_end(
            boot_id, window=WINDOW, queue_payloads=QUEUE, resend_ms=20, dead_ms=300, keepalive_ms=90
        )

    def _write(self, side: int) -> None:
        end = self.ends[side]
        end.written += [frame + b"\0" for frame in end.delivery.output(self.now_ms).split(b"\0") if frame]

    def _take(self, side: int, data: bytes) -> None:
        end = self.ends[side]
        for kind, value in end.delivery.receive(data, self.now_ms):
            if kind == "connected":
                end.connections += 1
                end.sent = 0
                end.taken = 0
                end.taken_from = None
            elif kind == "lost":
                if end.taken_from is not None:
                    end.finished.add(end.taken_from)
                end.taken_from = None
            else:
                assert isinstance(value, bytes)
                self._check(end, value)

    @staticmethod
    def _check(end: End, payload: bytes) -> None:
        assert len(payload) == LABEL_BYTES
        boot_id, connection, number = (int.from_bytes(payload[at : at + 4], "big") for at in (0, 4, 8))
        assert number == end.taken, "out of order, doubled or lost"
        end.taken += 1
        if number == 0:
            end.taken_from = (boot_id, connection)
            assert end.taken_from not in end.finished, "an earlier connection was taken for a new one"
        assert end.taken_from == (boot_id, connection), "two connections were mixed"

    @rule(side=st.integers(0, 1), count=st.integers(1, 5))
    def send(self, side: int, count: int) -> None:
        end = self.ends[side]
        for _payload in range(count):
            if end.delivery.can_send:
                end.delivery.send(end.label())
                end.sent += 1

    @rule(milliseconds=st.sampled_from([0, 1, 25, 100, 310]))
    def pass_time(self, milliseconds: int) -> None:
        self.now_ms += milliseconds
        for side in (0, 1):
            self._take(side, b"")
            self._write(side)

    @rule(side=st.integers(0, 1), which=st.integers(0, 10_000), recent=st.booleans())
    def deliver_any_frame(self, side: int, which: int, *, recent: bool) -> None:
        written = self.ends[1 - side].written
        if written:
            position = len(written) - 1 - which % min(len(written), 6) if recent else which % len(written)
            self._take(side, written[position])
            self._write(side)

    @rule(
        side=st.integers(0, 1), which=st.integers(0, 10_000), flip=st.integers(1, 255), at=st.integers(0, 300)
    )
    def deliver_a_changed_frame(self, side: int, which: int, flip: int, at: int) -> None:
        written = self.ends[1 - side].written
        if written:
            frame = bytearray(written[which % len(written)])
            frame[at % len(frame)] ^= flip
            self._take(side, bytes(frame))

    @rule(side=st.integers(0, 1))
    def echo(self, side: int) -> None:
        for frame in self.ends[side].written[-3:]:
            self._take(side, frame)

    @rule(turns=st.integers(1, 6))
    def behave_for_a_while(self, turns: int) -> None:
        for _turn in range(turns):
            self.now_ms += 5
            for side in (0, 1):
                before = len(self.ends[1 - side].written)
                self._write(1 - side)
                self._take(side, b"".join(self.ends[1 - side].written[before:]))

    @rule(side=st.integers(0, 1))
    def restart(self, side: int) -> None:
        self.boots += 1
        old = self.ends[side]
        self.ends[side] = End(self._boot(self.boots), self.boots, written=old.written)

    @rule(side=st.integers(0, 1))
    def reset(self, side: int) -> None:
        self.ends[side].delivery.reset()
        self._take(side, b"")

    @invariant()
    def memory_is_bounded(self) -> None:
        for end in self.ends:
            assert end.delivery.unacknowledged <= QUEUE
            assert len(end.delivery._tags) <= 8
            assert len(end.delivery._reader._kept) <= 260

    def teardown(self) -> None:
        """The adversary gives up: both ends connect, and all that waits arrives."""
        for _turn in range(400):
            self.behave_for_a_while(1)
        left, right = self.ends
        assert left.delivery.connected
        assert right.delivery.connected
        assert left.delivery.unacknowledged == right.delivery.unacknowledged == 0
        assert (left.taken, right.taken) == (right.sent, left.sent)


AdversaryOnTheWire.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestDeliveryAgainstAnAdversary = AdversaryOnTheWire.TestCase
