"""Sealing a bundle to the court's key, so that only the court can read it.

The form, all numbers in bytes:

    17      "recount-sealed-1" and a line feed
    32      public X25519 key made for this file alone
    8       first bytes of the SHA-256 of the court's public key: tells which key opens it
    then chunks of 65,536 bytes (the last one shorter, maybe empty), each with 16 bytes of tag

X25519 of the file's key and the court's key, through HKDF-SHA256 (salt: the 57 bytes above and the court's
public key; info "recount bundle"), gives the ChaCha20-Poly1305 key. The nonce of chunk i is i as 11 bytes
big-endian and one byte that is 1 in the last chunk, else 0: chunks cannot be left out, repeated, exchanged or
cut off. The construction is that of STREAM (Hoang, Reyhanitabar, Rogaway, Vizar 2015), as age has it.

A bundle may be sealed while its ballots are still to be counted blind, and each sheet adds a picture to it.
So zero bytes stand behind it up to the next power of two: the size of the file tells next to nothing.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from recount_host.exports.errors import ExportRefused, NoBundle, SealBroken
from recount_host.private_files import read_private

MAGIC = b"recount-sealed-1\n"
CHUNK_BYTES = 64 * 1024
TAG_BYTES = 16
KEY_BYTES = 32
NAME_BYTES = 8
HEAD_BYTES = len(MAGIC) + KEY_BYTES + NAME_BYTES
LEAST_BYTES = 64 * 1024 * 1024
"""No sealed bundle is smaller: the sheets of most precincts leave it at that."""


def key_name(public_key: X25519PublicKey) -> str:
    """Return the first 16 hex digits of the SHA-256 of a court's public key: its name."""
    return sha256(public_key.public_bytes_raw()).hexdigest()[: 2 * NAME_BYTES]


def padded_size(size: int) -> int:
    """Return the size to which so many bytes are padded."""
    return max(LEAST_BYTES, 1 << max(size - 1, 0).bit_length())


def padded(plain: Iterable[bytes]) -> Iterator[bytes]:
    """Yield these bytes, and zero bytes up to their padded size."""
    size = 0
    for piece in plain:
        size += len(piece)
        yield piece
    left = padded_size(size) - size
    while left:
        zeros = bytes(min(left, CHUNK_BYTES))
        yield zeros
        left -= len(zeros)


def seal(plain: Iterable[bytes], court: X25519PublicKey) -> Iterator[bytes]:
    """Yield the sealed file of these bytes. Holds one chunk at a time."""
    own = X25519PrivateKey.generate()
    head = MAGIC + own.public_key().public_bytes_raw() + bytes.fromhex(key_name(court))
    yield head
    cipher = _cipher(own.exchange(court), head, court)
    kept = bytearray()
    number = 0
    for piece in plain:
        kept += piece
        # One byte more than a chunk must be there: only then is it not the last one.
        while len(kept) > CHUNK_BYTES:
            yield cipher.encrypt(_nonce(number, last=False), bytes(kept[:CHUNK_BYTES]), None)
            del kept[:CHUNK_BYTES]
            number += 1
    yield cipher.encrypt(_nonce(number, last=True), bytes(kept), None)


def unseal(read: Callable[[int], bytes], court: X25519PrivateKey) -> Iterator[bytes]:
    """Yield the bytes that were sealed. Raises SealBroken; what was yielded before is as it was sealed."""
    head = _up_to(read, HEAD_BYTES)
    if len(head) < HEAD_BYTES or not head.startswith(MAGIC):
        raise SealBroken("it is no sealed bundle")
    if head[-NAME_BYTES:].hex() != key_name(court.public_key()):
        raise SealBroken(
            f"it is sealed to the key {head[-NAME_BYTES:].hex()}, this is {key_name(court.public_key())}: "
            "give the private key that belongs to it"
        )
    try:
        shared = court.exchange(X25519PublicKey.from_public_bytes(head[len(MAGIC) : len(MAGIC) + KEY_BYTES]))
    except ValueError:
        raise SealBroken("the sealed bundle was changed: its key is none") from None
    cipher = _cipher(shared, head, court.public_key())
    number = 0
    chunk = _up_to(read, CHUNK_BYTES + TAG_BYTES)
    while True:
        following = _up_to(read, CHUNK_BYTES + TAG_BYTES)
        try:
            yield cipher.decrypt(_nonce(number, last=not following), chunk, None)
        except InvalidTag:
            at = HEAD_BYTES + number * (CHUNK_BYTES + TAG_BYTES)
            raise SealBroken(f"the sealed bundle was changed or cut off at byte {at} or behind it") from None
        if not following:
            return
        number, chunk = number + 1, following


def _cipher(shared: bytes, head: bytes, court: X25519PublicKey) -> ChaCha20Poly1305:
    salt = head + court.public_bytes_raw()
    return ChaCha20Poly1305(HKDF(SHA256(), KEY_BYTES, salt, b"recount bundle").derive(shared))


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([last])


def _up_to(read: Callable[[int], bytes], size: int) -> bytes:
    parts: list[bytes] = []
    left = size
    while left:
        part = read(left)
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


# The court's key


def make_court_key(path: Path) -> X25519PublicKey:
    """Write a new private key to `path` (readable by its owner only) and the public one beside it.

    Returns the public key. Raises ExportRefused where a file is there already or cannot be written.
    """
    private_key = X25519PrivateKey.generate()
    public_key = private_key.public_key()
    private_pem = private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public_pem = public_key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for target, content, mode in ((path, private_pem, 0o600), (public_path(path), public_pem, 0o644)):
        try:
            with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(content)
        except FileExistsError:
            raise ExportRefused(
                f"{target} is there already; a key is never overwritten: name another file"
            ) from None
        except OSError as error:
            raise ExportRefused(f"{target} cannot be written: {error.strerror}") from None
    return public_key


def public_path(path: Path) -> Path:
    """Return where the public key stands beside the private one."""
    return path.with_name(f"{path.name}.pub")


def read_court_public_key(path: Path) -> X25519PublicKey:
    """Return the court's public key. Raises ExportRefused."""
    data = _key_file(path, ExportRefused)
    if b"PRIVATE KEY" in data:
        raise ExportRefused(
            f"{path} is a private key, which the court keeps to itself: give {public_path(path)}"
        )
    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, X25519PublicKey):
        raise ExportRefused(
            f"{path} is no public key of a court: it is made with recount-host court-key make"
        )
    return key


def read_court_private_key(path: Path) -> X25519PrivateKey:
    """Return the court's private key. Raises NoBundle, and NotPrivate where others can read it too."""
    data = _key_file(path, NoBundle)
    try:
        key = load_pem_private_key(data, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, X25519PrivateKey):
        raise NoBundle(f"{path} is no private key of a court: it is made with recount-host court-key make")
    return key


def _key_file(path: Path, refused: type[ExportRefused] | type[NoBundle]) -> bytes:
    try:
        return read_private(path)
    except OSError as error:
        raise refused(f"the key {path} cannot be read: {error.strerror}") from None
