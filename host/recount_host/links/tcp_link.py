"""TCP: one thread that serves every device connected to one listening socket. A shell: the session decides.

What goes over it is TLS 1.3 with both keys pinned (see `session`), so devices may be anywhere in the network.
"""

import errno
import ipaddress
import selectors
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from recount_host.errors import OperatorError
from recount_host.links.collector import Collector
from recount_host.links.live import LiveBoard
from recount_host.links.session import DeviceSession
from recount_host.links.wants import Reply

READ_BYTES = 64 * 1024
BACKLOG = 128
MAX_CONNECTIONS = 256
"""More than any locality has devices; a further one takes the place of the oldest that is none yet."""

LONGEST_SLEEP_MS = 1_000


def monotonic_ms() -> int:
    """Return this process's monotonic clock in whole milliseconds."""
    return time.monotonic_ns() // 1_000_000


def listen(host: str, port: int, *, purpose: str, beyond_this_machine: bool) -> socket.socket:
    """Return a listening socket. Raises OperatorError: port in use, or an address that is not allowed.

    `beyond_this_machine` tells whether what is served is encrypted, and so may be reached by other machines.
    """
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise OperatorError(f"{host} is not an address: write 127.0.0.1 and a port") from None
    if not (beyond_this_machine or address.is_loopback):
        raise OperatorError(
            f"{host} can be reached by other machines, and the {purpose} is not encrypted: use 127.0.0.1"
        )
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    server = socket.socket(family, socket.SOCK_STREAM)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.bind((str(address), port))
        server.listen(BACKLOG)
    except OSError as error:
        server.close()
        raise OperatorError(
            f"port {port} for the {purpose} cannot be opened ({_why(error)}): "
            "choose another, or end the program that uses it"
        ) from error
    server.setblocking(False)  # noqa: FBT003 - the socket's own signature
    return server


def _why(error: OSError) -> str:
    return "it is in use" if error.errno == errno.EADDRINUSE else str(error.strerror)


class _Connection:
    """One connected device: its socket, its session, what is still to be written, what was answered."""

    def __init__(
        self, connection: socket.socket, link: str, session: DeviceSession, wake: Callable[[], None]
    ) -> None:
        self.socket = connection
        self.link = link
        self.session = session
        self.unwritten = b""
        self.answers: deque[Reply] = deque()
        self.replaced = False
        self.interest = 0
        self.deadline_ms = 0
        self._wake = wake

    def answer(self, reply: Reply) -> None:
        self.answers.append(reply)
        self._wake()

    def replace(self) -> None:
        self.replaced = True
        self._wake()


