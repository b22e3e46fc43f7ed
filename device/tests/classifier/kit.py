"""A kit: sheets and contest programs in one folder, ready to be read in any environment.

Pages are stored as pixels, not as image files, and programs as files: decoding a JPEG and compiling a program
are no part of the comparison (a program is one file with one hash wherever it is read).
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from device.tests.classifier import drawn_pages, real_ballots
from device.tests.classifier.test_failure_table import TABLE, Row
from recount_classifier.program import Program
from recount_classifier.raster import Grey

Sheet = tuple[str, Program, list[Grey]]
"""A name, the program to read it with, and its pages."""
REAL_SETS = ("new-hampshire-conditions", "durant", "juneau", "new-hampshire-letter")


def drawn_sheets(numbers: range, rows: Sequence[Row] = TABLE) -> Iterator[Sheet]:
    """Yield drawn sheets of everything that goes wrong with sheets, so many of each."""
    for row in rows:
        for number in numbers:
            page = drawn_pages.fresh_page((zlib.crc32(row.name.encode()), number, 3))
            row.spoil(page)
            yield f"drawn: {row.name} {number}", drawn_pages.program(), [page.picture()]


def real_sheets(ballots: Path, names: tuple[str, ...], contests_each: int | None = None) -> Iterator[Sheet]:
    """Yield the contests of the sets' real ballots: all, or so many of each sheet, others on the next."""
    for name in names:
        folder = ballots / name
        contests = {
            str(contest["number"]): contest for contest in real_ballots.definition_of(folder)["contests"]
        }
        programs: dict[str, Program] = {}
        place = 0
        for line in (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines():
            sheet = json.loads(line)
            numbers = [n for n in sheet["contests"] if contests[n]["side"] in sheet["files"]]
            taken = len(numbers) if contests_each is None else min(contests_each, len(numbers))
            for number in (numbers[(place + step) % len(numbers)] for step in range(taken)):
                if number not in programs:
                    programs[number] = real_ballots.program_for(folder, contests[number])
                picture = real_ballots.picture(folder / sheet["files"][contests[number]["side"]])
                yield f"{name}: sheet {sheet['sheet']}, contest {number}", programs[number], [picture]
            place += taken


def write_kit(folder: Path, sheets: Iterator[Sheet]) -> int:
    """Write the sheets with their programs; return how many."""
    listed: list[dict[str, object]] = []
    programs: dict[bytes, str] = {}
    pictures: dict[int, tuple[str, Grey]] = {}
    for name, program, pages in sheets:
        program_name = programs.setdefault(program.program_hash, f"contest-{len(programs)}.program")
        if not (folder / program_name).exists():
            (folder / program_name).write_bytes(program.to_bytes())
        files: list[str] = []
        for page in pages:
            # The picture stays in the dictionary: an id is that of one picture as long as it lives.
            file, _ = pictures.setdefault(id(page), (f"page-{len(pictures)}.npy", page))
            if not (folder / file).exists():
                np.save(folder / file, page)
            files.append(file)
        listed.append({"name": name, "program": program_name, "pages": files})
    (folder / "kit.json").write_text(json.dumps(listed), encoding="utf-8")
    return len(listed)
