"""Messages between the station and the feeder board: one table of fixed records.

A message is its kind (one byte) and its fields, little-endian, without gaps: packing eight fields costs a
Pico 75 microseconds, a msgpack map 4 milliseconds. Both ends compare the table's hash before they talk
(`delivery`), so a board with another table is refused instead of being misread.
"""

from binascii import crc32
from struct import calcsize, pack, unpack

from .errors import MessageError

VERSION = 1
"""Protocol version of the feeder link, told in every hello."""

MAX_PAYLOAD_BYTES = 240
"""With its header and checksum such a payload is still one block of the byte stuffing."""

# Exits: where a sheet can leave the path.
COUNTED = 0
SET_ASIDE = 1
NOT_ACCEPTED = 2
BACK = 3
EXITS = ("counted", "set_aside", "not_accepted", "back")
NO_EXIT = 255
"""In `report`: no sheet has left the path since the board's start."""

# States of the feeder.
UNCONFIGURED = 0
READY = 1
PICKING = 2
ENTERING = 3
AT_CAMERA = 4
DIVERTING = 5
LEAVING = 6
BACKING = 7
STOPPED = 8
STATES = (
    "unconfigured",
    "ready",
    "picking",
    "entering",
    "at_camera",
    "diverting",
    "leaving",
    "backing",
    "stopped",
)

# Why the feeder stopped; 0 is "it did not".
NO_STOP = 0
HOPPER_EMPTY = 1
JAM = 2
DOUBLE_FEED = 3
COVER_OPEN = 4
STOP_BUTTON = 5
STATION_SILENT = 6
OVER_LONG = 7
SHORT_SHEET = 8
WRONG_EXIT = 9
UNEXPECTED_SHEET = 10
PATH_NOT_CLEAR = 11
PICK_FAILED = 12
HALT = 13
FIRMWARE_ERROR = 14
DIVERTER = 15
STOP_REASONS = (
    "none",
    "hopper_empty",
    "jam",
    "double_feed",
    "cover_open",
    "stop_button",
    "station_silent",
    "over_long",
    "short_sheet",
    "wrong_exit",
    "unexpected_sheet",
    "path_not_clear",
    "pick_failed",
    "halt",
    "firmware_error",
    "diverter",
)
"""`hopper_empty` and `pick_failed` leave no sheet in the path; `path_not_clear` is found at the start."""

# Sensors: the bit numbers of `report`'s field, in the order of their pins.
SENSORS = (
    "hopper",
    "entry",
    "camera",
    "exit_counted",
    "exit_set_aside",
    "exit_not_accepted",
    "double_feed",
    "cover_open",
    "stop_button",
)

COUNTS = ("entries", "counted", "set_aside", "not_accepted", "back")
"""What the field `counts` holds, since the board's start, from the sensors alone."""

# Who sends a message.
STATION = "station"
FEEDER = "feeder"

U8 = 0xFF
U16 = 0xFFFF
U32 = 0xFFFFFFFF

# A field is (name, struct code, lowest, highest); 5I is a tuple of five numbers, 8I of eight.
_SHEET = ("sheet", "I", 1, U32)
_SHEET_OR_NONE = ("sheet", "I", 0, U32)
_COUNTS = ("counts", "5I", 0, U32)
_CONFIGURATION = (
    ("transport_mm_s", "H", 1, 2000),
    ("pick_mm_s", "H", 1, 2000),
    ("entry_to_camera_mm", "H", 1, 2000),
    ("camera_to_exit_mm", "H", 1, 2000),
    ("min_length_mm", "H", 1, 2000),
    ("max_length_mm", "H", 1, 2000),
    ("pick_timeout_ms", "H", 1, U16),
    ("diverter_settle_ms", "H", 0, U16),
    ("jam_margin_mm", "H", 1, 2000),
    ("silence_ms", "H", 50, U16),
)

