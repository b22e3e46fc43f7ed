"""What people decide about stacks: a batch is void, a doubt is settled, a sheet is moved, a run is ended."""

import argparse
from collections.abc import Mapping
from typing import Any

from recount_host.commands.act_command import BOTH, ActCommand, Argument, device_of, option, text
from recount_host.law import drafts
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.precinct import PrecinctState, find_batch
from recount_protocol.fates import BINS, COUNTED, RETURNED

_DEVICE = option("--device", "the device, by name or id", metavar="NAME|ID")


def _batch(args: argparse.Namespace, state: PrecinctState) -> dict[str, Any]:
    """Return the batch that a command names, as an act does."""
    device = device_of(state, args.device)
    batch = find_batch(state, device, args.batch)
    return {"run": batch.run, "device": device, "batch": args.batch}


void = ActCommand(
    "batch_void_ordered",
    "Both sides together declare a batch void; it is kept, counts nothing, and its sheets are run again.",
    (
        Argument("batch", "the batch's number, as `show` names it", {"type": int, "metavar": "BATCH"}),
        _DEVICE,
        option("--reason", "why, in a few words"),
    ),
    lambda args, state: {
        **_batch(args, state),
        "reason": text(args.reason, "why the batch is void (--reason)"),
    },
    lambda args, state: (
        f"batch {args.batch} of {state.name_of(device_of(state, args.device))} is void; gather its sheets "
        "from every bin and feed them again"
    ),
    BOTH,
)

settle_doubt = ActCommand(
    "doubt_settled_ordered",
    "Both sides together say where a sheet in doubt lies; the device writes it down and goes on.",
    (
        Argument("sheet", "the sheet's number, as `doubt list` names it", {"type": int, "metavar": "SHEET"}),
        Argument("fate", "where the sheet lies; returned: it is fed again", {"choices": (*BINS, RETURNED)}),
        _DEVICE,
        option("--batch", "the batch's number", type=int, metavar="BATCH"),
    ),
    lambda args, state: {**_batch(args, state), "sheet": args.sheet, "fate": args.fate},
    lambda args, state: (
        f"sheet {args.sheet} of batch {args.batch}: {args.fate}; "
        f"{state.name_of(device_of(state, args.device))} is told and writes it down"
    ),
    BOTH,
)


def _moved(args: argparse.Namespace, state: PrecinctState) -> Mapping[str, Any]:
    named = bool(args.device and args.batch and args.sheet)
    if args.to_pile != COUNTED and not named:
        raise BadEntry("name the notice of the sheet: --device, --batch and --sheet, as `notices` lists them")
    return {
        "device": device_of(state, args.device) if named else "",
        "batch": args.batch,
        "sheet": args.sheet,
        "from_pile": args.from_pile,
        "to_pile": args.to_pile,
    }


move_sheet = ActCommand(
    "sheet_moved",
    "Both sides together lay a misplaced sheet where its notice puts it; the piles' counts change by it.",
    (
        Argument("from_pile", "the pile in which the sheet was found", {"choices": BINS}),
        Argument("to_pile", "the pile where it belongs", {"choices": BINS}),
        option("--device", "the notice's device", default="", metavar="NAME|ID"),
        option("--batch", "the notice's batch", default=0, type=int, metavar="BATCH"),
        option("--sheet", "the notice's sheet", default=0, type=int, metavar="SHEET"),
    ),
    _moved,
    lambda _args, _state: "the sheet is moved; now reconcile",
    BOTH,
)


def _ended(args: argparse.Namespace, state: PrecinctState) -> Mapping[str, Any]:
    device = device_of(state, args.device)
    for ending in drafts.runs_to_end(state):
        if ending["device"] == device:
            return ending
    raise NotAllowed(f"{state.name_of(device)} has no open run of precinct {args.precinct}: see show")


end_run = ActCommand(
    "run_ended",
    "A device scans a precinct no more, though not all of it has been fed; what it scanned stands.",
    (_DEVICE,),
    _ended,
    lambda args, _state: f"{args.device} scans precinct {args.precinct} no more; what it scanned stands",
)
