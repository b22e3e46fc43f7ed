"""Frames: payloads on a byte stream that may lose, repeat, damage or cut anything.

A frame is the payload and its CRC-32 (little-endian), stuffed by COBS (Cheshire and Baker, 1999) so that no
zero byte is left, and one zero byte as the end. After any damage the next zero byte starts afresh.
Runs unchanged on CPython and MicroPython; `split`, `find` and `join` do the work there, because a loop over
bytes costs a Pico eight times as long.
"""

from binascii import crc32
from struct import pack, unpack

from .errors import ChecksumMismatch, FrameGarbled, FrameTooLong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .errors import FrameError

END = b"\x00"
CHECKSUM_BYTES = 4
MAX_BLOCK_BYTES = 254
"""The longest run without a zero byte that one length byte can announce."""


def max_frame_bytes(payload_bytes: int) -> int:
    """Return how long the frame of a payload of `payload_bytes` bytes can be, its end included."""
    body = payload_bytes + CHECKSUM_BYTES
    return body + body // MAX_BLOCK_BYTES + 2


def encode_frame(payload: bytes) -> bytes:
    """Return the frame that carries `payload` (any bytes, also none)."""
    return _stuffed(payload + pack("<I", crc32(payload))) + END


def _stuffed(body: bytes) -> bytes:
    parts: list[bytes] = []
    for group in body.split(END):
        start = 0
        while len(group) - start > MAX_BLOCK_BYTES:
            parts.append(b"\xff")
            parts.append(group[start : start + MAX_BLOCK_BYTES])
            start += MAX_BLOCK_BYTES
        rest = group[start:]
        parts.append(bytes((len(rest) + 1,)))
        parts.append(rest)
        if len(rest) == MAX_BLOCK_BYTES:
            # A full block implies no zero byte after it: an empty block says the one that `split` took away.
            parts.append(b"\x01")
    if parts[-1] == b"\x01" and len(parts[-2]) == MAX_BLOCK_BYTES:
        parts.pop()  # the body ends with the full block: there is no zero byte to say
    return b"".join(parts)


def _unstuffed(stuffed: bytes) -> "bytes | None":
    """Return the body, or None where the blocks do not fill `stuffed` exactly."""
    parts: list[bytes] = []
    position = 0
    length = len(stuffed)
    while position < length:
        code = stuffed[position]
        after = position + code
        if after > length:
            return None
        parts.append(stuffed[position + 1 : after])
        if code <= MAX_BLOCK_BYTES and after < length:
            parts.append(END)
        position = after
    return b"".join(parts)


class FrameReader:
    """Turns received bytes, however they were cut up, into payloads.

    `feed` never blocks and never raises for what the peer sent: a damaged frame comes back as the error it
    is, in its place, so that the caller can count it. No more than one frame's bytes are kept.
    `counts` tells the frames taken and, by cause, the damage seen.
    """

    def __init__(self, max_payload_bytes: int) -> None:
        self._max_payload_bytes = max_payload_bytes
        self._max_stuffed_bytes = max_frame_bytes(max_payload_bytes) - 1
        self._kept = bytearray()
        self._skipping = False
        self.counts = {"frames": 0, "too_long": 0, "garbled": 0, "checksum": 0}

    def feed(self, data: bytes) -> "list[bytes | FrameError]":
        """Return the payloads and errors that `data` completes, in order."""
        found: "list[bytes | FrameError]" = []
        start = 0
        while True:
            end = data.find(END, start)
            piece = data[start:] if end < 0 else data[start:end]
            if not self._skipping and len(self._kept) + len(piece) > self._max_stuffed_bytes:
                self._skipping = True
                self._kept = bytearray()
                found.append(self._counted(FrameTooLong("a frame is longer than the link allows")))
            if not self._skipping:
                self._kept.extend(piece)
            if end < 0:
                return found
            if self._kept:
                found.append(self._finish(bytes(self._kept)))
                self._kept = bytearray()
            self._skipping = False
            start = end + 1

    def _finish(self, stuffed: bytes) -> "bytes | FrameError":
        body = _unstuffed(stuffed)
        if body is None or len(body) < CHECKSUM_BYTES:
            return self._counted(FrameGarbled("a frame's byte stuffing does not add up"))
        payload = body[:-CHECKSUM_BYTES]
        if crc32(payload) != unpack("<I", body[-CHECKSUM_BYTES:])[0]:
            return self._counted(ChecksumMismatch("a frame's checksum is wrong"))
        if len(payload) > self._max_payload_bytes:
            return self._counted(FrameTooLong("a frame is longer than the link allows"))
        self.counts["frames"] += 1
        return payload

    def _counted(self, error: "FrameError") -> "FrameError":
        self.counts[error.cause] += 1
        return error
