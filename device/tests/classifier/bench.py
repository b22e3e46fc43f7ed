"""What reading a sheet costs: `make bench` measures it and writes docs/benchmarks.md.

Times are told in half-size resizes (cv2.resize, INTER_AREA) of the very same page, measured in turn with the
readings in one process: that ratio hardly depends on the machine. One thread, hot caches, the median of many.
Memory is the peak of a fresh process that holds the program and the page and reads.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from device.tests.classifier.drawn_pages import fresh_page, program
from recount_classifier.raster import Grey

REPORT = Path(__file__).resolve().parents[3] / "docs" / "benchmarks.md"
ROUNDS = 240
MOST_HALVES, AIM_HALVES = 45.0, 25.0
MOST_MIB = 160.0

Figures = dict[str, float]


def main() -> int:
    """Measure, write the report, and return 1 when a limit is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--measure", metavar="FOLDER", type=Path, help="measure what lies in FOLDER (the child)"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    arguments = parser.parse_args()
    figures = {name: _in_a_fresh_process(page, arguments.rounds) for name, page in _pages().items()}
    usual = figures["letter, 200 dpi"]
    kept = usual["read"] / usual["half"] <= MOST_HALVES and usual["peak_mib"] <= MOST_MIB
    REPORT.write_text(_report(figures), encoding="utf-8")
    print(REPORT.read_text(encoding="utf-8"))
    return 0 if kept else 1


def _pages() -> dict[str, Grey]:
    """Return the pages that are read: one ballot as different cameras deliver it."""
    page = fresh_page((1, 5))
    page.mark(page.choice, tool="black_pen")
    page.settings = replace(page.settings, margin_px=0, turn_deg=0.4)
    letter = page.scanned().image
    height, width = letter.shape
    fine = cv2.resize(letter, (2 * width, 2 * height), interpolation=cv2.INTER_CUBIC)
    return {
        "letter, 200 dpi": letter,
        "letter, upside down": np.ascontiguousarray(letter[::-1, ::-1]),
        "letter, 400 dpi": np.asarray(fine, np.uint8),
    }


def _in_a_fresh_process(page: Grey, rounds: int) -> Figures:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "contest.program").write_bytes(program().to_bytes())
        np.save(Path(folder) / "page.npy", page)
        command = [sys.executable, "-m", f"{__package__}.bench_reading", folder, str(rounds)]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(result.stdout)


def _report(figures: dict[str, Figures]) -> str:
    targets = len(program().styles[0].targets)
    machine = f"{platform.machine()}, Python {platform.python_version()}, OpenCV {cv2.__version__}"
    rows = [
        f"| {name} | {row['half']:.3f} | {row['locate']:.2f} | {row['judge']:.2f} | {row['read']:.2f} "
        f"| {row['read'] / row['half']:.1f} | {row['least_read'] / row['least_half']:.1f} "
        f"| {row['peak_mib']:.0f} |"
        for name, row in figures.items()
    ]
    return REPORT_HEAD.format(machine=machine, numpy=np.__version__, targets=targets) + "\n".join(rows) + "\n"


REPORT_HEAD = f"""# What reading a sheet costs

Written by `make bench` on {{machine}}, numpy {{numpy}}: one thread, hot caches, medians of
{ROUNDS} readings, interleaved with the resizes. The contest has {{targets}} targets. Reading is both
registrations, both judgements and the decision, from a page in memory. "Best" compares the fastest reading
with the fastest resize: on a busy machine it is nearer the truth than the medians.

Limits: no more than {MOST_HALVES:g} half-size resizes of the same page (aim: {AIM_HALVES:g}) and
{MOST_MIB:g} MiB, for the letter page at 200 dpi.

| page | resize, ms | locate, ms | judge, ms | read, ms | read, in resizes | best | peak memory, MiB |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""


if __name__ == "__main__":
    raise SystemExit(main())
