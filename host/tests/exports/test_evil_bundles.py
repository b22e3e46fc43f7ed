"""Bundles that no export has made: refused in one sentence, in bounded memory, nothing opened outside."""

import io
import json
import os
import struct
import tarfile
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.tests.exports.localities import verified
from host.tests.exports.tampering import (
    files_of,
    manifest_of,
    path_of,
    sound_bundle,
    sound_files,
    tar_of,
    with_change,
)
from recount_host.act import Act, Person, act_hash, encode_act
from recount_host.exports.errors import NoBundle
from recount_host.exports.judged import NoCrop, decode_crop
from recount_host.exports.layout import (
    ACTS_FORM,
    chain_item,
    chain_items,
    place_of,
    read_manifest,
    write_manifest,
)
from recount_host.exports.opened import open_bundle


def refused(folder: Path, bundle: bytes) -> str:
    path = folder / "evil.tar"
    path.write_bytes(bundle)
    with pytest.raises(NoBundle) as caught:
        verified(path)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 400
    return sentence


def with_member(info: tarfile.TarInfo, content: bytes = b"") -> bytes:
    """Return the sound tar with one more member, written by the usual library."""
    info.size = len(content)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        tar.addfile(info, io.BytesIO(content))
    return sound_bundle()[:-1024] + buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o444) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, mode
    return info


TRICKS = {
    "a symbolic link": with_member(member("readme", tarfile.SYMTYPE, "/etc/passwd")),
    "a hard link": with_member(member("readme", tarfile.LNKTYPE, "order.toml")),
    "a device": with_member(member("readme", tarfile.BLKTYPE)),
    "a pipe": with_member(member("readme", tarfile.FIFOTYPE)),
    "a folder": with_member(member("crops", tarfile.DIRTYPE)),
    "a pax header": with_member(member("pax", tarfile.XHDTYPE), b"20 path=/etc/passwd\n"),
    "a long name": with_member(member("././@LongLink", tarfile.GNUTYPE_LONGNAME), b"x" * 200),
    "a sparse file": with_member(member("sparse", tarfile.GNUTYPE_SPARSE)),
    "another mode": with_member(member("setuid", mode=0o4755)),
    "a file twice": with_member(member("README.txt"), b"x"),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_tricks_of_tar_are_refused(trick: str, tmp_path: Path) -> None:
    assert refused(tmp_path, TRICKS[trick])


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "crops/../../x", "a\x1b[2Jb"])
def test_a_path_outside_is_a_name_that_no_bundle_has(path: str, tmp_path: Path) -> None:
    with pytest.raises(NoBundle):
        place_of(path)
    fine = manifest_of(sound_files())
    changed = json.loads(write_manifest(fine))
    changed["files"][0]["path"] = path
    evil = json.dumps(changed, indent=0, separators=(",", ":")).encode() + b"\n"
    assert "no bundle has a file called" in refused(tmp_path, tar_of(sound_files(), evil))
    assert [path.name for path in tmp_path.iterdir()] == ["evil.tar"]


def edited(change: Callable[[dict[str, object]], object]) -> bytes:
    fields = json.loads(write_manifest(manifest_of(sound_files())))
    change(fields)
    return json.dumps(fields, indent=0, separators=(",", ":")).encode() + b"\n"


MANIFESTS = {
    "no JSON": b"\x80\x04\x95pickle",
    "empty": b"",
    "deep": b"[" * 100_000,
    "a list": b"[]",
    "a key twice": edited(lambda _: None).replace(b'"format"', b'"format":"x",\n"format"', 1),
    "a field too many": edited(lambda f: f.update(more=1)),
    "a wrong type": edited(lambda f: f.update(files={})),
    "a size that is true": edited(lambda f: f["files"][0].update(bytes=True)),  # type: ignore[index]
    "a negative size": edited(lambda f: f["files"][0].update(bytes=-1)),  # type: ignore[index]
    "a huge size": edited(lambda f: f["files"][0].update(bytes=2**62)),  # type: ignore[index]
    "a size beyond its kind": edited(lambda f: f["files"][0].update(bytes=2**28)),  # type: ignore[index]
    "a file twice": edited(lambda f: f["files"].append(f["files"][-1])),  # type: ignore[attr-defined]
    "out of order": edited(lambda f: f["files"].reverse()),  # type: ignore[attr-defined]
    "another format": edited(lambda f: f.update(format="recount-bundle-9")),
    "no acts": edited(lambda f: f["files"].pop(3)),  # type: ignore[attr-defined]
    "a hash that is none": edited(lambda f: f["files"][0].update(sha256="x" * 64)),  # type: ignore[index]
}


@pytest.mark.parametrize("trick", MANIFESTS)
def test_manifests_that_no_export_writes_are_refused(trick: str, tmp_path: Path) -> None:
    assert refused(tmp_path, tar_of(sound_files(), MANIFESTS[trick]))


def test_what_is_no_bundle_is_refused_in_words(tmp_path: Path) -> None:
    assert "no tar" in refused(tmp_path, b"x" * 5000)
    assert "cut off" in refused(tmp_path, b"")
    assert "does not begin with" in refused(tmp_path, sound_bundle()[-1024:])
    assert "cut off" in refused(tmp_path, sound_bundle()[:-700])
    assert "stands after the end" in refused(tmp_path, sound_bundle() + b"x")
    with pytest.raises(NoBundle, match="No such file"):
        verified(tmp_path / "nothing")


