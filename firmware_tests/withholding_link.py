"""A link between device and host that withholds one record: all else passes, as through a faulty relay.

It speaks the real protocol on both sides (to the device it is the host's end, to the host the device's), so
frames and sequence numbers are whole; only the message with the record never arrives.
"""

import secrets
import selectors
import socket
import threading
import time
from collections import deque
from types import TracebackType
from typing import Self

from recount_protocol import tally_messages
from recount_protocol.delivery import Delivery
from recount_protocol.records import decode_record


class End:
    """One side of the relay: a socket with its delivery, and what is to be sent there."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)  # noqa: FBT003 - the socket's own signature
        self.connection = connection
        self.waiting: deque[bytes] = deque()
        self._unwritten = b""
        self._delivery = Delivery(
            tally_messages.VERSION,
            tally_messages.TABLE_HASH,
            secrets.randbits(32),
            tally_messages.MAX_PAYLOAD_BYTES,
            resend_ms=300,
            keepalive_ms=500,
            dead_ms=8000,
        )

    def receive(self, now_ms: int) -> list[bytes] | None:
        """Return the payloads that came, None when the other end closed."""
        data = b""
        try:
            data = self.connection.recv(1 << 16)
        except BlockingIOError:
            pass
        except OSError:
            return None
        else:
            if not data:
                return None
        events = self._delivery.receive(data, now_ms)
        return [value for kind, value in events if kind == "payload" and isinstance(value, bytes)]

    def write(self, now_ms: int) -> bool:
        """Write what is due; False when the other end is gone."""
        while self.waiting and self._delivery.can_send:
            self._delivery.send(self.waiting.popleft())
        self._unwritten += self._delivery.output(now_ms)
        try:
            self._unwritten = self._unwritten[self.connection.send(self._unwritten) :]
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True


class WithholdingLink:
    """Listens for the device on `port`, connects to the host, and withholds the record `withhold_n`."""

    def __init__(self, host_port: int, withhold_n: int) -> None:
        self._host_port = host_port
        self.withhold_n = withhold_n
        self.withheld = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(0.1)
        self.port = int(self._server.getsockname()[1])
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="withholding link")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.set()
        self._thread.join()
        self._server.close()

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                connection, _ = self._server.accept()
            except TimeoutError:
                continue
            with connection, socket.create_connection(("127.0.0.1", self._host_port)) as onward:
                self._relay(End(connection), End(onward))

    def _relay(self, device: End, host: End) -> None:
        with selectors.DefaultSelector() as selector:
            for end in (device, host):
                selector.register(end.connection, selectors.EVENT_READ)
            while not self._ending.is_set():
                selector.select(0.01)
                now_ms = time.monotonic_ns() // 1_000_000
                for end, other in ((device, host), (host, device)):
                    payloads = end.receive(now_ms)
                    if payloads is None:
                        return
                    other.waiting += [payload for payload in payloads if not self._withholds(payload)]
                if not (device.write(now_ms) and host.write(now_ms)):
                    return

    def _withholds(self, payload: bytes) -> bool:
        kind, fields = tally_messages.unpack(payload)
        if kind != "record" or decode_record(fields["record"]).n != self.withhold_n:
            return False
        self.withheld += 1
        return True
