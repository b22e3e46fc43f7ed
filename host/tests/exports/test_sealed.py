"""Sealing: only the court's key opens it, and nothing can be changed, left out, exchanged or cut off."""

import io
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from host.tests.exports.localities import verified
from host.tests.exports.tampering import sound_bundle
from recount_host.exports.errors import ExportRefused, NoBundle, SealBroken
from recount_host.exports.sealed import (
    CHUNK_BYTES,
    HEAD_BYTES,
    LEAST_BYTES,
    TAG_BYTES,
    make_court_key,
    padded,
    padded_size,
    public_path,
    read_court_private_key,
    read_court_public_key,
    seal,
    unseal,
)

COURT = X25519PrivateKey.from_private_bytes(b"c" * 32)
SEALED_CHUNK = CHUNK_BYTES + TAG_BYTES


def sealed(plain: bytes) -> bytes:
    return b"".join(seal([plain], COURT.public_key()))


def opened(data: bytes, court: X25519PrivateKey = COURT) -> bytes:
    return b"".join(unseal(io.BytesIO(data).read, court))


@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES])
def test_what_was_sealed_comes_out(size: int) -> None:
    plain = bytes(range(256)) * (size // 256 + 1)
    data = sealed(plain[:size])
    assert opened(data) == plain[:size]
    assert plain[:64] not in data


@settings(max_examples=30)
@given(st.lists(st.binary(max_size=3 * CHUNK_BYTES // 2), max_size=4))
def test_however_the_bytes_come_cut_up(pieces: list[bytes]) -> None:
    assert opened(b"".join(seal(pieces, COURT.public_key()))) == b"".join(pieces)


@settings(max_examples=40)
@given(st.data())
def test_a_flipped_bit_is_found(data: st.DataObject) -> None:
    whole = bytearray(sealed(b"x" * (2 * CHUNK_BYTES + 100)))
    whole[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(SealBroken):
        opened(bytes(whole))


@pytest.mark.parametrize("chunks", [0, 1, 2])
def test_a_file_cut_off_between_chunks_is_found(chunks: int) -> None:
    with pytest.raises(SealBroken, match="changed or cut off"):
        opened(sealed(b"x" * 3 * CHUNK_BYTES)[: HEAD_BYTES + chunks * SEALED_CHUNK])


def test_chunks_in_another_order_are_found() -> None:
    whole = sealed(b"a" * CHUNK_BYTES + b"b" * CHUNK_BYTES + b"c")
    head, first = whole[:HEAD_BYTES], whole[HEAD_BYTES : HEAD_BYTES + SEALED_CHUNK]
    second = whole[HEAD_BYTES + SEALED_CHUNK : HEAD_BYTES + 2 * SEALED_CHUNK]
    with pytest.raises(SealBroken):
        opened(head + second + first + whole[HEAD_BYTES + 2 * SEALED_CHUNK :])
    with pytest.raises(SealBroken):
        opened(whole[: HEAD_BYTES + SEALED_CHUNK] + whole[HEAD_BYTES:])


def test_another_key_opens_nothing_and_is_told_which_one_would() -> None:
    with pytest.raises(SealBroken, match="sealed to the key"):
        opened(sealed(b"x"), X25519PrivateKey.from_private_bytes(b"d" * 32))


def test_the_keys_files_serve_to_seal_and_to_open(tmp_path: Path) -> None:
    path = tmp_path / "court.key"
    public_key = make_court_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_court_public_key(public_path(path)).public_bytes_raw() == public_key.public_bytes_raw()
    assert opened(b"".join(seal([b"x"], public_key)), read_court_private_key(path)) == b"x"
    with pytest.raises(ExportRefused, match="is there already"):
        make_court_key(path)
    with pytest.raises(ExportRefused, match="is a private key"):
        read_court_public_key(path)
    with pytest.raises(NoBundle, match="is no private key of a court"):
        read_court_private_key(public_path(path))
    with pytest.raises(NoBundle, match="cannot be read"):
        read_court_private_key(tmp_path / "none")


@pytest.mark.parametrize(
    ("size", "to"),
    [
        (0, LEAST_BYTES),
        (LEAST_BYTES, LEAST_BYTES),
        (LEAST_BYTES + 1, 2 * LEAST_BYTES),
        (5 * LEAST_BYTES, 8 * LEAST_BYTES),
    ],
)
def test_a_sealed_bundle_tells_its_size_to_a_factor_of_two_at_most(size: int, to: int) -> None:
    assert padded_size(size) == to


def test_bundles_of_few_and_of_many_sheets_are_of_one_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recount_host.exports.sealed.LEAST_BYTES", 4 * CHUNK_BYTES)
    sizes = {len(b"".join(padded([b"sheet" * sheets]))) for sheets in (0, 1, 1000, 40_000)}
    assert sizes == {4 * CHUNK_BYTES}


@pytest.mark.parametrize("behind", [b"\x01", bytes(100_000) + b"\x01"])
def test_nothing_is_hidden_behind_a_sealed_bundle(behind: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    path.write_bytes(sealed(sound_bundle() + behind))
    with pytest.raises(NoBundle, match="something stands after the end of the tar"):
        verified(path, COURT)


def test_a_sealed_bundle_verifies_with_the_courts_key_alone(tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    path.write_bytes(b"".join(seal(padded([sound_bundle()]), COURT.public_key())))
    assert verified(path, COURT).sound
    with pytest.raises(NoBundle, match="is sealed to the court's key"):
        verified(path)
