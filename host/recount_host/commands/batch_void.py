"""`recount-host batch void`: both sides together declare a batch void; its sheets are run again."""

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
from recount_host.law.errors import BadEntry
from recount_host.law.precinct import find_batch, fold


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    parser.add_argument("batch", type=int, metavar="BATCH", help="the batch's number, as `show` names it")
    parser.add_argument("--device", required=True, metavar="NAME|ID", help="the device, by name or id")
    parser.add_argument("--reason", required=True, help="why, in a few words")
    add_data(parser)
    add_by(parser, "twice: one person of each side")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Void the batch; it is kept and counts nothing."""
    reason = " ".join(args.reason.split())
    if not reason:
        raise BadEntry('say why the batch is void: --reason "in a few words"')
    with open_desk(args) as desk:
        facts = desk.facts()
        device = find_device(facts, args.device)
        batch = find_batch(fold(facts, args.precinct), device, args.batch)
        body = {
            "precinct": args.precinct,
            "run": batch.run,
            "device": device,
            "batch": args.batch,
            "reason": reason,
        }
        state = desk.act("batch_void_ordered", persons(args), lambda _facts: body)
    answer(
        args,
        f"batch {args.batch} of {state.name_of(device)} is void; gather its sheets from every bin "
        "and feed them again",
        view_fields(state),
    )
    return 0
