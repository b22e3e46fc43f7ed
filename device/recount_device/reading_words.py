"""What the station and its reading process say to each other: one msgpack map a word, its fields checked.

The process works on pictures of whatever lay under the camera. Were one to turn it against the station, it
could still say nothing but these words, each field within its bounds; no byte of its becomes a program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any, Final

from recount_classifier.errors import ClassifierError
from recount_classifier.lens import Lens
from recount_classifier.streaks import PaleLine
from recount_device.glass import Lines
from recount_device.reader import Outcome, ReadingFailed, SheetRead
from recount_protocol.fates import BINS, RETURNED
from recount_protocol.fields import Field, FieldError, Fields, check_fields, read_map, write_map
from recount_protocol.records import KINDS, MAX_CROP_BYTES
from recount_protocol.tally_messages import MAX_PROGRAM_BYTES

MAX_OUTCOME_BYTES: Final = MAX_CROP_BYTES + 1_000_000
MAX_WORD_BYTES: Final = MAX_PROGRAM_BYTES + 1_000_000
MAX_SIDE_PX: Final = 30_000
MAX_WHY: Final = 1000

_JUDGED = KINDS["sheet_judged"]
_SHEET = _JUDGED["sheet"]


@dataclass(frozen=True)
class Read:
    """Read the pictures of these shapes, which lie one after the other in the shared memory."""

    shapes: tuple[tuple[int, int], ...]
    program: bytes
    """The contest program; empty for the one of the sheet before."""
    expects_test: bool
    batch: int
    lens: Lens | None


@dataclass(frozen=True)
class Keep:
    """Keep the sheet read last, under this number."""

    sheet: int


@dataclass(frozen=True)
class Forget:
    """Forget a sheet that was kept."""

    sheet: int


Word = Read | Keep | Forget

_ASKED: Final[Mapping[str, Fields]] = {
    "read": {
        "shapes": Field(list, 1, 4, item=Field(list, 2, 2, item=Field(int, 0, MAX_SIDE_PX))),
        "program": Field(bytes, 0, MAX_PROGRAM_BYTES),
        "expects_test": Field(int, 0, 1),
        "batch": Field(int, 0, 2**32 - 1),
        "lens": Field(dict, 0, 16),
    },
    "keep": {"sheet": _SHEET},
    "forget": {"sheet": _SHEET},
}
_ANSWERED: Final[Mapping[str, Fields]] = {
    "sheet_read": {
        "fate": Field(str, 0, 0, choices=(*BINS, RETURNED)),
        **{name: _JUDGED[name] for name in ("choices", "reasons", "style", "evidence")},
        "crop": Field(bytes, 0, MAX_CROP_BYTES),
        "lines": Field(dict, 0, 16),
        "like": Field(int, 0, _SHEET.highest),
    },
    "reading_failed": {"why": Field(str, 0, MAX_WHY)},
}


def word_bytes(word: Word) -> bytes:
    """Return the bytes of what the station says."""
    match word:
        case Keep():
            return _written("keep", asdict(word))
        case Forget():
            return _written("forget", asdict(word))
        case Read():
            fields = {
                "shapes": [list(shape) for shape in word.shapes],
                "program": word.program,
                "expects_test": int(word.expects_test),
                "batch": word.batch,
                "lens": asdict(word.lens) if word.lens else {},
            }
            return _written("read", fields)


def word_from(data: bytes) -> Word:
    """Return what the station says. Raises FieldError for bytes that are none of its words."""
    said, fields = _taken(data, MAX_WORD_BYTES, _ASKED)
    if said != "read":
        return Keep(fields["sheet"]) if said == "keep" else Forget(fields["sheet"])
    shapes = tuple((rows, columns) for rows, columns in fields["shapes"])
    lens = _lens_from(fields["lens"]) if fields["lens"] else None
    return Read(shapes, fields["program"], bool(fields["expects_test"]), fields["batch"], lens)


def outcome_bytes(outcome: Outcome) -> bytes:
    """Return the bytes of what the process answers."""
    if isinstance(outcome, ReadingFailed):
        return _written("reading_failed", {"why": _one_line(outcome.why)})
    fields = {
        "fate": outcome.fate,
        "choices": list(outcome.choices),
        "reasons": list(outcome.reasons),
        "style": outcome.style,
        "evidence": dict(outcome.evidence),
        "crop": outcome.crop,
        "lines": {} if outcome.lines is None else _line_fields(outcome.lines),
        "like": outcome.like,
    }
    return _written("sheet_read", fields)


def outcome_from(data: bytes) -> Outcome:
    """Return what the process answers. Raises FieldError for bytes that are no answer."""
    said, fields = _taken(data, MAX_OUTCOME_BYTES, _ANSWERED)
    if said == "reading_failed":
        return ReadingFailed(fields["why"])
    lines = _lines_from(fields["lines"]) if fields["lines"] else None
    words = (fields["fate"], tuple(fields["choices"]), tuple(fields["reasons"]), fields["style"])
    return SheetRead(*words, fields["evidence"], fields["crop"], lines, fields["like"])


def _written(said: str, fields: Mapping[str, Any]) -> bytes:
    return write_map({"said": said, **fields})


def _taken(data: bytes, max_bytes: int, words: Mapping[str, Fields]) -> tuple[str, dict[str, Any]]:
    """Return the word's name and its checked fields."""
    fields = read_map(data, max_bytes)
    said = fields.pop("said", "")
    if type(said) is not str or said not in words:
        raise FieldError(f"there is no word {said!r:.80} here")
    check_fields(fields, words[said])
    return said, fields


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)[:MAX_WHY]


def _line_fields(lines: Lines) -> dict[str, Any]:
    found = [list(astuple(line)) for line in lines.found]
    return {"side": lines.side, "left": lines.left, "right": lines.right, "found": found}


def _lines_from(fields: Mapping[str, Any]) -> Lines:
    found: Sequence[Any] = fields.get("found", ())
    try:
        lines = tuple(PaleLine(*map(float, line)) for line in found)
        return Lines(int(fields["side"]), float(fields["left"]), float(fields["right"]), lines)
    except (KeyError, TypeError, ValueError) as error:
        raise FieldError(f"these are no lines on the glass ({error})") from None


def _lens_from(fields: Mapping[str, Any]) -> Lens:
    try:
        return Lens(**fields)
    except (TypeError, ValueError, ClassifierError) as error:
        raise FieldError(f"this is no lens ({error})") from None
