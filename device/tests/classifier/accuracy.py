"""Millions of drawn ballot positions through the functions that `judge` uses: no wrong vote, no lost mark.

    python -m device.tests.classifier.accuracy --positions 10000000 --write docs/accuracy.md

A *wrong vote* is a target read as marked that bears no voter's mark. A *lost mark* is a clear mark (at least
1 mm wide, at least 25 % darker than the paper, through or round the target) on a target read as empty. Exits
with 1 when there is any.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.queues import SimpleQueue
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from device.tests.classifier.positions import (
    CLEAR_MM,
    CLEAR_SHARE,
    HIDDEN,
    KIND_NUMBERS,
    KINDS,
    MEANT,
    SHAPES,
    Sheet,
    Supply,
    compose,
    make_supply,
)
from recount_classifier.decide import EMPTY, MARKED, state_of, target_reasons
from recount_classifier.judge import _TOUCH_PX, MM2, Seen, measure_targets, see_ground
from recount_classifier.places import places_of
from recount_classifier.thresholds import Thresholds

COUNTED, ASIDE, BLANK = range(3)
OUTCOMES = ("marked", "set aside", "empty")
"""A target that is marked beyond question, one that people must see, one that is empty beyond question."""
_SHEETS_AT_ONCE = 40
_IS_MEANT = np.array([kind in (*MEANT, HIDDEN) for kind in KINDS])


@dataclass(frozen=True, slots=True)
class Wrong:
    """One target that was read wrongly, so that it can be drawn again and looked at."""

    sheet: tuple[int, ...]
    """Seed of the sheet's chances."""
    target: int
    kind: str
    outcome: str


@dataclass(slots=True)
class Findings:
    """What was found on many positions."""

    table: NDArray[np.int64] = field(default_factory=lambda: np.zeros((len(KINDS), 3), np.int64))
    """Kinds by outcomes."""
    clear: NDArray[np.int64] = field(default_factory=lambda: np.zeros((len(KINDS), 3), np.int64))
    """The same, of clear marks alone."""
    wrong: list[Wrong] = field(default_factory=list[Wrong])

    def add(self, other: Findings) -> None:
        """Take in what was found elsewhere."""
        self.table += other.table
        self.clear += other.clear
        self.wrong += other.wrong

    @property
    def positions(self) -> int:
        """Return how many positions were read."""
        return int(self.table.sum())

    @property
    def wrong_votes(self) -> int:
        """Return how many targets without a voter's mark were read as marked."""
        return int(self.table[~_IS_MEANT, COUNTED].sum())

    @property
    def lost_marks(self) -> int:
        """Return how many clear marks were read as empty."""
        return int(self.clear[:, BLANK].sum())

    @property
    def hidden(self) -> tuple[int, int]:
        """Return how many marks a dab hid, and how many of them were read as empty."""
        row = self.table[KIND_NUMBERS[HIDDEN]]
        return int(row.sum()), int(row[BLANK])

    @property
    def is_right(self) -> bool:
        """Return whether nothing was read wrongly."""
        return self.wrong_votes == 0 and self.lost_marks == 0


def read(sheet: Sheet, limits: Thresholds) -> NDArray[np.intp]:
    """Return the outcome of each target, by the classifier's own functions.

    Each target is judged as a contest of its own: ink in its cell that belongs to no target sets it aside
    from the same area on that sets a contest aside.
    """
    seen = see_ground(sheet.flat, 0.0, sheet.style, limits)
    stray_mm2 = _stray_mm2(seen, sheet, limits)
    outcomes: list[int] = []
    for target, stray in zip(measure_targets([seen], sheet.style, limits)[0], stray_mm2, strict=True):
        state = state_of(target, limits)
        beyond_question = not target_reasons(target, state, limits) and stray < limits.stray_mm2
        outcomes.append(
            COUNTED if state == MARKED and beyond_question
            else BLANK if state == EMPTY and beyond_question
            else ASIDE
        )  # fmt: skip
    return np.array(outcomes, np.intp)


def _stray_mm2(seen: Seen, sheet: Sheet, limits: Thresholds) -> list[float]:
    """Return the ink in each target's cell of strokes that touch no target, dust apart."""
    strokes, count = seen.strokes, len(sheet.style.targets)
    in_targets = strokes.by_zone(places_of(sheet.style).targets, count)
    loose = (in_targets.max(axis=1) < _TOUCH_PX) & (strokes.totals() * MM2 >= limits.speck_mm2)
    astray = loose[strokes.labels]
    cells = sheet.cells.ravel()[strokes.pixels[astray]]
    in_cells = np.bincount(cells, weights=strokes.ink[astray], minlength=count + 1)[1:]
    return (in_cells * MM2).tolist()


