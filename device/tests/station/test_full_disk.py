"""A disk with no room left: one clear line, and no sheet lost or counted twice."""

import resource
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from device.tests.station.bench import Bench, Paper, overvote
from device.tests.station.conftest import MakeBench
from recount_device.cli import main
from recount_device.errors import OperatorError

DEVICE = """
name = "table-1"
folder = "device"
feeder = "serial:/dev/none"
camera = "picamera2"
panel = "gpio"
host = "tcp://127.0.0.1:1"
"""


@contextmanager
def no_file_larger_than(size: int) -> Generator[None]:
    """Let no file of this process grow beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def largest_file(bench: Bench) -> int:
    return max(path.stat().st_size for path in bench.folder.iterdir())


@pytest.mark.parametrize("room", [2_000, 9_000, 17_000, 30_000])
def test_a_journal_that_cannot_grow_stops_the_device_and_loses_no_sheet(
    a_bench: MakeBench, room: int
) -> None:
    papers = [Paper(str(n)) if n % 3 else overvote(str(n)) for n in range(1, 13)]
    bench = a_bench(papers)
    bench.assign()
    bench.press("start")
    with (
        no_file_larger_than(largest_file(bench) + room),
        pytest.raises(OperatorError, match=r"cannot be written .*: is the disk full\?"),
    ):
        bench.go_on()
    bench.restart()
    for _ in range(3):
        bench.go_on()
        if bench.panel.key != "ask_officials":
            break
        doubt = bench.passage.doubt
        assert doubt is not None
        if bench.machine.path is not None:
            bench.machine.bins[doubt.fate].append(bench.machine.take_out())
        order = {"run": "r1", "batch": 1, "sheet": doubt.number, "fate": doubt.fate}
        bench.host.order("settle_doubt", **order, by=["Ann Lee, official, D", "Bob Ray, official, R"])
    bench.end_batch()
    (closed,) = bench.records("batch_closed")
    bins = bench.machine.bins
    assert (closed.body["counted"], closed.body["set_aside_sheets"]) == (8, 4)
    assert (len(bins["counted"]), len(bins["set_aside"])) == (8, 4)


def test_a_folder_of_another_user_is_one_line_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "DEVICE.toml").write_text(DEVICE)

    def forbidden(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", forbidden)
    assert main(["show", str(tmp_path / "DEVICE.toml")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("so work as the user who starts recount-device run")
    assert "device.key: Permission denied" in line


def test_output_that_nobody_can_take_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    (tmp_path / "DEVICE.toml").write_text(DEVICE)
    (tmp_path / "device").mkdir()
    Bench(tmp_path / "device").journal.close()
    words = [sys.executable, "-m", "recount_device", "show", str(tmp_path / "DEVICE.toml")]
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "recount-device: cannot write: the disk is full; make room and start again\n"
