"""What hands do at the device: press buttons, open the cover, take paper out and lay it down.

Every act takes effect at once, at the world's present moment; who needs time for it takes it in between.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from recount_world.calls import BUTTONS
from recount_world.errors import CallError
from recount_world.paper import PILES, Place, Sheet, place_named
from recount_world.path import Bundle, Carried

if TYPE_CHECKING:
    from recount_world.world import World

PRESS_US = 300_000
"""How long the stop button stays down."""
HAND_TICKS_PER_US = 4000
"""A hand pushes paper at 400 mm a second."""
SHORT_OF_SENSOR_TICKS = 1
EXITS: Mapping[str, int] = {f"exit_{place.value}": number for number, place in enumerate(PILES)}
"""Where a sheet can be pushed in by hand, along a bin's sensor."""


class Hands:
    """The hands of whoever is at the device."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._pressed: list[str] = []

    def later(self, delay_us: int, action: Callable[[], None]) -> None:
        """Do something after a while."""
        self._world.later(delay_us, action)

    # Buttons and cover.

    def press(self, button: str) -> None:
        """Press a button. `stop` is wired to the board too, and cuts the motors' power while it is down."""
        if button not in BUTTONS:
            raise CallError(f"there is no button {button!r}; the buttons are {', '.join(BUTTONS)}")
        self._world.trace.note(self._world.now_us, "pressed", button)
        self._pressed.append(button)
        if button == "stop":
            self._hold_stop(down=True)
            self._world.later(PRESS_US, lambda: self._hold_stop(down=False))

    def pressed(self) -> tuple[str, ...]:
        """Return the buttons pressed since this was last asked."""
        pressed, self._pressed = tuple(self._pressed), []
        return pressed

    def any_pressed(self) -> bool:
        """Tell whether a button was pressed since `pressed` was asked."""
        return bool(self._pressed)

    def _hold_stop(self, *, down: bool) -> None:
        self._world.switches.stop_pressed = down
        self._world.outputs.power_motors()

    def set_cover(self, *, open_: bool) -> None:
        """Open or close the cover."""
        self._world.switches.cover_open = open_

    def cover_is_open(self) -> bool:
        """Tell whether the cover stands open."""
        return self._world.switches.cover_open

    # Where paper is, as eyes see it.

    def in_path(self) -> tuple[str, ...]:
        """Return the sheets that have reached the entry sensor and no bin."""
        entry = self._world.path.edges.entry
        return tuple(sheet.sheet.id for sheet in self._world.path.carried() if sheet.lead >= entry)

    def in_hopper(self) -> tuple[str, ...]:
        """Return the sheets in the hopper, one half picked included."""
        in_path = self.in_path()
        half_picked = [one.sheet.id for one in self._world.path.carried() if one.sheet.id not in in_path]
        return (*half_picked, *self._world.paper.at(Place.HOPPER))

    def held(self) -> tuple[str, ...]:
        """Return the sheets in the operator's hands."""
        return self._world.paper.at(Place.OPERATOR)

    def positions(self) -> dict[str, object]:
        """Return every sheet's place; in the path with its leading edge in mm past the entry sensor."""
        path, paper = self._world.path, self._world.paper
        return {
            "hopper": list(self.in_hopper()),
            "path": list(self.in_path()),
            **{place.value: list(paper.at(place)) for place in (*PILES, Place.OPERATOR)},
            "path_mm": {one.sheet.id: (one.lead - path.edges.entry) / 10_000_000 for one in path.carried()},
        }

    # Moving paper.

    def take_path(self) -> None:
        """Take all sheets out of the path into the hands."""
        for sheet_id in self.in_path():
            self._note("taken out", sheet_id)
            self._world.path.take(sheet_id, Place.OPERATOR)

    def take_out(self, place_name: str, sheet_id: str | None) -> list[str]:
        """Take one sheet, or all, from a place into the hands and return them."""
        place = place_named(place_name)
        there = {Place.PATH: self.in_path, Place.HOPPER: self.in_hopper}.get(
            place, lambda: self._world.paper.at(place)
        )()
        if sheet_id is not None and sheet_id not in there:
            raise CallError(f"there is no sheet {sheet_id!r} in {place_name}")
        taken = [sheet_id] if sheet_id is not None else list(there)
        for one in taken:
            self.lay(one, Place.OPERATOR)
        return taken

    def move(self, sheet_id: str, from_name: str | None, to_name: str) -> None:
        """Move a sheet onto a pile, the hopper or into the hands; CallError if it is not at `from_name`."""
        to = place_named(to_name)
        if to is Place.PATH:
            raise CallError(
                "nobody lays a sheet into the path; insert it at an exit, or lay it on the hopper"
            )
        self._world.paper.place_of(sheet_id)
        if from_name is not None and sheet_id not in self._seen_at(place_named(from_name)):
            raise CallError(f"sheet {sheet_id} is not in {from_name}")
        self.lay(sheet_id, to)

    def _seen_at(self, place: Place) -> tuple[str, ...]:
        if place is Place.PATH:
            return self.in_path()
        return self.in_hopper() if place is Place.HOPPER else self._world.paper.at(place)

    def lay(self, sheet_id: str, place: Place) -> None:
        """Lay a sheet somewhere: on top of a pile or of the hopper, or into the hands."""
        if self._world.paper.place_of(sheet_id) is Place.PATH:
            self._world.path.take(sheet_id, Place.OPERATOR)
        if place is Place.HOPPER:
            self.lay_back([sheet_id])
        else:
            self._note(f"laid on {place.value}", sheet_id)
            self._world.paper.move(sheet_id, place)

    def lay_on(self, sheets: Sequence[str], place: Place) -> None:
        """Lay sheets somewhere, one after the other."""
        for sheet_id in sheets:
            self.lay(sheet_id, place)

    def lay_back(self, sheets: Sequence[str]) -> None:
        """Lay sheets on the hopper, face up, the first uppermost; half-picked ones are pushed back first."""
        self._world.path.square_up()
        for sheet_id in sheets:
            self._note("laid on hopper", sheet_id)
            self._world.paper.turn_face_up(sheet_id)
        self._world.paper.lay_on_hopper(sheets)

    def load(self, sheets: Sequence[Sheet | str]) -> None:
        """Lay new and known sheets on the hopper, the first uppermost, as they are (face down stays so)."""
        ids = [sheet if isinstance(sheet, str) else sheet.id for sheet in sheets]
        if len(set(ids)) != len(ids):
            raise CallError("load names a sheet twice")
        for sheet in sheets:
            if isinstance(sheet, str):
                self._world.paper.place_of(sheet)
            elif sheet.id in self._world.paper.sheets:
                raise CallError(f"there is a sheet {sheet.id!r} already")
        self._world.path.square_up()
        for sheet in sheets:
            if isinstance(sheet, str):
                self.lay(sheet, Place.OPERATOR)
            else:
                self._world.paper.add(sheet, Place.OPERATOR)
        for sheet_id in ids:
            self._note("laid on hopper", sheet_id)
        self._world.paper.lay_on_hopper(ids)
        if self._world.operator is not None:
            self._world.operator.paper_came()

    def insert(self, sheet: Sheet | str, where: str) -> None:
        """Push a sheet along a bin's sensor into the bin (exit_counted, ...), or lay it on a pile."""
        if where not in EXITS:
            place = place_named(where)
            if place is Place.PATH:
                raise CallError(f"insert a sheet at {', '.join(EXITS)}, or on a pile")
            self.lay(self._at_hand(sheet), place)
            return
        sheet_id = self._at_hand(sheet)
        self._note(f"pushed in at {where}", sheet_id)
        lead = self._world.path.edges.exit - SHORT_OF_SENSOR_TICKS
        pushed = Carried(self._world.paper.sheets[sheet_id], lead, exit=EXITS[where], past_camera=True)
        self._world.path.put(Bundle([pushed], hand_ticks_per_us=HAND_TICKS_PER_US))

    def _at_hand(self, sheet: Sheet | str) -> str:
        """Take a sheet into the hands, out of the world's paper or new to it, and return its id."""
        if isinstance(sheet, str):
            self.lay(sheet, Place.OPERATOR)
            return sheet
        self._world.paper.add(sheet, Place.OPERATOR)
        return sheet.id

    def _note(self, what: str, sheet_id: str) -> None:
        self._world.trace.note(self._world.now_us, what, sheet_id)
