"""A bench for the real firmware: the real interpreter, a straight paper path, a station's end of the link.

The path is the least that can prove the firmware: sheets are intervals that move with the rollers, sensors
are points. Its geometry and speeds are round numbers. The simulated device of `recount_world` is another,
richer program.
"""

import json
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from recount_protocol import feeder_messages
from recount_protocol.delivery import LOST, PAYLOAD, Delivery
from recount_world.board_process import interpreter

ROOT = Path(__file__).resolve().parents[3]
FIRMWARE = ROOT / "device" / "firmware"
SHIMS = ROOT / "device" / "recount_world" / "micropython"

# The pins, written here once more: a test that read them from pins.py could not see them change.
HOPPER, ENTRY, CAMERA = 2, 3, 4
EXITS = (5, 6, 7)
DOUBLE, COVER, STOP = 8, 9, 10
PICK_STEP, TRANSPORT_STEP, REVERSE, ENABLE, DIVERTER_A, DIVERTER_B, LAMP = 14, 15, 16, 17, 18, 19, 20
STEPS_PER_MM = 10

ENTRY_TO_CAMERA_MM = 400
CAMERA_TO_EXIT_MM = 250
PICK_TO_ENTRY_MM = 30
NIP_BEFORE_ENTRY_MM = 10

BYTE_US = 22  # a byte on the wire at 460,800 baud
SLICE_US = 400  # 0.24 mm at 600 mm/s

CONFIGURATION = {
    "transport_mm_s": 600,
    "pick_mm_s": 300,
    "entry_to_camera_mm": ENTRY_TO_CAMERA_MM,
    "camera_to_exit_mm": CAMERA_TO_EXIT_MM,
    "min_length_mm": 200,
    "max_length_mm": 360,
    "pick_timeout_ms": 700,
    "diverter_settle_ms": 80,
    "jam_margin_mm": 40,
    "silence_ms": 500,
}


def micropython_path(*more: Path) -> str:
    """Return the search path of the interpreter: our shims hide its own modules."""
    return ":".join(str(folder) for folder in (*more, SHIMS, FIRMWARE, ROOT / "protocol"))


@dataclass
class Sheet:
    """Paper in the path: where its leading edge is, past the entry sensor."""

    lead_mm: float
    length_mm: float = 279.0
    stuck_from_mm: float = 1e9
    double: bool = False
    exit: int | None = None

    def covers(self, place_mm: float) -> bool:
        return self.lead_mm - self.length_mm < place_mm <= self.lead_mm


@dataclass
class Paper:
    """The paper path."""

    hopper: list[Sheet] = field(default_factory=list[Sheet])
    path: list[Sheet] = field(default_factory=list[Sheet])
    landed: list[int] = field(default_factory=list[int])
    returned: int = 0
    entries: int = 0
    pick_slips: bool = False
    flap_sticks_at: int | None = None
    held: dict[int, int] = field(default_factory=dict[int, int])
    """Levels that a test forces on a sensor."""

    def move(self, pick_mm: float, transport_mm: float, flap: int) -> None:
        """Move what the rollers hold."""
        if (
            pick_mm
            and self.hopper
            and not self.pick_slips
            and all(s.lead_mm > s.length_mm for s in self.path)
        ):
            sheet = self.hopper.pop(0)
            sheet.lead_mm = -PICK_TO_ENTRY_MM
            self.path.append(sheet)
        for sheet in list(self.path):
            in_pick = sheet.lead_mm < -NIP_BEFORE_ENTRY_MM
            way_mm = pick_mm if in_pick and transport_mm >= 0 else transport_mm
            before_mm = sheet.lead_mm
            sheet.lead_mm = min(sheet.lead_mm + way_mm, max(sheet.stuck_from_mm, sheet.lead_mm))
            if before_mm < 0 <= sheet.lead_mm:
                self.entries += 1
            if sheet.exit is None and sheet.lead_mm > ENTRY_TO_CAMERA_MM + 50:
                sheet.exit = flap if self.flap_sticks_at is None else self.flap_sticks_at
            if sheet.lead_mm - sheet.length_mm > ENTRY_TO_CAMERA_MM + CAMERA_TO_EXIT_MM:
                self.path.remove(sheet)
                self.landed.append(sheet.exit or 0)
            elif sheet.lead_mm <= -NIP_BEFORE_ENTRY_MM and transport_mm < 0:
                self.path.remove(sheet)
                self.returned += 1

    def levels(self) -> dict[int, int]:
        """Return what the sensors see, by GPIO."""
        seen = dict.fromkeys(range(HOPPER, STOP + 1), 0)
        seen[HOPPER] = int(bool(self.hopper))
        for sheet in self.path:
            if sheet.covers(0):
                seen[DOUBLE] |= int(sheet.double or seen[ENTRY])
                seen[ENTRY] = 1
            if sheet.covers(ENTRY_TO_CAMERA_MM):
                seen[CAMERA] = 1
            if sheet.covers(ENTRY_TO_CAMERA_MM + CAMERA_TO_EXIT_MM):
                seen[EXITS[sheet.exit or 0]] = 1
        return seen | self.held


