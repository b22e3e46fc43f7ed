"""What runs on this board: a hash over its own files, told to the station, so that no change can hide.

The files are all programs in the folder of `main.py`, and those modules of the protocol that the board has.
A station, a rig and a person with the sources get the same hash from the same bytes.
"""

import os
import sys
from binascii import hexlify
from hashlib import sha256

PROTOCOL = "recount_protocol"
PROTOCOL_MODULES = ("__init__", "delivery", "errors", "fates", "feeder_messages", "frames")
ENDINGS = (".py", ".mpy")

BLOCK_BYTES = 256  # a file is never in the memory as a whole


def digest() -> bytes:
    """Return 32 bytes: SHA-256 over a line a file, in the order of names: its name and its SHA-256 in hex.

    Raises OSError where the files cannot be found or read: such a board does not work at all.
    """
    block = bytearray(BLOCK_BYTES)
    total = sha256()
    for name, path in sorted(_files()):
        total.update(name.encode() + b" " + hexlify(_file_digest(path, block)) + b"\n")
    return total.digest()


def _files() -> "list[tuple[str, str]]":
    """Return the name and the path of each file."""
    folder = _folder_with("main")
    files = [(name, folder + name) for name in _names(folder) if _stem(name)]
    folder = _folder_with(PROTOCOL) + PROTOCOL + "/"
    files += [(name, folder + name) for name in _names(folder) if _stem(name) in PROTOCOL_MODULES]
    return files


def _folder_with(module: str) -> str:
    """Return the folder from which `module` is imported: the first on the search path that has it."""
    for place in sys.path:
        folder = place + "/" if place else ""
        try:
            names = _names(folder)
        except OSError:  # a place that is not there, or no folder
            continue
        if module in names or module in [_stem(name) for name in names]:
            return folder
    raise OSError(module)


def _names(folder: str) -> "list[str]":
    return os.listdir(folder) if folder else os.listdir()


def _stem(name: str) -> str:
    """Return a program's name without its ending; "" for another file."""
    for ending in ENDINGS:
        if name.endswith(ending):
            return name[: -len(ending)]
    return ""


def _file_digest(path: str, block: bytearray) -> bytes:
    view = memoryview(block)
    one = sha256()
    with open(path, "rb") as file:
        while True:
            count = file.readinto(block)
            if not count:
                return one.digest()
            one.update(view[:count])
