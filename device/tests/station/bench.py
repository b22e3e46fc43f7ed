"""A device on a bench: the real station, journal and records, with paper, feeder, camera and host in memory.

`Machine` is the physical side and outlives the station: paper in a hopper, a path and bins, a board that
counts. A `Bench` starts and restarts the station on it. Time is a number; nothing sleeps.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from recount_classifier.evidence import Evidence
from recount_classifier.program import Option, Program
from recount_classifier.reading import Reading
from recount_classifier.thresholds import Thresholds
from recount_device.camera import Page
from recount_device.clock import Clock, Waitable
from recount_device.config import Config
from recount_device.errors import CameraFault, OperatorError
from recount_device.feeder_link import Connected, FeederEvent, Identified, Said
from recount_device.glass import Glass, Lines
from recount_device.host_session import Received
from recount_device.identity import open_identity
from recount_device.ink_memory import InkMemory
from recount_device.journal import Journal, JournalReader
from recount_device.orders import Orders
from recount_device.page_ink import PageInk
from recount_device.panel import Message
from recount_device.passage import Passage
from recount_device.reader import Outcome, Reader, sheet_read
from recount_device.scribe import Scribe
from recount_device.self_test import Failed
from recount_device.software import firmware_name
from recount_device.station import Station
from recount_protocol import feeder_messages
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE
from recount_protocol.records import Record, decode_record

OPTIONS = (
    Option("D", "Bartlett", write_in=False),
    Option("R", "Ritchie", write_in=False),
    Option("W", "Write-in", write_in=True),
)
PROGRAM = Program(
    "governor", "Governor", 1, OPTIONS, (), Thresholds(), b"governor", sha256(b"governor").digest()
)
ANN_AND_BOB = ["Ann Lee, official, D", "Bob Ray, official, R"]
EXITS = feeder_messages.EXITS


@dataclass(frozen=True)
class Paper:
    """One sheet of paper: its name, what the classifier will say of it, and what goes wrong on its way."""

    name: str
    fate: str = COUNTED
    choices: tuple[str, ...] = ("D",)
    reasons: tuple[str, ...] = ()
    mishaps: tuple[str, ...] = ()
    """One for each time it is fed: "", "jam", "jam_after", "double_feed", "over_long", "no_picture",
    "same_picture", "slides_in"."""


def overvote(name: str) -> Paper:
    """Return a sheet that is set aside."""
    return Paper(name, SET_ASIDE, (), ("overvote",))


def foreign(name: str) -> Paper:
    """Return a sheet that is not accepted."""
    return Paper(name, NOT_ACCEPTED, (), ("wrong_style",))


def upside_down(name: str) -> Paper:
    """Return a sheet that comes back."""
    return Paper(name, RETURNED, (), ("wrong_side",))


@dataclass
class Machine:
    """Paper and board. It goes on where it is whatever becomes of the station."""

    hopper: list[Paper] = field(default_factory=list[Paper])
    bins: dict[str, list[Paper]] = field(default_factory=lambda: {name: [] for name in EXITS})
    path: Paper | None = None
    boot: int = 71
    firmware_hash: str = "f1" * 32
    state: str = "unconfigured"
    stop_reason: str = "none"
    sheet: int = 0
    last_sheet: int = 0
    last_exit: int = feeder_messages.NO_EXIT
    counts: list[int] = field(default_factory=lambda: [0] * 5)
    cover_open: bool = False
    sensor_is_stuck: bool = False
    """The sensor at the camera sees paper, whether there is any or not."""
    papers: dict[int, Paper] = field(default_factory=dict[int, Paper])
    """Which paper was fed under which number: what the officials see when they look at it."""
    times_fed: dict[str, int] = field(default_factory=dict[str, int])
    back_allowed: bool = False
    holds_divert: bool = False
    """Take the verdict's command, but do not move yet."""
    refuses_feed: bool = False
    said: deque[Said] = field(default_factory=deque[Said])

    def obey(self, name: str, fields: dict[str, int]) -> None:
        """React to a command, all in one go."""
        getattr(self, f"_on_{name}")(**fields)

    def _say(self, name: str, **fields: int) -> None:
        entries, counted, set_aside, not_accepted, back = self.counts
        self.said.append(Said(name, fields, (entries, counted, set_aside, not_accepted, back)))

    def _stop(self, reason: str, *, back: bool = False) -> None:
        self.state, self.stop_reason, self.back_allowed = "stopped", reason, back
        self._say("stopped", reason=feeder_messages.STOP_REASONS.index(reason), sheet=self.sheet)

    def _refuse(self, command: str, sheet: int = 0) -> None:
        state = feeder_messages.STATES.index(self.state)
        self._say("refused", kind=feeder_messages.MESSAGES[command][0], sheet=sheet, state=state)

    def _on_configure(self, **numbers: int) -> None:
        if self.state == "unconfigured":
            self.state = "ready"
        self.said.append(Said("configured", numbers))

    def _on_ask(self) -> None:
        sensors = {
            "hopper": bool(self.hopper),
            "camera": self.path is not None or self.sensor_is_stuck,
            "cover_open": self.cover_open,
        }
        bits = sum(1 << feeder_messages.SENSORS.index(name) for name, on in sensors.items() if on)
        self._say(
            "report",
            state=feeder_messages.STATES.index(self.state),
            sheet=self.sheet,
            stop_reason=feeder_messages.STOP_REASONS.index(self.stop_reason),
            sensors=bits,
            last_sheet=self.last_sheet,
            last_exit=self.last_exit,
            protective=0,
        )

    def _on_clear(self) -> None:
        if self.path is not None or self.cover_open:
            self._refuse("clear")
            return
        self.state, self.stop_reason, self.sheet = "ready", "none", 0
        self._say("cleared")

    def _on_halt(self) -> None:
        self._stop("halt", back=True)

    def _on_feed(self, sheet: int) -> None:
        if self.state != "ready" or self.refuses_feed:
            self._refuse("feed", sheet)
            return
        if not self.hopper:
            self._stop("hopper_empty")
            return
        paper = self.path = self.hopper.pop(0)
        fed = self.times_fed[paper.name] = self.times_fed.get(paper.name, 0) + 1
        mishap = paper.mishaps[fed - 1] if fed <= len(paper.mishaps) else ""
        if mishap == "slides_in":
            self._stop("cover_open")
        self.sheet = sheet
        self.papers[sheet] = paper
        self.counts[0] += 1
        self.state = "stopped" if mishap == "slides_in" else "entering"
        self._say("entered", sheet=sheet)
        if mishap == "slides_in":
            return
        if mishap in ("jam", "double_feed", "over_long"):
            self._stop(mishap, back=mishap != "jam")
            return
        self.state = "at_camera"
        self._say("at_camera", sheet=sheet, length_mm=279)

    def _on_divert(self, sheet: int, exit: int) -> None:  # noqa: A002  the message's own field
        back = exit == feeder_messages.BACK
        may = self.state == "at_camera" or (self.state == "stopped" and back and self.back_allowed)
        if sheet != self.sheet or not may or self.path is None:
            self._refuse("divert", sheet)
            return
        self.state = "leaving"
        mishap = self.path.mishaps[self.times_fed[self.path.name] - 1 :][:1]
        if mishap == ("jam_after",) and not back:
            self._stop("jam")
        elif not self.holds_divert:
            self.land(exit)

    def land(self, exit_number: int) -> None:
        """Let the sheet under way fall where it was sent."""
        assert self.path is not None
        self.bins[EXITS[exit_number]].append(self.path)
        self.path = None
        self.counts[1 + exit_number] += 1
        self.last_sheet, self.last_exit, self.sheet, self.state = self.sheet, exit_number, 0, "ready"
        self._say("landed", sheet=self.last_sheet, exit=exit_number)

    # --- what people and accidents do ---

    def fall_silent(self) -> None:
        """The station is silent: the feeder stops with the sheet where it is."""
        self.said.clear()
        if self.path is not None and self.state != "stopped":
            back = self.state == "at_camera"
            self._stop("station_silent", back=back)
            self.said.clear()

    def start_anew(self) -> None:
        """The board starts anew, as after a power cut."""
        self.said.clear()
        self.boot += 1
        self.counts = [0] * 5
        self.sheet, self.last_sheet, self.last_exit, self.stop_reason = 0, 0, feeder_messages.NO_EXIT, "none"
        self.state = "unconfigured" if self.path is None else "stopped"
        if self.path is not None:
            self.stop_reason = "path_not_clear"

    def take_out(self) -> Paper:
        """Take the sheet out of the path by hand; return it."""
        paper, self.path = self.path, None
        assert paper is not None, "nothing is in the path"
        return paper

    def put_back(self) -> None:
        """Lay the sheet of the path, and what came back, on top of the hopper."""
        if self.path is not None:
            self.hopper.insert(0, self.take_out())
        self.hopper[:0] = reversed(self.bins["back"])
        self.bins["back"].clear()

    def all_paper(self) -> list[Paper]:
        """Return every sheet there is."""
        piles = [self.hopper, *self.bins.values(), [self.path] if self.path else []]
        return [paper for pile in piles for paper in pile]


