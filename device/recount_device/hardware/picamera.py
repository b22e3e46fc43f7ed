"""The Raspberry Pi's camera through picamera2, with everything about a picture fixed.

The only file that imports picamera2, and only when the camera is opened. One camera object and one mode for
the life of the process: switching modes and reopening is what fails in the field. The grey picture is the Y
plane of YUV420, copied out without conversion. A picture is taken from an exposure that began after the sheet
came to rest (`flush`), with the exposure and gain that were asked for; whatever else comes is a CameraFault,
and the sheet goes back.
"""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recount_device.camera import Page
from recount_device.config import OpticsSettings
from recount_device.errors import CameraFault, OperatorError

FORMAT = "YUV420"
BUFFERS = 2
SETTLING_FRAMES = 30
"""Frames that may pass until the camera reports the exposure it was given."""
EXPOSURE_TOLERANCE = 0.02
"""Sensors count exposure in lines: a picture may differ by so much from what was asked."""


class PiCamera:
    """The device's camera, open and running."""

    def __init__(self, open_camera: Callable[[], Any], mapped_array: Any, optics: OpticsSettings) -> None:
        """Open, configure and start the camera; raises OperatorError where it does not obey.

        `open_camera` gives a Picamera2, `mapped_array` is picamera2's MappedArray.
        """
        self._open_camera = open_camera
        self._mapped_array = mapped_array
        self._optics = optics
        self._controls: dict[str, Any] = {}
        self._camera: Any = None
        self._last = b""
        """SHA-256 of the picture before."""
        self._start()

    def _running(self) -> Any:
        """Return the camera, started anew if it had to be given up."""
        if self._camera is None:
            self._start()
        return self._camera

    def _start(self) -> None:
        self._camera = self._open_camera()
        self._controls = self._allowed(_controls(self._optics))
        self._configure()
        self._camera.start()
        self._settle()

    def _allowed(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Return the controls that this camera has; exposure and gain it must have."""
        has = self._camera.camera_controls
        for name in ("ExposureTime", "AnalogueGain"):
            if name not in has:
                raise OperatorError(f"the camera cannot fix its {name}: use a camera that can")
        return {name: value for name, value in wanted.items() if name in has}

    def _configure(self) -> None:
        size = (self._optics.width, self._optics.height)
        configuration = self._camera.create_still_configuration(
            main={"format": FORMAT, "size": size},
            raw=None,
            buffer_count=BUFFERS,
            queue=False,
            display=None,
            controls=self._controls,
        )
        self._camera.configure(configuration)
        # What was asked for is sometimes silently given otherwise.
        main = self._camera.camera_configuration()["main"]
        if (main["format"], tuple(main["size"])) != (FORMAT, size):
            raise OperatorError(
                f"the camera gives {main['format']} {main['size'][0]} x {main['size'][1]} instead of "
                f"{FORMAT} {size[0]} x {size[1]}: set optics.width and optics.height to what it can give"
            )

    def _settle(self) -> None:
        for _ in range(SETTLING_FRAMES):
            if self._is_as_asked(self._camera.capture_metadata(wait=self._wait_s)):
                return
        raise OperatorError("the camera does not take the exposure and gain of [optics]")

    @property
    def _wait_s(self) -> float:
        return self._optics.wait_ms / 1000

    def _is_as_asked(self, metadata: Mapping[str, Any]) -> bool:
        exposure_us, gain = metadata.get("ExposureTime", 0), metadata.get("AnalogueGain", 0.0)
        wanted_us, wanted_gain = self._controls["ExposureTime"], self._controls["AnalogueGain"]
        return (
            abs(exposure_us - wanted_us) <= EXPOSURE_TOLERANCE * wanted_us
            and abs(gain - wanted_gain) <= EXPOSURE_TOLERANCE * wanted_gain
        )

    def capture(self, after_us: int) -> Sequence[Page]:
        """Return the grey picture whose exposure began after `after_us` of CLOCK_MONOTONIC.

        Raises CameraFault where none comes in time, or one that is not as asked.
        """
        try:
            with self._running().captured_request(wait=self._wait_s, flush=after_us * 1000) as request:
                metadata = request.get_metadata()
                page = self._grey(request)
        except TimeoutError:
            self.close()  # the request stays queued and would answer the next one; a new start forgets it
            raise CameraFault("the camera gave no picture in time") from None
        except OperatorError as error:
            self.close()
            raise CameraFault(f"the camera does not start again: {error}") from None
        except (RuntimeError, OSError, KeyError) as error:
            raise CameraFault(f"the camera failed: {error}") from None
        if not self._is_as_asked(metadata):
            raise CameraFault("the picture's exposure is not the one that was asked for")
        if metadata.get("SensorTimestamp", 0) - 1000 * metadata["ExposureTime"] < after_us * 1000:
            raise CameraFault("the picture was exposed before the sheet came to rest")
        # No sensor gives the very same noise twice: such a picture is of the sheet before, whatever its time.
        before, self._last = self._last, sha256(page.tobytes()).digest()
        if self._last == before:
            raise CameraFault("the camera gave the same picture twice")
        return [page]

    def _grey(self, request: Any) -> NDArray[np.uint8]:
        """Return a copy of the Y plane without the padding of its rows; the plane dies with the request."""
        with self._mapped_array(request, "main", write=False) as mapped:
            rows: NDArray[np.uint8] = mapped.array
            return np.array(rows[: self._optics.height, : self._optics.width], dtype=np.uint8)

    def close(self) -> None:
        """Stop the camera and give it back."""
        camera, self._camera = self._camera, None
        if camera is not None:
            camera.stop()
            camera.close()


def _controls(optics: OpticsSettings) -> dict[str, Any]:
    return {
        "AeEnable": False,
        "AwbEnable": False,
        "ExposureTime": optics.exposure_us,
        "AnalogueGain": optics.gain_hundredths / 100,
        "ColourGains": (1.0, 1.0),
        "FrameDurationLimits": (optics.frame_us, optics.frame_us),
        "NoiseReductionMode": 0,  # libcamera draft.NoiseReductionModeEnum.Off
        "AfMode": 0,  # libcamera AfModeEnum.Manual
        "LensPosition": optics.lens_position_hundredths / 100,
    }


def open_picamera(optics: OpticsSettings) -> PiCamera:
    """Open the first camera; raises OperatorError where picamera2 or a camera is missing."""
    try:
        import picamera2  # noqa: PLC0415  only a Raspberry Pi has it
    except ImportError as error:
        raise OperatorError(f"the camera needs picamera2 ({error}): apt install python3-picamera2") from None
    except ValueError as error:
        # Bookworm's was compiled against NumPy 1, and fails so over newer ones (picamera2, issue 1211)
        raise OperatorError(
            f"this system's picamera2 is too old ({error}): use Raspberry Pi OS trixie or newer"
        ) from None

    def open_camera() -> Any:
        try:
            return picamera2.Picamera2(0)
        except (IndexError, RuntimeError) as error:
            raise OperatorError(f"no camera is found ({error}): check its cable") from None

    return PiCamera(open_camera, picamera2.MappedArray, optics)
