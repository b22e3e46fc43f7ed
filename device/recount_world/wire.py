"""Frames on the world's socket: four bytes of length, big-endian, then one msgpack map."""

import os
import socket
import struct
from collections.abc import Mapping
from typing import Any, cast

import msgpack

from recount_world.errors import CallError

MAX_FRAME_BYTES = 1024 * 1024
"""A load of a thousand sheets fits twice; pictures go another way (shared_pictures)."""

_LENGTH = struct.Struct(">I")


def send_message(
    connection: socket.socket, message: Mapping[str, object], descriptor: int | None = None
) -> None:
    """Send one message as a frame, and with it a descriptor of an open file, where one is given."""
    body = cast("bytes", msgpack.packb(message, use_bin_type=True))
    frame = _LENGTH.pack(len(body)) + body
    if descriptor is not None:
        sent = socket.send_fds(connection, [frame], [descriptor])
        frame = frame[sent:]
    connection.sendall(frame)


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


def receive_message(connection: socket.socket) -> tuple[dict[str, Any], int | None] | None:
    """Return the next message from a blocking socket, and the descriptor that came with it, the caller's own.

    None where the other end closed it. Raises CallError for a frame that is no message.
    """
    start, descriptors, _, _ = socket.recv_fds(connection, _LENGTH.size, 1)
    descriptor = descriptors[0] if descriptors else None
    try:
        message = _rest_of_message(connection, start) if start else None
    except BaseException:
        _close(descriptor)
        raise
    if message is None:
        _close(descriptor)
        return None
    return message, descriptor


def _rest_of_message(connection: socket.socket, start: bytes) -> dict[str, Any] | None:
    header = start + receive_exactly(connection, _LENGTH.size - len(start))
    if len(header) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(header)
    if length > MAX_FRAME_BYTES:
        raise CallError(f"a frame of {length} bytes is longer than {MAX_FRAME_BYTES}")
    body = receive_exactly(connection, length)
    return decode_body(body) if len(body) == length else None


def _close(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)
