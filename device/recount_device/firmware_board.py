"""A feeder board at its USB port, spoken to through `mpremote`: what lies on it, and other files put there.

mpremote is started as a process of its own, so that nothing of it is on the device's way to a tally. The
board is started anew before each talk: its program arms a watchdog with the first `configure`, which would
cut the talk off after two seconds; a board that no station has configured waits.
"""

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import cast

from serial.tools import list_ports

from recount_device.errors import LinkLost, OperatorError
from recount_device.firmware_release import PROTOCOL, PROTOCOL_MODULES, FirmwareFile, firmware_hash
from recount_device.serial_port import find_port

RASPBERRY_PI_VENDOR = 0x2E8A
TALK_TIMEOUT_S = 120.0
LEAVE_S = 1.5
"""So long after its reset a board's port has vanished, and mostly come back."""
BACK_TIMEOUT_S = 10.0
"""A board that starts anew is back at its port after this time."""
LOOK_AGAIN_S = 0.2

LOOK = f"""
import os, sys, json, hashlib, binascii
files = {{}}
def look(folder, stems):
    for name in os.listdir(folder):
        stem = name.rsplit(".", 1)[0]
        if name.endswith((".py", ".mpy")) and (stems is None or stem in stems):
            one = hashlib.sha256()
            with open(folder + "/" + name, "rb") as file:
                while True:
                    block = file.read(256)
                    if not block:
                        break
                    one.update(block)
            files[name] = binascii.hexlify(one.digest()).decode()
look(".", None)
if {PROTOCOL!r} in os.listdir():
    look({PROTOCOL!r}, {PROTOCOL_MODULES!r})
try:
    import machine
    number = binascii.hexlify(machine.unique_id()).decode()
except (ImportError, AttributeError):
    number = ""
hardware = getattr(sys.implementation, "_machine", "")
print(json.dumps({{"files": files, "machine": hardware, "version": sys.version, "number": number}}))
"""
"""Run on the board: prints what lies on it, as one JSON line."""

TIDY = """
import os
keep, inner = {keep!r}, {inner!r}
for name in os.listdir():
    if name.endswith((".py", ".mpy")) and name not in keep:
        os.remove(name)
if {folder!r} not in os.listdir():
    os.mkdir({folder!r})
for name in os.listdir({folder!r}):
    if name not in inner:
        os.remove({folder!r} + "/" + name)
"""
"""Run on the board: removes programs that are not of the release. The protective counter stays."""


@dataclass(frozen=True)
class OnBoard:
    """What lies on a board."""

    files: dict[str, str]
    """SHA-256 of each program, in hexadecimal, by its name."""
    machine: str
    """What hardware MicroPython says it runs on."""
    version: str
    number: str
    """The chip's own number, in hexadecimal; empty where it has none."""

    @property
    def firmware_hash(self) -> str:
        """The hash that the board's own program tells the station."""
        return firmware_hash(self.files)


def find_board(name: str | None) -> str:
    """Return the path of a board's port: the named one (a path, or `usb:NUMBER`), else the only one there is.

    Raises OperatorError that says which ports there are.
    """
    if name is not None:
        try:
            path = find_port(name)
        except LinkLost as error:
            raise OperatorError(str(error)) from error
        if not Path(path).exists():
            raise OperatorError(f"there is no port {path}: is the board's USB cable plugged in?")
        return path
    found = [port for port in list_ports.comports() if port.vid == RASPBERRY_PI_VENDOR]
    if len(found) == 1:
        return found[0].device
    if not found:
        raise OperatorError(
            "no Raspberry Pi Pico is at a USB port of this machine: plug it in, or name its port"
        )
    numbers = ", ".join(f"usb:{port.serial_number}" for port in found)
    raise OperatorError(f"{len(found)} boards are plugged in; say which one: {numbers}")


class FirmwareBoard:
    """A board at a port."""

    def __init__(self, path: str) -> None:
        """Take the board at a port. Raises OperatorError where mpremote is not installed."""
        if find_spec("mpremote") is None:
            raise OperatorError(
                "mpremote, which talks to the board, is not installed: pip install recount-scanner[firmware]"
            )
        self.path = path

    def look(self) -> OnBoard:
        """Return what lies on the board. Raises OperatorError where MicroPython does not answer."""
        self._start_anew()
        return self._look()

    def install(self, files: Sequence[FirmwareFile]) -> OnBoard:
        """Put files on the board and all other programs off it; return what lies there then."""
        self._start_anew()
        own = [file for file in files if not file.folder]
        inner = [file for file in files if file.folder]
        tidy = TIDY.format(
            keep=tuple(file.name for file in own), inner=tuple(file.name for file in inner), folder=PROTOCOL
        )
        words = ["exec", tidy]
        for file in files:
            place = f"{file.folder}/{file.name}" if file.folder else file.name
            words += ["+", "fs", "cp", str(file.source), f":{place}"]
        self._talk(*words)
        found = self._look()
        self._talk("reset")
        return found

    def _look(self) -> OnBoard:
        printed = self._talk("exec", LOOK)
        try:
            told = cast("dict[str, object]", json.loads(printed.strip().splitlines()[-1]))
            files = cast("dict[str, str]", told["files"])
            return OnBoard(files, str(told["machine"]), str(told["version"]), str(told["number"]))
        except (ValueError, KeyError, IndexError, TypeError) as error:
            raise OperatorError(
                f"the board at {self.path} did not tell what lies on it: {printed[:80]!r}"
            ) from error

    def _start_anew(self) -> None:
        self._talk("reset", "+", "sleep", str(LEAVE_S))
        deadline_s = time.monotonic() + BACK_TIMEOUT_S
        while not Path(self.path).exists():
            if time.monotonic() > deadline_s:
                raise OperatorError(f"the board started anew and did not come back at {self.path}")
            time.sleep(LOOK_AGAIN_S)

    def _talk(self, *words: str) -> str:
        """Let mpremote do something with the board and return what it printed. Raises OperatorError."""
        command = [sys.executable, "-m", "mpremote", "connect", self.path, *words]
        try:
            done = subprocess.run(  # noqa: S603  our own words; the path is the operator's
                command, capture_output=True, text=True, timeout=TALK_TIMEOUT_S, check=False, errors="replace"
            )
        except subprocess.TimeoutExpired as error:
            raise OperatorError(
                f"the board at {self.path} does not answer: is MicroPython on it, and does nothing else "
                "hold the port?"
            ) from error
        if done.returncode != 0:
            lines = (done.stderr or done.stdout).strip().splitlines() or ["it says nothing"]
            raise OperatorError(f"mpremote could not talk to the board at {self.path}: {lines[-1]}")
        return done.stdout
