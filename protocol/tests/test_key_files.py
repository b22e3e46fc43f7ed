"""What a key file may hold: one Ed25519 key, and a certificate that vouches for nothing."""

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization

from protocol.tests.host_key import a_key, key_and_certificate_of_another_kind
from recount_protocol.errors import KeyFileError
from recount_protocol.key_files import key_of_certificate, read_key, write_certificate, write_key


def der_of(pem: bytes) -> bytes:
    return x509.load_pem_x509_certificate(pem).public_bytes(serialization.Encoding.DER)


def test_a_key_that_was_written_is_read_again():
    key = a_key(3)
    assert read_key(write_key(key)).private_bytes_raw() == key.private_bytes_raw()


@pytest.mark.parametrize("data", [b"", b"no key", write_certificate(a_key(3))])
def test_a_file_without_a_key_is_told(data: bytes):
    with pytest.raises(KeyFileError, match="holds no key"):
        read_key(data)


def test_a_key_of_another_kind_is_told():
    with pytest.raises(KeyFileError, match="another kind than Ed25519"):
        read_key(key_and_certificate_of_another_kind())


def test_a_certificate_tells_the_key_it_was_made_for_and_is_the_same_each_time():
    key = a_key(3)
    assert write_certificate(key) == write_certificate(key)
    assert key_of_certificate(der_of(write_certificate(key))) == key.public_key().public_bytes_raw()


def test_what_is_no_certificate_or_one_of_another_kind_is_told():
    with pytest.raises(KeyFileError, match="is no certificate"):
        key_of_certificate(b"no certificate")
    with pytest.raises(KeyFileError, match="another kind than Ed25519"):
        key_of_certificate(der_of(key_and_certificate_of_another_kind()))
