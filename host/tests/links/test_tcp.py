"""Real sockets on this machine: many devices at once, one writer, acknowledged only what is on disk."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from host.tests.enrolling import revoke
from host.tests.links.collecting_host import Host
from host.tests.links.stand_in import StandIn, run_over_tcp
from host.tests.links.table import a_device
from recount_host.errors import OperatorError
from recount_host.ledger.checkers import MANY
from recount_host.links import tcp_link
from recount_host.links.session import DeviceSession
from recount_host.links.tcp_link import listen


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path)
    yield host
    host.close()


def send_all(device: StandIn, port: int) -> None:
    wanted = len(device.journal)
    assert run_over_tcp(device.connect(), port, lambda: device.acknowledged_n == wanted), device.refused


def test_a_device_delivers_its_records_and_crops_over_a_real_socket(host: Host) -> None:
    device = host.a_device()
    for sheet in range(1, 6):
        device.write_set_aside(sheet, bytes([sheet]) * 50_000, run="run-1", batch=1)
    assert run_over_tcp(device.connect(), host.port, lambda: len(device.crops_taken) == 5)
    assert [stored.data for stored in host.ledger.stored_records()] == [data for data, _ in device.journal]
    assert host.ledger.next_crop_n(device.device) == 0


def test_sixty_four_devices_at_once_are_acknowledged_quickly_and_nothing_is_mixed_up(host: Host) -> None:
    devices = [host.a_device(f"device-{seed}", seed) for seed in range(1, 65)]
    for device in devices:
        for number in range(20):
            device.write_fault(f"{device.name} {number}")
    threads = [threading.Thread(target=send_all, args=(device, host.port)) for device in devices]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for device in devices:
        kept = host.ledger.records(device.device)
        assert [record.body["word"] for record in kept] == [f"{device.name} {n}" for n in range(20)]
    assert not host.failed.is_set()


def test_a_broken_connection_costs_nothing(host: Host) -> None:
    device = host.a_device()
    for number in range(200):
        device.write_fault(f"fault-{number}")
    for part in (30, 60, 120):
        assert run_over_tcp(device.connect(), host.port, lambda part=part: device.acknowledged_n >= part)
    send_all(device, host.port)
    assert [record.n for record in host.ledger.records()] == list(range(1, 201))


def test_a_device_that_connects_anew_takes_the_place_of_its_old_connection(host: Host) -> None:
    device = host.a_device()
    old = device.connect()
    welcomed = threading.Event()

    def hold() -> None:
        run_over_tcp(old, host.port, lambda: _note(welcomed, bool(device.heard)) and old.over)

    thread = threading.Thread(target=hold)
    thread.start()
    assert welcomed.wait(20)
    twin = StandIn(device.name, device.key)
    assert run_over_tcp(twin.connect(), host.port, lambda: bool(twin.heard))
    thread.join(20)
    assert not thread.is_alive(), "the old connection was closed"


def test_two_devices_that_take_turns_with_one_key_are_both_turned_away_and_shown(host: Host) -> None:
    """A copied card in a second device: each takes the other's place, until both are known to run."""
    device = host.a_device()
    first, second = device.connect(), device.connect()
    for connection in (first, second):
        assert run_over_tcp(connection, host.port, lambda: bool(device.heard))
        device.heard.clear()
    again = device.connect()
    again.boot, again.nonce = first.boot, bytes(32)
    run_over_tcp(again, host.port, lambda: device.refused != "")
    assert "two devices take turns with its key" in device.refused
    assert [refusal.why for refusal in host.ledger.refusals()] == ["two devices take turns with its key"]
    device.refused = ""
    run_over_tcp(device.connect(), host.port, lambda: device.refused != "")
    assert "its key is in two places" in device.refused


def test_a_device_is_turned_away_at_the_moment_it_is_revoked(host: Host) -> None:
    device = host.a_device()
    connection = device.connect()
    welcomed = threading.Event()

    def hold() -> None:
        run_over_tcp(
            connection, host.port, lambda: _note(welcomed, bool(device.heard)) and device.refused != ""
        )

    thread = threading.Thread(target=hold)
    thread.start()
    assert welcomed.wait(20)
    revoke(host.ledger, device.name, device.public_key, "seal broken")
    thread.join(20)
    assert "it was revoked here (seal broken)" in device.refused


def _note(event: threading.Event, happened: bool) -> bool:
    if happened:
        event.set()
    return happened


def test_a_duty_reaches_the_device_while_it_is_connected(host: Host) -> None:
    device = host.a_device()
    host.duties[device.device] = (("close_run", {"run": "run-1"}),)
    heard = lambda: any(kind == "close_run" for kind, _ in device.heard)  # noqa: E731
    assert run_over_tcp(device.connect(), host.port, heard)


