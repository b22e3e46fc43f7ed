"""A serial port that may vanish: every error pyserial can raise becomes LinkLost, here and nowhere else.

An unplugged adapter shows itself in four ways: SerialException from read and write, a plain OSError from
in_waiting, termios.error (no OSError at all) from flush and from settings, SerialTimeoutException from a
write nobody takes. A port is named by its path or, as `usb:NUMBER`, by the serial number of its USB adapter:
after unplugging, the adapter may come back under another path. On any error the port is closed at once, so
that the name becomes free.
"""

import contextlib
import os
import termios
from collections.abc import Generator

import serial
from serial.tools import list_ports

from recount_device.errors import LinkLost

FEEDER_BAUD = 460_800
HOST_BAUD = 1_000_000
WRITE_TIMEOUT_S = 1.0
READ_TIMEOUT_S = 1.0
USB = "usb:"

SERIAL_ERRORS = (serial.SerialException, serial.SerialTimeoutException, OSError, termios.error)
"""All that pyserial raises for a port that is gone."""


def find_port(name: str) -> str:
    """Return the path of the port that `name` names; raises LinkLost where no such adapter is plugged in."""
    if not name.startswith(USB):
        return name
    number = name.removeprefix(USB)
    for port in list_ports.comports():
        if port.serial_number == number:
            return port.device
    raise LinkLost(f"no adapter with the serial number {number} is plugged in")


class SerialPort:
    """One serial port, open or closed; closed ports read as empty and may be opened again."""

    def __init__(self) -> None:
        self._serial: serial.Serial | None = None
        self.written_bytes = 0
        """Bytes written since the port was opened."""

    @property
    def is_open(self) -> bool:
        """Whether the port is open."""
        return self._serial is not None

    def open(self, path: str, baud: int) -> None:
        """Open the port at `path`; raises LinkLost."""
        self.close()
        self.written_bytes = 0
        with self._lost_on_error(path):
            self._serial = serial.Serial(
                path, baud, timeout=READ_TIMEOUT_S, write_timeout=WRITE_TIMEOUT_S, exclusive=True
            )

    def fileno(self) -> int:
        """Return the descriptor, -1 when closed."""
        return -1 if self._serial is None else self._serial.fileno()

    def in_waiting(self) -> int:
        """Return how many bytes can be read at once; 0 when closed. Raises LinkLost."""
        if self._serial is None:
            return 0
        with self._lost_on_error():
            return int(self._serial.in_waiting)

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes that are known to wait; raises LinkLost."""
        if self._serial is None or size <= 0:
            return b""
        with self._lost_on_error():
            return bytes(self._serial.read(size))

    def read_available(self) -> bytes:
        """Return what is there, after the descriptor was found readable; raises LinkLost."""
        # A readable port without a byte is one that hung up: the read of one byte then says so.
        return self.read(max(1, self.in_waiting()))

    def write(self, data: bytes) -> None:
        """Write all of `data`; raises LinkLost, also where the other side takes nothing for a second."""
        if self._serial is None or not data:
            return
        with self._lost_on_error():
            self._serial.write(data)
            self.written_bytes += len(data)

    def close(self) -> None:
        """Close the port; an error in closing a port that is gone tells nothing new."""
        port, self._serial = self._serial, None
        if port is not None:
            with contextlib.suppress(*SERIAL_ERRORS):
                port.close()

    @contextlib.contextmanager
    def _lost_on_error(self, path: str = "") -> Generator[None]:
        try:
            yield
        except SERIAL_ERRORS as error:
            name = path or (self._serial.port if self._serial is not None else "")
            self.close()
            raise LinkLost(f"The serial port {name} is gone: {_words(error)}") from None


def _words(error: BaseException) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number) if isinstance(number, int) else str(error)
