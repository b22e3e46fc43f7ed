"""lens.json in the device's folder: the lens calibration that sheets are read with, and its hash.

Written by `recount-device calibrate` when the chart passed; read at every start. The hash over the numbers
tells a file that was edited or cut; it is part of what logic and accuracy proved (`software.software_of`).
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, cast

from recount_classifier.lens import LENS_NUMBERS, Lens, LensError, check_lens
from recount_device.durable import write_durably
from recount_device.errors import OperatorError

LENS_FILE: Final = "lens.json"
MAX_BYTES: Final = 4096
MAX_SIDE: Final = 12_000
_ANEW: Final = "calibrate anew with recount-device calibrate, or remove the file"


def lens_hash(lens: Lens) -> str:
    """Return 64 hexadecimal digits: SHA-256 over a line a number."""
    lines = "".join(f"{name} {getattr(lens, name)!r}\n" for name in LENS_NUMBERS)
    return sha256(lines.encode()).hexdigest()


def write_lens(folder: Path, lens: Lens) -> Path:
    """Write the calibration into the device's folder, whole or not at all; return its path."""
    path = folder / LENS_FILE
    fields = {name: getattr(lens, name) for name in LENS_NUMBERS}
    content = json.dumps({"lens": fields, "sha256": lens_hash(lens)}, indent=2)
    write_durably(path, content.encode() + b"\n")
    return path


def read_lens(path: Path) -> Lens:
    """Return the calibration in a file. Raises OperatorError, in one sentence, for one that is none."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise OperatorError(f"the lens calibration {path} cannot be read: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise OperatorError(f"{path} is no lens calibration (it is too large): {_ANEW}")
    try:
        given: object = json.loads(content, object_pairs_hook=_once, parse_constant=_no_number)
        lens = check_lens(_lens_in(given))
    except (ValueError, OverflowError, RecursionError, LensError) as error:
        raise OperatorError(f"{path} is no lens calibration ({error}): {_ANEW}") from None
    return lens


def lens_of_device(folder: Path) -> Lens | None:
    """Return the calibration in the device's folder; None where there is none."""
    path = folder / LENS_FILE
    return read_lens(path) if path.exists() else None


def _lens_in(given: object) -> Lens:
    """Return the lens in the file's object; raises ValueError."""
    file = _table(given, ("lens", "sha256"))
    numbers = _table(file["lens"], LENS_NUMBERS)
    for name, value in numbers.items():
        if name in ("width", "height"):
            if type(value) is not int or not 1 <= value <= MAX_SIDE:
                raise ValueError(f"{name} must be a whole number from 1 to {MAX_SIDE}")
        elif type(value) not in (int, float):
            raise ValueError(f"{name} is no number")
    terms = [float(numbers[name]) for name in LENS_NUMBERS[2:]]
    lens = Lens(numbers["width"], numbers["height"], *terms)
    if file["sha256"] != lens_hash(lens):
        raise ValueError("its numbers do not fit its hash: it was edited or damaged")
    return lens


def _table(given: object, names: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(given, dict) or set(cast("dict[str, Any]", given)) != set(names):
        raise ValueError(f"it must have the entries {', '.join(names)} and no others")
    return cast("dict[str, Any]", given)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("an entry stands twice")
    return table


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")
