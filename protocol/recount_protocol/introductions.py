"""How a device proves that it has its key: a signature over what it says of itself, for this host and now.

The signature covers the host's key and the host's fresh challenge, so it is worth nothing to another host, on
another connection, or later. CPython only.
"""

from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from recount_protocol.errors import ProofError
from recount_protocol.fields import write_map

_PURPOSE = b"recount introduction 1\0"
"""No record and no order begins so: a signature for one can never be shown as one for another."""


def prove(
    key: Ed25519PrivateKey, host_key: bytes, challenge: bytes, introduction: Mapping[str, Any]
) -> bytes:
    """Return the device's signature of its introduction (all its fields, without the proof)."""
    return key.sign(_signed(host_key, challenge, introduction))


def check_proof(host_key: bytes, challenge: bytes, introduction: Mapping[str, Any]) -> None:
    """Raise ProofError unless the introduction bears the proof of the key that it names."""
    try:
        key = Ed25519PublicKey.from_public_bytes(introduction["public_key"])
        key.verify(introduction["proof"], _signed(host_key, challenge, introduction))
    except (InvalidSignature, ValueError):
        raise ProofError("it does not prove that it has the key which it names") from None


def _signed(host_key: bytes, challenge: bytes, introduction: Mapping[str, Any]) -> bytes:
    told = {name: introduction[name] for name in sorted(introduction) if name != "proof"}
    return _PURPOSE + host_key + challenge + write_map(told)
