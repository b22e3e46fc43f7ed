"""The feeder's firmware that this software was released with: its files, and the hash a board tells of them.

The hash is that of device/firmware/own_files.py: SHA-256 over a line a file, in the order of names, with the
file's name and its SHA-256.
"""

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import recount_protocol
from recount_device.errors import OperatorError

PROTOCOL = "recount_protocol"
PROTOCOL_MODULES = ("__init__", "delivery", "errors", "fates", "feeder_messages", "frames")
"""What the board needs of the protocol; the rest of it is for the host's link."""


class FirmwareFile(NamedTuple):
    """One file of the firmware."""

    folder: str
    """Where it lies on the board: "" beside main.py, or the protocol's package."""
    source: Path

    @property
    def name(self) -> str:
        """Its name on the board, without the folder."""
        return self.source.name


def firmware_files() -> list[FirmwareFile]:
    """Return the files of the released firmware. Raises OperatorError where they are not installed."""
    package = Path(__file__).resolve().parent.parent
    # In the package of the simulated world when installed, beside the packages in a checkout.
    for folder in (package / "recount_world" / "firmware", package / "firmware"):
        if (folder / "main.py").is_file():
            own = [FirmwareFile("", source) for source in sorted(folder.glob("*.py"))]
            break
    else:
        raise OperatorError(f"the feeder's firmware is not beside {package}: install recount-scanner anew")
    shared = Path(recount_protocol.__file__).parent
    return own + [FirmwareFile(PROTOCOL, shared / f"{name}.py") for name in PROTOCOL_MODULES]


def sha256_of(files: Iterable[FirmwareFile]) -> dict[str, str]:
    """Return the SHA-256 of each file in hexadecimal, by its name."""
    return {file.name: hashlib.sha256(file.source.read_bytes()).hexdigest() for file in files}


def firmware_hash(files: Mapping[str, str]) -> str:
    """Return the hash of a firmware, 64 hexadecimal digits, from the SHA-256 of each file by its name."""
    lines = "".join(f"{name} {files[name]}\n" for name in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()


@cache
def released_hash() -> str:
    """Return the hash of the firmware that this software was released with."""
    return firmware_hash(sha256_of(firmware_files()))
