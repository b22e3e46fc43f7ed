"""ballots.toml: the ballot styles of one locality as data, and the blanks and spec drawn from it.

locality = "Fairview County"
election = "General and Special Elections"
date = "November 4, 2025"
target = "oval"                          # or "box"
height = "letter"                        # letter, legal, 17in, 19in, 22in
columns = 3
dpi = 200
recount = "delegates-52"                 # the contest that spec.toml is written for
[[contest]]
key = "delegates-52"
title = "House of Delegates, 52nd Dist."
vote_for = 1
write_in = true                          # ends with a write-in line, option W
candidates = ["A: Cora Whitlock, Democratic", "B: Oscar Radford"]
[[style]]
id = "101"
code = 1101
precinct = "101 Courthouse"
front = ["governor", "delegates-52"]     # contests in the order of the columns
back = ["question-1"]
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2

from recount_ballots.blank import Blank, Grey, draw_blank, load_blank
from recount_ballots.design import HEIGHTS_IN, Candidate, Contest, Design
from recount_ballots.errors import DeckError, DesignError
from recount_ballots.layout import Side
from recount_ballots.spec import StyleEntry, write_spec
from recount_ballots.toml_reading import Table, read_table

WRITE_IN_KEY = "W"


@dataclass(frozen=True)
class Ballots:
    """All ballot styles of a folder."""

    folder: Path
    dpi: int
    recount: str
    designs: Mapping[str, Design]

    def blank_path(self, style: str, side: Side) -> Path:
        """Return where the picture of a blank side lies."""
        return self.folder / f"blank-{style}-{side}.png"

    def blank(self, style: str, side: Side = "front") -> Blank:
        """Return a blank side from its committed picture; raises DeckError."""
        if style not in self.designs:
            raise DeckError(
                f"{self.folder / 'ballots.toml'} has no style {style}: it has {', '.join(self.designs)}"
            )
        return load_blank(self.designs[style], self.blank_path(style, side), side, self.dpi)

    def recount_styles(self) -> list[tuple[str, Side]]:
        """Return the styles that bear the contest under recount, each with the side that bears it."""
        found: list[tuple[str, Side]] = []
        for style, design in self.designs.items():
            sides: dict[Side, tuple[Contest, ...]] = {"front": design.front, "back": design.back}
            for side, contests in sides.items():
                if any(contest.key == self.recount for contest in contests):
                    found.append((style, side))
        return found


def read_ballots(folder: Path) -> Ballots:
    """Return the ballots that a folder's ballots.toml describes, or raise DeckError."""
    table = read_table(folder / "ballots.toml")
    contests = dict(_contest(row) for row in table.tables("contest"))
    height = table.get("height", str, "letter")
    target = table.get("target", str, "oval")
    if height not in HEIGHTS_IN or target not in ("oval", "box"):
        raise DeckError(
            f"{folder / 'ballots.toml'}: heights are {', '.join(HEIGHTS_IN)}; targets are oval, box"
        )
    columns = table.get("columns", int, 3)
    locality, election, date = (table.get(key, str) for key in ("locality", "election", "date"))
    designs: dict[str, Design] = {}
    for row in table.tables("style"):
        style = row.get("id", str)
        designs[style] = Design(
            name=f"{locality} {style}",
            code=row.get("code", int),
            locality=locality,
            precinct=row.get("precinct", str),
            election=election,
            date=date,
            front=_named(row, "front", contests),
            back=_named(row, "back", contests),
            target="oval" if target == "oval" else "box",
            height_in=HEIGHTS_IN[height],
            columns=columns,
        )
        row.finish()
    ballots = Ballots(folder, table.get("dpi", int, 200), table.get("recount", str), designs)
    table.finish()
    return ballots


def draw_ballots(folder: Path) -> list[Path]:
    """Draw every blank side and write spec.toml for the contest under recount; return the files written."""
    ballots = read_ballots(folder)
    written: list[Path] = []
    for style, design in ballots.designs.items():
        sides: tuple[Side, ...] = ("front", "back") if design.back else ("front",)
        for side in sides:
            path = ballots.blank_path(style, side)
            write_png(path, draw_blank(design, side, ballots.dpi).image)
            written.append(path)
    spec = folder / "spec.toml"
    spec.write_text(spec_text(ballots), encoding="utf-8")
    return [*written, spec]


def spec_text(ballots: Ballots) -> str:
    """Return the text of spec.toml for the contest under recount."""
    entries: list[StyleEntry] = []
    for style, side in ballots.recount_styles():
        other: Side = "back" if side == "front" else "front"
        design = ballots.designs[style]
        entries.append(
            StyleEntry(
                style,
                ballots.blank(style, side).layout,
                ballots.blank_path(style, side).name,
                side,
                ballots.blank_path(style, other).name if design.back else None,
            )
        )
    if not entries:
        raise DesignError(f"no style of {ballots.folder} bears the contest {ballots.recount}")
    return write_spec(ballots.recount, ballots.dpi, entries)


def write_png(path: Path, image: Grey) -> None:
    """Write a picture as PNG, as small as it gets."""
    _, data = cv2.imencode(".png", image, [cv2.IMWRITE_PNG_COMPRESSION, 9])
    path.write_bytes(data.tobytes())


def _contest(row: Table) -> tuple[str, Contest]:
    key = row.get("key", str)
    candidates = [_candidate(line) for line in row.words("candidates")]
    if row.get("write_in", bool, default=False):
        candidates.append(Candidate(WRITE_IN_KEY, "Write-in", write_in=True))
    contest = Contest(key, row.get("title", str), row.get("vote_for", int, 1), tuple(candidates))
    row.finish()
    return key, contest


def _candidate(line: str) -> Candidate:
    """Return the candidate of a line "KEY: Name" or "KEY: Name, Party"."""
    key, colon, rest = line.partition(": ")
    name, _, party = rest.partition(", ")
    if not (key and colon and name):
        raise DeckError(f'a candidate is written "KEY: Name, Party", not "{line}"')
    return Candidate(key, name, party)


def _named(row: Table, side: str, contests: Mapping[str, Contest]) -> tuple[Contest, ...]:
    keys = row.words(side)
    unknown = [key for key in keys if key not in contests]
    if unknown:
        raise DeckError(f"there is no contest {unknown[0]}: the contests are {', '.join(contests)}")
    return tuple(contests[key] for key in keys)
