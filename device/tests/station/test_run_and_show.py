"""The two commands of the station, as processes and as calls."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from device.tests.station.bench import Bench, Paper, overvote
from device.tests.station.test_host_link import TcpStream, serve
from device.tests.station.tiny_host import TinyHost
from recount_device import software
from recount_device.cli import main
from recount_device.messages import MESSAGES, SENTENCES, STOP_SENTENCES
from recount_device.passage import Step
from recount_device.pictures import encode_png
from recount_device.reasons import PATH_REASONS
from recount_protocol.feeder_messages import STOP_REASONS
from recount_protocol.tally_messages import VERSION

REAL_DEVICE = """
name = "table-1"
folder = "device"
feeder = "serial:/dev/ttyAMA0"
camera = "picamera2"
panel = "gpio"
host = "tcp://127.0.0.1:1"
"""


@pytest.fixture
def a_day(tmp_path: Path) -> Bench:
    """A device's folder after a morning, its batch still open."""
    (tmp_path / "DEVICE.toml").write_text(REAL_DEVICE)
    (tmp_path / "device").mkdir()
    bench = Bench(tmp_path / "device", [Paper("1"), overvote("2"), Paper("3", mishaps=("jam_after",))])
    bench.scan()
    bench.journal.close()
    return bench


def shown(folder: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    assert main(["show", str(folder / "DEVICE.toml"), *more]) == 0
    return capsys.readouterr().out


def test_show_tells_states_and_no_figure(
    a_day: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    states: dict[str, Any] = json.loads(shown(tmp_path, capsys, "--json"))
    assert states["firmware"].startswith("f1" * 32)
    assert states["run"] == {
        "run": "r1",
        "precinct": "101",
        "contest": "governor",
        "mode": "training",
        "software": states["software"],
        "firmware": states["firmware"],
    }
    assert (states["batch"], states["sheets_whose_place_is_not_known"]) == (1, [3])
    assert set(states) == {
        "armed_for",
        "why_not_armed",
        "name",
        "device",
        "words",
        "host_words",
        "software",
        "firmware",
        "run",
        "batch",
        "batches_voided",
        "sheets_whose_place_is_not_known",
    }


def test_show_reads_well(a_day: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(tmp_path, capsys)
    assert "in doubt   sheet 3" in text
    assert "run        r1 for 101" in text
    assert "overvote" not in text
    assert "firmware   " + "f1" * 32 in text


def test_show_works_while_the_device_runs(
    a_day: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_day.start()
    assert json.loads(shown(tmp_path, capsys, "--json"))["batch"] == 1
    a_day.journal.close()


def test_show_of_a_device_that_never_ran_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "DEVICE.toml").write_text(REAL_DEVICE)
    assert main(["show", str(tmp_path / "DEVICE.toml")]) == 2
    assert "holds no device yet" in capsys.readouterr().err


def test_show_of_a_damaged_journal_is_one_line_and_exit_code_2(
    a_day: Bench, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "device" / "journal.sqlite"
    path.write_bytes(b"SQLite format 3\0" + bytes(5000))
    assert main(["show", str(tmp_path / "DEVICE.toml")]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "is damaged" in captured.err


def test_run_without_a_camera_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "picamera2", None)
    (tmp_path / "DEVICE.toml").write_text(REAL_DEVICE)
    assert main(["run", str(tmp_path / "DEVICE.toml")]) == 2
    captured = capsys.readouterr()
    assert "the camera needs picamera2" in captured.err
    assert (captured.out, captured.err.count("\n")) == ("", 1)


COMMAND = (sys.executable, "-m", "recount_device")


@pytest.fixture
def a_machine(tmp_path: Path) -> Iterator[None]:
    """A simulated machine as a process, with a DEVICE.toml beside it."""
    (tmp_path / "WORLD.toml").write_text('socket = "world.sock"\nseed = 3\n[[sheet]]\nid = "1"\n')
    simulated = REAL_DEVICE
    for real in ("serial:/dev/ttyAMA0", "picamera2", "gpio"):
        simulated = simulated.replace(f'"{real}"', '"simulated:world.sock"')
    (tmp_path / "DEVICE.toml").write_text(simulated)
    world = subprocess.Popen([*COMMAND, "simulate", str(tmp_path / "WORLD.toml")], stdout=subprocess.PIPE)
    assert world.stdout is not None
    world.stdout.readline()
    yield
    world.terminate()
    world.wait(20)
    world.stdout.close()


def test_a_host_of_another_protocol_version_is_shown_and_tried_again(a_machine: None, tmp_path: Path) -> None:
    """Whoever answers at the host's address could else end the device for good."""
    stream = TcpStream()
    config = tmp_path / "DEVICE.toml"
    config.write_text(config.read_text().replace("tcp://127.0.0.1:1", stream.address))
    device = subprocess.Popen([*COMMAND, "run", str(config)], stdout=subprocess.PIPE, text=True)
    assert device.stdout is not None
    for _ in range(2):
        stream.accept()
        host = TinyHost(version=VERSION + 1)
        with suppress(ConnectionError):  # the device hangs up
            serve(host, stream, lambda host=host: host.delivery.stats["hellos"] > 0)
    sentence = f"the other end speaks protocol version {VERSION + 1}, this end {VERSION}"
    assert any(sentence in line for line in device.stdout)
    device.terminate()
    assert device.wait(20) == 0
    device.stdout.close()
    stream.close()


def test_a_device_ends_at_sigterm_and_prints_only_what_its_panel_shows(
    a_machine: None, tmp_path: Path
) -> None:
    device = subprocess.Popen(
        [*COMMAND, "run", str(tmp_path / "DEVICE.toml"), "--json"], stdout=subprocess.PIPE, text=True
    )
    assert device.stdout is not None
    lines = [json.loads(device.stdout.readline()) for _ in range(2)]
    device.send_signal(signal.SIGTERM)
    lines += [json.loads(line) for line in device.stdout]
    assert device.wait(20) == 0
    device.stdout.close()
    assert [line["panel"]["key"] for line in lines] == ["idle", "idle", "idle"]
    assert "switched off" in lines[-1]["panel"]["text"]


# --- the tables ---


def test_every_stop_of_the_feeder_has_words_for_the_operator() -> None:
    for reason in STOP_REASONS[1:]:
        assert reason in PATH_REASONS or reason in STOP_SENTENCES or reason == "hopper_empty"


def test_every_step_asked_of_the_operator_has_its_text() -> None:
    for step in Step:
        assert MESSAGES[step.value].question


def test_no_text_of_the_panel_speaks_of_fates_or_votes() -> None:
    texts = [entry.text for entry in MESSAGES.values()]
    texts += [*STOP_SENTENCES.values(), *SENTENCES.values()]
    for text in texts:
        told = text.replace(
            "in the tray SET ASIDE", ""
        )  # where there is no diverter, a person must know the tray
        for secret in ("counted", "set aside", "vote", "overvote", "tally"):
            assert secret not in told.lower()


# --- what runs here ---


def test_the_software_hash_changes_with_any_source_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "a_package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "judge.py").write_text("LIMIT = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(software, "PACKAGES", ("a_package",))
    before = software.software_hash()
    assert software.software_hash() == before
    (package / "judge.py").write_text("LIMIT = 2\n")
    changed = software.software_hash()
    (package / "judge.py").rename(package / "judge2.py")
    assert len({before, changed, software.software_hash()}) == 3


def test_a_kept_picture_is_the_very_pixels() -> None:
    pixels = np.random.default_rng(5).integers(0, 256, (61, 83), np.uint8)
    again = cv2.imdecode(np.frombuffer(encode_png(pixels), np.uint8), cv2.IMREAD_UNCHANGED)
    assert again is not None
    assert np.array_equal(pixels, again)


def test_the_service_and_the_rules_name_what_is_there() -> None:
    device = Path(__file__).resolve().parents[2]
    service = (device / "systemd" / "recount-device.service").read_text()
    assert "recount-device run" in service
    assert "RestartPreventExitStatus=2" in service
    rules = (device / "udev" / "60-recount.rules").read_text()
    assert "ID_MM_DEVICE_IGNORE" in rules
