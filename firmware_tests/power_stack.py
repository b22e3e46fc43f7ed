"""A precinct small enough to be recounted a thousand times: the real programs, forked from one warm process.

World with its board, station and host are processes of their own, each a fork that does what the command
does: so a SIGKILL is real, and a start costs no import. Of the product one part is replaced, at its seam: the
reader. A sheet's picture is one grey level, which names the paper: what is read of it is not the question.
"""

import argparse
import contextlib
import ctypes
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import cv2
import numpy as np

from firmware_tests.day import ANN, BOB, COORDINATOR, DayError, free_port, run_host, toml_lines, toml_table
from firmware_tests.demo import order_of
from firmware_tests.stacks import FAIRVIEW, PRECINCT
from recount_ballots.deck import read_deck
from recount_classifier.evidence import Evidence
from recount_classifier.program import Program
from recount_classifier.reading import Reading
from recount_device import run as device_run
from recount_device import software
from recount_device.camera import Page
from recount_device.config import Config, read_config
from recount_device.host_pin import HostPin
from recount_device.identity import open_identity
from recount_device.reader import Outcome, sheet_read
from recount_device.run import Parts
from recount_device.simulator import connect
from recount_host import serve as host_serve
from recount_host.act import Person
from recount_host.cli import find_command, implementation
from recount_host.commands.desk import adopt_order
from recount_host.host_key import open_host_key
from recount_host.law.enrolment import ENROLLED, enrolment_body
from recount_host.ledger.ledger import LEDGER_FILE, Ledger
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, SET_ASIDE
from recount_world.board_process import BoardProcess
from recount_world.client import Positions, WorldClient, control
from recount_world.errors import WorldGone
from recount_world.script import read_script
from recount_world.server import serve as serve_world
from recount_world.world import World

TABLE = "table-1"
PAGE_SHAPE = (100, 80)
"""Rows and columns of a picture: its grey level is all that it holds."""
FIRST_GREY, GREY_STEP = 60, 8
"""The noise of the camera is one level."""
PDEATHSIG = 1
"""prctl's word for: a signal at the parent's death."""


@dataclass(frozen=True)
class Paper:
    """A sheet of paper, and what is true of it."""

    fate: str
    choices: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    jams_at_mm: int = 0
    """It is held fast there on its first way; 0: it is not."""


PAPERS: Sequence[Paper] = (
    Paper(COUNTED, ("D",)),
    Paper(COUNTED, ("R",)),
    Paper(SET_ASIDE, (), ("overvote",)),
    Paper(NOT_ACCEPTED, (), ("wrong_style",)),
    Paper(COUNTED, ("I",), jams_at_mm=200),
    Paper(COUNTED, ("R",)),
)
"""The stack of every run: a sheet of each fate, and one that comes back. Its id is its place here."""


def grey_of(paper: int) -> int:
    """Return the grey level of a paper's picture."""
    return FIRST_GREY + GREY_STEP * paper


def paper_of(picture: Page) -> int:
    """Return which paper a picture shows."""
    return round((float(picture.mean()) - FIRST_GREY) / GREY_STEP)


class PictureReader:
    """Reads a sheet by the grey level of its picture, at once."""

    def __init__(self) -> None:
        self._outcome: Outcome | None = None

    def begin(self, pages: Sequence[Page], program: Program, *, expects_test: bool, batch: int) -> None:
        """Read these pictures; none of them bears a test ballot's mark."""
        del expects_test, batch
        paper = PAPERS[paper_of(pages[0])]
        evidence = None
        if paper.fate != NOT_ACCEPTED:
            registration = tuple(float(n) for n in range(12))
            style = program.styles[0].id
            evidence = Evidence(style, 0, pages[0], (registration, registration), {"contrast": 0.5})
        self._outcome = sheet_read(Reading(paper.fate, paper.choices, paper.reasons, evidence, None))

    def result(self) -> Outcome | None:
        """Return what was read, once."""
        outcome, self._outcome = self._outcome, None
        return outcome

    def keep(self, sheet: int) -> None:
        """Nothing is kept: no sheet looks like another."""

    def forget(self, sheet: int) -> None:
        """Nothing was kept."""

    def give_up(self) -> None:
        """Forget it."""
        self._outcome = None

    def close(self) -> None:
        """Nothing is held."""


