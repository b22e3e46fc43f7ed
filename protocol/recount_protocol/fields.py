"""Fields of msgpack maps: their types and bounds, and the strict reading of bytes that claim to be one.

Bytes from outside are hostile: duplicate keys (msgpack takes the last silently), unknown and missing fields,
`True` for 1, extension types, deep nesting, control characters and anything outside its bounds are refused.
CPython only.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn, cast

import msgpack

MAX_DEPTH = 8
"""How deep the values of a free map may lie in each other."""

MAX_FREE_ITEMS = 20_000
"""How many values a free map may hold in all."""

MAX_KEY_LENGTH = 200
"""How long the words are that a map of one kind of value has as keys: they stand in sentences for people."""

MAX_INTEGER = 2**53
"""Beyond it a number is no longer exact in every program that may read an export."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What moves a terminal's cursor, breaks a line, or turns the reading direction of what stands beside it."""


class FieldError(ValueError):
    """A value that its field does not allow; its text names the field."""


@dataclass(frozen=True)
class Field:
    """What a field may hold.

    `lowest` to `highest` bound the number itself, or the length of text, bytes, list, map.
    `item` is what a list or map holds; a map without it is free: plain values, bounded in number and depth.
    `choices` are the only words allowed. `or_empty` allows an empty value besides one of the right length.
    """

    type: type
    lowest: int
    highest: int
    item: "Field | None" = None
    choices: tuple[str, ...] = ()
    or_empty: bool = False

    @cached_property
    def is_plainly(self) -> Callable[[Any], bool]:
        """Whether a value is surely allowed, told at once; others are looked at by `_check`.

        Records come by the thousand a second; nearly all of their fields are plain numbers, words, hashes.
        """
        lowest, highest, choices = self.lowest, self.highest, self.choices
        if choices:
            return lambda value: type(value) is str and value in choices
        if self.type is int:
            return lambda value: type(value) is int and lowest <= value <= highest
        if self.type is bytes:
            return lambda value: type(value) is bytes and lowest <= len(value) <= highest
        if self.type is str:
            return lambda value: (
                type(value) is str
                and lowest <= len(value) <= highest
                and value.isascii()
                and value.isprintable()
            )
        return lambda _value: False

    @property
    def text(self) -> str:
        """Return the field's type and bounds as a reader, and the table's hash, know them."""
        if self.choices:
            return " | ".join(self.choices)
        span = str(self.lowest) if self.lowest == self.highest else f"{self.lowest} to {self.highest}"
        if self.or_empty:
            span = f"0 or {span}"
        inner = f" of ({self.item.text})" if self.item else ""
        return f"{_WORDS[self.type]} {span}{inner}"


_WORDS: dict[type, str] = {
    int: "int",
    str: "text of length",
    bytes: "bytes of length",
    list: "list of length",
    dict: "map of length",
}

Fields = Mapping[str, Field]


def read_map(data: bytes, max_bytes: int) -> dict[str, Any]:
    """Return the msgpack map that `data` is, without looking at its fields.

    Raises FieldError for anything that is not exactly one map with text keys, each once.
    """
    return _unpacked(data, max_bytes, _unique)


def read_written_map(data: bytes, max_bytes: int) -> dict[str, Any]:
    """Return the same, in half the time, of bytes that the caller holds against what `write_map` makes of it.

    Of a key that stands twice the last value is taken: the map is then written shorter than `data`.
    Raises FieldError for anything that is not exactly one map; its keys are checked with its fields.
    """
    return _unpacked(data, max_bytes, None)


def _unpacked(
    data: bytes, max_bytes: int, hook: Callable[[list[tuple[Any, Any]]], Any] | None
) -> dict[str, Any]:
    if len(data) > max_bytes:
        raise FieldError(f"{len(data)} bytes; at most {max_bytes} are allowed")
    try:
        value = msgpack.unpackb(
            data,
            raw=False,
            strict_map_key=True,
            object_pairs_hook=hook,
            ext_hook=_no_extension,
            max_str_len=max_bytes,
            max_bin_len=max_bytes,
            max_array_len=MAX_FREE_ITEMS,
            max_map_len=MAX_FREE_ITEMS,
            max_ext_len=0,
        )
    except FieldError:
        raise
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        raise FieldError(f"no msgpack map: {str(error) or type(error).__name__}") from None
    if not isinstance(value, dict):
        raise FieldError("no msgpack map")
    return cast("dict[str, Any]", value)