@dataclass
class Heard:
    """A message of the board's."""

    name: str
    fields: dict[str, Any]


class Bench:
    """One board, its paper, and the station's end; time is virtual and moves only with `run`."""

    def __init__(self, folder: Path, program: Path = FIRMWARE / "main.py", start_us: int = 0) -> None:
        self.folder = folder
        self.program = program
        self.paper = Paper()
        self.heard: list[Heard] = []
        self.lost: list[str] = []
        self.outputs: dict[int, int] = {}
        self.output_log: list[tuple[int, int, int]] = []
        self.pulses: dict[int, int] = {}
        self.pulse_log: list[tuple[int, int, int]] = []
        self.watchdog_ms = 0
        self.was_reset = False
        self.now_us = start_us
        self.garbage = b""
        self.wire: Callable[[bytes], bytes] = bytes  # what becomes of bytes on their way, either way
        self.bounce_us = 0  # each edge bounces for so long
        self.chatter: tuple[int, int] | None = None  # this sensor changes so often, all within one wait
        self.station: Delivery | None = None
        self._boots = 0
        self._counts_before: tuple[int, ...] = (0, 0, 0, 0, 0)
        self._answer_levels: dict[int, int] = {}
        self._to_board = b""
        self._station_due_ms = 0
        self.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def start(self) -> None:
        """Switch the board on."""
        self._boots += 1
        self._counts_before = (0, 0, 0, 0, 0)
        self.heard.clear()
        self.outputs.clear()
        self.pulses.clear()
        self._answer_levels = {}
        environment = {
            "MICROPYPATH": micropython_path(),
            "RECOUNT_BOARD_SEED": f"1 {self._boots}",
        }
        self._process = subprocess.Popen(
            [interpreter(), "-X", "heapsize=192k", str(self.program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            cwd=self.folder,
            text=True,
        )

    def end(self) -> None:
        """Switch the board off."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._process.wait()

    def restart(self) -> None:
        """Cut the board's power and give it back at once; the station, if any, finds it again."""
        self.end()
        self.start()
        if self.station is not None:
            station = self.station
            losses = len(self.lost)
            self.until(lambda: len(self.lost) > losses and station.connected)

    # --- time ---

    def turn(self) -> None:
        """Let the board do what it does until it waits, and answer it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        # An error that ends the program is printed on the board's console, which is this stream.
        assert line.startswith("{"), line + self._process.stdout.read() + self._trace()
        said = json.loads(line)
        for gpio, value in said["out"]:
            self.outputs[gpio] = value
            self.output_log.append((self.now_us, gpio, value))
        for gpio, rate in said["pulse"]:
            self.pulses[gpio] = rate
            self.pulse_log.append((self.now_us, gpio, rate))
        self.watchdog_ms = said.get("wdt_ms", self.watchdog_ms)
        if said.get("reset"):
            self.was_reset = True
            self.end()
            self.start()
            return
        self._station_turn(bytes.fromhex(said["tx"]))
        changes = self._disturbed(self._pass_time(said["wait_us"]))
        answer = {"now_us": self.now_us, "in": changes, "rx": self._to_board.hex()}
        self._to_board = b""
        self._process.stdin.write(json.dumps(answer) + "\n")
        self._process.stdin.flush()

    def _trace(self) -> str:
        assert self._process.stderr is not None
        return self._process.stderr.read()

    def finish(self) -> str:
        """Take the world away from the board, which ends it; return what it wrote to its error stream."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._trace()

    def _pass_time(self, wait_us: int) -> list[tuple[int, int, int]]:
        """Move the paper in small steps until a sensor changes, bytes have come, or the wait ends."""
        until_us = self.now_us + (len(self._to_board) * BYTE_US if self._to_board else wait_us)
        while True:
            levels = self.paper.levels()
            changes = [
                (gpio, level, self.now_us)
                for gpio, level in levels.items()
                if self._answer_levels.get(gpio) != level
            ]
            self._answer_levels = levels
            if changes or self.now_us >= until_us:
                return changes
            powered = self.outputs.get(ENABLE, 0)
            slice_us = min(SLICE_US if self.moving() else wait_us, until_us - self.now_us)
            pick_mm = self.pulses.get(PICK_STEP, 0) * slice_us / STEPS_PER_MM / 1e6 * powered
            transport_mm = self.pulses.get(TRANSPORT_STEP, 0) * slice_us / STEPS_PER_MM / 1e6 * powered
            if self.outputs.get(REVERSE, 0):
                transport_mm = -transport_mm
            flap = self.outputs.get(DIVERTER_A, 0) + 2 * self.outputs.get(DIVERTER_B, 0)
            self.paper.move(pick_mm, transport_mm, flap)
            self.now_us += slice_us

    def _disturbed(self, changes: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        """Return the changes with what bad contacts add to them."""
        if self.chatter is not None:
            gpio, count = self.chatter
            self.chatter = None
            level = self._answer_levels[gpio]
            changes += [(gpio, (level + place + 1) % 2, self.now_us) for place in range(count)]
        if not self.bounce_us or not changes:
            return changes
        began_us = self.now_us
        self.now_us += self.bounce_us
        there = [(gpio, level, began_us) for gpio, level, _at in changes]
        back = [(gpio, 1 - level, began_us + self.bounce_us // 2) for gpio, level, _at in changes]
        again = [(gpio, level, began_us + self.bounce_us) for gpio, level, _at in changes]
        return there + back + again

    def run(self, milliseconds: int) -> None:
        """Let so much time pass."""
        until_us = self.now_us + milliseconds * 1000
        while self.now_us < until_us:
            self.turn()

    def until(self, done: Callable[[], bool], milliseconds: int = 8000) -> None:
        """Let time pass until something is so."""
        until_us = self.now_us + milliseconds * 1000
        while not done():
            assert self.now_us < until_us, f"it did not come; heard: {self.heard}"
            self.turn()

    # --- the station ---

    def connect(self, boot_id: int = 77) -> None:
        """Let a station with this boot id appear at the other end."""
        self.station = Delivery(
            feeder_messages.VERSION,
            feeder_messages.TABLE_HASH,
            boot_id,
            feeder_messages.MAX_PAYLOAD_BYTES,
        )
        self._station_due_ms = 0
        station = self.station
        self.until(lambda: station.connected)

    def disconnect(self) -> None:
        """Let the station fall silent."""
        self.station = None

    def _station_turn(self, sent_by_board: bytes) -> None:
        now_ms = self.now_us // 1000
        if self.garbage:
            self._to_board += self.garbage
            self.garbage = b""
        if self.station is None:
            return
        for event in self.station.receive(self.wire(sent_by_board), now_ms):
            if event[0] == PAYLOAD:
                assert isinstance(event[1], bytes)
                name, fields = feeder_messages.decode(event[1])
                self.heard.append(Heard(name, fields))
            elif event[0] == LOST:
                self.lost.append(str(event[1]))
        self._to_board += self.wire(self.station.output(now_ms))

    def say(self, name: str, **fields: int) -> None:
        """Send a command."""
        assert self.station is not None
        self.station.send(feeder_messages.encode(name, **fields))

    def forget(self) -> None:
        """Forget what was heard, but for the last counts."""
        self._counts_before = self.last_counts()
        self.heard.clear()

    def ask(self, name: str, answer: str, **fields: int) -> dict[str, Any]:
        """Send a command and return the fields of the answer."""
        self.forget()
        self.say(name, **fields)
        return self.hear(answer)

    def hear(self, name: str, milliseconds: int = 8000) -> dict[str, Any]:
        """Let time pass until the board says `name`; return the first one's fields."""

        def said() -> list[dict[str, Any]]:
            return [message.fields for message in self.heard if message.name == name]

        self.until(lambda: bool(said()), milliseconds)
        return said()[0]

    def configure(self, **changes: int) -> None:
        """Connect and send the path's measures."""
        if self.station is None:
            self.connect()
        self.ask("configure", "configured", **(CONFIGURATION | changes))

    def load(self, count: int = 1, **kwargs: Any) -> None:
        """Lay sheets into the hopper."""
        self.paper.hopper.extend(Sheet(lead_mm=-PICK_TO_ENTRY_MM, **kwargs) for _ in range(count))
        self.run(20)

    def report(self) -> dict[str, Any]:
        """Return what `ask` gives."""
        return self.ask("ask", "report")

    def state(self) -> str:
        """Return the feeder's state by its word."""
        return feeder_messages.STATES[self.report()["state"]]

    def stop_reason(self) -> str:
        """Return the reason of the stop, awaited, by its word."""
        return feeder_messages.STOP_REASONS[self.hear("stopped")["reason"]]

    def last_counts(self) -> tuple[int, ...]:
        """Return the counts told last, in this boot."""
        told = [message.fields["counts"] for message in self.heard if "counts" in message.fields]
        return told[-1] if told else self._counts_before

    def moving(self) -> bool:
        """Return whether a motor has current and pulses."""
        return bool(self.outputs.get(ENABLE, 0) and any(self.pulses.values()))


@contextmanager
def a_ready_feeder(
    folder: Path, sheets: int = 1, program: Path = FIRMWARE / "main.py", **changes: int
) -> Generator[Bench]:
    """Give a configured feeder with sheets in its hopper."""
    with Bench(folder, program) as bench:
        bench.load(sheets)
        bench.configure(**changes)
        yield bench
