"""`recount-host program add`: take a contest program into the ledger, so that devices can be given it."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec

from recount_classifier.errors import ProgramError
from recount_classifier.program import MAX_PROGRAM_BYTES, Program, read_program
from recount_classifier.thresholds import differing_thresholds, thresholds_sentence
from recount_host.act import Person
from recount_host.commands.desk import Desk, add_by, add_data, add_json, answer, open_desk, persons
from recount_host.errors import OperatorError
from recount_host.given_files import read_given
from recount_host.law.acts import check_act
from recount_host.law.contest import Contest, Option, check_fits_order, check_signed, contests_of
from recount_host.signatures import Signature, Signed, read_signatures


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "program", metavar="FILE.program", help="the contest program, as `program build` made it"
    )
    add_data(parser)
    add_by(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Check the program and both sides' signatures, store it, and write down that it was added."""
    path = Path(args.program)
    data, program = read_program_file(path)
    signatures = read_signatures(path, Signed("program", data))
    with open_desk(args) as desk:
        add_program(desk, data, program, signatures, persons(args))
    short = program.program_hash.hex()[:8]
    signed = [f"{signature.name} (key {signature.fingerprint})" for signature in signatures]
    answer(
        args,
        f"program {short} ({program.title}) is in the ledger; {thresholds_sentence(program.thresholds)}; "
        f"signed by {', '.join(signed)}",
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
    data = read_given(path, "the program", MAX_PROGRAM_BYTES)
    try:
        return data, read_program(data)
    except ProgramError as error:
        raise OperatorError(f"{path}: {error}") from error


def add_program(
    desk: Desk,
    data: bytes,
    program: Program,
    signatures: Sequence[Signature],
    by: tuple[Person, ...],
    *,
    for_training: bool = False,
) -> None:
    """Store the program and write the act, unless it is here already with these signatures.

    The signatures are verified ones. One that not both sides signed serves for training only: no test can be
    begun with it, and no device be armed. Raises BadEntry when the order is another; NotAllowed when a side
    has not signed.
    """
    options = tuple(Option(option.key, option.name, option.write_in) for option in program.options)
    signed_by = tuple(signature.name for signature in signatures)
    contest = Contest(program.program_hash, program.key, program.title, program.vote_for, options, signed_by)
    order = desk.facts().order
    check_fits_order(contest, order)
    if not for_training:
        check_signed(signed_by, order)
    body = {
        "program": contest.program,
        "contest": contest.key,
        "title": contest.title,
        "vote_for": contest.vote_for,
        "options": [{"key": o.key, "name": o.name, "write_in": o.write_in} for o in options],
        "signatures": [msgspec.to_builtins(signature) for signature in signatures],
    }
    check_act("program_added", by, body)
    desk.ledger.add_program(contest.program, data)
    with desk.ledger.deciding() as turn:
        known = contests_of(turn.acts()).get(contest.program)
        if known is None or not set(signed_by) <= set(known.signed_by):
            turn.append("program_added", by, body)
