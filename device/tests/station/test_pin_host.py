"""Which host the device obeys: pinned by a command or at the panel, and kept."""

from pathlib import Path

import pytest

from device.tests.station.bench import Bench, Paper
from device.tests.station.conftest import MakeBench
from device.tests.station.tiny_host import HOST_WORDS
from recount_device.cli import main
from recount_device.errors import OperatorError
from recount_device.host_pin import PIN_FILE, HostPin

CONFIG = """
name = "table-1"
folder = "device"
feeder = "serial:/dev/ttyAMA0"
camera = "picamera2"
panel = "gpio"
host = "tcp://192.0.2.1:7411"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "DEVICE.toml"
    path.write_text(CONFIG, encoding="utf-8")
    return path


def test_the_command_pins_the_words_as_they_are_typed(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pin-host", str(config), *HOST_WORDS.upper().split()]) == 0
    assert HostPin(config.parent / "device").words == HOST_WORDS
    assert capsys.readouterr().out == f"table-1 obeys the host {HOST_WORDS}, and no other\n"


def test_without_words_it_tells_which_host_is_pinned(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["pin-host", str(config)])
    assert "none is pinned" in capsys.readouterr().out
    main(["pin-host", str(config), *HOST_WORDS.split()])
    capsys.readouterr()
    main(["pin-host", str(config)])
    assert HOST_WORDS in capsys.readouterr().out


@pytest.mark.parametrize(("words", "why"), [("zoo zoo", "these are 2"), ("zoox " * 8, "none of the words")])
def test_words_that_no_key_has_are_one_line_and_exit_code_2(
    config: Path, capsys: pytest.CaptureFixture[str], words: str, why: str
) -> None:
    assert main(["pin-host", str(config), *words.split()]) == 2
    error = capsys.readouterr().err
    assert why in error
    assert error.count("\n") == 1
    assert HostPin(config.parent / "device").words == ""


def test_a_damaged_pin_is_refused_and_no_host_is_taken_for_the_pinned_one(tmp_path: Path) -> None:
    (tmp_path / PIN_FILE).write_bytes(b"\xff\xfe")
    with pytest.raises(OperatorError, match="pin the host again"):
        _ = HostPin(tmp_path).words


def an_unpinned(a_bench: MakeBench) -> Bench:
    bench = a_bench([Paper("1")])
    bench.host.present = False
    bench.host.offered = HOST_WORDS
    bench.until("pin_host")
    return bench


def test_the_panel_shows_the_words_of_an_unknown_host_and_confirm_pins_it(a_bench: MakeBench) -> None:
    bench = an_unpinned(a_bench)
    assert HOST_WORDS in bench.panel.text
    assert bench.panel.shown[-1].question == "Are all eight words the same? Press Confirm."
    bench.press("confirm")
    assert bench.host.pinned == HOST_WORDS
    bench.steps()
    assert bench.panel.key != "pin_host"


def test_no_other_button_pins_a_host(a_bench: MakeBench) -> None:
    bench = an_unpinned(a_bench)
    for button in ("start", "end_batch", "stop"):
        bench.press(button)
    assert (bench.host.pinned, bench.host.offered) == ("", HOST_WORDS)
