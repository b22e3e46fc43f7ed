"""The host's own key, Ed25519, in a file only its owner can read, made when it is needed the first time.

Devices pin it by its words and obey no other. Orders bear its signature, and the secure channel shows it.
"""

import os
import ssl
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from recount_host.durable import force_folder
from recount_host.errors import OperatorError
from recount_host.private_files import read_private
from recount_protocol.errors import KeyFileError
from recount_protocol.key_files import read_key, write_certificate, write_key
from recount_protocol.key_words import key_words
from recount_protocol.secure_channel import only_tls_1_3

KEY_FILE = "host.key"
"""Its name in the data folder of a locality; it holds the key, and the certificate that TLS wants."""


@dataclass(frozen=True)
class HostKey:
    """The key pair, and the TLS context that shows it."""

    private_key: Ed25519PrivateKey
    context: ssl.SSLContext

    @property
    def public_key(self) -> bytes:
        """The 32 bytes of the public key."""
        return self.private_key.public_key().public_bytes_raw()

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the public key, 64 hexadecimal digits."""
        return sha256(self.public_key).hexdigest()

    @property
    def words(self) -> str:
        """The key in words, which people compare with those that the device shows."""
        return key_words(self.public_key)


def open_host_key(folder: Path) -> HostKey:
    """Return the key kept in `folder`; make the key file (mode 0600) where there is none.

    Raises OperatorError where it is not its reader's alone, or holds no Ed25519 key with its certificate.
    """
    path = folder / KEY_FILE
    if not path.exists():
        _make(path)
    key = _read(path)
    context = only_tls_1_3(server_side=True)
    try:
        context.load_cert_chain(path)
    except (ssl.SSLError, OSError):
        raise OperatorError(f"{path} lacks the certificate of its key: put the right file back") from None
    return HostKey(key, context)


def host_words(folder: Path) -> str:
    """Return the words of the host's key in `folder`; empty before serve was started there the first time."""
    path = folder / KEY_FILE
    return key_words(_read(path).public_key().public_bytes_raw()) if path.exists() else ""


def _make(path: Path) -> None:
    key = Ed25519PrivateKey.generate()
    beside = path.with_name(path.name + ".new")
    try:
        beside.unlink(missing_ok=True)
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:  # noqa: PTH123
            file.write(write_key(key) + write_certificate(key))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        force_folder(path.parent)  # another key after a power cut would be another host to every device
    except OSError as error:
        raise OperatorError(f"{path} cannot be written: {error.strerror}") from error


def _read(path: Path) -> Ed25519PrivateKey:
    try:
        return read_key(read_private(path))
    except OSError as error:
        raise OperatorError(f"{path} cannot be read: {error.strerror}") from error
    except KeyFileError as error:
        raise OperatorError(
            f"{path} {error}: put the right file back (with another key every device must pin this host anew)"
        ) from None
