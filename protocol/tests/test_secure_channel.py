"""TLS inside the delivery's payloads: both ends in memory, and somebody between them."""

import ssl
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.tests.host_key import a_key, key_and_certificate_of_another_kind, server_context
from recount_protocol.errors import ChannelError
from recount_protocol.key_files import key_of_certificate, write_certificate, write_key
from recount_protocol.secure_channel import SecureChannel, longest_message, only_tls_1_3
from recount_protocol.tally_messages import MAX_MESSAGE_BYTES, MAX_PAYLOAD_BYTES

HOST = a_key(1)
HOST_CONTEXT = server_context(HOST)
DEVICE_CONTEXT = only_tls_1_3(server_side=False)


class Pair:
    """Device and host, their payloads handed over one by one."""

    def __init__(self, host_context: ssl.SSLContext = HOST_CONTEXT) -> None:
        self.device = SecureChannel(DEVICE_CONTEXT, server_side=False)
        self.host = SecureChannel(host_context, server_side=True)
        self.seen: list[bytes] = []

    def shake_hands(self) -> "Pair":
        for one, other in ((self.device, self.host), (self.host, self.device), (self.device, self.host)):
            payload = one.output()
            self.seen.append(payload)
            assert other.receive(payload) == b""
        return self


def test_after_three_payloads_both_ends_have_agreed_and_the_device_knows_the_hosts_key():
    pair = Pair().shake_hands()
    assert (pair.device.established, pair.host.established) == (True, True)
    assert pair.device.peer_public_key == HOST.public_key().public_bytes_raw()
    assert (pair.device.output(), pair.host.output()) == (b"", b"")


@given(st.lists(st.tuples(st.booleans(), st.binary(min_size=1, max_size=40_000)), max_size=8))
def test_each_payload_carries_one_message_whatever_its_length(messages: list[tuple[bool, bytes]]):
    pair = Pair().shake_hands()
    for from_host, message in messages:
        one, other = (pair.host, pair.device) if from_host else (pair.device, pair.host)
        assert other.receive(one.seal(message)) == message


def test_the_longest_message_just_fits_into_a_payload():
    pair = Pair().shake_hands()
    message = bytes(MAX_MESSAGE_BYTES)
    payload = pair.host.seal(message)
    assert MAX_PAYLOAD_BYTES - 2 * 22 <= len(payload) <= MAX_PAYLOAD_BYTES
    assert pair.device.receive(payload) == message
    assert longest_message(MAX_PAYLOAD_BYTES) == MAX_MESSAGE_BYTES


def test_what_a_message_says_cannot_be_read_on_the_line():
    pair = Pair().shake_hands()
    assert b"overvote" not in pair.device.seal(b"overvote " * 100)


@given(st.integers(0, 2**16), st.integers(1, 255))
def test_a_payload_that_was_changed_is_never_a_message(place: int, change: int):
    pair = Pair().shake_hands()
    payload = bytearray(pair.host.seal(b"close run r1"))
    payload[place % len(payload)] ^= change
    # A record that claims to be longer is waited for, and never comes: nothing is taken in any case.
    try:
        assert pair.device.receive(bytes(payload)) == b""
    except ChannelError:
        return
    with pytest.raises(ChannelError):
        pair.device.receive(b"".join(pair.host.seal(b"next") for _ in range(2000)))


def test_a_payload_that_comes_twice_is_refused():
    pair = Pair().shake_hands()
    payload = pair.host.seal(b"close run r1")
    assert pair.device.receive(payload) == b"close run r1"
    with pytest.raises(ChannelError):
        pair.device.receive(payload)


def test_a_payload_that_was_left_out_is_noticed():
    pair = Pair().shake_hands()
    pair.device.seal(b"record 1")
    with pytest.raises(ChannelError):
        pair.host.receive(pair.device.seal(b"record 2"))


def test_what_one_connection_said_cannot_be_played_into_another():
    old, new = Pair().shake_hands(), Pair().shake_hands()
    with pytest.raises(ChannelError):
        new.device.receive(old.host.seal(b"close run r1"))


def test_a_man_in_the_middle_can_show_only_a_key_of_his_own():
    pair = Pair(server_context(a_key(66))).shake_hands()
    assert pair.device.peer_public_key != HOST.public_key().public_bytes_raw()


def test_nobody_can_show_the_hosts_certificate_without_its_key(tmp_path: Path):
    folder = tmp_path
    (folder / "certificate").write_bytes(write_certificate(HOST))

    (folder / "key").write_bytes(write_key(a_key(66)))
    with pytest.raises(ssl.SSLError):
        only_tls_1_3(server_side=True).load_cert_chain(folder / "certificate", folder / "key")


def test_a_host_with_a_key_of_another_kind_is_told(tmp_path: Path):
    context = only_tls_1_3(server_side=True)
    other = tmp_path / "other.pem"
    other.write_bytes(key_and_certificate_of_another_kind())
    context.load_cert_chain(other)
    pair = Pair(context).shake_hands()
    with pytest.raises(ChannelError, match="its certificate holds a key of another kind than Ed25519"):
        _ = pair.device.peer_public_key


def test_a_channel_that_the_other_end_has_closed_is_told():
    pair = Pair().shake_hands()
    with suppress(ssl.SSLWantReadError):
        pair.host._tls.unwrap()
    with pytest.raises(ChannelError, match="the other end has closed the channel"):
        pair.device.receive(pair.host.output())


def test_the_certificate_of_a_key_is_always_the_same_and_holds_that_key():
    assert write_certificate(HOST) == write_certificate(HOST)
    der = ssl.PEM_cert_to_DER_cert(write_certificate(HOST).decode())
    assert key_of_certificate(der) == HOST.public_key().public_bytes_raw()


def test_an_end_that_speaks_an_older_tls_gets_nowhere():
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname = False
    old.verify_mode = ssl.CERT_NONE
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    device = SecureChannel(old, server_side=False)
    with pytest.raises(ChannelError, match="unsupported protocol"):
        SecureChannel(HOST_CONTEXT, server_side=True).receive(device.output())


@given(st.binary(min_size=1, max_size=400))
def test_any_bytes_instead_of_a_handshake_are_refused_or_waited_on(data: bytes):
    channel = SecureChannel(HOST_CONTEXT, server_side=True)
    with suppress(ChannelError):
        assert channel.receive(data) == b""
    assert not channel.established
