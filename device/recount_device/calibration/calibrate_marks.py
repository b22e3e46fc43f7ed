"""`recount-device calibrate-marks`: pass or fail this device, paper and pens against a program's thresholds.

Read with this device's camera: blank sheets, and a deck whose marks are known (`--known`, see
`known_marks.py`). What must hold is told in `mark_margins.py`. Exit code 0: passed; 1: failed, with one
sentence that says what to do; 2: the files given are no calibration.
"""

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import cv2

from recount_classifier.lens import Lens
from recount_classifier.program import Program
from recount_classifier.raster import Grey
from recount_device.calibration.mark_margins import (
    LEAST_BLANKS,
    MARK_SCORES,
    RECOMMENDED_SHEETS,
    SCORES,
    Margin,
    Result,
    Score,
    Scores,
    assess,
    scores_of,
)
from recount_device.calibration.plot import plot
from recount_device.errors import OperatorError
from recount_device.known_marks import name_of, read_known_marks
from recount_device.lens_file import read_lens
from recount_device.read import add_lens, load_program, load_sheet, read_in_full

SHOWN_TROUBLES = 5
"""Sheets that are named in words; --json names all."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("program", metavar="PROGRAM", help="the contest program (NAME.program)")
    parser.add_argument(
        "--blank",
        metavar="SHEET",
        nargs="+",
        required=True,
        help=f"pictures of unmarked sheets, FRONT or FRONT,BACK ({RECOMMENDED_SHEETS} are recommended)",
    )
    parser.add_argument(
        "--marked",
        metavar="SHEET",
        nargs="+",
        required=True,
        help=f"pictures of the known deck ({RECOMMENDED_SHEETS} are recommended)",
    )
    parser.add_argument(
        "--known",
        metavar="KNOWN.csv",
        required=True,
        help='the marks of the deck, a line a sheet: file name, comma, marked options: "deck-01.png, D"',
    )
    add_lens(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("-o", "--output", metavar="OUT.svg", help="draw the scores against the thresholds")


def run(args: argparse.Namespace) -> int:
    """Read the known sheets and say whether the margins are kept: 0 passed, 1 failed."""
    cv2.setNumThreads(1)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    program = load_program(Path(args.program))
    known = known_marks_in(Path(args.known), program)
    refuse_unknown(args.marked, known, Path(args.known))
    if len(args.blank) < LEAST_BLANKS:
        raise OperatorError(
            f"give {LEAST_BLANKS} blank sheets or more: they show how well the device repeats"
        )
    lens = read_lens(args.lens) if args.lens is not None else None
    scores = read_known_sheets(known_files(args.blank, args.marked, known), program, lens)
    result = assessed(scores, program)
    if args.output:
        title = f"{program.title}, program {program.program_hash.hex()[:8]}"
        _write(Path(args.output), plot(title, scores, result, program.thresholds))
    print(json_line(scores, result, program) if args.json else words(scores, result))
    return 0 if result.passed else 1


class KnownSheet(NamedTuple):
    """A sheet of which is known what it bears."""

    name: str
    sides: Sequence[Grey]
    marked: frozenset[str]
    """The marked options; none on a blank."""


def read_known_sheets(sheets: Iterable[KnownSheet], program: Program, lens: Lens | None) -> Scores:
    """Return what all targets of known sheets score, their pictures taken with this lens."""
    scores: list[Score] = []
    troubles: list[tuple[str, str]] = []
    blanks = decks = 0
    for sheet in sheets:
        reading = read_in_full(sheet.name, sheet.sides, program, lens)
        found, wrong = scores_of(sheet.name, reading, sheet.marked, program)
        scores += found
        troubles += [(sheet.name, sentence) for sentence in wrong]
        blanks, decks = blanks + (not sheet.marked), decks + bool(sheet.marked)
    return Scores(tuple(scores), blanks, decks, tuple(troubles))


def known_files(
    blanks: Sequence[str], marked: Sequence[str], known: Mapping[str, frozenset[str]]
) -> Iterator[KnownSheet]:
    """Yield the sheets of picture files, each as FRONT or FRONT,BACK."""
    for sheet in blanks:
        yield KnownSheet(name_of(sheet), load_sheet(sheet), frozenset[str]())
    for sheet in marked:
        yield KnownSheet(name_of(sheet), load_sheet(sheet), known[name_of(sheet)])


def assessed(scores: Scores, program: Program) -> Result:
    """Return whether all margins are kept. Raises OperatorError where no sheet of a kind could be read."""
    if not scores.of(marked=False) or not scores.of(marked=True):
        name, why = scores.troubles[0]
        raise OperatorError(f"no blank or no marked sheet of this contest could be read ({name}: {why})")
    return assess(scores, program.thresholds)


def known_marks_in(path: Path, program: Program) -> dict[str, frozenset[str]]:
    """Return the marked options by the sheets' names. Raises OperatorError that names the line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise OperatorError(f"the table {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise OperatorError(f"the table {path} is no text file") from error
    try:
        return read_known_marks(text, [option.key for option in program.options])
    except OperatorError as error:
        raise OperatorError(f"{path}, {error}") from error


