"""One run of `make soak-power`: a precinct is scanned, something is killed, and people finish the precinct.

What is killed, when, and what of the disk survives is in a Plan, drawn from the run's seed. Afterwards the
record is held against the paper: every sheet is where the ledger says, once.
"""

import json
import random
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from firmware_tests.day import ANN, BOB, COORDINATOR, DayError
from firmware_tests.power_disk import SYNCS, DiskLog, Loss, Recorder, record
from firmware_tests.power_stack import PAPERS, TABLE, Forked, Stack, Template, paper_of, truth
from firmware_tests.stacks import PRECINCT
from recount_device.journal import JOURNAL_FILE, JournalReader
from recount_host.errors import OperatorError
from recount_host.ledger.ledger import open_ledger
from recount_protocol.fates import BINS, COUNTED
from recount_protocol.records import Record

STATION, BOARD, DEVICE, HOST, ROOM, LAPTOP = "station", "board", "device", "host", "room", "laptop"
PEOPLE = "people"
"""Whose steps the commands are that people type at the host's laptop."""
LANDED = "landed"
"""Stands for whose steps, where sheets in the bins are counted."""
VICTIMS = {
    STATION: "the station's process",
    BOARD: "the feeder board",
    DEVICE: "the device: station and board",
    HOST: "the host",
    ROOM: "device and host at once",
    LAPTOP: "the host, and the command that an official has just entered",
}
KEPT, CUT = "kept", "cut"
STORAGES = {KEPT: "all that was written is kept", CUT: "what was not synced is dropped or torn"}
CHANGES = ("write", "truncate", "remove", "rename")
HIT = {
    STATION: (STATION,),
    BOARD: (),
    DEVICE: (STATION,),
    HOST: (HOST,),
    ROOM: (STATION, HOST),
    LAPTOP: (HOST,),
}
"""Whose disk loses power with it."""
LOOK_S = 0.02
FOLD_S = 0.1
"""How often the ledger is looked at."""
ASK_S = 2.0
PATIENCE_S = 60.0
"""So long may nothing change at all before a run is said to have no end."""
RUN_LIMIT_S = 900.0
HANDS_US = 500_000
"""How soon the officials' hands are in the path, on the world's clock."""
LAST_MOMENT_US = 21_000_000
"""A day of this stack takes so long, on the world's clock."""


@dataclass(frozen=True)
class Cut:
    """One thing that is killed at one moment."""

    victim: str
    storage: str
    loss: Loss
    by: str
    """Whose step it is at: station, host or people; "" for a moment of the world's clock."""
    counts: tuple[str, ...] = ()
    at: int = 0
    """Which of the steps in `counts`, or the microsecond."""
    before: bool = False

    def __str__(self) -> str:
        lost = "" if self.storage == KEPT else f", not synced: {self.loss.value}"
        return f"{self.victim} killed {self._when()}{lost}"

    def _when(self) -> str:
        if not self.by:
            return f"at {self.at / 1e6:.3f} s"
        if self.by == LANDED:
            return f"when {self.at} sheets have landed"
        step = "sync" if self.counts == SYNCS else "write"
        return f"{'before' if self.before else 'after'} {step} {self.at} of the {self.by}"


@dataclass(frozen=True)
class Plan:
    """All that is done to one run."""

    number: int
    seed: int
    cuts: tuple[Cut, ...]

    def __str__(self) -> str:
        return f"run {self.number}, seed {self.seed}: {'; then '.join(map(str, self.cuts))}"


@dataclass
class Result:
    """What came of a run."""

    happened: int = 0
    """How many of its cuts came about before the day was over."""
    doubtful: int = 0
    lost: int = 0
    doubled: int = 0
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list[str])
    steps: dict[str, int] = field(default_factory=dict[str, int])
    """Syncs and changes that station and host made up to the end, for the plans."""