def _unique(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    result: dict[Any, Any] = {}
    for key, value in pairs:
        if type(key) is not str:
            raise FieldError("a map's key is not text")
        if key in result:
            raise FieldError(f"the key {key!r:.80} stands twice in one map")
        result[key] = value
    return result


def _no_extension(_code: int, _data: bytes) -> Any:
    raise FieldError("a msgpack extension type")


def write_map(values: Mapping[str, Any]) -> bytes:
    """Return the msgpack bytes of a checked map."""
    return cast("bytes", msgpack.packb(values))


def check_fields(values: Any, fields: Fields) -> None:
    """Raise FieldError unless `values` is a map of exactly `fields`, each within its bounds."""
    if type(values) is not dict:
        raise FieldError("a map of fields is missing")
    given = cast("dict[str, Any]", values)
    if given.keys() != fields.keys():
        _tell_difference(given, fields)
    for name, field in fields.items():
        if not field.is_plainly(given[name]):
            _check(name, given[name], field)


def _tell_difference(values: Mapping[str, Any], fields: Fields) -> NoReturn:
    for name in values:
        if name not in fields:
            raise FieldError(f"there is no field {name!r:.80}")
    missing = next(name for name in fields if name not in values)
    raise FieldError(f"the field {missing} is missing")


def in_order(values: Any, fields: Fields) -> dict[str, Any]:
    """Return `values` in the order of `fields`, checked."""
    check_fields(values, fields)
    return {name: values[name] for name in fields}


def _check(name: str, value: Any, field: Field) -> None:
    """Check a value that is not plainly allowed."""
    # type(), because True is no count
    if type(value) is not field.type:
        raise FieldError(f"{name} must be {field.text}, not {type(value).__name__}")
    if field.choices:
        raise FieldError(f"{name} must be {field.text}")
    size = value if field.type is int else len(value)
    if not field.lowest <= size <= field.highest and not (field.or_empty and size == 0):
        raise FieldError(f"{name} must be {field.text}")
    if field.type is str:
        _check_text(name, value)
    elif field.type is list:
        _check_list(name, value, field)
    elif field.type is dict:
        _check_map(name, value, field)


def _check_text(name: str, value: str) -> None:
    if _CONTROL.search(value):
        raise FieldError(f"{name} has control characters")


def _check_list(name: str, values: list[Any], field: Field) -> None:
    item = field.item
    assert item is not None, "a list's field says what it holds"
    for value in values:
        if not item.is_plainly(value):
            _check(name, value, item)


def _check_map(name: str, values: dict[Any, Any], field: Field) -> None:
    if field.item is None:
        _check_free(name, values)
        return
    for key, value in values.items():
        if type(key) is not str:
            raise FieldError(f"{name} has a key that is not text")
        if len(key) > MAX_KEY_LENGTH:
            raise FieldError(f"{name} has a key longer than {MAX_KEY_LENGTH}")
        _check_text(name, key)
        if not field.item.is_plainly(value):
            _check(f"{name}.{key}", value, field.item)


def _check_free(name: str, top: dict[Any, Any]) -> None:
    """Check a free map without recursion, so that depth is bounded by us and not by the interpreter."""
    waiting: list[tuple[Any, int]] = [(top, 1)]
    seen = 1
    while waiting:
        holder, depth = waiting.pop()
        values: Collection[Any] = holder
        if type(holder) is dict:
            _check_free_keys(name, cast("dict[Any, Any]", holder))
            values = cast("dict[Any, Any]", holder).values()
        seen += len(values)
        if seen > MAX_FREE_ITEMS:
            raise FieldError(f"{name} holds more than {MAX_FREE_ITEMS} values")
        if values and depth >= MAX_DEPTH:
            raise FieldError(f"{name} is nested deeper than {MAX_DEPTH}")
        for value in values:
            kind = type(value)
            if kind is float and math.isfinite(value):
                continue  # nearly all of a record's evidence
            if kind is dict or kind is list:
                waiting.append((value, depth + 1))
            else:
                _check_plain(name, value)


def _check_free_keys(name: str, values: Mapping[Any, Any]) -> None:
    for key in values:
        if type(key) is not str:
            raise FieldError(f"{name} has a key that is not text")
        if _CONTROL.search(key):
            raise FieldError(f"{name} has control characters")


def _check_plain(name: str, value: Any) -> None:
    """Check what is neither list, map nor finite number."""
    kind = type(value)
    if kind is str:
        _check_text(name, value)
    elif kind is float:
        raise FieldError(f"{name} holds a number that is not finite")
    elif kind is int:
        if abs(value) > MAX_INTEGER:
            raise FieldError(f"{name} holds a number beyond 2^53")
    elif kind is not bool and kind is not bytes and value is not None:
        raise FieldError(f"{name} holds a {kind.__name__}, which is no plain value")
