"""`recount-host reconcile`: say which identities hold, and nothing else."""

import argparse

from recount_host.commands.desk import add_by, add_data, add_json, answer, open_desk, persons
from recount_host.law import drafts
from recount_host.law.identities import MEANINGS
from recount_host.law.precinct import fold


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    add_data(parser)
    add_by(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Tell which identities hold and what follows; told again unchanged, no new act is written."""
    by = persons(args)
    with open_desk(args) as desk:
        state = desk.precinct(args.precinct)
        if not (state.verdict_is_current and state.shown is None):
            state = desk.act(
                "identities_told", by, lambda facts: drafts.identities_told(fold(facts, args.precinct))
            )
    last, step = state.verdicts[-1], state.step
    told = {name: name in last.held for name in sorted((*last.held, *last.failed))}
    lines = [f"{name} {'holds' if holds else 'FAILS'}: {MEANINGS[name]}" for name, holds in told.items()]
    lines += [
        f"{state.name_of(device)} is disarmed: its counted sheets do not hold the right number of votes"
        for device in last.disarmed
    ]
    lines.append(step.value if step else "")
    answer(
        args,
        "\n".join(lines),
        {
            "precinct": args.precinct,
            "attempt": last.attempt,
            "identities": told,
            "step": step.name.lower() if step else "",
            "disarmed": [state.name_of(device) for device in last.disarmed],
        },
    )
    return 0
