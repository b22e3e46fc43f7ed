"""How a device proves its key, and what such a proof is worth to others."""

from typing import Any

import pytest

from protocol.tests.host_key import a_key
from recount_protocol.errors import ProofError
from recount_protocol.introductions import check_proof, prove

DEVICE = a_key(2)
HOST_KEY = a_key(1).public_key().public_bytes_raw()
CHALLENGE = bytes([9]) * 32


def an_introduction(**changed: Any) -> dict[str, Any]:
    told = {"device": "0123456789abcdef", "name": "alpha", "next_n": 3, "nonce": bytes(32), "boot": 7}
    told["public_key"] = DEVICE.public_key().public_bytes_raw()
    return {**told, "proof": prove(DEVICE, HOST_KEY, CHALLENGE, told), **changed}


def test_the_device_that_has_the_key_is_believed():
    check_proof(HOST_KEY, CHALLENGE, an_introduction())


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "beta"},
        {"next_n": 4},
        {"boot": 8},
        {"nonce": bytes([1]) * 32},
        {"public_key": a_key(3).public_key().public_bytes_raw()},
        {"public_key": bytes(32)},
        {"proof": bytes(64)},
    ],
)
def test_an_introduction_with_anything_changed_is_not(changed: dict[str, Any]):
    with pytest.raises(ProofError):
        check_proof(HOST_KEY, CHALLENGE, an_introduction(**changed))


def test_a_proof_made_for_another_host_or_another_challenge_is_worth_nothing():
    other_host = a_key(66).public_key().public_bytes_raw()
    for host_key, challenge in ((other_host, CHALLENGE), (HOST_KEY, bytes(32))):
        with pytest.raises(ProofError):
            check_proof(host_key, challenge, an_introduction())
