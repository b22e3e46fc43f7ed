"""DEVICE.toml: what it may say, and one clear line for everything else."""

from pathlib import Path

import pytest

from recount_device.cli import main
from recount_device.config import BOUNDS, Config, PathSettings, parse_config
from recount_device.errors import OperatorError

GOOD = """
name = "table-3"
folder = "table-3"
feeder = "simulated:world.sock"
camera = "simulated:world.sock"
panel = "simulated:world.sock"
host = "tcp://127.0.0.1:7411"
"""
REAL = """
name = "table-3"
folder = "/var/lib/recount"
feeder = "serial:/dev/ttyAMA0"
camera = "picamera2"
panel = "gpio"
host = "serial:usb:E66038B713"
"""


def parse(text: str) -> Config:
    return parse_config(text, "DEVICE.toml", Path("/day"))


def test_paths_are_relative_to_the_file() -> None:
    config = parse(GOOD)
    assert config.folder == Path("/day/table-3")
    assert config.simulator_socket == Path("/day/world.sock")


def test_a_real_device_names_its_ports() -> None:
    config = parse(REAL)
    assert (config.folder, config.feeder, config.simulator_socket) == (
        Path("/var/lib/recount"),
        "serial:/dev/ttyAMA0",
        None,
    )


def test_numbers_that_are_left_out_have_their_defaults() -> None:
    config = parse(GOOD + "[path]\njam_margin_mm = 40\n")
    assert config.path == PathSettings(jam_margin_mm=40)


def test_every_number_has_bounds_and_its_default_lies_within() -> None:
    for kind, bounds in BOUNDS.items():
        defaults = vars(kind())
        assert set(bounds) == set(defaults)
        assert all(low <= defaults[name] <= high for name, (low, high) in bounds.items())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("name = ", "DEVICE.toml is not TOML"),
        ("name = " + "[" * 5000, "DEVICE.toml is not TOML"),
        (GOOD.replace('name = "table-3"\n', ""), "lacks the entry 'name'"),
        (GOOD + 'colour = "red"', "unknown entry 'colour'"),
        (GOOD.replace("tcp://127.0.0.1:7411", "http://x"), 'host must be "tcp://..." or "serial:..."'),
        (
            GOOD.replace('camera = "simulated:world.sock"', 'camera = "picamera2"'),
            "all be simulated, or none",
        ),
        (GOOD.replace('panel = "simulated:world', 'panel = "simulated:other'), "the same simulated world"),
        (GOOD.replace('"table-3"', "3"), "name must be a text"),
        (GOOD + "batch_sheets = 5000", "batch_sheets must be a whole number from 1 to 1000"),
        (GOOD + 'diverter = "flap"', 'diverter must be "motor" or "prompt", not'),
        (GOOD + "diverter = 1", 'diverter must be "motor" or "prompt", not 1'),
        (GOOD + "batch_sheets = true", "batch_sheets must be a whole number"),
        (GOOD + "[path]\nspeed = 3", "path has an unknown entry 'speed'"),
        (GOOD + "[path]\ntransport_mm_s = 5000", "transport_mm_s must be a whole number from 25 to 1000"),
        (GOOD + "path = 3", "path must be a table"),
        (GOOD + "[pins]\nstart = 6", "the same GPIO number"),
        (GOOD + "[path]\nmin_length_mm = 400", "min_length_mm must not be above max_length_mm"),
    ],
)
def test_a_wrong_file_gets_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(OperatorError) as caught:
        parse(text)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("command", ["run", "show"])
def test_a_missing_file_is_one_line_and_exit_code_2(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(tmp_path / "DEVICE.toml")]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "cannot read" in captured.err


def test_a_device_without_its_simulated_world_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "DEVICE.toml").write_text(GOOD)
    assert main(["run", str(tmp_path / "DEVICE.toml")]) == 2
    captured = capsys.readouterr()
    assert "no simulated device listens" in captured.err
    assert captured.err.count("\n") == 1


def test_every_command_of_the_table_has_its_module(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("run", "show", "simulate"):
        with pytest.raises(SystemExit) as caught:
            main([word, "--help"])
        assert caught.value.code == 0
    assert "WORLD.toml" in capsys.readouterr().out
