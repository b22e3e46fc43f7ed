"""Every call at the world's socket: who may make it and with which fields. The server refuses all else.

`join` is the first call of a connection. A *station* is the device under simulation: there is one at a time
and its presence makes time virtual. A *control* connection is a test, a demo or a person at a terminal.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from recount_world.errors import CallError

STATION = "station"
CONTROL = "control"
ANYONE = "anyone"
ROLES = (STATION, CONTROL)

BUTTONS = ("start", "confirm", "end_batch", "stop")
"""The buttons of the panel. `stop` is also wired to the feeder board, and cuts the motors' power."""

PANEL_KEYS = (
    "idle",
    "press_start",
    "feeding",
    "take_out_and_return",
    "take_out_to_tray",
    "take_out_to_set_aside",
    "hopper_empty",
    "batch_full",
    "batch_void_needed",
    "ask_officials",
    "fault",
)
"""Message keys that the automatic operator understands; it leaves any other key alone."""


class Field(NamedTuple):
    """One field of a call: the types it may have, and whether it may be left out."""

    types: tuple[type, ...]
    optional: bool = False


_TEXT = Field((str,))
_MAYBE_WHOLE = Field((int, type(None)), optional=True)
_MAYBE_TEXT = Field((str, type(None)), optional=True)


class Call(NamedTuple):
    """Who may make a call, and its fields."""

    role: str
    fields: Mapping[str, Field]


CALLS: Mapping[str, Call] = {
    "join": Call(ANYONE, {"role": _TEXT}),
    "now": Call(ANYONE, {}),
    # The station's calls.
    "open_feeder": Call(STATION, {}),
    "wait": Call(STATION, {"until_us": _MAYBE_WHOLE, "written": _MAYBE_WHOLE}),
    "wake": Call(STATION, {}),
    "capture": Call(STATION, {}),
    "panel": Call(
        STATION,
        {
            "key": _TEXT,
            "text": _TEXT,
            "sheet": _MAYBE_WHOLE,
            "lamps": Field((dict,), optional=True),
            "question": _MAYBE_TEXT,
        },
    ),
    # What people and accidents do.
    "load": Call(CONTROL, {"sheets": Field((list,))}),
    "press": Call(CONTROL, {"button": _TEXT}),
    "take_out": Call(CONTROL, {"place": _TEXT, "sheet": _MAYBE_TEXT}),
    "move": Call(CONTROL, {"sheet": _TEXT, "from": _MAYBE_TEXT, "to": _TEXT}),
    "insert": Call(CONTROL, {"sheet": Field((str, dict)), "where": _TEXT}),
    "fault": Call(CONTROL, {"fault": Field((dict,))}),
    "set": Call(CONTROL, {"settings": Field((dict,))}),
    "kill_board": Call(CONTROL, {}),
    "cut_cable": Call(CONTROL, {}),
    "join_cable": Call(CONTROL, {}),
    # What is so.
    "positions": Call(CONTROL, {}),
    "truth": Call(CONTROL, {}),
    "shown": Call(CONTROL, {}),
    "quit": Call(CONTROL, {}),
}


def check_call(message: Mapping[str, Any], role: str | None) -> tuple[str, dict[str, Any]]:
    """Return the call's name and its fields, the left-out ones as None.

    Raises CallError, with one sentence, for an unknown call, one that this role may not make, a field that is
    missing, unknown or of a wrong type.
    """
    name = message.get("call")
    if not isinstance(name, str) or name not in CALLS:
        raise CallError(f"there is no call {name!r}; the calls are {', '.join(CALLS)}")
    call = CALLS[name]
    if role is None and name != "join":
        raise CallError(f"{name} before join: say first who is there, a station or a control")
    if role is not None and name == "join":
        raise CallError("this connection has joined already")
    if call.role not in (ANYONE, role) and role is not None:
        raise CallError(f"{name} is a call of the {call.role}, not of the {role}")
    unknown = sorted(set(message) - set(call.fields) - {"call"})
    if unknown:
        raise CallError(f"{name} has no field {unknown[0]}")
    return name, {key: _checked(name, key, field, message) for key, field in call.fields.items()}


def _checked(name: str, key: str, field: Field, message: Mapping[str, Any]) -> Any:
    """Return one field's value. A bool is not a whole number here, whatever Python says."""
    if key not in message:
        if field.optional:
            return None
        raise CallError(f"{name} needs the field {key}")
    value = message[key]
    if type(value) not in field.types:
        wanted = " or ".join("none" if kind is type(None) else kind.__name__ for kind in field.types)
        raise CallError(f"{name}: {key} must be {wanted}, not {type(value).__name__}")
    return value