def refuse_unknown(sheets: Sequence[str], known: Mapping[str, frozenset[str]], path: Path) -> None:
    """Raise OperatorError for a sheet of the deck that the table does not tell of."""
    for sheet in sheets:
        if name_of(sheet) not in known:
            raise OperatorError(f"{path} does not say what is marked on {name_of(sheet)}")


def _write(path: Path, svg: str) -> None:
    try:
        path.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise OperatorError(f"{path} cannot be written: {error.strerror}") from error


def words(scores: Scores, result: Result) -> str:
    """Return the result for people."""
    empty, marked = len(scores.of(marked=False)), len(scores.of(marked=True))
    sheets = f"{scores.blanks} blank and {scores.decks} marked sheets"
    lines = [f"{sheets}: {empty} empty and {marked} marked targets"]
    lines += [_margin_line(margin) for margin in result.margins]
    lines += [f"  ! {sheet}: {sentence}" for sheet, sentence in result.troubles[:SHOWN_TROUBLES]]
    if len(result.troubles) > SHOWN_TROUBLES:
        lines.append(f"  ! and {len(result.troubles) - SHOWN_TROUBLES} more")
    if min(scores.blanks, scores.decks) < RECOMMENDED_SHEETS:
        lines.append(f"Few sheets: {RECOMMENDED_SHEETS} of each kind are recommended before a recount.")
    lines.append("PASSED" if result.passed else f"FAILED. {result.advice}")
    return "\n".join(lines)


def _margin_line(margin: Margin) -> str:
    sign = "ok" if margin.holds else " !"
    if margin.name in SCORES:
        score = f"{margin.measured:.4f} + {margin.guard:.4f}"
        said = f"empty targets, {margin.name}: {score} below {margin.limit:.3f}"
    elif margin.name in MARK_SCORES:
        score = f"{margin.measured:.3f} - {margin.guard:.3f}"
        said = f"marks, {margin.name}: {score} above {margin.limit:.3f}"
    else:
        said = f"from empty to marked, cover: {margin.measured:.3f}, at least {margin.limit:.2f}"
    return f"  {sign} {said}" + ("" if margin.holds else f" (closest: {margin.worst})")


def json_line(scores: Scores, result: Result, program: Program) -> str:
    """Return the result as one JSON object."""
    return json.dumps(
        {
            "program": program.program_hash.hex(),
            "passed": result.passed,
            "advice": result.advice,
            "blank_sheets": scores.blanks,
            "marked_sheets": scores.decks,
            "empty_targets": len(scores.of(marked=False)),
            "marked_targets": len(scores.of(marked=True)),
            "margins": [
                {
                    "name": margin.name,
                    "measured": round(margin.measured, 5),
                    "guard": round(margin.guard, 5),
                    "limit": round(margin.limit, 5),
                    "spare": round(margin.spare, 5),
                    "worst": margin.worst,
                    "holds": margin.holds,
                }
                for margin in result.margins
            ],
            "troubles": [{"sheet": sheet, "why": sentence} for sheet, sentence in result.troubles],
        }
    )
