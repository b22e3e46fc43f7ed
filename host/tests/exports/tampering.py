"""Bundles taken apart and put together again, by somebody who has the host's key."""

import io
from collections.abc import Callable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from host.tests.exports.localities import HOST_KEY, UTC, a_finished_day, export
from recount_host.exports import layout
from recount_host.exports.bundle import versions
from recount_host.exports.layout import Entry, Manifest, place_of, write_manifest
from recount_host.exports.tar import read_tar, tar_bytes

Files = Mapping[str, bytes]


def files_of(bundle: bytes) -> dict[str, bytes]:
    """Return the files of a tar."""
    members = read_tar(io.BytesIO(bundle).read)
    return {member.path: b"".join(member.chunks) for member in members}


@cache
def sound_bundle() -> bytes:
    """Return the tar of a finished day."""
    with TemporaryDirectory() as folder:
        path, _ = export(Path(folder), "sound.tar", a_finished_day())
        return path.read_bytes()


def sound_files() -> dict[str, bytes]:
    """Return the files of a finished day's bundle, its manifest and signature not among them."""
    files = files_of(sound_bundle())
    return {path: content for path, content in files.items() if not path.startswith("manifest.")}


def manifest_of(files: Files) -> Manifest:
    """Return the manifest of these files."""
    order = {part.kind: n for n, part in enumerate(layout.PARTS)}
    paths = sorted(files, key=lambda path: (order[place_of(path).part.kind], path))
    entries = tuple(Entry(path, len(files[path]), sha256(files[path]).hexdigest()) for path in paths)
    public_key = HOST_KEY.public_key().public_bytes_raw().hex()
    return Manifest(layout.FORMAT, "Fairview County", "governor", UTC, versions(), public_key, entries)


def tar_of(files: Files, manifest: bytes) -> bytes:
    """Return the tar of these files behind a signed manifest; files keep their order."""
    head = {layout.MANIFEST: manifest, layout.MANIFEST_SIGNATURE: HOST_KEY.sign(manifest)}
    return b"".join(
        tar_bytes((path, len(content), (content,)) for path, content in {**head, **files}.items())
    )


def signed_anew(files: Files) -> bytes:
    """Return a bundle of these files whose manifest fits and is signed by the host's own key."""
    manifest = manifest_of(files)
    return tar_of({entry.path: files[entry.path] for entry in manifest.files}, write_manifest(manifest))


def with_change(path: str, change: Callable[[bytes], bytes]) -> bytes:
    """Return the sound bundle with one file changed, and signed anew."""
    files = sound_files()
    return signed_anew({**files, path: change(files[path])})


def path_of(start: str, which: int = 0) -> str:
    """Return the path of one of the files whose path begins so."""
    return sorted(path for path in sound_files() if path.startswith(start))[which]
