"""`make soak-power`: a thousand precincts in which something is killed, and each of them comes out right.

Each run is a stack of six sheets on the real station, journal, links, ledger, and firmware in its
interpreter. Station, host, board, the whole device or all at once is killed by SIGKILL: at every sync that
station, host and the people's commands make, at random writes, at random moments. In more than half of the
runs the disk loses or tears what was not synced. Then people finish the precinct, with answers taken from
where the paper lies.
"""

import argparse
import json
import os
import platform
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from firmware_tests.benchmark_page import write_section
from firmware_tests.power_disk import SYNCS, Loss
from firmware_tests.power_real import AT_A_TIME, SHEETS, few_sheets, real_plans, run_real
from firmware_tests.power_runs import (
    BOARD,
    CHANGES,
    CUT,
    DEVICE,
    HOST,
    KEPT,
    LAPTOP,
    LAST_MOMENT_US,
    PEOPLE,
    ROOM,
    RUN_LIMIT_S,
    STATION,
    STORAGES,
    VICTIMS,
    Cut,
    Plan,
    Result,
    run_one,
)
from firmware_tests.power_stack import PAPERS, Template, die_with, import_commands, keep_software
from recount_world.board_process import interpreter
from recount_world.errors import BoardError

TOLD_EVERY_S = 20.0
WAITS_PER_CORE = 3
"""Runs at a time on each core: they mostly wait, for hands and for connections."""
RUNS_TO_A_REAL_ONE = 30
"""To so many runs comes one on the commands themselves."""
LOSSES = (Loss.SOME, Loss.SOME, Loss.SOME, Loss.ALL, Loss.LAST_TORN, Loss.NONE)

AT_EVERY_SYNC = (
    (STATION, STATION, CUT),
    (DEVICE, STATION, CUT),
    (ROOM, STATION, CUT),
    (BOARD, STATION, KEPT),
    (STATION, STATION, KEPT),
    (HOST, HOST, CUT),
    (HOST, HOST, KEPT),
    (LAPTOP, PEOPLE, CUT),
    (LAPTOP, PEOPLE, KEPT),
)
"""What is killed at each sync, by whose syncs, and what of the disk survives."""

WHOLE_SOAK = 1000
"""So many runs with a cut are a whole soak: its figures are written down, and its bounds are asked for."""
TORN_SHARE = 0.5
"""At least this share of the runs loses or tears what was not synced."""

STEPS: Mapping[str, int] = {
    "station syncs": 39,
    "station changes": 101,
    "host syncs": 26,
    "host changes": 117,
    "people syncs": 19,
}
"""What a day without a cut has; when the host's words come, and how many at once, differs a little."""
MORE_STEPS = 4
"""So many more than planned are borne; then STEPS has to be raised."""


def plans(seed: int, number: int) -> list[Plan]:
    """Return the plans of a soak: at every sync first, then at random, as many as are wanted."""
    chance = random.Random(seed)
    cuts: list[tuple[Cut, ...]] = [(cut,) for cut in _at_every_sync(chance)]
    while len(cuts) < number:
        cuts.append(_at_random(chance))
    return [Plan(n, seed * 1_000_003 + n, own) for n, own in enumerate(cuts, 1)]


def _at_every_sync(chance: random.Random) -> list[Cut]:
    return [
        Cut(victim, storage, chance.choice(LOSSES), by, SYNCS, at, before)
        for victim, by, storage in AT_EVERY_SYNC
        for at in range(1, STEPS[f"{by} syncs"] + 1)
        for before in (True, False)
    ]


def _at_random(chance: random.Random) -> tuple[Cut, ...]:
    """Return a cut at a random write or moment, and in a third of the runs one more, at a moment."""
    victim = chance.choice((STATION, DEVICE, HOST, ROOM, BOARD))
    first = _at_a_write(chance, victim) if chance.random() < 0.5 else _at_a_moment(chance, victim, 0)
    if chance.random() < 2 / 3:
        return (first,)
    earliest = first.at if not first.by else 0
    return first, _at_a_moment(chance, chance.choice((STATION, DEVICE, HOST, ROOM, BOARD)), earliest)


