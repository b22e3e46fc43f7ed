"""The least values that a table of fields allows, and records made of them."""

from collections.abc import Callable
from typing import Any

from recount_protocol.fields import Field, Fields
from recount_protocol.records import KINDS, NO_HASH, Record, encode_record


def least_value(field: Field) -> Any:
    """Return a value that the field allows."""
    if field.choices:
        return field.choices[0]
    return _LEAST[field.type](field, max(field.lowest, min(field.highest, 3)))


def _least_map(field: Field, length: int) -> dict[str, Any]:
    if field.item is None:
        return {"style": "1", "gates": {"a": 1.5}, "registrations": [[1.0], [2.0]]}
    return {f"k{n}": least_value(field.item) for n in range(length)}


def _least_list(field: Field, length: int) -> list[Any]:
    assert field.item is not None
    return [least_value(field.item) for _ in range(length)]


_LEAST: dict[type, Callable[[Field, int], Any]] = {
    int: lambda field, _length: field.lowest,
    str: lambda _field, length: "0" * length,
    bytes: lambda _field, length: b"\x01" * length,
    list: _least_list,
    dict: _least_map,
}


def least_fields(specified: Fields) -> dict[str, Any]:
    """Return values that the table allows."""
    return {name: least_value(field) for name, field in specified.items()}


def a_record(kind: str) -> bytes:
    """Return a record of this kind."""
    return encode_record(Record("0" * 16, 1, NO_HASH, kind, "r1", 1, least_fields(KINDS[kind])))
