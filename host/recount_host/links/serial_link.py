"""Serial: one thread for each port, reopened whenever it goes away. A shell: the session decides.

A thread and blocking reads work on every system that pyserial knows. A port is named by its path or, as
`usb:NUMBER`, by the serial number of its USB adapter: plugged in again, the adapter is found under whatever
path it has then. On an unplug pyserial raises four different things (SerialException, plain OSError,
termios.error, TypeError from a port that is already closed): all of them mean "the cable is gone", and are
met in one place.
"""

import threading
from collections import deque
from collections.abc import Callable

import serial
from serial.tools import list_ports

from recount_host.errors import OperatorError
from recount_host.links.collector import Collector
from recount_host.links.live import LiveBoard
from recount_host.links.session import Condition, DeviceSession
from recount_host.links.tcp_link import monotonic_ms
from recount_host.links.wants import Reply

try:
    from termios import error as TermiosError  # noqa: N812 - an exception class, named as one
except ImportError:  # no termios on Windows, and nothing there raises it
    TermiosError = OSError

BAUD = 1_000_000
READ_BYTES = 4096
READ_TIMEOUT_S = 0.02
"""How long a read waits: an answer of the ledger goes out at the latest after this."""
WRITE_TIMEOUT_S = 2.0
REOPEN_S = 1.0

USB = "usb:"


class NotPluggedIn(OSError):
    """No adapter with this serial number is plugged in."""


UNPLUGGED = (serial.SerialException, OSError, TermiosError, TypeError)
"""Everything that pyserial raises when the cable is pulled (measured on a real one and on a pty)."""


class SerialLink:
    """One serial port with at most one device at its other end."""

    def __init__(
        self, port: str, collector: Collector, board: LiveBoard, new_session: Callable[[], DeviceSession]
    ) -> None:
        self._port = port
        self._collector = collector
        self._board = board
        self._new_session = new_session
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"serial {port}")

    def start(self) -> None:
        """Start the thread. Raises OperatorError when the port cannot be opened now.

        An adapter named by its serial number may be plugged in later: it is waited for, and shown as missing.
        """
        try:
            open_port(self._port).close()
        except NotPluggedIn:
            pass
        except UNPLUGGED as error:
            raise OperatorError(
                f"the serial port {self._port} cannot be opened ({error}): look at cable and name"
            ) from error
        self._thread.start()

    def stop(self) -> None:
        """Close the port and end the thread."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._keep_open()
        except Exception as error:  # noqa: BLE001 - our own fault: serve ends, nothing was acknowledged
            self._collector.fail(error)

    def _keep_open(self) -> None:
        while not self._stopping.is_set():
            try:
                with open_port(self._port) as port:
                    while not self._stopping.is_set():
                        self._hold_session(port)
            except UNPLUGGED as error:
                problem = Condition(problem=f"the serial port is gone ({error}): look at the cable")
                self._board.show(f"serial {self._port}", problem, monotonic_ms(), heard=False)
                self._stopping.wait(REOPEN_S)

    def _hold_session(self, port: "serial.Serial") -> None:
        """Serve one session until it is over."""
        seat = _Seat()
        session = self._new_session()
        try:
            while not (session.finished or seat.replaced or self._stopping.is_set()):
                self._turn(port, session, seat)
        finally:
            session.condition.connected = False
            self._board.show(f"serial {self._port}", session.condition, monotonic_ms(), heard=False)

    def _turn(self, port: "serial.Serial", session: DeviceSession, seat: "_Seat") -> None:
        data = port.read(min(max(port.in_waiting, 1), READ_BYTES)) if session.may_read else b""
        now_ms = monotonic_ms()
        while seat.answers:
            session.told(seat.answers.popleft(), now_ms)
        session.receive(data, now_ms)
        if session.wants:
            self._collector.ask(seat, session.wants)
            session.wants = []
        if not session.may_read:
            self._stopping.wait(READ_TIMEOUT_S)
        if out := session.output(now_ms):
            port.write(out)
        self._board.show(f"serial {self._port}", session.condition, now_ms, heard=bool(data))


class _Seat:
    """Where the collector leaves answers for one session; the port's thread looks there every turn."""

    def __init__(self) -> None:
        self.answers: deque[Reply] = deque()
        self.replaced = False

    def answer(self, reply: Reply) -> None:
        self.answers.append(reply)

    def replace(self) -> None:
        self.replaced = True


def open_port(name: str) -> "serial.Serial":
    """Return the open port; raises one of UNPLUGGED."""
    return serial.Serial(
        find_port(name), BAUD, timeout=READ_TIMEOUT_S, write_timeout=WRITE_TIMEOUT_S, exclusive=True
    )


def find_port(name: str) -> str:
    """Return the path of the port that `name` names. Raises NotPluggedIn, which tells what is there."""
    if not name.startswith(USB):
        return name
    number = name.removeprefix(USB)
    there: list[str] = []
    for port in list_ports.comports():
        if port.serial_number == number:
            return port.device
        if port.serial_number:
            there.append(port.serial_number)
    raise NotPluggedIn(
        f"no adapter with the serial number {number} is plugged in; "
        f"plugged in are: {', '.join(sorted(there)) or 'none'}"
    )
