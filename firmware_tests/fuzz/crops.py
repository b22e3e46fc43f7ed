"""Stored pictures as a target: PNG of grey pixels whose chunks were changed and have the right checksums."""

from collections.abc import Sequence
from random import Random
from zlib import compress, crc32

import cv2
import numpy as np

from firmware_tests.fuzz.mutating import havoc
from firmware_tests.fuzz.targets import Target, check_sentence, named
from recount_host.exports import judged
from recount_host.exports.judged import MAX_CROP_PIXELS, NoCrop, decode_crop

_HEAD = b"\x89PNG\r\n\x1a\n"
_SIDE = 12


def _chunk(kind: bytes, content: bytes) -> bytes:
    return len(content).to_bytes(4) + kind + content + crc32(kind + content).to_bytes(4)


def _png(width: int, height: int, content: bytes, *, depth_and_colour: bytes = b"\x08\x00") -> bytes:
    header = width.to_bytes(4) + height.to_bytes(4) + depth_and_colour + bytes(3)
    return _HEAD + _chunk(b"IHDR", header) + _chunk(b"IDAT", content) + _chunk(b"IEND", b"")


def _seeds() -> Sequence[bytes]:
    pixels = np.arange(_SIDE * _SIDE, dtype=np.uint8).reshape(_SIDE, _SIDE)
    rows = compress(b"".join(b"\x00" + row.tobytes() for row in pixels))
    _, written = cv2.imencode(".png", pixels)
    return [
        written.tobytes(),
        _png(_SIDE, _SIDE, rows),
        _png(_SIDE, 2 * _SIDE, rows),
        _png(MAX_CROP_PIXELS, 2, rows),
        _png(0, _SIDE, rows),
        _png(_SIDE, _SIDE, b"no pixels"),
        _png(_SIDE, _SIDE, rows, depth_and_colour=b"\x08\x06"),
    ]


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    """Return kind and content of each whole chunk."""
    found: list[tuple[bytes, bytes]] = []
    at = len(_HEAD)
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4])
        found.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def _change(data: bytes, random: Random, most: int) -> bytes:
    chunks = _chunks(data)
    if not chunks:
        return random.choice(_seeds())[:most]  # a change before has left nothing of it
    if random.random() < 0.03:
        return havoc(data, random, most)
    at = random.randrange(len(chunks))
    kind, content = chunks[at]
    what = random.randrange(8)
    if what == 0:
        chunks.insert(at, chunks[random.randrange(len(chunks))])
    elif what == 1:
        del chunks[at]
    elif what == 2:
        chunks[at] = random.choice((b"PLTE", b"tRNS", b"IDAT", b"gAMA", b"iCCP", b"acTL", b"fcTL")), content
    else:
        chunks[at] = kind, havoc(content, random, most)
    return (_HEAD + b"".join(_chunk(*each) for each in chunks))[:most]


def _decode(data: bytes) -> bool:
    """Return whether it claims to be a PNG."""
    try:
        picture = decode_crop(data)
    except NoCrop as error:
        check_sentence(error, 200)
        return data.startswith(_HEAD)
    assert picture.dtype == np.uint8
    assert picture.ndim == 2
    return True


CROPS = Target("crops", 200_000, 1500, _seeds, _change, _decode, named(judged, "decode_crop"))
