"""A host's key for tests: the TLS context that a server needs, made of a key in memory."""

import ssl
import tempfile
from pathlib import Path

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
