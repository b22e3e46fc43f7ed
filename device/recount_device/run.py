"""`recount-device run DEVICE.toml`: the device at work, until it is told to stop.

Prints what the panel shows, a line a change; with --json one object a line. States only: no count, choice or
vote is ever printed.
"""

import argparse
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Protocol

from recount_classifier.lens import Lens
from recount_device.camera import Camera
from recount_device.clock import Clock, MonotonicClock
from recount_device.config import Config, read_config
from recount_device.durable import make_folder
from recount_device.errors import OperatorError
from recount_device.feeder_link import FeederLink, new_boot_id
from recount_device.firmware_release import released_hash
from recount_device.glass import Glass
from recount_device.host_link import HostLink
from recount_device.host_pin import HostPin
from recount_device.host_session import Introduction
from recount_device.identity import open_identity
from recount_device.journal import Journal
from recount_device.lens_file import LENS_FILE, lens_of_device
from recount_device.messages import message
from recount_device.orders import Orders, Programs, Store
from recount_device.panel import Message, Panel
from recount_device.passage import READING_LIMIT_US, Passage
from recount_device.program_store import ProgramStore
from recount_device.reader import Reader
from recount_device.reading_process import ReadingProcess, StandingReader
from recount_device.scribe import Outbox, Scribe
from recount_device.self_test import SelfTest
from recount_device.serial_port import find_port
from recount_device.software import firmware_name, software_of
from recount_device.station import Host, Station

GRACE_US = 10_000_000
"""How long a sheet in motion may take to come to its end when the device is told to stop."""


@dataclass
class Parts:
    """The parts of the device that are different ones in the real and in a simulated world."""

    clock: Clock
    camera: Camera
    reader: Reader
    panel: Panel
    find_feeder: Callable[[], str]
    lens: Lens | None = None
    """The calibration of the camera's lens that the reader reads with."""


class HostDesk(Host, Programs, Outbox, Protocol):
    """The host, in all that the device wants of it."""


class PrintingPanel:
    """A panel whose messages are also printed, for the log and for programs that watch the device."""

    def __init__(self, panel: Panel, *, as_json: bool) -> None:
        self._panel = panel
        self._as_json = as_json

    def show(self, message: Message) -> None:
        """Show and print it."""
        self._panel.show(message)
        line = (
            json.dumps({"panel": message.to_fields()}) if self._as_json else f"{message.key}: {message.text}"
        )
        print(line, flush=True)

    def pressed(self) -> list[str]:
        """Return the buttons pressed."""
        return self._panel.pressed()

    def close(self) -> None:
        """Close the panel."""
        self._panel.close()


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("config", type=Path, metavar="DEVICE.toml")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")


def make_station(
    config: Config,
    journal: Journal,
    parts: Parts,
    feeder: FeederLink,
    host: HostDesk,
    store: Store,
) -> Station:
    """Put the station together and write down that the device has started, and what it found."""
    software = software_of(config, parts.lens)
    scribe = Scribe(journal, host)
    has_diverter = config.diverter == "motor"
    passage = Passage(
        scribe, feeder, parts.camera, parts.clock, parts.reader, Glass(), has_diverter=has_diverter
    )
    orders = Orders(scribe, passage, store, host, software, firmware_name(released_hash()))
    started = {
        "software": software,
        "firmware": firmware_name(feeder.firmware_hash),
        "boot": new_boot_id(),
        "note": _start_note(scribe, passage),
    }
    scribe.write(scribe.of_device("device_started", started))
    test_parts = SelfTest(
        config.folder,
        parts.clock,
        parts.camera,
        lambda: software_of(config, lens_of_device(config.folder)),
    )
    return Station(config, scribe, passage, orders, feeder, parts.panel, host, parts.clock, test_parts)


def _start_note(scribe: Scribe, passage: Passage) -> str:
    if scribe.batch is None:
        return "no batch is open"
    if passage.sheet is None:
        return "a batch is open; no sheet was under way"
    return f"a batch is open; sheet {passage.sheet.number} was {passage.sheet.state.value}"


def calibrated_lens(config: Config) -> Lens | None:
    """Return the lens calibration in the device's folder, if there is one.

    Raises OperatorError for one that is damaged, and for one of another camera mode.
    """
    lens = lens_of_device(config.folder)
    size = (config.optics.width, config.optics.height)
    if lens is not None and config.simulator_socket is None and (lens.width, lens.height) != size:
        raise OperatorError(
            f"{config.folder / LENS_FILE} was made with {lens.width} x {lens.height} pixels, but the camera "
            f"gives {size[0]} x {size[1]}: calibrate anew with recount-device calibrate"
        )
    return lens


