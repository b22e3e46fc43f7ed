"""The automatic operator: does with hands what the panel asks, as a person at the device would, truthfully.

It knows nothing but what the panel shows and where paper lies. It takes its time (on the world's clock),
finishes what its hands have begun, presses a button only while the panel still asks for it, and does it again
after a while when nothing has changed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from recount_world.paper import Place

LOOK_US = 800_000
"""From a message to the first move of a hand."""
HAND_US = 700_000
"""For one thing that hands do."""
AGAIN_US = 5_000_000
"""The panel still asks the same: do it again."""
TRIES = 3


@dataclass(frozen=True)
class Panel:
    """What the station shows."""

    key: str
    text: str
    sheet: int | None = None
    question: str | None = None
    lamps: Mapping[str, bool] = field(default_factory=dict[str, bool], compare=False)


class Hands(Protocol):
    """What hands can do at the device."""

    def later(self, delay_us: int, action: Callable[[], None]) -> None:
        """Do something after a while."""
        ...

    def press(self, button: str) -> None:
        """Press a button."""
        ...

    def set_cover(self, *, open_: bool) -> None:
        """Open or close the cover."""
        ...

    def cover_is_open(self) -> bool:
        """Tell whether the cover stands open."""
        ...

    def held(self) -> Sequence[str]:
        """Return the sheets in the operator's hands."""
        ...

    def in_path(self) -> Sequence[str]:
        """Return the sheets in the path."""
        ...

    def in_hopper(self) -> Sequence[str]:
        """Return the sheets in the hopper."""
        ...

    def take_path(self) -> None:
        """Take all sheets out of the path."""
        ...

    def lay_back(self, sheets: Sequence[str]) -> None:
        """Lay sheets on top of the hopper, face up, the first uppermost."""
        ...

    def lay_on(self, sheets: Sequence[str], place: Place) -> None:
        """Lay sheets on a pile."""
        ...


class AutoOperator:
    """One person at one device."""

    def __init__(self, hands: Hands) -> None:
        self._hands = hands
        self._panel: Panel | None = None
        self._tries = 0
        self._messages = 0
        self._busy = False
        self._last_button: str | None = None
        self._plans: Mapping[str, Callable[[Panel], None]] = {
            "press_start": self._start,
            "take_out_and_return": lambda panel: self._clear(panel, None),
            "take_out_to_tray": lambda panel: self._clear(panel, Place.NOT_ACCEPTED),
            "take_out_to_set_aside": lambda panel: self._clear(panel, Place.SET_ASIDE),
            "hopper_empty": self._end,
            "batch_full": self._end_full,
            "fault": self._close_cover,
        }

    def see(self, panel: Panel | None) -> None:
        """Look at a new message; None: the panel is dark."""
        if panel == self._panel:
            return
        self._panel = panel
        self._messages += 1
        self._tries = 0
        self.look()

    def look(self) -> None:
        """Begin what the panel asks for, unless hands are busy: then they look up when they are done."""
        panel = self._panel
        if self._busy or panel is None or panel.key not in self._plans or self._tries >= TRIES:
            return
        self._tries += 1
        self._busy = True
        self._hands.later(LOOK_US, lambda: self._plans[panel.key](panel))

    def paper_came(self) -> None:
        """Somebody loaded the hopper: a message that waited for paper can be answered now."""
        self._tries = 0
        self.look()

    def _start(self, panel: Panel) -> None:
        if self._hands.in_hopper():
            self._press("start", panel)
        self._done(panel)

    def _end(self, panel: Panel) -> None:
        self._press("start" if self._hands.in_hopper() else "end_batch", panel)
        self._done(panel)

    def _end_full(self, panel: Panel) -> None:
        self._press("end_batch", panel)
        self._done(panel)

    def _close_cover(self, panel: Panel) -> None:
        """Close a cover that stands open and press again what did not help; leave other faults alone."""
        if not self._hands.cover_is_open():
            self._done(panel)
            return
        steps: list[Callable[[], None]] = [lambda: self._hands.set_cover(open_=False)]
        button = self._last_button
        if button is not None:
            steps.append(lambda: self._press(button, panel))
        self._do(steps, panel)

    def _clear(self, panel: Panel, tray: Place | None) -> None:
        """Take out what is in the path, lay it and what came back where the panel says, confirm."""
        steps: list[Callable[[], None]] = []
        if self._hands.in_path():
            steps += [
                lambda: self._hands.set_cover(open_=True),
                self._hands.take_path,
                lambda: self._hands.set_cover(open_=False),
            ]
        steps += [lambda: self._lay(tray), lambda: self._press("confirm", panel)]
        self._do(steps, panel)

    def _lay(self, tray: Place | None) -> None:
        sheets = self._hands.held()
        if not sheets:
            return
        if tray is None:
            self._hands.lay_back(sheets)
        else:
            self._hands.lay_on(sheets, tray)

    def _do(self, steps: Sequence[Callable[[], None]], panel: Panel) -> None:
        """Take one step after the other."""
        steps[0]()
        rest = steps[1:]
        if rest:
            self._hands.later(HAND_US, lambda: self._do(rest, panel))
        else:
            self._done(panel)

    def _press(self, button: str, panel: Panel) -> None:
        """Press a button, if the panel still asks what it asked."""
        if self._panel == panel:
            self._last_button = button
            self._hands.press(button)

    def _done(self, panel: Panel) -> None:
        self._busy = False
        if self._panel == panel:
            message = self._messages
            self._hands.later(AGAIN_US, lambda: self._again(message))
        else:
            self.look()

    def _again(self, message: int) -> None:
        if self._messages == message:
            self.look()
