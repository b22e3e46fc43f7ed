"""`recount-host finish-scanning`: end a precinct's runs and fix which records are the scanners' report."""

import argparse

from recount_host.commands.desk import add_by, add_data, add_json, answer, open_desk, persons, view_fields
from recount_host.law import drafts
from recount_host.law.obstacles import check_scanning_done
from recount_host.law.precinct import fold


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    parser.add_argument(
        "--nothing-fed",
        action="store_true",
        help="no ballot of this precinct can be scanned: finish without a single sheet",
    )
    add_data(parser)
    add_by(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Refuse while anything is open; else end the runs and finish scanning."""
    by = persons(args)
    with open_desk(args) as desk:
        state = desk.precinct(args.precinct)
        # Looked at before the runs are ended, so that a refusal leaves the devices at work.
        check_scanning_done(state)
        drafts.check_anything_was_fed(state, nothing_fed=args.nothing_fed)
        for ending in drafts.runs_to_end(state):
            desk.act("run_ended", by, lambda _facts, body=ending: body)
        state = desk.act(
            "scanning_finished", by, lambda facts: drafts.scanning_finished(fold(facts, args.precinct))
        )
    answer(
        args,
        f"scanning of precinct {args.precinct} is finished: now two persons count each pile, "
        "blind (count enter c, s, x)",
        view_fields(state),
    )
    return 0
