"""The collecting half of `serve` in this process: ledger, collector and the TCP links."""

import threading
from itertools import count
from pathlib import Path
from typing import Any

from host.tests.links.stand_in import StandIn
from host.tests.links.table import a_device, enrolled
from recount_host.host_key import open_host_key
from recount_host.ledger import Ledger
from recount_host.links.collector import Collector
from recount_host.links.live import LiveBoard
from recount_host.links.serial_link import SerialLink
from recount_host.links.session import DeviceSession
from recount_host.links.tcp_link import TcpLinks, listen


class Host:
    """A host on a folder, listening."""

    def __init__(self, folder: Path) -> None:
        self.ledger = Ledger(folder / "ledger.sqlite")
        self.board = LiveBoard()
        self.duties: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {}
        self.failed = threading.Event()
        self.collector = Collector(self.ledger, lambda device: self.duties.get(device, ()), self.failed.set)
        identity, boots = open_host_key(folder), count(1)
        self._new_session = lambda: DeviceSession(next(boots), identity)
        self.serial: list[SerialLink] = []
        self.links = TcpLinks(
            listen("127.0.0.1", 0, purpose="devices", beyond_this_machine=True),
            self.collector,
            self.board,
            self._new_session,
        )
        self.collector.start()
        self.links.start()

    @property
    def port(self) -> int:
        return self.links.port

    def a_device(self, name: str = "device-1", seed: int = 1) -> StandIn:
        return enrolled(self.ledger, a_device(name, seed))

    def open_serial(self, port: Path) -> None:
        """Open a serial port, too."""
        link = SerialLink(str(port), self.collector, self.board, self._new_session)
        self.serial.append(link)
        link.start()

    def close(self) -> None:
        for link in (*self.serial, self.links):
            link.stop()
        self.collector.stop()
        self.ledger.close()
