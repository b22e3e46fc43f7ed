"""Messages between device and host: msgpack maps, each kind with its fields, types and bounds in one table.

Records travel as the bytes that were signed; what a message adds is only what to do with them. Both ends
compare the table's hash before they talk (`delivery`). CPython only.
"""

from binascii import crc32
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recount_protocol.errors import MessageError
from recount_protocol.fields import (
    MAX_INTEGER,
    Field,
    FieldError,
    Fields,
    check_fields,
    in_order,
    read_map,
    write_map,
)
from recount_protocol.orders import MAX_ORDER_BYTES, NONCE_BYTES, ORDERS
from recount_protocol.records import (
    HASH_BYTES,
    KINDS,
    MAX_CROP_BYTES,
    MAX_RECORD_BYTES,
    PUBLIC_KEY_BYTES,
    SIGNATURE_BYTES,
)
from recount_protocol.secure_channel import longest_message

VERSION = 3
"""Protocol version of the tally link, told in every hello."""

MAX_PAYLOAD_BYTES = 64 * 1024

MAX_MESSAGE_BYTES = longest_message(MAX_PAYLOAD_BYTES)
"""The longest message: sealed by the secure channel it still fits into one payload."""

PART_BYTES = 32 * 1024
"""The longest part of a crop or program in one message."""

MAX_RECORDS = 64
"""The most records in one message."""


@dataclass(frozen=True)
class Portions:
    """How much of what waits goes into one message."""

    records_bytes: int
    """Of a backlog of records: what TLS, frame and acknowledgement cost is shared by them."""
    part_bytes: int
    """Of a crop; a new record waits for two such parts at most."""


OVER_TCP = Portions(records_bytes=32 * 1024, part_bytes=PART_BYTES)
OVER_SERIAL = Portions(records_bytes=4 * 1024, part_bytes=2 * 1024)
"""A damaged byte costs a message to send again; a part of a crop takes 20 ms of 1,000,000 baud."""

MAX_PROGRAM_BYTES = 256 * 1024 * 1024

DEVICE = "device"
HOST = "host"

_N = Field(int, 1, MAX_INTEGER)
_N_OR_NONE = Field(int, 0, MAX_INTEGER)
_NAME = Field(str, 1, 64)
_TEXT = Field(str, 0, 1000)
_HASH = Field(bytes, HASH_BYTES, HASH_BYTES)
_PART = Field(bytes, 0, PART_BYTES)
_NONCE = Field(bytes, NONCE_BYTES, NONCE_BYTES)
_SIGNATURE = Field(bytes, SIGNATURE_BYTES, SIGNATURE_BYTES)
_SIGNED_RECORD = Field(bytes, SIGNATURE_BYTES + 1, SIGNATURE_BYTES + MAX_RECORD_BYTES)
"""The signature, and behind it the record as it was signed."""

FROM_DEVICE: dict[str, Fields] = {
    "introduce": {
        "device": Field(str, 16, 16),
        "name": _NAME,
        "public_key": Field(bytes, PUBLIC_KEY_BYTES, PUBLIC_KEY_BYTES),
        "software": _TEXT,
        "firmware": _TEXT,
        "next_n": _N,
        "head": _HASH,
        "boot": Field(int, 1, 2**32 - 1),
        "nonce": _NONCE,
        "proof": _SIGNATURE,
    },
    "records": {"records": Field(list, 1, MAX_RECORDS, item=_SIGNED_RECORD)},
    "crop_part": {
        "n": _N,
        "offset": Field(int, 0, MAX_CROP_BYTES),
        "total": Field(int, 1, MAX_CROP_BYTES),
        "sha256": _HASH,
        "part": _PART,
    },
    "program_wanted": {"program": _HASH, "offset": Field(int, 0, MAX_PROGRAM_BYTES)},
    "device_state": {"state": _NAME, "note": _TEXT},
}
"""What the device sends."""

FROM_HOST: dict[str, Fields] = {
    "challenge": {"nonce": _NONCE},
    "welcome": {"next_n": _N, "crop_n": _N_OR_NONE, "crop_offset": Field(int, 0, MAX_CROP_BYTES)},
    "acknowledged": {"n": _N_OR_NONE},
    "crop_taken": {"n": _N},
    "program_part": {
        "program": _HASH,
        "offset": Field(int, 0, MAX_PROGRAM_BYTES),
        "total": Field(int, 1, MAX_PROGRAM_BYTES),
        "part": _PART,
    },
    "order": {"order": Field(bytes, 1, MAX_ORDER_BYTES), "signature": _SIGNATURE},
    "refused": {"why": _TEXT},
}
"""What the host sends."""

MESSAGES: dict[str, Fields] = {**FROM_DEVICE, **FROM_HOST}
"""kind -> its fields."""


def canonical_text() -> str:
    """Return this table and those of orders and records, a line a field: what both ends must agree on."""
    return "\n".join(
        f"{kind} {name}: {field.text}"
        for table in (MESSAGES, ORDERS, KINDS)
        for kind, fields in table.items()
        for name, field in fields.items()
    )


TABLE_HASH = crc32(canonical_text().encode())
"""What both ends compare before they talk."""


def pack(kind: str, **fields: Any) -> bytes:
    """Return the message `kind` with `fields`. Raises MessageError where the table does not allow it."""
    try:
        return write_map({"kind": kind, **in_order(fields, _fields_of(kind))})
    except FieldError as error:
        raise MessageError(f"{kind}: {error}") from None


def records_for_one_message(waiting: Iterable[tuple[bytes, bytes]], most_bytes: int) -> list[bytes]:
    """Return what `records` carries of these records and signatures: at least one, then what fits."""
    taken: list[bytes] = []
    left = most_bytes
    for record, signature in waiting:
        left -= SIGNATURE_BYTES + len(record)
        if taken and (left < 0 or len(taken) == MAX_RECORDS):
            break
        taken.append(signature + record)
    return taken


def signed_records(fields: Mapping[str, Any]) -> list[tuple[bytes, bytes]]:
    """Return records and signatures of the fields of a `records` message."""
    return [(item[SIGNATURE_BYTES:], item[:SIGNATURE_BYTES]) for item in fields["records"]]


def unpack(data: bytes) -> tuple[str, dict[str, Any]]:
    """Return kind and fields of a message. Raises MessageError for a map that the table does not allow."""
    try:
        values = read_map(data, MAX_MESSAGE_BYTES)
        kind = values.pop("kind", None)
        check_fields(values, _fields_of(kind))
    except FieldError as error:
        raise MessageError(f"no tally message: {error}") from None
    return str(kind), values


def _fields_of(kind: Any) -> Fields:
    fields = MESSAGES.get(kind) if type(kind) is str else None
    if fields is None:
        raise FieldError(f"there is no kind {kind!r:.80}")
    return fields
