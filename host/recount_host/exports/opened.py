"""Opening a bundle to read it: a folder, a tar or a sealed tar, all as one row of files, in bounded memory.

Everything here takes the bundle for hostile. In a folder only plain files at the paths of the manifest are
opened, never through a link; of a tar nothing is ever unpacked.
"""

import os
import stat
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from recount_host.exports.errors import NoBundle
from recount_host.exports.layout import (
    CHUNK_BYTES,
    MANIFEST,
    MANIFEST_SIGNATURE,
    MAX_MANIFEST_BYTES,
    Manifest,
    read_manifest,
)
from recount_host.exports.sealed import MAGIC, unseal
from recount_host.exports.tar import Member, read_tar
from recount_host.given_files import open_plain
from recount_protocol.records import SIGNATURE_BYTES

MAX_STRANGERS = 20
"""So many files that no manifest names are told of; then no more are looked for."""


class Opened(NamedTuple):
    """A bundle whose manifest was read."""

    manifest: Manifest
    manifest_bytes: bytes
    signature: bytes
    members: Iterator[Member]
    """The files behind the manifest; each is read, or passed over, before the next."""


@contextmanager
def open_bundle(path: Path, court: X25519PrivateKey | None) -> Generator[Opened]:
    """Yield the opened bundle at `path`. Raises NoBundle, also while members are read."""
    if path.is_dir():
        yield _open_folder(path)
        return
    try:
        file = os.fdopen(open_plain(path), "rb")
    except OSError as error:
        raise NoBundle(f"the bundle {path} cannot be read: {error.strerror}") from None
    with file:
        is_sealed = file.read(len(MAGIC)) == MAGIC
        file.seek(0)
        if is_sealed and court is None:
            raise NoBundle(f"{path} is sealed to the court's key: give its private key with --court-key")
        if is_sealed and court:
            yield _open_tar(_reader(unseal(file.read, court)), padded=True)
        else:
            yield _open_tar(file.read)


def _open_tar(read: Callable[[int], bytes], *, padded: bool = False) -> Opened:
    members = read_tar(read, padded=padded)
    found: list[bytes] = []
    for wanted, limit in ((MANIFEST, MAX_MANIFEST_BYTES), (MANIFEST_SIGNATURE, SIGNATURE_BYTES)):
        member = next(members, None)
        if member is None or member.path != wanted:
            raise NoBundle(f"it is no bundle: it does not begin with {MANIFEST} and {MANIFEST_SIGNATURE}")
        if member.size > limit:
            raise NoBundle(f"{wanted} would have {member.size} bytes; at most {limit} are possible")
        found.append(b"".join(member.chunks))
    data, signature = found
    return Opened(read_manifest(data), data, signature, _whole(members))


def _whole(members: Iterator[Member]) -> Iterator[Member]:
    """Yield the members; what was not read of one is passed over before the next."""
    for member in members:
        yield member
        for _ in member.chunks:
            pass


def _reader(chunks: Iterator[bytes]) -> Callable[[int], bytes]:
    """Return a `read` over chunks; it holds one of them."""
    kept = memoryview(b"")

    def read(size: int) -> bytes:
        nonlocal kept
        while not kept:
            following = next(chunks, None)
            if following is None:
                return b""
            kept = memoryview(following)
        taken, kept = kept[:size], kept[size:]
        return bytes(taken)

    return read


def _open_folder(folder: Path) -> Opened:
    data, signature = (
        b"".join(_file(folder, name, limit).chunks)
        for name, limit in ((MANIFEST, MAX_MANIFEST_BYTES), (MANIFEST_SIGNATURE, SIGNATURE_BYTES))
    )
    manifest = read_manifest(data)
    return Opened(manifest, data, signature, _members(folder, manifest))


def _members(folder: Path, manifest: Manifest) -> Iterator[Member]:
    for entry in manifest.files:
        if os.path.lexists(folder / entry.path):
            yield _file(folder, entry.path, entry.bytes)
    known = {entry.path for entry in manifest.files} | {MANIFEST, MANIFEST_SIGNATURE}
    yield from (Member(path, 0, iter(())) for path in _strangers(folder, known))


def _file(folder: Path, path: str, limit: int) -> Member:
    """Return the file at `path`; folders on the way and the file itself must be what they seem."""
    place = folder
    for name in path.split("/")[:-1]:
        place /= name
        if not stat.S_ISDIR(_status(place).st_mode):
            raise NoBundle(f"{place} is no folder, but a link or something else: a bundle has none")
    place = folder / path
    if not stat.S_ISREG(_status(place).st_mode):
        raise NoBundle(f"{place} is no plain file, but a link or something else: a bundle has none")
    size = place.stat().st_size
    return Member(path, size, _content(place, limit))


def _status(place: Path) -> os.stat_result:
    try:
        return place.lstat()
    except OSError as error:
        raise NoBundle(f"it is no bundle: {place} cannot be read ({error.strerror})") from None


def _content(place: Path, limit: int) -> Iterator[bytes]:
    """Yield the file's bytes, at most one chunk more than `limit`: that tells that it is longer."""
    try:
        with os.fdopen(open_plain(place, follow=False), "rb") as file:
            done = 0
            while done <= limit and (chunk := file.read(min(CHUNK_BYTES, limit + 1 - done))):
                done += len(chunk)
                yield chunk
    except OSError as error:
        raise NoBundle(f"{place} cannot be read: {error.strerror}") from None


def _strangers(folder: Path, known: Iterable[str]) -> Iterator[str]:
    """Yield the paths of what lies in the folder and is not in its manifest; links are not followed."""
    names = frozenset(known)
    parents = {path.rsplit("/", 1)[0] for path in names if "/" in path}
    parents |= {parent.split("/")[0] for parent in parents}
    waiting = [""]
    told = 0
    while waiting:
        at = waiting.pop()
        try:
            with os.scandir(folder / at) as entries:
                for entry in entries:
                    path = f"{at}{entry.name}"
                    if path in parents and entry.is_dir(follow_symlinks=False):
                        waiting.append(f"{path}/")
                    elif path not in names:
                        yield path
                        told += 1
                        if told >= MAX_STRANGERS:
                            return
        except OSError as error:
            raise NoBundle(f"{folder / at} cannot be read: {error.strerror}") from None
