"""The spec of a contest program, as a person writes it.

key = "governor"                        # names the contest everywhere
title = "Governor"
vote_for = 1
dpi = 200                               # of the blanks; all numbers are pixels of the blank
[[option]]
key = "D"
name = "Josiah Bartlett"
[[option]]
key = "W"
write_in = true
[[style]]
id = "card-3"
side = "front"                          # the side that bears the contest
blank = "006-front.jpg"                 # or "ballots.pdf#page=1"
other_side = "006-back.jpg"             # may be left out
contest_box = [60, 419, 1648, 573]      # left, top, right, bottom
write_in_areas = [[1358, 421, 1525, 571]]
targets = { D = [[603, 488, 40, 26]], W = [[1602, 483, 40, 26]] }   # left, top, width, height
test_mark = [700, 60, 1000, 120]        # may be left out
[thresholds]                            # may be left out
"""

from typing import Annotated, Literal

import msgspec

from recount_classifier.thresholds import THRESHOLD_NAMES
from recount_host.errors import OperatorError
from recount_host.misfits import in_words

MAX_SPEC_BYTES = 1_000_000
"""A style takes a few hundred bytes; a county has a few hundred styles."""

_Word = Annotated[str, msgspec.Meta(min_length=1, max_length=32, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.\-]*\Z")]
_Line = Annotated[str, msgspec.Meta(min_length=1, max_length=120)]
_Name = Annotated[str, msgspec.Meta(max_length=120)]
_Box = tuple[float, float, float, float]
_FileName = Annotated[str, msgspec.Meta(min_length=1, max_length=400)]


class OptionSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One choice of the contest."""

    key: _Word
    name: _Name = ""
    write_in: bool = False


class StyleSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One ballot style: its blank, and where the contest stands on it."""

    id: _Word
    side: Literal["front", "back"]
    blank: _FileName
    contest_box: _Box
    targets: dict[_Word, Annotated[tuple[_Box, ...], msgspec.Meta(min_length=1, max_length=20)]]
    other_side: _FileName | None = None
    write_in_areas: tuple[_Box, ...] = ()
    test_mark: _Box | None = None


class ProgramSpec(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"options": "option", "styles": "style"}
):
    """A contest and all its styles."""

    key: _Word
    title: _Line
    vote_for: Annotated[int, msgspec.Meta(ge=1, le=50)]
    dpi: Annotated[float, msgspec.Meta(ge=100, le=1200)]
    options: Annotated[tuple[OptionSpec, ...], msgspec.Meta(min_length=1, max_length=200)]
    styles: Annotated[tuple[StyleSpec, ...], msgspec.Meta(min_length=1, max_length=2000)]
    thresholds: dict[str, float] = {}


class SpecError(OperatorError):
    """A spec that is not TOML, lacks something, or says something impossible."""


def parse_spec(text: bytes) -> ProgramSpec:
    """Return the spec in a TOML text. Raises SpecError in one sentence that names the place."""
    if len(text) > MAX_SPEC_BYTES:
        raise SpecError(f"it is larger than {MAX_SPEC_BYTES} bytes")
    try:
        spec = msgspec.toml.decode(text, type=ProgramSpec)
    except msgspec.ValidationError as error:
        raise SpecError(in_words(error)) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SpecError(f"it is not TOML: {in_words(error)}") from error
    _check(spec)
    return spec


def _check(spec: ProgramSpec) -> None:
    """Refuse what the types allow but no contest has."""
    keys = [option.key for option in spec.options]
    _refuse_twice("option", keys)
    _refuse_twice("style", [style.id for style in spec.styles])
    printed = [option for option in spec.options if not option.write_in]
    if len(printed) < spec.vote_for:
        raise SpecError(f"vote_for is {spec.vote_for}, but only {len(printed)} options are printed")
    for option in printed:
        if not option.name:
            raise SpecError(f"option {option.key} has no name")
    for style in spec.styles:
        _check_targets(style, keys)
    _check_thresholds(spec.thresholds)


def _check_targets(style: StyleSpec, keys: list[str]) -> None:
    for key in style.targets:
        if key not in keys:
            raise SpecError(f"style {style.id} has a target for {key}, which is no option")
    for key in keys:
        if key not in style.targets:
            raise SpecError(f"style {style.id} has no target for option {key}")


def _check_thresholds(thresholds: dict[str, float]) -> None:
    for name, value in thresholds.items():
        if name not in THRESHOLD_NAMES:
            raise SpecError(f'there is no threshold "{name}"; there are {", ".join(THRESHOLD_NAMES)}')
        if not 0 <= value < float("inf"):
            raise SpecError(f"threshold {name} must be a number from 0 up, not {value}")


def _refuse_twice(what: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise SpecError(f"{what} {name} is given twice")
