"""WORLD.toml: the machine, its paper and its accidents. Every mistake in it is one clear line.

    socket = "world.sock"            # Unix socket of station and controls; paths are relative to this file
    deck = "rendered/fairview"       # folder with a deck.toml of sheets; or [[sheet]] tables below, or both
    duplex = true                    # cameras above and below the bed (false: above only)
    seed = 7                         # of every chance in the world
    operator = "auto"                # "auto" does what the panel asks; "none" leaves it to a control
    pace = "virtual"                 # "virtual" jumps from event to event; "real" keeps real time
    flash = "flash"                  # folder of the board's flash (left out: a fresh one)
    firmware = "older"               # folder of another firmware's sources (left out: this release's)
    board_log = "board.log"          # what the interpreter says (left out: nowhere)
    trace = "world.trace"            # what happened, a line each (left out: nowhere)
    bounce_us = 0                    # sensors bounce so long after each edge (to 2500)
    dust_per_minute = 0.0            # short false pulses on each optical sensor
    double_feed_error_um = 0.0       # the double-feed sensor reads up to so much wrong, each sheet anew
    double_feed_flicker = 0.0        # it drops out, or sees a double, for up to 2 ms so often a minute
    pick_spread_mm = 0.0             # the pick roller slips up to so much before it grips a sheet
    patience_s = 120.0               # a station that computes longer (real seconds) stops time no more

    [geometry]                       # in millimetres; see path.py for what is where
    entry_to_camera_mm = 400.0
    camera_to_exit_mm = 250.0

    [[sheet]]                        # in the hopper, the first is fed first
    id = "000"
    front = "000-front.jpg"          # left out: blank paper
    back = "000-back.jpg"
    turned = false                   # lies upside down
    wrong_side = false               # lies face down
    length_mm = 279.4
    thickness_um = 100

    [[fault]]                        # see faults.py
    kind = "jam"
    sheet = "000"
    at_mm = 120

A deck.toml holds `[[sheet]]` tables with the same keys, image names relative to it; its other keys are what
is true of the sheet and come back by `truth`. A sheet's own `fault` table is a fault about that sheet.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import cv2

from recount_world.errors import ScriptError
from recount_world.faults import Fault, read_fault
from recount_world.paper import LETTER_MM, SHEET_UM, Sheet
from recount_world.path import Geometry

MIN_LENGTH_MM = 80.0
"""Shorter paper never reaches from the pick roller to the entry nip."""
MAX_BOUNCE_US = 2500
MAX_SHEETS = 100_000


@dataclass(frozen=True)
class Script:
    """A world as its file describes it."""

    sheets: tuple[Sheet, ...] = ()
    faults: tuple[Fault, ...] = ()
    geometry: Geometry = field(default_factory=Geometry)
    socket: Path = Path("world.sock")
    duplex: bool = True
    seed: int = 0
    operator: str = "auto"
    pace: str = "virtual"
    flash: Path | None = None
    firmware: Path | None = None
    board_log: Path | None = None
    trace: Path | None = None
    bounce_us: int = 0
    dust_per_minute: float = 0.0
    double_feed_error_um: float = 0.0
    double_feed_flicker: float = 0.0
    pick_spread_mm: float = 0.0
    patience_s: float = 120.0


_WHOLE = (int,)
_NUMBER = (int, float)
_TEXT = (str,)
_FLAG = (bool,)

_SETTINGS: Mapping[str, tuple[type, ...]] = {
    "socket": _TEXT,
    "deck": _TEXT,
    "duplex": _FLAG,
    "seed": _WHOLE,
    "operator": _TEXT,
    "pace": _TEXT,
    "flash": _TEXT,
    "firmware": _TEXT,
    "board_log": _TEXT,
    "trace": _TEXT,
    "bounce_us": _WHOLE,
    "dust_per_minute": _NUMBER,
    "double_feed_error_um": _NUMBER,
    "double_feed_flicker": _NUMBER,
    "pick_spread_mm": _NUMBER,
    "patience_s": _NUMBER,
    "geometry": (dict,),
    "sheet": (list,),
    "fault": (list,),
}

_FRACTIONS = (
    "dust_per_minute",
    "double_feed_error_um",
    "double_feed_flicker",
    "pick_spread_mm",
    "patience_s",
)

_PATHS = ("socket", "flash", "firmware", "board_log", "trace")

_CHOICES = {"operator": ("auto", "none"), "pace": ("virtual", "real")}

_BOUNDS: Mapping[str, tuple[float, float]] = {
    "seed": (0, 2**31),
    "bounce_us": (0, MAX_BOUNCE_US),
    "dust_per_minute": (0, 6000),
    "double_feed_error_um": (0, 1000),
    "double_feed_flicker": (0, 6000),
    "pick_spread_mm": (0, 100),
    "patience_s": (0.1, 1e6),
}

_SHEET: Mapping[str, tuple[type, ...]] = {
    "id": (str, int),
    "front": _TEXT,
    "back": _TEXT,
    "turned": _FLAG,
    "wrong_side": _FLAG,
    "length_mm": _NUMBER,
    "thickness_um": _WHOLE,
    "fault": (dict,),
}

_GEOMETRY = ("entry_to_camera_mm", "camera_to_exit_mm")


def read_script(path: Path) -> Script:
    """Return the world that a file describes. Raises ScriptError: one sentence, where, what, what to do."""
    table = _read_toml(path)
    where = path.name
    if not table:
        raise ScriptError(f"{where} is empty: write at least which deck lies in the hopper (deck = ...)")
    _check(table, _SETTINGS, where, unknown_allowed=False)
    for key, choices in _CHOICES.items():
        if key in table and table[key] not in choices:
            raise ScriptError(f"{where}: {key} must be {' or '.join(choices)}, not {table[key]!r}")
    for key, (low, high) in _BOUNDS.items():
        if key in table and not low <= table[key] <= high:
            raise ScriptError(f"{where}: {key} must be from {low:g} to {high:g}, not {table[key]!r}")
    folder = path.resolve().parent
    sheets: list[Sheet] = []
    faults: list[Fault] = []
    if "deck" in table:
        _read_deck(folder / table["deck"], sheets, faults)
    _read_sheets(table.get("sheet", []), folder, where, sheets, faults, strict=True)
    faults += [read_fault(entry, f"{where}: fault {n}") for n, entry in enumerate(table.get("fault", []), 1)]
    _check_ids(sheets, faults, where)
    plain = {key: table[key] for key in ("duplex", "seed", "operator", "pace", "bounce_us") if key in table}
    numbers = {key: float(table[key]) for key in _FRACTIONS if key in table}
    paths = {key: folder / table[key] for key in _PATHS if key in table}
    script = Script(
        sheets=tuple(sheets), faults=tuple(faults), geometry=_geometry(table.get("geometry", {}), where)
    )
    if "socket" not in paths:
        paths["socket"] = folder / "world.sock"
    return replace(script, **plain, **numbers, **paths)


def read_sheet(entry: object, folder: Path, where: str) -> Sheet:
    """Return the sheet that a table describes. Raises ScriptError that begins with `where`."""
    sheets: list[Sheet] = []
    faults: list[Fault] = []
    _read_sheets([entry], folder, where, sheets, faults, strict=False)
    if faults:
        raise ScriptError(f"{where}: a sheet laid in later brings no fault of its own; use the call fault")
    return sheets[0]


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ScriptError(f"there is no file {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"{path} cannot be read: {error}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ScriptError(f"{path} is not TOML: {error}") from error


def _check(
    table: Mapping[str, Any], known: Mapping[str, tuple[type, ...]], where: str, *, unknown_allowed: bool
) -> None:
    for key, value in table.items():
        if key not in known:
            if unknown_allowed:
                continue
            raise ScriptError(f"{where}: there is no setting {key}; there are {', '.join(known)}")
        if type(value) not in known[key]:
            wanted = " or ".join(kind.__name__ for kind in known[key])
            raise ScriptError(f"{where}: {key} must be {wanted}, not {value!r}")


def _read_deck(folder: Path, sheets: list[Sheet], faults: list[Fault]) -> None:
    file = folder if folder.suffix == ".toml" else folder / "deck.toml"
    table = _read_toml(file)
    entries = table.get("sheet")
    if not isinstance(entries, list):
        raise ScriptError(f"{file}: a deck has [[sheet]] tables")
    _read_sheets(
        cast("list[object]", entries), file.resolve().parent, file.name, sheets, faults, strict=False
    )


def _read_sheets(
    entries: list[object], folder: Path, where: str, sheets: list[Sheet], faults: list[Fault], *, strict: bool
) -> None:
    """Add the sheets of some tables, and their faults."""
    for number, entry in enumerate(entries, 1):
        here = f"{where}: sheet {number}"
        if not isinstance(entry, dict):
            raise ScriptError(f"{here}: a sheet is a table with an id")
        table = cast("dict[str, Any]", entry)
        _check(table, _SHEET, here, unknown_allowed=not strict)
        if "id" not in table:
            raise ScriptError(f"{here}: the id is missing")
        sheet_id = str(table["id"])
        here = f"{where}: sheet {sheet_id}"
        sheets.append(
            Sheet(
                id=sheet_id,
                front=_image(table, "front", folder, here),
                back=_image(table, "back", folder, here),
                turned=bool(table.get("turned", False)),
                wrong_side=bool(table.get("wrong_side", False)),
                length_mm=float(_bounded(table, "length_mm", LETTER_MM, MIN_LENGTH_MM, 1000, here)),
                thickness_um=int(_bounded(table, "thickness_um", SHEET_UM, 20, 1000, here)),
                truth={key: value for key, value in table.items() if key not in _SHEET},
            )
        )
        if "fault" in table:
            own = cast("dict[str, Any]", table["fault"])
            faults.append(read_fault({"sheet": sheet_id, **own}, f"{here}: fault"))


def _image(table: Mapping[str, Any], key: str, folder: Path, where: str) -> Path | None:
    if key not in table:
        return None
    path = folder / str(table[key])
    if not path.is_file():
        raise ScriptError(f"{where}: there is no image {path}")
    if not cv2.haveImageReader(str(path)):
        raise ScriptError(f"{where}: {path} is no image that OpenCV reads (PNG, JPEG, TIFF)")
    return path


def _bounded(
    table: Mapping[str, Any], key: str, default: float, low: float, high: float, where: str
) -> float:
    value = table.get(key, default)
    if not low <= value <= high:
        raise ScriptError(f"{where}: {key} must be from {low:g} to {high:g}, not {value!r}")
    return value


def _geometry(table: Mapping[str, Any], where: str) -> Geometry:
    for key, value in table.items():
        if key not in _GEOMETRY:
            raise ScriptError(f"{where}: geometry has no {key}; it has {' and '.join(_GEOMETRY)}")
        if type(value) not in _NUMBER or not 100 <= value <= 2000:
            raise ScriptError(f"{where}: geometry: {key} must be from 100 to 2000 mm, not {value!r}")
    return replace(Geometry(), **{key: float(value) for key, value in table.items()})


def _check_ids(sheets: list[Sheet], faults: list[Fault], where: str) -> None:
    """Refuse two sheets of one id, and a fault about a sheet that is nowhere (but for new ones it brings)."""
    if len(sheets) > MAX_SHEETS:
        raise ScriptError(f"{where}: {len(sheets)} sheets; a hopper of this world holds {MAX_SHEETS}")
    known: set[str] = set()
    for sheet in sheets:
        if sheet.id in known:
            raise ScriptError(f"{where}: two sheets have the id {sheet.id}")
        known.add(sheet.id)
    for fault in faults:
        about = () if fault.kind in ("slip", "laid") else fault.sheets
        for sheet_id in (*about, *((fault.when_sheet,) if fault.when_sheet else ())):
            if sheet_id not in known:
                raise ScriptError(
                    f"{where}: the fault {fault.kind} is about sheet {sheet_id}, which is nowhere"
                )
