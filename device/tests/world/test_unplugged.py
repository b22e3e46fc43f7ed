"""The feeder's cable is pulled out of the station, and comes back as another serial port."""

import threading
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from recount_device.feeder_link import Connected, FeederEvent, FeederLink, Gone
from recount_device.simulator import SimulatedDevice, connect
from recount_world.board_process import BoardProcess
from recount_world.client import WorldClient, control
from recount_world.errors import WorldGone
from recount_world.script import Script
from recount_world.server import Server
from recount_world.world import World


class Table:
    """A simulated device with a station's clock and feeder link."""

    def __init__(self, device: SimulatedDevice, people: WorldClient) -> None:
        self.device = device
        self.people = people
        self.ports: list[str] = []
        self.heard: list[FeederEvent] = []
        self.link = FeederLink(device.clock, self._find)
        self._readable = 0

    def _find(self) -> str:
        self.ports.append(self.device.open_feeder())
        return self.ports[-1]

    def until(self, done: Callable[[], bool], for_us: int = 5_000_000) -> None:
        """Let the link work until something is so."""
        end_us = self.device.clock.now_us() + for_us
        while True:
            self.heard += self.link.poll(self._readable)
            self.link.flush()
            self._readable = 0
            if done():
                return
            assert self.device.clock.now_us() < end_us, self.heard
            self._readable = self.device.clock.wait(self.link, min(end_us, self.link.next_deadline_us()))

    def words(self) -> list[str]:
        """Return why the board was gone, each time."""
        return [event.why for event in self.heard if isinstance(event, Gone)]


@pytest.fixture
def table(tmp_path: Path, micropython: str) -> Generator[Table, None, None]:
    (tmp_path / "flash").mkdir()
    world = World(Script(operator="none"), BoardProcess(tmp_path / "flash"))
    server = Server(world, tmp_path / "world.sock")
    thread = threading.Thread(target=server.serve)
    thread.start()
    device = connect(tmp_path / "world.sock")
    try:
        with control(tmp_path / "world.sock") as people:
            table = Table(device, people)
            yield table
            table.link.close()
    finally:
        device.close()
        server.stop()
        thread.join()
        world.close()


def test_a_cable_pulled_out_is_a_lost_port_and_is_found_again_under_another_name(table: Table) -> None:
    table.until(lambda: table.link.connected)
    table.people.fault(kind="cable_unplugged", at_s=table.people.now_us() / 1e6 + 0.3, for_s=1.2)
    table.until(lambda: bool(table.words()))
    pulled_us = table.device.clock.now_us()
    table.until(lambda: sum(isinstance(event, Connected) for event in table.heard) == 2)
    assert 1_200_000 <= table.device.clock.now_us() - pulled_us < 2_500_000
    assert len(table.ports) == 2
    assert table.ports[0] != table.ports[1]
    assert "is gone" in table.words()[0]
    assert any("plugged into no port" in why for why in table.words())
    boots = {event.boot for event in table.heard if isinstance(event, Connected)}
    assert len(boots) == 1  # the board itself never lost its power


def test_a_power_cut_takes_board_and_station_at_once(table: Table, tmp_path: Path) -> None:
    table.until(lambda: table.link.connected)
    table.people.fault(kind="power_cut", at_s=table.people.now_us() / 1e6 + 0.2)
    with pytest.raises(Exception, match="simulated device"):
        table.until(lambda: False)
    with pytest.raises(WorldGone):
        WorldClient(tmp_path / "none.sock")
    # The power is back: a station that is started anew finds the board, which started anew too.
    device = connect(tmp_path / "world.sock")
    again = Table(device, table.people)
    again.until(lambda: again.link.connected)
    first = {event.boot for event in table.heard if isinstance(event, Connected)}
    assert first.isdisjoint(event.boot for event in again.heard if isinstance(event, Connected))
    again.link.close()
    device.close()
