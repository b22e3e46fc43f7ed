"""Fields: every bound of a map that came from outside is held."""

from typing import Any

import msgpack
import pytest

from protocol.tests.strategies import packed
from recount_protocol.fields import (
    MAX_DEPTH,
    MAX_FREE_ITEMS,
    MAX_INTEGER,
    MAX_KEY_LENGTH,
    Field,
    FieldError,
    check_fields,
    in_order,
    read_map,
)

WORD = Field(str, 1, 5)
FREE = Field(dict, 0, 4)


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _level in range(depth - 1):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (Field(int, 1, 9), 0),
        (Field(int, 1, 9), 10),
        (Field(int, 0, 1), True),
        (Field(int, 0, 1), 1.0),
        (WORD, ""),
        (WORD, "longer"),
        (WORD, b"byte"),
        (WORD, "a\x1b[m"),
        (WORD, "a\u202eb"),
        (WORD, "a\u2028b"),
        (WORD, "a\nb"),
        (WORD, "\x9b"),
        (WORD, "\ud800"),
        (Field(str, 0, 0, choices=("yes", "no")), "maybe"),
        (Field(bytes, 2, 2), b"abc"),
        (Field(bytes, 2, 2), b""),
        (Field(bytes, 2, 2, or_empty=True), b"a"),
        (Field(list, 0, 2, item=WORD), ["a", "b", "c"]),
        (Field(list, 0, 2, item=WORD), ["a", 1]),
        (Field(dict, 0, 1, item=WORD), {"a": "b", "c": "d"}),
        (Field(dict, 0, 1, item=WORD), {"a": 1}),
        (Field(dict, 0, 1, item=WORD), {1: "a"}),
        (Field(dict, 0, 1, item=WORD), {"\x00": "a"}),
        (FREE, {"a": float("nan")}),
        (FREE, {"a": float("inf")}),
        (FREE, {"a": MAX_INTEGER + 1}),
        (FREE, {"a": {1: 2}}),
        (FREE, {"a": {"\x00": 2}}),
        (FREE, {"a": ["\x00"]}),
        (FREE, {"a": (1, 2)}),
        (FREE, {"a": [0] * MAX_FREE_ITEMS}),
        (FREE, nested(MAX_DEPTH + 1)),
        (FREE, {"a": [[[[[[[[1]]]]]]]]}),
    ],
)
def test_a_value_that_its_field_does_not_allow_is_refused_by_name(field: Field, value: Any):
    with pytest.raises(FieldError, match=r"^place"):
        check_fields({"place": value}, {"place": field})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (Field(int, 1, 9), 9),
        (WORD, "a b"),
        (Field(str, 0, 0, choices=("yes", "no")), "no"),
        (Field(bytes, 2, 2, or_empty=True), b""),
        (Field(list, 0, 2, item=WORD), ["a", "b"]),
        (Field(dict, 0, 1, item=WORD), {"a": "b"}),
        (FREE, {"a": [1.5, None, True, b"x", "y", -MAX_INTEGER, {"b": []}]}),
        (FREE, nested(MAX_DEPTH)),
    ],
)
def test_a_value_within_its_bounds_is_taken(field: Field, value: Any):
    check_fields({"place": value}, {"place": field})


def test_what_is_no_map_of_fields_is_refused():
    with pytest.raises(FieldError, match="a map of fields is missing"):
        check_fields(None, {})


def test_fields_come_out_in_the_order_of_their_table():
    assert list(in_order({"b": 1, "a": 2}, {"a": Field(int, 0, 9), "b": Field(int, 0, 9)})) == ["a", "b"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",
        packed([1]),
        packed({"a": 1}) + b"\0",
        packed({"a": 1})[:-1],
        packed({1: 1}),
        packed({b"a": 1}),
        packed({"a": msgpack.Timestamp(1)}),
        packed({"a": msgpack.ExtType(5, b"")}),
        packed({"a": msgpack.ExtType(5, b"x")}),
        b"\x81\xa1a\xa2\xff\xfe",
        b"\x82\xa1a\x01\xa1a\x02",
        b"\x81\xa1a\x82\xa1b\x01\xa1b\x02",
        b"\xdf\xff\xff\xff\xff",
        b"\x81\xa1a\xdd\xff\xff\xff\xff",
        b"\x81\xa1a\xc6\xff\xff\xff\xff",
        b"\x81\xa1a" + b"\x91" * 2000 + b"\x01",
    ],
)
def test_bytes_that_are_not_exactly_one_map_with_text_keys_are_refused(data: bytes):
    with pytest.raises(FieldError):
        read_map(data, 10_000)


def test_a_map_longer_than_allowed_is_not_even_read():
    with pytest.raises(FieldError, match="11 bytes; at most 10 are allowed"):
        read_map(bytes(11), 10)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (Field(int, 1, 9), "int 1 to 9"),
        (Field(bytes, 32, 32), "bytes of length 32"),
        (Field(bytes, 32, 32, or_empty=True), "bytes of length 0 or 32"),
        (Field(str, 0, 0, choices=("live", "test")), "live | test"),
        (Field(list, 2, 2, item=WORD), "list of length 2 of (text of length 1 to 5)"),
    ],
)
def test_a_field_tells_its_bounds_in_words(field: Field, text: str):
    assert field.text == text


@pytest.mark.parametrize("data", [packed({"Z" * 9000: 1}), b"\x82" + 4 * packed("Z" * 9000)])
def test_a_word_that_came_from_outside_is_quoted_in_a_few_letters(data: bytes) -> None:
    with pytest.raises(FieldError) as refused:
        check_fields(read_map(data, 60_000), {})
    assert len(str(refused.value)) < 200


def test_the_keys_of_a_map_of_one_kind_are_bounded() -> None:
    field = Field(dict, 0, 4, item=Field(int, 0, 9))
    check_fields({"votes": {"D" * MAX_KEY_LENGTH: 1}}, {"votes": field})
    with pytest.raises(FieldError, match="a key longer than") as refused:
        check_fields({"votes": {"D" * 9000: 99}}, {"votes": field})
    assert len(str(refused.value)) < 200
