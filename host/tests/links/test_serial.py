"""A real serial port (a pty) with a device at its other end, and a cable that is pulled."""

import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest
from serial.tools import list_ports

from host.tests.links.cable import Cable
from recount_host.errors import OperatorError
from recount_host.host_key import open_host_key
from recount_host.ledger import Ledger
from recount_host.links.collector import Collector
from recount_host.links.live import LiveBoard
from recount_host.links.serial_link import NotPluggedIn, SerialLink, find_port
from recount_host.links.session import DeviceSession

from .table import a_device, enrolled


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "ledger.sqlite") as opened:
        yield opened


@pytest.fixture
def cable(tmp_path: Path) -> Iterator[Cable]:
    cable = Cable(tmp_path / "ttyDEVICE")
    yield cable
    with suppress(OSError):
        cable.pull()


@pytest.fixture
def board() -> LiveBoard:
    return LiveBoard()


@pytest.fixture
def link(ledger: Ledger, cable: Cable, board: LiveBoard, tmp_path: Path) -> Iterator[SerialLink]:
    collector = Collector(ledger, lambda _: (), lambda: None)
    identity, boots = open_host_key(tmp_path), count(1)
    link = SerialLink(str(cable.port), collector, board, lambda: DeviceSession(next(boots), identity))
    collector.start()
    link.start()
    yield link
    link.stop()
    collector.stop()


@pytest.mark.usefixtures("link")
def test_a_device_delivers_its_records_and_crops_over_a_serial_port(ledger: Ledger, cable: Cable) -> None:
    device = enrolled(ledger, a_device())
    device.write_set_aside(1, bytes(range(256)) * 300, run="run-1", batch=1)
    for number in range(50):
        device.write_fault(f"fault-{number}")
    assert cable.serve(device.connect(), lambda: device.crops_taken == [1] and device.acknowledged_n == 51)
    assert [record.n for record in ledger.records()] == list(range(1, 52))


@pytest.mark.usefixtures("link")
def test_a_device_that_restarts_on_the_same_cable_goes_on(ledger: Ledger, cable: Cable) -> None:
    device = enrolled(ledger, a_device())
    for number in range(40):
        device.write_fault(f"fault-{number}")
    assert cable.serve(device.connect(), lambda: device.acknowledged_n >= 10)
    assert cable.serve(device.connect(), lambda: device.acknowledged_n == 40)
    assert [record.n for record in ledger.records()] == list(range(1, 41))


@pytest.mark.usefixtures("link")
def test_a_pulled_cable_is_shown_and_the_port_is_opened_again(
    ledger: Ledger, cable: Cable, board: LiveBoard
) -> None:
    device = enrolled(ledger, a_device())
    device.write_fault("before")
    assert cable.serve(device.connect(), lambda: device.acknowledged_n == 1)
    cable.pull()
    turn = threading.Event()
    while not any("is gone" in entry.problem for entry in board.devices()):
        assert not turn.wait(0.01)
    cable.plug_in()
    device.write_fault("after")
    assert cable.serve(device.connect(), lambda: device.acknowledged_n == 2)
    assert [record.body["word"] for record in ledger.records()] == ["before", "after"]


class _Adapter:
    """An adapter as pyserial lists it."""

    def __init__(self, device: str, serial_number: str | None) -> None:
        self.device, self.serial_number = device, serial_number


def test_a_port_is_found_by_the_serial_number_of_its_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    adapters = [
        _Adapter("/dev/ttyS0", None),
        _Adapter("/dev/ttyUSB3", "FT9"),
        _Adapter("/dev/ttyUSB7", "FT1"),
    ]
    monkeypatch.setattr(list_ports, "comports", lambda: adapters)
    assert find_port("usb:FT1") == "/dev/ttyUSB7"
    assert find_port("/dev/ttyS0") == "/dev/ttyS0"
    with pytest.raises(NotPluggedIn, match="FT5 is plugged in; plugged in are: FT1, FT9"):
        find_port("usb:FT5")


def test_an_adapter_that_comes_back_under_another_name_is_found_again(
    ledger: Ledger, tmp_path: Path, board: LiveBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugged: list[_Adapter] = []
    monkeypatch.setattr(list_ports, "comports", lambda: plugged)
    collector = Collector(ledger, lambda _: (), lambda: None)
    key, boots = open_host_key(tmp_path), count(1)
    link = SerialLink("usb:FT1", collector, board, lambda: DeviceSession(next(boots), key))
    collector.start()
    link.start()
    turn = threading.Event()
    while not any("FT1 is plugged in" in entry.problem for entry in board.devices()):
        assert not turn.wait(0.01)
    device = enrolled(ledger, a_device())
    for name in ("ttyUSB0", "ttyUSB4"):
        device.write_fault(name)
        cable = Cable(tmp_path / name)
        plugged[:] = [_Adapter(str(cable.port), "FT1")]
        wanted = len(device.journal)
        assert cable.serve(device.connect(), lambda wanted=wanted: device.acknowledged_n == wanted)
        plugged.clear()
        cable.pull()
    link.stop()
    collector.stop()
    assert [record.body["word"] for record in ledger.records()] == ["ttyUSB0", "ttyUSB4"]


def test_a_port_that_is_not_there_gives_one_sentence(ledger: Ledger, board: LiveBoard) -> None:
    collector = Collector(ledger, lambda _: (), lambda: None)
    link = SerialLink("/dev/ttyNOTHING", collector, board, pytest.fail)
    with pytest.raises(OperatorError, match="/dev/ttyNOTHING cannot be opened"):
        link.start()
