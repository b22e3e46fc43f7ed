"""What runs here: a hash over the program's own files, told in every run: a changed program cannot hide."""

from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from recount_classifier.lens import Lens
from recount_device.config import Config
from recount_device.lens_file import lens_hash
from recount_protocol import feeder_messages
from recount_protocol.software_names import LENS, OPTICS, PATH, software_name

PACKAGES = ("recount_protocol", "recount_classifier", "recount_device")
"""The packages whose sources decide what the device does to a ballot."""


def software_hash() -> str:
    """Return 64 hexadecimal digits: SHA-256 over the name and content of every source file of PACKAGES."""
    total = sha256()
    for package in PACKAGES:
        spec = find_spec(package)
        assert spec is not None
        assert spec.origin is not None
        folder = Path(spec.origin).parent
        for path in sorted(folder.rglob("*.py")):
            content = path.read_bytes()
            total.update(f"{package}/{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
            total.update(content)
    return total.hexdigest()


def software_of(config: Config, lens: Lens | None) -> str:
    """Return how the records name what reads sheets here: the program, and what decides how they are read.

    Logic and accuracy prove all of it together: with other optics, another paper path or another lens
    calibration the device is not the tested one.
    """
    path = f"{config.path!r} {config.diverter}"
    settings = {OPTICS: _hash_of(repr(config.optics)), PATH: _hash_of(path)}
    calibrated = {} if lens is None else {LENS: lens_hash(lens)}
    return software_name(software_hash(), {**settings, **calibrated})


def _hash_of(numbers: str) -> str:
    return sha256(numbers.encode()).hexdigest()


def firmware_name(firmware_hash: str) -> str:
    """Return how the records name a firmware: the hash that the board tells, and what its hello proves.

    Without a hash, because no board was there to be asked, only the table that any board must have.
    """
    spoken = f"feeder protocol {feeder_messages.VERSION} table {feeder_messages.TABLE_HASH:08x}"
    return f"{firmware_hash} {spoken}" if firmware_hash else f"no board yet, {spoken}"
