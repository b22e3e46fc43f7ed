"""What the pages that make and prove programs share: open ledger, workbench, forms, one thing at a time."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import cv2
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from recount_host.act import Person
from recount_host.commands.desk import Desk
from recount_host.law.persons import parse_person
from recount_host.order import Order
from recount_host.programs.workbench import Workbench, Workpiece
from recount_host.signatures import Signature
from recount_host.web.posted import Forms

NEVER_STORED = {"cache-control": "no-store"}


@dataclass(frozen=True, slots=True)
class Workshop:
    """What the pages work with: the open ledger, and the place where programs are made."""

    desk: Desk
    bench: Workbench


class Shop:
    """The workshop as the pages see it."""

    def __init__(self, workshop: Workshop, render: Callable[..., str]) -> None:
        self.desk, self.bench = workshop.desk, workshop.bench
        self.forms = Forms()
        self._render = render
        self._writing = threading.Lock()

    @property
    def order(self) -> Order:
        """The order of the court that the ledger works under."""
        return self.desk.facts().order

    @property
    def side_names(self) -> list[str]:
        """The parties' names."""
        return [side.name for side in self.order.sides]

    def piece(self, request: Request) -> Workpiece:
        """Return the program in the making that an address names. Raises WorkbenchError."""
        return self.bench.piece(request.path_params["piece"])

    async def work(self, work: Callable[[], Response]) -> Response:
        """Return what `work` answers, done in a thread, and nothing else of the workshop meanwhile."""

        def alone() -> Response:
            with self._writing:
                cv2.setNumThreads(1)
                return work()

        return await run_in_threadpool(alone)

    def page(self, template: str, title: str, wrong: str, **values: Any) -> Response:
        """Return a page; `wrong` says why something was not done, empty where nothing was refused."""
        html = self._render(
            template, title=title, wrong=wrong, order=self.order, token=self.forms.token, **values
        )
        status = HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK
        return HTMLResponse(html, status, headers=NEVER_STORED)


def go(path: str) -> Response:
    """Return the way to another page, after a form was taken."""
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


def pdf(data: bytes, name: str) -> Response:
    """Return a PDF that the browser shows."""
    headers = {"content-disposition": f'inline; filename="{name}"', **NEVER_STORED}
    return Response(data, media_type="application/pdf", headers=headers)


def signers(signatures: Sequence[Signature], order: Order) -> tuple[Person, ...]:
    """Return the first two persons of different sides who signed."""
    found = {}
    for signature in signatures:
        person = parse_person(signature.name)
        if person.side in order.side_keys:
            found.setdefault(person.side, person)
    return tuple(found.values())[:2]


def routes_of(shown: Mapping[str, Any], sent: Mapping[str, Any]) -> list[Route]:
    """Return the routes of pages below /programs: what is shown takes GET, what is sent POST."""
    return [
        *(Route(f"/programs{path}", endpoint) for path, endpoint in shown.items()),
        *(Route(f"/programs{path}", endpoint, methods=["POST"]) for path, endpoint in sent.items()),
    ]
