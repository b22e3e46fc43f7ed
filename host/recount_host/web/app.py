"""The pages as a Starlette application: which address shows what, and the headers of every answer."""

import hashlib
from http import HTTPStatus
from pathlib import Path
from typing import Any

import jinja2
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recount_host.errors import RecountError
from recount_host.forms.blocks import sentence
from recount_host.law.disclosure import Doubt, Notice
from recount_host.law.precinct import Facts
from recount_host.links.live import LiveBoard
from recount_host.links.tcp_link import monotonic_ms
from recount_host.programs.workbench import WorkbenchError
from recount_host.sheet_pictures import SheetPictures
from recount_host.web import pages, words
from recount_host.web.access import Access, check_every_route, open_to
from recount_host.web.docket import docket_page
from recount_host.web.facts import FactsReader
from recount_host.web.posted import FormRefused
from recount_host.web.programming import Programming
from recount_host.web.proving import Proving
from recount_host.web.shop import Shop, Workshop
from recount_host.web.sign_in_page import SignInPage

FOLDER = Path(__file__).resolve().parent

STATIC_TYPES = {
    "recount.css": "text/css",
    "recount.js": "text/javascript",
    "places.js": "text/javascript",
    "htmx-2.0.11.min.js": "text/javascript",
    "htmx-LICENSE.txt": "text/plain",
    "icon.svg": "image/svg+xml",
}
"""The files that are served as they are; there are no others."""

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
"""On every answer: nothing from elsewhere is loaded, nobody else may frame or embed a page."""

LOCAL_NAMES = ["127.0.0.1", "localhost", "[::1]", "testserver"]
"""Names under which a browser on this machine asks; others are a page elsewhere that tries to reach in."""


def make_app(
    facts: FactsReader, board: LiveBoard, host_words: str = "", workshop: Workshop | None = None
) -> Starlette:
    """Return the application. Raises AccessNotDeclared when a page does not say who may open it.

    `host_words` are those of this host's key, for people who compare them at a device. Without a `workshop`
    there are no pages that make programs.
    """
    site = _Site(facts, board, host_words, can_make_programs=workshop is not None)
    routes = [
        Route("/", site.overview),
        Route("/docket", site.docket),
        Route("/precincts/{precinct}", site.precinct),
        Route("/precincts/{precinct}/notices", site.notices),
        Route("/precincts/{precinct}/pictures/{device}/{n:int}.png", site.picture),
        Route("/static/{name}", site.static),
    ]
    if workshop is not None:
        shop = Shop(workshop, site.render)
        routes += [*SignInPage(shop).routes, *Programming(shop).routes, *Proving(shop).routes]
    check_every_route(routes)
    return Starlette(
        routes=routes,
        middleware=[Middleware(_Headers), Middleware(TrustedHostMiddleware, allowed_hosts=LOCAL_NAMES)],
        exception_handlers={
            404: site.not_found,
            FormRefused: site.refused,
            WorkbenchError: site.absent,
            RecountError: site.out_of_order,
        },
    )


