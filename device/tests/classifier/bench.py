"""What reading a sheet costs: `make bench` measures it and writes docs/benchmarks.md.

Times are told in half-size resizes (cv2.resize, INTER_AREA) of the very same page, measured in turn with the
readings in one process: that ratio hardly depends on the machine. One thread, hot caches, the median of many.
Memory is the peak of a fresh process that holds the program and the page and reads.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from device.tests.classifier.bench_reading import HALF, JUDGE, LOCATE, READ, WARMING
from device.tests.classifier.drawn_pages import contest_of, fresh_page, program_of, usual_design
from firmware_tests.benchmark_page import write_section
from recount_ballots.design import HEIGHTS_IN, Candidate, Design
from recount_ballots.names import FIRST_NAMES, LAST_NAMES
from recount_classifier.program import Program
from recount_classifier.raster import Grey

ROUNDS, OTHER_ROUNDS = 240, 40
MOST_HALVES, AIM_HALVES = 45.0, 25.0
MOST_MIB = 160.0
TARGETS = (4, 8, 16, 32)
LETTER, LONGEST = "letter, 200 dpi", "22in"

Figures = dict[str, list[float]]


def main() -> int:
    """Measure, write the report, and return 1 when a limit is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args().rounds
    usual = usual_design()
    figures = {
        name: _in_a_fresh_process(
            program_of(usual), page, rounds if name == LETTER else OTHER_ROUNDS, whole=name == LETTER
        )
        for name, page in _pages(usual).items()
    }
    by_page = {name: _of(replace(usual, height_in=HEIGHTS_IN[name])) for name in ("letter", "legal", LONGEST)}
    by_targets = {str(count): _of(_with_targets(count)) for count in TARGETS}
    report = _report(figures, by_page, by_targets, rounds)
    write_section("bench", report)
    print(report)
    letter = figures[LETTER]
    kept = letter[READ][0] / letter[HALF][0] <= MOST_HALVES and letter["peak_mib"][0] <= MOST_MIB
    return 0 if kept else 1


def _pages(design: Design) -> dict[str, Grey]:
    """Return the pages that are read: one ballot as different cameras deliver it."""
    letter = _marked(design)
    height, width = letter.shape
    fine = cv2.resize(letter, (2 * width, 2 * height), interpolation=cv2.INTER_CUBIC)
    return {
        LETTER: letter,
        "letter, upside down": np.ascontiguousarray(letter[::-1, ::-1]),
        "letter, 400 dpi": np.asarray(fine, np.uint8),
    }


def _marked(design: Design) -> Grey:
    """Return the picture of a sheet of this ballot, marked for one choice."""
    page = fresh_page((1, 5), design)
    page.mark(page.choice, tool="black_pen")
    page.settings = replace(page.settings, margin_px=0, turn_deg=0.4)
    return page.scanned().image


def _with_targets(count: int) -> Design:
    """Return the longest ballot with a contest of so many targets, one of them a write-in's."""
    people = [
        Candidate(
            "ABC"[number] if number < 3 else f"D{number}",
            f"{FIRST_NAMES[number]} {LAST_NAMES[(5 * number) % len(LAST_NAMES)]}",
            "Independent",
        )
        for number in range(count - 1)
    ]
    candidates = (*people, Candidate("W", "Write-in", write_in=True))
    design = usual_design()
    contest = replace(contest_of(design), vote_for=1, candidates=candidates)
    return replace(design, front=(design.front[0], contest), height_in=HEIGHTS_IN[LONGEST])


def _of(design: Design) -> Figures:
    return _in_a_fresh_process(program_of(design), _marked(design), OTHER_ROUNDS)


def _in_a_fresh_process(program: Program, page: Grey, rounds: int, *, whole: bool = False) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "contest.program").write_bytes(program.to_bytes())
        np.save(Path(folder) / "page.npy", page)
        extent = "whole" if whole else "reading"
        command = [sys.executable, "-m", f"{__package__}.bench_reading", folder, str(rounds), extent]
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        result = subprocess.run(
            command, check=True, capture_output=True, text=True, env=os.environ | one_thread
        )
    return json.loads(result.stdout)


# -- the report ----------------------------------------------------------------------------------------------


