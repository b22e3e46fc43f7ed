"""Tally messages: strict maps, each kind with its fields and nothing else."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.tests.strategies import packed, tally_message
from recount_protocol import tally_messages
from recount_protocol.errors import MessageError
from recount_protocol.records import MAX_RECORD_BYTES, SIGNATURE_BYTES
from recount_protocol.tally_messages import (
    MAX_MESSAGE_BYTES,
    MAX_RECORDS,
    OVER_SERIAL,
    PART_BYTES,
    pack,
    records_for_one_message,
    signed_records,
    unpack,
)


@given(tally_message())
def test_what_is_packed_is_unpacked(message: tuple[str, dict[str, Any]]):
    kind, fields = message
    assert unpack(pack(kind, **fields)) == (kind, fields)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_refused(data: bytes):
    with pytest.raises(MessageError):
        unpack(data)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)


@given(ANYTHING)
def test_any_msgpack_is_a_message_or_refused(value: Any):
    with pytest.raises(MessageError):
        unpack(packed(value))


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("records", {"records": [bytes(SIGNATURE_BYTES + MAX_RECORD_BYTES)]}),
        (
            "crop_part",
            {
                "n": 2**53,
                "offset": 0,
                "total": 2**24,
                "sha256": bytes(32),
                "part": bytes(PART_BYTES),
            },
        ),
    ],
)
def test_the_longest_messages_fit_into_a_payload_when_they_are_sealed(kind: str, fields: dict[str, Any]):
    assert len(pack(kind, **fields)) <= MAX_MESSAGE_BYTES


def test_a_missing_a_surplus_and_an_unknown_field_are_refused():
    with pytest.raises(MessageError, match="acknowledged: the field n is missing"):
        pack("acknowledged")
    with pytest.raises(MessageError, match="there is no field 'm'"):
        pack("acknowledged", n=1, m=1)
    with pytest.raises(MessageError, match="there is no kind 'votes'"):
        pack("votes", n=1)
    with pytest.raises(MessageError, match="there is no kind 'votes'"):
        unpack(packed({"kind": "votes"}))
    with pytest.raises(MessageError, match="there is no kind None"):
        unpack(packed({"n": 1}))
    with pytest.raises(MessageError, match="there is no kind 7"):
        unpack(packed({"kind": 7, "n": 1}))


def test_true_is_no_number():
    with pytest.raises(MessageError, match="n must be int 0 to"):
        unpack(packed({"kind": "acknowledged", "n": True}))


def test_a_key_that_stands_twice_is_refused():
    twice = b"\x83\xa4kind\xacacknowledged\xa1n\x01\xa1n\x02"
    with pytest.raises(MessageError, match="the key 'n' stands twice"):
        unpack(twice)


def test_a_message_longer_than_a_sealed_payload_holds_is_refused():
    with pytest.raises(MessageError, match=f"{MAX_MESSAGE_BYTES} are allowed"):
        unpack(bytes(MAX_MESSAGE_BYTES + 1))


def test_the_hash_covers_the_orders_too():
    assert "close_run run: text of length 1 to 64" in tally_messages.canonical_text()


def test_the_hash_covers_the_records_too(monkeypatch: pytest.MonkeyPatch):
    before = tally_messages.canonical_text()
    assert "sheet_judged evidence: map of length 0 to 256" in before
    monkeypatch.setitem(tally_messages.KINDS, "run_closed", tally_messages.KINDS["fault"])
    assert tally_messages.canonical_text() != before


def test_a_message_of_records_is_filled_in_order_and_gives_them_back():
    waiting = [(bytes([n]) * 500, bytes([n]) * SIGNATURE_BYTES) for n in range(20)]
    taken = records_for_one_message(waiting, OVER_SERIAL.records_bytes)
    length = sum(map(len, taken))
    assert length <= OVER_SERIAL.records_bytes < length + 500 + SIGNATURE_BYTES
    _, fields = unpack(pack("records", records=taken))
    assert signed_records(fields) == waiting[: len(taken)]


def test_a_record_longer_than_a_message_of_many_goes_alone():
    longest = (bytes(MAX_RECORD_BYTES), bytes(SIGNATURE_BYTES))
    assert len(records_for_one_message([longest, longest], OVER_SERIAL.records_bytes)) == 1


def test_the_shortest_records_are_no_more_than_a_message_may_hold():
    taken = records_for_one_message([(b"x", bytes(SIGNATURE_BYTES))] * 1000, 1_000_000)
    assert pack("records", records=taken)
    assert len(taken) == MAX_RECORDS


def test_nothing_waits_and_nothing_is_taken():
    assert records_for_one_message([], OVER_SERIAL.records_bytes) == []
