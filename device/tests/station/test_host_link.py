"""The link's thread over real TCP and a real pty, and what it does when the host goes."""

import os
import pty
import select
import socket
import time
import tty
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from device.tests.station.bench import QuickJournal
from device.tests.station.test_host_session import judged
from device.tests.station.tiny_host import FALSE_SEED, FALSE_WORDS, HOST_WORDS, TinyHost
from recount_device.errors import OperatorError
from recount_device.host_link import MAX_LINK_FAULTS, HostLink, parse_host
from recount_device.host_pin import HostPin
from recount_device.host_session import Introduction, Received
from recount_device.identity import open_identity
from recount_device.journal import Entry

FAULT = Entry("fault", "", 0, {"word": "test", "detail": ""})
PATIENCE_S = 20.0


class Stream:
    """The host's end of a wire: one descriptor."""

    def __init__(self) -> None:
        self.address = ""
        self.descriptor = -1
        self.over = False
        """Whether the device has hung up."""

    def accept(self) -> None:
        """Wait for the device."""

    def hang_up(self) -> None:
        """Let the device go."""


class TcpStream(Stream):
    def __init__(self) -> None:
        super().__init__()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"
        self._connection: socket.socket | None = None

    def accept(self) -> None:
        self.hang_up()
        self.over = False
        self._listener.settimeout(PATIENCE_S)
        self._connection, _ = self._listener.accept()
        self.descriptor = self._connection.fileno()

    def hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self.descriptor = -1

    def close(self) -> None:
        self.hang_up()
        self._listener.close()


class PtyStream(Stream):
    def __init__(self) -> None:
        super().__init__()
        self.descriptor, near = pty.openpty()
        tty.setraw(near)
        self.address = f"serial:{os.ttyname(near)}"
        self._near = near  # kept open, as a plugged-in adapter keeps its name

    def close(self) -> None:
        os.close(self.descriptor)
        os.close(self._near)


class Device:
    """A journal and its link."""

    def __init__(self, folder: Path, address: str, *, pinned: bool = True) -> None:
        identity = open_identity(folder)
        self.journal = QuickJournal(folder, identity)
        self.pin = HostPin(folder)
        if pinned:
            self.pin.pin(HOST_WORDS)
        introduction = Introduction("table-1", "software", "firmware")
        self.link = HostLink(self.journal.path, identity, introduction, self.pin, address)

    def write(self, *entries: Entry) -> None:
        self.journal.write(*entries)
        self.link.notify()

    def close(self) -> None:
        self.link.close()
        self.journal.close()


