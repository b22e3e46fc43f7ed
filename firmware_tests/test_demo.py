"""The demo on a small deck: 0 when all is right, not so with a lie in the deck or a dead child."""

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recount_host.law.court_words import PRECINCT_FORMS

REPOSITORY = Path(__file__).resolve().parent.parent
FAIRVIEW = REPOSITORY / "images" / "ballots" / "fairview"
SHEETS = ("001", "002", "034", "038", "071", "110")
"""A vote for each side, one of them upside down, an undervote, a jam, an overvote, a torn sheet."""

pytestmark = pytest.mark.timeout(200)


@pytest.fixture
def deck(tmp_path: Path) -> Path:
    """Return a folder with a few of the demonstration's sheets."""
    folder = shutil.copytree(FAIRVIEW, tmp_path / "small")
    head, *sheets = (FAIRVIEW / "deck.toml").read_text().split("[[sheet]]\n")
    chosen = [sheet for sheet in sheets if sheet.startswith(tuple(f'id = "{number}"' for number in SHEETS))]
    assert len(chosen) == len(SHEETS)
    (folder / "deck.toml").write_text("[[sheet]]\n".join([head, *chosen]))
    return folder


class Demo:
    """The demo as a process, with its own temporary folder."""

    def __init__(self, deck: Path, folder: Path, temporary: Path, *words: str) -> None:
        self.temporary = temporary
        self.work = folder / "work"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "firmware_tests.demo", "--deck", deck, "--work", self.work, *words],
            cwd=REPOSITORY,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = ""

    def read_until(self, words: str) -> None:
        """Read what it says until a line holds these words."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            if words in line:
                return
        pytest.fail(f"the demo ended without saying {words}:\n{self.said}")

    def end(self) -> int:
        """Return its exit code, once it has ended."""
        said, _ = self.process.communicate(timeout=150)
        self.said += said
        return self.process.returncode

    def children(self) -> list[int]:
        """Return the processes that work in its temporary folder."""
        return [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if self._names(path)]

    def _names(self, path: Path) -> bool:
        try:
            return str(self.temporary).encode() in path.read_bytes()
        except OSError:  # it ended while we looked
            return False


@pytest.fixture
def start(deck: Path, tmp_path: Path) -> Iterator[Callable[..., Demo]]:
    """Yield what starts the demo, in a temporary folder whose name leaves room for those of sockets."""
    with tempfile.TemporaryDirectory(prefix="demo-") as temporary:
        yield lambda *words: Demo(deck, tmp_path, Path(temporary), *words)


def test_the_demo_tests_its_devices_counts_live_and_stays_up_until_the_person_ends_it(
    start: Callable[..., Demo],
) -> None:
    demo = start()
    demo.read_until("stays up until Ctrl-C")
    assert demo.process.poll() is None
    demo.process.send_signal(signal.SIGINT)
    assert demo.end() == 0, demo.said
    assert "everything is as the deck says" in demo.said
    assert "precinct 101 is given to alpha and beta, mode live" in demo.said
    papers = {path.name for path in (demo.work / "forms-101").iterdir()}
    assert {f"101-{form}.pdf" for form in {"statement", "tags", *PRECINCT_FORMS} - {"mismatch"}} <= papers
    for name in ("alpha", "beta"):
        assert {f"certificate-{name}.pdf", f"zero-report-{name}.pdf"} <= papers
    with tarfile.open(demo.work / "bundle-101.tar") as bundle:
        names = [
            Path(name).name.partition("-")[2] for name in bundle.getnames() if "/statements/" in f"/{name}"
        ]
    # Verified above, byte for byte.
    assert [names.count(f"{paper}.pdf") for paper in ("certificate", "zero-report")] == [2, 2]
    assert demo.children() == []
    assert list(demo.temporary.iterdir()) == []


def test_a_lie_in_the_deck_is_a_difference_and_exit_code_1(start: Callable[..., Demo], deck: Path) -> None:
    text = (deck / "deck.toml").read_text()
    assert 'marks = { R = "full" }' in text
    lie = text.replace('marks = { R = "full" }', 'marks = { I = "full" }', 1)  # the truth still says R
    (deck / "deck.toml").write_text(lie)
    demo = start("--once", "--training")
    assert demo.end() == 1, demo.said
    assert "votes for I: the host says 1, the deck 0" in demo.said
    assert "votes for R: the host says 0, the deck 1" in demo.said


def test_a_device_that_dies_ends_the_demo_with_its_last_words(start: Callable[..., Demo]) -> None:
    demo = start("--once", "--training")
    demo.read_until("mode training")
    killed = [pid for pid in demo.children() if _is_station(pid)]
    assert len(killed) == 2
    os.kill(killed[0], signal.SIGKILL)
    assert demo.end() == 1
    assert "ended with -9" in demo.said
    assert "Traceback" not in demo.said
    assert demo.children() == []


def _is_station(pid: int) -> bool:
    return b"run" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def test_a_deck_that_is_not_there_is_one_line(start: Callable[..., Demo], deck: Path) -> None:
    (deck / "deck.toml").unlink()
    demo = start("--once", "--training")
    assert demo.end() == 1
    assert "cannot read" in demo.said
    assert "Traceback" not in demo.said
