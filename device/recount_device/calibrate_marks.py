"""`recount-device calibrate-marks`: pass or fail this device, paper and pens against a program's thresholds.

Read with this device's camera: blank sheets, and a deck whose marks are known (`--known`, see
`known_marks.py`). What must hold is told in `mark_calibration.py`. Exit code 0: passed; 1: failed, with one
sentence that says what to do; 2: the files given are no calibration.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import cv2

from recount_classifier.program import Program
from recount_classifier.reading import read_sheet
from recount_device.calibration_plot import plot
from recount_device.errors import OperatorError
from recount_device.known_marks import name_of, read_known_marks
from recount_device.mark_calibration import (
    LEAST_BLANKS,
    RECOMMENDED_SHEETS,
    SCORES,
    Margin,
    Result,
    Score,
    Scores,
    assess,
    scores_of,
)
from recount_device.read import load_program, load_sheet

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
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("-o", "--output", metavar="OUT.svg", help="draw the scores against the thresholds")


def run(args: argparse.Namespace) -> int:
    """Read the known sheets and say whether the margins are kept: 0 passed, 1 failed."""
    cv2.setNumThreads(1)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    program = load_program(Path(args.program))
    marks = _marks_of(args.marked, Path(args.known), program)
    if len(args.blank) < LEAST_BLANKS:
        raise OperatorError(
            f"give {LEAST_BLANKS} blank sheets or more: they show how well the device repeats"
        )
    scores = read_known_sheets(args.blank, marks, program)
    if not scores.of(marked=False) or not scores.of(marked=True):
        name, why = scores.troubles[0]
        raise OperatorError(f"no blank or no marked sheet of this contest could be read ({name}: {why})")
    result = assess(scores, program.thresholds)
    if args.output:
        title = f"{program.title}, program {program.program_hash.hex()[:8]}"
        _write(Path(args.output), plot(title, scores, result, program.thresholds))
    print(json_line(scores, result, program) if args.json else words(scores, result))
    return 0 if result.passed else 1


def read_known_sheets(blanks: Sequence[str], marks: dict[str, frozenset[str]], program: Program) -> Scores:
    """Return what all targets of the blanks and of the deck score. `marks` are by SHEET as it was given."""
    scores: list[Score] = []
    troubles: list[tuple[str, str]] = []
    for sheet, keys in [*((blank, frozenset[str]()) for blank in blanks), *marks.items()]:
        found, wrong = scores_of(name_of(sheet), read_sheet(load_sheet(sheet), program), keys, program)
        scores += found
        troubles += [(name_of(sheet), sentence) for sentence in wrong]
    return Scores(tuple(scores), len(blanks), len(marks), tuple(troubles))


def _marks_of(sheets: Sequence[str], path: Path, program: Program) -> dict[str, frozenset[str]]:
    """Return the marked options of every sheet of the deck."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise OperatorError(f"the table {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise OperatorError(f"the table {path} is no text file") from error
    try:
        known = read_known_marks(text, [option.key for option in program.options])
    except OperatorError as error:
        raise OperatorError(f"{path}, {error}") from error
    for sheet in sheets:
        if name_of(sheet) not in known:
            raise OperatorError(f"{path} does not say what is marked on {name_of(sheet)}")
    return {sheet: known[name_of(sheet)] for sheet in sheets}


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
    elif margin.name == "marked":
        said = f"weakest mark, cover: {margin.measured:.3f} - {margin.guard:.3f} above {margin.limit:.3f}"
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
