"""The link to the host: a thread with one connection, TCP or serial, and the desk between the threads.

The host is in the real world: this thread keeps real time even where the rest of the device is simulated. The
station never waits for it; it leaves words at the desk and finds orders there.
"""

import logging
import os
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from recount_device.errors import LinkLost, OperatorError
from recount_device.feeder_link import new_boot_id
from recount_device.host_pin import HostPin
from recount_device.host_session import HostSession, Introduction, Received
from recount_device.identity import Identity
from recount_device.journal import JournalReader
from recount_device.messages import sentence
from recount_device.serial_port import HOST_BAUD, SerialPort, find_port
from recount_protocol.tally_messages import OVER_SERIAL, OVER_TCP, Portions

TCP = "tcp://"
SERIAL = "serial:"
TCP_TIMEOUT_S = 10.0
REOPEN_S = 0.5
REFUSED_S = 2.0
"""How long a host that does not take this device is left alone: people enrol and pin meanwhile."""
MAX_LINK_FAULTS = 20
"""Records that attacks on the link may make in one life of this program; the first ones tell the story."""

_log = logging.getLogger(__name__)


class Port(Protocol):
    """A byte stream to the host; every error is LinkLost."""

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        ...

    def read_available(self) -> bytes:
        """Return what is there, after the descriptor was found readable."""
        ...

    def write(self, data: bytes) -> None:
        """Write all of it."""
        ...

    def close(self) -> None:
        """Give it up."""
        ...


class TcpPort:
    """A TCP connection to the host."""

    def __init__(self, address: tuple[str, int]) -> None:
        """Connect; raises LinkLost."""
        try:
            self._socket = socket.create_connection(address, TCP_TIMEOUT_S)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            raise LinkLost(f"no host at {address[0]}:{address[1]}: {error.strerror or error}") from None

    def fileno(self) -> int:
        """Return the socket's descriptor."""
        return self._socket.fileno()

    def read_available(self) -> bytes:
        """Return what is there; raises LinkLost also where the host hung up."""
        try:
            data = self._socket.recv(256 * 1024)
        except OSError as error:
            raise LinkLost(f"the host is gone: {error.strerror or error}") from None
        if not data:
            raise LinkLost("the host hung up")
        return data

    def write(self, data: bytes) -> None:
        """Write all of it; raises LinkLost also where the host takes nothing for ten seconds."""
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise LinkLost(f"the host is gone: {error.strerror or error}") from None

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()


def _open_serial(name: str) -> Port:
    port = SerialPort()
    port.open(find_port(name), HOST_BAUD)
    return port


def parse_host(text: str) -> tuple[Callable[[], Port], Portions]:
    """Return how to open a port to the host that DEVICE.toml names, and how much goes into a message on it.

    Raises OperatorError where the text names no address.
    """
    if text.startswith(SERIAL):
        return lambda: _open_serial(text.removeprefix(SERIAL)), OVER_SERIAL
    try:
        address = urlsplit(text)
        host, port = address.hostname, address.port
    except ValueError:
        host, port = None, None
    if not host or not port:
        raise OperatorError(f'host must be "tcp://ADDRESS:PORT" or "serial:PORT", not {text!r}')
    return lambda: TcpPort((host, port)), OVER_TCP


