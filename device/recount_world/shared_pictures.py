"""The cameras' pictures in memory that world and station share: they are too large for the socket.

The world lays them down and hands the memory's descriptor over with its answer; the station takes a copy.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recount_world.errors import CallError

Page = NDArray[np.uint8]


class PictureMemory:
    """The world's end."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("pictures")

    def lay(self, pages: Sequence[Page]) -> list[dict[str, int]]:
        """Lay pictures down over those before; return where each one lies."""
        places: list[dict[str, int]] = []
        start = 0
        for page in pages:
            os.pwrite(self.descriptor, np.ascontiguousarray(page).reshape(-1).data, start)
            places.append({"width": page.shape[1], "height": page.shape[0], "start": start})
            start += page.size
        return places

    def close(self) -> None:
        """Give the memory back."""
        os.close(self.descriptor)


def picture_at(descriptor: int, place: Mapping[str, Any]) -> Page:
    """Return a copy of a picture in the memory. Raises CallError where it does not lie there whole."""
    page = np.empty((int(place["height"]), int(place["width"])), np.uint8)
    if os.preadv(descriptor, [page.reshape(-1).data], int(place["start"])) != page.size:
        raise CallError("the simulated camera's picture is not whole")
    return page
