"""Bundles just beyond what an export writes: seeds for what chance would not find."""

import tarfile
from collections.abc import Iterator, Mapping
from typing import Any

import msgpack
import msgspec

from firmware_tests.fuzz.values import a_record
from host.tests.exports import tampering
from recount_host.act import MAX_ACT_BYTES, NO_ACT
from recount_host.exports import layout
from recount_host.exports.layout import Entry, Manifest, write_manifest

Files = Mapping[str, bytes]

_STRANGERS = ("1" * 16, "2" * 16, "3" * 16)


def odd_bundles(files: Files, acts: bytes) -> Iterator[bytes]:
    """Yield bundles made of these sound files, each wrong in another way and signed by the host's key.

    `acts` are all acts, of which `files` holds the first ones alone.
    """
    for act in _odd_acts():
        yield tampering.signed_anew({**files, layout.ACTS: layout.chain_item(act)})
    device = next(path for path in files if path.startswith("records/"))
    yield tampering.signed_anew({**files, f"records/{_STRANGERS[0]}.chain": files[device]})
    yield tampering.signed_anew({**files, layout.ACTS: files[layout.ACTS] + layout.chain_item(b"\x80")})
    another = layout.chain_item(a_record("run_closed"), bytes(64))
    yield tampering.signed_anew({**files, layout.ACTS: acts, device: another})
    for manifest in _odd_manifests(tampering.manifest_of(files)):
        yield tampering.tar_of(files, manifest)
    yield from _odd_tars(tampering.signed_anew(files))


def _odd_acts() -> Iterator[bytes]:
    sound = {"n": 1, "prev": NO_ACT, "kind": "note", "utc": "2026-12-01T18:00:00Z", "by": [], "body": {}}
    odd: tuple[dict[str, Any], ...] = (
        {"by": 1},
        {"n": 0},
        {"prev": b""},
        {"body": []},
        {"by": [["a", "b"]]},
        {"by": [["a", "b", 1]]},
        {"kind": 1},
        {"kind": "order_set"},
        {"n": 2},
        {"body": {"x": "x" * MAX_ACT_BYTES}},
        {"more": 1},
    )
    for changed in odd:
        yield msgpack.packb({**sound, **changed}) or b""
    yield b"\x82\xa1n\x01\xa1n\x01"


def _odd_manifests(sound: Manifest) -> Iterator[bytes]:
    written = write_manifest(sound)
    yield written.replace(b",", b", ")
    yield written.replace(layout.FORMAT.encode(), b"recount-bundle-9")
    yield written[:-20]
    first, files = sound.files[0], sound.files
    chains = tuple(Entry(f"records/{name}.chain", layout.MAX_CHAIN_BYTES, "0" * 64) for name in _STRANGERS)
    large = Entry(first.path, layout.MAX_CHAIN_BYTES, first.sha256)
    stranger = Entry("etc/passwd", 1, "0" * 64)
    for entries in ((large, *files[1:]), (first, *files), (*files, stranger), chains, files[1:]):
        yield write_manifest(msgspec.structs.replace(sound, files=entries))


def _odd_tars(sound: bytes) -> Iterator[bytes]:
    link = tarfile.TarInfo("README.txt")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    yield link.tobuf(tarfile.USTAR_FORMAT) + sound
    yield sound[:700]
    yield sound[:-512] + b"\x01" + bytes(511)
    yield sound + b"x"
    yield b"\xff" * 512
    yield sound[:-1024] + sound[:512]
