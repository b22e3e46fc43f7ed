"""Changing bytes and values at random, before checksums and hashes are made right again."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, cast

import msgpack

_NUMBERS = (0, 1, -1, 255, 2**31, 2**32 - 1, 2**53, 2**53 + 1, 2**64 - 1, -(2**63), 0.0, -0.0, 1e308)
_TEXTS = ("", "x", "\x1b[2J", "\u202e", "\n", "a" * 70, "a" * 1100)
_BYTES = (b"", b"\0" * 16, b"\0" * 32, b"x" * 64)
_TREES: tuple[Any, ...] = ([], {}, [[]], {"": 0}, {"a": {"b": {"c": {}}}}, [0] * 70)
_STRANGE = (None, True, False, float("inf"), float("nan"), msgpack.ExtType(5, b"x"), msgpack.Timestamp(1))
ODD: tuple[Any, ...] = (*_NUMBERS, *_TEXTS, *_BYTES, *_TREES, *_STRANGE)
"""Values that no field expects, or just beyond what it allows."""


def havoc(data: bytes, random: Random, most: int) -> bytes:
    """Return the bytes with a few flipped, put in, taken out or exchanged; at most `most` of them."""
    changed = bytearray(data)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(changed) + 1)
        what = random.randrange(6)
        if what == 0 and changed:
            changed[at % len(changed)] ^= 1 << random.randrange(8)
        elif what == 1 and changed:
            changed[at % len(changed)] = random.choice(b"\x00\x01\x7f\x80\xff\xc0\xc7\xdf")
        elif what == 2:
            changed[at:at] = random.randbytes(random.randrange(1, 9))
        elif what == 3:
            del changed[at : at + random.randrange(1, 9)]
        elif what == 4:
            changed[at:at] = changed[: random.randrange(1, 40)]
        else:
            del changed[at:]
    return bytes(changed[:most])


def another_value(value: Any, random: Random) -> Any:
    """Return a tree of plain values with one place in it changed."""
    if isinstance(value, dict) and value and random.random() < 0.9:
        return _another_map(cast("dict[Any, Any]", value), random)
    if isinstance(value, list) and value and random.random() < 0.9:
        items = list(cast("list[Any]", value))
        at = random.randrange(len(items))
        what = random.randrange(8)
        if what == 0:
            del items[at]
        elif what == 1:
            items.insert(at, items[random.randrange(len(items))])
        else:
            items[at] = another_value(items[at], random)
        return items
    if isinstance(value, bytes) and random.random() < 0.5:
        return havoc(value, random, 70_000)
    if isinstance(value, int) and random.random() < 0.5:
        return value + random.choice((-1, 1, 2, -256))
    return random.choice(ODD)


def _another_map(value: dict[Any, Any], random: Random) -> Any:
    items = dict(value)
    key = random.choice(list(items))
    what = random.randrange(10)
    if what == 0:
        del items[key]
    elif what == 1:
        items[random.choice(("more", "", 7, b"x"))] = items[key]
    elif what == 2:
        return msgpack.Unpacker  # told apart by `packed_again`: a key that stands twice
    else:
        items[key] = another_value(items[key], random)
    return items


def packed_again(data: bytes, random: Random, most: int) -> bytes:
    """Return msgpack bytes with one value changed, a key doubled, or deeper than anybody needs."""
    what = random.randrange(12)
    if what == 0 and data and data[0] & 0xF0 == 0x80 and data[0] < 0x8F:
        return bytes([data[0] + 1]) + data[1:] + data[1:20]  # maybe the first key once more
    if what == 1:
        depth = random.choice((5, 9, 40, 600, 2000))
        return b"\x81\xa1a" * depth + b"\x01"
    try:
        value: Any = msgpack.unpackb(data, strict_map_key=False)
        return (msgpack.packb(_plain(another_value(value, random))) or b"")[:most]
    except (ValueError, TypeError, OverflowError, msgpack.UnpackException):
        return havoc(data, random, most)


def _plain(value: Any) -> Any:
    """Return the tree without what stands for a doubled key, which no packer writes."""
    return None if value is msgpack.Unpacker else value


def one_of(random: Random, ways: Sequence[Callable[[], bytes]]) -> bytes:
    """Return what one of these ways makes."""
    return random.choice(ways)()
