"""A rehearsed day in a real ledger, with the pages over it."""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from starlette.types import Message

from host.tests.enrolling import enrol
from host.tests.rehearsal import Day
from host.tests.sound_device import Device
from recount_host.act import Person
from recount_host.commands.desk import Desk
from recount_host.ledger import Ledger
from recount_host.links.live import LiveBoard
from recount_host.links.session import Condition
from recount_host.people import People
from recount_host.programs.workbench import Workbench
from recount_host.web.app import make_app
from recount_host.web.facts import FactsReader
from recount_host.web.shop import Workshop
from recount_host.web.sign_in import COOKIE, SignIn


def picture(text: str) -> bytes:
    """Return a PNG that a person can tell from the others."""
    image = np.full((150, 700), 244, np.uint8)
    cv2.ellipse(image, (50, 80), (24, 14), 0, 0, 360, 40, 2)
    cv2.ellipse(image, (50, 80), (18, 9), 0, 0, 360, 60, -1)
    cv2.putText(image, text, (110, 92), cv2.FONT_HERSHEY_SIMPLEX, 1.2, 30, 2, cv2.LINE_AA)
    return cv2.imencode(".png", image)[1].tobytes()


class PicturedDevice(Device):
    """A device that keeps the picture of every sheet it does not count."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.crops: dict[int, bytes] = {}

    def write(self, kind: str, body: Mapping[str, Any], *, batch: int | None = None) -> None:
        if kind == "sheet_judged":
            png = picture(f"{self.name} sheet {body['sheet']}")
            body = {**body, "crop_sha256": hashlib.sha256(png).digest(), "crop_bytes": len(png)}
            self.crops[len(self.records) + 1] = png
        super().write(kind, body, batch=batch)


class Site:
    """The pages of a day; `fill` writes into the ledger what the day has and the ledger has not."""

    def __init__(self, folder: Path) -> None:
        self.ledger = Ledger(folder / "ledger.sqlite")
        self._filled = 0
        self.board = LiveBoard()
        self.bench = Workbench(folder)
        self.sign_in = SignIn(People(folder))
        self.cookie = ""
        workshop = Workshop(Desk(self.ledger), self.bench, self.sign_in)
        self.app = make_app(FactsReader(self.ledger), self.board, workshop=workshop)

    def fill(self, day: Day) -> "Site":
        for act in day.acts[self._filled :]:
            self.ledger.append_act(act.kind, act.by, act.body)
        self._filled = len(day.acts)
        for device in day.devices.values():
            known, _ = self.ledger.head(device.id)
            enrol(self.ledger, device.name, device.public_key)
            self.ledger.add_records(device.signed()[known:])
            for n, png in getattr(device, "crops", {}).items():
                self.ledger.add_crop(device.id, n, png)
        return self

    def signed_in(self, *persons: Person) -> "Site":
        """Let these persons have signed in at the browser that asks."""
        for person in persons:
            self.cookie = self.sign_in.begin(self.cookie, person)
        return self

    def show_live(self, device: Device, state: str, note: str = "", *, connected: bool = True) -> None:
        """Let a device appear on the live board."""
        condition = Condition(device.id, device.name, connected, welcomed=True, state=state, note=note)
        self.board.show("tcp 127.0.0.1", condition, 1_000, heard=True)

    def ask(self, path: str, *, method: str = "GET", body: bytes = b"", **headers: str) -> "Answer":
        """Return what the pages answer; a header's name is written with _ for -."""
        sent = {"host": "127.0.0.1:7480", **{name.replace("_", "-"): text for name, text in headers.items()}}
        if self.cookie:
            sent["cookie"] = f"{COOKIE}={self.cookie}"
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": [(name.encode(), text.encode()) for name, text in sent.items()],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 7480),
        }
        messages: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            messages.append(message)

        asyncio.run(self.app(scope, receive, send))
        start = messages[0]
        answered = b"".join(message.get("body", b"") for message in messages[1:])
        return Answer(
            start["status"], {name.decode(): text.decode() for name, text in start["headers"]}, answered
        )

    def text(self, path: str) -> str:
        """Return the page at `path`, which must be there."""
        answer = self.ask(path)
        assert answer.status == HTTPStatus.OK, answer.text
        return answer.text

    def close(self) -> None:
        self.ledger.close()


@dataclass(frozen=True)
class Answer:
    """What the pages answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()
