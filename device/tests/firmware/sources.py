"""The firmware's pure modules under CPython, for tests of their tables."""

import sys
from importlib import import_module
from typing import Any

from device.tests.firmware.bench import FIRMWARE


def firmware_module(name: str) -> Any:
    """Import a module of the firmware; only those without pins can be imported here."""
    sys.path.insert(0, str(FIRMWARE))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(FIRMWARE))
