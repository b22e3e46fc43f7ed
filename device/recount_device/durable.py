"""Files that are whole or absent after a power cut, and folders that stay.

`recount_host.durable` is the host's (docs/decisions/0018): a mistake in one is looked for in the other.
"""

import os
from pathlib import Path


def force_folder(folder: Path) -> None:
    """Force the folder's entries to the disk: a renamed file is durable only then."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: Path, *, mode: int = 0o777) -> None:
    """Make a folder, and those above it, to stay after a power cut; one that is there stays as it is."""
    if folder.is_dir():
        return
    if not folder.parent.is_dir():
        make_folder(folder.parent, mode=mode)
    folder.mkdir(mode=mode, exist_ok=True)
    force_folder(folder.parent)


def write_durably(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Write `content` to `path`; after a cut at any step the path holds all of it, or what it held before."""
    beside = path.with_name(path.name + ".new")
    beside.unlink(missing_ok=True)
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    force_folder(path.parent)
