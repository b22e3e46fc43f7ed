"""The camera's seam: what the station needs of a camera, and what a camera may say when it fails."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recount_device.errors import CameraFault

Page = NDArray[np.uint8]
"""One side of the sheet, grey, rows by columns."""

MIN_SIDE_PIXELS = 64
MAX_SIDE_PIXELS = 12_000


class Camera(Protocol):
    """Takes grey pictures of the sheet that rests under it."""

    def capture(self, after_us: int) -> Sequence[Page]:
        """Return one picture a side (front first), exposed after `after_us` of the station's clock.

        Raises CameraFault where no such picture can be had; the sheet then goes back to the operator.
        """
        ...

    def close(self) -> None:
        """Give the camera back."""
        ...


def check_pages(pages: Sequence[Page]) -> None:
    """Raise CameraFault unless these are one or two grey pictures of a possible size."""
    if len(pages) not in (1, 2):
        raise CameraFault(f"the camera gave {len(pages)} pictures of one sheet")
    for page in pages:
        if page.dtype != np.uint8 or page.ndim != 2:
            raise CameraFault(f"the camera gave a picture of type {page.dtype} with {page.ndim} dimensions")
        if not all(MIN_SIDE_PIXELS <= side <= MAX_SIDE_PIXELS for side in page.shape):
            raise CameraFault(f"the camera gave a picture of {page.shape[1]} x {page.shape[0]} pixels")