@contextmanager
def open_parts(config: Config) -> Generator[Parts]:
    """Open reader, camera, panel, clock and the way to the feeder, as the config chooses."""
    with ExitStack() as stack:
        lens = calibrated_lens(config)
        reading = ReadingProcess(lens)
        stack.callback(reading.close)
        opened = _simulated_parts if config.simulator_socket else _real_parts
        parts = opened(config, reading, stack)
        parts.lens = lens
        stack.callback(parts.camera.close)
        stack.callback(parts.panel.close)
        yield parts


def _simulated_parts(config: Config, reading: ReadingProcess, stack: ExitStack) -> Parts:
    from recount_device.simulator import connect  # noqa: PLC0415  the world is no part of a real device

    assert config.simulator_socket is not None
    device = connect(config.simulator_socket)
    stack.callback(device.close)
    reader = StandingReader(reading, READING_LIMIT_US / 1e6)
    return Parts(device.clock, device.camera, reader, device.panel, device.open_feeder)


def _real_parts(config: Config, reading: ReadingProcess, stack: ExitStack) -> Parts:
    from recount_device.hardware.panel import GpioPanel  # noqa: PLC0415  only a Raspberry Pi has these
    from recount_device.hardware.picamera import open_picamera  # noqa: PLC0415

    clock = MonotonicClock(reading.descriptors)
    stack.callback(clock.close)
    camera = open_picamera(config.optics)
    panel = GpioPanel(config.pins, sys.stderr, clock.now_us, clock.wake)
    return Parts(clock, camera, reading, panel, lambda: find_port(config.feeder.removeprefix("serial:")))


def make_own_folder(folder: Path) -> None:
    """Make the device's folder, readable by its owner only; raises OperatorError where that cannot be."""
    try:
        make_folder(folder, mode=0o700)
    except OSError as error:
        raise OperatorError(f"cannot make the folder {folder}: {error.strerror}") from None


class _Signals:
    """SIGTERM and SIGINT end the loop after the sheet under way."""

    def __init__(self) -> None:
        self.came = False

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self.came = True

    @contextmanager
    def heard(self) -> Generator[None]:
        """Hear the signals until the end of the block."""
        before = {number: signal.signal(number, self._hear) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run_device(
    config: Config, *, as_json: bool, open_: Callable[[Config], AbstractContextManager[Parts]] = open_parts
) -> None:
    """Run the device until a signal tells it to stop; `open_` opens its parts."""
    make_own_folder(config.folder)
    identity = open_identity(config.folder)
    signals = _Signals()
    with ExitStack() as stack:
        stack.enter_context(signals.heard())
        journal = Journal(config.folder, identity)
        stack.callback(journal.close)
        parts = stack.enter_context(open_(config))
        parts.panel = PrintingPanel(parts.panel, as_json=as_json)
        feeder = FeederLink(parts.clock, parts.find_feeder)
        stack.callback(feeder.close)
        parts.panel.show(message("starting"))
        feeder.await_firmware()
        firmware = firmware_name(feeder.firmware_hash)
        software = software_of(config, parts.lens)
        introduction = Introduction(config.name, software, firmware)
        host = HostLink(journal.path, identity, introduction, HostPin(config.folder), config.host)
        store = ProgramStore(config.folder)
        station = make_station(config, journal, parts, feeder, host, store)
        host.start()
        stack.callback(host.close)
        _work(station, parts.clock, signals)


def _work(station: Station, clock: Clock, signals: _Signals) -> None:
    """Work until a signal comes."""
    while not signals.came:
        station.step()
    station.stopping = True
    until_us = clock.now_us() + GRACE_US
    station.step()
    while not station.at_rest and clock.now_us() < until_us:
        station.step()


def run(args: argparse.Namespace) -> int:
    """Run the device; return 0 when it was told to stop."""
    logging.basicConfig(
        level=os.environ.get("RECOUNT_LOG", "INFO"), format="%(levelname)s %(message)s", stream=sys.stderr
    )
    config = read_config(args.config)
    run_device(config, as_json=args.json)
    return 0
