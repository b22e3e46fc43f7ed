"""`recount-host hand-count enter`: a team of both sides enters one full pass through one pile."""

import argparse

from recount_host.commands.count_enter import MAX_DIGITS
from recount_host.commands.desk import add_by, add_data, add_json, answer, open_desk, persons, view_fields
from recount_host.law.disclosure import view
from recount_host.law.errors import BadEntry
from recount_host.law.hand_count import NOT_VOTES, of_pile
from recount_host.law.piles import PILES
from recount_host.law.precinct import fold


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    piles = "; ".join(f"{pile}: {what}" for pile, what in PILES.items())
    parser.add_argument("pile", metavar="PILE", choices=tuple(PILES), help=piles)
    parser.add_argument(
        "outcomes",
        nargs="+",
        metavar="OUTCOME=BALLOTS",
        help=(
            "an option's key, options joined by + where several may be chosen, other_write_in, "
            f"{', '.join(NOT_VOTES)}"
        ),
    )
    parser.add_argument(
        "--standards", help="the edition of the standards that marks are read by; left out: the order's"
    )
    add_data(parser)
    add_by(parser, "twice: both officials of the team")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Enter the pass; the answer says whether the last two passes agree and the ballots add up."""
    outcomes = parse_numbers(args.outcomes)
    with open_desk(args) as desk:
        state = desk.act(
            "hand_count_entered",
            persons(args),
            lambda facts: {
                "precinct": args.precinct,
                "pile": args.pile,
                "pass": len(of_pile(fold(facts, args.precinct).passes, args.pile)) + 1,
                "outcomes": outcomes,
                "standards": args.standards or facts.order.standards,
            },
        )
    number = len(of_pile(state.passes, args.pile))
    answer(
        args,
        f"hand count of precinct {args.precinct}, {args.pile}, pass {number}: {view(state).hand_count}",
        view_fields(state),
    )
    return 0


def parse_numbers(texts: list[str]) -> dict[str, int]:
    """Return the numbers that "KEY=NUMBER" words name. Raises BadEntry."""
    outcomes: dict[str, int] = {}
    for text in texts:
        key, equals, number = text.rpartition("=")
        if not equals or not number.isascii() or not number.isdigit() or len(number) > MAX_DIGITS:
            raise BadEntry(f'"{text}" is no figure: write KEY=NUMBER, for example no_vote=3')
        if key in outcomes:
            raise BadEntry(f'"{key}" is given twice')
        outcomes[key] = int(number)
    return outcomes
