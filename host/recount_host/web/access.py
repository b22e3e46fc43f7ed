"""Who may open a page: declared on every page, and checked when the program starts.

A page without a declaration stops the start, so that none is ever public by oversight. The pages are served
to this machine alone; those that only show tell nothing that people may not know. Those on which programs are
made and proved write, and are for people who signed in with a role that may: each act carries these persons.
See `posted` for whose forms are taken, `sign_in` for who is signed in.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Any, TypeVar

from starlette.routing import BaseRoute, Route

from recount_host.errors import RecountError
from recount_host.people import ROLES


class Access(Enum):
    """Who may open a page."""

    ANYONE_AT_THE_TABLE = "anyone at the table"
    """States and words; never a figure before it may be shown, nor a voter's marks."""
    OFFICIALS_ASKED = "the officials who are asked about a sheet, or who look for one"
    """The picture of a contest: only of sheets that the law opens now."""
    WHO_COMES_BEFORE_THE_COURT = "the court, its clerk, the parties and the officials"
    """Questioned ballots and rulings; of a ballot its picture only where the law opens its notice now."""
    BOTH_SIDES_AT_THE_HOST = "people who signed in: officials, coordinators, registrar, technician, clerk"
    """Making, proving and signing a contest program, and arming devices with it. These pages may write."""
    WHO_SIGNS_IN = "whoever has a pass phrase here"
    """Signing in and out: writes nothing but who sits at this screen."""
    PROGRAM_FILES = "the pages' own style and script"
    """No data at all."""


class AccessNotDeclared(RecountError):
    """A page says nothing about who may open it: our own fault, found at the start."""


ROLES_OF: Mapping[Access, frozenset[str]] = {Access.BOTH_SIDES_AT_THE_HOST: frozenset(ROLES)}
"""The roles of which one must be signed in; what is not here needs no sign-in."""

_ATTRIBUTE = "recount_access"

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def open_to(access: Access) -> Callable[[Endpoint], Endpoint]:
    """Return a decorator that declares who may open the page."""

    def declare(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _ATTRIBUTE, access)
        return endpoint

    return declare


def access_of(endpoint: Callable[..., Any]) -> Access:
    """Return what a page declares."""
    return getattr(endpoint, _ATTRIBUTE)


def check_every_route(routes: Iterable[BaseRoute]) -> None:
    """Raise AccessNotDeclared for a route that is no plain page, or whose page declares no access."""
    for route in routes:
        if not isinstance(route, Route) or not isinstance(getattr(route.endpoint, _ATTRIBUTE, None), Access):
            raise AccessNotDeclared(f"{route!r} does not declare who may open it (open_to)")
        writes = getattr(route.endpoint, _ATTRIBUTE) in (Access.BOTH_SIDES_AT_THE_HOST, Access.WHO_SIGNS_IN)
        if route.methods != {"GET", "HEAD"} and not (writes and route.methods == {"POST"}):
            raise AccessNotDeclared(f"{route.path} takes more than GET: pages only show")
