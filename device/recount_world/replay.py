"""A recorded trace played again: the firmware gets what it got then, and must do what it did then.

What the board was told (its sensors' edges, the bytes of the station, its power, its flash at the first
start) is taken from the trace; what it did (pins, step pulses, bytes) is compared with the trace, line by
line and to the microsecond. No paper moves here: it lies in the edges. So a trace from anywhere tells
whether this firmware still does the same, and where it begins to do something else.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from struct import unpack
from tempfile import TemporaryDirectory
from typing import NamedTuple

from recount_protocol import feeder_messages
from recount_protocol.delivery import DATA, HEADER_BYTES
from recount_protocol.errors import MessageError
from recount_protocol.frames import FrameReader
from recount_world.board import Answer, Board, Request
from recount_world.board_process import BoardProcess
from recount_world.errors import TraceError
from recount_world.pins import firmware_pins
from recount_world.world import LEAST_WAIT_US

MAX_LINE_CHARACTERS = 100_000
CONTEXT_LINES = 6
"""So many lines of the trace before the first difference are shown with it."""

BOOTS = ("board", "boots")
DID = frozenset({"pin", "pulses", "tx", "flash"})
"""Words of what a board does. Its flash is shown at each of its starts."""


class Line(NamedTuple):
    """One line of a trace."""

    at_us: int
    word: str
    details: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((str(self.at_us), self.word, *self.details))


@dataclass(frozen=True)
class Difference:
    """Where a replay first does something else than the record."""

    recorded: Line | None
    """What the board did then; None: nothing more."""
    replayed: Line | None
    """What it did now; None: nothing by then."""
    before: tuple[Line, ...]
    """The lines of the trace just before."""


@dataclass(frozen=True)
class Verdict:
    """What a replay found."""

    difference: Difference | None
    compared: int
    """Lines of the record that the board repeated."""
    messages: int
    """Messages to the station among them."""
    seconds: float
    """Of the world's clock, up to the end of the trace or to the difference."""
    other_firmware: tuple[str, str] | None
    """The hashes that the board told then and now, where they are not the same."""


