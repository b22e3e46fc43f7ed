"""Frames: any cutting gives the same payloads, and no damage gives a different one."""

import pytest
from cobs import cobs
from hypothesis import example, given
from hypothesis import strategies as st

from protocol.tests.strategies import cuts, payloads
from recount_protocol.errors import ChecksumMismatch, FrameError, FrameGarbled, FrameTooLong
from recount_protocol.frames import FrameReader, encode_frame, max_frame_bytes

HARD_LENGTHS = [0, 1, 249, 250, 251, 253, 254, 255, 503, 504, 505, 508, 509, 762, 65536]


def read(data: bytes, max_payload_bytes: int = 70_000) -> list[bytes | FrameError]:
    return FrameReader(max_payload_bytes).feed(data)


@given(payloads(1200))
def test_a_payload_comes_back_as_it_was(payload: bytes):
    assert read(encode_frame(payload)) == [payload]


@pytest.mark.parametrize("length", HARD_LENGTHS)
@pytest.mark.parametrize("byte", [b"\0", b"\x01", b"\xff"])
def test_payloads_about_the_length_of_a_block_come_back(length: int, byte: bytes):
    frame = encode_frame(byte * length)
    assert read(frame) == [byte * length]
    assert len(frame) <= max_frame_bytes(length)


@given(payloads(1200))
@example(b"\xff" * 250)
@example(b"\x01" * 504)
def test_the_stuffing_is_cobs_as_others_know_it(payload: bytes):
    frame = encode_frame(payload)
    assert frame.endswith(b"\0")
    body = cobs.decode(frame[:-1])
    assert body[:-4] == payload
    assert frame[:-1] == cobs.encode(body)


@given(
    st.lists(payloads(), max_size=6).flatmap(
        lambda sent: st.tuples(st.just(sent), cuts(b"".join(encode_frame(payload) for payload in sent)))
    )
)
def test_any_cutting_of_the_stream_gives_the_same_payloads(case: tuple[list[bytes], list[bytes]]):
    sent, pieces = case
    reader = FrameReader(240)
    assert [payload for piece in pieces for payload in reader.feed(piece)] == sent


@given(payloads(), st.data())
def test_a_changed_byte_never_gives_a_different_payload(payload: bytes, data: st.DataObject):
    frame = bytearray(encode_frame(payload))
    frame[data.draw(st.integers(0, len(frame) - 1))] ^= data.draw(st.integers(1, 255))
    for item in read(bytes(frame)):
        assert isinstance(item, FrameError) or item == payload


@given(payloads(), st.data())
def test_after_any_damage_the_next_frame_is_whole(payload: bytes, data: st.DataObject):
    noise = data.draw(st.binary(max_size=400))
    assert read(noise + b"\0" + encode_frame(payload), 240)[-1] == payload


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_noise_never_raises_and_never_takes_more_memory_than_a_frame(pieces: list[bytes]):
    reader = FrameReader(100)
    for piece in pieces:
        reader.feed(piece)
        assert len(reader._kept) < max_frame_bytes(100)


def test_each_damage_has_its_error_and_its_counter():
    reader = FrameReader(8)
    errors = reader.feed(
        b"\x09abc\0" + b"\x02a\0" + b"\x06abcde\0" + encode_frame(b"123456789") + b"z" * 90 + b"\0"
    )
    assert [type(error) for error in errors] == [
        FrameGarbled,
        FrameGarbled,
        ChecksumMismatch,
        FrameTooLong,
        FrameTooLong,
    ]
    assert reader.counts == {"frames": 0, "garbled": 2, "checksum": 1, "too_long": 2}


def test_a_frame_without_end_is_refused_once_and_skipped_to_its_end():
    reader = FrameReader(8)
    found = [item for _piece in range(50) for item in reader.feed(b"z" * 10)]
    assert [type(item) for item in found] == [FrameTooLong]
    assert reader.feed(b"zz\0" + encode_frame(b"next")) == [b"next"]


def test_a_payload_just_too_long_is_refused_though_its_frame_would_fit():
    # Zero bytes need no block more, so a longer payload can hide in an allowed number of bytes.
    assert [type(item) for item in read(encode_frame(bytes(255)), 254)] == [FrameTooLong]


def test_zero_bytes_between_frames_are_nothing():
    assert read(b"\0\0" + encode_frame(b"a") + b"\0\0") == [b"a"]