def judge_sheets(supply: Supply, seeds: Sequence[tuple[int, ...]], limits: Thresholds) -> Findings:
    """Compose and read one sheet for each seed."""
    findings = Findings()
    for seed in seeds:
        sheet = compose(supply, np.random.default_rng(seed))
        outcomes = read(sheet, limits)
        np.add.at(findings.table, (sheet.kinds, outcomes), 1)
        np.add.at(findings.clear, (sheet.kinds[sheet.clear], outcomes[sheet.clear]), 1)
        meant = _IS_MEANT[sheet.kinds]
        wrong = (~meant & (outcomes == COUNTED)) | (sheet.clear & (outcomes == BLANK))
        findings.wrong += [
            Wrong(seed, int(target), KINDS[sheet.kinds[target]], OUTCOMES[outcomes[target]])
            for target in np.flatnonzero(wrong)
        ]
    return findings


# -- many processes ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Task:
    """What one process does: sheets of its own banks until it has read so many positions."""

    seed: int
    process: int
    positions: int
    marks_of_kind: int
    limits: Thresholds


def work(task: Task) -> Iterator[Findings]:
    """Draw the banks of a process, then yield what is found, some sheets at a time."""
    cv2.setNumThreads(1)
    supply = make_supply(task.marks_of_kind, prints=25, seed=(task.seed, task.process))
    # The banks stay: the collector need not go through them again and again.
    gc.freeze()
    done, first = 0, 0
    while done < task.positions:
        seeds = [(task.seed, task.process, number) for number in range(first, first + _SHEETS_AT_ONCE)]
        findings = judge_sheets(supply, seeds, task.limits)
        done, first = done + findings.positions, first + _SHEETS_AT_ONCE
        yield findings


def _send(task: Task, queue: SimpleQueue[Findings | None]) -> None:
    try:
        for findings in work(task):
            queue.put(findings)
    finally:
        queue.put(None)


_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": "1000000000",
    "MALLOC_TRIM_THRESHOLD_": "1000000000",
}
"""What the processes inherit: each uses one core, and keeps the memory of one sheet for the next (a tenth
of the time went into pages that glibc gave back and took anew)."""


def work_in_processes(tasks: Sequence[Task]) -> Iterator[Findings]:
    """Yield what each of the processes finds, as it comes. Raises RuntimeError when one of them dies."""
    os.environ.update(_ENVIRONMENT)
    context = multiprocessing.get_context("spawn")
    queue: SimpleQueue[Findings | None] = context.SimpleQueue()
    processes = [context.Process(target=_send, args=(task, queue), daemon=True) for task in tasks]
    for process in processes:
        process.start()
    running = len(processes)
    while running:
        findings = queue.get()
        if findings is None:
            running -= 1
        else:
            yield findings
    for process in processes:
        process.join()
        if process.exitcode:
            raise RuntimeError("one of the processes failed; its error stands above")


# -- what people read ----------------------------------------------------------------------------------------

_WORDS = {
    "nothing": "nothing",
    "full": "full mark",
    "scribble": "hasty full mark",
    "partial": "part of the target filled",
    "x": "X",
    "check": "check",
    "line": "line",
    "long_axis": "1 mm line (VVSG 2.0 1.1.6-H)",
    "circle": "circle round the target",
    "dot": "dot",
    "tick": "hesitation tick",
    "resting": "resting pen",
    "outside": "X beside the target",
    "dust": "dust",
    "hair": "hair",
    "smear": "erased mark",
    "show_through": "other side's mark",
    "crease": "crease",
    HIDDEN: "mark under glare or fluid",
    "fold": "fold line",
    "streak": "scan streak",
    "watermark": "watermark",
}


