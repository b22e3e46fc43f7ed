"""`recount-host doubt settle`: both sides together say where a sheet in doubt lies."""

import argparse

from recount_host.commands.desk import (
    add_by,
    add_data,
    add_json,
    answer,
    find_device,
    open_desk,
    persons,
    view_fields,
)
from recount_host.law.precinct import find_batch, fold
from recount_protocol.fates import BINS, RETURNED


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    parser.add_argument(
        "sheet", type=int, metavar="SHEET", help="the sheet's number, as `doubt list` names it"
    )
    parser.add_argument(
        "fate", choices=(*BINS, RETURNED), help="where the sheet lies; returned: it is fed again"
    )
    parser.add_argument("--device", required=True, metavar="NAME|ID", help="the device, by name or id")
    parser.add_argument("--batch", required=True, type=int, metavar="BATCH", help="the batch's number")
    add_data(parser)
    add_by(parser, "twice: one person of each side")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Order the doubt settled; the device writes it down and goes on."""
    with open_desk(args) as desk:
        facts = desk.facts()
        device = find_device(facts, args.device)
        batch = find_batch(fold(facts, args.precinct), device, args.batch)
        body = {
            "precinct": args.precinct,
            "run": batch.run,
            "device": device,
            "batch": args.batch,
            "sheet": args.sheet,
            "fate": args.fate,
        }
        state = desk.act("doubt_settled_ordered", persons(args), lambda _facts: body)
    answer(
        args,
        f"sheet {args.sheet} of batch {args.batch}: {args.fate}; {state.name_of(device)} is told "
        "and writes it down",
        view_fields(state),
    )
    return 0
