"""`recount-host count enter`: one person enters what they counted by hand, blind."""

import argparse
from collections.abc import Mapping
from typing import Any

from recount_host.commands.desk import add_by, add_data, add_json, answer, open_desk, persons
from recount_host.law.counts import LETTERS
from recount_host.law.precinct import Facts, attempt_due, fold


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    what = "; ".join(f"{letter}: {meaning}" for letter, meaning in LETTERS.items())
    parser.add_argument("letter", choices=tuple(LETTERS), help=what)
    parser.add_argument("value", type=int, metavar="NUMBER", help="the number of sheets counted")
    add_data(parser)
    add_by(parser, "once: each person enters alone")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Enter the count; the answer says only whether the two persons agree, never a figure."""

    def body(facts: Facts) -> Mapping[str, Any]:
        state = fold(facts, args.precinct)
        return {
            "precinct": args.precinct,
            "letter": args.letter,
            "value": args.value,
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
