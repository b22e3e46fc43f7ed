"""The table of docs/classifier.md: how exactly targets are found under a lens, with and without lens.json.

`python -m device.tests.classifier.lens_accuracy [PAGES]` measures (40 pages a row) and writes it.
"""

import re
import sys
from pathlib import Path

import numpy as np

from device.tests.classifier.bent_pages import PROGRAMS, bent_page, errors_px, found_lens
from recount_classifier.evidence import Refusal

PAGE = Path(__file__).resolve().parents[3] / "docs" / "classifier.md"
BENDS = (0.0, 0.01, -0.01, 0.03, -0.03, 0.06, -0.06, 0.1, -0.1)
"""Pincushions bend outwards, barrels inwards; the share at the corner."""
BEGIN, END = "<!-- made by lens_accuracy.py: begin -->", "<!-- made by lens_accuracy.py: end -->"


def cell(k1: float, width: str, pages: int, *, with_lens: bool) -> str:
    """Return median and 99.9th percentile of the error, and how many sheets are refused."""
    lens = found_lens(k1) if with_lens else None
    errors: list[float] = []
    refused = 0
    for number in range(pages):
        found = errors_px(bent_page(number, k1), PROGRAMS[width](), lens)
        if isinstance(found, Refusal):
            refused += 1
        else:
            errors += found.tolist()
    told = f"{np.median(errors):.2f}, {np.percentile(errors, 99.9):.2f}" if errors else "-"
    return f"{told} ({refused} of {pages} refused)" if refused else told


def table(pages: int) -> str:
    """Return the measured table."""
    heads = [f"{width}, {how}" for width in PROGRAMS for how in ("without", "with")]
    lines = [f"| bend at the corner | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    for k1 in BENDS:
        cells = [
            cell(k1, width, pages, with_lens=with_lens) for width in PROGRAMS for with_lens in (False, True)
        ]
        lines.append(f"| {k1:+.0%} | {' | '.join(cells)} |" if k1 else f"| none | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print, and write the table into the page."""
    made = table(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
    print(made)
    between = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(between.sub(lambda _: f"{BEGIN}\n{made}\n{END}", text), encoding="utf-8")


if __name__ == "__main__":
    main()
