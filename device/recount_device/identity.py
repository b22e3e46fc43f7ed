"""The device's identity: an Ed25519 key in a file only its owner can read, made at the first start.

The device id is the first 16 hexadecimal digits of the SHA-256 of the raw public key. A copied key is a
copied device; the journal is bound to the key, so a journal and a key that do not belong together are
refused.
"""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from recount_device.durable import write_durably
from recount_device.errors import OperatorError

KEY_FILE = "device.key"


@dataclass(frozen=True)
class Identity:
    """The key pair of this device."""

    private_key: Ed25519PrivateKey

    @property
    def public_key(self) -> bytes:
        """The 32 bytes of the public key."""
        return self.private_key.public_key().public_bytes_raw()

    @property
    def device(self) -> str:
        """The device id: 16 hexadecimal digits."""
        return sha256(self.public_key).hexdigest()[:16]


def open_identity(folder: Path) -> Identity:
    """Return the identity kept in `folder`; make the key file (mode 0600) where there is none.

    Raises OperatorError where the file can be read by others or holds no Ed25519 key.
    """
    path = folder / KEY_FILE
    if not path.exists():
        private_key = Ed25519PrivateKey.generate()
        write_durably(
            path,
            private_key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
            mode=0o600,
        )
        return Identity(private_key)
    if os.stat(path).st_mode & 0o077:  # noqa: PTH116  follows the link, as the reading below does
        raise OperatorError(f"{path} can be read by others than its owner: run chmod 600 {path}")
    try:
        loaded = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise OperatorError(
            f"{path} holds no key: put the right file back, or enrol the device anew"
        ) from None
    if not isinstance(loaded, Ed25519PrivateKey):
        raise OperatorError(f"{path} holds a key of another kind than Ed25519: put the right file back")
    return Identity(loaded)
