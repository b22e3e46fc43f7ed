"""DEVICE.toml: the parts this device is made of, and their numbers. What is not known here is refused.

name = "table-3"                 # what people call the device
folder = "table-3"               # journal, key and programs; beside DEVICE.toml unless absolute
feeder = "serial:/dev/ttyAMA0"   # or "simulated:SOCKET" of `recount-device simulate`
camera = "picamera2"             # or "simulated:SOCKET"
panel = "gpio"                   # or "simulated:SOCKET"
host = "serial:/dev/ttyUSB0"     # or "serial:usb:NUMBER"; "tcp://127.0.0.1:7411" on the host's own machine
batch_sheets = 400               # a batch gets no more sheets than this; may be left out
diverter = "motor"               # or "prompt": a person lays what is not counted in its tray; may be left out

[path]                           # the feeder's numbers; each may be left out
transport_mm_s = 600

[optics]                         # the camera's numbers; each may be left out
exposure_us = 4000

[pins]                           # GPIO numbers of buttons and lamps; each may be left out
start = 5
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TypeVar, cast

from recount_device.errors import OperatorError


@dataclass(frozen=True)
class PathSettings:
    """The numbers of the paper path that the feeder is configured with; the feeder echoes them."""

    transport_mm_s: int = 600
    pick_mm_s: int = 300
    entry_to_camera_mm: int = 400
    camera_to_exit_mm: int = 250
    min_length_mm: int = 200
    max_length_mm: int = 380
    pick_timeout_ms: int = 3000
    diverter_settle_ms: int = 80
    jam_margin_mm: int = 60
    silence_ms: int = 500


@dataclass(frozen=True)
class OpticsSettings:
    """Fixed exposure and focus: nothing about a picture may change by itself during a recount."""

    width: int = 2028
    height: int = 3040
    exposure_us: int = 4000
    gain_hundredths: int = 100
    lens_position_hundredths: int = 250
    frame_us: int = 50_000
    wait_ms: int = 2000


@dataclass(frozen=True)
class PinSettings:
    """GPIO numbers (BCM) of the panel."""

    start: int = 5
    confirm: int = 6
    end_batch: int = 13
    stop: int = 19
    ready: int = 20
    attention: int = 21


BOUNDS: Mapping[type, Mapping[str, tuple[int, int]]] = {
    PathSettings: {
        "transport_mm_s": (25, 1000),
        "pick_mm_s": (25, 1000),
        "entry_to_camera_mm": (50, 1000),
        "camera_to_exit_mm": (10, 1000),
        "min_length_mm": (50, 600),
        "max_length_mm": (100, 700),
        "pick_timeout_ms": (200, 30_000),
        "diverter_settle_ms": (0, 2000),
        "jam_margin_mm": (5, 300),
        "silence_ms": (100, 5000),
    },
    OpticsSettings: {
        "width": (64, 12_000),
        "height": (64, 12_000),
        "exposure_us": (10, 1_000_000),
        "gain_hundredths": (100, 3200),
        "lens_position_hundredths": (0, 3200),
        "frame_us": (5000, 2_000_000),
        "wait_ms": (100, 30_000),
    },
    PinSettings: dict.fromkeys(("start", "confirm", "end_batch", "stop", "ready", "attention"), (0, 27)),
}
"""The least and the greatest value of each number."""

PART_KINDS: Mapping[str, tuple[str, ...]] = {
    "feeder": ("simulated:", "serial:"),
    "camera": ("simulated:", "picamera2"),
    "panel": ("simulated:", "gpio"),
    "host": ("tcp://", "serial:"),
}
"""How the value of each part may begin; one without a colon is the whole value."""

MAX_BATCH_SHEETS = 1000
DIVERTERS = ("motor", "prompt")
"""How a sheet that is not counted gets into its tray: by the feeder's own flap, or by a person it tells."""
SIMULATED = "simulated:"


@dataclass(frozen=True)
class Config:
    """One device, as its DEVICE.toml describes it."""

    name: str
    folder: Path
    feeder: str
    camera: str
    panel: str
    host: str
    batch_sheets: int = 400
    diverter: str = "motor"
    path: PathSettings = field(default_factory=PathSettings)
    optics: OpticsSettings = field(default_factory=OpticsSettings)
    pins: PinSettings = field(default_factory=PinSettings)

    @property
    def simulator_socket(self) -> Path | None:
        """The socket of the simulated world, where the parts are simulated."""
        return Path(self.feeder.removeprefix(SIMULATED)) if self.feeder.startswith(SIMULATED) else None


