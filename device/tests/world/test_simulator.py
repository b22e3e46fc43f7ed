"""The station's ends of a simulated world: what a world that is gone looks like from there."""

import threading
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from device.tests.world.bench import Worlds, some_sheets
from recount_device.errors import CameraFault, OperatorError
from recount_device.panel import Message
from recount_device.simulator import SimulatedDevice, connect
from recount_world.server import Server


class NoPort:
    """A port that is not open."""

    written_bytes = 0

    def fileno(self) -> int:
        return -1

    def in_waiting(self) -> int:
        return 0


Ending = Callable[[], None]


@pytest.fixture
def device(a_world: Worlds, tmp_path: Path) -> Generator[tuple[SimulatedDevice, Ending], None, None]:
    """Yield the ends of a served world, and what ends the world."""
    server = Server(a_world(sheets=some_sheets(1)), tmp_path / "w.sock")
    thread = threading.Thread(target=server.serve)
    thread.start()

    def end() -> None:
        server.stop()
        thread.join()

    ends = connect(tmp_path / "w.sock")
    yield ends, end
    ends.close()
    end()


def test_the_clock_stands_still_between_two_waits(device: tuple[SimulatedDevice, Ending]) -> None:
    ends, _ = device
    assert ends.clock.wait(NoPort(), 5000) == 0
    assert ends.clock.now_us() == ends.clock.now_us() == 5000


def test_the_camera_takes_no_picture_of_the_past_for_the_future(
    device: tuple[SimulatedDevice, Ending],
) -> None:
    ends, _ = device
    assert len(ends.camera.capture(0)) == 2
    with pytest.raises(CameraFault, match="too early"):
        ends.camera.capture(1_000_000)


def test_a_world_that_is_gone_is_one_line_for_the_operator(device: tuple[SimulatedDevice, Ending]) -> None:
    ends, end = device
    end()
    for act in (
        lambda: ends.clock.wait(NoPort(), 5000),
        lambda: ends.camera.capture(0),
        lambda: ends.panel.show(Message("idle", "Idle.")),
        ends.open_feeder,
    ):
        with pytest.raises(OperatorError, match="simulated device"):
            act()
    ends.clock.wake()


def test_no_world_at_the_socket_is_one_line_too(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="recount-device simulate"):
        connect(tmp_path / "none.sock")
