"""Frames on the world's socket: four bytes of length, big-endian, then one msgpack map."""

import socket
import struct
from collections.abc import Mapping
from typing import Any, cast

import msgpack

from recount_world.errors import CallError

MAX_FRAME_BYTES = 64 * 1024 * 1024
"""Two pages of a large ballot at 300 dpi, uncompressed, fit four times over."""

SMALL_BYTES = 65536

_LENGTH = struct.Struct(">I")


def send_message(connection: socket.socket, message: Mapping[str, object], room: int = 4096) -> None:
    """Send one message as a frame; `room` is about how many bytes it takes, where it takes many."""
    body = cast("bytes", msgpack.Packer(use_bin_type=True, buf_size=room).pack(message))
    header = _LENGTH.pack(len(body))
    if len(body) <= SMALL_BYTES:
        connection.sendall(header + body)
    else:
        # Two sends are cheaper than to copy pictures once more.
        connection.sendall(header)
        connection.sendall(body)


def decode_body(body: bytes | bytearray) -> dict[str, Any]:
    """Return the message in a frame's body. Raises CallError where it is no msgpack map with text keys."""
    try:
        message = msgpack.unpackb(body, raw=False, strict_map_key=True)
    except (ValueError, msgpack.exceptions.UnpackException) as error:
        raise CallError(f"a frame is not msgpack: {error}") from error
    if not isinstance(message, dict):
        raise CallError("a frame holds something else than a map")
    fields = cast("dict[object, Any]", message)
    if not all(isinstance(key, str) for key in fields):
        raise CallError("a frame's map has keys that are not text")
    return cast("dict[str, Any]", fields)


class MessageReader:
    """Turns received bytes, however they were cut up, into messages."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[dict[str, Any] | CallError]:
        """Return the messages completed by `data`; a frame that is no message stands as the error it is.

        Raises CallError for a frame longer than MAX_FRAME_BYTES: what follows cannot be told apart any more.
        """
        self._buffer += data
        messages: list[dict[str, Any] | CallError] = []
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > MAX_FRAME_BYTES:
                raise CallError(f"a frame of {length} bytes is longer than {MAX_FRAME_BYTES}")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                break
            body = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            try:
                messages.append(decode_body(body))
            except CallError as error:
                messages.append(error)
        return messages


def receive_exactly(connection: socket.socket, count: int) -> bytearray:
    """Return `count` bytes from a blocking socket, or fewer where the other end closed it."""
    buffer = bytearray(count)
    view = memoryview(buffer)
    filled = 0
    while filled < count:
        got = connection.recv_into(view[filled:])
        if got == 0:
            break
        filled += got
    return buffer if filled == count else bytearray(view[:filled])


def receive_message(connection: socket.socket) -> dict[str, Any] | None:
    """Return the next message from a blocking socket; None where the other end closed it."""
    header = receive_exactly(connection, _LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    if length > MAX_FRAME_BYTES:
        raise CallError(f"a frame of {length} bytes is longer than {MAX_FRAME_BYTES}")
    body = receive_exactly(connection, length)
    if len(body) < length:
        return None
    return decode_body(body)
