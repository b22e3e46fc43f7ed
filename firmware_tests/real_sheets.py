"""The real sheets of New Hampshire, contest 1, as a program, a hopper and what `recount-device read` says."""

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firmware_tests.day import run_host, toml_lines, toml_table
from recount_device import cli as device_cli

PRECINCT = "101"
CONTEST = 1
BLANK = "006"

ORDER = """\
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
class RealSheets:
    """The sheets of one contest: its program, the paper, and each sheet's reading by its id."""

    program: Path
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


def read_real_sheets(ballots: Path, folder: Path) -> RealSheets:
    """Build the program in `folder`, and read every sheet but the blank."""
    (folder / "spec.toml").write_text(spec_of(ballots, CONTEST), encoding="utf-8")
    program = folder / "nh-1.program"
    code, _, err = run_host(("program", "build", str(folder / "spec.toml"), "-o", str(program)))
    assert code == 0, err
    names = sorted(path.name.removesuffix("-front.jpg") for path in ballots.glob("*-front.jpg"))
    names.remove(BLANK)
    fronts = {name: ballots / f"{name}-front.jpg" for name in names}
    backs = {name: ballots / f"{name}-back.jpg" for name in names}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = device_cli.main(
            ["read", str(program), *(f"{fronts[name]},{backs[name]}" for name in names), "--json"]
        )
    assert code == 0
    readings = [json.loads(line) for line in out.getvalue().splitlines()]
    return RealSheets(
        program=program,
        sheets=tuple({"id": n, "front": str(fronts[n]), "back": str(backs[n])} for n in names),
        readings={reading["sheet"].removesuffix("-front"): reading for reading in readings},
    )
