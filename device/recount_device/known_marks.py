"""The table of a known deck: which options are marked on which sheet, as a technician writes it.

A text file (CSV), one line a sheet: the picture's file name, a comma, the keys of the marked options with
spaces between them. Empty lines, lines that begin with #, and a first line `sheet,marked` say nothing.

    deck-01.png, D
    deck-02.png, R W
"""

from __future__ import annotations

import csv
from collections.abc import Collection
from pathlib import PurePath

from recount_device.errors import OperatorError

_HEAD = ("sheet", "marked")


def read_known_marks(text: str, options: Collection[str]) -> dict[str, frozenset[str]]:
    """Return the marked options by the sheet's name without its ending.

    `options` are the keys of the contest. Raises OperatorError that names the line.
    """
    known: dict[str, frozenset[str]] = {}
    for number, row in enumerate(csv.reader(text.splitlines(), skipinitialspace=True), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#") or tuple(cells) == _HEAD:
            continue
        if len(cells) != 2:
            raise OperatorError(
                f'line {number}: write a sheet, a comma and its marked options, as "deck-01.png, D"'
            )
        sheet, keys = name_of(cells[0]), frozenset(cells[1].split())
        if not keys:
            raise OperatorError(f"line {number}: {sheet} has no mark: give it with --blank")
        strange = sorted(keys - set(options))
        if strange:
            have = ", ".join(options)
            raise OperatorError(f'line {number}: "{strange[0]}" is no option of this contest (it has {have})')
        if sheet in known:
            raise OperatorError(f"line {number}: {sheet} was named before")
        known[sheet] = keys
    return known


def name_of(sheet: str) -> str:
    """Return a sheet's name: its front picture's file name without folder and ending."""
    return PurePath(sheet.split(",", maxsplit=1)[0]).stem