def read_trace(path: Path) -> list[Line]:
    """Return a trace's lines. Raises TraceError with one sentence for what is no trace."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise TraceError(f"cannot read {path}: {reason}") from error
    # A world that was killed leaves its last line unfinished.
    whole = text[: text.rfind("\n") + 1]
    lines = [_read_line(line, f"{path}, line {number}") for number, line in enumerate(whole.splitlines(), 1)]
    if not lines or lines[0].word != "seed":
        raise TraceError(f"{path} is no trace of a simulated device: its first line must be `0 seed NUMBER`")
    if not any((line.word, *line.details) == BOOTS for line in lines):
        raise TraceError(f"{path}: no board starts in this trace, so there is nothing to replay")
    return lines


def _read_line(line: str, where: str) -> Line:
    at, _, rest = line.partition(" ")
    word, *details = rest.split(" ")
    if not at.isdecimal() or not word or len(line) > MAX_LINE_CHARACTERS:
        raise TraceError(f"{where}: a line is `microseconds word details`, not {line[:60]!r}")
    return Line(int(at), word, tuple(details))


def replay(lines: Iterable[Line], firmware: Path | None = None) -> Verdict:
    """Run the firmware (or another one, from its folder) through a trace, up to the first difference.

    Raises TraceError for a line that cannot be, BoardError where no interpreter is.
    """
    recorded = list(lines)
    with TemporaryDirectory(prefix="recount-replay-") as folder:
        flash = Path(folder)
        board = BoardProcess(flash, seed=_whole(recorded[0], 0), firmware=firmware)
        try:
            return _Player(recorded, board, flash).play()
        finally:
            board.power_off()


class _Differs(Exception):
    """The board did something else."""

    def __init__(self, recorded: Line | None, replayed: Line | None) -> None:
        super().__init__()
        self.recorded = recorded
        self.replayed = replayed


class _Player:
    """One board on its way through one trace."""

    def __init__(self, lines: list[Line], board: Board, flash: Path) -> None:
        self._lines = lines
        self._board = board
        self._flash = flash
        self._pins = firmware_pins()
        self._levels: dict[str, int] = {}
        self._edges: list[tuple[int, int, int]] = []
        self._received = b""
        self._due_us: int | None = None
        self._boots = 0
        self._done: deque[Line] = deque()
        """What the board did and the trace has not come to yet."""
        self._place = 0
        """Of the line that it is at."""
        self._compared = 0
        self._then = _Telling()
        self._now = _Telling()
        self._takes: Mapping[str, Callable[[Line], None]] = {
            "sensor": self._sensor,
            "rx": self._rx,
            "told": self._told,
            "board": self._power,
        }

    def play(self) -> Verdict:
        """Go through the trace."""
        difference = None
        try:
            for line in self._lines:
                self._go_through(line)
                self._place += 1
        except _Differs as differs:
            before = tuple(self._lines[max(0, self._place - CONTEXT_LINES) : self._place])
            difference = Difference(differs.recorded, differs.replayed, before)
        told = (self._then.firmware, self._now.firmware)
        return Verdict(
            difference,
            self._compared,
            self._then.messages,
            self._lines[min(self._place, len(self._lines) - 1)].at_us / 1_000_000,
            told if all(told) and told[0] != told[1] else None,
        )

    def _go_through(self, line: Line) -> None:
        self._run_to(line.at_us, through=line.word in DID)
        self._may_do_no_more_before(line.at_us)
        if line.word == "flash" and not self._boots:
            self._keep(line)
        elif line.word in DID or line.details[:1] == ("dead",):
            self._compare(line)
        elif line.word in self._takes:
            self._takes[line.word](line)

    # What was done to the board.

    def _sensor(self, line: Line) -> None:
        name, level = line.details[0], _whole(line, 1)
        if name not in self._pins.gpio:
            raise TraceError(f"the trace has a sensor {name}, which this board has not")
        self._levels[name] = level
        self._edges.append((self._pins.gpio[name], level, line.at_us))

    def _rx(self, line: Line) -> None:
        self._received += _bytes(line, 0)

    def _told(self, line: Line) -> None:
        if line.details == ("again",):
            self._run_to(line.at_us, through=True)
        answer = Answer(line.at_us, tuple(self._edges), self._received)
        self._edges, self._received = [], b""
        self._turn(answer)

    def _power(self, line: Line) -> None:
        if line.details == ("boots",):
            self._boots += 1
            self._edges = [(self._pins.gpio[name], level, line.at_us) for name, level in self._levels.items()]
            self._received = b""
            self._take(self._board.power_on(self._boots), line.at_us)
        elif line.details == ("reset",):
            self._board.power_off()
            self._due_us = None
            self._received = b""

    def _keep(self, line: Line) -> None:
        """Lay a file into the board's flash, as it was at the first start."""
        name = Path(line.details[0]).name
        (self._flash / name).write_bytes(_bytes(line, 1))

    # What the board does.

    def _run_to(self, at_us: int, *, through: bool) -> None:
        """Let the board take the turns for which it asked before a moment, or with `through` at it too."""
        while self._due_us is not None and (self._due_us < at_us or (through and self._due_us == at_us)):
            self._turn(Answer(self._due_us))
            self._may_do_no_more_before(at_us)

    def _may_do_no_more_before(self, at_us: int) -> None:
        """Raise _Differs for something that the board did and the trace, which is past it, has not."""
        if self._done and self._done[0].at_us < at_us:
            raise _Differs(None, self._done[0])

    def _turn(self, answer: Answer) -> None:
        self._take(self._board.resume(answer), answer.now_us)

    def _take(self, request: Request | None, now_us: int) -> None:
        if request is None:
            self._due_us = None
            self._done.append(Line(now_us, "board", ("dead",)))
            return
        for gpio, level in request.outputs:
            self._done.append(Line(now_us, "pin", (self._name(gpio), str(level))))
        for gpio, rate in request.pulses:
            self._done.append(Line(now_us, "pulses", (self._name(gpio), str(rate))))
        if request.sent:
            self._done.append(Line(now_us, "tx", (request.sent.hex(),)))
        self._due_us = now_us + max(request.wait_us, LEAST_WAIT_US)

    def _name(self, gpio: int) -> str:
        return self._pins.name.get(gpio, f"GPIO{gpio}")

    def _compare(self, line: Line) -> None:
        if line.word == "flash":
            self._compare_flash(line)
        else:
            replayed = self._done.popleft() if self._done else None
            if replayed is None or not self._same(line, replayed):
                raise _Differs(line, replayed)
        self._compared += 1

    def _compare_flash(self, line: Line) -> None:
        content = self._board.memory().get(line.details[0])
        if content is None or content.hex() != line.details[1]:
            shown = None if content is None else line._replace(details=(line.details[0], content.hex()))
            raise _Differs(line, shown)

    def _same(self, recorded: Line, replayed: Line) -> bool:
        if recorded.word != "tx" or replayed.word != "tx":
            if replayed.word == "board":  # why it died is a matter of the world's words
                recorded = recorded._replace(details=recorded.details[:1])
            return recorded == replayed
        then, now = self._then.take(_bytes(recorded, 0)), self._now.take(_bytes(replayed, 0))
        return recorded.at_us == replayed.at_us and then == now


