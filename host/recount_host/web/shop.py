"""What the pages that make and prove programs share: open ledger, workbench, forms, one thing at a time."""

import threading
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from http import HTTPStatus
from inspect import iscoroutinefunction
from typing import Any

import cv2
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from recount_host.act import Person
from recount_host.commands.desk import Desk
from recount_host.order import Order
from recount_host.programs.workbench import Workbench, Workpiece
from recount_host.web.access import ROLES_OF, access_of
from recount_host.web.posted import Forms
from recount_host.web.sign_in import COOKIE, SignIn

NEVER_STORED = {"cache-control": "no-store"}


@dataclass(frozen=True, slots=True)
class Workshop:
    """What the pages work with: the open ledger, the place where programs are made, and who is signed in."""

    desk: Desk
    bench: Workbench
    sign_in: SignIn


class Shop:
    """The workshop as the pages see it."""

    def __init__(self, workshop: Workshop, render: Callable[..., str]) -> None:
        self.desk, self.bench, self.sign_in = workshop.desk, workshop.bench, workshop.sign_in
        self.forms = Forms()
        self._persons: ContextVar[tuple[Person, ...]] = ContextVar("persons", default=())
        self._render = render
        self._writing = threading.Lock()

    @property
    def order(self) -> Order:
        """The order of the court that the ledger works under."""
        return self.desk.facts().order

    @property
    def persons(self) -> tuple[Person, ...]:
        """Who is signed in at the browser that asked for this page."""
        return self._persons.get()

    @property
    def both(self) -> tuple[Person, ...]:
        """Those of them who stand for a side that is a party."""
        return tuple(person for person in self.persons if person.side in self.order.side_keys)

    def recognise(self, cookie: str) -> tuple[Person, ...]:
        """Return who is signed in with a cookie: the persons of this page from now on."""
        persons = self.sign_in.persons(cookie)
        self._persons.set(persons)
        return persons

    def guarded(self, endpoint: Callable[..., Any]) -> Callable[..., Any]:
        """Return the page for people who signed in with its roles; others are led to where that is done."""
        roles = ROLES_OF[access_of(endpoint)]

        @wraps(endpoint)
        async def page(request: Request) -> Response:
            persons = self.recognise(request.cookies.get(COOKIE, ""))
            if not any(person.role in roles for person in persons):
                return go("/sign-in")
            if iscoroutinefunction(endpoint):
                return await endpoint(request)
            return await run_in_threadpool(endpoint, request)

        return page

    def routes_of(self, shown: Mapping[str, Any], sent: Mapping[str, Any]) -> list[Route]:
        """Return the routes of pages below /programs: what is shown takes GET, what is sent POST."""
        return [
            *(Route(f"/programs{path}", self.guarded(page)) for path, page in shown.items()),
            *(Route(f"/programs{path}", self.guarded(page), methods=["POST"]) for path, page in sent.items()),
        ]

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
            template, title=title, wrong=wrong, order=self.order, token=self.forms.token,
            signed_in=self.persons, **values,
        )  # fmt: skip
        status = HTTPStatus.UNPROCESSABLE_ENTITY if wrong else HTTPStatus.OK
        return HTMLResponse(html, status, headers=NEVER_STORED)


def go(path: str) -> Response:
    """Return the way to another page, after a form was taken."""
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


def pdf(data: bytes, name: str) -> Response:
    """Return a PDF that the browser shows."""
    headers = {"content-disposition": f'inline; filename="{name}"', **NEVER_STORED}
    return Response(data, media_type="application/pdf", headers=headers)
