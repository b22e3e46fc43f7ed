"""Reading the sets of real ballots beside the checkout: programs from blanks, readings against truth."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from recount_classifier.compiling import StyleSpec, TargetSpec, compile_style
from recount_classifier.decoding import decode_image
from recount_classifier.program import Option, Program, make_program
from recount_classifier.raster import Grey
from recount_classifier.reading import read_sheet
from recount_classifier.thresholds import Thresholds
from recount_protocol.fates import COUNTED

FILLED = frozenset({"full", "partial"})
DRAWN = frozenset({"x", "check", "line"})


@dataclass(frozen=True)
class Read:
    """One contest of one sheet as read, with what is true of it."""

    sheet: str
    contest: int
    outcome: str
    kinds: frozenset[str]
    marked: tuple[str, ...]
    stray: str
    streak: bool
    fate: str
    choices: tuple[str, ...]
    reasons: tuple[str, ...]

    @property
    def is_fault(self) -> bool:
        """Whether it was counted though people must decide, or for others than the voter marked."""
        return self.fate == COUNTED and (
            self.outcome != "vote" or sorted(self.choices) != sorted(self.marked)
        )

    @property
    def is_clean(self) -> bool:
        """Whether nothing but the marks is on it."""
        return not self.stray and not self.streak


@cache
def picture(path: Path) -> Grey:
    return decode_image(path.read_bytes())


def definition_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "definition.json").read_text(encoding="utf-8"))


def program_for(folder: Path, contest: dict[str, Any]) -> Program:
    """Build a contest's program from the set's blank."""
    definition = definition_of(folder)
    blanks = {side: picture(folder / name) for side, name in definition["blank"].items()}
    other = [blank for side, blank in blanks.items() if side != contest["side"]]
    options = contest["options"]
    spec = StyleSpec(
        id=folder.name,
        side=contest["side"],
        dpi=definition["dpi"],
        box=tuple(contest["box"]),
        write_in_areas=tuple(tuple(area) for area in contest.get("write_in_areas", [])),
        targets=tuple(
            TargetSpec(option["key"], option.get("write_in", False), tuple(target))
            for option in options
            for target in option["targets"]
        ),
    )
    style = compile_style(spec, blanks[contest["side"]], other[0] if other else None)
    return make_program(
        str(contest["number"]),
        contest["title"],
        contest["vote_for"],
        [Option(option["key"], option["name"], option.get("write_in", False)) for option in options],
        [style],
        Thresholds(),
    )


def read_set(folder: Path, *, skip: frozenset[str] = frozenset()) -> list[Read]:
    """Read every contest of every sheet of a set."""
    contests = definition_of(folder)["contests"]
    programs = {contest["number"]: program_for(folder, contest) for contest in contests}
    sides = {contest["number"]: contest["side"] for contest in contests}
    readings: list[Read] = []
    for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
        sheet = json.loads(line)
        if sheet["sheet"] in skip:
            continue
        pictures = {side: decode_image((folder / name).read_bytes()) for side, name in sheet["files"].items()}
        for number, truth in sheet["contests"].items():
            contest = int(number)
            if sides[contest] not in pictures:
                continue
            reading = read_sheet([pictures[sides[contest]]], programs[contest])
            readings.append(
                Read(
                    sheet["sheet"],
                    contest,
                    truth["outcome"],
                    frozenset(mark["kind"] for mark in truth["marks"].values()),
                    tuple(truth["marks"]),
                    truth["stray"],
                    truth["streak"],
                    reading.fate,
                    reading.choices,
                    reading.reasons,
                )
            )
    return readings


def figures(readings: list[Read]) -> str:
    """Return the readings' table: outcome by fate."""
    table = Counter((reading.outcome, reading.fate) for reading in readings)
    fates = ("counted", "set_aside", "not_accepted", "returned")
    lines = [f"{'outcome':<12}" + "".join(f"{fate:>14}" for fate in fates)]
    lines += [
        f"{outcome:<12}" + "".join(f"{table[outcome, fate]:>14}" for fate in fates)
        for outcome in ("vote", "undervote", "overvote", "write_in", "doubtful")
    ]
    return "\n".join(lines)
