"""The rule of `conftest.py`: with RECOUNT_NO_SKIPS=1 a skipped test fails, unless it needs real hardware."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

FILES = {
    "test_a_test.py": 'import pytest\ndef test_it():\n    pytest.skip("no interpreter")\n',
    "test_a_fixture.py": (
        "import pytest\n@pytest.fixture\ndef absent():\n"
        '    pytest.skip("no interpreter")\ndef test_it(absent):\n    pass\n'
    ),
    "test_a_module.py": 'import pytest\npytest.skip("no interpreter", allow_module_level=True)\n',
    "test_hardware.py": (
        'import pytest\n@pytest.mark.hardware\ndef test_it():\n    pytest.skip("no board")\n'
    ),
    "test_xfail.py": (
        'import pytest\n@pytest.mark.xfail(reason="known")\ndef test_it():\n    raise ValueError\n'
    ),
}


def summary(folder: Path, no_skips: str) -> str:
    """Return the summary of a run of FILES under the repository's conftest."""
    for name, source in FILES.items():
        (folder / name).write_text(source)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = hardware\n")
    options = ["-p", "conftest", "-p", "no:cacheprovider", "-q", "-ra", "--continue-on-collection-errors"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "RECOUNT_NO_SKIPS": no_skips},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (1 if no_skips else 0), done.stdout + done.stderr
    return done.stdout


def test_on_a_users_machine_a_skip_is_a_skip(tmp_path: Path):
    assert "4 skipped, 1 xfailed" in summary(tmp_path, no_skips="")


@pytest.fixture(scope="module")
def in_ci(tmp_path_factory: pytest.TempPathFactory) -> str:
    return summary(tmp_path_factory.mktemp("ci"), no_skips="1")


@pytest.mark.parametrize(
    "line", ["FAILED test_a_test.py", "ERROR test_a_fixture.py", "ERROR test_a_module.py"]
)
def test_in_ci_a_skip_fails_wherever_it_is_said(in_ci: str, line: str):
    assert line in in_ci
    assert "with RECOUNT_NO_SKIPS=1 nothing may be" in in_ci
    assert "no interpreter" in in_ci


def test_in_ci_missing_hardware_and_known_faults_are_no_skips(in_ci: str):
    assert "1 skipped, 1 xfailed" in in_ci
    assert "no board" in in_ci
