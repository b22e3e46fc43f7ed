"""`recount-host serve` as a process: started, killed, started again, stopped."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host.tests.links.stand_in import StandIn, run_over_tcp
from recount_host.ledger.ledger import LEDGER_FILE, open_ledger

from .table import a_device, enrolled

RECOUNT_HOST = [sys.executable, "-c", "import sys; from recount_host.cli import main; sys.exit(main())"]

ORDER = """
contest = "governor"
title = "Governor"
locality = "Fairview County"
vote_for = 1
[[side]]
key = "D"
name = "Josiah Bartlett"
[[side]]
key = "R"
name = "Arnold Vinick"
[[precinct]]
id = "101"
name = "Courthouse"
"""


class Serve:
    """A running `recount-host serve`."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        (folder / "order.toml").write_text(ORDER, encoding="utf-8")
        command = [*RECOUNT_HOST, "serve", str(folder / "order.toml")]
        self.process = subprocess.Popen(
            [*command, "--data", str(folder), "--json", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.process.communicate()[1]
        return json.loads(line)

    def end(self, number: signal.Signals) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, error = self.process.communicate(timeout=20)
        return self.process.returncode, out, error


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Serve]]:
    running: list[Serve] = []
    yield running
    for serve in running:
        serve.process.kill()
        serve.process.communicate()


def start(running: list[Serve], folder: Path, *, listen: int = 0) -> tuple[Serve, int, str]:
    serve = Serve(folder, "--listen", f"tcp://127.0.0.1:{listen}", "--web", "127.0.0.1:0")
    running.append(serve)
    told = serve.read()
    assert told["event"] == "serving"
    return serve, int(told["devices"].rsplit(":", 1)[1]), told["page"]


def an_enrolled_device(folder: Path) -> StandIn:
    with open_ledger(folder, create=True) as ledger:
        return enrolled(ledger, a_device())


def test_killed_in_mid_stream_again_and_again_it_loses_nothing_and_doubles_nothing(
    started: list[Serve], tmp_path: Path
) -> None:
    device = an_enrolled_device(tmp_path)
    for sheet in range(1, 101):
        device.write_set_aside(sheet, f"picture {sheet}".encode() * 100, run="run-1", batch=1)
    for _ in range(1100):
        device.write_fault("jam")
    for share in (60, 250, 500):
        serve, port, _ = start(started, tmp_path)
        run_over_tcp(device.connect(), port, lambda share=share: device.acknowledged_n >= share)
        acknowledged = device.acknowledged_n
        assert acknowledged < len(device.journal), "it is killed in mid stream"
        serve.end(signal.SIGKILL)
        with open_ledger(tmp_path) as ledger:
            assert ledger.head(device.device)[0] >= acknowledged, "what was acknowledged is on disk"
    _, port, _ = start(started, tmp_path)
    assert run_over_tcp(
        device.connect(), port, lambda: device.acknowledged_n == 1200 and len(set(device.crops_taken)) == 100
    )
    with open_ledger(tmp_path) as ledger:
        assert [(s.data, s.signature) for s in ledger.stored_records()] == device.journal
        assert {(device.device, n) for n in range(1, 101)} == ledger.crops()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_cleanly_when_asked(started: list[Serve], tmp_path: Path, number: signal.Signals) -> None:
    serve, port, page = start(started, tmp_path)
    device = an_enrolled_device(tmp_path)
    device.write_fault("jam")
    assert run_over_tcp(device.connect(), port, lambda: device.acknowledged_n == 1)
    with urllib.request.urlopen(page, timeout=10) as answer:
        assert "Courthouse" in answer.read().decode()
    code, out, error = serve.end(number)
    assert (code, error) == (0, "")
    assert [json.loads(line)["event"] for line in out.splitlines()][-2:] == ["stopping", "stopped"]


def test_it_tells_of_devices_without_figures(started: list[Serve], tmp_path: Path) -> None:
    serve, port, _ = start(started, tmp_path)
    device = an_enrolled_device(tmp_path)
    connection = device.connect()
    connection.say("feeding", "Feeding batch 1.")
    told: dict[str, Any] = {}
    run_over_tcp(connection, port, lambda: bool(device.heard))
    while not told.get("name"):
        told = serve.read()
    assert told["event"] == "device"
    assert set(told) == {"event", "device", "name", "link", "connected", "state", "note", "gap", "problem"}


def test_a_port_in_use_is_one_line_and_exit_code_2(started: list[Serve], tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        serve = Serve(tmp_path, "--web", f"127.0.0.1:{port}", "--listen", "tcp://127.0.0.1:0")
        started.append(serve)
        out, error = serve.process.communicate(timeout=20)
    assert (serve.process.returncode, out) == (2, "")
    assert error == (
        f"recount-host: port {port} for the page cannot be opened (it is in use): "
        "choose another, or end the program that uses it\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("--listen", "udp://127.0.0.1:7411"),
        ("--listen", "127.0.0.1"),
        ("--listen", "tcp://127.0.0.1:99999"),
        ("--web", "0.0.0.0:7480"),
        ("--web", "127.0.0.1:0", "--listen", "tcp://127.0.0.1:0", "--serial", "/dev/ttyNOTHING"),
    ],
)
def test_a_wrong_address_is_one_line_and_exit_code_2(
    started: list[Serve], tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    _is_one_line(started, Serve(tmp_path, *arguments))


def test_a_second_host_over_the_same_folder_is_one_line_and_exit_code_2(
    started: list[Serve], tmp_path: Path
) -> None:
    first, _, page = start(started, tmp_path)
    assert "is served already" in _is_one_line(started, _on_any_port(tmp_path))
    with urllib.request.urlopen(page, timeout=10) as answer:
        assert answer.status == 200
    first.end(signal.SIGKILL)
    start(started, tmp_path)


def test_a_damaged_ledger_is_one_line_and_exit_code_2(started: list[Serve], tmp_path: Path) -> None:
    (tmp_path / LEDGER_FILE).write_bytes(b"a letter")
    error = _is_one_line(started, _on_any_port(tmp_path))
    assert "is damaged" in error


def test_another_order_than_the_ledgers_is_one_line_and_exit_code_2(
    started: list[Serve], tmp_path: Path
) -> None:
    serve, _, _ = start(started, tmp_path)
    serve.end(signal.SIGTERM)
    (tmp_path / "order.toml").write_text(ORDER.replace("Courthouse", "Library"), encoding="utf-8")
    command = [*RECOUNT_HOST, "serve", str(tmp_path / "order.toml")]
    done = subprocess.run(
        [*command, "--data", str(tmp_path), "--web", "127.0.0.1:0", "--listen", "tcp://127.0.0.1:0"],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 2
    assert "works under another order" in done.stderr
    assert done.stderr.count("\n") == 1


def _on_any_port(folder: Path) -> Serve:
    return Serve(folder, "--web", "127.0.0.1:0", "--listen", "tcp://127.0.0.1:0")


def _is_one_line(started: list[Serve], serve: Serve) -> str:
    started.append(serve)
    out, error = serve.process.communicate(timeout=30)
    assert (serve.process.returncode, out) == (2, "")
    assert error.startswith("recount-host: ")
    assert error.count("\n") == 1
    return error
