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
from device.tests.station.tiny_host import TinyHost
from recount_device.errors import OperatorError
from recount_device.host_link import HostLink, parse_host
from recount_device.host_session import Introduction
from recount_device.identity import open_identity
from recount_device.journal import Entry

FAULT = Entry("fault", "", 0, {"word": "test", "detail": ""})
PATIENCE_S = 20.0


class Stream:
    """The host's end of a wire: one descriptor."""

    def __init__(self) -> None:
        self.address = ""
        self.descriptor = -1

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

    def __init__(self, folder: Path, address: str) -> None:
        identity = open_identity(folder)
        self.journal = QuickJournal(folder, identity)
        introduction = Introduction(identity.device, "table-1", identity.public_key, "software", "firmware")
        self.link = HostLink(self.journal.path, introduction, address)

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
        now_ms = time.monotonic_ns() // 1_000_000
        out = host.delivery.output(now_ms)
        while out:
            out = out[os.write(stream.descriptor, out) :]
        ready, _, _ = select.select([stream.descriptor], [], [], 0.01)
        data = os.read(stream.descriptor, 65536) if ready else b""
        host.receive(data, time.monotonic_ns() // 1_000_000)


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
