"""`recount-device feeder watch DEVICE.toml`: each sensor live, each motor by guided steps, at a terminal.

At a terminal the picture stands and changes; otherwise each change is a line. Keys are lines on the standard
input. The device itself must not be running: the board listens to one station.
"""

import argparse
import queue
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Protocol, TextIO

from recount_device.clock import Clock, MonotonicClock
from recount_device.config import Config, read_config
from recount_device.errors import OperatorError
from recount_device.feeder_link import FeederLink
from recount_device.feeder_watch import KEYS, Command, Watch
from recount_device.identity import KEY_FILE, open_identity
from recount_device.journal import JOURNAL_FILE
from recount_device.serial_port import find_port
from recount_device.show import fold_journal

LOOK_EVERY_US = 100_000
NEWS_SHOWN = 8
HOME_AND_CLEAR = "\x1b[H\x1b[J"


class WakingClock(Clock, Protocol):
    """A clock whose wait another thread can end."""

    def wake(self) -> None:
        """End the wait that is going on."""
        ...


class Screen(Protocol):
    """Where the watch is shown."""

    def show(self, watch: Watch) -> None:
        """Show what is new."""
        ...


class PlainLines:
    """Each change as a line."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._guide = ""

    def show(self, watch: Watch) -> None:
        """Print the news, and the guide where it changed."""
        for line in watch.news:
            print(line, file=self._out)
        watch.news.clear()
        if watch.guide() != self._guide:
            self._guide = watch.guide()
            print(self._guide, file=self._out)
        self._out.flush()


class Picture:
    """The picture on a terminal, drawn anew when something in it changed."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._news: list[str] = []
        self._drawn = ""

    def show(self, watch: Watch) -> None:
        """Draw it."""
        self._news = [*self._news, *watch.news][-NEWS_SHOWN:]
        watch.news.clear()
        lines = [
            *watch.lines(),
            "",
            *self._news,
            *[""] * (NEWS_SHOWN - len(self._news)),
            watch.guide(),
            KEYS,
            "> ",
        ]
        drawn = "\n".join(lines)
        if drawn != self._drawn:
            self._drawn = drawn
            self._out.write(HOME_AND_CLEAR + drawn)
            self._out.flush()


class Keys:
    """Lines that a person types, read by a thread that ends the station's wait."""

    def __init__(self, source: TextIO, wake: Callable[[], None]) -> None:
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._source = source
        self._wake = wake
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._source:
            self._lines.put(line.strip())
            self._wake()

    def typed(self) -> list[str]:
        """Return the lines typed since this was last asked."""
        typed: list[str] = []
        while not self._lines.empty():
            line = self._lines.get()
            if line is not None:
                typed.append(line)
        return typed


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    acts = parser.add_subparsers(title="acts", metavar="ACT", required=True)
    watch = acts.add_parser("watch", help="show each sensor live, and move each motor by guided steps")
    watch.add_argument("config", type=Path, metavar="DEVICE.toml")


def run(args: argparse.Namespace) -> int:
    """Watch until the person quits; return 0."""
    config = read_config(args.config)
    refuse_in_a_batch(config)
    screen = Picture(sys.stdout) if sys.stdout.isatty() and sys.stdin.isatty() else PlainLines(sys.stdout)
    with ExitStack() as stack:
        clock, find_feeder = stack.enter_context(_feeder_of(config))
        link = FeederLink(clock, find_feeder)
        stack.callback(link.close)
        watch = Watch(configuration=asdict(config.path))
        with suppress(KeyboardInterrupt):  # as good an end as q
            work(watch, clock, link, screen, Keys(sys.stdin, clock.wake))
    print()
    return 0


def refuse_in_a_batch(config: Config) -> None:
    """Raise OperatorError while the device has a batch open: its feeder's counts are that batch's witness."""
    journal = config.folder / JOURNAL_FILE
    if not journal.is_file() or not (config.folder / KEY_FILE).is_file():
        return  # this device never ran
    if fold_journal(journal, open_identity(config.folder).public_key).batch is not None:
        raise OperatorError(
            f"device {config.name} has a batch open, which sheets fed by hand would spoil: end it first"
        )


def work(watch: Watch, clock: Clock, link: FeederLink, screen: Screen, keys: Keys) -> None:
    """Let a person watch the feeder until it is enough."""
    readable = 0
    look_us = 0
    while not watch.done:
        commands: list[Command] = []
        for event in link.poll(readable):
            commands += watch.take(event)
        for line in keys.typed():
            commands += watch.key(line)
        if watch.connected and clock.now_us() >= look_us:
            look_us = clock.now_us() + LOOK_EVERY_US
            commands.append(Command("ask", {}))
        for command in commands:
            link.send(command.name, **command.fields)
        link.flush()
        screen.show(watch)
        readable = clock.wait(link, min(clock.now_us() + LOOK_EVERY_US, link.next_deadline_us()))


@contextmanager
def _feeder_of(config: Config) -> Generator[tuple[WakingClock, Callable[[], str]]]:
    """Open the clock and the way to the feeder, as the config chooses; no camera and no panel."""
    with ExitStack() as stack:
        if config.simulator_socket is not None:
            from recount_device.simulator import connect  # noqa: PLC0415  the world is no part of a real device

            device = connect(config.simulator_socket)
            stack.callback(device.close)
            yield device.clock, device.open_feeder
        else:
            clock = MonotonicClock()
            stack.callback(clock.close)
            yield clock, lambda: find_port(config.feeder.removeprefix("serial:"))