def table_of(findings: Findings) -> str:
    """Return the table by kind, in Markdown."""
    lines = [
        "| on the target | positions | marked | set aside | empty | clear marks | of them empty |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for kind in KINDS:
        row, clear = findings.table[KIND_NUMBERS[kind]], findings.clear[KIND_NUMBERS[kind]]
        cells = [int(row.sum()), *row.tolist()]
        cells += [int(clear.sum()), int(clear[BLANK])] if kind in MEANT else []
        lines.append(
            f"| {_WORDS[kind]} | "
            + " | ".join(f"{n:,}" for n in cells)
            + (" | | |" if kind not in MEANT else " |")
        )
    return "\n".join(lines)


def verdict_of(findings: Findings) -> str:
    """Return the result in one sentence."""
    return (
        f"{findings.positions:,} positions: {findings.wrong_votes} wrong votes, "
        f"{findings.lost_marks} clear marks read as empty."
    )


def page_of(findings: Findings, seconds: float, processes: int, seed: int) -> str:
    """Return the page for docs/, in Markdown."""
    empty = int(findings.table[0].sum())
    hidden, unseen = findings.hidden
    shapes = ", ".join(shape.name for shape in SHAPES)
    return f"""# Accuracy on drawn ballot positions

Written by `make accuracy` (seed {seed}, {processes} processes, {seconds:.0f} s). Every position went through
`see_ground`, `measure_targets`, `state_of` and `target_reasons`, which `judge` uses for real sheets.

**{verdict_of(findings)}**

A wrong vote is a target read as marked that bears no voter's mark, whatever else it bears. A clear mark is at
least {CLEAR_MM:g} mm wide and {CLEAR_SHARE:.0%} darker than the paper, and goes through or round the target.
*Marked* and *empty* mean beyond question; all else is set aside for people, who see the paper.
No wrong vote among {empty:,} bare targets bounds the rate, for positions like these, at {3 / empty:.1e} a
target (95 %, rule of three).
A mark under glare or fluid is not clear: its ink is not in the picture. Of {hidden:,} such targets
{unseen:,} were read as empty ({unseen / max(1, hidden):.2%}); the others gave themselves away, mostly by a
pale outline.

{table_of(findings)}

Drawn are: targets ({shapes}); all tools of `recount_ballots` and pens of any shade from 10 to 190 and 0.4
to 1.6 mm wide; dots and ticks of pens up to 0.8 mm, reaching at most 35 % of the target's width and covering
less than a fifth of its inside; paper from 205 to 250 and print from 12 to 40 grey levels, printed 80 to
100 % black; registration errors of 0.15 px (deviation), on one sheet in 25 up to 1.2 px, different at every
target; targets so close that the grounds round them, half a target wide, touch;
blur of 0.45 to 0.95 px; noise of 2 to 14 grey levels; uneven light; JPEG of quality 40 to 90 on one sheet in
ten. Pictures of one bit are not drawn: a mark that their threshold has removed is not in the picture. Marks
beside a target also reach into its neighbours. Glare and fluid are bright patches with soft edges, half to
two and a half times as large as the target, that take 70 to 100 % of the ink in their middle.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the positions, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="accuracy", description="Read drawn ballot positions.")
    parser.add_argument(
        "--positions", type=int, default=10_000_000, help="how many to read (default: %(default)s)"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--marks", type=int, default=400, help="patches drawn of each kind (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the result as a page")
    given = parser.parse_args(arguments)
    if min(given.positions, given.processes, given.marks) < 1:
        parser.error("--positions, --processes and --marks must be at least 1")
    share = -(-given.positions // given.processes)
    tasks = [Task(given.seed, n, share, given.marks, Thresholds()) for n in range(given.processes)]
    findings, started, told = Findings(), time.monotonic(), 0.0
    # Interrupted, it tells what it has read so far.
    with suppress(KeyboardInterrupt):
        for some in work_in_processes(tasks):
            findings.add(some)
            seconds = time.monotonic() - started
            if seconds - told >= 5:
                told = seconds
                done = f"{findings.positions:>12,} of {given.positions:,}, {seconds:.0f} s"
                print(f"{done}, {len(findings.wrong)} wrong", file=sys.stderr, flush=True)
    seconds = time.monotonic() - started
    print(table_of(findings))
    print(f"\n{verdict_of(findings)} {seconds:.0f} s.")
    for wrong in findings.wrong[:20]:
        print(f"  {wrong.kind} read as {wrong.outcome}: sheet {wrong.sheet}, target {wrong.target}")
    if given.write:
        given.write.write_text(page_of(findings, seconds, given.processes, given.seed), encoding="utf-8")
    return 0 if findings.is_right else 1


if __name__ == "__main__":
    sys.exit(main())
