"""What a person at the feeder is shown and led through: each sensor live, each motor by one sheet at a time.

No terminal, port or clock is in here: events of the feeder's link and a person's keys go in, commands to the
board come out, and everything that there is to see can be read from it. The motors move in no other way than
in a batch: the board lets nothing move but a sheet that it feeds and sends to an exit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from recount_device.feeder_link import Connected, FeederEvent, Gone, Identified, Said
from recount_device.feeder_words import Report, command_name, exit_name, report_from, stop_name
from recount_device.reasons import PATH_REASONS
from recount_protocol import feeder_messages

SENSOR_WORDS: Mapping[str, str] = {
    "hopper": "Lay a sheet into the hopper, and take it out.",
    "entry": "Cover the entry sensor, behind the pick roller, with a sheet, and uncover it.",
    "camera": "Cover the sensor at the far end of the camera bed, and uncover it.",
    "exit_counted": "Cover the sensor at the mouth of the counted bin, and uncover it.",
    "exit_set_aside": "Cover the sensor at the mouth of the set-aside bin, and uncover it.",
    "exit_not_accepted": "Cover the sensor at the mouth of the not-accepted tray, and uncover it.",
    "double_feed": "Put two sheets at once between the double-feed sensor's halves, and take them out.",
    "cover_open": "Open a cover, and close it.",
    "stop_button": "Press the stop button, and release it.",
}

EXIT_WORDS: Mapping[str, str] = {
    "counted": "drive it into the counted bin",
    "set_aside": "drive it into the set-aside bin: the diverter turns",
    "not_accepted": "drive it into the not-accepted tray: the diverter turns",
    "back": "drive it back out to you: the transport turns backwards",
}

NO_SHEET_WORDS: Mapping[str, str] = {
    "none": "",
    "hopper_empty": "There is no sheet in the hopper.",
    "pick_failed": "The pick roller turned, and no sheet came to the entry sensor.",
}


class Step(NamedTuple):
    """One thing that a person does or lets happen."""

    words: str
    sensor: str = ""
    """The sensor that must be seen covered and uncovered; empty for a motor's step."""
    command: str = ""
    """What Enter says to the board."""
    exit: str = ""
    ends: str = ""
    """What the board says when it is done."""


def _motor_steps() -> list[Step]:
    steps: list[Step] = []
    for exit_, words in EXIT_WORDS.items():
        steps.append(
            Step(
                "Lay a sheet into the hopper. Enter feeds it to the camera: pick roller and transport turn.",
                command="feed",
                ends="at_camera",
            )
        )
        steps.append(Step(f"Enter lets the feeder {words}.", command="divert", exit=exit_, ends="landed"))
    return steps


STEPS: tuple[Step, ...] = (
    *(Step(SENSOR_WORDS[sensor], sensor=sensor) for sensor in feeder_messages.SENSORS),
    *_motor_steps(),
)
"""Every sensor, then every motor and every exit."""

KEYS = "Enter: do it    s: skip this step    c: clear a stop    h: halt    q: quit"


class Command(NamedTuple):
    """One message to the board."""

    name: str
    fields: Mapping[str, int]


