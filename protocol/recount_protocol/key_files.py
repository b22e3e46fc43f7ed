"""What stands in a key file: one Ed25519 key, and for the host the certificate that TLS wants. No I/O.

The certificate is signed by its own key and vouches for nothing: whoever meets it looks at its public key
alone. It has no name, and no time at which it ends. CPython only.
"""

from datetime import datetime

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.x509.oid import NameOID

from recount_protocol.errors import KeyFileError

_NO_NAME = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "recount")])
_ALWAYS = (datetime(2000, 1, 1), datetime(9999, 12, 31))  # noqa: DTZ001  cryptography takes naive times as UTC


def write_key(key: Ed25519PrivateKey) -> bytes:
    """Return the PEM bytes of a key file."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def read_key(data: bytes) -> Ed25519PrivateKey:
    """Return the key in the bytes of a key file. Raises KeyFileError, to be put after the file's name."""
    try:
        key = serialization.load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise KeyFileError("holds no key") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError("holds a key of another kind than Ed25519")
    return key


def write_certificate(key: Ed25519PrivateKey) -> bytes:
    """Return the PEM bytes of the certificate of this key; the same bytes for the same key."""
    begin, end = _ALWAYS
    builder = (
        x509.CertificateBuilder()
        .subject_name(_NO_NAME)
        .issuer_name(_NO_NAME)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begin)
        .not_valid_after(end)
    )
    return builder.sign(key, algorithm=None).public_bytes(serialization.Encoding.PEM)


def key_of_certificate(der: bytes) -> bytes:
    """Return the raw public key in a certificate. Raises KeyFileError where it holds no Ed25519 key."""
    try:
        key = x509.load_der_x509_certificate(der).public_key()
    except (ValueError, UnsupportedAlgorithm):
        raise KeyFileError("is no certificate") from None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyFileError("holds a key of another kind than Ed25519")
    return key.public_bytes_raw()
