"""The firmware's pin table, read from its own file: board, world and wiring guide share one source."""

import runpy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recount_world.errors import BoardError

INPUTS = (
    "HOPPER",
    "ENTRY",
    "CAMERA",
    "EXIT_COUNTED",
    "EXIT_SET_ASIDE",
    "EXIT_NOT_ACCEPTED",
    "DOUBLE_FEED",
    "COVER_OPEN",
    "STOP_BUTTON",
)
"""Names of the board's inputs, in the order of their GPIO numbers."""

OUTPUTS = (
    "PICK_STEP",
    "TRANSPORT_STEP",
    "TRANSPORT_REVERSE",
    "MOTOR_ENABLE",
    "DIVERTER_A",
    "DIVERTER_B",
    "LAMP",
)


@dataclass(frozen=True)
class Pins:
    """Which wire is on which GPIO."""

    gpio: dict[str, int]
    name: dict[int, str]
    steps_per_mm: int


def firmware_folder() -> Path:
    """Return the folder of the board's sources: in the package when installed, beside it in a checkout."""
    here = Path(__file__).resolve().parent
    for folder in (here / "firmware", here.parent / "firmware"):
        if (folder / "pins.py").is_file():
            return folder
    raise BoardError(f"the feeder board's firmware is neither in {here} nor beside it")


@cache
def firmware_pins() -> Pins:
    """Return the pin table of device/firmware/pins.py."""
    table = runpy.run_path(str(firmware_folder() / "pins.py"))
    gpio = {name: int(table[name]) for name in (*INPUTS, *OUTPUTS)}
    return Pins(gpio, {number: name for name, number in gpio.items()}, int(table["STEPS_PER_MM"]))
