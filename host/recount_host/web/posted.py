"""What a form sent: read within bounds, and only from a page of this host's own.

A form is taken when it carries the token that our pages put into every form of theirs (no other page can read
it), and when the browser does not say that it comes from elsewhere. Both kinds of form are read here:
`application/x-www-form-urlencoded`, and `multipart/form-data` for files.
"""

import hmac
import secrets
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qsl

from starlette.requests import Request

from recount_host.errors import RecountError

TOKEN_FIELD = "token"  # noqa: S105 - the name of a field
MAX_FORM_BYTES = 500_000
"""Two hundred targets on forty styles take half of it."""
MAX_UPLOAD_BYTES = 85_000_000
MAX_FIELDS, MAX_PARTS = 20_000, 20
_MULTIPART = "multipart/form-data"


class FormRefused(RecountError):
    """A form that is not taken; the sentence says why."""

    def __init__(self, sentence: str, status: HTTPStatus) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that a form sent; nothing is known of either part."""

    name: str = ""
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Posted:
    """The fields of a form, and its files."""

    fields: dict[str, str] = field(default_factory=dict[str, str])
    """By name; of several with one name the last."""
    files: dict[str, Upload] = field(default_factory=dict[str, Upload])

    def file(self, name: str) -> Upload:
        """Return a file; an empty one where none was chosen."""
        return self.files.get(name, Upload())

    def text(self, name: str) -> str:
        """Return a field without the space around it; empty where it is not there."""
        return " ".join(self.fields.get(name, "").split())


class Forms:
    """Reads the forms of this host's own pages."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(16)

    async def read(self, request: Request, *, files: bool = False) -> Posted:
        """Return what the form sent; `files` tells whether it may hold some. Raises FormRefused."""
        _check_origin(request)
        body = await _body(request, MAX_UPLOAD_BYTES if files else MAX_FORM_BYTES)
        kind = request.headers.get("content-type", "")
        is_multipart = files and kind.startswith(_MULTIPART)
        posted = _parts(body, kind) if is_multipart else Posted(_fields(body))
        if not hmac.compare_digest(posted.fields.get(TOKEN_FIELD, "").encode(), self.token.encode()):
            raise FormRefused(
                "this page is older than the host's program: go back, load the page again, and repeat it",
                HTTPStatus.FORBIDDEN,
            )
        return posted


def _check_origin(request: Request) -> None:
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    origin = request.headers.get("origin", own)
    if origin != own or request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise FormRefused("this was sent by a page from elsewhere", HTTPStatus.FORBIDDEN)


async def _body(request: Request, most: int) -> bytes:
    too_much = FormRefused(
        f"what was sent is larger than {most // 1000} kB", HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    )
    told = request.headers.get("content-length", "0")
    if not told.isdecimal() or len(told) > 12 or int(told) > most:
        raise too_much
    read = bytearray()
    async for chunk in request.stream():
        read += chunk
        if len(read) > most:
            raise too_much
    return bytes(read)


def _fields(body: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise FormRefused("the form could not be read", HTTPStatus.BAD_REQUEST) from None
    return dict(pairs)


def _parts(body: bytes, kind: str) -> Posted:
    """Return the parts of a multipart form (RFC 7578): each a head, an empty line, and the bytes."""
    _, mark, boundary = kind.partition("boundary=")
    boundary = boundary.strip('"')
    refused = FormRefused("the form could not be read", HTTPStatus.BAD_REQUEST)
    if not mark or not 0 < len(boundary) <= 70 or not boundary.isascii():
        raise refused
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary.encode("ascii"))
    if len(pieces) > MAX_PARTS + 2 or pieces[0] or not pieces[-1].startswith(b"--"):
        raise refused
    posted = Posted()
    for piece in pieces[1:-1]:
        head, blank, content = piece.partition(b"\r\n\r\n")
        name = _parameter(head, b"name")
        if not blank or name is None:
            raise refused
        file_name = _parameter(head, b"filename")
        if file_name is None:
            posted.fields[name] = content.decode("utf-8", "replace")
        else:
            posted.files[name] = Upload(file_name, content)
    return posted


def _parameter(head: bytes, name: bytes) -> str | None:
    """Return a quoted parameter of a part's Content-Disposition, or None."""
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-disposition:"):
            for word in line.split(b";")[1:]:
                key, _, value = word.strip().partition(b"=")
                if key.lower() == name:
                    return value.strip(b'"').decode("utf-8", "replace")
    return None
