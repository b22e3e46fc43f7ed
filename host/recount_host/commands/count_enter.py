"""`recount-host count enter`: one person enters what they counted by hand, blind."""

import argparse
import getpass
import sys
from collections.abc import Mapping
from typing import Any

from recount_host.commands.desk import add_by, add_data, add_json, answer, open_desk, persons
from recount_host.law.counts import LETTERS
from recount_host.law.errors import BadEntry
from recount_host.law.precinct import Facts, attempt_due, fold

MAX_DIGITS = 9


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    what = "; ".join(f"{letter}: {meaning}" for letter, meaning in LETTERS.items())
    parser.add_argument("letter", metavar="LETTER", choices=tuple(LETTERS), help=what)
    parser.add_argument(
        "value",
        nargs="?",
        metavar="NUMBER",
        help="the number of sheets counted, in digits; left out: asked for, and not shown on the screen",
    )
    add_data(parser)
    add_by(parser, "once: each person enters alone")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Enter the count; the answer says only whether the two persons agree, never a figure."""
    value = sheets(args.value) if args.value is not None else _typed_unseen()

    def body(facts: Facts) -> Mapping[str, Any]:
        state = fold(facts, args.precinct)
        return {
            "precinct": args.precinct,
            "letter": args.letter,
            "value": value,
            "attempt": attempt_due(state, args.letter),
        }

    with open_desk(args) as desk:
        state = desk.act("count_entered", persons(args), body)
    attempt = state.counts.entries[-1].attempt
    standing = state.counts.standing(args.letter, attempt).value
    answer(
        args,
        f"{args.letter} of precinct {args.precinct}: {standing}",
        {"precinct": args.precinct, "letter": args.letter, "attempt": attempt, "standing": standing},
    )
    return 0


def _typed_unseen() -> int:
    """Return the number typed at the terminal, twice because nobody sees it.

    On the command line it would stand on the screen, and in the shell's history, when the other side comes.
    """
    if not sys.stdin.isatty():
        raise BadEntry("say the number of sheets counted: count enter PRECINCT LETTER NUMBER")
    try:
        first = sheets(getpass.getpass("Number of sheets (it is not shown): "))
        again = sheets(getpass.getpass("The same once more: "))
    except EOFError:
        raise BadEntry("no number was typed: nothing is entered") from None
    if again != first:
        raise BadEntry("two different numbers were typed: nothing is entered, begin again")
    return first


def sheets(text: str) -> int:
    """Return the number that `text` writes in digits and nothing else: 1_2 is a slip, not 12."""
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS):
        raise BadEntry(f'"{text}" is no number of sheets: write digits only, for example 120')
    return int(text)