def _at_a_write(chance: random.Random, victim: str) -> Cut:
    by = HOST if victim == HOST else STATION
    at = chance.randrange(1, STEPS[f"{by} changes"] + 1)
    return Cut(
        victim, _storage(chance, victim), chance.choice(LOSSES), by, CHANGES, at, chance.random() < 0.5
    )


def _at_a_moment(chance: random.Random, victim: str, earliest_us: int) -> Cut:
    at_us = chance.randrange(earliest_us, LAST_MOMENT_US)
    return Cut(victim, _storage(chance, victim), chance.choice(LOSSES), "", (), at_us)


def _storage(chance: random.Random, victim: str) -> str:
    return KEPT if victim == BOARD or chance.random() < 0.3 else CUT


@dataclass
class Worker:
    """A run in a process of its own."""

    plan: Plan
    pid: int
    answer: int
    folder: Path
    began_s: float


class Soak:
    """Runs under way, so many at a time."""

    def __init__(self, folder: Path, do: Callable[[Plan, Path], Result], at_a_time: int) -> None:
        """`do` does a run, in a process of its own, in a folder below `folder`."""
        self._folder = folder
        self._do = do
        self._at_a_time = at_a_time
        self._workers: dict[int, Worker] = {}

    def run(self, planned: Sequence[Plan], hear: Callable[[Plan, Result, Path], None]) -> None:
        """Do all; `hear` gets each result, with the folder that is removed afterwards."""
        waiting = list(reversed(planned))
        while waiting or self._workers:
            while waiting and len(self._workers) < self._at_a_time:
                self._begin(waiting.pop())
            ready, _, _ = select.select(list(self._workers), [], [], 1.0)
            for answer in ready:
                self._end(self._workers.pop(answer), hear)
            for worker in list(self._workers.values()):
                if time.monotonic() > worker.began_s + RUN_LIMIT_S:
                    os.killpg(worker.pid, signal.SIGKILL)

    def _begin(self, plan: Plan) -> None:
        here, there = os.pipe()
        folder = self._folder / f"run-{plan.number}"
        parent, pid = os.getpid(), os.fork()
        if pid == 0:
            _work(parent, lambda: self._do(plan, folder), there)
        os.close(there)
        self._workers[here] = Worker(plan, pid, here, folder, time.monotonic())

    def _end(self, worker: Worker, hear: Callable[[Plan, Result, Path], None]) -> None:
        with os.fdopen(worker.answer, "rb") as pipe:
            told = pipe.read()
        os.waitpid(worker.pid, 0)
        result = Result(**json.loads(told)) if told else Result(wrong=["the run came to no end"])
        hear(worker.plan, result, worker.folder)
        shutil.rmtree(worker.folder, ignore_errors=True)


def _work(parent: int, do: Callable[[], Result], answer: int) -> None:
    """Be the process of one run."""
    try:
        die_with(parent)
        os.setpgid(0, 0)
        result = do()
        with os.fdopen(answer, "wb") as pipe:
            pipe.write(json.dumps(asdict(result)).encode())
    finally:
        os._exit(0)


