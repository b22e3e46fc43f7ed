"""What the board's sensors show: functions of where the paper is, and of what ails the sensors."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from recount_world.paper import Place
from recount_world.path import PaperPath

DOUBLE_UM = 150
"""The double-feed sensor answers to more paper than this between its two halves, in micrometres."""


@dataclass
class Switches:
    """What hands have done to the machine's switches."""

    cover_open: bool = False
    stop_pressed: bool = False


@dataclass
class Ailments:
    """What is wrong with the sensors."""

    blind_double_feed: bool = False
    double_feed_error_um: float = 0.0
    """What the double-feed sensor reads too much (or too little) on the paper now before it."""
    stuck: dict[str, int] = field(default_factory=dict[str, int])
    """Sensor name -> the level at which it is stuck."""


def _hopper(path: PaperPath) -> bool:
    return bool(path.paper.at(Place.HOPPER)) or _covered(path, path.edges.hopper)


def _covered(path: PaperPath, position: int) -> bool:
    return any(sheet.covers(position) for sheet in path.carried() if not sheet.past_camera)


def _exit_covered(path: PaperPath, exit_number: int) -> bool:
    return any(sheet.exit == exit_number and sheet.covers(path.edges.exit) for sheet in path.carried())


def _double(path: PaperPath, error_um: float) -> bool:
    here = [sheet for sheet in path.carried() if sheet.covers(path.edges.entry) and not sheet.past_camera]
    return bool(here) and sum(sheet.sheet.thickness_um for sheet in here) + error_um > DOUBLE_UM


_SEES: Mapping[str, Callable[[PaperPath], bool]] = {
    "HOPPER": _hopper,
    "ENTRY": lambda path: _covered(path, path.edges.entry),
    "CAMERA": lambda path: _covered(path, path.edges.camera),
    "EXIT_COUNTED": lambda path: _exit_covered(path, 0),
    "EXIT_SET_ASIDE": lambda path: _exit_covered(path, 1),
    "EXIT_NOT_ACCEPTED": lambda path: _exit_covered(path, 2),
}


def sensor_levels(path: PaperPath, switches: Switches, ailments: Ailments) -> dict[str, int]:
    """Return the level of every input of the board, by name."""
    levels = {name: int(sees(path)) for name, sees in _SEES.items()}
    blind = ailments.blind_double_feed
    levels["DOUBLE_FEED"] = int(not blind and _double(path, ailments.double_feed_error_um))
    levels["COVER_OPEN"] = int(switches.cover_open)
    levels["STOP_BUTTON"] = int(switches.stop_pressed)
    levels.update(ailments.stuck)
    return levels