@contextlib.contextmanager
def parts_with_picture_reader(config: Config) -> Generator[Parts]:
    """Yield a simulated device whose reader is quick."""
    assert config.simulator_socket is not None
    device = connect(config.simulator_socket)
    try:
        yield Parts(device.clock, device.camera, PictureReader(), device.panel, device.open_feeder)
    finally:
        device.close()


class Template:
    """The folders of a locality on the morning of its recount, copied for every run."""

    def __init__(self, folder: Path) -> None:
        """Make them: order, keys, enrolment, the program, H, and the run's assignment."""
        self.folder = folder
        self.program = folder / "contest.program"
        deck = read_deck(FAIRVIEW)
        (folder / "order.toml").write_text(order_of(deck), encoding="utf-8")
        host("program", "build", str(FAIRVIEW / "spec.toml"), "-o", str(self.program))
        self._make_pictures()
        self._make_host()

    def _make_pictures(self) -> None:
        for paper in range(len(PAPERS)):
            picture = np.full(PAGE_SHAPE, grey_of(paper), np.uint8)
            cv2.imwrite(str(self.folder / f"{paper}.png"), picture)

    def _make_host(self) -> None:
        data, device = self.folder / "host", self.folder / "device"
        device.mkdir(mode=0o700)
        identity = open_identity(device)
        with Ledger(data / LEDGER_FILE) as ledger:
            adopt_order(ledger, self.folder / "order.toml")
            both = (Person("Ann Lee", "official", "D"), Person("Bob Ray", "official", "R"))
            ledger.append_act(ENROLLED, both, enrolment_body(TABLE, identity.public_key))
        HostPin(device).pin(open_host_key(data).words)
        for person in (ANN, BOB):
            host("count", "enter", PRECINCT, "H", str(len(PAPERS)), "--by", person, "--data", str(data))
        host(
            "run", "assign", PRECINCT, "--device", TABLE, "--program", str(self.program),
            "--mode", "training", "--by", COORDINATOR, "--data", str(data),
        )  # fmt: skip


COMMANDS_OF_THE_DAY = ("doubt list", "doubt settle", "finish-scanning", "count enter", "reconcile", "figures")


def import_commands() -> None:
    """Import what people's commands need, before anything is forked."""
    for words in COMMANDS_OF_THE_DAY:
        implementation(find_command(words.split()))


def host(*words: str) -> str:
    """Run a command of the host in this process and return what it printed; raises DayError."""
    code, out, err = run_host(words)
    if code != 0:
        raise DayError(f"recount-host {' '.join(words)}: {err.strip()}")
    return out


class Forked:
    """A program as a fork of this process."""

    def __init__(self, name: str, log: Path) -> None:
        self.name = name
        self.log = log
        self.pid = 0
        self.is_me = False

    def start(self, job: Callable[[], object]) -> None:
        """Start it; its output goes on in the log. It ends with this process."""
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            self.is_me = True
            _be_a_process(parent, self.log, job)

    def ended(self) -> bool:
        """Return whether it has ended by now."""
        if self.pid:
            pid, _status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
        return not self.pid

    def wait(self) -> bool:
        """Wait for its end; return whether it did its job."""
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return status == 0

    def kill(self) -> None:
        """End it by SIGKILL."""
        if self.pid and not self.ended():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0

    def kill_from_anywhere(self) -> None:
        """Send SIGKILL from any process of this run, the program itself included; `ended` tells the end."""
        if self.pid or self.is_me:
            os.kill(self.pid or os.getpid(), signal.SIGKILL)

    def tail(self, lines: int = 12) -> str:
        """Return the end of its log."""
        return (
            "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:]) if self.log.exists() else ""
        )


