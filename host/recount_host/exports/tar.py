"""The tar form of a bundle: POSIX ustar, plain files only, written and read as a stream.

A header has exactly one form for a name and a size, and any other is refused: links, devices, sparse files,
long-name and pax headers, other owners, modes and times cannot be said in it.
"""

import tarfile
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from recount_host.exports.errors import NoBundle
from recount_host.exports.layout import CHUNK_BYTES

BLOCK_BYTES = 512
END = bytes(2 * BLOCK_BYTES)
"""Two empty blocks end a tar."""
MAX_MEMBER_BYTES = 0o77777777777
"""What the header's eleven octal digits can say."""

Read = Callable[[int], bytes]
"""Return at most so many bytes; none at the end."""


class Member(NamedTuple):
    """One file, whose bytes are read before the next one is asked for."""

    path: str
    size: int
    chunks: Iterator[bytes]


def header(path: str, size: int) -> bytes:
    """Return the block that stands before a file's bytes."""
    return _info(path, size).tobuf(tarfile.USTAR_FORMAT, "ascii", "strict")


def _info(path: str, size: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.size = size
    info.mode = 0o444
    return info


def padding(size: int) -> bytes:
    """Return the zero bytes after a file's bytes."""
    return bytes(-size % BLOCK_BYTES)


def read_tar(read: Read, *, padded: bool = False) -> Iterator[Member]:
    """Yield the files of a tar in their order; `padded`: zero bytes may stand behind its end.

    Raises NoBundle where it is not one that an export has written, or ends before its end.
    """
    while True:
        block = _exactly(read, BLOCK_BYTES, "a header")
        if not any(block):
            _check_end(read, padded=padded)
            return
        path, size = _parse(block)
        yield Member(path, size, _content(read, path, size))
        if any(_exactly(read, len(padding(size)), path)):
            raise NoBundle(f"something stands between {path} and the next file of the tar")


def _parse(block: bytes) -> tuple[str, int]:
    try:
        info = tarfile.TarInfo.frombuf(block, "ascii", "strict")
        path, size = info.name, info.size
        plain = 0 <= size <= MAX_MEMBER_BYTES and header(path, size) == block
    except (tarfile.TarError, ValueError, UnicodeError):
        raise NoBundle("it is no tar, or not one that an export has written") from None
    if not plain:
        raise NoBundle(f"{path!r:.120} in the tar is no plain file as an export writes it (a link, or worse)")
    return path, size


def _content(read: Read, path: str, size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = read(min(left, CHUNK_BYTES))
        if not chunk:
            raise NoBundle(f"the tar ends within {path}: it was cut off")
        left -= len(chunk)
        yield chunk


def _exactly(read: Read, size: int, where: str) -> bytes:
    parts: list[bytes] = []
    left = size
    while left:
        part = read(left)
        if not part:
            raise NoBundle(f"the tar ends at {where}: it was cut off, or is no tar")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _check_end(read: Read, *, padded: bool) -> None:
    if any(_exactly(read, BLOCK_BYTES, "its end")):
        raise NoBundle("the tar has an empty block within")
    while behind := read(CHUNK_BYTES):
        if not padded or any(behind):
            raise NoBundle("something stands after the end of the tar")


def tar_bytes(files: Iterable[tuple[str, int, Iterable[bytes]]]) -> Iterator[bytes]:
    """Yield the bytes of a tar of these files (path, size, bytes)."""
    for path, size, chunks in files:
        yield header(path, size)
        yield from chunks
        yield padding(size)
    yield END
