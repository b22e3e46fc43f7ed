"""A contest program: one file with one hash that holds all that locating and judging need.

The file is `MAGIC`, the SHA-256 of the content, and the content: msgpack of one map. The hash names the
program everywhere (records, runs, forms). A program is made by `compiling.py` from blank ballots; nothing
here looks at images beyond carrying their pixels. All coordinates are pixels of the working resolution, pixel
centres at whole numbers, on the upright blank.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import msgpack
import numpy as np
from numpy.typing import NDArray

from recount_classifier.errors import ProgramError
from recount_classifier.thresholds import THRESHOLD_NAMES, Thresholds

MAGIC = b"recount-program-1\n"
WORKING_DPI = 200
"""Resolution of all stored print and all coordinates. Sheets of other resolutions are met halfway."""
ANCHOR_LEVEL = 4
"""Anchors are matched in pictures of 1/16 size (12.5 dpi)."""
LANDMARK_LEVEL = 2
"""Landmarks near the contest are matched at 1/4 size (50 dpi)."""
ANCHOR_SEARCH = 9
"""How far an anchor is looked for, in 1/16 pixels: 144 working pixels, 18 mm."""
DETAIL_SEARCH = 5
"""How far the print beside the targets is looked for, in working pixels, when landmarks tell where it is."""
STYLES_KEPT = 8
"""For so many styles what is prepared for reading is kept: a few megabytes each."""
MAX_PROGRAM_BYTES = 64 * 1024 * 1024

Grey = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of the contest."""

    key: str
    name: str
    write_in: bool


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A piece of the blank: its top left pixel at its own level, and its pixels."""

    left: int
    top: int
    pixels: Grey


@dataclass(frozen=True, slots=True)
class Path:
    """What one of the two registrations looks for. The two paths share no print."""

    anchors: tuple[Patch, ...]
    landmarks: tuple[Patch, ...]
    details: tuple[Patch, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """One oval or box, with the print beside it that proves whose it is."""

    option: str
    left: float
    top: float
    width: float
    height: float
    label: int
    """Index of its label among the first path's details."""

    @property
    def centre(self) -> tuple[float, float]:
        """Return its middle."""
        return self.left + (self.width - 1) / 2, self.top + (self.height - 1) / 2


@dataclass(frozen=True, eq=False)
class Style:
    """One ballot style: where the contest stands on it and what is printed there."""

    id: str
    side: str
    width: int
    height: int
    box: tuple[int, int, int, int]
    """The contest's box: left, top, right, bottom (right and bottom exclusive)."""
    write_in_areas: tuple[tuple[int, int, int, int], ...]
    targets: tuple[Target, ...]
    reference: Grey
    """The blank inside `reference_box`."""
    reference_box: tuple[int, int, int, int]
    """The contest's box with its margin."""
    paths: tuple[Path, Path]
    other_side: tuple[Patch, ...]
    """Anchors of the style's other side; empty when it is not known."""
    test_mark: tuple[int, int, int, int] | None
    label_likeness: float
    """Highest correlation between two labels of different options."""

    @property
    def frame(self) -> tuple[float, float, float]:
        """Return (x, y, scale): the registration's own coordinates are (point - (x, y)) / scale."""
        left, top, right, bottom = self.box
        return (left + right - 1) / 2, (top + bottom - 1) / 2, max(right - left, bottom - top) / 2


@dataclass(frozen=True, eq=False)
class Program:
    """A contest program. Equal programs have equal hashes."""

    key: str
    title: str
    vote_for: int
    options: tuple[Option, ...]
    styles: tuple[Style, ...]
    thresholds: Thresholds
    content: bytes = field(repr=False)
    program_hash: bytes
    """SHA-256 of the content, 32 bytes."""

    @property
    def printed_options(self) -> tuple[Option, ...]:
        """Return the options that are no write-ins, in the ballot's order."""
        return tuple(option for option in self.options if not option.write_in)

    @cached_property
    def write_in_keys(self) -> frozenset[str]:
        """Return the keys of the write-in options."""
        return frozenset(option.key for option in self.options if option.write_in)

    @cached_property
    def styles_by_id(self) -> dict[str, Style]:
        """Return the styles by their id."""
        return {style.id: style for style in self.styles}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self.program_hash == other.program_hash

    def __hash__(self) -> int:
        return hash(self.program_hash)

    def to_bytes(self) -> bytes:
        """Return the file: magic, hash, content."""
        return MAGIC + self.program_hash + self.content


# -- writing -------------------------------------------------------------------------------------------------


def _array(pixels: Grey) -> dict[str, Any]:
    height, width = pixels.shape
    return {"width": width, "height": height, "grey": np.ascontiguousarray(pixels).tobytes()}


