"""`recount-host run end`: a device scans a precinct no more, though not all of it has been fed."""

import argparse
from collections.abc import Mapping
from typing import Any

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
from recount_host.law import drafts
from recount_host.law.errors import NotAllowed
from recount_host.law.precinct import Facts, fold


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    parser.add_argument("--device", required=True, metavar="NAME|ID", help="the device, by name or id")
    add_data(parser)
    add_by(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """End the run; the device closes it once no batch is open, and what it scanned stands."""

    def body(facts: Facts) -> Mapping[str, Any]:
        device = find_device(facts, args.device)
        for ending in drafts.runs_to_end(fold(facts, args.precinct)):
            if ending["device"] == device:
                return ending
        raise NotAllowed(f"{facts.names[device]} has no open run of precinct {args.precinct}: see show")

    with open_desk(args) as desk:
        state = desk.act("run_ended", persons(args), body)
    answer(
        args,
        f"{args.device} scans precinct {args.precinct} no more; what it scanned stands",
        view_fields(state),
    )
    return 0