class _Telling:
    """What a board says on its link, with its firmware's hash taken out: that one may be another."""

    def __init__(self) -> None:
        self._frames = FrameReader(feeder_messages.MAX_PAYLOAD_BYTES + HEADER_BYTES)
        self.messages = 0
        self.firmware = ""

    def take(self, data: bytes) -> list[bytes]:
        """Return the frames that these bytes complete."""
        return [self._masked(frame) for frame in self._frames.feed(data) if isinstance(frame, bytes)]

    def _masked(self, frame: bytes) -> bytes:
        message = _message(frame)
        if message is None:
            return frame
        self.messages += 1
        name, fields = message
        if name != "firmware":
            return frame
        numbers = fields["sha256"]
        assert isinstance(numbers, tuple)
        self.firmware = b"".join(number.to_bytes(4, "little") for number in numbers).hex()
        return frame[:HEADER_BYTES]


def _message(frame: bytes) -> tuple[str, Mapping[str, int | tuple[int, ...]]] | None:
    """Return the message in a frame of the link; None where it holds none."""
    if len(frame) <= HEADER_BYTES or unpack("<B", frame[:1])[0] != DATA:
        return None
    try:
        return feeder_messages.decode(frame[HEADER_BYTES:])
    except MessageError:
        return None


def verdict_in_words(verdict: Verdict) -> list[str]:
    """Return what a replay found, for people, a line each."""
    repeated = f"{verdict.compared} outputs, {verdict.messages} messages to the station among them"
    lines: list[str] = []
    if verdict.other_firmware is not None:
        then, now = verdict.other_firmware
        lines.append(f"the firmware is another one: {then[:16]} then, {now[:16]} now")
    if verdict.difference is None:
        return [*lines, f"the same: {repeated}, in {verdict.seconds:.3f} s"]
    difference = verdict.difference
    return [
        *lines,
        f"different after {verdict.seconds:.3f} s; the same until then: {repeated}",
        *(f"    {in_words(line)}" for line in difference.before),
        f"recorded: {in_words(difference.recorded)}",
        f"replayed: {in_words(difference.replayed)}",
    ]


def in_words(line: Line | None) -> str:
    """Return a line for people: bytes on the link as the messages that they are."""
    if line is None:
        return "nothing"
    if line.word not in ("tx", "rx"):
        return str(line)
    frames = FrameReader(feeder_messages.MAX_PAYLOAD_BYTES + HEADER_BYTES).feed(_bytes(line, 0))
    said = [_frame_in_words(frame) for frame in frames if isinstance(frame, bytes)]
    return f"{line.at_us} {line.word} {', '.join(said) or line.details[0]}"


def _frame_in_words(frame: bytes) -> str:
    message = _message(frame)
    if message is None:
        return "a frame of the link itself"
    name, fields = message
    return f"{name}({', '.join(f'{key}={value}' for key, value in fields.items())})"


def _whole(line: Line, place: int) -> int:
    try:
        return int(line.details[place])
    except (IndexError, ValueError):
        raise TraceError(f"the trace's line {str(line)[:60]!r} lacks a number") from None


def _bytes(line: Line, place: int) -> bytes:
    try:
        return bytes.fromhex(line.details[place])
    except (IndexError, ValueError):
        raise TraceError(f"the trace's line {str(line)[:60]!r} lacks its bytes") from None
