"""The page on which people sign in and out."""

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from recount_host.errors import OperatorError
from recount_host.web.access import Access, open_to
from recount_host.web.shop import Shop, go
from recount_host.web.sign_in import COOKIE


class SignInPage:
    """Signing in and out."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    @property
    def routes(self) -> list[Route]:
        """The addresses of this page."""
        return [
            Route("/sign-in", self.show),
            Route("/sign-in", self.sign_in, methods=["POST"]),
            Route("/sign-out", self.sign_out, methods=["POST"]),
        ]

    @open_to(Access.WHO_SIGNS_IN)
    def show(self, request: Request) -> Response:
        """Show who is signed in, and the form for one more person."""
        return self._page(_cookie(request), "")

    def _page(self, cookie: str, wrong: str) -> Response:
        self._shop.recognise(cookie)
        return self._shop.page("sign_in.html", "Sign in", wrong, known=self._shop.sign_in.people.known())

    @open_to(Access.WHO_SIGNS_IN)
    async def sign_in(self, request: Request) -> Response:
        """Sign a person in, beside the one of the other side."""
        posted = await self._shop.forms.read(request)
        cookie = _cookie(request)

        def work() -> Response:
            try:
                name, secret = posted.text("name"), posted.fields.get("pass-phrase", "")
                made = self._shop.sign_in.sign_in(cookie, name, secret)
            except OperatorError as error:
                return self._page(cookie, str(error))
            answer = go("/programs" if len(self._shop.sign_in.persons(made)) > 1 else "/sign-in")
            answer.set_cookie(COOKIE, made, httponly=True, samesite="strict")
            return answer

        return await run_in_threadpool(work)

    @open_to(Access.WHO_SIGNS_IN)
    async def sign_out(self, request: Request) -> Response:
        """Sign everybody at this browser out."""
        await self._shop.forms.read(request)
        self._shop.sign_in.sign_out(_cookie(request))
        answer = go("/sign-in")
        answer.delete_cookie(COOKIE, httponly=True, samesite="strict")
        return answer


def _cookie(request: Request) -> str:
    return request.cookies.get(COOKIE, "")
