"""The blanks of the shared ballots with what stands on them, as people measured it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recount_classifier.raster import Grey
from recount_host.programs.blanks import read_blank

VENDORS = ("durant", "juneau", "new-hampshire-letter", "new-hampshire-conditions")


@dataclass(frozen=True)
class Blank:
    """One side of one vendor's blank."""

    vendor: str
    side: str
    file: Path
    dpi: float
    contests: list[dict[str, Any]]

    @property
    def page(self) -> Grey:
        return read_blank(self.file.name, self.file.parent, self.dpi)

    @property
    def targets(self) -> list[tuple[float, float, float, float]]:
        return [target for contest in self.contests for target in targets_of(contest)]


def targets_of(contest: dict[str, Any]) -> list[tuple[float, float, float, float]]:
    return [tuple(target) for option in contest["options"] for target in option["targets"]]


def blanks_of(shared: Path, vendor: str) -> Iterator[Blank]:
    """Yield the sides of a vendor's blank."""
    folder = shared / "ballots" / vendor
    definition = json.loads((folder / "definition.json").read_text(encoding="utf-8"))
    for side, name in definition["blank"].items():
        contests = [contest for contest in definition["contests"] if contest["side"] == side]
        yield Blank(vendor, side, folder / name, definition["dpi"], contests)
