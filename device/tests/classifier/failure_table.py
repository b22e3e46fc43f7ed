"""Reads the failure table at 60 sheets a row: `make failure-table`, whole or in parts.

It prints a line as each row ends.

The rows and what is asked of them are those of test_failure_table.py, which reads a few sheets of each.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import cv2

from device.tests.classifier.test_failure_table import (
    HIGH_PX,
    MEDIAN_PX,
    TABLE,
    TABLE_PAGES,
    Found,
    Row,
    read_row,
    registration_error_px,
)


def main() -> int:
    """Read the rows of one part; return 1 when a sheet was counted wrongly or too few were counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=TABLE_PAGES, help="sheets of each row")
    parser.add_argument("--part", type=_part, default=(1, 1), help="1/4: the first quarter of the rows")
    arguments = parser.parse_args()
    pages: int = arguments.pages
    if pages < 1:
        parser.error("--pages must be at least 1")
    part, parts = arguments.part
    numbers = range(part - 1, len(TABLE), parts)
    faults = 0
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), cv2.setNumThreads, (1,)) as processes:
        waiting = {processes.submit(_read, number, pages): number for number in numbers}
        for done, ended in enumerate(as_completed(waiting), 1):
            row, found = TABLE[waiting[ended]], ended.result()
            lines = list(_complaints(row, found, pages))
            faults += len(lines)
            print(
                f"{done:>3} of {len(numbers)}  {row.name:<44} {_told(found)}",
                *lines,
                sep="\n    ",
                flush=True,
            )
        if part == 1:
            median, high = processes.submit(registration_error_px, 4 * pages).result()
            faults += median > MEDIAN_PX or high > HIGH_PX
            print(f"registration error: median {median:.3f} px, 99.9th percentile {high:.3f} px")
    print("nothing is wrong" if not faults else f"{faults} things are wrong")
    return 1 if faults else 0


def _part(words: str) -> tuple[int, int]:
    try:
        part, parts = (int(word) for word in words.split("/"))
    except ValueError:
        part, parts = 0, 0
    if not 1 <= part <= parts:
        raise argparse.ArgumentTypeError(f"{words} is no part: write 1/4 for the first of four")
    return part, parts


def _read(number: int, pages: int) -> Found:
    # Rows hold functions that cannot be sent to another process; their numbers can.
    return read_row(TABLE[number], pages)


def _complaints(row: Row, found: Found, pages: int) -> Sequence[str]:
    short = found.shortfall(row, pages)
    asked = pages * row.least // TABLE_PAGES
    return [*found.wrong, *([f"{short} too few are counted: {asked} should be"] if short else [])]


def _told(found: Found) -> str:
    return "; ".join(f"{count} {fate}" for fate, count in found.fates.most_common())


if __name__ == "__main__":
    sys.exit(main())
