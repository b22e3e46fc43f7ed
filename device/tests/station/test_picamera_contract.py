"""The camera's file against the real picamera2 class: a call that it has not, or has otherwise, fails."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, create_autospec

import numpy as np
import pytest

from device.tests.station.libcamera_stub import importable_picamera2
from recount_device.config import OpticsSettings
from recount_device.errors import CameraFault, OperatorError
from recount_device.hardware.picamera import PiCamera, open_picamera

OPTICS = OpticsSettings(width=120, height=90, exposure_us=4000, gain_hundredths=150)
STRIDE = 128
AT_REST_US = 5_000_000
CONTROLS = dict.fromkeys(
    ("AeEnable", "AwbEnable", "ExposureTime", "AnalogueGain", "ColourGains", "FrameDurationLimits"), (0, 1, 0)
)


@pytest.fixture(scope="module")
def picamera2() -> Iterator[Any]:
    if find_spec("picamera2") is None:
        pytest.skip("picamera2 is not installed: pip install --no-deps -r requirements/camera.txt")
    with importable_picamera2() as module:
        yield module


class Pi:
    """A camera that has picamera2's own signatures, and does what the test says."""

    def __init__(self, picamera2: Any) -> None:
        self.camera = create_autospec(picamera2.Picamera2, instance=True)
        self.camera.camera_controls = dict(CONTROLS)
        self.camera.camera_configuration.return_value = {"main": {"format": "YUV420", "size": (120, 90)}}
        self.metadata: dict[str, float] = {
            "ExposureTime": 4010,
            "AnalogueGain": 1.5,
            "SensorTimestamp": AT_REST_US * 1000 + 4_010_000,
        }
        self.camera.capture_metadata.side_effect = self._metadata
        self.request = create_autospec(picamera2.request.CompletedRequest, instance=True)
        self.request.get_metadata.side_effect = lambda: self.metadata
        self.camera.captured_request.return_value.__enter__.return_value = self.request
        self.planes = np.arange(135 * STRIDE, dtype=np.uint32).astype(np.uint8).reshape(135, STRIDE)
        self.mapped_array = create_autospec(picamera2.MappedArray)
        self.mapped_array.return_value.__enter__.return_value = MagicMock(array=self.planes)
        self.opened = 0

    def _metadata(self, wait: float) -> dict[str, float]:
        assert wait == 2.0
        return self.metadata

    def open(self) -> Any:
        self.opened += 1
        return self.camera


@pytest.fixture
def pi(picamera2: Any) -> Pi:
    return Pi(picamera2)


def a_camera(pi: Pi, optics: OpticsSettings = OPTICS) -> PiCamera:
    return PiCamera(pi.open, pi.mapped_array, optics)


def test_a_wrong_call_fails_because_the_class_is_the_real_one(pi: Pi) -> None:
    with pytest.raises(TypeError):
        pi.camera.capture_array(flush=True)


def test_the_picture_is_the_grey_plane_without_the_padding_of_its_rows(pi: Pi) -> None:
    (page,) = a_camera(pi).capture(AT_REST_US)
    assert page.shape == (90, 120)
    assert np.array_equal(page, pi.planes[:90, :120])
    assert not np.shares_memory(page, pi.planes)


def test_the_picture_is_asked_for_from_after_the_sheet_came_to_rest(pi: Pi) -> None:
    a_camera(pi).capture(AT_REST_US)
    pi.camera.captured_request.assert_called_once_with(wait=2.0, flush=AT_REST_US * 1000)


def test_exposure_gain_and_colour_are_fixed_before_the_camera_starts(pi: Pi) -> None:
    a_camera(pi)
    arguments = pi.camera.create_still_configuration.call_args.kwargs
    assert arguments["main"] == {"format": "YUV420", "size": (120, 90)}
    assert arguments["queue"] is False
    controls = arguments["controls"]
    assert (controls["AeEnable"], controls["AwbEnable"]) == (False, False)
    assert (controls["ExposureTime"], controls["AnalogueGain"]) == (4000, 1.5)
    assert set(controls) <= set(CONTROLS), "a control that this camera does not have is not given to it"


def test_a_camera_that_gives_another_size_than_asked_is_refused(pi: Pi) -> None:
    with pytest.raises(OperatorError, match="instead of YUV420 240 x 90"):
        a_camera(pi, replace(OPTICS, width=240))


def test_a_camera_that_cannot_fix_its_exposure_is_refused(pi: Pi) -> None:
    del pi.camera.camera_controls["ExposureTime"]
    with pytest.raises(OperatorError, match="cannot fix its ExposureTime"):
        a_camera(pi)


def test_a_camera_that_never_takes_the_exposure_is_refused(pi: Pi) -> None:
    pi.metadata["ExposureTime"] = 9000
    with pytest.raises(OperatorError, match="does not take the exposure"):
        a_camera(pi)


def test_a_picture_from_before_the_sheet_came_to_rest_is_a_camera_fault(pi: Pi) -> None:
    camera = a_camera(pi)
    pi.metadata["SensorTimestamp"] -= 1_000_000
    with pytest.raises(CameraFault, match="before the sheet came to rest"):
        camera.capture(AT_REST_US)


def test_a_picture_without_a_time_is_a_camera_fault(pi: Pi) -> None:
    camera = a_camera(pi)
    del pi.metadata["SensorTimestamp"]
    with pytest.raises(CameraFault, match="before the sheet came to rest"):
        camera.capture(AT_REST_US)


def test_the_same_picture_twice_is_a_camera_fault(pi: Pi) -> None:
    camera = a_camera(pi)
    camera.capture(AT_REST_US)
    with pytest.raises(CameraFault, match="the same picture twice"):
        camera.capture(AT_REST_US)
    pi.planes[0, 0] ^= 1
    assert len(camera.capture(AT_REST_US)) == 1


def test_a_picture_of_another_exposure_is_a_camera_fault(pi: Pi) -> None:
    camera = a_camera(pi)
    pi.metadata["AnalogueGain"] = 2.0
    with pytest.raises(CameraFault, match="exposure is not the one"):
        camera.capture(AT_REST_US)


def test_a_camera_that_hangs_is_opened_anew_for_the_next_sheet(pi: Pi) -> None:
    camera = a_camera(pi)
    pi.camera.captured_request.side_effect = TimeoutError
    with pytest.raises(CameraFault, match="no picture in time"):
        camera.capture(AT_REST_US)
    pi.camera.stop.assert_called_once_with()
    pi.camera.captured_request.side_effect = None
    assert len(camera.capture(AT_REST_US)) == 1
    assert pi.opened == 2


def test_without_picamera2_the_device_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "picamera2", None)
    with pytest.raises(OperatorError, match="apt install python3-picamera2"):
        open_picamera(OPTICS)


def test_a_picamera2_that_was_compiled_against_an_older_numpy_is_told_as_too_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "numpy.dtype size changed, may indicate binary incompatibility"
    (tmp_path / "picamera2.py").write_text(f'raise ValueError("{said}")')
    monkeypatch.delitem(sys.modules, "picamera2", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(OperatorError, match=r"picamera2 is too old .* use Raspberry Pi OS trixie or newer"):
        open_picamera(OPTICS)


def test_without_a_camera_the_device_says_so(picamera2: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "picamera2", picamera2)
    monkeypatch.setattr(picamera2, "Picamera2", MagicMock(side_effect=IndexError("list index out of range")))
    with pytest.raises(OperatorError, match="no camera is found"):
        open_picamera(OPTICS)
