"""Taking a contest's places from files that other programs write, as the spec of a contest program.

Two kinds are read. A *NIST ballot definition* (SP 1500-20, version 1, JSON): its physical contest gives the
box, the targets and the write-in areas of each ballot style in its own unit. A *list of places*, CSV with the
columns of `CSV_COLUMNS` in any order, lengths in inches from the sheet's top left corner:

    style,side,option,name,kind,left,top,width,height
    101,front,,,contest_box,3.05,1.75,2.39,1.86
    101,front,D,Cora Whitlock,target,3.19,2.28,0.13,0.09
    101,front,W,,target,3.19,3.32,0.13,0.09
    101,front,W,,write_in_area,3.44,3.18,1.92,0.27

`kind` is one of `KINDS`. An option is a write-in where it has a write_in_area, and may have several targets.
What these files do not say (the blanks) the person gives. The spec is checked against the blanks when it is
built.
"""

import csv
import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec

from recount_host.errors import OperatorError
from recount_host.programs.spec import OptionSpec, ProgramSpec, StyleSpec

MAX_IMPORT_BYTES = 20_000_000
CSV_COLUMNS = ("style", "side", "option", "name", "kind", "left", "top", "width", "height")
KINDS = ("contest_box", "target", "write_in_area")
_UNITS_PER_INCH = {"in": 1.0, "mm": 25.4, "pc": 6.0, "pt": 72.0}
_LONGEST_IN = 50.0

_Corners = tuple[float, float, float, float]


class ImportFileError(OperatorError):
    """A file of places that is damaged, or says nothing that a spec can be made of."""


@dataclass(frozen=True, slots=True)
class Blanks:
    """The blanks of one style: the page that bears the contest is that of its side."""

    front: str
    back: str | None = None


@dataclass(slots=True)
class Places:
    """One style's places, in inches from the top left corner."""

    side: Literal["front", "back"]
    box: _Corners | None = None
    targets: dict[str, list[_Corners]] = field(default_factory=dict[str, list[_Corners]])
    """Option key -> left, top, width, height of its targets."""
    areas: list[_Corners] = field(default_factory=list[_Corners])
    """Left, top, right, bottom."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file says of one contest."""

    key: str
    title: str
    vote_for: int
    options: tuple[OptionSpec, ...]
    styles: Mapping[str, Places]


def spec_of(
    found: Imported, blanks: Mapping[str, Blanks], dpi: float, box: _Corners | None = None
) -> ProgramSpec:
    """Return the spec of what was imported, for the styles that blanks are given for.

    `box` (left, top, right, bottom in inches) is the contest's box where the file has none.
    Raises ImportFileError for a style that the file does not have, or a side without its blank.
    """
    styles: list[StyleSpec] = []
    for style, files in blanks.items():
        if style not in found.styles:
            raise ImportFileError(f"it has no style {style!r}: its styles are {', '.join(found.styles)}")
        places = found.styles[style]
        bearing, other = (files.front, files.back) if places.side == "front" else (files.back, files.front)
        if bearing is None:
            raise ImportFileError(f"style {style} bears the contest on its back: name that blank too")
        framed = places.box or box
        if framed is None:
            raise ImportFileError(f"style {style} has no box round the contest: add --box, in inches")
        styles.append(
            StyleSpec(
                id=style,
                side=places.side,
                blank=bearing,
                contest_box=_pixels(framed, dpi),
                targets={k: tuple(_pixels(t, dpi) for t in v) for k, v in places.targets.items()},
                other_side=other,
                write_in_areas=tuple(_pixels(area, dpi) for area in places.areas),
            )
        )
    return ProgramSpec(found.key, found.title, found.vote_for, dpi, found.options, tuple(styles))


def _pixels(box: _Corners, dpi: float) -> _Corners:
    left, top, third, fourth = box
    return left * dpi, top * dpi, third * dpi, fourth * dpi


def word_of(text: str) -> str:
    """Return a word that a spec takes as a key or a style's id."""
    return re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "", re.sub(r"[^A-Za-z0-9_.\-]+", "-", text))[:32] or "x"