def _patches(patches: Sequence[Patch]) -> list[dict[str, Any]]:
    return [{"left": p.left, "top": p.top, **_array(p.pixels)} for p in patches]


def _style_fields(style: Style) -> dict[str, Any]:
    return {
        "id": style.id,
        "side": style.side,
        "width": style.width,
        "height": style.height,
        "box": list(style.box),
        "write_in_areas": [list(area) for area in style.write_in_areas],
        "targets": [[t.option, t.left, t.top, t.width, t.height, t.label] for t in style.targets],
        "reference": _array(style.reference),
        "reference_box": list(style.reference_box),
        "paths": [
            {
                "anchors": _patches(path.anchors),
                "landmarks": _patches(path.landmarks),
                "details": _patches(path.details),
            }
            for path in style.paths
        ],
        "other_side": _patches(style.other_side),
        "test_mark": None if style.test_mark is None else list(style.test_mark),
        "label_likeness": style.label_likeness,
    }


def make_program(
    key: str,
    title: str,
    vote_for: int,
    options: Sequence[Option],
    styles: Sequence[Style],
    thresholds: Thresholds,
) -> Program:
    """Return the program with its content and hash."""
    fields_ = {
        "key": key,
        "title": title,
        "vote_for": vote_for,
        "dpi": WORKING_DPI,
        "options": [[option.key, option.name, option.write_in] for option in options],
        "styles": [_style_fields(style) for style in styles],
        "thresholds": thresholds.to_fields(),
    }
    content = cast("bytes", msgpack.packb(fields_))
    return Program(
        key,
        title,
        vote_for,
        tuple(options),
        tuple(styles),
        thresholds,
        content,
        hashlib.sha256(content).digest(),
    )


# -- reading -------------------------------------------------------------------------------------------------


def read_program(data: bytes) -> Program:
    """Return the program whose file has these bytes.

    Raises ProgramError, in one sentence, for bytes that are no program, of another format, cut short, damaged
    or edited after the program was built.
    """
    if len(data) > MAX_PROGRAM_BYTES:
        raise ProgramError(f"this is no contest program: it has more than {MAX_PROGRAM_BYTES} bytes")
    if not data.startswith(MAGIC):
        if data.startswith(MAGIC[:-3]):
            raise ProgramError("this contest program has another format; build it again with this version")
        raise ProgramError("this is no contest program (it does not begin like one)")
    stored_hash = data[len(MAGIC) : len(MAGIC) + 32]
    content = data[len(MAGIC) + 32 :]
    if hashlib.sha256(content).digest() != stored_hash:
        raise ProgramError(
            "this contest program is damaged or was edited: its content does not have its hash; copy it again"
        )
    try:
        program = _program_from(_unpacked(content), content, stored_hash)
    except ProgramError:
        raise
    except _MALFORMED as error:
        raise ProgramError(f"this contest program does not hold what it should ({error!s:.200})") from error
    _check(program)
    return program


_MALFORMED = (
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AttributeError,
    OverflowError,
    RecursionError,
    MemoryError,
    msgpack.UnpackException,
)
"""What content that has its hash, but was made by other hands, can raise."""


def _check(program: Program) -> None:
    """Refuse a program whose parts do not fit each other, or whose thresholds would let everything pass."""
    keys = [option.key for option in program.options]
    _demand(len(set(keys)) == len(keys), "two options have one key")
    _demand(1 <= program.vote_for <= len(program.printed_options), "vote_for does not fit its options")
    _demand(bool(program.styles), "it has no ballot style")
    _demand(len(program.styles_by_id) == len(program.styles), "two styles have one id")
    for name, value in program.thresholds.to_fields().items():
        _demand(0 <= value < float("inf"), f"threshold {name} is {value}")
    for style in program.styles:
        _check_style(style, keys)


def _check_style(style: Style, keys: Sequence[str]) -> None:
    page, name = (0, 0, style.width, style.height), f"style {style.id}"
    _demand(_inside(page, style.reference_box), f"the ground of {name} is not on its page")
    _demand(_inside(style.reference_box, style.box), f"the box of {name} is not on its ground")
    left, top, right, bottom = style.reference_box
    _demand(style.reference.shape == (bottom - top, right - left), f"the ground of {name} has another size")
    for area in style.write_in_areas:
        _demand(_inside(style.box, area), f"a write-in area of {name} is outside the contest's box")
    _demand({target.option for target in style.targets} == set(keys), f"{name} has not every option's target")
    for target in style.targets:
        edges = (target.left, target.top, target.left + target.width, target.top + target.height)
        _demand(target.width >= 2 and target.height >= 2, f"a target of {name} has no extent")
        _demand(_inside(page, edges), f"a target of {name} is outside its page")
        _demand(0 <= target.label < len(style.paths[0].details), f"a target of {name} has no label")
    parts = [part for path in style.paths for part in (path.anchors, path.landmarks, path.details)]
    for patch in (patch for part in parts for patch in part):
        _demand(min(patch.pixels.shape) >= 4, f"a piece of print of {name} has no extent")
        _demand(min(patch.left, patch.top) >= 0, f"a piece of print of {name} is off its page")