class TcpLinks:
    """All connections of one listening socket."""

    def __init__(
        self,
        server: socket.socket,
        collector: Collector,
        board: LiveBoard,
        new_session: Callable[[], DeviceSession],
    ) -> None:
        self._server = server
        self._collector = collector
        self._board = board
        self._new_session = new_session
        self._selector = selectors.DefaultSelector()
        self._wake_in, self._wake_out = socket.socketpair()
        self._wake_in.setblocking(False)  # noqa: FBT003 - the socket's own signature
        self._wake_out.setblocking(False)  # noqa: FBT003
        self._connections: dict[int, _Connection] = {}
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="tcp links")

    @property
    def port(self) -> int:
        """Return the port that is listened on."""
        return self._server.getsockname()[1]

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Close every connection and end the thread; what was not acknowledged, the devices send again."""
        self._stopping = True
        self._wake()
        self._thread.join()

    def _wake(self) -> None:
        with suppress(BlockingIOError, OSError):  # a full pipe wakes as well; a closed one has nobody to wake
            self._wake_in.send(b"w")

    def _run(self) -> None:
        self._selector.register(self._server, selectors.EVENT_READ)
        self._selector.register(self._wake_out, selectors.EVENT_READ)
        try:
            while not self._stopping:
                self._turn()
        except Exception as error:  # noqa: BLE001 - our own fault: serve ends, nothing was acknowledged
            self._collector.fail(error)
        finally:
            for connection in list(self._connections.values()):
                self._close(connection)
            self._selector.close()
            for end in (self._server, self._wake_in, self._wake_out):
                end.close()

    def _turn(self) -> None:
        now_ms = monotonic_ms()
        deadline_ms = min(
            (c.deadline_ms for c in self._connections.values()), default=now_ms + LONGEST_SLEEP_MS
        )
        sleep_s = min(max(deadline_ms - now_ms, 0), LONGEST_SLEEP_MS) / 1000
        ready: dict[int, int] = {}
        for key, events in self._selector.select(sleep_s):
            if key.fileobj is self._server:
                self._accept()
            elif key.fileobj is self._wake_out:
                with suppress(BlockingIOError):
                    self._wake_out.recv(READ_BYTES)
            else:
                ready[key.fd] = events
        now_ms = monotonic_ms()
        for descriptor, connection in list(self._connections.items()):
            events = ready.get(descriptor, 0)
            if events or connection.answers or connection.replaced or now_ms >= connection.deadline_ms:
                self._serve(connection, read=bool(events & selectors.EVENT_READ))

    def _accept(self) -> None:
        try:
            connection, peer = self._server.accept()
        except OSError:  # it hung up before we looked, or no descriptor is left: the others go on
            return
        if not self._has_room():
            connection.close()
            return
        connection.setblocking(False)  # noqa: FBT003 - the socket's own signature
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        entry = _Connection(connection, f"tcp {peer[0]}", self._new_session(), self._wake)
        self._connections[connection.fileno()] = entry
        self._selector.register(connection, selectors.EVENT_READ)
        entry.interest = selectors.EVENT_READ

    def _has_room(self) -> bool:
        """Return whether one more may connect, after the oldest that is no device yet was closed for it.

        Who opens connections and says nothing would else keep the devices out.
        """
        if len(self._connections) < MAX_CONNECTIONS:
            return True
        strangers = (c for c in self._connections.values() if not c.session.condition.welcomed)
        oldest = next(strangers, None)
        if oldest is None:
            return False
        self._close(oldest)
        return True

    def _serve(self, connection: _Connection, *, read: bool) -> None:
        session = connection.session
        data = self._read(connection) if read else b""
        now_ms = monotonic_ms()
        while connection.answers:
            session.told(connection.answers.popleft(), now_ms)
        if data is not None:
            session.receive(data, now_ms)
        if session.wants:
            self._collector.ask(connection, session.wants)
            session.wants = []
        alive = data is not None and self._write(connection, now_ms)
        over = not alive or connection.replaced or (session.finished and not connection.unwritten)
        if over:
            session.condition.connected = False
        self._board.show(connection.link, session.condition, now_ms, heard=bool(data))
        if over:
            self._close(connection)
            return
        # What waits for a blocked socket is driven by the socket; only silence still has to be noticed.
        connection.deadline_ms = (
            now_ms + LONGEST_SLEEP_MS if connection.unwritten else session.next_deadline_ms(now_ms)
        )
        self._set_interest(connection)

    def _read(self, connection: _Connection) -> bytes | None:
        """Return what came, or None when the other end is gone."""
        try:
            return connection.socket.recv(READ_BYTES) or None
        except BlockingIOError:
            return b""
        except OSError:
            return None

    def _write(self, connection: _Connection, now_ms: int) -> bool:
        # While the other end takes nothing, nothing new is made: what waits is bounded by one window.
        if not connection.unwritten:
            connection.unwritten = connection.session.output(now_ms)
        try:
            while connection.unwritten:
                written = connection.socket.send(connection.unwritten)
                connection.unwritten = connection.unwritten[written:]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def _set_interest(self, connection: _Connection) -> None:
        wanted = (selectors.EVENT_READ if connection.session.may_read else 0) | (
            selectors.EVENT_WRITE if connection.unwritten else 0
        )
        if wanted == connection.interest:
            return
        if not connection.interest:
            self._selector.register(connection.socket, wanted)
        elif not wanted:
            self._selector.unregister(connection.socket)
        else:
            self._selector.modify(connection.socket, wanted)
        connection.interest = wanted

    def _close(self, connection: _Connection) -> None:
        self._connections.pop(connection.socket.fileno(), None)
        if connection.interest:
            self._selector.unregister(connection.socket)
        connection.socket.close()
