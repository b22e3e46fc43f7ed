"""The device's identity: an Ed25519 key in a file only its owner can read, made at the first start.

The device id is the first 16 hexadecimal digits of the SHA-256 of the raw public key. A copied key is a
copied device; the journal is bound to the key, so a journal and a key that do not belong together are
refused.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from recount_device.durable import write_durably
from recount_device.errors import OperatorError
from recount_protocol.errors import KeyFileError
from recount_protocol.key_files import read_key, write_key
from recount_protocol.key_words import key_words
from recount_protocol.records import device_id

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
        return device_id(self.public_key)

    @property
    def words(self) -> str:
        """The key in words, which people compare with those that the host shows."""
        return key_words(self.public_key)


def open_identity(folder: Path) -> Identity:
    """Return the identity kept in `folder`; make the key file (mode 0600) where there is none.

    Raises OperatorError where the file can be read by others or holds no Ed25519 key.
    """
    path = folder / KEY_FILE
    if not path.exists():
        private_key = Ed25519PrivateKey.generate()
        write_durably(path, write_key(private_key), mode=0o600)
        return Identity(private_key)
    if os.stat(path).st_mode & 0o077:  # noqa: PTH116  follows the link, as the reading below does
        raise OperatorError(f"{path} can be read by others than its owner: run chmod 600 {path}")
    try:
        return Identity(read_key(path.read_bytes()))
    except KeyFileError as error:
        raise OperatorError(f"{path} {error}: put the right file back, or enrol the device anew") from None