class Tally:
    """What came of all runs."""

    def __init__(self) -> None:
        self.programs = "forked"
        self.runs: Counter[tuple[str, str, str]] = Counter()
        self.doubtful: Counter[tuple[str, str, str]] = Counter()
        self.lost = self.doubled = self.failed = self.uncut = self.cuts = 0
        self.most_doubtful = 0

    def take(self, plan: Plan, result: Result) -> None:
        """Add a run: in the row of its first cut."""
        row = self.programs, plan.cuts[0].victim, plan.cuts[0].storage
        self.cuts += result.happened
        self.uncut += not result.happened
        self.runs[row] += 1
        self.doubtful[row] += result.doubtful
        self.most_doubtful = max(self.most_doubtful, result.doubtful)
        self.lost += result.lost
        self.doubled += result.doubled
        self.failed += is_wrong(result)

    @property
    def cut_runs(self) -> int:
        """How many runs had a cut."""
        return self.runs.total() - self.uncut

    @property
    def torn_share(self) -> float:
        """The share of the runs whose disk lost or tore what was not synced."""
        torn = sum(n for (_, _, storage), n in self.runs.items() if storage == CUT)
        return torn / max(1, self.runs.total())

    @property
    def is_good(self) -> bool:
        """Whether nothing is wrong and, of a whole soak, enough was done."""
        whole = self.runs.total() >= WHOLE_SOAK
        enough = self.cut_runs >= WHOLE_SOAK and self.torn_share >= TORN_SHARE
        return not self.failed and (enough or not whole)

    def table(self) -> list[str]:
        """Return the table of what was killed and what the disk lost."""
        rows = [
            f"| {row[0]} | {VICTIMS[row[1]]} | {STORAGES[row[2]]} | {n:,} | {self.doubtful[row]:,} |"
            for row, n in sorted(self.runs.items(), reverse=True)
        ]
        return [
            "| programs | killed | disk | runs | doubtful sheets |",
            "| --- | --- | --- | --: | --: |",
            *rows,
            f"| all | | | {self.runs.total():,} | {self.doubtful.total():,} |",
        ]


def is_wrong(result: Result) -> bool:
    """Return whether a run is not as it must be."""
    return bool(result.wrong or result.lost or result.doubled)


def soak(
    seed: int, number: int, real: int, only: int | None, say: Callable[[str], None], at_a_time: int
) -> Tally:
    """Run everything and return its tally; failures and progress go to `say`."""
    shared = Path("/dev/shm")  # memory: how long a disk takes to sync is not the question
    tally, began, told_s = Tally(), time.monotonic(), 0.0
    with tempfile.TemporaryDirectory(prefix="power-", dir=shared if shared.is_dir() else None) as name:
        folder = Path(name)
        (folder / "template").mkdir()
        keep_software()
        import_commands()
        template = Template(folder / "template")
        runs = Soak(folder, lambda plan, own: run_one(plan, own, template), at_a_time)
        _look_at_an_uncut_day(runs, seed, say)
        planned = plans(seed, number)
        wanted = [plan for plan in planned if only in (None, plan.number)]
        # Mixed, so that a soak that is short, or cut short, has its share of everything.
        random.Random(seed).shuffle(wanted)
        wanted = wanted[:number]

        def hear(plan: Plan, result: Result, own: Path) -> None:
            nonlocal told_s
            tally.take(plan, result)
            if is_wrong(result):
                say(f"WRONG: {plan}: lost {result.lost}, doubled {result.doubled}; {'; '.join(result.wrong)}")
                say(f"again: python -m firmware_tests.power --seed {seed} --only {plan.number}")
                if only is not None:
                    say("\n".join(f"--- {log.name}\n{log.read_text()}" for log in sorted(own.glob("*.log"))))
            if time.monotonic() - told_s > TOLD_EVERY_S or only is not None:
                told_s = time.monotonic()
                done, of = tally.runs.total(), len(wanted) + (real if only is None else 0)
                say(f"{told_s - began:5.0f} s: {done} of {of} runs, {tally.failed} wrong; {plan}")

        runs.run(wanted, hear)
        if real and only is None:
            say(f"{real} runs on the commands themselves")
            tally.programs = "the commands"
            (folder / "real").mkdir()
            stack = few_sheets(folder / "real")
            days = Soak(folder / "real", lambda plan, own: run_real(plan, own, stack), AT_A_TIME)
            days.run(real_plans(seed, real), hear)
    return tally