def _length(value: float, what: str) -> float:
    if not math.isfinite(value) or not 0 <= value <= _LONGEST_IN:
        raise ImportFileError(f"{what} is {value:g} inches: lengths are from 0 to {_LONGEST_IN:g}")
    return value


# -- CSV -----------------------------------------------------------------------------------------------------


def read_places(text: bytes, key: str, title: str, vote_for: int) -> Imported:
    """Return what a CSV list of places says; the contest itself is not in it. Raises ImportFileError."""
    names: dict[str, str] = {}
    styles: dict[str, Places] = {}
    write_ins: set[str] = set()
    for number, row in enumerate(_rows(text), 2):
        line = f"line {number}"
        places = _style_of(row, styles, line)
        left, top, width, height = (_number(row, column, line) for column in CSV_COLUMNS[5:])
        if row["kind"] == "contest_box":
            if places.box is not None:
                raise ImportFileError(f"{line}: style {row['style']} has a second contest_box")
            places.box = (left, top, left + width, top + height)
            continue
        option = _option_of(row, names, line)
        if row["kind"] == "target":
            places.targets.setdefault(option, []).append((left, top, width, height))
        else:
            write_ins.add(option)
            places.areas.append((left, top, left + width, top + height))
    options = tuple(OptionSpec(option, name, option in write_ins) for option, name in names.items())
    return Imported(key, title, vote_for, options, styles)


def _style_of(row: Mapping[str, str], styles: dict[str, Places], line: str) -> Places:
    """Return the places of a row's style, begun where it is new."""
    style, side, kind = row["style"], row["side"], row["kind"]
    if side not in ("front", "back"):
        raise ImportFileError(f"{line}: side is {side!r}, not front or back")
    if kind not in KINDS:
        raise ImportFileError(f"{line}: kind is {kind!r}, not {', '.join(KINDS)}")
    if not style:
        raise ImportFileError(f"{line}: it names no style")
    places = styles.setdefault(style, Places("front" if side == "front" else "back"))
    if places.side != side:
        raise ImportFileError(f"{line}: style {style} has the contest on both sides")
    return places


def _option_of(row: Mapping[str, str], names: dict[str, str], line: str) -> str:
    """Return a row's option; its name may stand in any of its rows."""
    option, name = row["option"], row["name"]
    if not option:
        raise ImportFileError(f"{line}: it names no option")
    known = names.get(option, "")
    if name and known and known != name:
        raise ImportFileError(f"{line}: option {option} is {name!r} here and {known!r} before")
    names[option] = known or name
    return option


