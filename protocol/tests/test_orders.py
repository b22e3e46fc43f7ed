"""Orders of the host: signed for one device, one connection, one moment."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.tests.host_key import a_key
from protocol.tests.strategies import fields_of, packed
from recount_protocol.errors import OrderError
from recount_protocol.orders import MAX_ORDER_BYTES, ORDERS, Session, read_order, sign_order

HOST = a_key(1)
HOST_KEY = HOST.public_key().public_bytes_raw()
HERE = Session("0123456789abcdef", bytes([7]) * 32)
CLOSE = ("close_run", {"run": "101-1"})


def test_an_order_is_read_as_it_was_signed():
    data, signature = sign_order(HOST, HERE, 1, *CLOSE)
    assert read_order(HOST_KEY, HERE, 0, data, signature) == (1, *CLOSE)


@given(
    st.sampled_from(sorted(ORDERS)).flatmap(lambda kind: st.tuples(st.just(kind), fields_of(ORDERS[kind])))
)
def test_every_order_of_the_table_travels(order: tuple[str, dict[str, Any]]):
    data, signature = sign_order(HOST, HERE, 5, *order)
    assert len(data) <= MAX_ORDER_BYTES
    assert read_order(HOST_KEY, HERE, 4, data, signature) == (5, *order)


def test_an_order_that_another_key_signed_is_refused():
    data, signature = sign_order(a_key(66), HERE, 1, *CLOSE)
    with pytest.raises(OrderError, match="that the host's key has not signed"):
        read_order(HOST_KEY, HERE, 0, data, signature)


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_an_order_changed_in_any_byte_is_refused(place: int, change: int):
    data, signature = sign_order(HOST, HERE, 1, *CLOSE)
    changed = bytearray(data)
    changed[place % len(changed)] ^= change
    with pytest.raises(OrderError, match="has not signed"):
        read_order(HOST_KEY, HERE, 0, bytes(changed), signature)


@pytest.mark.parametrize(
    ("session", "after_n", "why"),
    [
        (Session("fedcba9876543210", HERE.nonce), 0, "signed for another device"),
        (Session(HERE.device, bytes([8]) * 32), 0, "signed for an earlier connection"),
        (HERE, 1, "came for the second time"),
        (HERE, 9, "came for the second time"),
    ],
)
def test_an_order_played_elsewhere_later_or_again_is_refused(session: Session, after_n: int, why: str):
    data, signature = sign_order(HOST, HERE, 1, *CLOSE)
    with pytest.raises(OrderError, match=why):
        read_order(HOST_KEY, session, after_n, data, signature)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"device": HERE.device, "session": HERE.nonce, "n": 1, "kind": "stop", "fields": {}},
        {"device": HERE.device, "session": HERE.nonce, "n": 1, "kind": "close_run", "fields": {}},
        {
            "device": HERE.device,
            "session": HERE.nonce,
            "n": True,
            "kind": "close_run",
            "fields": {"run": "1"},
        },
        [1],
    ],
)
def test_what_the_table_forbids_is_refused_though_the_host_signed_it(value: object):
    data = packed(value)
    with pytest.raises(OrderError, match="that is none"):
        read_order(HOST_KEY, HERE, 0, data, HOST.sign(b"recount order 1\0" + data))


def test_the_host_signs_nothing_that_the_table_forbids():
    with pytest.raises(OrderError, match="close_run: the field run is missing"):
        sign_order(HOST, HERE, 1, "close_run", {})
    with pytest.raises(OrderError, match="there is no order 'stop'"):
        sign_order(HOST, HERE, 1, "stop", {})
