"""Records: signed and chained as written; what was not written by `encode_record` is no record."""

from dataclasses import replace
from typing import Any

import msgpack
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.tests.strategies import packed, records
from recount_protocol.errors import RecordError
from recount_protocol.records import (
    KINDS,
    MAX_RECORD_BYTES,
    NO_HASH,
    ORDER,
    Record,
    check_next,
    decode_record,
    device_id,
    encode_record,
    record_hash,
    sign,
    verify,
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC_KEY = KEY.public_key().public_bytes_raw()


def a_record(**changed: Any) -> Record:
    fields: dict[str, Any] = {
        "device": device_id(PUBLIC_KEY),
        "n": 1,
        "prev": NO_HASH,
        "kind": "fault",
        "run": "",
        "batch": 0,
        "body": {"word": "jam", "detail": "at the camera"},
    }
    return Record(**(fields | changed))


@given(records())
def test_what_is_encoded_is_decoded(record: Record):
    assert decode_record(encode_record(record)) == record


@pytest.mark.parametrize("kind", sorted(KINDS))
@settings(max_examples=10)  # of each kind: the order does not hang on the values
@given(data=st.data())
def test_a_record_is_written_in_its_order_whatever_order_it_was_made_in(kind: str, data: st.DataObject):
    record = data.draw(records(kind))
    turned = replace(record, body=dict(reversed(record.body.items())))
    assert encode_record(turned) == encode_record(record)
    assert list(msgpack.unpackb(encode_record(record))) == list(ORDER)


def test_a_records_bytes_never_change():
    # Signed records lie in journals: if this fails, they can no longer be read as they were signed.
    assert record_hash(encode_record(a_record())).hex() == (
        "289c4eaba9aaea24f584c48d472b6b4412612ce379a85d942f8a4f27b54a5626"
    )


def test_a_record_in_another_order_is_refused():
    values = msgpack.unpackb(encode_record(a_record()))
    turned = packed(dict(reversed(values.items())))
    with pytest.raises(RecordError, match="not in their order"):
        decode_record(turned)


def test_a_record_in_a_longer_form_is_refused():
    data = encode_record(a_record())
    assert data.count(b"\xa1n\x01") == 1
    with pytest.raises(RecordError, match="shortest form"):
        decode_record(data.replace(b"\xa1n\x01", b"\xa1n\xcd\x00\x01"))


@pytest.mark.parametrize("twice", [b"\xa1n", b"\xa4word"])
def test_a_key_that_stands_twice_is_named(twice: bytes):
    data = encode_record(a_record())
    at = data.index(twice)
    maps = {b"\xa1n": (b"\x87", b"\x88"), b"\xa4word": (b"\xa4body\x82", b"\xa4body\x83")}
    before, after = maps[twice]
    doubled = data[:at] + twice + b"\x05" + data[at:]
    with pytest.raises(RecordError, match=f"the key '{twice[1:].decode()}' stands twice"):
        decode_record(doubled.replace(before, after, 1))


@given(records(), st.data())
def test_a_changed_byte_is_another_record_or_none(record: Record, data: st.DataObject):
    changed = bytearray(encode_record(record))
    changed[data.draw(st.integers(0, len(changed) - 1))] ^= data.draw(st.integers(1, 255))
    try:
        other = decode_record(bytes(changed))
    except RecordError:
        return
    assert encode_record(other) == bytes(changed)
    with pytest.raises(RecordError):
        verify(PUBLIC_KEY, bytes(changed), sign(KEY, encode_record(record)))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"kind": "votes"}, "there is no kind 'votes'"),
        ({"n": 0}, "n must be int 1 to"),
        ({"n": True}, "n must be int"),
        ({"prev": b""}, "prev must be bytes of length 32"),
        ({"device": "short"}, "device must be text of length 16"),
        ({"batch": -1}, "batch must be int"),
        ({"body": {}}, "the field word is missing"),
        ({"body": {"word": "jam", "detail": "", "votes": 1}}, "there is no field 'votes'"),
        ({"body": None}, "a map of fields is missing"),
    ],
)
def test_a_record_that_its_table_does_not_allow_is_not_written(changed: dict[str, Any], sentence: str):
    with pytest.raises(RecordError, match=sentence):
        encode_record(a_record(**changed))


@pytest.mark.parametrize("data", [b"", b"\x80", packed({"kind": "fault"}), bytes(MAX_RECORD_BYTES + 1)])
def test_what_is_no_record_is_refused(data: bytes):
    with pytest.raises(RecordError, match="no record"):
        decode_record(data)


def test_a_record_without_a_body_is_refused():
    values = msgpack.unpackb(encode_record(a_record()))
    del values["body"]
    with pytest.raises(RecordError, match="a map of fields is missing"):
        decode_record(packed(values))


def test_a_record_too_long_for_the_link_is_not_written():
    evidence = {str(number): "x" * 1000 for number in range(70)}
    body: dict[str, Any] = {
        "sheet": 1,
        "fate": "counted",
        "choices": ["D"],
        "reasons": [],
        "style": "card-3",
        "length_mm": 280,
        "evidence": evidence,
        "crop_sha256": b"",
        "crop_bytes": 0,
        "place": 0,
        "feeder": [1, 1, 0, 0, 0, 0],
    }
    with pytest.raises(RecordError, match="at most 60000 are allowed"):
        encode_record(a_record(kind="sheet_judged", body=body))


def test_a_signature_is_good_for_its_bytes_and_key_alone():
    data = encode_record(a_record())
    signature = sign(KEY, data)
    verify(PUBLIC_KEY, data, signature)
    other_key = Ed25519PrivateKey.from_private_bytes(bytes(32)).public_key().public_bytes_raw()
    for key, signed, by in (
        (other_key, data, signature),
        (PUBLIC_KEY, data + b"\0", signature),
        (PUBLIC_KEY, data, bytes(64)),
        (PUBLIC_KEY, data, b"short"),
        (b"no key", data, signature),
    ):
        with pytest.raises(RecordError, match="not that of its device's key"):
            verify(key, signed, by)


def test_a_chain_admits_only_the_next_record():
    first = a_record()
    first_hash = record_hash(encode_record(first))
    second = a_record(n=2, prev=first_hash)
    check_next(NO_HASH, 1, first)
    check_next(first_hash, 2, second)
    with pytest.raises(RecordError, match="it has another number than the record that comes next"):
        check_next(first_hash, 3, second)
    with pytest.raises(RecordError, match="it does not follow the record before it"):
        check_next(NO_HASH, 2, second)


def test_a_device_is_named_by_its_key():
    assert device_id(PUBLIC_KEY) == "56475aa75463474c"
