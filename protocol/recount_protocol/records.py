"""Records: what a device writes down, signed and chained, from the sheet under the camera to the tally.

A record is the msgpack bytes of {device, n, prev, kind, run, batch, body}, in this order. `prev` is the
SHA-256 of the bytes of the record before (32 zero bytes before the first), and the device's Ed25519 signature
covers the bytes as they were written. Nobody re-encodes a record: what was signed is kept, sent and verified.
CPython only.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from recount_protocol import fates
from recount_protocol.errors import RecordError
from recount_protocol.fields import (
    MAX_INTEGER,
    Field,
    FieldError,
    Fields,
    check_fields,
    in_order,
    read_map,
    read_written_map,
    write_map,
)

MAX_RECORD_BYTES = 60_000
"""With its signature a record fits into one payload of the tally link."""

HASH_BYTES = 32
SIGNATURE_BYTES = 64
PUBLIC_KEY_BYTES = 32
MAX_CROP_BYTES = 16 * 1024 * 1024

NO_HASH = bytes(HASH_BYTES)
"""What stands for the hash of the record before the first."""

LIVE = "live"
TEST = "test"
TRAINING = "training"
MODES = (LIVE, TEST, TRAINING)
"""What a run's sheets count for: the recount, the logic-and-accuracy test, nothing."""
TEST_PRECINCT = "logic-accuracy"
"""What stands for the precinct in the records of a logic-and-accuracy test."""

_U32 = 2**32 - 1
_COUNT = Field(int, 0, 10_000_000)
_SHEET = Field(int, 1, _U32)
_NAME = Field(str, 1, 64)
_NAME_OR_NONE = Field(str, 0, 64)
_TEXT = Field(str, 0, 1000)
_REASON = Field(str, 1, 64)
_REASONS = Field(list, 0, 64, item=_REASON)
_HASH = Field(bytes, HASH_BYTES, HASH_BYTES)
_HASH_OR_NONE = Field(bytes, HASH_BYTES, HASH_BYTES, or_empty=True)
_COUNT_BY_WORD = Field(dict, 0, 256, item=_COUNT)
_FEEDER = Field(list, 6, 6, item=Field(int, 0, _U32))
_TWO_PERSONS = Field(list, 2, 2, item=Field(str, 1, 200))
_BIN = Field(str, 0, 0, choices=fates.BINS)

ENVELOPE: Fields = {
    "device": Field(str, 16, 16),
    "n": Field(int, 1, MAX_INTEGER),
    "prev": _HASH,
    "kind": _NAME,
    "run": _NAME_OR_NONE,
    "batch": Field(int, 0, _U32),
}
"""The fields of every record before its body; `run` is empty and `batch` 0 where there is none."""

ORDER = (*ENVELOPE, "body")
"""The order of a record's fields in its bytes."""

KINDS: dict[str, Fields] = {
    "device_started": {
        "software": _TEXT,
        "firmware": _TEXT,
        "boot": Field(int, 0, _U32),
        "note": _TEXT,
    },
    "run_opened": {
        "precinct": _NAME,
        "contest": _NAME,
        "program": _HASH,
        "mode": Field(str, 0, 0, choices=MODES),
        "software": _TEXT,
        "firmware": _TEXT,
    },
    "batch_opened": {"feeder": _FEEDER},
    "sheet_judged": {
        "sheet": _SHEET,
        "fate": _BIN,
        "choices": Field(list, 0, 64, item=_NAME),
        "reasons": _REASONS,
        "style": _NAME_OR_NONE,
        "length_mm": Field(int, 0, 0xFFFF),
        "evidence": Field(dict, 0, 256),
        "crop_sha256": _HASH_OR_NONE,
        "crop_bytes": Field(int, 0, MAX_CROP_BYTES),
        "place": _COUNT,
        "feeder": _FEEDER,
    },
    "sheet_landed": {
        "sheet": _SHEET,
        "bin": _BIN,
        "by": Field(str, 0, 0, choices=("feeder", "hand")),
        "feeder": _FEEDER,
    },
    "sheet_returned": {
        "sheet": _SHEET,
        "reasons": _REASONS,
        "out": Field(str, 0, 0, choices=("entry", "hand")),
        "feeder": _FEEDER,
    },
    "repeat_suspected": {"sheet": _SHEET, "like": _SHEET, "feeder": _FEEDER},
    "sheet_in_doubt": {"sheet": _SHEET, "why": _TEXT, "feeder": _FEEDER},
    "doubt_settled": {
        "sheet": _SHEET,
        "fate": Field(str, 0, 0, choices=(*fates.BINS, fates.RETURNED)),
        "by": _TWO_PERSONS,
        "feeder": _FEEDER,
    },
    "batch_closed": {
        "counted": _COUNT,
        "set_aside": _COUNT_BY_WORD,
        "set_aside_sheets": _COUNT,
        "not_accepted": _COUNT_BY_WORD,
        "not_accepted_sheets": _COUNT,
        "returned": _COUNT,
        "votes": _COUNT_BY_WORD,
        "entries": _COUNT,
        "exits": Field(dict, 4, 4, item=_COUNT),
        "by_hand": _COUNT,
        "feeder": _FEEDER,
    },
    "batch_voided": {"reason": _TEXT, "by": _TWO_PERSONS},
    "run_closed": {},
    "device_armed": {
        "test_run": _NAME,
        "program": _HASH,
        "thresholds": _HASH,
        "software": _TEXT,
        "firmware": _TEXT,
        "certificate": _HASH,
        "by": _TWO_PERSONS,
    },
    "device_disarmed": {"why": _TEXT},
    "fault": {"word": _REASON, "detail": _TEXT},
}
"""kind -> the fields of its body.

`feeder` is the feeder board's own count when the record was written: boot id, entries, counted, set aside,
not accepted, back. `place` is the sheet's position in its tray, 1 at the bottom, 0 outside a tray.
"""