def serve(host: TinyHost, stream: Stream, until: Callable[[], bool]) -> None:
    """Let the host talk until something is so."""
    end_s = time.monotonic() + PATIENCE_S
    while not until():
        assert time.monotonic() < end_s, "nothing comes"
        if stream.over:
            select.select([], [], [], 0.01)
            continue
        now_ms = time.monotonic_ns() // 1_000_000
        try:
            out = host.delivery.output(now_ms)
            while out:
                out = out[os.write(stream.descriptor, out) :]
            ready, _, _ = select.select([stream.descriptor], [], [], 0.01)
            data = os.read(stream.descriptor, 65536) if ready else b""
        except OSError:
            stream.over = True
            continue
        stream.over = bool(ready) and not data
        host.receive(data, time.monotonic_ns() // 1_000_000)


def serve_until_it_hangs_up(host: TinyHost, stream: Stream) -> None:
    """Let the host talk until the device has ended the connection."""
    serve(host, stream, lambda: stream.over)


@pytest.fixture(params=[TcpStream, PtyStream], ids=["tcp", "serial"])
def stream(request: pytest.FixtureRequest) -> Iterator[Stream]:
    stream = request.param()
    yield stream
    stream.close()


@pytest.fixture
def device(tmp_path: Path, stream: Stream) -> Iterator[Device]:
    device = Device(tmp_path, stream.address)
    device.link.start()
    yield device
    device.close()


def test_records_and_crops_arrive(device: Device, stream: Stream) -> None:
    host = TinyHost()
    device.write(*[FAULT] * 20, judged(1, b"picture" * 1000))
    stream.accept()
    serve(host, stream, lambda: len(host.records) == 21 and len(host.crops) == 1)
    assert device.link.present
    device.write(FAULT)
    serve(host, stream, lambda: len(host.records) == 22)


def test_orders_programs_and_states_cross(device: Device, stream: Stream) -> None:
    host = TinyHost({b"p" * 32: bytes(5000)})
    device.link.show_state("feeding", "Feeding.")
    device.link.want_program(b"p" * 32)
    stream.accept()
    serve(host, stream, lambda: bool(host.states))
    host.send("close_run", run="r1")
    kinds: list[str] = []

    def both_came() -> bool:
        kinds.extend(order.kind for order in device.link.orders())
        return sorted(kinds) == ["close_run", "program_arrived"]

    serve(host, stream, both_came)


def test_a_host_that_hangs_up_is_found_again_and_goes_on_where_it_stood(tmp_path: Path) -> None:
    stream = TcpStream()
    device = Device(tmp_path, stream.address)
    device.write(*[FAULT] * 300)
    device.link.start()
    host = TinyHost()
    stream.accept()
    serve(host, stream, lambda: len(host.records) > 40)
    stream.hang_up()
    host.restart()
    stream.accept()
    serve(host, stream, lambda: len(host.records) == 300)
    device.close()
    stream.close()


def test_a_host_that_refuses_is_shown_to_the_operator(tmp_path: Path) -> None:
    stream = TcpStream()
    device = Device(tmp_path, stream.address)
    device.link.start()
    host = TinyHost()
    host.refuses = "this device is not enrolled"
    stream.accept()
    serve(host, stream, lambda: device.link.refusal != "")
    assert device.link.refusal == "this device is not enrolled"
    assert not device.link.present
    device.close()
    stream.close()


def test_a_host_is_pinned_by_a_person_who_compares_its_words_and_obeyed_from_then_on(tmp_path: Path) -> None:
    stream = TcpStream()
    device = Device(tmp_path, stream.address, pinned=False)
    device.link.start()
    stream.accept()
    serve_until_it_hangs_up(TinyHost(), stream)
    assert device.link.offered == HOST_WORDS
    device.link.pin_offered()
    assert device.pin.words == HOST_WORDS
    host = TinyHost()
    stream.accept()
    serve(host, stream, lambda: device.link.present)
    assert device.link.offered == ""
    device.close()
    stream.close()


def test_the_words_shown_do_not_change_while_a_person_compares_them(tmp_path: Path) -> None:
    device = Device(tmp_path, "tcp://127.0.0.1:1", pinned=False)
    device.link.offer(HOST_WORDS)
    device.link.offer(FALSE_WORDS)
    device.link.offer(FALSE_WORDS)
    assert device.link.offered == HOST_WORDS
    assert [order.fields["word"] for order in device.link.orders()] == ["two_hosts"]
    device.journal.close()


def test_an_attacker_who_comes_again_and_again_fills_no_journal(tmp_path: Path) -> None:
    device = Device(tmp_path, "tcp://127.0.0.1:1")
    for n in range(100):
        fault = {"word": "another_host", "detail": f"key {n % 50}"}
        device.link.put(Received("link_fault", fault))
    assert len(device.link.orders()) == MAX_LINK_FAULTS
    device.journal.close()


def test_a_host_with_another_key_than_the_pinned_one_is_shown_to_the_operator(tmp_path: Path) -> None:
    stream = TcpStream()
    device = Device(tmp_path, stream.address)
    device.write(FAULT)
    device.link.start()
    host = TinyHost(seed=FALSE_SEED)
    stream.accept()
    serve_until_it_hangs_up(host, stream)
    assert FALSE_WORDS in device.link.refusal
    assert host.heard == []
    device.close()
    stream.close()


def test_the_link_ends_at_once_while_no_host_is_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        address = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
    device = Device(tmp_path, address)
    device.link.start()
    began_s = time.monotonic()
    device.close()
    assert time.monotonic() - began_s < 5


@pytest.mark.parametrize("text", ["tcp://", "tcp://host", "tcp://host:port", "tcp://host:99999"])
def test_a_host_without_an_address_is_one_sentence(text: str) -> None:
    with pytest.raises(OperatorError, match="host must be"):
        parse_host(text)
