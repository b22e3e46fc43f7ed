"""The one rule for files that hold a private key: the reader owns them, and nobody else can read them.

A key that others can read signs for them too. (recount_device/identity.py asks it of a device's key.)
"""

import os
from pathlib import Path

from recount_host.errors import OperatorError

MAX_KEY_FILE_BYTES = 20_000
_OTHERS = 0o077
"""The bits of a file's mode by which anybody but its owner may do something with it."""


class NotPrivate(OperatorError):
    """A key file is not its reader's alone."""


def read_private(path: Path) -> bytes:
    """Return what the key file at `path` holds, up to MAX_KEY_FILE_BYTES.

    Raises NotPrivate where it holds a private key and is not its reader's alone, and OSError where it cannot
    be read. A file that holds none is no secret: what it should be instead its reader says.
    """
    with path.open("rb") as file:
        data = file.read(MAX_KEY_FILE_BYTES)
        # Asked of the open file: the name may stand for another one a moment later.
        now = os.fstat(file.fileno())
    if b"PRIVATE KEY" not in data:
        return data
    if now.st_uid != os.geteuid():
        raise NotPrivate(
            f"{path} belongs to another user, who can use it too: work as that user, or name your own key"
        )
    if now.st_mode & _OTHERS:
        raise NotPrivate(f"{path} can be read by others than its owner: run chmod 600 {path}")
    return data