MESSAGES = {
    # station -> feeder
    "configure": (1, STATION, _CONFIGURATION),
    "feed": (2, STATION, (_SHEET,)),
    "divert": (3, STATION, (_SHEET, ("exit", "B", 0, BACK))),
    "clear": (4, STATION, ()),
    "halt": (5, STATION, ()),
    "ask": (6, STATION, ()),
    "identify": (7, STATION, ()),
    # feeder -> station
    "configured": (65, FEEDER, _CONFIGURATION),
    "entered": (66, FEEDER, (_SHEET, _COUNTS)),
    "at_camera": (67, FEEDER, (_SHEET, ("length_mm", "H", 0, U16), _COUNTS)),
    "landed": (68, FEEDER, (_SHEET, ("exit", "B", 0, BACK), _COUNTS)),
    "stopped": (69, FEEDER, (("reason", "B", HOPPER_EMPTY, DIVERTER), _SHEET_OR_NONE, _COUNTS)),
    "cleared": (70, FEEDER, (_COUNTS,)),
    "report": (
        71,
        FEEDER,
        (
            ("state", "B", 0, STOPPED),
            _SHEET_OR_NONE,
            ("stop_reason", "B", NO_STOP, DIVERTER),
            ("sensors", "H", 0, 0x1FF),
            ("last_sheet", "I", 0, U32),
            ("last_exit", "B", 0, NO_EXIT),
            ("protective", "I", 0, U32),
            _COUNTS,
        ),
    ),
    "refused": (72, FEEDER, (("kind", "B", 0, U8), _SHEET_OR_NONE, ("state", "B", 0, STOPPED))),
    "firmware": (73, FEEDER, (("sha256", "8I", 0, U32),)),
}
"""name -> (kind number, sender, fields in the order in which they lie on the wire)."""

KINDS = {row[0]: name for name, row in MESSAGES.items()}
"""kind number -> name."""


def _format(fields: "tuple[tuple[str, str, int, int], ...]") -> str:
    return "<B" + "".join([code for _name, code, _lowest, _highest in fields])


def canonical_text() -> str:
    """Return the table as text, a line a message in the order of kinds: what both ends must agree on."""
    lines: "list[str]" = []
    for kind in sorted(KINDS):
        name = KINDS[kind]
        _kind, sender, fields = MESSAGES[name]
        words = [f"{field}:{code}:{lowest}:{highest}" for field, code, lowest, highest in fields]
        lines.append(" ".join([str(kind), sender, name] + words))
    for table in (EXITS, STATES, STOP_REASONS, SENSORS, COUNTS):
        lines.append(" ".join(table))
    return "\n".join(lines)


TABLE_HASH = crc32(canonical_text().encode())
"""What both ends compare before they talk."""


def encode(name: str, **fields: "int | tuple[int, ...]") -> bytes:
    """Return the message `name` with `fields`.

    Raises MessageError for an unknown name, a missing or surplus field, a value outside its bounds.
    """
    row = MESSAGES.get(name)
    if row is None:
        raise MessageError(f"there is no feeder message {name!r}")
    kind, _sender, specified = row
    if len(fields) != len(specified):
        raise MessageError(f"{name} has the fields {[field[0] for field in specified]}")
    values: "list[int]" = [kind]
    for field in specified:
        if field[0] not in fields:
            raise MessageError(f"{name} lacks the field {field[0]}")
        value = fields[field[0]]
        numbers = value if isinstance(value, tuple) else (value,)
        _check(name, field, numbers)
        values.extend(numbers)
    return pack(_format(specified), *values)


def decode(payload: bytes) -> "tuple[str, dict[str, int | tuple[int, ...]]]":
    """Return the name and the fields of a message; `counts` and `sha256` are tuples of numbers.

    Raises MessageError for an unknown kind, a wrong length, a value outside its bounds.
    """
    name = KINDS.get(payload[0]) if payload else None
    if name is None:
        raise MessageError("a feeder message of an unknown kind")
    specified = MESSAGES[name][2]
    layout = _format(specified)
    if len(payload) != calcsize(layout):
        raise MessageError(f"{name} has {calcsize(layout)} bytes, not {len(payload)}")
    values = unpack(layout, payload)
    fields: "dict[str, int | tuple[int, ...]]" = {}
    position = 1
    for field in specified:
        after = position + _numbers_in(field[1])
        numbers = values[position:after]
        _check(name, field, numbers)
        fields[field[0]] = numbers if _numbers_in(field[1]) > 1 else numbers[0]
        position = after
    return name, fields


def sender(name: str) -> str:
    """Return who sends the message `name`: STATION or FEEDER."""
    return MESSAGES[name][1]


def _numbers_in(code: str) -> int:
    return int(code[:-1]) if len(code) > 1 else 1


def _check(name: str, field: "tuple[str, str, int, int]", numbers: "tuple[int, ...]") -> None:
    field_name, code, lowest, highest = field
    if len(numbers) != _numbers_in(code):
        raise MessageError(f"{name}: {field_name} is {_numbers_in(code)} numbers, not {len(numbers)}")
    for number in numbers:
        # type(), because True is no number of sheets
        if type(number) is not int or not lowest <= number <= highest:
            raise MessageError(f"{name}: {field_name} must be {lowest} to {highest}")
