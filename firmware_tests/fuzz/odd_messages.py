"""Tally messages and records just beyond what the tables allow: seeds for what chance would not find."""

from collections.abc import Iterator
from typing import Any

import msgpack

from firmware_tests.fuzz.values import a_record, least_fields
from recount_protocol.fields import MAX_DEPTH, MAX_FREE_ITEMS, MAX_INTEGER, MAX_KEY_LENGTH
from recount_protocol.records import KINDS, NO_HASH
from recount_protocol.tally_messages import MAX_MESSAGE_BYTES, MESSAGES

_EMPTY_EXTENSION = b"\xc7\x00\x05"
"""An extension type of no bytes: the only one that the limit on their length lets pass."""


def odd_messages() -> Iterator[bytes]:
    """Yield messages that the tally link must refuse, each for another reason."""
    for record in _odd_records():
        yield _packed({"kind": "records", "records": [bytes(64) + record]})
    yield _packed({"kind": "records", "records": [bytes(64) + a_record("run_closed")] * 3})
    yield b"\x81\xa4kind" + _EMPTY_EXTENSION
    yield bytes(MAX_MESSAGE_BYTES + 1)
    yield _packed({"kind": "device_state", "state": "a\n", "note": ""})
    yield _packed({"kind": "device_state", "state": "\u00fc", "note": 1})


def _odd_records() -> Iterator[bytes]:
    for evidence in _odd_trees():
        yield _record("sheet_judged", evidence=evidence)
    yield _record("sheet_judged", fate="nowhere")
    yield _record("batch_closed", votes={"k" * (MAX_KEY_LENGTH + 1): 1})
    yield _record("batch_closed", votes={"\n": 1})
    yield _record("fault", word="")
    yield _packed({**_envelope("no_such_kind"), "body": {}})
    yield _packed({"body": {}, **_envelope("run_closed")})


def _odd_trees() -> Iterator[dict[str, Any]]:
    """Yield free maps that hold what none may hold."""
    tree: dict[str, Any] = {}
    for _ in range(MAX_DEPTH):
        tree = {"a": tree}
    yield tree
    yield {"a": [0] * (MAX_FREE_ITEMS // 2), "b": [0] * (MAX_FREE_ITEMS // 2)}
    yield {"a\x1b": 1}
    for value in (float("nan"), MAX_INTEGER + 1, "\u202e", "plain", 1, None, True, b"bytes", [{}]):
        yield {"a": value}


def _envelope(kind: str) -> dict[str, Any]:
    return {"device": "0" * 16, "n": 1, "prev": NO_HASH, "kind": kind, "run": "r1", "batch": 1}


def _record(kind: str, **odd: Any) -> bytes:
    """Return the bytes of a record with some of its fields odd, which `encode_record` would not write."""
    return _packed({**_envelope(kind), "body": {**least_fields(KINDS[kind]), **odd}})


def _packed(value: Any) -> bytes:
    return msgpack.packb(value) or b""


def plain_messages() -> Iterator[bytes]:
    """Yield a message of each kind with the least that its table allows."""
    for kind, specified in MESSAGES.items():
        yield _packed({"kind": kind, **least_fields(specified)})
    for kind in KINDS:
        yield _packed({"kind": "records", "records": [bytes(64) + a_record(kind)]})
