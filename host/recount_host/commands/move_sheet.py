"""`recount-host move-sheet`: both sides together lay a misplaced sheet where its notice puts it."""

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
from recount_host.law.errors import BadEntry
from recount_host.law.precinct import Facts
from recount_protocol.fates import BINS, COUNTED


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    parser.add_argument("from_pile", choices=BINS, help="the pile in which the sheet was found")
    parser.add_argument("to_pile", choices=BINS, help="the pile where it belongs")
    parser.add_argument("--device", default="", metavar="NAME|ID", help="the notice's device")
    parser.add_argument("--batch", type=int, default=0, metavar="BATCH", help="the notice's batch")
    parser.add_argument("--sheet", type=int, default=0, metavar="SHEET", help="the notice's sheet")
    add_data(parser)
    add_by(parser, "twice: one person of each side")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Move the sheet; the piles' counts change by it, and the identities are told anew by `reconcile`."""
    named = bool(args.device and args.batch and args.sheet)
    if args.to_pile != COUNTED and not named:
        raise BadEntry("name the notice of the sheet: --device, --batch and --sheet, as `notices` lists them")

    def body(facts: Facts) -> Mapping[str, Any]:
        return {
            "precinct": args.precinct,
            "device": find_device(facts, args.device) if named else "",
            "batch": args.batch,
            "sheet": args.sheet,
            "from_pile": args.from_pile,
            "to_pile": args.to_pile,
        }

    with open_desk(args) as desk:
        state = desk.act("sheet_moved", persons(args), body)
    answer(args, "the sheet is moved; now reconcile", view_fields(state))
    return 0