def _report(
    figures: dict[str, Figures], by_page: dict[str, Figures], by_targets: dict[str, Figures], rounds: int
) -> str:
    letter = figures[LETTER]
    return REPORT_TEXT.format(
        machine=_machine(),
        rounds=rounds,
        targets=len(program_of(usual_design()).styles[0].targets),
        pages="\n".join(_page_row(name, row) for name, row in figures.items()),
        steps="\n".join(_step_row(name, letter) for name in letter if name.startswith("step: ")),
        primitives="\n".join(
            f"| {name} | {letter[name][0]:.3f} | {letter[name][1]:.3f} |"
            for name in letter
            if name.startswith(("np.", "cv2."))
        ),
        by_page="\n".join(_growth_row(_paper(name), row) for name, row in by_page.items()),
        by_targets="\n".join(_growth_row(f"{name} targets", row) for name, row in by_targets.items()),
    )


def _machine() -> str:
    """Return the processor's name, how many there are, and the libraries' versions."""
    lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    processor = f"{names[0]}, {len(names)} of them" if names else platform.machine()
    versions = f"Python {platform.python_version()}, OpenCV {cv2.__version__}, numpy {np.__version__}"
    return f"{platform.machine()} ({processor}), {versions}"


def _paper(name: str) -> str:
    return f"{name} ({8.5:g} x {HEIGHTS_IN[name]:g} in)"


def _page_row(name: str, row: Figures) -> str:
    (half, least_half), (read, least_read) = row[HALF], row[READ]
    return (
        f"| {name} | {half:.3f} / {least_half:.3f} | {row[LOCATE][0]:.2f} / {row[LOCATE][1]:.2f} "
        f"| {row[JUDGE][0]:.2f} / {row[JUDGE][1]:.2f} | {read:.2f} / {least_read:.2f} "
        f"| **{read / half:.1f}** / {least_read / least_half:.1f} | {row['peak_mib'][0]:.0f} |"
    )


def _step_row(name: str, letter: Figures) -> str:
    cost, least = letter[name]
    told = name.removeprefix("step: ")
    return f"| {told} | {cost:.2f} | {least:.2f} | {cost / letter[HALF][0]:.1f} |"


def _growth_row(name: str, row: Figures) -> str:
    return (
        f"| {name} | {row[HALF][0]:.3f} | {row[LOCATE][0]:.2f} | {row[JUDGE][0]:.2f} | {row[READ][0]:.2f} |"
    )


REPORT_TEXT = f"""## What reading a sheet costs

Written by `make bench` on {{machine}}.
One thread; in every round each thing is done {WARMING} times without a clock and once with it, in turn with
all the others, so that all are hot: a resize here costs what it costs in a loop of its own. Figures are
medians of {{rounds}} rounds for the letter page at 200 dpi and its steps, of {OTHER_ROUNDS} for the others;
after a stroke the best of them, which on a busy machine is nearer the truth. Reading is both registrations,
both judgements and the decision, from a page in memory; the contest has {{targets}} targets.

Limits: no more than {MOST_HALVES:g} half-size resizes (`cv2.resize`, INTER_AREA) of the same page (aim:
{AIM_HALVES:g}) and {MOST_MIB:g} MiB, for the letter page at 200 dpi.

| page | resize, ms | locate, ms | judge, ms | read, ms | read, in resizes | peak memory, MiB |
| --- | --- | --- | --- | --- | --- | --- |
{{pages}}

### Where the time goes

The steps of reading the letter page, each measured by itself, with its own code and pictures in the caches.
In a reading each runs once, after the whole page has gone through the caches: there they cost half as much
again, which is why they do not sum up to it.

| step | median, ms | best, ms | in resizes |
| --- | --- | --- | --- |
{{steps}}

### Other primitives, same run

| one call | median, ms | best, ms |
| --- | --- | --- |
{{primitives}}

### How the cost grows

With the page, the contest being the same, by the two pyramids alone:

| page | resize, ms | locate, ms | judge, ms | read, ms |
| --- | --- | --- | --- | --- |
{{by_page}}

With the contest's targets and its extent, on the longest page:

| contest | resize, ms | locate, ms | judge, ms | read, ms |
| --- | --- | --- | --- | --- |
{{by_targets}}
"""


if __name__ == "__main__":
    raise SystemExit(main())
