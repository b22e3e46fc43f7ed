"""Rigs of real boards: a Pico with a second Pico as its paper path; a whole device, paper and a person."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path

import serial

from firmware_tests.rig import RigError, RigFile, RigMissing, Where
from recount_device.errors import LinkLost, OperatorError
from recount_device.firmware_board import FirmwareBoard, find_board
from recount_device.serial_port import FEEDER_BAUD, find_port

ANSWER_S = 2.0


def open_port(name: str, baud: int, what: str) -> serial.Serial:
    """Open a serial port. Raises RigMissing that says what is not there."""
    try:
        path = find_port(name)
    except LinkLost as error:
        raise RigMissing(f"{what}: {error}") from error
    if not Path(path).exists():
        raise RigMissing(f"{what}: there is no {path}")
    try:
        return serial.Serial(path, baud, timeout=0, write_timeout=1.0, exclusive=True)
    except (serial.SerialException, OSError) as error:
        raise RigError(f"{what}: {path} cannot be opened: {error}") from error


def ask_firmware(port: str) -> str:
    """Return the hash of what lies on a board; the board starts anew before. Raises RigMissing, RigError."""
    try:
        board = FirmwareBoard(find_board(port))
    except OperatorError as error:
        raise RigMissing(f"the feeder's USB: {error}") from error
    try:
        return board.look().firmware_hash
    except OperatorError as error:
        raise RigError(f"the feeder's USB: {error}") from error


class PicoPaper:
    """The second Pico, spoken to in lines; see rigs/paper_path.py."""

    def __init__(self, port: serial.Serial) -> None:
        self._port = port

    def say(self, line: str) -> str:
        """Send a line and return the answer. Raises RigError when there is none, or an error."""
        self._port.reset_input_buffer()
        self._port.write(f"{line}\n".encode())
        received = b""
        end = time.monotonic() + ANSWER_S
        while not received.endswith(b"\n"):
            if time.monotonic() > end:
                raise RigError(f"the paper's Pico does not answer to {line!r}: is paper_path.py its main.py?")
            received += self._port.read(self._port.in_waiting or 1)
        answer = received.decode(errors="replace").strip()
        if answer.startswith("error"):
            raise RigError(f"the paper's Pico: {answer}")
        return answer

    def lay(self, count: int = 1, *, length_mm: float = 279.4, stuck: int = 1) -> None:
        """Lay sheets into the hopper."""
        self.say(f"lay {count} {length_mm} {stuck}")

    def jam(self, at_mm: float) -> None:
        """Hold the next sheet there."""
        self.say(f"jam {at_mm}")

    def cover(self, *, open_: bool) -> None:
        """Open or close the cover."""
        self.say(f"cover {int(open_)}")

    def clear(self) -> None:
        """Take all paper out of path and hopper."""
        self.say("clear")

    def where(self) -> Where:
        """Return how many sheets lie where."""
        return Where(*(int(word) for word in self.say("where").split()))


class PersonsPaper:
    """Real paper, and a person who does what the terminal says."""

    def __init__(self, ask: Callable[[str], str] = input) -> None:
        self._ask = ask

    def _do(self, what: str) -> None:
        self._ask(f"\n  {what}, then press Enter: ")

    def lay(self, count: int = 1, *, length_mm: float = 279.4, stuck: int = 1) -> None:
        """Ask for sheets in the hopper."""
        kind = f"{stuck} sheets glued together" if stuck > 1 else "one sheet"
        self._do(f"lay {count} times {kind}, {length_mm:.0f} mm long, into the hopper")

    def jam(self, at_mm: float) -> None:
        """Ask for something that holds the sheet."""
        self._do(f"put a stop into the path {at_mm:.0f} mm behind the entry sensor, and close the cover")

    def cover(self, *, open_: bool) -> None:
        """Ask for the cover."""
        self._do("open the cover" if open_ else "close the cover")

    def clear(self) -> None:
        """Ask for an empty path."""
        self._do("take all paper (and any stop) out of path and hopper, and close the cover")

    def where(self) -> Where:
        """Ask for counts of all places."""
        while True:
            words = self._ask(
                "\n  how many sheets lie in hopper, path, counted, set aside, not accepted, your hands? "
            ).split()
            if len(words) == len(Where._fields) and all(word.isdigit() for word in words):
                return Where(*(int(word) for word in words))


class HardwareRig:
    """A feeder behind a serial port."""

    def __init__(self, file: RigFile, paper: Callable[[RigFile], "PicoPaper | PersonsPaper"]) -> None:
        """Open all that the file names. Raises RigMissing, RigError."""
        self._file = file
        self._link = open_port(file.ports["link"], FEEDER_BAUD, "the feeder link")
        try:
            self.paper = paper(file)
            self._firmware = ask_firmware(file.ports["feeder_usb"])
        except RigError:
            self._link.close()
            raise

    def identity(self) -> Mapping[str, str]:
        """Return the firmware's hash and every port's name, which bears a serial number."""
        ports = {f"port_{name}": port for name, port in self._file.ports.items()}
        return {"rig": self._file.kind, "firmware_sha256": self._firmware, **ports}

    def now_ms(self) -> int:
        """Return this computer's time."""
        return time.monotonic_ns() // 1_000_000

    def exchange(self, data: bytes, until_ms: int) -> bytes:
        """Send bytes and return what comes, at the latest at `until_ms`. Raises RigError for a lost port."""
        try:
            if data:
                self._link.write(data)
            self._link.timeout = max(0, until_ms - self.now_ms()) / 1000
            first = self._link.read(1)
            return first + self._link.read(self._link.in_waiting)
        except (serial.SerialException, OSError) as error:
            raise RigError(f"the feeder link is gone: {error}") from error

    def close(self) -> None:
        """Close the link."""
        self._link.close()


def pico_pair(file: RigFile) -> HardwareRig:
    """Open a feeder's Pico and the second one that plays its paper path."""
    return HardwareRig(
        file, lambda file: PicoPaper(open_port(file.ports["paper_usb"], 115_200, "the paper's Pico"))
    )


def bench(file: RigFile) -> HardwareRig:
    """Open a whole device; a person lays the paper."""
    return HardwareRig(file, lambda _: PersonsPaper())