class Run:
    """A run under way."""

    def __init__(self, plan: Plan, folder: Path, template: Template) -> None:
        self.plan = plan
        self.chance = random.Random(plan.seed)
        self.stack = Stack(folder, template)
        self.command = Forked("command", folder / "command.log")
        self._board_killed = folder / "board.killed"
        self.disks = {STATION: DiskLog(self.stack.device_folder), HOST: DiskLog(self.stack.host_folder)}
        for disk in self.disks.values():
            disk.begin()
        self.recorder: Recorder = record([self.disks[STATION], self.disks[HOST]])
        self.recorder.name = PEOPLE
        self.left = list(plan.cuts)
        self.result = Result()

    def go(self) -> Result:
        """Do all of it; what went wrong is in the result."""
        began = time.monotonic()
        try:
            with self.stack:
                self._start_host()
                self._await_host()
                self._start_station()
                self._until(self._is_scanned)
                self._until(self._is_told, FOLD_S)
                self._reconcile()
                self._check()
                self._count_steps()
        except Exception as error:  # noqa: BLE001  it is the run's result
            self.result.wrong.append(f"{type(error).__name__}: {error}")
        self.result.seconds = time.monotonic() - began
        return self.result

    # Programs, and their end.

    def _start_host(self) -> None:
        self.stack.start_host(self._arm(HOST))

    def _start_station(self) -> None:
        self.stack.start_station(self._arm(STATION))

    def _arm(self, by: str) -> Callable[[], None]:
        """Return what a program does first: have the next cut happen at its step."""
        cut = self.left[0] if self.left else None

        def kill() -> None:
            for kill_one in self._victims(cut) if cut else ():
                kill_one()

        def begin() -> None:
            self.recorder.name = by
            if cut is not None and cut.by == by:
                self.recorder.arm(cut.at, cut.counts, kill, before=cut.before)

        return begin

    def _victims(self, cut: Cut) -> list[Callable[[], None]]:
        """Return what ends each part that the cut hits: the board first, the killing process itself last."""
        stack = self.stack
        board = [stack.kill_board, self._board_killed.touch] if cut.victim in (BOARD, DEVICE, ROOM) else []
        others: Sequence[Forked] = {
            STATION: (stack.station,),
            DEVICE: (stack.station,),
            HOST: (stack.host,),
            ROOM: (stack.host, stack.station),
            LAPTOP: (stack.host, self.command),
        }.get(cut.victim, ())
        return [*board, *(process.kill_from_anywhere for process in others)]

    def _await_host(self) -> None:
        """Wait until the host serves: a device that comes first would only wait for half a second."""
        told = self.stack.host.log
        while "serving" not in (told.read_text() if told.exists() else ""):
            if self.stack.host.ended():
                if self._next_is_by(HOST):
                    self._after_cut()
                    continue
                self.stack.check()
            time.sleep(LOOK_S)

    def _next_is_by(self, by: str) -> bool:
        return bool(self.left) and self.left[0].by == by

    def _look_for_cut(self) -> None:
        """Let the next cut happen where it is at a moment, and go on where one has happened."""
        if not self.left:
            self.stack.check()
            return
        cut = self.left[0]
        if cut.by == PEOPLE:
            self.stack.check()
        elif not cut.by and self.stack.people.now_us() >= cut.at:
            for kill in self._victims(cut):
                kill()
            self._after_cut()
        elif cut.victim == BOARD:
            if self._board_killed.exists():
                self._after_cut()
        elif (self.stack.host if cut.by == HOST else self.stack.station).ended():
            self._after_cut()

    def _after_cut(self) -> None:
        """Make of the disks what the cut left of them, and start again what was killed."""
        cut = self.left.pop(0)
        self.result.happened += 1
        hit = HIT[cut.victim]
        for name in hit:
            (self.stack.station if name == STATION else self.stack.host).kill()
            if cut.storage == CUT:
                self.disks[name].cut(self.chance, cut.loss)
                self.disks[name].begin()
        time.sleep(self.chance.choice((0.0, 0.0, 0.2, 0.7)))
        if HOST in hit:
            self._start_host()
        if STATION in hit:
            self._start_station()

    # The day.

    def _until(self, done: Callable[[], bool], look_s: float = LOOK_S) -> None:
        """Wait, as long as something changes: how fast this machine is today is no matter."""
        people = self.stack.people
        standing, since_s, asked_s = "", time.monotonic(), 0.0
        while not done():
            self._look_for_cut()
            self._settle_doubt()
            now_s = time.monotonic()
            if now_s > asked_s + ASK_S:
                asked_s = now_s
                shown, positions = people.shown(), people.positions()
                now = f"the panel shows {shown.get('key')}: {shown.get('text')}; the paper lies {positions}"
                if now != standing:
                    standing, since_s = now, now_s
                elif now_s > since_s + PATIENCE_S:
                    raise DayError(f"no end: {standing}")
            time.sleep(look_s)

    def _is_scanned(self) -> bool:
        if self.stack.people.shown().get("key") not in ("press_start", "idle"):
            return False
        positions = self.stack.people.positions()
        return not (positions["hopper"] or positions["path"] or positions["operator"])

    def _is_told(self) -> bool:
        """Return whether the host has all records, and crops, of a batch that is closed."""
        try:
            reader = JournalReader(self.stack.device_folder / JOURNAL_FILE)
            try:
                next_n, _ = reader.head()
            finally:
                reader.close()
            with open_ledger(self.stack.host_folder) as ledger:
                device = ledger.devices()[0].device
                kinds = Counter(record.kind for record in ledger.records())
                return (
                    ledger.head(device)[0] == next_n - 1
                    and ledger.next_crop_n(device) == 0
                    and kinds["batch_opened"] == kinds["batch_closed"] + kinds["batch_voided"] > 0
                )
        except (sqlite3.Error, OSError, OperatorError):
            # What was just cut cannot be read yet; what never can be read ends the run as one without end.
            return False

    def _settle_doubt(self) -> None:
        """Answer for the officials where a sheet in doubt lies, by looking."""
        if self.stack.people.shown().get("key") != "ask_officials" or self.stack.host.ended():
            return
        doubts = json.loads(self.stack.does("doubt", "list", "--json"))["doubts"]
        if not doubts:
            return
        doubt = doubts[0]
        # The officials come to the table; no hand is in the path the moment the question is asked.
        asked_us = self.stack.people.now_us()
        while self.stack.people.now_us() < asked_us + HANDS_US:
            time.sleep(LOOK_S)
        fate = self._where_it_lies()
        if not fate:
            return
        self.result.doubtful += 1
        self.stack.does(
            "doubt", "settle", PRECINCT, str(doubt["sheet"]), fate, "--device", TABLE,
            "--batch", str(doubt["batch"]), "--by", ANN, "--by", BOB,
        )  # fmt: skip
        end_s = time.monotonic() + 10
        while self.stack.people.shown().get("key") == "ask_officials" and time.monotonic() < end_s:
            time.sleep(LOOK_S)

    def _where_it_lies(self) -> str:
        people = self.stack.people
        positions = people.positions()
        if positions["path"]:
            people.set(cover_open=True)
            people.load(people.take_out("path"))
            people.set(cover_open=False)
            return "returned"
        # It landed unseen: it is the one sheet more than the records say, on top of its pile.
        landed = Counter(record.body["bin"] for record in self._records() if record.kind == "sheet_landed")
        landed.update(record.body["fate"] for record in self._records() if record.kind == "doubt_settled")
        return next((pile for pile in BINS if len(positions[pile]) > landed[pile]), "")

    def _records(self) -> Sequence[Record]:
        with open_ledger(self.stack.host_folder) as ledger:
            return ledger.records()

    def _does(self, *words: str) -> str:
        """Let people enter a command; where a cut comes at one of its steps, they enter it again."""
        if not self._next_is_by(PEOPLE):
            return self.stack.does(*words)
        acts = self._acts()
        cut, answer = self.left[0], self.stack.folder / "answer"
        begin = self._arm(PEOPLE)

        def enter() -> None:
            begin()
            printed = self.stack.does(*words)
            answer.write_text(json.dumps([self.recorder.seen, printed]), encoding="utf-8")

        self.command.start(enter)
        if self.command.wait():
            seen, printed = json.loads(answer.read_text(encoding="utf-8"))
            self.left[0] = replace(cut, at=cut.at - seen)
            return printed
        self._after_cut()
        try:
            return self.stack.does(*words)
        except DayError:
            if self._acts() == acts:
                raise
            return "{}"  # it had been taken: the answer alone was lost

    def _acts(self) -> int:
        with open_ledger(self.stack.host_folder) as ledger:
            return len(ledger.acts())

    def _reconcile(self) -> None:
        does = self._does
        does("finish-scanning", PRECINCT, "--by", COORDINATOR)
        piles = truth(self.stack.people.positions())
        for letter, pile in zip("csx", BINS, strict=True):
            for person in (ANN, BOB):
                does("count", "enter", PRECINCT, letter, str(len(piles[pile])), "--by", person)
        told = json.loads(does("reconcile", PRECINCT, "--by", COORDINATOR, "--json"))
        if not all(told.get("identities", {}).values()):
            self.result.wrong.append(f"identities {told['identities']}")

    # The record against the paper.

    def _check(self) -> None:
        piles = truth(self.stack.people.positions())
        if sorted(chain(*piles.values())) != list(range(len(PAPERS))):
            self.result.wrong.append(f"the paper lies {piles}")
        told = json.loads(self.stack.does("figures", PRECINCT, "--by", COORDINATOR, "--json"))["figures"]
        votes = dict(Counter(choice for paper in piles[COUNTED] for choice in PAPERS[paper].choices))
        figures = {key: told[key] for key in ("counted", "set_aside", "not_accepted") if key in told}
        if any(figures[pile] != len(piles[pile]) for pile in figures) or len(figures) < 2:
            self.result.wrong.append(f"the figures {figures}, the paper {piles}")
        if {key: n for key, n in told["votes"].items() if n} != votes:
            self.result.wrong.append(f"the votes {told['votes']}, the paper {votes}")
        self._check_sheets(piles)
        if self.result.doubtful > self.result.happened:
            self.result.wrong.append(f"{self.result.doubtful} doubtful sheets of {self.result.happened} cuts")

    def _check_sheets(self, piles: dict[str, list[int]]) -> None:
        """Compare, sheet by sheet, the papers that the ledger's pictures show with those in the piles."""
        on_record: dict[str, Counter[int]] = {pile: Counter() for pile in BINS}
        with open_ledger(self.stack.host_folder) as ledger:
            if ledger.gaps() or ledger.refusals():
                self.result.wrong.append(f"gaps {ledger.gaps()}, refusals {ledger.refusals()}")
            papers: dict[int, int] = {}
            for record in ledger.records():
                body: dict[str, Any] = record.body
                if record.kind == "sheet_judged":
                    png = ledger.crop(record.device, record.n)
                    papers[body["sheet"]] = -1 if png is None else _paper_in(png)
                elif record.kind == "sheet_landed":
                    on_record[body["bin"]][papers[body["sheet"]]] += 1
                elif record.kind == "doubt_settled" and body["fate"] in on_record:
                    on_record[body["fate"]][papers[body["sheet"]]] += 1
        for pile, papers_there in piles.items():
            # A sheet that was not accepted has no picture: it is counted as one without a name.
            there = Counter(-1 if pile == "not_accepted" else paper for paper in papers_there)
            self.result.lost += (there - on_record[pile]).total()
            self.result.doubled += (on_record[pile] - there).total()

    def _count_steps(self) -> None:
        steps = [step for disk in self.disks.values() for step in disk.steps()]
        for by in (STATION, HOST, PEOPLE):
            for name, kinds in (("syncs", SYNCS), ("changes", CHANGES)):
                mine = [step for step in steps if step.by == by and step.what in kinds]
                self.result.steps[f"{by} {name}"] = len(mine)


def _paper_in(png: bytes) -> int:
    picture = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_GRAYSCALE)
    assert picture is not None
    return paper_of(picture.astype(np.uint8))


def run_one(plan: Plan, folder: Path, template: Template) -> Result:
    """Do one run in this process, whose files are recorded from then on: a process does one run."""
    folder.mkdir()
    return Run(plan, folder, template).go()