class BenchFeeder:
    """The board at the end of a perfect cable."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.sent: list[tuple[str, dict[str, int]]] = []
        self.fail_at_send: Callable[[str, dict[str, int]], None] = lambda _name, _fields: None
        self._boot = 0
        self.answers = True
        self.written_bytes = 0

    @property
    def waitable(self) -> Waitable:
        return self

    def fileno(self) -> int:
        return -1

    def in_waiting(self) -> int:
        return 0

    def poll(self, readable: int) -> list[FeederEvent]:  # noqa: ARG002  as the protocol has it
        if not self.answers:
            return []
        if self._boot != self.machine.boot:
            self._boot = self.machine.boot
            return [Connected(self._boot), Identified(self.machine.firmware_hash)]
        events: list[FeederEvent] = list(self.machine.said)
        self.machine.said.clear()
        return events

    def send(self, name: str, **fields: int) -> None:
        self.fail_at_send(name, fields)
        feeder_messages.encode(name, **fields)
        self.sent.append((name, fields))
        self.machine.obey(name, fields)

    def flush(self) -> None:
        pass

    def next_deadline_us(self) -> int:
        return 10**15


class BenchClock:
    """Time that passes only in waits."""

    def __init__(self) -> None:
        self._now_us = 0

    def now_us(self) -> int:
        return self._now_us

    def wait(self, port: Waitable, until_us: int) -> int:  # noqa: ARG002  as the protocol has it
        self._now_us = max(self._now_us, until_us)
        return 0


class BenchCamera:
    """Sees the paper in the path: its picture is its place in a list."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.seen: list[Paper] = []
        self._last: list[Page] = []

    def capture(self, after_us: int) -> Sequence[Page]:  # noqa: ARG002  as the protocol has it
        paper = self._machine.path
        assert paper is not None
        if "no_picture" in paper.mishaps[self._machine.times_fed[paper.name] - 1 :][:1]:
            # A library's words: more than a line of them, and what no line has.
            raise CameraFault("the camera gave no picture in time:\n\x1b[31mtimeout\n" + 2000 * "-")
        if "same_picture" in paper.mishaps[self._machine.times_fed[paper.name] - 1 :][:1]:
            return self._last
        self.seen.append(paper)
        self._last = [np.full((64, 64), len(self.seen) - 1, np.uint8)]
        return self._last

    def read(self, sides: Sequence[Page], program: Program) -> Reading:  # noqa: ARG002  as the protocol has it
        paper = self.seen[int(sides[0][0, 0])]
        evidence = None
        if paper.fate in (COUNTED, SET_ASIDE):
            registration = tuple(float(n) for n in range(12))
            evidence = Evidence("card-1", 0, sides[0], (registration, registration), {"contrast": 0.5})
        return Reading(
            paper.fate, paper.choices if paper.fate == COUNTED else (), paper.reasons, evidence, None
        )

    def close(self) -> None:
        pass