def die_with(parent: int) -> None:
    """Have this process end by SIGKILL when the one that forked it ends."""
    ctypes.CDLL(None).prctl(PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(70)


def _be_a_process(parent: int, log: Path, job: Callable[[], object]) -> None:
    code = 70
    try:
        die_with(parent)
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(out, 1)
        os.dup2(out, 2)
        sys.stdout, sys.stderr = os.fdopen(1, "w", buffering=1), os.fdopen(2, "w", buffering=1)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        job()
        code = 0
    except BaseException:  # noqa: BLE001  it is told in the log, and ends here
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(code)


class Stack:
    """World, station and host of one run, in a folder of its own."""

    def __init__(self, folder: Path, template: Template) -> None:
        self.folder = folder
        self.template = template
        self.host_folder, self.device_folder = folder / "host", folder / "device"
        for name in ("host", "device"):
            shutil.copytree(template.folder / name, folder / name)
        self.port = free_port()
        self.world = Forked("world", folder / "world.log")
        self.station = Forked("station", folder / "station.log")
        self.host = Forked("host", folder / "host.log")
        self._write_world()
        self.control: WorldClient | None = None

    def _write_world(self) -> None:
        socket = self.folder / "world.sock"
        (self.folder / "flash").mkdir()
        settings = {"socket": str(socket), "duplex": False, "flash": str(self.folder / "flash")}
        sheets = [
            toml_table("sheet", {"id": str(n), "front": str(self.template.folder / f"{n}.png")})
            for n in range(len(PAPERS))
        ]
        jams = [
            toml_table("fault", {"kind": "jam", "sheet": str(n), "at_mm": paper.jams_at_mm})
            for n, paper in enumerate(PAPERS)
            if paper.jams_at_mm
        ]
        (self.folder / "WORLD.toml").write_text(
            toml_lines(settings) + "".join(sheets + jams), encoding="utf-8"
        )
        parts = dict.fromkeys(("feeder", "camera", "panel"), f"simulated:{socket}")
        own = {"name": TABLE, "folder": str(self.device_folder), "host": f"tcp://127.0.0.1:{self.port}"}
        (self.folder / "DEVICE.toml").write_text(toml_lines({**own, **parts}), encoding="utf-8")

    def __enter__(self) -> Self:
        self.world.start(self._run_world)
        end_s = time.monotonic() + 20
        while self.control is None:
            with contextlib.suppress(WorldGone):
                self.control = control(self.folder / "world.sock")
            if time.monotonic() > end_s or self.world.ended():
                raise DayError(f"the world does not listen: {self.world.tail()}")
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        if self.control is not None:
            self.control.close()
        for process in (self.station, self.host, self.world):
            process.kill()
        # The board ends with its world: nothing answers it any more.

    @property
    def people(self) -> WorldClient:
        """The hands in this world."""
        assert self.control is not None
        return self.control

    def start_station(self, before: Callable[[], object]) -> None:
        """Start the device; `before` is done in its process first."""
        self.station.start(lambda: (before(), self._run_station()))

    def start_host(self, before: Callable[[], object]) -> None:
        """Start the host's service; `before` is done in its process first."""
        self.host.start(lambda: (before(), self._run_host()))

    def check(self) -> None:
        """Raise DayError for a program that ended."""
        for process in (self.world, self.station, self.host):
            if process.ended():
                raise DayError(f"the {process.name} ended:\n{process.tail()}")

    def does(self, *words: str) -> str:
        """Let people run a command of the host."""
        return host(*words, "--data", str(self.host_folder))

    def board_pid(self) -> int | None:
        """Return the process of the board's interpreter."""
        children = Path(f"/proc/{self.world.pid}/task/{self.world.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def kill_board(self) -> None:
        """End the board's interpreter by SIGKILL: the board is without power for a moment."""
        pid = self.board_pid()
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _run_world(self) -> None:
        script = read_script(self.folder / "WORLD.toml")
        assert script.flash is not None
        board = BoardProcess(script.flash, seed=script.seed, log=self.folder / "board.log")
        serve_world(World(script, board), script.socket)

    def _run_station(self) -> None:
        device_run.run_device(
            read_config(self.folder / "DEVICE.toml"), as_json=False, open_=parts_with_picture_reader
        )

    def _run_host(self) -> None:
        host_serve.run(
            argparse.Namespace(
                order=self.template.folder / "order.toml",
                data=self.host_folder,
                listen=f"tcp://127.0.0.1:{self.port}",
                serial=[],
                web="127.0.0.1:0",
                json=True,
            )
        )


def keep_software() -> None:
    """Have every start find the release that this process began with, whatever is edited meanwhile."""
    begun_with = software.software_hash()
    software.software_hash = lambda: begun_with


def truth(positions: Positions) -> dict[str, list[int]]:
    """Return the papers that lie in each pile."""
    piles = {COUNTED: positions["counted"], SET_ASIDE: positions["set_aside"]}
    piles[NOT_ACCEPTED] = positions["not_accepted"]
    return {pile: sorted(map(int, papers)) for pile, papers in piles.items()}
