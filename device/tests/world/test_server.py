"""The world's socket: one station, any controls; robust against whatever they send, and whenever they die."""

import socket
import struct
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import cast

import msgpack
import numpy as np
import pytest
import serial

from device.tests.world.bench import Worlds, feeds, some_sheets
from recount_world.board import Answer, Request
from recount_world.calls import CALLS
from recount_world.client import WorldClient, control
from recount_world.errors import CallError, ScriptError, WorldGone
from recount_world.server import Server

Served = Callable[..., Path]
FAR_US = 60_000_000


def echoes() -> Generator[Request, Answer, None]:
    """Play a board that sends back what it receives."""
    answer = yield Request()
    while True:
        answer = yield Request(sent=answer.received, wait_us=1_000_000)


@pytest.fixture
def served(a_world: Worlds, tmp_path: Path) -> Generator[Served, None, None]:
    """Return a starter of served worlds, which gives the socket's path."""
    running: list[tuple[Server, threading.Thread]] = []

    def start(*args: object, **settings: object) -> Path:
        path = tmp_path / f"{len(running)}.sock"
        server = Server(a_world(*args, **settings), path)
        thread = threading.Thread(target=server.serve)
        thread.start()
        running.append((server, thread))
        return path

    yield start
    for server, thread in running:
        server.stop()
        thread.join()


def test_a_station_lets_time_run_by_waiting(served: Served) -> None:
    with WorldClient(served()) as station:
        assert station.wait(FAR_US).now_us == FAR_US
        assert station.now_us() == FAR_US


def test_time_stands_still_while_the_station_computes(served: Served) -> None:
    path = served(feeds([0] * 5), some_sheets(5))
    with WorldClient(path) as station, control(path) as people:
        station.wait(1_000_000)
        moments = {people.now_us() for _ in range(20)}
    assert moments == {1_000_000}


def test_bytes_come_back_over_the_port_counted_both_ways(served: Served) -> None:
    with (
        WorldClient(served(echoes)) as station,
        serial.Serial(station.open_feeder(), 460800, timeout=0) as port,
    ):
        station.wait(1_000_000, 0)
        port.write(b"hello")
        waited = station.wait(2_000_000, 5)
        assert waited.readable == 5
        assert 1_000_000 < waited.now_us < 1_001_000
        assert port.read(waited.readable) == b"hello"
        assert station.wait(3_000_000, 5).readable == 0


