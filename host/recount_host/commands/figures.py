"""`recount-host figures`: show a precinct's figures; the first time is an act that ends all counting."""

import argparse

from recount_host.commands.desk import add_by, add_data, add_json, answer, open_desk, persons, view_fields
from recount_host.law import drafts
from recount_host.law.disclosure import PrecinctView, view
from recount_host.law.precinct import fold


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    parser.add_argument(
        "--search-ended",
        action="store_true",
        help="I3 still fails and the misplaced sheet was not found: send the precinct to hand count",
    )
    add_data(parser)
    add_by(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Show the figures; before they may be shown, refuse and say what is wanting."""
    with open_desk(args) as desk:
        state = desk.precinct(args.precinct)
        if state.shown is None:
            state = desk.act(
                "figures_shown",
                persons(args),
                lambda facts: drafts.figures_shown(
                    fold(facts, args.precinct), search_ended=args.search_ended
                ),
            )
    shown = view(state)
    answer(args, _in_words(shown, state.order.citation), view_fields(state))
    return 0


def _in_words(shown: PrecinctView, citation: str) -> str:
    figures = shown.figures
    assert figures is not None  # the act has been done
    lines = [
        f"precinct {shown.id} {shown.name}: {shown.state} (mode {shown.mode})",
        f"H {figures.stack}  x {figures.not_accepted_pile}  R {figures.rerun}   counted by people",
        f"C {figures.counted}  S {figures.set_aside}  X {figures.not_accepted}   reported by the scanners",
        f"c {figures.counted_pile}  s {figures.set_aside_pile}  x {figures.not_accepted_pile}   by people",
    ]
    lines += [
        f"{identity.name} {'holds' if identity.holds else 'FAILS'}: {'; '.join(identity.figures or ())}"
        for identity in shown.identities
    ]
    lines += [f"votes on counted sheets for {key}: {votes}" for key, votes in figures.votes.items()]
    lines += [f"set aside for {reason}: {sheets}" for reason, sheets in figures.set_aside_reasons.items()]
    lines += [
        f"not accepted for {reason}: {sheets}" for reason, sheets in figures.not_accepted_reasons.items()
    ]
    if figures.superseded:
        lines.append(
            f"{citation} D 2: the numbers do not add up; all ballots of this precinct cast on scanners "
            "are counted by hand, and the scanners' figures count for nothing"
        )
    return "\n".join(lines)
