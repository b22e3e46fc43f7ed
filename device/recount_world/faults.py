"""The fault script: accidents of paper, sensors, hands and cables, as physics, never as calls.

Each `[[fault]]` of WORLD.toml has a `kind`, the fields of that kind, and a moment:

* `sheet = "12", at_mm = 120`: when the leading edge of that sheet is 120 mm past the entry sensor (0 where
  at_mm is left out). For a kind about another sheet, or about none, the moment's sheet is `when_sheet`.
* `at_s = 4.5`: at that second of the world's clock.

`times = 2` lets it happen on the sheet's first two ways through the path; `for_s` ends what can end.

    kind               fields                       what happens
    jam                sheet, at_mm                 the sheet is held fast there, until hands take it out
    double_feed        sheets, overlap_mm           they stick together when the first of them is picked,
                                                    each overlap_mm over the one before (left out: fully)
    pick_slip          sheet, slip_mm               the pick roller turns so far before it grips the sheet
    pick_skew          sheet, skew_deg              the sheet enters askew: sensors see it longer, the camera
                                                    sees it turned; beyond 6 degrees the guides catch it
    blind_double_feed  [moment], [for_s]            the double-feed sensor sees nothing (from the start)
    sensor_stuck       sensor, level, [moment]      the sensor shows that level, until for_s is over
    pulled_out         sheet, at_mm                 a hand pulls the sheet out of the path, the cover closed
    slip               sheet, bin, moment           the sheet gets into a bin past the camera, along the bin's
                                                    sensor: one that lies elsewhere, or a new one (unknown id)
    laid               sheet, bin, moment           the sheet is laid into a bin by hand, along no sensor
    cover_opened       moment, for_s                the cover is opened, and closed after for_s (1 s)
    stop_pressed       moment                       somebody presses the stop button
    diverter_stuck     [moment], [for_s]            the flap stays where it stands
    board_reset        moment                       the feeder board loses power for a moment
    power_cut          moment                       board and station lose power; the station's process ends
    cable_cut          moment, for_s                the cable between station and board loses all bytes
    cable_unplugged    moment, for_s                the station's end is pulled out, and after for_s (1 s) it
                                                    is in another serial port
    cable_noise        per_million, [moment], for_s so many of a million bytes have one bit flipped
    dim_light          [moment], for_s              the camera's lamp is weak: pictures are too dark
    camera_stalled     [moment], for_s              the camera gives the picture again that it gave last
    blurred            sheet                        pictures of this sheet are out of focus
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from recount_world.errors import ScriptError
from recount_world.pins import INPUTS

Check = Callable[[object], str | None]
"""Says what a value must be, where it is not."""


def _text(value: object) -> str | None:
    return None if isinstance(value, str) and value else "must be text"


def _sheet_ids(value: object) -> str | None:
    fits = isinstance(value, list) and len(cast("list[object]", value)) >= 2
    if fits and all(isinstance(item, str) for item in cast("list[object]", value)):
        return None
    return "must be a list of two or more sheet ids"


def _number(low: float, high: float) -> Check:
    def check(value: object) -> str | None:
        if isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high:
            return None
        return f"must be a number from {low:g} to {high:g}"

    return check


def _one_of(*choices: object) -> Check:
    def check(value: object) -> str | None:
        return (
            None
            if value in choices and not isinstance(value, bool)
            else f"must be one of {', '.join(map(str, choices))}"
        )

    return check


BINS = ("counted", "set_aside", "not_accepted")

_FIELDS: Mapping[str, Check] = {
    "kind": _text,
    "sheet": _text,
    "sheets": _sheet_ids,
    "overlap_mm": _number(0, 600),
    "slip_mm": _number(0, 2000),
    "skew_deg": _number(-30, 30),
    "sensor": _one_of(*INPUTS),
    "level": _one_of(0, 1),
    "bin": _one_of(*BINS),
    "per_million": _number(0, 1_000_000),
    "at_mm": _number(-30, 2000),
    "at_s": _number(0, 1e6),
    "when_sheet": _text,
    "for_s": _number(0.001, 1e6),
    "times": _number(1, 1000),
}

_MOMENT = ("at_s", "when_sheet", "at_mm")


class Kind(NamedTuple):
    """The fields of a kind of fault."""

    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    moment: str = "other"
    """Which moment it takes: "sheet" its own sheet's way, "other" at_s or when_sheet, "maybe" those or none,
    "none" it lies in the paper itself."""


KINDS: Mapping[str, Kind] = {
    "jam": Kind(("sheet",), ("times",), "sheet"),
    "double_feed": Kind(("sheets",), ("overlap_mm",), "none"),
    "pick_slip": Kind(("sheet", "slip_mm"), ("times",), "none"),
    "pick_skew": Kind(("sheet", "skew_deg"), ("times",), "none"),
    "blind_double_feed": Kind((), ("for_s",), "maybe"),
    "sensor_stuck": Kind(("sensor", "level"), ("for_s",), "maybe"),
    "pulled_out": Kind(("sheet",), ("times",), "sheet"),
    "slip": Kind(("sheet", "bin")),
    "laid": Kind(("sheet", "bin")),
    "cover_opened": Kind((), ("for_s",)),
    "stop_pressed": Kind(),
    "diverter_stuck": Kind((), ("for_s",), "maybe"),
    "board_reset": Kind(),
    "power_cut": Kind(),
    "cable_cut": Kind((), ("for_s",)),
    "cable_unplugged": Kind((), ("for_s",)),
    "cable_noise": Kind(("per_million",), ("for_s",), "maybe"),
    "dim_light": Kind((), ("for_s",), "maybe"),
    "camera_stalled": Kind((), ("for_s",), "maybe"),
    "blurred": Kind(("sheet",), ("times",), "none"),
}
"""Every kind of fault."""

PICKED = ("double_feed", "pick_slip", "pick_skew", "blurred")
"""Kinds that lie in the paper, and begin when it is picked."""


@dataclass
class Fault:
    """One fault of the script."""

    kind: str
    at_us: int | None = None
    """It happens at this moment of the world's clock; the start is 0."""
    when_sheet: str | None = None
    """It happens when this sheet's leading edge gets to `at_mm`."""
    at_mm: float = 0.0
    for_us: int | None = None
    left: int = 1
    """How many times it still happens."""
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The fields of its kind."""

    @property
    def sheets(self) -> tuple[str, ...]:
        """The sheets it is about."""
        if "sheets" in self.fields:
            return tuple(self.fields["sheets"])
        return (str(self.fields["sheet"]),) if "sheet" in self.fields else ()


def read_fault(entry: object, where: str) -> Fault:
    """Return the fault that a table of the script describes. Raises ScriptError that begins with `where`."""
    if not isinstance(entry, dict):
        raise ScriptError(f"{where}: a fault is a table with a kind")
    fields = cast("dict[str, Any]", entry)
    kind_name = str(fields.get("kind"))
    if kind_name not in KINDS:
        raise ScriptError(f"{where}: kind must be one of {', '.join(KINDS)}, not {kind_name!r}")
    kind = KINDS[kind_name]
    where = f"{where} ({kind_name})"
    _check_names(fields, kind, where)
    for name, value in fields.items():
        complaint = _FIELDS[name](value)
        if complaint:
            raise ScriptError(f"{where}: {name} {complaint}, not {value!r}")
    _check_moment(fields, kind, where)
    own_sheet = fields.get("sheet") if kind.moment == "sheet" else None
    at_us = round(fields["at_s"] * 1_000_000) if "at_s" in fields else None
    when_sheet = own_sheet or fields.get("when_sheet")
    if kind.moment == "maybe" and at_us is None and when_sheet is None:
        at_us = 0
    return Fault(
        kind=kind_name,
        at_us=at_us,
        when_sheet=when_sheet,
        at_mm=float(fields.get("at_mm", 0.0)),
        for_us=round(fields["for_s"] * 1_000_000) if "for_s" in fields else None,
        left=int(fields.get("times", 1)),
        fields={name: fields[name] for name in (*kind.needs, *kind.may) if name in fields},
    )


def _check_names(fields: Mapping[str, Any], kind: Kind, where: str) -> None:
    moments = {"sheet": ("at_mm",), "other": _MOMENT, "maybe": _MOMENT, "none": ()}[kind.moment]
    allowed = ("kind", *kind.needs, *kind.may, *moments)
    for name in fields:
        if name not in allowed:
            raise ScriptError(f"{where}: there is no field {name}; it may have {', '.join(allowed[1:])}")
    for name in kind.needs:
        if name not in fields:
            raise ScriptError(f"{where}: the field {name} is missing")


def _check_moment(fields: Mapping[str, Any], kind: Kind, where: str) -> None:
    if "at_s" in fields and "when_sheet" in fields:
        raise ScriptError(f"{where}: give at_s or when_sheet, not both")
    if kind.moment == "other" and "at_s" not in fields and "when_sheet" not in fields:
        raise ScriptError(f"{where}: the moment is missing: give at_s, or when_sheet with at_mm")
    if kind.moment in ("other", "maybe") and "at_mm" in fields and "when_sheet" not in fields:
        raise ScriptError(f"{where}: at_mm needs when_sheet")
