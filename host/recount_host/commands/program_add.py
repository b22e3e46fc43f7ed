"""`recount-host program add`: take a contest program into the ledger, so that devices can be given it."""

import argparse
from pathlib import Path

from recount_classifier.errors import ProgramError
from recount_classifier.program import Program, read_program
from recount_classifier.thresholds import differing_thresholds, thresholds_sentence
from recount_host.act import Person
from recount_host.commands.desk import Desk, add_by, add_data, add_json, answer, open_desk, persons
from recount_host.errors import OperatorError
from recount_host.law.acts import check_act
from recount_host.law.contest import Contest, Option, check_fits_order, contests_of
from recount_host.signatures import Signed, read_signatures


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "program", metavar="FILE.program", help="the contest program, as `program build` made it"
    )
    add_data(parser)
    add_by(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Check the program and its signatures, store it under its hash, and write down that it was added."""
    path = Path(args.program)
    data, program = read_program_file(path)
    signed = [f"{s.name} (key {s.fingerprint})" for s in read_signatures(path, Signed("program", data))]
    with open_desk(args) as desk:
        add_program(desk, data, program, persons(args))
    short = program.program_hash.hex()[:8]
    answer(
        args,
        f"program {short} ({program.title}) is in the ledger; {thresholds_sentence(program.thresholds)}; "
        f"signed by {', '.join(signed) or 'nobody'}",
        {
            "program": program.program_hash.hex(),
            "contest": program.key,
            "signed": signed,
            "differing_thresholds": {
                name: value for name, (value, _) in differing_thresholds(program.thresholds).items()
            },
        },
    )
    return 0


def read_program_file(path: Path) -> tuple[bytes, Program]:
    """Return the program file's bytes and what they say. Raises OperatorError in one sentence."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise OperatorError(f"the program {path} cannot be read: {error.strerror}") from error
    try:
        return data, read_program(data)
    except ProgramError as error:
        raise OperatorError(f"{path}: {error}") from error


def add_program(desk: Desk, data: bytes, program: Program, by: tuple[Person, ...]) -> None:
    """Store the program and write the act, unless it is here already.

    Raises BadEntry when the order is another.
    """
    options = tuple(Option(option.key, option.name, option.write_in) for option in program.options)
    contest = Contest(program.program_hash, program.key, program.title, program.vote_for, options)
    check_fits_order(contest, desk.facts().order)
    body = {
        "program": contest.program,
        "contest": contest.key,
        "title": contest.title,
        "vote_for": contest.vote_for,
        "options": [{"key": o.key, "name": o.name, "write_in": o.write_in} for o in options],
    }
    check_act("program_added", by, body)
    desk.ledger.add_program(contest.program, data)
    with desk.ledger.deciding() as turn:
        if contest.program not in contests_of(turn.acts()):
            turn.append("program_added", by, body)
