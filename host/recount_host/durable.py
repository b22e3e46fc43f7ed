"""Folders and their entries forced to the disk: after a power cut a new file or folder is there only then.

`recount_device.durable` is the device's (docs/decisions/0018): a mistake in one is looked for in the other.
"""

import os
from pathlib import Path


def force_folder(folder: Path) -> None:
    """Force the folder's entries to the disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner can look into, and those above it, to stay after a power cut.

    One that is there stays as it is. Raises OSError.
    """
    if folder.is_dir():
        return
    if not folder.parent.is_dir():
        make_private_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    force_folder(folder.parent)
