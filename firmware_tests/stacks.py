"""Stacks of ballots for the tests of the whole path: program, paper, and what `read` says of each sheet.

The real sheets of New Hampshire (contest 1) where the folder ../shared is, else drawn ones of Fairview.
"""

import contextlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firmware_tests.day import run_host, toml_lines, toml_table
from firmware_tests.demo import order_of
from recount_ballots.deck import read_deck
from recount_ballots.render import MM_PER_INCH, write_picture
from recount_device import cli as device_cli

PRECINCT = "101"
CONTEST = 1
BLANK = "006"
FAIRVIEW = Path(__file__).resolve().parent.parent / "images" / "ballots" / "fairview"
SCANNED_AGAIN = frozenset(("039", "042", "046", "078"))
"""Of the real ones: the paper of 027, 003, 027, 071 once more, which a device asks about within one batch."""
DRAWN_SHEETS = 40
"""Of Fairview's deck: as many as there are real ones, nearly."""

REAL_ORDER = """\
contest = "nh-1"
title = "Governor"
locality = "Fairview County"
vote_for = 1
[[side]]
key = "D"
name = "Josiah Bartlett"
[[side]]
key = "R"
name = "Hannah Dustin"
[[precinct]]
id = "101"
name = "Courthouse"
"""


@dataclass(frozen=True)
class Stack:
    """The sheets of one contest: the order, the program, the paper, and each sheet's reading by its id."""

    order: str
    program: Path
    duplex: bool
    sheets: tuple[dict[str, object], ...]
    readings: dict[str, dict[str, Any]]

    def ids(self, fate: str) -> list[str]:
        """Return the ids of the sheets that were read to this fate, in the hopper's order."""
        return [str(sheet["id"]) for sheet in self.sheets if self.readings[str(sheet["id"])]["fate"] == fate]

    def votes(self) -> dict[str, int]:
        """Return the votes of all sheets that count, per option that has any."""
        votes: dict[str, int] = {}
        for reading in self.readings.values():
            for choice in reading["choices"]:
                votes[choice] = votes.get(choice, 0) + 1
        return votes


def spec_of(ballots: Path, number: int) -> str:
    """Return the SPEC.toml for one contest of the folder's definition.json."""
    definition = json.loads((ballots / "definition.json").read_text())
    contest = next(entry for entry in definition["contests"] if entry["number"] == number)
    other = {"front": "back", "back": "front"}[contest["side"]]
    head = {
        "key": f"nh-{number}", "title": contest["title"], "vote_for": contest["vote_for"],
        "dpi": definition["dpi"],
    }  # fmt: skip
    options = [
        toml_table("option", {key: option[key] for key in ("key", "name", "write_in") if key in option})
        for option in contest["options"]
    ]
    style = {
        "id": "card-1", "side": contest["side"], "blank": str(ballots / definition["blank"][contest["side"]]),
        "other_side": str(ballots / definition["blank"][other]), "contest_box": contest["box"],
        "write_in_areas": contest["write_in_areas"],
    }  # fmt: skip
    targets = ", ".join(f"{option['key']} = {option['targets']}" for option in contest["options"])
    return toml_lines(head) + "".join(options) + toml_table("style", style) + f"targets = {{ {targets} }}\n"


def real_stack(ballots: Path, folder: Path) -> Stack:
    """Build the program in `folder`, and read every sheet once, but not the blank."""
    (folder / "spec.toml").write_text(spec_of(ballots, CONTEST), encoding="utf-8")
    names = sorted(path.name.removesuffix("-front.jpg") for path in ballots.glob("*-front.jpg"))
    names = [name for name in names if name != BLANK and name not in SCANNED_AGAIN]
    sheets = [
        {"id": name, "front": str(ballots / f"{name}-front.jpg"), "back": str(ballots / f"{name}-back.jpg")}
        for name in names
    ]
    return _stack(REAL_ORDER, folder / "spec.toml", folder, sheets, duplex=True)


def drawn_stack(folder: Path) -> Stack:
    """Build Fairview's program in `folder`, draw the first sheets of its deck, and read them."""
    deck = read_deck(FAIRVIEW)
    sheets = [
        {
            "id": sheet.id,
            "front": str(write_picture(deck, sheet, "front", folder)),
            "turned": sheet.turned,
            "length_mm": round(deck.ballots.designs[sheet.style].height_in * MM_PER_INCH, 1),
        }
        for sheet in deck.sheets[:DRAWN_SHEETS]
    ]
    return _stack(order_of(deck), FAIRVIEW / "spec.toml", folder, sheets, duplex=False)


def _stack(
    order: str, spec: Path, folder: Path, sheets: Sequence[Mapping[str, object]], *, duplex: bool
) -> Stack:
    program = folder / "contest.program"
    code, _, err = run_host(("program", "build", str(spec), "-o", str(program)))
    assert code == 0, err
    images = [",".join(str(sheet[side]) for side in ("front", "back") if side in sheet) for sheet in sheets]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = device_cli.main(["read", str(program), *images, "--json"])
    assert code == 0
    readings = [json.loads(line) for line in out.getvalue().splitlines()]
    return Stack(
        order=order,
        program=program,
        duplex=duplex,
        sheets=tuple(dict(sheet) for sheet in sheets),
        readings={reading["sheet"].removesuffix("-front"): reading for reading in readings},
    )
