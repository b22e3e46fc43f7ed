"""Rigs: what the feeder's tests run on. `--rig FILE` names one; without it they run on the virtual device.

    kind        the feeder                      its paper
    virtual     the real interpreter            the simulated world
    pico-pair   a Pico on the bench             a second Pico, wired pin to pin, that plays the paper path
    bench       a whole device                  paper, and a person who does what the test says

A rig that is not here is `RigMissing`: its tests are skipped and say what is missing. One that fails is
remembered: hardware that failed once is not tried again in the same run.
"""

import hashlib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import recount_protocol

ROOT = Path(__file__).resolve().parents[1]
FIRMWARE = ROOT / "device" / "firmware"


class RigError(Exception):
    """The rig does not do what it must; one sentence."""


class RigMissing(RigError):
    """The hardware that the rig's file names is not here."""


class Where(NamedTuple):
    """How many sheets lie where."""

    hopper: int
    path: int
    counted: int
    set_aside: int
    not_accepted: int
    operator: int


class Paper(Protocol):
    """The paper of a rig, and the hands that lay it."""

    def lay(self, count: int = 1, *, length_mm: float = 279.4, stuck: int = 1) -> None:
        """Lay sheets into the hopper; each is really `stuck` sheets that stick together."""
        ...

    def jam(self, at_mm: float) -> None:
        """Hold the next sheet when its leading edge is so far past the entry sensor."""
        ...

    def cover(self, *, open_: bool) -> None:
        """Open or close the cover."""
        ...

    def clear(self) -> None:
        """Take all paper out of path and hopper."""
        ...

    def where(self) -> Where:
        """Return where all paper lies that was laid since the rig was opened and not cleared away."""
        ...


class Rig(Protocol):
    """One feeder and its paper."""

    @property
    def paper(self) -> Paper:
        """The feeder's paper."""
        ...

    def identity(self) -> Mapping[str, str]:
        """Return what tells this rig from all others: its kind, its firmware's hash, its serial numbers."""
        ...

    def now_ms(self) -> int:
        """Return the time by which the link's deadlines run."""
        ...

    def exchange(self, data: bytes, until_ms: int) -> bytes:
        """Send bytes to the feeder; return what it says, at the latest at `until_ms` (then nothing)."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...


@dataclass(frozen=True)
class RigFile:
    """What a rig's file says."""

    kind: str
    ports: Mapping[str, str]


VIRTUAL = RigFile("virtual", {})

PORTS: Mapping[str, tuple[str, ...]] = {
    "virtual": (),
    "pico-pair": ("link", "feeder_usb", "paper_usb"),
    "bench": ("link", "feeder_usb"),
}
"""The ports that each kind of rig needs."""


def read_rig(path: Path) -> RigFile:
    """Return what a rig's file says. Raises RigError with one sentence."""
    try:
        table = cast("dict[str, object]", tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise RigError(f"there is no rig file {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RigError(f"{path} cannot be read as a rig: {error}") from error
    kind = table.pop("kind", None)
    if not isinstance(kind, str) or kind not in PORTS:
        raise RigError(f"{path}: kind must be one of {', '.join(PORTS)}, not {kind!r}")
    needed = set(PORTS[kind])
    if set(table) != needed or not all(isinstance(port, str) and port for port in table.values()):
        raise RigError(
            f"{path}: a rig of kind {kind} names these ports and no others: {', '.join(PORTS[kind])}"
        )
    return RigFile(kind, {name: str(port) for name, port in table.items()})


def firmware_sources() -> list[Path]:
    """Return the files that are the firmware, as they lie on the board beside each other."""
    shared = Path(recount_protocol.__file__).parent
    names = ("__init__", "errors", "fates", "frames", "delivery", "feeder_messages")
    return [*sorted(FIRMWARE.glob("*.py")), *(shared / f"{name}.py" for name in names)]


def firmware_hash(contents: Iterable[tuple[str, bytes]]) -> str:
    """Return the hash of a firmware, from the name and the content of each of its files."""
    total = hashlib.sha256()
    for name, content in sorted(contents):
        total.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
    return total.hexdigest()


class OnlyOnce:
    """Opens a rig once; what went wrong, at opening or in a test, is told again and not tried again."""

    def __init__(self, open_: Callable[[], Rig]) -> None:
        self._open = open_
        self._rig: Rig | None = None
        self._failure: RigError | None = None
        self.recorded = False
        """Its identity is in the JUnit file."""

    def rig(self) -> Rig:
        """Return the rig. Raises the first failure, every time."""
        if self._failure is not None:
            raise self._failure
        if self._rig is None:
            try:
                self._rig = self._open()
            except RigError as error:
                self._failure = error
                raise
        return self._rig

    def failed(self, test: str, why: str) -> None:
        """Remember that a test failed on the rig; later failures change nothing."""
        if self._failure is None:
            self._failure = RigError(f"not tried again: the rig failed in {test}: {why}")

    def close(self) -> None:
        """Close the rig if it was opened."""
        if self._rig is not None:
            self._rig.close()
