"""A serial port that vanishes: every way pyserial tells it becomes LinkLost, and the port is closed."""

import os
import pty
import termios
import tty
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import serial

from recount_device.errors import LinkLost
from recount_device.serial_port import SerialPort, find_port


class Cable:
    """A pty: the port's end has a name, the far end is a descriptor."""

    def __init__(self) -> None:
        self.far, near = pty.openpty()
        tty.setraw(near)
        self.name = os.ttyname(near)
        os.close(near)

    def unplug(self) -> None:
        if self.far >= 0:
            os.close(self.far)
            self.far = -1


@pytest.fixture
def cable() -> Iterator[Cable]:
    cable = Cable()
    yield cable
    cable.unplug()


@pytest.fixture
def port(cable: Cable) -> Iterator[SerialPort]:
    port = SerialPort()
    port.open(cable.name, 460_800)
    yield port
    port.close()


def test_bytes_go_both_ways(cable: Cable, port: SerialPort) -> None:
    port.write(b"hello")
    assert os.read(cable.far, 10) == b"hello"
    os.write(cable.far, b"answer")
    assert port.read(6) == b"answer"
    assert port.written_bytes == 5


def write_something(port: SerialPort) -> None:
    port.write(b"x")


@pytest.mark.parametrize(
    "use",
    [SerialPort.in_waiting, SerialPort.read_available, write_something],
    ids=["in_waiting", "read", "write"],
)
def test_an_unplugged_port_is_lost_and_closed(
    cable: Cable, port: SerialPort, use: Callable[[SerialPort], object]
) -> None:
    cable.unplug()
    with pytest.raises(LinkLost, match="is gone"):
        use(port)
    assert not port.is_open
    assert port.fileno() == -1


@pytest.mark.parametrize(
    "error",
    [
        serial.SerialException("device reports readiness to read but returned no data"),
        serial.SerialTimeoutException("write timeout"),
        OSError(5, "Input/output error"),
        termios.error(5, "Input/output error"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_all_four_kinds_of_errors_are_the_same_loss(port: SerialPort, error: Exception) -> None:
    def fail(_data: bytes) -> int:
        raise error

    real = port._serial
    port._serial = SimpleNamespace(write=fail, port="/dev/ttyACM0", close=lambda: None)  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(LinkLost):
        port.write(b"x")
    assert real is not None
    real.close()


def test_a_port_that_hung_up_is_lost_when_it_reads_as_ready(cable: Cable, port: SerialPort) -> None:
    cable.unplug()
    with pytest.raises(LinkLost):
        port.read_available()


def test_a_closed_port_holds_nothing_and_may_be_opened_again(cable: Cable, port: SerialPort) -> None:
    port.close()
    assert (port.in_waiting(), port.read(5)) == (0, b"")
    port.open(cable.name, 460_800)
    assert port.is_open


def test_a_port_that_does_not_exist_is_lost(tmp_path: Path) -> None:
    with pytest.raises(LinkLost, match="No such file"):
        SerialPort().open(str(tmp_path / "ttyACM7"), 460_800)


def test_an_adapter_is_found_by_its_serial_number_under_any_name(monkeypatch: pytest.MonkeyPatch) -> None:
    plugged = [SimpleNamespace(serial_number="A", device="/dev/ttyACM0")]
    monkeypatch.setattr("recount_device.serial_port.list_ports.comports", lambda: plugged)
    with pytest.raises(LinkLost, match="serial number B"):
        find_port("usb:B")
    plugged.append(SimpleNamespace(serial_number="B", device="/dev/ttyACM1"))
    assert find_port("usb:B") == "/dev/ttyACM1"
    assert find_port("/dev/ttyAMA0") == "/dev/ttyAMA0"
