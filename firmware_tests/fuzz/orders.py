"""Orders as a target: what a device makes of an order that the host's key has signed."""

from collections.abc import Sequence
from random import Random

import msgpack
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from firmware_tests.fuzz.mutating import havoc, packed_again
from firmware_tests.fuzz.targets import Target, check_sentence, named
from firmware_tests.fuzz.values import least_fields
from recount_protocol import orders
from recount_protocol.errors import OrderError
from recount_protocol.orders import ORDERS, Session, read_order, sign_order
from recount_protocol.records import SIGNATURE_BYTES

_KEY = Ed25519PrivateKey.from_private_bytes(b"host" * 8)
_PUBLIC = _KEY.public_key().public_bytes_raw()
_SESSION = Session("0" * 16, b"\x01" * 32)
_AFTER_N = 5


def _signed(order: bytes) -> bytes:
    """Return the order behind the signature that the host's key would give it."""
    return _KEY.sign(b"recount order 1\0" + order) + order


def _seeds() -> Sequence[bytes]:
    made = [sign_order(_KEY, _SESSION, 6, kind, least_fields(fields)) for kind, fields in ORDERS.items()]
    others = [
        sign_order(_KEY, session, n, "close_run", {"run": "r1"})
        for session, n in (
            (Session("f" * 16, _SESSION.nonce), 6),
            (Session(_SESSION.device, bytes(32)), 6),
            (_SESSION, _AFTER_N),
        )
    ]
    envelope = {"device": _SESSION.device, "session": _SESSION.nonce, "n": 6, "kind": "no_such", "fields": {}}
    return [
        *(signature + order for order, signature in (*made, *others)),
        _signed(msgpack.packb(envelope) or b""),
        _signed(b"no map"),
    ]


def _change(data: bytes, random: Random, most: int) -> bytes:
    if random.random() < 0.15:
        return havoc(data, random, most)
    return _signed(packed_again(data[SIGNATURE_BYTES:], random, most)[: most - SIGNATURE_BYTES])


def _decode(data: bytes) -> bool:
    """Return whether the host's key has signed it."""
    signature, order = data[:SIGNATURE_BYTES], data[SIGNATURE_BYTES:]
    try:
        n, kind, fields = read_order(_PUBLIC, _SESSION, _AFTER_N, order, signature)
    except OrderError as error:
        check_sentence(error, 1000)
        return "has not signed" not in str(error)
    assert n > _AFTER_N
    again, _ = sign_order(_KEY, _SESSION, n, kind, fields)
    assert len(again) <= orders.MAX_ORDER_BYTES
    return True


ORDERS_TARGET = Target(
    "orders", 200_000, 2000, _seeds, _change, _decode, named(orders, "read_order _fields_of")
)