def _rows(text: bytes) -> list[dict[str, str]]:
    _refuse_large(text)
    try:
        reader = csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""), strict=True)
        table = [[cell.strip() for cell in row] for row in reader if any(cell.strip() for cell in row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ImportFileError(f"it is no CSV in UTF-8: {error}") from error
    if not table or sorted(table[0]) != sorted(CSV_COLUMNS):
        raise ImportFileError(f"its first line must name the columns {','.join(CSV_COLUMNS)}")
    if len(table) == 1:
        raise ImportFileError("it names no place")
    for number, row in enumerate(table[1:], 2):
        if len(row) != len(table[0]):
            raise ImportFileError(f"line {number} has {len(row)} cells, not {len(table[0])}")
    return [dict(zip(table[0], row, strict=True)) for row in table[1:]]


def _number(row: Mapping[str, str], column: str, line: str) -> float:
    try:
        return _length(float(row[column]), f"{line}: {column}")
    except ValueError:
        raise ImportFileError(f"{line}: {column} is {row[column]!r}, not a number of inches") from None


def _refuse_large(data: bytes) -> None:
    if len(data) > MAX_IMPORT_BYTES:
        raise ImportFileError(f"it is longer than {MAX_IMPORT_BYTES} bytes: name the right file")


# -- NIST SP 1500-20 -----------------------------------------------------------------------------------------


class _Area(msgspec.Struct, frozen=True, rename={"x": "X", "y": "Y", "w": "W", "h": "H", "side": "Side"}):
    x: float
    y: float
    w: float
    h: float
    side: Literal["front", "back"]


class _PhysicalOption(msgspec.Struct, frozen=True, rename="pascal"):
    option_position: Annotated[tuple[_Area, ...], msgspec.Meta(min_length=1, max_length=20)]
    contest_option_id: str | None = None
    write_in_position: Annotated[tuple[_Area, ...], msgspec.Meta(max_length=20)] = ()


class _PhysicalContest(msgspec.Struct, frozen=True, rename="pascal"):
    ballot_format_id: str
    extent: Annotated[tuple[_Area, ...], msgspec.Meta(max_length=20)] = ()
    physical_contest_option: Annotated[tuple[_PhysicalOption, ...], msgspec.Meta(max_length=200)] = ()


class _Content(msgspec.Struct, frozen=True, rename="pascal"):
    contest_id: str = ""
    physical: Annotated[tuple[_PhysicalContest, ...], msgspec.Meta(max_length=20)] = ()


class _Identifier(msgspec.Struct, frozen=True, rename="pascal"):
    value: str


class _BallotStyle(msgspec.Struct, frozen=True, rename="pascal"):
    ordered_content: Annotated[tuple[_Content, ...], msgspec.Meta(max_length=500)] = ()
    external_identifier: Annotated[tuple[_Identifier, ...], msgspec.Meta(max_length=20)] = ()


class _Language(msgspec.Struct, frozen=True, rename="pascal"):
    content: str


class _Text(msgspec.Struct, frozen=True, rename="pascal"):
    text: Annotated[tuple[_Language, ...], msgspec.Meta(min_length=1, max_length=100)]


class _Option(
    msgspec.Struct,
    frozen=True,
    rename={
        "id": "@id",
        "candidate_ids": "CandidateIds",
        "selection": "Selection",
        "is_write_in": "IsWriteIn",
    },
):
    id: str
    candidate_ids: tuple[str, ...] = ()
    selection: _Text | None = None
    is_write_in: bool = False


class _Contest(
    msgspec.Struct,
    frozen=True,
    rename={"id": "@id", "name": "Name", "votes_allowed": "VotesAllowed", "options": "ContestOption"},
):
    id: str
    name: str
    votes_allowed: Annotated[int, msgspec.Meta(ge=1, le=50)] = 1
    options: Annotated[tuple[_Option, ...], msgspec.Meta(max_length=200)] = ()


class _Candidate(msgspec.Struct, frozen=True, rename={"id": "@id", "ballot_name": "BallotName"}):
    id: str
    ballot_name: _Text


class _Election(msgspec.Struct, frozen=True, rename="pascal"):
    ballot_style: Annotated[tuple[_BallotStyle, ...], msgspec.Meta(max_length=5000)]
    contest: Annotated[tuple[_Contest, ...], msgspec.Meta(max_length=5000)] = ()
    candidate: Annotated[tuple[_Candidate, ...], msgspec.Meta(max_length=50_000)] = ()


class _Format(msgspec.Struct, frozen=True, rename={"id": "@id", "unit": "MeasurementUnit"}):
    id: str
    unit: Literal["in", "mm", "pc", "pt"]


class _Definition(msgspec.Struct, frozen=True, rename="pascal"):
    ballot_format: Annotated[tuple[_Format, ...], msgspec.Meta(min_length=1, max_length=1000)]
    election: Annotated[tuple[_Election, ...], msgspec.Meta(min_length=1, max_length=1)]


def read_definition(text: bytes, contest_id: str | None) -> Imported:
    """Return one contest of a NIST ballot definition, on every style that bears it.

    `contest_id` may be left out where the file has one contest. Raises ImportFileError.
    """
    _refuse_large(text)
    try:
        definition = msgspec.json.decode(text, type=_Definition)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeError, RecursionError) as error:
        raise ImportFileError(f"it is no ballot definition of SP 1500-20: {error}") from error
    election = definition.election[0]
    contest = _chosen(election.contest, contest_id)
    units = {one.id: _UNITS_PER_INCH[one.unit] for one in definition.ballot_format}
    names = {candidate.id: candidate.ballot_name.text[0].content for candidate in election.candidate}
    options = {option.id: _named(option, names) for option in contest.options}
    _refuse_same_keys(options)
    used: dict[str, OptionSpec] = {}
    styles: dict[str, Places] = {}
    for number, style in enumerate(election.ballot_style, 1):
        name = word_of(style.external_identifier[0].value if style.external_identifier else f"style-{number}")
        for content in style.ordered_content:
            if content.contest_id == contest.id:
                if name in styles:
                    raise ImportFileError(f"two ballot styles that bear the contest are called {name}")
                styles[name] = _places(content, units, options, used, contest)
    if not styles:
        raise ImportFileError(f"no ballot style bears contest {contest.id} with its places")
    return Imported(
        word_of(contest.id), contest.name[:120], contest.votes_allowed, tuple(used.values()), styles
    )


def _chosen(contests: Sequence[_Contest], contest_id: str | None) -> _Contest:
    ids = [contest.id for contest in contests]
    if contest_id is None and len(contests) == 1:
        return contests[0]
    if contest_id not in ids:
        asked = "name one of its contests" if contest_id is None else f"it has no contest {contest_id!r}"
        shown = ", ".join(ids[:40]) + (", ..." if len(ids) > 40 else "")
        raise ImportFileError(f"{asked} with --contest: {shown or 'there is none'}")
    return contests[ids.index(contest_id)]


def _named(option: _Option, names: Mapping[str, str]) -> OptionSpec:
    if option.is_write_in:
        return OptionSpec(word_of(option.id), "", write_in=True)
    if option.selection is not None:
        return OptionSpec(word_of(option.id), option.selection.text[0].content[:120])
    candidates = [names.get(candidate, candidate) for candidate in option.candidate_ids]
    return OptionSpec(word_of(option.id), " / ".join(candidates)[:120] or option.id[:120])


def _refuse_same_keys(options: Mapping[str, OptionSpec]) -> None:
    keys = [option.key for option in options.values()]
    for key in keys:
        if keys.count(key) > 1:
            raise ImportFileError(f"two options of the contest would both be called {key}")


def _places(
    content: _Content,
    units: Mapping[str, float],
    options: Mapping[str, OptionSpec],
    used: dict[str, OptionSpec],
    contest: _Contest,
) -> Places:
    """Return a contest's places on one style; a physical option without an id is a write-in line."""
    if len(content.physical) != 1 or len(content.physical[0].extent) > 1:
        raise ImportFileError(f"contest {contest.id} must have one place with one extent on a ballot style")
    physical = content.physical[0]
    if physical.ballot_format_id not in units:
        raise ImportFileError(f"there is no BallotFormat {physical.ballot_format_id!r}")
    per_inch = units[physical.ballot_format_id]
    if not physical.physical_contest_option:
        raise ImportFileError(f"contest {contest.id} has no places of its options")
    extent = physical.extent[0] if physical.extent else None
    side = (extent or physical.physical_contest_option[0].option_position[0]).side
    places = Places(side, None if extent is None else _corners(extent, per_inch))
    written = 0
    for one in physical.physical_contest_option:
        if one.contest_option_id is None:
            written += 1
            option = OptionSpec(f"W{written}", "", write_in=True)
        elif one.contest_option_id in options:
            option = options[one.contest_option_id]
        else:
            raise ImportFileError(f"contest {contest.id} has no option {one.contest_option_id!r}")
        used.setdefault(option.key, option)
        for area in (*one.option_position, *one.write_in_position):
            if area.side != places.side:
                raise ImportFileError(f"contest {contest.id} stands on both sides of a sheet")
        for area in one.option_position:
            left, top, right, bottom = _corners(area, per_inch)
            places.targets.setdefault(option.key, []).append((left, top, right - left, bottom - top))
        places.areas += [_corners(area, per_inch) for area in one.write_in_position]
    return places


def _corners(area: _Area, per_inch: float) -> _Corners:
    sizes = (area.x, area.y, area.w, area.h)
    left, top, width, height = (_length(size / per_inch, "a place") for size in sizes)
    return left, top, left + width, top + height