def test_a_tar_that_claims_eight_gigabytes_is_refused_before_they_are_read(tmp_path: Path) -> None:
    info = member("manifest.json")
    info.size = 0o77777777777
    tracemalloc.start()
    try:
        sentence = refused(tmp_path, info.tobuf(tarfile.USTAR_FORMAT) + bytes(4096))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert "at most" in sentence
    assert peak < 4_000_000


def png(width: int, height: int, rows: bytes) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


BOMB = png(60_000, 60_000, zlib.compress(bytes(1_000_000), 9))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (BOMB, "60000 x 60000 pixels"),
        (png(0, 5, b""), "0 x 5 pixels"),
        (png(100, 100, b"no zlib"), "damaged"),
        (png(12, 12, b"")[:-12] + b"\x7f\xff\xff\xffIDATmore", "damaged"),
        (png(12, 12, b"")[:-1], "damaged"),
        (b"\xff\xd8\xff\xe0JFIF", "no PNG"),
        (b"", "no PNG"),
    ],
)
def test_a_picture_is_looked_at_before_it_is_unpacked(data: bytes, why: str) -> None:
    with pytest.raises(NoCrop, match=why):
        decode_crop(data)


def test_a_program_that_is_none_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    path.write_bytes(with_change(path_of("programs/"), lambda data: data[:-1]))
    assert any("damaged or was edited" in problem.what for problem in verified(path).problems)


def test_a_chain_file_whose_entry_claims_gigabytes_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    path.write_bytes(with_change("acts.chain", lambda data: b"\xff\xff\xff\xff" + data))
    assert any("would have 4294967295 bytes" in problem.what for problem in verified(path).problems)


# A folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, content in files_of(sound_bundle()).items():
        place = tmp_path / "bundle" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    return tmp_path / "bundle"


@pytest.mark.parametrize("path", ["manifest.json", "order.toml", path_of("crops/")])
def test_a_link_in_the_place_of_a_file_is_never_followed(path: str, folder: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (folder / path).rename(outside)
    (folder / path).symlink_to(outside)
    with pytest.raises(NoBundle, match="a link or something else"):
        verified(folder)


def test_a_link_in_the_place_of_a_folder_is_never_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "crops").rename(tmp_path / "crops")
    (folder / "crops").symlink_to(tmp_path / "crops")
    with pytest.raises(NoBundle, match="is no folder, but a link"):
        verified(folder)


def test_a_pipe_in_the_place_of_a_file_does_not_hang(folder: Path) -> None:
    (folder / "order.toml").unlink()
    os.mkfifo(folder / "order.toml")
    with pytest.raises(NoBundle, match="is no plain file"):
        verified(folder)


def test_a_file_that_grew_without_end_is_read_no_further_than_the_manifest_says(folder: Path) -> None:
    with (folder / "README.txt").open("ab") as file:
        file.truncate(10**12)
    assert [problem.where for problem in verified(folder).problems] == ["README.txt"]


def test_a_name_that_would_clear_the_screen_is_written_out(folder: Path) -> None:
    (folder / "crops" / "x\x1b[2J\neverything holds\u202e").touch()
    (problem,) = verified(folder).problems
    assert problem.where == r"crops/x\x1b[2J\neverything holds\u202e"


@pytest.mark.parametrize("place", ["kind", "name"])
def test_an_act_whose_words_would_clear_the_screen_is_none(place: str, tmp_path: Path) -> None:
    words = {"kind": "count_entered", "name": "Ann Lee", place: "x\x1b[2J\neverything holds"}
    acts = [data for data, _ in chain_items([sound_files()["acts.chain"]], ACTS_FORM)]
    by = (Person(words["name"], "official", "D"),)
    act = encode_act(Act(len(acts) + 1, act_hash(acts[-1]), words["kind"], "", by, {}))
    path = tmp_path / "evil.tar"
    path.write_bytes(with_change("acts.chain", lambda chain: chain + chain_item(act)))
    (problem,) = verified(path).problems
    assert (problem.where, problem.what) == ("acts.chain, behind act 21", "a word holds what does not print")


def test_an_empty_folder_is_no_bundle(tmp_path: Path) -> None:
    with pytest.raises(NoBundle, match="it is no bundle"):
        verified(tmp_path)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_change_of_a_bundles_bytes_is_taken_for_sound(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """Whatever is flipped, cut, put in or taken out: a sentence, or problems."""
    bundle = bytearray(sound_bundle())
    at = data.draw(st.integers(0, len(bundle) - 1))
    kind = data.draw(st.sampled_from(["flip", "cut", "put in", "take out"]))
    if kind == "flip":
        bundle[at] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "cut":
        del bundle[at:]
    elif kind == "put in":
        bundle[at:at] = data.draw(st.binary(min_size=1, max_size=600))
    else:
        del bundle[at : at + data.draw(st.integers(1, 600))]
    path = tmp_path_factory.mktemp("changed") / "bundle.tar"
    path.write_bytes(bundle)
    with suppress(NoBundle):
        assert not verified(path).sound


def test_the_manifests_one_form_is_read_back() -> None:
    manifest = manifest_of(sound_files())
    assert read_manifest(write_manifest(manifest)) == manifest


def test_a_bundle_is_opened_for_reading_only(tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar"
    path.write_bytes(sound_bundle())
    path.chmod(0o400)
    with open_bundle(path, None) as opened:
        assert opened.manifest.locality == "Fairview County"
