"""Feeder messages: the table is what is spoken, and every bound is held at both ends."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.tests.strategies import feeder_message
from recount_protocol import feeder_messages
from recount_protocol.errors import MessageError
from recount_protocol.feeder_messages import FEEDER, MESSAGES, STATION, decode, encode, sender

FIELDS = [(name, field) for name, (_kind, _sender, fields) in sorted(MESSAGES.items()) for field in fields]
LIMITS = {"B": 0xFF, "H": 0xFFFF, "I": 0xFFFFFFFF, "5I": 0xFFFFFFFF, "8I": 0xFFFFFFFF}


def lowest_of(name: str) -> dict[str, Any]:
    return {
        field: (lowest,) * int(code[:-1]) if len(code) > 1 else lowest
        for field, code, lowest, _highest in MESSAGES[name][2]
    }


@given(feeder_message())
def test_what_is_encoded_is_decoded(message: tuple[str, dict[str, Any]]):
    name, fields = message
    payload = encode(name, **fields)
    assert decode(payload) == (name, fields)
    assert len(payload) <= feeder_messages.MAX_PAYLOAD_BYTES


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_refused(payload: bytes):
    try:
        name, fields = decode(payload)
    except MessageError:
        return
    assert encode(name, **fields) == payload


@pytest.mark.parametrize(
    ("name", "field"), FIELDS, ids=lambda part: part if isinstance(part, str) else part[0]
)
def test_a_field_outside_its_bounds_is_refused_at_both_ends(name: str, field: tuple[str, str, int, int]):
    field_name, code, lowest, highest = field
    for wrong in {lowest - 1, highest + 1}:
        values = lowest_of(name) | {field_name: (wrong,) * int(code[:-1]) if len(code) > 1 else wrong}
        with pytest.raises(MessageError, match=f"{name}: {field_name} must be {lowest} to {highest}"):
            encode(name, **values)
        if 0 <= wrong <= LIMITS[code]:
            numbers: list[int] = []
            for value in values.values():
                numbers += value if isinstance(value, tuple) else [value]
            layout = "<B" + "".join(part[1] for part in MESSAGES[name][2])
            with pytest.raises(MessageError, match=f"{field_name} must be"):
                decode(struct.pack(layout, MESSAGES[name][0], *numbers))


@pytest.mark.parametrize("wrong", [True, 1.0, "1", None, (1,) * 5])
def test_a_sheet_number_is_a_number(wrong: Any):
    with pytest.raises(MessageError, match="sheet"):
        encode("feed", sheet=wrong)


@pytest.mark.parametrize("wrong", [7, (1, 2, 3, 4), (1, 2, 3, 4, True)])
def test_counts_are_five_numbers(wrong: Any):
    with pytest.raises(MessageError, match="counts"):
        encode("cleared", counts=wrong)


def test_missing_surplus_and_misnamed_fields_are_refused():
    with pytest.raises(MessageError, match=r"feed has the fields \['sheet'\]"):
        encode("feed")
    with pytest.raises(MessageError, match=r"halt has the fields \[\]"):
        encode("halt", sheet=1)
    with pytest.raises(MessageError, match="feed lacks the field sheet"):
        encode("feed", sheets=1)


def test_an_unknown_message_is_refused():
    with pytest.raises(MessageError, match="no feeder message 'rewind'"):
        encode("rewind")
    for payload in (b"", b"\x00", b"\xff\x01"):
        with pytest.raises(MessageError, match="unknown kind"):
            decode(payload)


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_a_message_of_another_length_is_refused(name: str):
    payload = encode(name, **lowest_of(name))
    for wrong in (payload + b"\0", payload[:-1]):
        with pytest.raises(MessageError, match=r"bytes, not|unknown kind"):
            decode(wrong)


def test_no_two_messages_share_a_kind():
    assert len(feeder_messages.KINDS) == len(MESSAGES)


def test_every_message_has_one_sender():
    assert sender("feed") == STATION
    assert sender("landed") == FEEDER
    assert {sender(name) for name in MESSAGES} == {STATION, FEEDER}


def test_a_change_of_the_table_changes_its_text(monkeypatch: pytest.MonkeyPatch):
    before = feeder_messages.canonical_text()
    monkeypatch.setitem(MESSAGES, "feed", (2, STATION, (("sheet", "I", 0, 9),)))
    assert feeder_messages.canonical_text() != before
