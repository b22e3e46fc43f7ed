"""A host's key for tests: the TLS context that a server needs, made of a key in memory."""

import ssl
import tempfile
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from recount_protocol.key_files import write_certificate, write_key
from recount_protocol.secure_channel import only_tls_1_3


def a_key(seed: int) -> Ed25519PrivateKey:
    """Return a key that is the same for the same seed."""
    return Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)


def server_context(key: Ed25519PrivateKey) -> ssl.SSLContext:
    """Return the context of a host with this key; ssl reads certificates from files only."""
    context = only_tls_1_3(server_side=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "host.key"
        path.write_bytes(write_key(key) + write_certificate(key))
        context.load_cert_chain(path)
    return context


def key_and_certificate_of_another_kind() -> bytes:
    """Return the PEM bytes of a key that is not Ed25519, and of its certificate."""
    key = ec.derive_private_key(7, ec.SECP256R1())
    like = x509.load_pem_x509_certificate(write_certificate(a_key(1)))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(like.subject)
        .issuer_name(like.issuer)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(like.not_valid_before_utc)
        .not_valid_after(like.not_valid_after_utc)
        .sign(key, hashes.SHA256())
    )
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return pem + certificate.public_bytes(serialization.Encoding.PEM)
