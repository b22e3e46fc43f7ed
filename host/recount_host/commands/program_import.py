"""`recount-host program import`: make a contest's spec from a NIST ballot definition or a CSV of places.

FILE.json is a ballot definition of NIST SP 1500-20; FILE.csv a list of places in inches with the columns
style, side, option, name, kind (contest_box, target, write_in_area), left, top, width, height.
"""

import argparse
from pathlib import Path

from recount_host.commands.desk import add_json, answer
from recount_host.errors import OperatorError
from recount_host.given_files import read_given
from recount_host.programs.importing import (
    MAX_IMPORT_BYTES,
    Blanks,
    ImportFileError,
    read_definition,
    read_places,
    spec_of,
)
from recount_host.programs.spec import SpecError, parse_spec
from recount_host.programs.spec_text import spec_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("file", metavar="FILE.json|FILE.csv", help="where the places are written")
    parser.add_argument(
        "--blank",
        action="append",
        required=True,
        metavar="STYLE=FRONT[,BACK]",
        help="a style of the file and its blank, as the spec is to name it; once for each style wanted",
    )
    parser.add_argument("--dpi", type=float, default=200.0, help="resolution of the blanks; 200 if left out")
    parser.add_argument(
        "--box",
        type=float,
        nargs=4,
        metavar=("LEFT", "TOP", "RIGHT", "BOTTOM"),
        help="the contest's box in inches, where the file has none",
    )
    parser.add_argument("--contest", metavar="ID", help="the contest's id in the ballot definition")
    parser.add_argument("--key", default="contest", help="for CSV: the contest's short name, as in the order")
    parser.add_argument("--title", default="Title of the contest", help="for CSV: the contest's title")
    parser.add_argument(
        "--vote-for", type=int, default=1, metavar="N", help="for CSV: how many may be voted for"
    )
    parser.add_argument("-o", "--output", required=True, metavar="SPEC.toml", help="the spec to write")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Read the file and write the spec."""
    path, output = Path(args.file), Path(args.output)
    if not 100 <= args.dpi <= 1200:
        raise OperatorError(f"--dpi is {args.dpi:g}: resolutions from 100 to 1200 can be read")
    data = read_given(path, "the file", MAX_IMPORT_BYTES)
    try:
        if path.suffix.lower() == ".csv":
            found = read_places(data, args.key, args.title, args.vote_for)
        else:
            found = read_definition(data, args.contest)
        text = spec_text(spec_of(found, _blanks(args.blank), args.dpi, _box(args.box)))
        parse_spec(text.encode("utf-8"))
    except (ImportFileError, SpecError) as error:
        raise OperatorError(f"{path}: {error}") from error
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OperatorError(f"the spec {output} cannot be written: {error.strerror}") from error
    styles = f"{len(args.blank)} of {len(found.styles)} styles"
    answer(
        args,
        f"{output}: {found.title}, {len(found.options)} options, {styles}; "
        f"then: recount-host program build {output} -o NAME.program",
        {"spec": str(output), "contest": found.key, "options": [option.key for option in found.options]},
    )
    return 0


def _box(given: list[float] | None) -> tuple[float, float, float, float] | None:
    if given is None:
        return None
    left, top, right, bottom = given
    if not (0 <= left < right <= 50 and 0 <= top < bottom <= 50):
        raise OperatorError(
            "--box takes left, top, right and bottom in inches, from the sheet's top left corner"
        )
    return left, top, right, bottom


def _blanks(given: list[str]) -> dict[str, Blanks]:
    blanks: dict[str, Blanks] = {}
    for words in given:
        style, equals, files = words.partition("=")
        front, _, back = files.partition(",")
        if not (style and equals and front):
            raise OperatorError(f"--blank {words} is not STYLE=FRONT or STYLE=FRONT,BACK")
        if style in blanks:
            raise OperatorError(f"style {style} is given two blanks")
        blanks[style] = Blanks(front, back or None)
    return blanks