@dataclass
class Watch:
    """A person before a feeder."""

    configuration: Mapping[str, int]
    steps: tuple[Step, ...] = STEPS
    step: int = 0
    """The number of the step that the person is at; past the last one there is nothing to do."""
    connected: bool = False
    firmware: str = ""
    report: Report | None = None
    news: list[str] = field(default_factory=list[str])
    """What happened and was not shown yet, a line each."""
    skipped: list[int] = field(default_factory=list[int])
    done: bool = False
    """The person wants no more."""
    _seen: set[int] = field(default_factory=set[int])
    """Levels that the step's sensor was seen at."""
    _sheet: int = 0
    _boot: int = -1
    _counts_first: tuple[int, ...] = ()
    _counts: tuple[int, ...] = ()

    @property
    def passed(self) -> tuple[int, ...]:
        """What the board counted since the watch began, or since the board's last start if that was later.

        Never what it counted before: that is how many sheets of a precinct lie in each bin.
        """
        return tuple(now - first for now, first in zip(self._counts, self._counts_first, strict=True))

    @property
    def now(self) -> Step | None:
        """The step that the person is at; None after the last."""
        return self.steps[self.step] if self.step < len(self.steps) else None

    @property
    def stopped(self) -> str:
        """Why the feeder stands, in a word; empty where it is not stopped."""
        return self.report.stop_reason if self.report is not None and self.report.state == "stopped" else ""

    # What the board says.

    def take(self, event: FeederEvent) -> list[Command]:
        """Take an event of the link; return what is to be said to the board because of it."""
        match event:
            case Connected(boot):
                self.connected = True
                if boot != self._boot:
                    self._boot, self._counts, self._counts_first = boot, (), ()
                self.news.append("the board answers")
                return [Command("configure", self.configuration), Command("ask", {})]
            case Gone(why):
                if self.connected or not self.news:
                    self.news.append(f"the board is gone: {why}")
                self.connected, self.report = False, None
            case Identified(firmware_hash):
                self.firmware = firmware_hash
            case Said(name, fields, counts):
                if counts is not None:
                    self._counts = counts
                    self._counts_first = self._counts_first or counts
                self._take_said(name, fields)
        return []

    def _take_said(self, name: str, fields: dict[str, int]) -> None:
        now = self.now
        if name == "report":
            self._take_report(report_from(fields))
        elif name == "refused":
            state = feeder_messages.STATES[fields["state"]]
            self.news.append(f"the board refuses {command_name(fields['kind'])} while it is {state}")
        elif name == "stopped":
            self._take_stop(stop_name(fields["reason"]))
        elif name == "at_camera":
            self.news.append(f"at the camera: {fields['length_mm']} mm long")
        elif name == "landed":
            self.news.append(f"left the path: {exit_name(fields['exit'])}")
        elif name in ("entered", "cleared"):
            self.news.append(name)
        if now is not None and name == now.ends and fields["sheet"] == self._sheet:
            self._go_on()

    def _take_report(self, report: Report) -> None:
        before = self.report.sensors if self.report is not None else frozenset[str]()
        self.report = report
        for sensor in feeder_messages.SENSORS:
            if (sensor in report.sensors) != (sensor in before):
                self.news.append(f"{sensor} {'1' if sensor in report.sensors else '0'}")
        now = self.now
        if now is not None and now.sensor:
            self._seen.add(int(now.sensor in report.sensors))
            # It ends as it should be for what comes next: uncovered, closed, released.
            if self._seen == {0, 1} and now.sensor not in report.sensors:
                self._go_on()

    def _take_stop(self, reason: str) -> None:
        told = PATH_REASONS[reason].sentence if reason in PATH_REASONS else NO_SHEET_WORDS[reason]
        self.news.append(f"stopped: {reason}. {told}")
        now = self.now
        if now is not None and now.command == "divert":
            # Its sheet is in a person's hands now: it begins again at the hopper.
            self.step -= 1

    def _go_on(self) -> None:
        self.news.append(f"step {self.step + 1} of {len(self.steps)} done")
        self.step += 1
        self._seen.clear()

    # What the person does.

    def key(self, word: str) -> list[Command]:
        """Take what a person typed; return what is to be said to the board."""
        if word == "q":
            self.done = True
        elif word == "s" and self.now is not None:
            self.skipped.append(self.step)
            # A sheet that is not sent on lies under the camera: its feeding is skipped with it.
            self.step += 2 if self.now.command == "feed" else 1
            self._seen.clear()
        elif word == "h":
            return [Command("halt", {})]
        elif word == "c":
            return [Command("clear", {})]
        elif word:
            self.news.append(f"there is no key {word!r}")
        else:
            return self._enter()
        return []

    def _enter(self) -> list[Command]:
        now = self.now
        if now is None or not self.connected:
            return []
        if now.sensor:
            self.news.append("this step ends by itself, when the sensor was seen both ways; s skips it")
            return []
        if self.stopped:
            return [Command("clear", {}), Command("ask", {})]
        if now.command == "feed":
            self._sheet += 1
            return [Command("feed", {"sheet": self._sheet})]
        return [Command("divert", {"sheet": self._sheet, "exit": feeder_messages.EXITS.index(now.exit)})]

    # What there is to see.

    def guide(self) -> str:
        """Return what the person does next, in a sentence."""
        now = self.now
        if not self.connected:
            return "Waiting for the board."
        if now is None:
            skipped = f" {len(self.skipped)} were skipped." if self.skipped else ""
            return f"All steps are through.{skipped} q ends."
        words = now.words
        if self.stopped and not now.sensor:
            words = "Take all paper out of the path, close the cover; Enter clears the stop."
        return f"Step {self.step + 1} of {len(self.steps)}: {words}"

    def lines(self) -> list[str]:
        """Return the live picture: the board, its sensors, its counts."""
        state = "-" if self.report is None else self.report.state
        stopped = f" ({self.stopped})" if self.stopped else ""
        on = frozenset[str]() if self.report is None else self.report.sensors
        there = "answers" if self.connected else "is looked for"
        lines = [f"board     {there}, firmware {self.firmware[:16] or '-'}", f"state     {state}{stopped}"]
        lines += [f"{'[#]' if sensor in on else '[ ]'} {sensor}" for sensor in feeder_messages.SENSORS]
        passed = zip(feeder_messages.COUNTS, self.passed or (0,) * len(feeder_messages.COUNTS), strict=True)
        lines.append("passed    " + ", ".join(f"{name} {count}" for name, count in passed))
        return lines