@dataclass(frozen=True)
class Record:
    """One record; `encode_record` gives the bytes that are signed and kept."""

    device: str
    n: int
    prev: bytes
    kind: str
    run: str
    batch: int
    body: dict[str, Any]


def device_id(public_key: bytes) -> str:
    """Return the name by which records know the device: the first 16 hex digits of its raw key's SHA-256."""
    return hashlib.sha256(public_key).hexdigest()[:16]


def encode_record(record: Record) -> bytes:
    """Return the record's bytes. Raises RecordError where a field is missing, surplus or out of bounds."""
    try:
        fields = _fields_of(record.kind)
        values = in_order({name: getattr(record, name) for name in ENVELOPE}, ENVELOPE)
        data = write_map({**values, "body": in_order(record.body, fields)})
    except FieldError as error:
        raise RecordError(f"record {record.kind}: {error}") from None
    if len(data) > MAX_RECORD_BYTES:
        raise RecordError(f"record {record.kind}: {len(data)} bytes; at most {MAX_RECORD_BYTES} are allowed")
    return data


def decode_record(data: bytes) -> Record:
    """Return the record that `data` is. Raises RecordError for what `encode_record` would not write."""
    try:
        values = read_written_map(data, MAX_RECORD_BYTES)
        is_ordered = tuple(values) == ORDER
        body = values.pop("body", None)
        check_fields(values, ENVELOPE)
        fields = _fields_of(values["kind"])
        check_fields(body, fields)
        if not (is_ordered and tuple(body) == tuple(fields) and write_map({**values, "body": body}) == data):
            _tell_form(data)
    except FieldError as error:
        raise RecordError(f"no record: {error}") from None
    return Record(**values, body=body)


def _tell_form(data: bytes) -> NoReturn:
    """Raise FieldError for a map that `encode_record` would write otherwise."""
    read_map(data, MAX_RECORD_BYTES)  # names a key that stands twice
    raise FieldError("its fields are not in their order, or not in their shortest form")


def record_hash(data: bytes) -> bytes:
    """Return the SHA-256 of a record's bytes, which the next record holds as `prev`."""
    return hashlib.sha256(data).digest()


def sign(key: Ed25519PrivateKey, data: bytes) -> bytes:
    """Return the device's signature of a record's bytes."""
    return key.sign(data)


def verify(public_key: bytes, data: bytes, signature: bytes) -> None:
    """Raise RecordError unless `signature` is that of `data` by the raw `public_key`."""
    try:
        _key(public_key).verify(signature, data)
    except (InvalidSignature, ValueError):
        raise RecordError("the record's signature is not that of its device's key") from None


@lru_cache(maxsize=1024)
def _key(public_key: bytes) -> Ed25519PublicKey:
    """Return the key of these bytes; made once for each of a locality's devices."""
    return Ed25519PublicKey.from_public_bytes(public_key)


def check_next(previous_hash: bytes, n: int, record: Record) -> None:
    """Raise RecordError unless `record` is number `n` and follows the one whose hash is `previous_hash`.

    The error names no number: a sheet is two records, and people may still have to count the sheets blind.
    """
    if record.n != n:
        raise RecordError("it has another number than the record that comes next")
    if record.prev != previous_hash:
        raise RecordError("it does not follow the record before it")


def _fields_of(kind: str) -> Fields:
    fields = KINDS.get(kind)
    if fields is None:
        raise FieldError(f"there is no kind {kind!r}")
    return fields