def test_the_live_board_shows_who_is_connected(host: Host) -> None:
    device = host.a_device()
    connection = device.connect()
    connection.say("feeding", "Feeding batch 1.")

    def is_shown() -> bool:
        entry = host.board.of(device.device)
        return entry is not None and entry.state == "feeding"

    assert run_over_tcp(connection, host.port, is_shown)
    entry = host.board.of(device.device)
    assert entry is not None
    assert (entry.name, entry.link) == ("device-1", "tcp 127.0.0.1")
    assert wait_for(lambda: not host.board.devices()[0].connected)


def test_a_stranger_does_not_cover_the_device_whose_name_it_uses(host: Host) -> None:
    device, thief = host.a_device("device-1", 1), a_device("device-1", 2)
    assert run_over_tcp(device.connect(), host.port, lambda: bool(device.heard))
    run_over_tcp(thief.connect(), host.port, lambda: thief.refused != "")
    assert wait_for(lambda: len(host.board.devices()) == 2)
    true, false = sorted(host.board.devices(), key=lambda entry: entry.problem)
    assert (true.device, true.problem) == (device.device, "")
    assert false.device == ""
    assert "another key" in false.problem


def test_connections_that_say_nothing_keep_no_device_out(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp_link, "MAX_CONNECTIONS", 3)
    device = host.a_device()
    device.write_fault("jam")
    with ExitStack() as open_all:
        for _ in range(5):
            open_all.enter_context(socket.create_connection(("127.0.0.1", host.port)))
        send_all(device, host.port)


def test_a_device_that_is_welcomed_gives_its_place_to_nobody(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tcp_link, "MAX_CONNECTIONS", 1)
    device = host.a_device()
    turned_away: list[bytes] = []

    def try_another() -> bool:
        if device.heard and not turned_away:
            with socket.create_connection(("127.0.0.1", host.port)) as stranger:
                stranger.settimeout(20)
                turned_away.append(stranger.recv(1))
            device.write_fault("jam")
        return device.acknowledged_n == 1

    assert run_over_tcp(device.connect(), host.port, try_another)
    assert turned_away == [b""]


def test_a_port_scanner_is_no_device(host: Host) -> None:
    with socket.create_connection(("127.0.0.1", host.port)) as scanner:
        scanner.sendall(b"GET / HTTP/1.1\r\n\r\n" * 5_000)
    device = host.a_device()
    device.write_fault("jam")
    send_all(device, host.port)
    assert [entry.name for entry in host.board.devices()] == ["device-1"]


def test_a_port_in_use_gives_one_sentence() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(OperatorError, match="for the devices cannot be opened \\(it is in use\\)"):
            listen("127.0.0.1", other.getsockname()[1], purpose="devices", beyond_this_machine=True)


@pytest.mark.parametrize("address", ["0.0.0.0", "192.0.2.1", "::", "example.org"])
def test_an_address_that_others_can_reach_is_refused_for_what_is_not_encrypted(address: str) -> None:
    with pytest.raises(OperatorError):
        listen(address, 0, purpose="page", beyond_this_machine=False)


def test_a_ledger_that_cannot_be_written_stops_the_collecting(host: Host) -> None:
    """Nothing is acknowledged that is not kept; the program ends with the sentence of the error."""
    device = host.a_device()
    assert run_over_tcp(device.connect(), host.port, lambda: bool(device.heard))

    def refuse(*_: object) -> None:
        raise OperatorError("the disk is full")

    host.ledger.add_looked_at = refuse  # type: ignore[method-assign, assignment]
    device.write_fault("jam")
    thread = threading.Thread(
        target=run_over_tcp, args=(device.connect(), host.port, host.failed.is_set), daemon=True
    )
    thread.start()
    assert host.failed.wait(20)
    thread.join(20)
    assert str(host.collector.failure) == "the disk is full"
    assert device.acknowledged_n == 0


def test_in_a_backlog_checked_by_processes_a_forged_record_ends_what_is_taken(host: Host) -> None:
    device = host.a_device()
    for _ in range(3 * MANY):
        device.write_fault("jam")
    forged = 2 * MANY
    device.journal[forged - 1] = (device.journal[forged - 1][0], device.journal[0][1])
    run_over_tcp(device.connect(), host.port, lambda: device.refused != "")
    assert device.refused == "a record does not bear the signature of device-1"
    assert device.acknowledged_n < forged
    assert [record.n for record in host.ledger.records()] == list(range(1, forged))


def test_a_link_that_fails_by_our_own_fault_ends_the_program(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(DeviceSession, "receive", fail)
    with socket.create_connection(("127.0.0.1", host.port)):
        assert host.failed.wait(20)
    assert str(host.collector.failure) == "a fault of ours"


def wait_for(condition: Any, longest_s: float = 20.0) -> bool:
    end_s = time.monotonic() + longest_s
    turn = threading.Event()
    while time.monotonic() < end_s:
        if condition():
            return True
        turn.wait(0.01)
    return False
