"""Pictures of sheets that the feeder brings under the device's own camera, one after the other.

For calibration only, outside any batch: each sheet goes from the hopper to the camera and on into the
not-accepted tray, as in a recount, and nothing is recorded of it.
"""

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from typing import Final

from recount_device.camera import Camera, Page, check_pages
from recount_device.clock import Clock, MonotonicClock
from recount_device.config import Config
from recount_device.errors import CameraFault, OperatorError
from recount_device.feeder_link import Connected, FeederEvent, FeederLink, Gone, Said
from recount_device.feeder_watch import NO_SHEET_WORDS
from recount_device.feeder_words import exit_number, report_from, stop_name
from recount_device.reasons import PATH_REASONS
from recount_device.serial_port import find_port
from recount_protocol.fates import NOT_ACCEPTED

PATIENCE_US: Final = 15_000_000
"""How long the board may take over one sheet, or to answer at the start."""
LOOK_EVERY_US: Final = 50_000


class SheetFeed:
    """The feeder and the camera, for as long as sheets are fed."""

    def __init__(self, clock: Clock, link: FeederLink, camera: Camera, config: Config) -> None:
        self._clock = clock
        self._link = link
        self._camera = camera
        self._config = config
        self._sheet = 0
        self._heard: deque[FeederEvent] = deque()

    def pictures(self, count: int) -> Iterator[list[Page]]:
        """Feed so many sheets; yield the pictures of each, front first.

        Raises OperatorError where the feeder stops, or the camera gives no picture.
        """
        self._make_ready()
        for _ in range(count):
            self._sheet += 1
            self._link.send("feed", sheet=self._sheet)
            self._await("at_camera")
            try:
                pages = list(self._camera.capture(self._clock.now_us()))
                check_pages(pages)
            except CameraFault as fault:
                raise OperatorError(f"the camera gave no picture: {fault}") from None
            self._link.send("divert", sheet=self._sheet, exit=exit_number(NOT_ACCEPTED))
            self._await("landed")
            yield pages

    def _make_ready(self) -> None:
        """Have the board configured and no stop standing: people were at the hopper in between."""
        self._link.send("configure", **asdict(self._config.path))
        self._link.send("ask")
        report = report_from(self._await("report").fields)
        if not report.path_is_clear:
            raise OperatorError("a sheet lies in the feeder's path: take it out, and begin again")
        if report.state == "stopped":
            self._link.send("clear")
            self._await("cleared")

    def _await(self, name: str) -> Said:
        """Return the board's next message of this name."""
        until_us = self._clock.now_us() + PATIENCE_US
        readable = 0
        while True:
            self._heard.extend(self._link.poll(readable))
            while self._heard:
                said = self._take(self._heard.popleft(), name)
                if said is not None:
                    return said
            if self._clock.now_us() >= until_us:
                raise OperatorError("the feeder does not answer: look at its power and its cable")
            self._link.flush()
            next_us = min(self._clock.now_us() + LOOK_EVERY_US, self._link.next_deadline_us())
            readable = self._clock.wait(self._link.waitable, next_us)

    def _take(self, event: FeederEvent, name: str) -> Said | None:
        """Return the event if it is the awaited message; raise OperatorError where that cannot come."""
        is_start = name == "report"
        match event:
            case Connected() if is_start:
                # For the first time, or after people took their time: what was said before is lost.
                self._link.send("configure", **asdict(self._config.path))
                self._link.send("ask")
            case Connected() | Gone() if not is_start:
                raise OperatorError(
                    "the feeder's board started anew: take out what lies in its path, begin again"
                )
            case Said() if event.name == name:
                return event
            case Said("stopped", fields) if not is_start:
                self._refuse(stop_name(fields["reason"]))
            case Said("refused"):
                raise OperatorError("the feeder refuses to move: take all paper out of its path, begin again")
            case _:
                pass
        return None

    @staticmethod
    def _refuse(reason: str) -> None:
        told = PATH_REASONS[reason].sentence if reason in PATH_REASONS else NO_SHEET_WORDS[reason]
        raise OperatorError(f"the feeder stopped: {told} Take out what lies in its path, and begin again")


@contextmanager
def open_feed(config: Config) -> Generator[SheetFeed]:
    """Open clock, feeder and camera, as the config chooses."""
    with ExitStack() as stack:
        if config.simulator_socket is not None:
            from recount_device.simulator import connect  # noqa: PLC0415  the world is no part of a real device

            device = connect(config.simulator_socket)
            stack.callback(device.close)
            link = FeederLink(device.clock, device.open_feeder)
            stack.callback(link.close)
            yield SheetFeed(device.clock, link, device.camera, config)
        else:
            from recount_device.hardware.picamera import open_picamera  # noqa: PLC0415  only a Raspberry Pi has it

            clock = MonotonicClock()
            stack.callback(clock.close)
            camera = open_picamera(config.optics)
            stack.callback(camera.close)
            link = FeederLink(clock, lambda: find_port(config.feeder.removeprefix("serial:")))
            stack.callback(link.close)
            yield SheetFeed(clock, link, camera, config)
