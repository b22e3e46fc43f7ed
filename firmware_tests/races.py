"""Every contest of the blanks at hand as a race of its own: program, order and deck, by the real commands.

The vendors' blanks lie in ../shared/ballots with what people measured on them; our own are those of Fairview.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec.structs import replace as with_

from firmware_tests.day import ANN, BOB, run_host, toml_lines, toml_table
from recount_ballots.ballots_file import read_ballots
from recount_ballots.layout import Rect, compose
from recount_host.programs.drafting import WRITE_IN, Numbered, Said, draft, numbered, suggested
from recount_host.programs.looking import look_at_blanks
from recount_host.programs.spec import ProgramSpec, parse_spec
from recount_host.programs.spec_text import spec_text

REPOSITORY = Path(__file__).resolve().parent.parent
FAIRVIEW = REPOSITORY / "images" / "ballots" / "fairview"
OWN = ("fairview-101", "fairview-204")
VENDORS = ("juneau", "durant", "new-hampshire-letter", "new-hampshire-conditions")
WITHIN_PX = 2.0
"""How far the middle of a target that was found may lie from the place that people measured."""
KEY, PRECINCT, SIDES = "race", "101", ("D", "R")

Place = tuple[float, float, float, float]
"""Left, top, width, height."""


@dataclass(frozen=True)
class Known:
    """A contest as people know it: its side, N, and each target with its option's name."""

    side: str
    title: str
    vote_for: int
    targets: tuple[tuple[Place, str], ...]

    def name_at(self, spot: Rect) -> str | None:
        """Return the name of the option whose target lies where the spot does; None where none does."""
        return next((name for place, name in self.targets if lies_at(spot, place)), None)


@dataclass(frozen=True)
class Blank:
    """One vendor's ballot, both sides where it has two."""

    vendor: str
    files: tuple[Path, ...]
    contests: tuple[Known, ...]


@dataclass(frozen=True)
class Race:
    """One contest of a blank, found and recognised."""

    blank: Blank
    found: Numbered
    known: Known
    dpi: float

    @property
    def name(self) -> str:
        """What it is called, and the style of its sheets: no two races have one name."""
        return f"{self.blank.vendor}-{self.found.number}"


@dataclass(frozen=True)
class Made:
    """A race with its program, signed by both sides, and its deck."""

    name: str
    vote_for: int
    program: Path
    deck: Path


class RaceError(Exception):
    """A blank bears something else than people know of it, or a command refused what it must take."""


class NotProgrammable(RaceError):
    """The builder refuses to make a program of a contest: its ballots are counted by hand."""


def lies_at(spot: Rect, place: Sequence[float]) -> bool:
    """Return whether a spot's middle is that of a place, within two pixels."""
    left, top, width, height = place
    x, y = spot.centre
    return abs(x - left - width / 2) <= WITHIN_PX and abs(y - top - height / 2) <= WITHIN_PX


def blank_of(vendor: str, ballots: Path) -> Blank:
    """Return a vendor's blank with its contests; `ballots` is the folder of the real ones."""
    return _own_blank(vendor.rpartition("-")[2]) if vendor in OWN else _real_blank(vendor, ballots)


def _real_blank(vendor: str, ballots: Path) -> Blank:
    definition = json.loads((ballots / vendor / "definition.json").read_text(encoding="utf-8"))
    files = tuple(ballots / vendor / name for name in definition["blank"].values())
    return Blank(vendor, files, tuple(_defined(contest) for contest in definition["contests"]))


def _defined(contest: dict[str, Any]) -> Known:
    targets: list[tuple[Place, str]] = []
    for option in contest["options"]:
        name = WRITE_IN if option.get("write_in") else option.get("name") or option["key"]
        targets += [((left, top, wide, high), name) for left, top, wide, high in option["targets"]]
    return Known(contest["side"], contest.get("title", ""), contest.get("vote_for", 1), tuple(targets))


