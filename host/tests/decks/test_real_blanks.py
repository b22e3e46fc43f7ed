"""Decks of programs that were built from real blanks: each vendor's, read by a right scanner as it says."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from host.tests.programs.shared_blanks import blanks_of, targets_of
from recount_classifier.program import Program
from recount_classifier.reading import read_sheet
from recount_host.decks.making import Source, draw_deck, plan_deck, read_source
from recount_host.law.deck import classes_of
from recount_host.programs.building import build_program
from recount_host.programs.drafting import WRITE_IN, Numbered, Said, draft, numbered, suggested
from recount_host.programs.finding import Spot
from recount_host.programs.looking import look_at_blanks

CONTESTS = (("juneau", 5), ("durant", 2), ("new-hampshire-letter", 2))
"""A vendor, and the number that one contest has when its blank is looked at."""


def source_of(shared: Path, vendor: str, number: int, folder: Path) -> Source:
    """Draft, build and read back a program from a real blank, as the commands do."""
    blanks = list(blanks_of(shared, vendor))
    dpi, sides = look_at_blanks([",".join(str(blank.file) for blank in blanks)], None, folder)
    one = next(found for found in numbered(sides) if found.number == number)
    contests = [contest for blank in blanks for contest in blank.contests if contest["side"] == one.on.side]
    known = next(contest for contest in contests if fits(one, targets_of(contest)))
    names = [name_at(spot, known) for spot in one.contest.targets]
    said = Said("race", "The Race", known.get("vote_for", 1), tuple(names))
    (folder / "spec.toml").write_text(draft([suggested(one, dpi)], said, dpi), encoding="utf-8")
    return read_source(build_program(folder / "spec.toml"), folder / "spec.toml", None)


def lies_at(spot: Spot, target: Sequence[float]) -> bool:
    """Return whether a spot's middle is that of a target."""
    left, top, width, height = target
    x, y = spot.centre
    return abs(x - left - width / 2) <= 2 and abs(y - top - height / 2) <= 2


def fits(one: Numbered, targets: Sequence[Sequence[float]]) -> bool:
    """Return whether a contest that was found has just these targets."""
    spots = one.contest.targets
    return len(spots) == len(targets) and all(any(lies_at(s, t) for t in targets) for s in spots)


def name_at(spot: Spot, contest: Mapping[str, Any]) -> str:
    """Return the name that the definition gives to the option at a target."""
    options: list[dict[str, Any]] = contest["options"]
    at = next(option for option in options if any(lies_at(spot, target) for target in option["targets"]))
    return WRITE_IN if at.get("write_in") else at.get("name") or at["key"]


def wrongly_read(source: Source, program: Program) -> list[str]:
    """Return the sheets that are not read as the deck says."""
    deck, plans = plan_deck(source)
    wrong: list[str] = []
    for sheet, picture in draw_deck(source, deck, plans):
        seen = read_sheet([picture], program, expects_test=True)
        right = (sheet.fate, sheet.choices, classes_of(sheet.reasons))
        if (seen.fate, seen.choices, classes_of(seen.reasons)) != right:
            wrong.append(f"{sheet.code} ({sheet.what}): {seen.fate} {seen.reasons}")
    return wrong


@pytest.mark.parametrize(("vendor", "number"), CONTESTS)
def test_a_deck_for_a_real_blank_is_read_as_it_says(
    shared_folder: Path, tmp_path: Path, vendor: str, number: int
) -> None:
    source = source_of(shared_folder, vendor, number, tmp_path)
    assert wrongly_read(source, source.program) == []
