"""The device's key: made once, private, and refused when it is not what it should be."""

import stat
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from recount_device.errors import OperatorError
from recount_device.identity import KEY_FILE, open_identity
from recount_protocol.records import device_id


def test_the_key_is_made_at_the_first_start_and_kept(tmp_path: Path) -> None:
    first = open_identity(tmp_path)
    assert open_identity(tmp_path).public_key == first.public_key


def test_only_its_owner_can_read_the_key(tmp_path: Path) -> None:
    open_identity(tmp_path)
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


def test_the_device_id_is_the_beginning_of_the_keys_hash(tmp_path: Path) -> None:
    identity = open_identity(tmp_path)
    assert identity.device == sha256(identity.public_key).hexdigest()[:16]
    assert identity.device == device_id(identity.public_key)


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    open_identity(tmp_path)
    (tmp_path / KEY_FILE).chmod(0o644)
    with pytest.raises(OperatorError, match="chmod 600"):
        open_identity(tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nxx\n-----END PRIVATE KEY-----"]
)
def test_a_file_without_a_key_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / KEY_FILE).write_bytes(content)
    (tmp_path / KEY_FILE).chmod(0o600)
    with pytest.raises(OperatorError, match="holds no key"):
        open_identity(tmp_path)


def test_a_key_of_another_kind_is_refused(tmp_path: Path) -> None:
    other = X25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (tmp_path / KEY_FILE).write_bytes(other)
    (tmp_path / KEY_FILE).chmod(0o600)
    with pytest.raises(OperatorError, match="another kind than Ed25519"):
        open_identity(tmp_path)