class InlineReader:
    """Reads at once, in the station's own thread, by a function; `ink_of` gives what a page looks like.

    `lines_of` gives what a reading tells of the glass.
    """

    def __init__(
        self,
        read: Callable[[Sequence[Page], Program], Reading],
        ink_of: Callable[[Sequence[Page]], PageInk | None] = lambda _pages: None,
        inks: InkMemory | None = None,
        lines_of: Callable[[Reading], Lines | None] = lambda _reading: None,
    ) -> None:
        self._read = read
        self._ink_of = ink_of
        self._inks = inks or InkMemory()
        self._lines_of = lines_of
        self._outcome: Outcome | None = None
        self.expected_tests: list[bool] = []
        """For every sheet read, whether it had to bear the TEST mark."""

    def begin(
        self,
        pages: Sequence[Page],
        program: Program,
        *,
        expects_test: bool,
        batch: int,  # noqa: ARG002  as the protocol has it
    ) -> None:
        self.expected_tests.append(expects_test)
        reading = self._read(pages, program)
        self._outcome = sheet_read(
            reading, self._lines_of(reading), self._inks.look(self._ink_of(pages)) or 0
        )

    def keep(self, sheet: int) -> None:
        self._inks.keep(sheet)

    def forget(self, sheet: int) -> None:
        self._inks.forget(sheet)

    def result(self) -> Outcome | None:
        outcome, self._outcome = self._outcome, None
        return outcome

    def give_up(self) -> None:
        self._outcome = None

    def close(self) -> None:
        pass


