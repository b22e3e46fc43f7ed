"""`recount-host program build`: make a contest program from blank ballots and their numbers."""

import argparse
from contextlib import suppress
from pathlib import Path

import cv2

from recount_classifier.thresholds import thresholds_sentence
from recount_host.errors import OperatorError
from recount_host.programs.building import build_program


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("spec", metavar="SPEC.toml", help="the contest, its options, and where they stand")
    parser.add_argument(
        "-o", "--output", metavar="NAME.program", required=True, help="the program file to write"
    )


def run(args: argparse.Namespace) -> int:
    """Build the program, write it in one piece, and say what it is."""
    cv2.setNumThreads(1)
    output = Path(args.output)
    if not output.name:
        raise OperatorError(f'"{args.output}" is no name for a file: write -o NAME.program')
    program = build_program(Path(args.spec))
    unfinished = output.with_name(output.name + ".part")
    try:
        unfinished.write_bytes(program.to_bytes())
        unfinished.replace(output)
    except OSError as error:
        with suppress(OSError):  # what was begun is of no use to anyone
            unfinished.unlink(missing_ok=True)
        raise OperatorError(f"the program {output} cannot be written: {error.strerror}") from error
    styles = f"{len(program.styles)} style{'s' if len(program.styles) > 1 else ''}"
    print(f"{output}: {program.title}, {len(program.options)} options, {styles}")
    print(f"program hash {program.program_hash.hex()}")
    print(thresholds_sentence(program.thresholds))
    return 0
