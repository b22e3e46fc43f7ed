"""An act: what people did, as one link of the host's own chain.

An act is the msgpack bytes of {n, prev, kind, utc, by, body}, keys in this order; `prev` is the SHA-256 of
the bytes of the act before (32 zero bytes for the first). The bytes are stored as made and never encoded
again. Which kinds there are, and what each body holds, is the law's table; this module knows only the chain.
Pure.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgpack

from recount_host.errors import RecountError

MAX_ACT_BYTES = 256 * 1024
"""No act is longer; a contest program is stored beside the acts, not in them."""

NO_ACT = bytes(32)
"""The `prev` of the first act."""

_MAX_PERSONS = 16
_MAX_WORD_LENGTH = 200
_KEYS = ("n", "prev", "kind", "utc", "by", "body")


class ActError(RecountError):
    """These bytes are not an act, or not the act that follows here."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who acts: name, role (official, coordinator, ...) and the side they stand for ("" = none)."""

    name: str
    role: str
    side: str


@dataclass(frozen=True, slots=True)
class Act:
    """One thing people did, in its place in the chain."""

    n: int
    """Its number, from 1."""
    prev: bytes
    """SHA-256 of the act before."""
    kind: str
    """A word of the law's table of acts."""
    utc: str
    """When the host wrote it, ISO 8601 with Z. For people to read: order is by number."""
    by: tuple[Person, ...]
    """Who did it."""
    body: Mapping[str, Any]
    """The fields of its kind."""


def encode_act(act: Act) -> bytes:
    """Return the bytes of `act`, keys in their fixed order. Raises ActError when they would be too long."""
    data: bytes | None = msgpack.packb(
        {
            "n": act.n,
            "prev": act.prev,
            "kind": act.kind,
            "utc": act.utc,
            "by": [[person.name, person.role, person.side] for person in act.by],
            "body": dict(act.body),
        }
    )
    if data is None or len(data) > MAX_ACT_BYTES:
        raise ActError(f"an act of kind {act.kind} is longer than {MAX_ACT_BYTES} bytes")
    return data


def decode_act(data: bytes) -> Act:
    """Return the act that `data` holds. Raises ActError for anything else: wrong types, keys, or lengths."""
    if len(data) > MAX_ACT_BYTES:
        raise ActError(f"longer than {MAX_ACT_BYTES} bytes")
    try:
        fields: Any = msgpack.unpackb(data, strict_map_key=True, object_pairs_hook=_map_without_repeats)
    except (ValueError, msgpack.UnpackException) as error:
        raise ActError(f"not msgpack: {error}") from error
    if type(fields) is not dict or tuple(fields) != _KEYS:
        raise ActError("not the fields of an act")
    by: Any = fields["by"]
    if type(by) is not list or len(by) > _MAX_PERSONS:
        raise ActError("its persons are not a list")
    if type(fields["n"]) is not int or not 1 <= fields["n"] < 2**53:
        raise ActError("its number is out of bounds")
    if type(fields["prev"]) is not bytes or len(fields["prev"]) != len(NO_ACT):
        raise ActError("it does not name the act before it")
    if type(fields["body"]) is not dict:
        raise ActError("its body is not a map")
    return Act(
        n=fields["n"],
        prev=fields["prev"],
        kind=_word(fields["kind"]),
        utc=_word(fields["utc"]),
        by=tuple(_person(entry) for entry in by),
        body=fields["body"],
    )


def act_hash(data: bytes) -> bytes:
    """Return the SHA-256 that the next act names as its `prev`."""
    return hashlib.sha256(data).digest()


def check_follows(act: Act, n: int, prev: bytes) -> None:
    """Raise ActError unless `act` is number `n` and names `prev` as the act before it."""
    if act.n != n:
        raise ActError(f"act {act.n} stands where act {n} should be")
    if act.prev != prev:
        raise ActError(f"act {n} does not follow the act before it")


def _map_without_repeats(pairs: Iterable[tuple[object, object]]) -> dict[object, object]:
    result: dict[object, object] = {}
    for key, value in pairs:
        if key in result:
            raise ActError(f"the key {key!r} stands twice")
        result[key] = value
    return result


def _person(entry: Any) -> Person:
    if type(entry) is not list or len(entry) != len(("name", "role", "side")):
        raise ActError("a person is not name, role and side")
    name, role, side = entry
    return Person(_word(name), _word(role), _word(side))


def _word(value: Any) -> str:
    if type(value) is not str or len(value) > _MAX_WORD_LENGTH:
        raise ActError("a word is missing or too long")
    if not value.isprintable():
        # It stands on pages, forms and terminals: nothing in it may move, hide or turn what is there.
        raise ActError("a word holds what does not print")
    return value
