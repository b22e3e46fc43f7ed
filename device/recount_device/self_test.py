"""The device's test of itself, at its start and before each run's first sheet: are its parts as when proved.

What it can see without a sheet: the sensors of the path, the camera's picture of the empty bed (that there is
one, that it is a new one, that the bed is as dark or light as in the logic-and-accuracy test), its clock, its
disk, its own files. What it cannot see it does not claim: sharpness and contrast are judged on every sheet,
the diverter by the sensor of the bin that each sheet comes to. A part that fails disarms the device.
"""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from recount_device.camera import Camera, Page, check_pages
from recount_device.clock import Clock
from recount_device.durable import write_durably
from recount_device.errors import CameraFault, OperatorError

BED_FILE: Final = "bed.json"
"""In the device's folder: how bright the empty bed was when the device was tested, a number a camera."""
PROBE_FILE: Final = "disk-probe"
PROBE_BYTES: Final = 64 * 1024

BED_MOST_GREY: Final = 90.0
"""A bed as bright as this is no bed: paper as dark counts as under-exposed (paper_low_grey)."""
LIGHT_SHARE: Final = (0.6, 1.6)
"""How bright the bed may be against the tested one: a lamp loses a third with age, and calibration keeps room
for that (calibration/checks.py); beyond it the tested pictures tell nothing of today's."""
LIGHT_GREY: Final = 6.0
"""Less than this is no other light, however dark the bed."""


class Failed(NamedTuple):
    """A part that is not as it must be."""

    part: str
    why: str
    """A sentence without its full stop."""
    do: str


CALL: Final = "Call the technician."
COVER: Final = "Close the covers, keep other light out, and look whether the lamp is on."
SENSORS: Final = Failed(
    "sensors",
    "a sensor of the path sees paper, though it was confirmed that none lies there",
    "Take out every scrap of paper, and clean the sensors.",
)


class SelfTest:
    """What the device can find out about its own parts while no sheet is under way."""

    def __init__(self, folder: Path, clock: Clock, camera: Camera, software: Callable[[], str]) -> None:
        """`software` returns the name of what lies on the disk now, as `software_of` does."""
        self._folder = folder
        self._clock = clock
        self._camera = camera
        self._software_now = software
        self._software = software()

    def __call__(self, *, proving: bool, proved: bool) -> Failed | None:
        """Return the first part that fails, None where all are as they must be; the bed is empty.

        `proving`: a logic-and-accuracy test is about to begin, which proves the light as it is now. `proved`:
        the device is armed, and its light must be that of its test.
        """
        return self._files() or self._disk() or self._sight(proving=proving, proved=proved)

    def _files(self) -> Failed | None:
        try:
            now = self._software_now()
        except (OSError, OperatorError) as error:
            return Failed("software", f"its own files cannot be read ({error})", CALL)
        if now != self._software:
            return Failed("software", "its own files were changed while it ran", f"Start it anew. {CALL}")
        return None

    def _disk(self) -> Failed | None:
        path, content = self._folder / PROBE_FILE, os.urandom(PROBE_BYTES)
        try:
            write_durably(path, content)
            is_same = path.read_bytes() == content
            path.unlink()
        except OSError as error:
            return Failed("disk", f"its disk does not take a file ({error.strerror})", CALL)
        return None if is_same else Failed("disk", "its disk gives back other bytes than it was given", CALL)

    def _sight(self, *, proving: bool, proved: bool) -> Failed | None:
        before_us = self._clock.now_us()
        try:
            first, second = (self._picture() for _ in range(2))
        except CameraFault as fault:
            return Failed("camera", f"its camera gives no picture ({fault})", f"Switch it off and on. {CALL}")
        if self._clock.now_us() < before_us:
            return Failed("clock", "its clock runs backwards", f"Switch it off and on. {CALL}")
        if any(np.array_equal(one, other) for one, other in zip(first, second, strict=False)):
            return Failed("camera", "its camera gives one picture twice", f"Switch it off and on. {CALL}")
        return self._light([float(np.median(page)) for page in second], proving=proving, proved=proved)

    def _picture(self) -> Sequence[Page]:
        pages = self._camera.capture(self._clock.now_us())
        check_pages(pages)
        return pages

    def _light(self, bed: list[float], *, proving: bool, proved: bool) -> Failed | None:
        if max(bed) >= BED_MOST_GREY:
            return Failed("camera", "the empty bed is as bright as paper in its camera's picture", COVER)
        path = self._folder / BED_FILE
        if proving:
            write_durably(path, json.dumps(bed).encode())
            return None
        return _other_light(bed, _read_bed(path)) if proved else None


def _read_bed(path: Path) -> list[float]:
    """Return how bright the bed was in the test; an empty list where that is not known."""
    try:
        given: object = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return []
    return [float(grey) for grey in given if type(grey) in (int, float)] if isinstance(given, list) else []


def _other_light(bed: Sequence[float], tested: Sequence[float]) -> Failed | None:
    if len(bed) != len(tested):
        return Failed("camera", "it is not known how light the bed was when it was tested", CALL)
    for now, then in zip(bed, tested, strict=True):
        is_near = LIGHT_SHARE[0] * then <= now <= LIGHT_SHARE[1] * then
        if not is_near and abs(now - then) >= LIGHT_GREY:
            than = "darker" if now < then else "brighter"
            return Failed("camera", f"its camera sees the empty bed {than} than in its test", COVER)
    return None