class _Headers:
    """Puts HEADERS on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class _Site:
    def __init__(
        self, facts: FactsReader, board: LiveBoard, host_words: str, *, can_make_programs: bool
    ) -> None:
        self._facts = facts
        self._board = board
        self._pictures = SheetPictures(facts.crop, facts.program)
        self._static = {name: (FOLDER / "static" / name).read_bytes() for name in STATIC_TYPES}
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(FOLDER / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        shared: dict[str, Any] = self._templates.globals
        shared["words"] = words
        shared["host_words"] = host_words
        shared["can_make_programs"] = can_make_programs
        shared["reason_sentence"] = pages.reason_sentence
        self._templates.filters["sentence"] = sentence

    @open_to(Access.ANYONE_AT_THE_TABLE)
    def overview(self, request: Request) -> Response:
        """Show every precinct and device."""
        facts, states = self._facts.states()
        page = pages.overview(facts, states, self._board.devices(), self._facts.refusals(), monotonic_ms())
        return self._page(request, "overview.html", page, title="All precincts")

    @open_to(Access.ANYONE_AT_THE_TABLE)
    def precinct(self, request: Request) -> Response:
        """Show one precinct."""
        facts, states = self._facts.states()
        state = states.get(request.path_params["precinct"])
        if state is None:
            return self.not_found(request, None)
        page = pages.precinct_page(facts, state, self._board.devices(), monotonic_ms())
        return self._page(request, "precinct.html", page, title=page.card.view.name)

    @open_to(Access.WHO_COMES_BEFORE_THE_COURT)
    def docket(self, request: Request) -> Response:
        """Show every questioned ballot with what was said and ruled of it."""
        facts, states = self._facts.states()
        page = docket_page(facts, states, self._facts.pictures())
        return self._page(request, "docket.html", page, title="Docket")

    @open_to(Access.OFFICIALS_ASKED)
    def notices(self, request: Request) -> Response:
        """Show the notices of one precinct, or that they are closed."""
        facts, states = self._facts.states()
        state = states.get(request.path_params["precinct"])
        if state is None:
            return self.not_found(request, None)
        page = pages.notices_page(
            facts, state, self._facts.pictures(), lambda notice: self._why_plain(facts, notice)
        )
        status = HTTPStatus.OK if page.notices is not None else HTTPStatus.FORBIDDEN
        return self._page(request, "notices.html", page, title=f"Notices of {page.view.name}", status=status)

    @open_to(Access.OFFICIALS_ASKED)
    def picture(self, request: Request) -> Response:
        """Show the contest on one sheet, if the law opens it now: to find it plain, as a notice explained."""
        device, n = request.path_params["device"], request.path_params["n"]
        facts, states = self._facts.states()
        state = states.get(request.path_params["precinct"])
        opened = pages.picture_open(state, device, n) if state is not None else None
        png = self._picture_of(facts, opened) if opened is not None else None
        if png is None:
            return self.not_found(request, None)
        return Response(png, media_type="image/png", headers={"cache-control": "no-store"})

    @open_to(Access.PROGRAM_FILES)
    def static(self, request: Request) -> Response:
        """Serve one of the few files that pages consist of."""
        name = request.path_params["name"]
        if name not in self._static:
            return self.not_found(request, None)
        return Response(
            self._static[name], media_type=STATIC_TYPES[name], headers={"cache-control": "no-cache"}
        )

    def not_found(self, _request: Request, _error: Exception | None) -> Response:
        """Say that there is no such page."""
        return self._plain("There is no such page here, or it is closed.", HTTPStatus.NOT_FOUND)

    def refused(self, _request: Request, error: Exception) -> Response:
        """Say why a form is not taken."""
        status = error.status if isinstance(error, FormRefused) else HTTPStatus.BAD_REQUEST
        return self._plain(sentence(str(error)), status)

    def absent(self, _request: Request, error: Exception) -> Response:
        """Say what is not there of a program in the making."""
        return self._plain(sentence(str(error)), HTTPStatus.NOT_FOUND)

    def out_of_order(self, _request: Request, error: Exception) -> Response:
        """Say in one sentence why nothing can be shown."""
        return self._plain(str(error), HTTPStatus.SERVICE_UNAVAILABLE)

    def _picture_of(self, facts: Facts, opened: Doubt | Notice) -> bytes | None:
        record = self._facts.record(opened.device, opened.record_n)
        if record is None:
            return None
        program = facts.devices[opened.device].runs[opened.run].program
        if isinstance(opened, Doubt):
            return self._pictures.plain(record, program)
        return self._pictures.explained(record, program)

    def _why_plain(self, facts: Facts, notice: Notice) -> str:
        record = self._facts.record(notice.device, notice.record_n)
        if record is None:
            return ""
        return self._pictures.lacks(record, facts.devices[notice.device].runs[notice.run].program)

    def _page(
        self, request: Request, template: str, page: Any, *, title: str, status: HTTPStatus = HTTPStatus.OK
    ) -> Response:
        """Return the page; 204 when the browser shows exactly this already, so that nothing flickers."""
        content = self.render(template, page=page)
        shown = hashlib.sha256(content.encode()).hexdigest()[:16]
        if request.headers.get("x-shown") == shown:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        whole = self.render(
            "base.html", title=title, content=content, shown=shown, path=request.url.path, page=page
        )
        return HTMLResponse(whole, status, headers={"cache-control": "no-store"})

    def _plain(self, sentence: str, status: HTTPStatus) -> Response:
        return HTMLResponse(self.render("plain.html", sentence=sentence), status)

    def render(self, template: str, **values: Any) -> str:
        """Return a template filled in."""
        return self._templates.get_template(template).render(**values)
