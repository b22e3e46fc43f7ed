"""The table of docs/classifier.md: how exactly targets are found under a lens, with and without lens.json.

`python -m device.tests.classifier.lens_accuracy [PAGES]` measures (20 pages a row) and writes it.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from device.tests.classifier.bent_pages import PROGRAMS, bent_page, errors_px, found_lens
from recount_classifier.evidence import Refusal

PAGE = Path(__file__).resolve().parents[3] / "docs" / "classifier.md"
BENDS = (0.0, 0.01, -0.01, 0.03, -0.03, 0.06, -0.06, 0.1, -0.1)
"""Pincushions bend outwards, barrels inwards; the share at the corner."""
BEGIN, END = "<!-- made by lens_accuracy.py: begin -->", "<!-- made by lens_accuracy.py: end -->"


def row(k1: float, pages: int) -> str:
    """Return the row of one lens: for each width of a contest without, then with its calibration."""
    scans = [bent_page(number, k1).scanned() for number in range(pages)]
    cells = [
        cell([errors_px(result, its(), lens) for result in scans])
        for its in PROGRAMS.values()
        for lens in (None, found_lens(k1))
    ]
    return f"| {format(k1, '+.0%') if k1 else 'none'} | {' | '.join(cells)} |"


def cell(found: Sequence[NDArray[np.float64] | Refusal]) -> str:
    """Return median and 99.9th percentile of the errors, and how many sheets are refused."""
    errors = [error for one in found if not isinstance(one, Refusal) for error in one.tolist()]
    refused = sum(isinstance(one, Refusal) for one in found)
    told = f"{np.median(errors):.2f}, {np.percentile(errors, 99.9):.2f}" if errors else "-"
    return f"{told} ({refused} of {len(found)} refused)" if refused else told


def table(pages: int) -> str:
    """Return the measured table."""
    heads = [f"{width}, {how}" for width in PROGRAMS for how in ("without", "with")]
    lines = [f"| bend at the corner | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    return "\n".join(lines + [row(k1, pages) for k1 in BENDS])


def main() -> None:
    """Measure, print, and write the table into the page."""
    made = table(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    print(made)
    between = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(between.sub(lambda _: f"{BEGIN}\n{made}\n{END}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
