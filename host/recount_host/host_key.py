"""The host's own key: what it signs can be held against it for good."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from recount_host.errors import OperatorError

KEY_FILE = "host.key"


@dataclass(frozen=True)
class HostKey:
    """The key pair of this host."""

    private_key: Ed25519PrivateKey

    @property
    def public_key(self) -> bytes:
        """The 32 bytes of the public key."""
        return self.private_key.public_key().public_bytes_raw()

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the public key, 64 hexadecimal digits."""
        return sha256(self.public_key).hexdigest()


def open_host_key(folder: Path) -> HostKey:
    """Return the key kept in the data folder; make the file (mode 0600) where there is none.

    Raises OperatorError where others can read it, or it holds no Ed25519 key.
    """
    path = folder / KEY_FILE
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return HostKey(_read(path))
    except OSError as error:
        raise OperatorError(f"the host's key {path} cannot be made: {error.strerror}") from None
    key = Ed25519PrivateKey.generate()
    with os.fdopen(descriptor, "wb") as file:
        file.write(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        file.flush()
        os.fsync(file.fileno())
    return HostKey(key)


def _read(path: Path) -> Ed25519PrivateKey:
    try:
        if path.stat().st_mode & 0o077:
            raise OperatorError(f"{path} can be read by others than its owner: run chmod 600 {path}")
        loaded = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise OperatorError(f"the host's key {path} cannot be read: {error.strerror}") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise OperatorError(f"{path} holds no key: put the right file back") from None
    if not isinstance(loaded, Ed25519PrivateKey):
        raise OperatorError(f"{path} holds a key of another kind than Ed25519: put the right file back")
    return loaded
