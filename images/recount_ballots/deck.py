"""deck.toml: the sheets of a deck, how they are marked, what happened to the paper, the truth about each.

    title = "..."
    precinct = "101"
    seed = 20251104                          # with a sheet's id it decides everything that looks like chance
    [[sheet]]
    id = "017"
    style = "101"                            # a style of ballots.toml
    tool = "blue_pen"                        # strokes.TOOLS
    scanner = "page_scanner"                 # scanner.SCANNERS
    marks = { A = "full" }                   # in the contest under recount: option -> marks.MARKS
    contest = "delegates-53"                 # where they stand instead, on a ballot that lacks the contest
    write_in = "JANE ROE"                    # written on its write-in line
    erased = ["B"]                           # marks rubbed out again; fluid = [...] painted over
    crossed_out = ["B"]                      # names; likewise underlined, circled
    turned = true                            # fed upside down
    damage = ["fold 0.62", "coffee 0.2 0.8", "staple", "crumple", "tear_corner bottom-right 0.3 0.2"]
                                             # and "tear_side left 0.1 0.3 0.4": from, to, depth
    fate = "counted"                         # or a list, where a reasonable person could accept each
    choices = ["A"]                          # option keys, when counted
    reasons = []                             # each must be met: "a|b" either, "marginal_*" any such
    hand = "A"                               # what two officials find: option keys joined by "+", or
                                             # no_vote, overvote, other_write_in, no_contest
    fault = { kind = "jam", at_mm = 120 }    # what the paper does in the feeder, the first time

Lengths in `damage` are shares of the sheet's width and length. Contests not recounted are marked by chance.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recount_ballots.ballots_file import Ballots, read_ballots
from recount_ballots.errors import DeckError
from recount_ballots.marks import MARKS
from recount_ballots.scanner import SCANNERS
from recount_ballots.strokes import TOOLS
from recount_ballots.toml_reading import Table, read_table

FATES = ("counted", "set_aside", "not_accepted", "returned")


@dataclass(frozen=True)
class Truth:
    """What is right for a sheet, beyond what any machine reads."""

    fates: tuple[str, ...]
    choices: tuple[str, ...]
    reasons: tuple[str, ...]
    hand: str


@dataclass(frozen=True)
class DeckSheet:
    """One sheet of a deck."""

    id: str
    style: str
    tool: str
    scanner: str
    contest: str
    """The contest that `marks` stand in; empty: the one under recount."""
    marks: Mapping[str, str]
    write_in: str
    erased: tuple[str, ...]
    fluid: tuple[str, ...]
    crossed_out: tuple[str, ...]
    underlined: tuple[str, ...]
    circled: tuple[str, ...]
    turned: bool
    damage: tuple[str, ...]
    fault: Mapping[str, Any] | None
    truth: Truth


@dataclass(frozen=True)
class Deck:
    """A deck with the ballots it is made of."""

    title: str
    precinct: str
    seed: int
    ballots: Ballots
    sheets: tuple[DeckSheet, ...]


def read_deck(folder: Path) -> Deck:
    """Return the deck of a folder, or raise DeckError."""
    table = read_table(folder / "deck.toml")
    sheets = tuple(_sheet(row) for row in table.tables("sheet"))
    deck = Deck(
        table.get("title", str),
        table.get("precinct", str),
        table.get("seed", int),
        read_ballots(folder),
        sheets,
    )
    table.finish()
    ids = [sheet.id for sheet in sheets]
    repeated = sorted({sheet_id for sheet_id in ids if ids.count(sheet_id) > 1})
    if repeated:
        raise DeckError(f"{folder / 'deck.toml'}: sheet {repeated[0]} stands there twice")
    return deck


def _sheet(row: Table) -> DeckSheet:
    fault = row.raw("fault")
    sheet = DeckSheet(
        id=row.get("id", str),
        style=row.get("style", str),
        tool=_one_of(row, "tool", TOOLS, "black_pen"),
        scanner=_one_of(row, "scanner", SCANNERS, "page_scanner"),
        contest=row.get("contest", str, ""),
        marks=row.pairs("marks"),
        write_in=row.get("write_in", str, ""),
        erased=row.words("erased"),
        fluid=row.words("fluid"),
        crossed_out=row.words("crossed_out"),
        underlined=row.words("underlined"),
        circled=row.words("circled"),
        turned=row.get("turned", bool, default=False),
        damage=row.words("damage"),
        fault=fault,
        truth=Truth(row.words("fate"), row.words("choices"), row.words("reasons"), row.get("hand", str)),
    )
    row.finish()
    if not sheet.truth.fates or any(fate not in FATES for fate in sheet.truth.fates):
        raise DeckError(f"sheet {sheet.id}: fate is one of {', '.join(FATES)}")
    unknown = [kind for kind in sheet.marks.values() if kind not in MARKS]
    if unknown:
        raise DeckError(f"sheet {sheet.id}: there is no mark {unknown[0]}; marks are {', '.join(MARKS)}")
    return sheet


def _one_of(row: Table, key: str, known: Mapping[str, object], default: str) -> str:
    word = row.get(key, str, default)
    if word not in known:
        raise DeckError(f"there is no {key} {word}: there are {', '.join(known)}")
    return word