def test_a_wait_for_bytes_that_were_never_written_is_refused(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recount_world.port.PATIENCE_S", 0.05)
    with WorldClient(served()) as station:
        station.open_feeder()
        with pytest.raises(CallError, match="only 0 bytes came"):
            station.wait(FAR_US, 7)
        assert station.wait(1000, 0).now_us >= 1000


def test_a_wait_ends_with_a_button_and_names_it_once(served: Served) -> None:
    path = served()
    with WorldClient(path) as station, control(path) as people:
        people.press("start")
        people.press("end_batch")
        assert station.wait(FAR_US).buttons == ("start", "end_batch")
        assert station.wait(FAR_US).buttons == ()


def test_another_thread_can_wake_a_waiting_station(served: Served) -> None:
    # In real pace the world would need an hour to get there.
    with WorldClient(served(pace="real")) as station:
        threading.Timer(0.1, station.wake).start()
        assert station.wait(3_600_000_000).now_us < 60_000_000


def test_a_second_station_is_refused_and_a_dead_ones_place_is_free(served: Served) -> None:
    path = served()
    first = WorldClient(path)
    with pytest.raises(CallError, match="a station is connected"):
        WorldClient(path)
    first.close()
    with WorldClient(path) as second:
        assert second.wait(FAR_US).now_us == FAR_US


def test_paper_stays_where_it_is_when_the_station_dies(served: Served) -> None:
    path = served(feeds([None]), some_sheets(2))
    station = WorldClient(path)
    station.open_feeder()
    station.panel("feeding", "Feeding.")
    station.wait(3_000_000, 0)
    station.close()
    with control(path) as people:
        assert people.positions()["path"] == ["1"]
        assert people.shown() == {}
    with WorldClient(path) as again:
        assert again.wait(4_000_000).now_us == 4_000_000


def test_the_picture_comes_as_arrays_of_rows(served: Served) -> None:
    with WorldClient(served()) as station:
        above, below = station.capture().sides
    assert above.dtype == np.uint8
    assert above.shape == below.shape


def test_controls_move_paper_by_hand(served: Served) -> None:
    path = served(sheets=some_sheets(3))
    with control(path) as people:
        people.move("1", "counted", from_="hopper")
        people.insert({"id": "extra"}, "counted")
        people.insert("2", "exit_set_aside")
        assert people.take_out("counted", "1") == ["1"]
        people.load(["1", {"id": "new"}])
        with WorldClient(path) as station:
            station.wait(3_000_000)
        positions = people.positions()
    assert positions["hopper"] == ["1", "new", "3"]
    assert positions["counted"] == ["extra"]
    assert positions["set_aside"] == ["2"]


def test_controls_change_what_ails_the_machine(served: Served) -> None:
    path = served(sheets=some_sheets(1))
    with control(path) as people:
        people.set(blind_double_feed=True, cover_open=True, stuck={"ENTRY": 1})
        people.fault(kind="jam", sheet="1", at_mm=100)
        for settings, complaint in (
            ({"gravity": 1}, "no setting"),
            ({"cover_open": 1}, "true or false"),
            ({"stuck": {"NOSE": 1}}, "stuck must map"),
        ):
            with pytest.raises(CallError, match=complaint):
                people.set(**settings)
        with pytest.raises(CallError, match="kind must be one of"):
            people.fault(kind="flood")


@pytest.mark.parametrize(
    ("name", "given", "complaint"),
    [
        ("press", ("self_destruct",), "no button"),
        ("move", ("9", "counted"), "no sheet"),
        ("move", ("1", "moon"), "no place"),
        ("move", ("1", "path"), "into the path"),
        ("move", ("1", "counted", "operator"), "not in operator"),
        ("load", ([{"id": "1"}],), "already"),
        ("load", (["9"],), "no sheet"),
        ("load", ([{"id": "2", "front": "/no/such.png"}],), "no image"),
        ("load", ([{"id": "2"}, {"id": "2"}],), "twice"),
        ("insert", ("1", "path"), "insert a sheet at"),
        ("take_out", ("counted", "1"), "no sheet '1' in counted"),
        ("wait", (5,), "wait is a call of the station"),
    ],
)
def test_a_call_that_does_not_fit_the_world_is_refused_and_changes_nothing(
    served: Served, name: str, given: tuple[object, ...], complaint: str
) -> None:
    with control(served(sheets=some_sheets(1))) as people:
        before = people.positions()
        with pytest.raises(CallError, match=complaint):
            getattr(people, name)(*given)
        assert people.positions() == before


def packed(value: object) -> bytes:
    return cast("bytes", msgpack.packb(value))


def frames(path: Path, *bodies: bytes) -> list[dict[str, object]]:
    """Send raw frames and return the answers until the world closes or has answered each."""
    answers: list[dict[str, object]] = []
    with socket.socket(socket.AF_UNIX) as raw:
        raw.settimeout(10)
        raw.connect(str(path))
        for body in bodies:
            raw.sendall(struct.pack(">I", len(body)) + body)
            header = raw.recv(4, socket.MSG_WAITALL)
            answers.append(msgpack.unpackb(raw.recv(struct.unpack(">I", header)[0], socket.MSG_WAITALL)))
    return answers


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xc1",
        packed(7),
        packed({1: 2}),
        packed({"call": "wait"}),
        packed({"call": 3}),
        packed({"call": "join"}),
        packed({"call": "join", "role": "king"}),
        packed({"call": "join", "role": "control", "more": 1}),
    ],
)
def test_a_bad_frame_is_answered_with_an_error_and_the_connection_goes_on(
    served: Served, body: bytes
) -> None:
    bad, good = frames(served(), body, packed({"call": "join", "role": "control"}))
    assert "error" in bad
    assert good["ok"] is True


def test_an_endless_frame_ends_only_its_own_connection(served: Served) -> None:
    path = served()
    with socket.socket(socket.AF_UNIX) as raw:
        raw.connect(str(path))
        raw.sendall(b"\xff" * 64)
        answer = b"".join(iter(lambda: raw.recv(4096), b""))
    assert b"is longer than" in answer
    with control(path) as people:
        assert people.now_us() >= 0


@pytest.mark.parametrize("name", sorted(CALLS))
def test_every_call_refuses_fields_of_a_wrong_type(served: Served, name: str) -> None:
    role = "station" if CALLS[name].role == "station" else "control"
    join = packed({"call": "join", "role": role})
    wrong = {"call": name, **dict.fromkeys(CALLS[name].fields, 1.5), "unknown": 1}
    _, answer = frames(served(), join, packed(wrong))
    assert "error" in answer


def test_a_world_at_the_same_socket_is_refused(served: Served, a_world: Worlds) -> None:
    path = served()
    with pytest.raises(ScriptError, match="cannot be used"):
        Server(a_world(), path)


def test_a_socket_left_over_from_a_killed_world_is_replaced(a_world: Worlds, tmp_path: Path) -> None:
    path = tmp_path / "old.sock"
    left_over = socket.socket(socket.AF_UNIX)
    left_over.bind(str(path))
    left_over.close()
    server = Server(a_world(), path)
    server.stop()
    server.serve()
    assert not path.exists()


def test_without_a_world_the_client_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(WorldGone, match="recount-device simulate"):
        WorldClient(tmp_path / "none.sock")


def test_a_station_that_hangs_stops_time_only_so_long(served: Served) -> None:
    path = served(patience_s=0.1)
    with WorldClient(path), control(path) as people:
        before = people.now_us()
        while people.now_us() == before:
            pass
