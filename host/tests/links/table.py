"""A host and its devices on one table: real ledger, real sessions, virtual time, cables that a test cuts."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from host.tests.enrolling import enrol
from host.tests.links.stand_in import Connection, StandIn
from recount_host.host_key import open_host_key
from recount_host.ledger import Ledger
from recount_host.links.crop_under_way import CropPlace
from recount_host.links.session import DeviceSession
from recount_host.links.wants import (
    CropKept,
    DutiesChanged,
    FetchProgram,
    Introduce,
    Introduced,
    KeepCrop,
    KeepRecords,
    ProgramFetched,
    RecordsKept,
    Reply,
    Want,
)


def a_device(name: str = "device-1", seed: int = 1) -> StandIn:
    return StandIn(name, Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32))


def enrolled(ledger: Ledger, device: StandIn) -> StandIn:
    enrol(ledger, device.name, device.public_key)
    return device


class Table:
    """One connection at a time; `now_ms` moves only by `run`."""

    def __init__(self, folder: Path) -> None:
        self.ledger = Ledger(folder / "ledger.sqlite")
        self.identity = open_host_key(folder)
        self.now_ms = 1_000
        self.boots = 0
        self.session = DeviceSession(1, self.identity)
        self.connection: Connection | None = None
        self.crop_place = CropPlace()
        self.ledger_answers = True
        self.unanswered: list[Want] = []

    def connect(self, device: StandIn, *, enrolled: bool = True) -> DeviceSession:
        """Begin a new connection, as after a cable was joined or one end restarted."""
        if enrolled:
            enrol(self.ledger, device.name, device.public_key)
        self.boots += 1
        self.session = DeviceSession(self.boots, self.identity)
        self.connection = device.connect()
        self.unanswered = []
        return self.session

    def give_duties(self, *duties: tuple[str, dict[str, Any]]) -> None:
        self.session.told(DutiesChanged(duties), self.now_ms)

    def run(self, until: Callable[[], bool] | None = None, *, longest_ms: int = 10_000) -> bool:
        """Let both ends talk until `until` holds or so much time went by; return whether it held."""
        connection = self.connection
        assert connection is not None
        end_ms = self.now_ms + longest_ms
        while self.now_ms < end_ms:
            to_host = connection.output(self.now_ms)
            to_device = self.session.output(self.now_ms)
            self.session.receive(to_host, self.now_ms)
            self._answer()
            connection.receive(to_device, self.now_ms)
            if until is not None and until():
                return True
            if not to_host and not to_device:
                waits = (connection.next_deadline_ms(self.now_ms), self.session.next_deadline_ms(self.now_ms))
                self.now_ms = max(self.now_ms + 1, min(waits))
        return False

    def _answer(self) -> None:
        self.unanswered += self.session.wants
        self.session.wants = []
        if not self.ledger_answers:
            return
        for want in self.unanswered:
            self.session.told(self._reply(want), self.now_ms)
        self.unanswered = []

    def _reply(self, want: Want) -> Reply:
        match want:
            case Introduce():
                outcome = self.ledger.introduce(
                    want.device, want.name, want.public_key, want.next_n, want.head
                )
                self.crop_place = self.crop_place.for_next_connection()
                return Introduced(outcome, self.ledger.next_crop_n(want.device), self.crop_place)
            case KeepRecords():
                return RecordsKept(tuple(self.ledger.add_records(want.items)))
            case KeepCrop():
                kept = self.ledger.add_crop(want.device, want.n, want.png)
                return CropKept(want.n, kept, self.ledger.next_crop_n(want.device))
            case FetchProgram():
                return ProgramFetched(want.program, want.offset, self.ledger.program(want.program))