def _inside(outer: Sequence[float], inner: Sequence[float]) -> bool:
    """Return whether a box (left, top, right, bottom) lies inside another; NaN never does."""
    return outer[0] <= inner[0] < inner[2] <= outer[2] and outer[1] <= inner[1] < inner[3] <= outer[3]


def _demand(fulfilled: bool, complaint: str) -> None:
    if not fulfilled:
        raise ProgramError(f"this contest program contradicts itself: {complaint}; build it again")


def _unpacked(content: bytes) -> Mapping[str, Any]:
    """Return the content's fields. Raises ProgramError for content that packing them would not give."""
    fields_: Mapping[str, Any] = msgpack.unpackb(content, strict_map_key=True)
    if msgpack.packb(fields_) != content:
        raise ProgramError("this contest program is not in its one form (a key twice, or other packing)")
    return fields_


def _program_from(fields_: Mapping[str, Any], content: bytes, program_hash: bytes) -> Program:
    if fields_["dpi"] != WORKING_DPI:
        raise ProgramError(f"this contest program is made for {fields_['dpi']!r:.40} dpi, not {WORKING_DPI}")
    given: Mapping[str, float] = fields_["thresholds"]
    if set(given) != set(THRESHOLD_NAMES):
        raise ProgramError("this contest program has other thresholds; build it again with this version")
    return Program(
        key=_text(fields_["key"]),
        title=_text(fields_["title"]),
        vote_for=_whole(fields_["vote_for"]),
        options=tuple(
            Option(_text(key), _text(name), write_in is True) for key, name, write_in in fields_["options"]
        ),
        styles=tuple(_style_from(style) for style in fields_["styles"]),
        thresholds=Thresholds(**{name: _number(given[name]) for name in THRESHOLD_NAMES}),
        content=content,
        program_hash=program_hash,
    )


def _text(value: object) -> str:
    """Return a text. Raises TypeError for anything else: what stands for a name is never guessed from it."""
    if not isinstance(value, str):
        raise TypeError(f"a {type(value).__name__} where a text must stand")
    return value


def _whole(value: object) -> int:
    """Return a whole number. Raises TypeError for anything else."""
    if type(value) is not int:
        raise TypeError(f"a {type(value).__name__} where a whole number must stand")
    return value


def _number(value: object) -> float:
    """Return a number. Raises TypeError for anything else."""
    if type(value) is not int and not isinstance(value, float):
        raise TypeError(f"a {type(value).__name__} where a number must stand")
    return float(value)


def _grey(fields_: Mapping[str, Any]) -> Grey:
    pixels = np.frombuffer(fields_["grey"], np.uint8)
    return pixels.reshape(_whole(fields_["height"]), _whole(fields_["width"]))


def _patches_from(patches: Sequence[Mapping[str, Any]]) -> tuple[Patch, ...]:
    return tuple(Patch(_whole(p["left"]), _whole(p["top"]), _grey(p)) for p in patches)


def _box(numbers: Sequence[Any]) -> tuple[int, int, int, int]:
    left, top, right, bottom = (_whole(number) for number in numbers)
    return left, top, right, bottom


def _path_from(fields_: Mapping[str, Any]) -> Path:
    return Path(
        anchors=_patches_from(fields_["anchors"]),
        landmarks=_patches_from(fields_["landmarks"]),
        details=_patches_from(fields_["details"]),
    )


def _style_from(fields_: Mapping[str, Any]) -> Style:
    first, second = fields_["paths"]
    return Style(
        id=_text(fields_["id"]),
        side=_text(fields_["side"]),
        width=_whole(fields_["width"]),
        height=_whole(fields_["height"]),
        box=_box(fields_["box"]),
        write_in_areas=tuple(_box(area) for area in fields_["write_in_areas"]),
        targets=tuple(
            Target(_text(option), _number(left), _number(top), _number(width), _number(height), _whole(label))
            for option, left, top, width, height, label in fields_["targets"]
        ),
        reference=_grey(fields_["reference"]),
        reference_box=_box(fields_["reference_box"]),
        paths=(_path_from(first), _path_from(second)),
        other_side=_patches_from(fields_["other_side"]),
        test_mark=None if fields_["test_mark"] is None else _box(fields_["test_mark"]),
        label_likeness=_number(fields_["label_likeness"]),
    )