class SlowReader(InlineReader):
    """Takes so long for its first readings, by the clock it is given."""

    def __init__(
        self, clock: Clock, read: Callable[[Sequence[Page], Program], Reading], first_take_us: Sequence[int]
    ) -> None:
        super().__init__(read)
        self._clock = clock
        self._first_take_us = deque(first_take_us)
        self._ready_us = 0

    def begin(self, pages: Sequence[Page], program: Program, *, expects_test: bool, batch: int) -> None:
        super().begin(pages, program, expects_test=expects_test, batch=batch)
        takes_us = self._first_take_us.popleft() if self._first_take_us else 0
        self._ready_us = self._clock.now_us() + takes_us

    def result(self) -> Outcome | None:
        return super().result() if self._clock.now_us() >= self._ready_us else None


class BenchPanel:
    """Remembers what was shown; presses what it is told to."""

    def __init__(self) -> None:
        self.shown: list[Message] = []
        self._pressed: list[str] = []

    @property
    def key(self) -> str:
        return self.shown[-1].key if self.shown else ""

    @property
    def text(self) -> str:
        return self.shown[-1].text

    def show(self, message: Message) -> None:
        self.shown.append(message)

    def press(self, button: str) -> None:
        self._pressed.append(button)

    def pressed(self) -> list[str]:
        pressed, self._pressed = self._pressed, []
        return pressed

    def close(self) -> None:
        pass


class BenchHost:
    """A host that is there and gives orders."""

    def __init__(self) -> None:
        self.present = True
        self.refusal = ""
        self.offered = ""
        self.pinned = ""
        self.states: list[tuple[str, str]] = []
        self.programs_wanted: list[bytes] = []
        self._orders: list[Received] = []

    def pin_offered(self) -> None:
        self.pinned, self.offered = self.offered, ""

    def order(self, kind: str, **fields: Any) -> None:
        self._orders.append(Received(kind, fields))

    def orders(self) -> list[Received]:
        orders, self._orders = self._orders, []
        return orders

    def show_state(self, state: str, note: str) -> None:
        self.states.append((state, note))

    def want_program(self, program_hash: bytes) -> None:
        self.programs_wanted.append(program_hash)

    def notify(self) -> None:
        pass


class BenchStore:
    """A store that holds the bench's program, unless it is told to hold none."""

    def __init__(self) -> None:
        self.programs = {PROGRAM.program_hash: PROGRAM}
        self.is_damaged = False

    def load(self, program_hash: bytes) -> Program | None:
        if self.is_damaged:
            raise OperatorError("the contest program cannot be used: it is damaged")
        return self.programs.get(program_hash)

    def add(self, program_hash: bytes, content: bytes) -> Program:
        if content != PROGRAM.content:
            raise OperatorError("the contest program cannot be used: it is damaged")
        self.programs[program_hash] = PROGRAM
        self.is_damaged = False
        return PROGRAM


def records_in(folder: Path, kind: str | None = None) -> list[Record]:
    """Return the records in the journal of `folder`, of one kind or all."""
    reader = JournalReader(folder / "journal.sqlite")
    stored = reader.records_from(1, 100_000)
    reader.close()
    records = [decode_record(item.record) for item in stored]
    return [record for record in records if kind in (None, record.kind)]


class QuickJournal(Journal):
    """A journal that does not wait for the disk: in these tests processes die, not disks."""

    def _check(self) -> None:
        self._connection.execute("PRAGMA synchronous = OFF")
        super()._check()


