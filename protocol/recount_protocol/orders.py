"""Orders: what the host commands a device to do, signed for this device, this session and this moment.

An order is the msgpack bytes of {device, session, n, kind, fields}. `session` is the nonce that the device
made for this connection and told in its introduction, `n` grows by one with every order of the connection. So
an order can be played neither again, nor later, nor to another device. CPython only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from recount_protocol import fates
from recount_protocol.errors import OrderError
from recount_protocol.fields import (
    MAX_INTEGER,
    Field,
    FieldError,
    Fields,
    check_fields,
    in_order,
    read_map,
    write_map,
)
from recount_protocol.records import HASH_BYTES, MODES

MAX_ORDER_BYTES = 16 * 1024
NONCE_BYTES = 32

_PURPOSE = b"recount order 1\0"
_NAME = Field(str, 1, 64)
_TEXT = Field(str, 0, 1000)
_HASH = Field(bytes, HASH_BYTES, HASH_BYTES)
_BATCH = Field(int, 1, 2**32 - 1)
_TWO_PERSONS = Field(list, 2, 2, item=Field(str, 1, 200))

ORDERS: dict[str, Fields] = {
    "assign_run": {
        "run": _NAME,
        "precinct": _NAME,
        "contest": _NAME,
        "program": _HASH,
        "mode": Field(str, 0, 0, choices=MODES),
    },
    "close_run": {"run": _NAME},
    "void_batch": {"run": _NAME, "batch": _BATCH, "reason": _TEXT, "by": _TWO_PERSONS},
    "settle_doubt": {
        "run": _NAME,
        "batch": _BATCH,
        "sheet": Field(int, 1, 2**32 - 1),
        "fate": Field(str, 0, 0, choices=(*fates.BINS, fates.RETURNED)),
        "by": _TWO_PERSONS,
    },
    "arm_device": {
        "run": _NAME,
        "program": _HASH,
        "thresholds": _HASH,
        "software": Field(str, 1, 1000),
        "firmware": Field(str, 1, 1000),
        "certificate": _HASH,
        "by": _TWO_PERSONS,
    },
    "disarm_device": {"why": Field(str, 1, 1000)},
}
"""kind -> its fields.

`arm_device` lets a device count live sheets with this program: `run` is the logic-and-accuracy test that it
passed, `certificate` the SHA-256 of the certificate that both sides sign.
"""

ENVELOPE: Fields = {
    "device": Field(str, 16, 16),
    "session": Field(bytes, NONCE_BYTES, NONCE_BYTES),
    "n": Field(int, 1, MAX_INTEGER),
    "kind": _NAME,
    "fields": Field(dict, 0, 64),
}


@dataclass(frozen=True, slots=True)
class Session:
    """For whom an order is good: this device, on this one connection."""

    device: str
    nonce: bytes


def sign_order(
    key: Ed25519PrivateKey, session: Session, n: int, kind: str, fields: Mapping[str, Any]
) -> tuple[bytes, bytes]:
    """Return the bytes of an order and the host's signature. Raises OrderError for what the table forbids."""
    try:
        ordered = in_order(dict(fields), _fields_of(kind))
    except FieldError as error:
        raise OrderError(f"{kind}: {error}") from None
    envelope = {"device": session.device, "session": session.nonce, "n": n, "kind": kind, "fields": ordered}
    data = write_map(envelope)
    return data, key.sign(_PURPOSE + data)


def read_order(
    host_key: bytes, session: Session, after_n: int, order: bytes, signature: bytes
) -> tuple[int, str, dict[str, Any]]:
    """Return number, kind and fields of an order that is to be obeyed.

    Raises OrderError, with what is wrong in a sentence, for one that the host's key did not sign, that was
    made for another device or connection, or whose number is not above `after_n`.
    """
    try:
        Ed25519PublicKey.from_public_bytes(host_key).verify(signature, _PURPOSE + order)
    except (InvalidSignature, ValueError):
        raise OrderError("an order came that the host's key has not signed") from None
    try:
        values = read_map(order, MAX_ORDER_BYTES)
        check_fields(values, ENVELOPE)
        check_fields(values["fields"], _fields_of(values["kind"]))
    except FieldError as error:
        raise OrderError(f"an order came that is none: {error}") from None
    if values["device"] != session.device:
        raise OrderError("an order came that was signed for another device")
    if values["session"] != session.nonce:
        raise OrderError("an order came that was signed for an earlier connection")
    if values["n"] <= after_n:
        raise OrderError("an order came for the second time")
    return values["n"], values["kind"], values["fields"]


def _fields_of(kind: str) -> Fields:
    fields = ORDERS.get(kind)
    if fields is None:
        raise FieldError(f"there is no order {kind!r:.80}")
    return fields
