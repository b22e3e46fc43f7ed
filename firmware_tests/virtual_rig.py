"""The virtual rig: the real firmware in the interpreter, paper of the simulated world, time that jumps."""

from collections.abc import Mapping
from pathlib import Path

from firmware_tests.rig import RigMissing, Where, firmware_hash, firmware_sources
from recount_world.board_process import BoardProcess
from recount_world.errors import BoardError
from recount_world.faults import read_fault
from recount_world.paper import Place, Sheet
from recount_world.script import Script
from recount_world.world import World


class WorldPaper:
    """The world's paper and hands."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._laid = 0
        self._cleared: set[str] = set()

    def lay(self, count: int = 1, *, length_mm: float = 279.4, stuck: int = 1) -> None:
        """Lay sheets into the hopper."""
        world = self._world
        world.touch()
        for _ in range(count):
            sheets = [Sheet(str(self._laid + place + 1), length_mm=length_mm) for place in range(stuck)]
            self._laid += stuck
            world.hands.load(sheets)
            if stuck > 1:
                ids = [sheet.id for sheet in sheets]
                world.add_fault(read_fault({"kind": "double_feed", "sheets": ids}, "stuck"))
        world.settle()

    def jam(self, at_mm: float) -> None:
        """Hold the next sheet there."""
        uppermost = self._world.paper.at(Place.HOPPER)[0]
        self._world.add_fault(read_fault({"kind": "jam", "sheet": uppermost, "at_mm": at_mm}, "jam"))

    def cover(self, *, open_: bool) -> None:
        """Open or close the cover."""
        self._world.touch()
        self._world.hands.set_cover(open_=open_)
        self._world.settle()

    def clear(self) -> None:
        """Take all paper out of path and hopper."""
        hands = self._world.hands
        self._world.touch()
        for place in ("path", "hopper"):
            self._cleared.update(hands.take_out(place, None))
        self._world.settle()

    def where(self) -> Where:
        """Return how many sheets lie where."""
        hands, paper = self._world.hands, self._world.paper
        return Where(
            len(hands.in_hopper()),
            len(hands.in_path()),
            len(paper.at(Place.COUNTED)),
            len(paper.at(Place.SET_ASIDE)),
            len(paper.at(Place.NOT_ACCEPTED)),
            len(set(hands.held()) - self._cleared),
        )


class VirtualRig:
    """A board and its world, in this process."""

    def __init__(self, flash: Path) -> None:
        """Switch the board on. Raises RigMissing where the interpreter is not installed."""
        try:
            board = BoardProcess(flash, seed=1)
        except BoardError as error:
            raise RigMissing(str(error)) from error
        self._world = World(Script(operator="none", bounce_us=1000, pick_spread_mm=10.0), board)
        self._said = b""
        self._world.to_station = self._hear
        self.paper = WorldPaper(self._world)

    def _hear(self, data: bytes) -> None:
        self._said += data

    def identity(self) -> Mapping[str, str]:
        """Return the sources' hash: there are no serial numbers."""
        sources = ((source.name, source.read_bytes()) for source in firmware_sources())
        return {"rig": "virtual", "firmware_sha256": firmware_hash(sources)}

    def now_ms(self) -> int:
        """Return the world's time."""
        return self._world.now_us // 1000

    def exchange(self, data: bytes, until_ms: int) -> bytes:
        """Send bytes and let time pass until the board says something."""
        world = self._world
        world.from_station(data)
        until_us = max(until_ms * 1000, world.now_us + 1)
        while not self._said and world.now_us < until_us:
            world.step(until_us)
        said, self._said = self._said, b""
        return said

    def close(self) -> None:
        """Switch everything off."""
        self._world.close()