def _number(where: str, value: object, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise OperatorError(f"{where} must be a whole number from {low} to {high}, not {value!r}")
    return value


def _text(where: str, value: object) -> str:
    if type(value) is not str or not value.strip() or len(value) > 200 or not value.isprintable():
        raise OperatorError(f"{where} must be a text of 1 to 200 printable characters")
    return value


def _refuse_unknown(where: str, given: Mapping[str, object], known: Mapping[str, object]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise OperatorError(
            f"{where} has an unknown entry {unknown[0]!r}; known are {', '.join(sorted(known))}"
        )


Settings = TypeVar("Settings", PathSettings, OpticsSettings, PinSettings)


def _settings(where: str, kind: type[Settings], given: object) -> Settings:
    bounds = BOUNDS[kind]
    if not isinstance(given, dict):
        raise OperatorError(f"{where} must be a table")
    table = cast("dict[str, object]", given)
    _refuse_unknown(where, table, bounds)
    return kind(**{key: _number(f"{where}.{key}", value, *bounds[key]) for key, value in table.items()})


def _part(where: str, name: str, value: object, beside: Path) -> str:
    text = _text(f"{where}: {name}", value)
    for kind in PART_KINDS[name]:
        if text == kind or (kind[-1] in ":/" and text.startswith(kind) and len(text) > len(kind)):
            return SIMULATED + str(beside / text.removeprefix(SIMULATED)) if kind == SIMULATED else text
    kinds = " or ".join(f'"{kind}..."' if kind[-1] in ":/" else f'"{kind}"' for kind in PART_KINDS[name])
    raise OperatorError(f"{where}: {name} must be {kinds}, not {text!r}")


def parse_config(content: str, where: str, beside: Path) -> Config:
    """Return the config in `content`; `where` names the file in errors, `beside` is the folder it lies in.

    Raises OperatorError with one sentence on anything unknown, missing, of a wrong type or out of bounds.
    """
    try:
        given: dict[str, object] = tomllib.loads(content)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise OperatorError(f"{where} is not TOML: {error}") from None
    _refuse_unknown(where, given, {entry.name: None for entry in fields(Config)})
    for name in ("name", "folder", *PART_KINDS):
        if name not in given:
            raise OperatorError(f"{where} lacks the entry {name!r}")
    parts = {name: _part(where, name, given[name], beside) for name in PART_KINDS}
    simulated = {value for value in parts.values() if value.startswith(SIMULATED)}
    if simulated and not all(parts[part] in simulated for part in ("feeder", "camera", "panel")):
        raise OperatorError(f"{where}: feeder, camera and panel must all be simulated, or none of them")
    if len(simulated) > 1:
        raise OperatorError(f"{where}: feeder, camera and panel must name the same simulated world")
    return Config(
        name=_text(f"{where}: name", given["name"]),
        folder=beside / _text(f"{where}: folder", given["folder"]),
        **parts,
        batch_sheets=_number(f"{where}: batch_sheets", given.get("batch_sheets", 400), 1, MAX_BATCH_SHEETS),
        diverter=_diverter(f"{where}: diverter", given.get("diverter", "motor")),
        path=_path(f"{where}: path", given.get("path", {})),
        optics=_settings(f"{where}: optics", OpticsSettings, given.get("optics", {})),
        pins=_pins(f"{where}: pins", given.get("pins", {})),
    )


def _diverter(where: str, value: object) -> str:
    if value not in DIVERTERS:
        raise OperatorError(f'{where} must be "motor" or "prompt", not {value!r}')
    return str(value)


def _path(where: str, given: object) -> PathSettings:
    path = _settings(where, PathSettings, given)
    if path.min_length_mm > path.max_length_mm:
        raise OperatorError(f"{where}.min_length_mm must not be above max_length_mm")
    return path


def _pins(where: str, given: object) -> PinSettings:
    pins = _settings(where, PinSettings, given)
    numbers = list(asdict(pins).values())
    if len(set(numbers)) != len(numbers):
        raise OperatorError(f"{where} gives two parts of the panel the same GPIO number")
    return pins


def read_config(path: Path) -> Config:
    """Return the config in the file `path`, or raise OperatorError with one sentence."""
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise OperatorError(f"cannot read {path}: {reason}") from None
    return parse_config(content, str(path), path.parent)
