"""The classifier is tested as the device runs it: in one thread."""

from collections.abc import Iterator

import cv2
import pytest


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Let OpenCV use one thread: two test processes share the machine, and each reading is a device's."""
    threads = cv2.getNumThreads()
    cv2.setNumThreads(1)
    yield
    cv2.setNumThreads(threads)