def _look_at_an_uncut_day(runs: Soak, seed: int, say: Callable[[str], None]) -> None:
    """See that a day without a cut is right, and has the syncs that are planned for."""
    found: list[Result] = []
    runs.run([Plan(0, seed, ())], lambda _plan, result, _folder: found.append(result))
    (result,) = found
    if is_wrong(result):
        raise SystemExit(f"soak-power: the day without a cut is wrong: {'; '.join(result.wrong)}")
    for name, planned in STEPS.items():
        if name.endswith("syncs") and result.steps[name] > planned + MORE_STEPS:
            raise SystemExit(
                f"soak-power: a day has {result.steps[name]} {name} now: raise STEPS in power.py"
            )
    say(f"a day without a cut: {result.seconds:.1f} s, {result.steps}")


def section(tally: Tally, seconds: float, seed: int) -> str:
    """Return the section of docs/benchmarks.md."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    minutes, rest = divmod(round(seconds), 60)
    processor_s = used.ru_utime + used.ru_stime
    written = (
        f"Written by `make soak-power` (seed {seed}) after {minutes} min {rest} s, in which it used "
        f"{processor_s:,.0f} seconds of {os.cpu_count()} cores of {platform.machine()}, Python "
        f"{platform.python_version()}. {tally.runs.total():,} precincts of {len(PAPERS)} to {SHEETS} sheets, "
        f"{tally.cuts:,} cuts: before and after every sync of station, host and the people's commands, "
        "at random writes and at random moments ([simulator.md](simulator.md#power-cuts))."
    )
    notes = (
        f"Most doubtful sheets in one run: {tally.most_doubtful}; more of them than cuts are a wrong run. "
        f"Runs that were over before their cut: {tally.uncut}."
    )
    steps = ", ".join(f"{STEPS[f'{by} syncs']} of {by}" for by in (STATION, HOST, PEOPLE))
    return "\n".join(
        [
            "# Power cuts",
            "",
            written,
            "",
            *tally.table(),
            "",
            notes,
            "",
            "| asked for, of a whole soak | | |",
            "| --- | --: | --: |",
            f"| runs with a cut, at least | {WHOLE_SOAK:,} | {tally.cut_runs:,} |",
            f"| runs whose disk lost or tore, at least | {TORN_SHARE:.0%} | {tally.torn_share:.0%} |",
            f"| syncs of a day, each cut before and after | {steps} | planned first |",
            "",
            "| must be 0 | |",
            "| --- | --: |",
            f"| sheets lost | {tally.lost} |",
            f"| sheets doubled | {tally.doubled} |",
            f"| runs that did not end as they must | {tally.failed} |",
        ]
    )


def main(words: Sequence[str]) -> int:
    """Run the soak and print its table; 1 where a run is not as it must be."""
    parser = argparse.ArgumentParser(prog="firmware_tests.power", description="Power cuts.")
    parser.add_argument("--runs", type=int, default=1200, help="how many (default: 1200)")
    parser.add_argument("--seed", type=int, default=5, help="of everything that is drawn (default: 5)")
    parser.add_argument(
        "--only", type=int, metavar="K", help="do run K alone, and show its logs if it is wrong"
    )
    parser.add_argument("--real", type=int, metavar="N", help="as many on the commands (default: a 30th)")
    parser.add_argument("--at-a-time", type=int, default=WAITS_PER_CORE * (os.cpu_count() or 1))
    options = parser.parse_args(words)
    if options.runs < 1 or options.at_a_time < 1:
        parser.error("--runs and --at-a-time must be at least 1")
    try:
        interpreter()
    except BoardError as error:
        print(f"soak-power: {error}", file=sys.stderr)
        return 2
    began = time.monotonic()
    real = options.runs // RUNS_TO_A_REAL_ONE if options.real is None else options.real

    def say(line: str) -> None:
        print(line, flush=True)

    tally = soak(options.seed, options.runs, real, options.only, say, options.at_a_time)
    text = section(tally, time.monotonic() - began, options.seed)
    print(text)
    if options.runs >= WHOLE_SOAK and options.only is None:
        write_section("soak-power", text)
        print("written to docs/benchmarks.md")
    return 0 if tally.is_good else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
