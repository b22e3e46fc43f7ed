"""Sealed bundles as a target: what the court's key opens."""

import io
from collections.abc import Sequence
from random import Random

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from firmware_tests.fuzz.mutating import havoc
from firmware_tests.fuzz.targets import Target, check_sentence, named
from recount_host.exports import sealed
from recount_host.exports.errors import SealBroken
from recount_host.exports.sealed import CHUNK_BYTES, HEAD_BYTES, TAG_BYTES, seal, unseal

_COURT = X25519PrivateKey.from_private_bytes(b"cour" * 8)
_OTHER = X25519PrivateKey.from_private_bytes(b"othr" * 8)
_PLAINS = (b"", b"a bundle", bytes(CHUNK_BYTES + 10))


def _sealed(plain: bytes, court: X25519PrivateKey = _COURT) -> bytes:
    return b"".join(seal([plain], court.public_key()))


def _seeds() -> Sequence[bytes]:
    sound = _sealed(b"a bundle")
    no_key = sound[: HEAD_BYTES - 40] + bytes(32) + sound[HEAD_BYTES - 8 :]
    return [*map(_sealed, _PLAINS), _sealed(b"x", _OTHER), no_key, sound[:-1]]


def _change(data: bytes, random: Random, most: int) -> bytes:
    what = random.randrange(4)
    if what == 0:
        return _sealed(havoc(data[HEAD_BYTES : HEAD_BYTES + 500], random, 500))
    head, body = data[:HEAD_BYTES], data[HEAD_BYTES:]
    if what == 1:
        return (head + havoc(body, random, most))[:most]
    if what == 2:
        chunk = CHUNK_BYTES + TAG_BYTES
        return (head + body[chunk:] + body[:chunk])[:most]
    return havoc(data, random, most)


def _decode(data: bytes) -> bool:
    """Return whether its head is one; what opens was sealed by a key that belongs to the court's."""
    try:
        plain = b"".join(unseal(io.BytesIO(data).read, _COURT))
    except SealBroken as error:
        check_sentence(error, 300)
        return data.startswith(sealed.MAGIC) and len(data) >= HEAD_BYTES
    chunks = max(1, -(-len(plain) // CHUNK_BYTES))
    assert len(plain) + chunks * TAG_BYTES + HEAD_BYTES == len(data)
    return True


SEALED = Target(
    "sealed bundles", 20_000, 70_000, _seeds, _change, _decode, named(sealed, "unseal _cipher _nonce _up_to")
)