def _own_blank(style: str) -> Blank:
    design = read_ballots(FAIRVIEW).designs[style]
    contests: list[Known] = []
    for side in ("front", "back"):
        for placed in compose(design, side).layout.at(200).contests:
            targets = tuple(
                (
                    (o.target.left, o.target.top, o.target.width, o.target.height),
                    WRITE_IN if o.candidate.write_in else o.candidate.name,
                )
                for o in placed.options
            )
            contests.append(Known(side, placed.contest.title, placed.contest.vote_for, targets))
    files = tuple(FAIRVIEW / f"blank-{style}-{side}.png" for side in ("front", "back"))
    return Blank(f"fairview-{style}", files, tuple(contests))


def races_on(blank: Blank, folder: Path) -> Iterator[Race]:
    """Yield each contest found on a blank, `folder` being where its spec will lie; RaceError for another."""
    dpi, sides = look_at_blanks([",".join(map(str, blank.files))], None, folder)
    for one in numbered(sides):
        yield Race(blank, one, _known(blank, one), dpi)


def _known(blank: Blank, one: Numbered) -> Known:
    for known in blank.contests:
        spots = one.contest.targets
        is_like = known.side == one.on.side and len(spots) == len(known.targets)
        if is_like and all(known.name_at(spot) is not None for spot in spots):
            return known
    raise RaceError(f"{blank.vendor}: contest {one.number} that was found is none that people know")


def make_race(race: Race, folder: Path, foreign: Path | None = None) -> Made:
    """Draft, build and sign the race's program, and make its deck, all in `folder` with the real commands."""
    folder.mkdir(parents=True, exist_ok=True)
    spec, program, deck = (folder / name for name in ("spec.toml", "race.program", "deck"))
    placed = suggested(race.found, race.dpi)
    placed = replace(placed, on=replace(placed.on, style=race.name))
    names = [race.known.name_at(spot) or "" for spot in race.found.contest.targets]
    said = Said(KEY, race.known.title or race.name, race.known.vote_for, tuple(names))
    drafted = parse_spec(draft([placed], said, race.dpi).encode("utf-8"))
    spec.write_text(spec_text(_with_sides(drafted)), encoding="utf-8")
    code, _, err = run_host(("program", "build", str(spec), "-o", str(program)))
    if code != 0:
        raise NotProgrammable(f"{race.name} could not be programmed: {err.strip()}")
    for person in (ANN, BOB):
        key = str(folder / f"{person.partition(' ')[0]}.key")
        _does("program", "sign", str(program), "--key", key, "--name", person)
    other = ("--foreign", str(foreign)) if foreign else ()
    _does("deck", "make", str(program), str(deck), "--spec", str(spec), *other)
    return Made(race.name, race.known.vote_for, program, deck)


def _does(*words: str) -> None:
    code, _, err = run_host(words)
    if code != 0:
        raise RaceError(f"recount-host {' '.join(words)}: {err.strip()}")


def _with_sides(spec: ProgramSpec) -> ProgramSpec:
    """Return the spec with the first two options as the parties; a write-in line where there are no two."""
    options = sorted(spec.options, key=lambda option: option.write_in)
    others = (f"O{number}" for number in range(len(SIDES), len(options)))
    names = {option.key: key for option, key in zip(options, (*SIDES, *others), strict=False)}
    return with_(
        spec,
        options=tuple(with_(option, key=names[option.key]) for option in spec.options),
        styles=tuple(
            with_(style, targets={names[key]: boxes for key, boxes in style.targets.items()})
            for style in spec.styles
        ),
    )


def order_of_race(vote_for: int) -> str:
    """Return the order under which every race of this N may be tested."""
    head = {"contest": KEY, "title": "The race", "locality": "Fairview County", "vote_for": vote_for}
    return (
        toml_lines(head)
        + "".join(toml_table("side", {"key": key, "name": f"Side {key}"}) for key in SIDES)
        + toml_table("precinct", {"id": PRECINCT, "name": "Courthouse"})
    )
