"""Sheets of paper and the places where each of them lies. Nothing moves here by itself.

The law of this module: paper is conserved. Every sheet lies in exactly one place at every moment.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from recount_world.errors import CallError

LETTER_MM = 279.4
SHEET_UM = 100
"""Thickness of ballot paper, in micrometres."""


class Place(Enum):
    """Where a sheet can lie."""

    HOPPER = "hopper"
    """The stack that is fed; its first sheet is the uppermost, fed next."""
    PATH = "path"
    """Between the rollers, from the hopper's mouth to the bins."""
    COUNTED = "counted"
    """The counted pile; its first sheet lies at the bottom, as in every pile."""
    SET_ASIDE = "set_aside"
    """The set-aside tray."""
    NOT_ACCEPTED = "not_accepted"
    """The not-accepted tray."""
    OPERATOR = "operator"
    """In the operator's hands: driven back out, or taken out."""


PILES = (Place.COUNTED, Place.SET_ASIDE, Place.NOT_ACCEPTED)
"""The bins, in the order of the diverter's exits 0, 1, 2."""


def place_named(name: str) -> Place:
    """Return the place of that name. Raises CallError with the names that there are."""
    try:
        return Place(name)
    except ValueError:
        names = ", ".join(place.value for place in Place)
        raise CallError(f"there is no place {name!r}; the places are {names}") from None


@dataclass(frozen=True)
class Sheet:
    """One sheet of paper."""

    id: str
    front: Path | None = None
    """Image of its front, leading edge (top of the page) first; None: blank paper."""
    back: Path | None = None
    turned: bool = False
    """It lies upside down: the bottom of the page leads."""
    wrong_side: bool = False
    """It lies face down."""
    length_mm: float = LETTER_MM
    thickness_um: int = SHEET_UM
    pick_slip_mm: float = 0.0
    """The pick roller turns so far before it grips this sheet."""
    truth: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What the deck says about it: fate, choices, reasons."""


class Paper:
    """All sheets of a world, each in one place."""

    def __init__(self, sheets: Iterable[Sheet] = ()) -> None:
        self.sheets: dict[str, Sheet] = {}
        self._places: dict[Place, list[str]] = {place: [] for place in Place}
        for sheet in sheets:
            self.add(sheet, Place.HOPPER)

    def add(self, sheet: Sheet, place: Place) -> None:
        """Bring a new sheet into the world, at the end of a place. Raises CallError for an id that exists."""
        if sheet.id in self.sheets:
            raise CallError(f"there is a sheet {sheet.id!r} already")
        self.sheets[sheet.id] = sheet
        self._places[place].append(sheet.id)

    def at(self, place: Place) -> tuple[str, ...]:
        """Return the ids of the sheets in a place, in its order."""
        return tuple(self._places[place])

    def place_of(self, sheet_id: str) -> Place:
        """Return where a sheet lies. Raises CallError for an unknown id."""
        for place, ids in self._places.items():
            if sheet_id in ids:
                return place
        raise CallError(f"there is no sheet {sheet_id!r}")

    def move(self, sheet_id: str, to: Place) -> None:
        """Lay a sheet at the end of a place: on top of a pile, last into the hands, under the stack."""
        self._places[self.place_of(sheet_id)].remove(sheet_id)
        self._places[to].append(sheet_id)

    def lay_on_hopper(self, sheet_ids: Iterable[str]) -> None:
        """Lay sheets on top of the hopper; the first given is uppermost then."""
        ids = list(sheet_ids)
        for sheet_id in ids:
            self._places[self.place_of(sheet_id)].remove(sheet_id)
        self._places[Place.HOPPER][:0] = ids

    def turn_face_up(self, sheet_id: str) -> None:
        """Turn a sheet that lies face down."""
        self.sheets[sheet_id] = replace(self.sheets[sheet_id], wrong_side=False)
