"""Reading a file that a person named: bounded, refused in one sentence, and never waited for."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

from recount_host.errors import OperatorError

# A pipe with nobody at its other end would be waited for; it is looked at, and refused.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)

_PART_BYTES = 1_000_000


def open_plain(path: Path, *, follow: bool = True) -> int:
    """Return the descriptor of a plain file, opened to be read; a link is followed only with `follow`.

    Raises OSError for anything else.
    """
    descriptor = os.open(path, _FLAGS if follow else _FLAGS | getattr(os, "O_NOFOLLOW", 0))
    # Asked of the open file: the name may stand for another one a moment later.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is no file, but a folder or a device")
    return descriptor


def read_given(
    path: Path, what: str, most: int, refused: type[OperatorError] = OperatorError, instead: str = ""
) -> bytes:
    """Return the bytes of the file at `path`, at most `most`.

    `what` it is stands in the sentence, and `instead` what to do where it is too large. Raises `refused`.
    """
    try:
        with os.fdopen(open_plain(path), "rb") as file:
            data = _at_most(file, most + 1)
    except OSError as error:
        raise refused(f"{what} {path} cannot be read: {error.strerror}") from error
    if len(data) > most:
        size = f"{most // 1_000_000} MB" if most >= 1_000_000 else f"{most} bytes"
        raise refused(f"{what} {path} is larger than {size}: {instead or 'name the right file'}")
    return data


def _at_most(file: BinaryIO, most: int) -> bytes:
    """Return the first bytes of a file. In parts: whoever asks for `most` at once takes memory for all."""
    data = bytearray()
    while part := file.read(min(_PART_BYTES, most - len(data))):
        data += part
    return bytes(data)
