"""`recount-device read`: read sheets from image files with a contest program.

A SHEET is FRONT or FRONT,BACK: the picture files of one sheet. A file that cannot be read is named on stderr,
the rest are read, and the exit code is 2. With --json one object a line; without, one sentence a sheet.
--explain draws for each sheet what was measured and why it has its fate.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import cv2

from recount_classifier.decoding import ImageError, decode_image
from recount_classifier.errors import PictureError, ProgramError
from recount_classifier.explain import explain, explain_refusal
from recount_classifier.lens import Lens
from recount_classifier.program import Program, read_program
from recount_classifier.raster import Grey
from recount_classifier.reading import Reading, read_sheet
from recount_classifier.reasons import REASONS
from recount_device.errors import OperatorError
from recount_device.known_marks import name_of
from recount_device.lens_file import read_lens
from recount_device.pictures import encode_png


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("program", metavar="PROGRAM", help="the contest program (NAME.program)")
    parser.add_argument(
        "sheets", metavar="SHEET", nargs="+", help="FRONT or FRONT,BACK: the image files of one sheet"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a sheet")
    add_lens(parser)
    parser.add_argument(
        "--explain",
        metavar="OUT",
        help="draw what was measured and why: OUT.png for one sheet, a folder for several "
        "(it is made; each sheet becomes NAME.png there)",
    )


def add_lens(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a lens calibration."""
    parser.add_argument(
        "--lens", type=Path, metavar="LENS.json", help="the calibration of the camera that took the fronts"
    )


def read_in_full(sheet: str, sides: Sequence[Grey], program: Program, lens: Lens | None) -> Reading:
    """Return a sheet's reading. Raises OperatorError for pictures that cannot be read with this lens."""
    try:
        return read_sheet(sides, program, lens=lens)
    except PictureError as error:
        raise OperatorError(f"{sheet}: {error}") from error


def run(args: argparse.Namespace) -> int:
    """Read every sheet; return 2 when a file could not be read, else 0."""
    cv2.setNumThreads(1)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    program = load_program(Path(args.program))
    drawings = explained_paths(args.explain, args.sheets) if args.explain else {}
    lens = read_lens(args.lens) if args.lens is not None else None
    failures = 0
    for sheet in args.sheets:
        try:
            sides = load_sheet(sheet)
            began = time.perf_counter()
            reading = read_in_full(sheet, sides, program, lens)
        except OperatorError as error:
            print(f"recount-device read: {error}", file=sys.stderr)
            failures += 1
            continue
        elapsed_ms = (time.perf_counter() - began) * 1000
        name = name_of(sheet)
        if sheet in drawings:
            write_explained(drawings[sheet], program, reading)
        line = json_line if args.json else sentence
        print(line(name, program, reading, elapsed_ms), flush=True)
    return 2 if failures else 0


def explained_paths(out: str, sheets: Sequence[str]) -> dict[str, Path]:
    """Return which file each sheet's explained picture goes to.

    Raises OperatorError for one file for several sheets, two sheets for one file, and a folder that cannot be
    made.
    """
    target = Path(out)
    if target.suffix.lower() == ".png" and not target.is_dir():
        if len(sheets) > 1:
            raise OperatorError(
                f"--explain {out} is one file, but {len(sheets)} sheets are read: give a folder"
            )
        return {sheets[0]: target}
    if target.suffix and not target.is_dir():
        raise OperatorError(f"--explain {out}: pictures are written as PNG; give NAME.png or a folder")
    paths = {sheet: target / f"{name_of(sheet)}.png" for sheet in sheets}
    if len(set(paths.values())) < len(paths):
        raise OperatorError("--explain: two sheets have the same file name; read them one after the other")
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OperatorError(f"the folder {out} cannot be made: {error.strerror}") from error
    return paths


def write_explained(path: Path, program: Program, reading: Reading) -> None:
    """Write the sheet's explained picture. Raises OperatorError when the file cannot be written."""
    if reading.evidence is None or reading.verdict is None:
        picture = explain_refusal(program, reading.fate, reading.reasons)
    else:
        picture = explain(reading.evidence, reading.verdict, program)
    try:
        path.write_bytes(encode_png(picture))
    except OSError as error:
        raise OperatorError(f"{path} cannot be written: {error.strerror}") from error


def load_program(path: Path) -> Program:
    """Return the program in a file. Raises OperatorError in one sentence."""
    try:
        return read_program(path.read_bytes())
    except OSError as error:
        raise OperatorError(f"the program {path} cannot be read: {error.strerror}") from error
    except ProgramError as error:
        raise OperatorError(f"{path}: {error}") from error


def load_sheet(sheet: str) -> list[Grey]:
    """Return the one or two pictures of FRONT[,BACK]. Raises OperatorError that names the bad file."""
    names = sheet.split(",")
    if len(names) > 2 or not all(names):
        raise OperatorError(f'"{sheet}" is no sheet: give FRONT or FRONT,BACK')
    return [_load_side(Path(name)) for name in names]


def _load_side(path: Path) -> Grey:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OperatorError(f"{path} cannot be read: {error.strerror}") from error
    if data.startswith(b"%PDF"):
        raise OperatorError(f"{path} is a PDF: save each page as a PNG or TIFF picture, and read those")
    try:
        return decode_image(data)
    except ImageError as error:
        raise OperatorError(f"{path}: {error}") from error


def json_line(name: str, program: Program, reading: Reading, elapsed_ms: float) -> str:
    """Return the reading as one JSON object."""
    fields: dict[str, object] = {
        "sheet": name,
        "contest": program.key,
        "fate": reading.fate,
        "choices": list(reading.choices),
        "reasons": list(reading.reasons),
        "ms": round(elapsed_ms, 2),
    }
    if reading.evidence is not None and reading.verdict is not None:
        fields["style"] = reading.evidence.style_id
        fields["side"] = reading.evidence.side_index
        fields["targets"] = _targets(program, reading)
    return json.dumps(fields)


def _targets(program: Program, reading: Reading) -> list[dict[str, object]]:
    """Return what each target bore, as the first registration showed it."""
    evidence, verdict = reading.evidence, reading.verdict
    assert evidence is not None
    assert verdict is not None
    first = verdict.measurements[0]
    targets = program.styles_by_id[evidence.style_id].targets
    return [
        {"option": target.option, "state": state, "cover": round(measure.cover, 3)}
        for target, measure, state in zip(targets, first.targets, first.decision.states, strict=True)
    ]


def sentence(name: str, program: Program, reading: Reading, elapsed_ms: float) -> str:
    """Return the reading as one line for people."""
    del elapsed_ms
    fate = reading.fate.replace("_", " ")
    names = {option.key: option.name for option in program.options}
    if reading.choices:
        return f"{name}: {fate}: {_listed(names[key] for key in reading.choices)}"
    return f"{name}: {fate}: {' '.join(REASONS[reason].sentence for reason in reading.reasons)}"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