class HostLink:
    """The desk between the station and the link's thread, and the thread itself."""

    def __init__(
        self, journal: Path, identity: Identity, introduction: Introduction, pin: HostPin, host: str
    ) -> None:
        """Nothing is opened before `start`; raises OperatorError where `host` names no address."""
        self._journal = journal
        self._identity = identity
        self._introduction = introduction
        self._pin = pin
        self._open, self._portions = parse_host(host)
        self._lock = threading.Lock()
        self._received: list[Received] = []
        self._present = False
        self._refusal = ""
        self._offered = ""
        self._faults_told: set[str] = set()
        self._state = ("", "")
        self._program_wanted = b""
        self._closing = False
        self._failure: Exception | None = None
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._thread = threading.Thread(target=self._run, name="host link", daemon=True)

    # --- the station's side ---

    @property
    def present(self) -> bool:
        """Whether the host answers and takes this device."""
        return self._present

    @property
    def refusal(self) -> str:
        """Why the host does not take this device; empty where it does or is not there."""
        return self._refusal

    @property
    def offered(self) -> str:
        """The words of the host that answers while none is pinned; empty where people need not compare."""
        return self._offered

    def pin_offered(self) -> None:
        """Obey the offered host from now on: a person has compared its words. Raises OperatorError."""
        offered, self._offered = self._offered, ""
        if offered:
            self._pin.pin(offered)
            _log.info("the host %s is pinned", offered)

    def orders(self) -> list[Received]:
        """Return what came since the last call; raises what ended the thread, if anything did."""
        if self._failure is not None:
            raise self._failure
        with self._lock:
            received, self._received = self._received, []
        return received

    def show_state(self, state: str, note: str) -> None:
        """Have the host told what the panel shows."""
        self._state = (state, note)
        self.notify()

    def want_program(self, program_hash: bytes) -> None:
        """Have the host asked for a program; asking again changes nothing."""
        if self._program_wanted != program_hash:
            self._program_wanted = program_hash
            self.notify()

    def notify(self) -> None:
        """Have the thread look at the journal and the desk again."""
        with suppress(BlockingIOError):  # a full pipe wakes as well
            os.write(self._wake_write, b"!")

    # --- the session's side ---

    def put(self, received: Received) -> None:
        """Take an order or a program for the station."""
        if received.kind == "program_arrived" and received.fields["program"] == self._program_wanted:
            self._program_wanted = b""
        if received.kind == "link_fault" and not self._is_worth_a_record(received.fields["detail"]):
            return
        with self._lock:
            self._received.append(received)

    def _is_worth_a_record(self, detail: str) -> bool:
        """Return whether this is new: an attacker comes back with every connection."""
        _log.warning("%s", detail)
        if detail in self._faults_told or len(self._faults_told) >= MAX_LINK_FAULTS:
            return False
        self._faults_told.add(detail)
        return True

    def offer(self, words: str) -> None:
        """Hear the words of a host that answers while none is pinned.

        The first words stay until a person has decided: what is shown must not change under the finger.
        """
        if not self._offered:
            _log.info("a host answers that is not pinned: %s", words)
            self._offered = words
        elif words != self._offered:
            why = sentence("two_hosts", words=words)
            self.put(Received("link_fault", {"word": "two_hosts", "detail": why}))

    def set_present(self, present: bool, refusal: str = "") -> None:
        """Hear whether the host takes this device."""
        if present != self._present or refusal not in ("", self._refusal):
            _log.info("%s", refusal or ("the host answers" if present else "the host does not answer"))
        self._present = present
        self._refusal = refusal if not present else ""
        if present:
            self._offered = ""

    @property
    def state(self) -> tuple[str, str]:
        """What the panel shows."""
        return self._state

    @property
    def program_wanted(self) -> bytes:
        """The program that is wanted; empty for none."""
        return self._program_wanted

    # --- the thread ---

    def start(self) -> None:
        """Begin to look for the host."""
        self._thread.start()

    def close(self) -> None:
        """End the thread; what was not sent stays in the journal."""
        self._closing = True
        self.notify()
        if self._thread.is_alive():
            self._thread.join()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _run(self) -> None:
        try:
            self._keep_connected()
        except Exception as error:  # noqa: BLE001  a fault of ours: the station raises it, and the process ends
            self._failure = error

    def _keep_connected(self) -> None:
        reader = JournalReader(self._journal)
        try:
            session = HostSession(
                reader,
                self._identity,
                self._introduction,
                self._pin,
                self,
                new_boot_id(),
                self._portions,
            )
            while not self._closing:
                self._keep_one_connection(session)
                self._sleep(REFUSED_S if session.refused else REOPEN_S)
        finally:
            reader.close()

    def _keep_one_connection(self, session: HostSession) -> None:
        try:
            port = self._open()
        except LinkLost as error:
            _log.debug("%s", error)
            return
        session.restart()
        try:
            while not self._closing and not session.refused:
                self._exchange(session, port)
        except LinkLost as error:
            _log.info("%s", error)
        finally:
            port.close()
            if not session.refused:
                self.set_present(present=False)

    def _exchange(self, session: HostSession, port: Port) -> None:
        port.write(session.output(_now_ms()))
        timeout_s = max(0, session.next_deadline_ms(_now_ms()) - _now_ms()) / 1000
        ready, _, _ = select.select([port.fileno(), self._wake_read], [], [], timeout_s)
        if self._wake_read in ready:
            os.read(self._wake_read, 4096)
        data = port.read_available() if port.fileno() in ready else b""
        session.receive(data, _now_ms())

    def _sleep(self, seconds: float) -> None:
        """Wait, but not for the end of the program."""
        until_s = time.monotonic() + seconds
        while not self._closing and (left_s := until_s - time.monotonic()) > 0:
            ready, _, _ = select.select([self._wake_read], [], [], left_s)
            if ready:
                os.read(self._wake_read, 4096)


def _now_ms() -> int:
    return time.monotonic_ns() // 1_000_000