class Bench:
    """The device, started on a machine and a folder; it can be killed and started again."""

    def __init__(
        self,
        folder: Path,
        papers: Sequence[Paper] = (),
        *,
        batch_sheets: int = 400,
        diverter: str = "motor",
    ) -> None:
        self.folder = folder
        self.machine = Machine(hopper=list(papers))
        self.clock = BenchClock()
        self.camera = BenchCamera(self.machine)
        self.reader: Reader = InlineReader(self.camera.read)
        self.glass = Glass()
        self.panel = BenchPanel()
        self.host = BenchHost()
        self.store = BenchStore()
        self.free_bytes = 10**12
        self.failed: Failed | None = None
        """What the device's test of its own parts finds."""
        self.tests: list[tuple[bool, bool]] = []
        """Each such test: whether it proves the parts, and whether they were proved."""
        self.software = "software"
        self.released_firmware = "f1" * 32
        self.laid_in_tray: Paper | None = None
        """What the operator laid in the tray, but could not confirm yet."""
        self.config = Config(
            "table-1", folder, "serial:/dev/x", "picamera2", "gpio", "tcp://h:1", batch_sheets, diverter
        )
        self.make_journal: Callable[[Path], Journal] = lambda folder: QuickJournal(
            folder, open_identity(folder)
        )
        self.start()

    def start(self) -> None:
        """Start the station on the journal as it lies."""
        self.journal = self.make_journal(self.folder)
        self.feeder = BenchFeeder(self.machine)
        self.panel = BenchPanel()
        scribe = Scribe(self.journal, self.host)
        self.passage = Passage(
            scribe,
            self.feeder,
            self.camera,
            self.clock,
            self.reader,
            self.glass,
            has_diverter=self.config.diverter == "motor",
        )
        orders = Orders(
            scribe, self.passage, self.store, self.host, self.software, firmware_name(self.released_firmware)
        )
        self.station = Station(
            self.config, scribe, self.passage, orders, self.feeder, self.panel, self.host, self.clock,
            self.test_parts, free=lambda _folder: self.free_bytes,
        )  # fmt: skip

    def test_parts(self, *, proving: bool, proved: bool) -> Failed | None:
        """Return the part that fails now, and take note of the test."""
        self.tests.append((proving, proved))
        return self.failed

    def kill(self) -> None:
        """End the station at once; the machine notices the silence."""
        self.journal.close()
        self.machine.fall_silent()

    def restart(self) -> None:
        """Kill the station and start it again."""
        self.kill()
        self.start()

    def steps(self, number: int = 10) -> None:
        """Let the station make so many steps."""
        for _ in range(number):
            self.station.step()

    def until(self, key: str, limit: int = 2000) -> None:
        """Let the station work until the panel shows this key."""
        for _ in range(limit):
            self.station.step()
            if self.panel.key == key:
                return
        raise AssertionError(f"the panel shows {self.panel.key}: {self.panel.text}")

    def press(self, button: str) -> None:
        """Press a button, and let the station take note and do what follows at once."""
        self.panel.press(button)
        self.steps(8)

    def assign(self, run: str = "r1", mode: str = "training") -> None:
        """Have the host assign a run."""
        self.host.order(
            "assign_run", run=run, precinct="101", contest="governor", program=PROGRAM.program_hash, mode=mode
        )
        self.steps()

    def scan(self, limit: int = 200) -> None:
        """Assign a run, feed everything, doing what the panel asks, up to the end of the hopper."""
        self.assign()
        self.go_on(limit)

    def go_on(self, limit: int = 200) -> None:
        """Do what the panel asks until the hopper is empty or people other than the operator are asked."""
        for _ in range(limit):
            self.steps()
            match self.panel.key:
                case "press_start" if self.machine.hopper or self.panel.shown[-1].text.startswith("Put"):
                    self.press("start")
                case "take_out_and_return":
                    if self.laid_in_tray is not None:
                        self.machine.bins["not_accepted"].remove(self.laid_in_tray)
                        self.machine.hopper.insert(0, self.laid_in_tray)
                        self.laid_in_tray = None
                    self.machine.put_back()
                    self.press("confirm")
                case "take_out_to_tray":
                    if self.laid_in_tray is None:
                        self.laid_in_tray = self.machine.take_out()
                        self.machine.bins["not_accepted"].append(self.laid_in_tray)
                    self._confirm_tray()
                case "take_out_to_set_aside":
                    self.machine.bins["set_aside"].append(self.machine.take_out())
                    self.press("confirm")
                case "hopper_empty" | "ask_officials" | "batch_void_needed":
                    if not self.machine.hopper or self.panel.key != "hopper_empty":
                        return
                    self.press("start")
                case _:
                    pass
        raise AssertionError(f"no end: the panel shows {self.panel.key}: {self.panel.text}")

    def _confirm_tray(self) -> None:
        """Confirm; the sheet is in the tray for good once that is on record, even if the device dies then."""
        before = self._landed_by_hand()
        try:
            self.press("confirm")
        finally:
            if self._landed_by_hand() > before:
                self.laid_in_tray = None

    def _landed_by_hand(self) -> int:
        batch = self.journal.history.batch
        assert batch is not None
        return batch.lying_in("not_accepted")

    def end_batch(self) -> None:
        """Press End batch."""
        self.press("end_batch")

    def records(self, kind: str | None = None) -> list[Record]:
        """Return the records written, of one kind or all."""
        return records_in(self.folder, kind)

    def kinds(self) -> list[str]:
        """Return the kinds of all records in their order."""
        return [record.kind for record in self.records()]

    def sheets(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each sheet number with the kinds of its records."""
        numbers = sorted({record.body["sheet"] for record in self.records() if "sheet" in record.body})
        for number in numbers:
            yield number, [r.kind for r in self.records() if r.body.get("sheet") == number]
