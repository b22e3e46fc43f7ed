"""The link to the board over a real pty, with the protocol's other end in the test."""

import os
import pty
import select
import struct
import tty
from collections.abc import Iterator

import pytest

from recount_device.clock import Waitable
from recount_device.errors import LinkLost
from recount_device.feeder_link import Connected, FeederEvent, FeederLink, Gone, Identified, Said
from recount_protocol import feeder_messages
from recount_protocol.delivery import PAYLOAD, Delivery

BOARD_BOOT = 4711


class Clock:
    """A number."""

    def __init__(self) -> None:
        self.us = 0

    def now_us(self) -> int:
        return self.us

    def wait(self, port: Waitable, until_us: int) -> int:
        self.us = max(self.us, until_us)
        return port.in_waiting()


class Board:
    """The board's end of the cable."""

    def __init__(self, boot: int = BOARD_BOOT, table_hash: int = feeder_messages.TABLE_HASH) -> None:
        self.far, near = pty.openpty()
        tty.setraw(near)
        os.set_blocking(self.far, False)
        self.name = os.ttyname(near)
        os.close(near)
        self.delivery = Delivery(
            feeder_messages.VERSION, table_hash, boot, feeder_messages.MAX_PAYLOAD_BYTES, resend_ms=30
        )
        self.firmware = b""
        """What it tells of itself, 32 bytes; without them it tells nothing."""
        self.heard: list[str] = []

    def exchange(self, now_ms: int) -> int:
        try:
            data = os.read(self.far, 4096)
        except (BlockingIOError, OSError):
            data = b""
        for kind, payload in self.delivery.receive(data, now_ms):
            if kind == PAYLOAD and isinstance(payload, bytes):
                name = feeder_messages.decode(payload)[0]
                if name != "identify":
                    self.heard.append(name)
                elif self.firmware:
                    numbers = struct.unpack("<8I", self.firmware)
                    self.delivery.send(feeder_messages.encode("firmware", sha256=numbers))
        return os.write(self.far, self.delivery.output(now_ms))

    def unplug(self) -> None:
        if self.far >= 0:
            os.close(self.far)
            self.far = -1


def arrived(descriptor: int) -> None:
    """Wait until the kernel has carried what was written to the pty's other end: load delays it."""
    select.select([descriptor], [], [], 1.0)


class Bench:
    """Station's end and board's end, on one clock."""

    def __init__(self, board: Board) -> None:
        self.board: Board | None = board
        self.boards = [board]
        self.clock = Clock()
        self.link = FeederLink(self.clock, self.find)
        self.events: list[FeederEvent] = []

    def find(self) -> str:
        if self.board is None:
            raise LinkLost("no adapter is plugged in")
        return self.board.name

    def run(self, ms: int) -> list[FeederEvent]:
        """Let so much time pass; return what the station heard in it."""
        self.events = []
        end_us = self.clock.us + ms * 1000
        while self.clock.us < end_us:
            readable = self.clock.wait(self.link.waitable, self.clock.us + 5000)
            self.events += self.link.poll(readable)
            before = self.link.written_bytes
            self.link.flush()
            if self.board is not None:
                if self.link.written_bytes > before:
                    arrived(self.board.far)
                if self.board.exchange(self.clock.us // 1000) and self.link.fileno() >= 0:
                    arrived(self.link.fileno())
        return self.events

    def plug(self, board: Board) -> None:
        self.board = board
        self.boards.append(board)


@pytest.fixture
def bench() -> Iterator[Bench]:
    bench = Bench(Board())
    yield bench
    bench.link.close()
    for board in bench.boards:
        board.unplug()


def test_the_board_is_connected_with_its_boot_id(bench: Bench) -> None:
    assert bench.run(200) == [Connected(BOARD_BOOT)]


def test_messages_go_both_ways(bench: Bench) -> None:
    bench.run(200)
    bench.link.send("feed", sheet=7)
    assert bench.board is not None
    bench.board.delivery.send(feeder_messages.encode("landed", sheet=7, exit=0, counts=(7, 7, 0, 0, 0)))
    assert bench.run(100) == [Said("landed", {"sheet": 7, "exit": 0}, (7, 7, 0, 0, 0))]
    assert bench.board.heard == ["feed"]


def test_a_silent_board_is_told_within_half_a_second(bench: Bench) -> None:
    bench.run(200)
    silent, bench.board = bench.board, None
    assert bench.run(600) == [Gone("Nothing is heard from it.")]
    bench.board = silent
    assert bench.run(300) == [Connected(BOARD_BOOT)]


def test_an_unplugged_cable_is_found_again_under_another_name(bench: Bench) -> None:
    bench.run(200)
    old, bench.board = bench.board, None
    assert old is not None
    old.unplug()
    events = bench.run(300)
    assert isinstance(events[0], Gone)
    assert "is gone" in events[0].why
    bench.plug(Board())
    assert Connected(BOARD_BOOT) in bench.run(1200)


def test_a_board_that_started_anew_is_told_by_its_boot_id(bench: Bench) -> None:
    bench.run(200)
    assert bench.board is not None
    bench.board.delivery = Board(boot=4712).delivery
    assert bench.run(300) == [Gone("It has started anew."), Connected(4712)]


def test_what_is_sent_without_a_board_is_dropped(bench: Bench) -> None:
    bench.link.send("feed", sheet=1)
    bench.run(200)
    assert bench.board is not None
    assert bench.board.heard == []


def test_a_board_with_another_message_table_is_refused_in_words() -> None:
    bench = Bench(Board(table_hash=1))
    (event,) = bench.run(300)
    assert isinstance(event, Gone)
    assert "install the same release at both ends" in event.why
    bench.link.close()
    assert bench.board is not None
    bench.board.unplug()


@pytest.mark.parametrize("payload", [b"\xfe\x00", b"", feeder_messages.encode("feed", sheet=1)])
def test_a_message_that_no_board_says_ends_the_connection(bench: Bench, payload: bytes) -> None:
    bench.run(200)
    assert bench.board is not None
    bench.board.delivery.send(payload)
    events = bench.run(100)
    assert "install its firmware again" in " ".join(event.why for event in events if isinstance(event, Gone))
    assert bench.link.damaged_messages == 1


def test_the_board_is_asked_for_its_firmware_and_its_words_are_kept(bench: Bench) -> None:
    board = bench.boards[0]
    board.firmware = bytes(range(32))
    wait = bench.clock.wait

    def wait_and_answer(port: Waitable, until_us: int) -> int:
        wait(port, min(until_us, bench.clock.us + 5000))
        if board.exchange(bench.clock.us // 1000):
            arrived(bench.link.fileno())
        return port.in_waiting()

    bench.clock.wait = wait_and_answer
    bench.link.await_firmware()
    assert bench.link.firmware_hash == bytes(range(32)).hex()
    assert bench.link.poll(0) == [Connected(BOARD_BOOT), Identified(bytes(range(32)).hex())]


def test_a_device_without_a_board_starts_all_the_same(bench: Bench) -> None:
    bench.board = None
    bench.link.await_firmware()
    assert bench.link.firmware_hash == ""
    assert 2_000_000 <= bench.clock.us < 3_000_000
    assert any(isinstance(event, Gone) for event in bench.link.poll(0))
