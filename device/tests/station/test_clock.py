"""The kernel's clock: what ends a wait."""

import os
import threading
from collections.abc import Iterator

import pytest

from recount_device.clock import MonotonicClock

LONG_US = 20_000_000


class Pipe:
    """A port whose bytes lie in a pipe."""

    def __init__(self) -> None:
        self.near, self.far = os.pipe()
        self.written_bytes = 0

    def fileno(self) -> int:
        return self.near

    def in_waiting(self) -> int:
        return 5

    def close(self) -> None:
        os.close(self.near)
        os.close(self.far)


class Closed:
    """A port that is not open."""

    written_bytes = 0

    def fileno(self) -> int:
        return -1

    def in_waiting(self) -> int:
        return 0


@pytest.fixture
def clock() -> Iterator[MonotonicClock]:
    clock = MonotonicClock()
    yield clock
    clock.close()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.close()


def test_a_wait_ends_at_its_moment(clock: MonotonicClock, pipe: Pipe) -> None:
    until_us = clock.now_us() + 2000
    clock.wait(pipe, until_us)
    assert clock.now_us() >= until_us


def test_a_moment_that_has_passed_does_not_wait(clock: MonotonicClock) -> None:
    assert clock.wait(Closed(), clock.now_us() - 1) == 0


def test_bytes_end_a_wait(clock: MonotonicClock, pipe: Pipe) -> None:
    os.write(pipe.far, b"hello")
    began_us = clock.now_us()
    assert clock.wait(pipe, began_us + LONG_US) == 5
    assert clock.now_us() - began_us < LONG_US // 2


def test_a_press_in_another_thread_ends_a_wait(clock: MonotonicClock, pipe: Pipe) -> None:
    began_us = clock.now_us()
    thread = threading.Thread(target=clock.wake)
    thread.start()
    clock.wait(pipe, began_us + LONG_US)
    thread.join()
    assert clock.now_us() - began_us < LONG_US // 2


def test_many_presses_do_not_block(clock: MonotonicClock) -> None:
    for _ in range(100_000):
        clock.wake()
    clock.wait(Closed(), clock.now_us() + LONG_US)
