"""Hypothesis strategies for what travels on the links: payloads, feeder messages, tally messages, records."""

from typing import Any

import msgpack
from hypothesis import strategies as st

from recount_protocol import feeder_messages, tally_messages
from recount_protocol.fields import MAX_INTEGER, Field, Fields
from recount_protocol.records import KINDS, Record

TURNING = "".join(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A))))
"""Characters that turn the reading direction."""

PRINTABLE = st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters=TURNING)


def payloads(max_bytes: int = 240) -> st.SearchStrategy[bytes]:
    """Give payloads, among them many with zero bytes and long runs without one."""
    runs = st.builds(_run, st.integers(0, 255), st.integers(0, max_bytes))
    mixed = st.lists(st.sampled_from([b"\0", b"\xff", b"\x01", b"ballot"]), max_size=max_bytes // 6)
    return st.one_of(st.binary(max_size=max_bytes), runs, mixed.map(b"".join))


def _run(byte: int, length: int) -> bytes:
    return bytes([byte]) * length


def packed(value: Any) -> bytes:
    """Return the msgpack bytes of any value, allowed by a table or not."""
    data = msgpack.packb(value)
    assert data is not None
    return data


def cuts(data: bytes) -> st.SearchStrategy[list[bytes]]:
    """Give the ways to cut `data` into pieces, empty ones too."""
    positions = st.lists(st.integers(0, len(data)), max_size=12).map(sorted)
    return positions.map(
        lambda at: [data[start:end] for start, end in zip([0, *at], [*at, len(data)], strict=True)]
    )


def _feeder_field(field: tuple[str, str, int, int]) -> st.SearchStrategy[Any]:
    _name, code, lowest, highest = field
    number = st.integers(lowest, highest)
    return st.tuples(*[number] * int(code[:-1])) if len(code) > 1 else number


def feeder_fields(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Give fields of the feeder message `name`, within their bounds."""
    return st.fixed_dictionaries(
        {field[0]: _feeder_field(field) for field in feeder_messages.MESSAGES[name][2]}
    )


def feeder_message() -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """Give any feeder message as name and fields."""
    names = st.sampled_from(sorted(feeder_messages.MESSAGES))
    return names.flatmap(lambda name: st.tuples(st.just(name), feeder_fields(name)))


_PLAIN: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-MAX_INTEGER, MAX_INTEGER),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(PRINTABLE, max_size=10),
    st.binary(max_size=10),
)
_FREE: st.SearchStrategy[Any] = st.recursive(
    _PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(PRINTABLE, max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


def values(field: Field) -> st.SearchStrategy[Any]:
    """Give what `field` allows; its longest texts and lists only up to a readable size."""
    longest = max(field.lowest, min(field.highest, 40))
    if field.choices:
        return st.sampled_from(field.choices)
    if field.type is int:
        return st.integers(field.lowest, field.highest)
    if field.type is str:
        return st.text(PRINTABLE, min_size=field.lowest, max_size=longest)
    if field.type is bytes:
        full = st.binary(min_size=field.lowest, max_size=longest)
        return full | st.just(b"") if field.or_empty else full
    few = max(field.lowest, min(field.highest, 5))
    if field.type is list:
        assert field.item is not None
        return st.lists(values(field.item), min_size=field.lowest, max_size=few)
    inner = values(field.item) if field.item else _FREE
    keys = st.text(PRINTABLE, min_size=1, max_size=8)
    return st.dictionaries(keys, inner, min_size=field.lowest, max_size=few)


def fields_of(fields: Fields) -> st.SearchStrategy[dict[str, Any]]:
    """Give a map of `fields`, each within its bounds."""
    return st.fixed_dictionaries({name: values(field) for name, field in fields.items()})


def tally_message() -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """Give any tally message as kind and fields."""
    kinds = st.sampled_from(sorted(tally_messages.MESSAGES))
    return kinds.flatmap(lambda kind: st.tuples(st.just(kind), fields_of(tally_messages.MESSAGES[kind])))


def records(kind: str | None = None) -> st.SearchStrategy[Record]:
    """Give records of `kind`, or of any."""
    kinds = st.just(kind) if kind else st.sampled_from(sorted(KINDS))
    return kinds.flatmap(
        lambda kind: st.builds(
            Record,
            device=st.text("0123456789abcdef", min_size=16, max_size=16),
            n=st.integers(1, MAX_INTEGER),
            prev=st.binary(min_size=32, max_size=32),
            kind=st.just(kind),
            run=st.text(PRINTABLE, max_size=20),
            batch=st.integers(0, 2**32 - 1),
            body=fields_of(KINDS[kind]),
        )
    )
