"""`recount-host run assign`: tell a device to scan a precinct with a contest program."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recount_host.commands.desk import add_by, add_data, add_json, answer, find_device, open_desk, persons
from recount_host.commands.program_add import add_program, read_program_file
from recount_host.law.precinct import Facts
from recount_host.run_names import run_name
from recount_host.signatures import Signed, read_signatures
from recount_protocol.records import LIVE, TRAINING


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    parser.add_argument("--device", required=True, metavar="NAME|ID", help="the device, by name or id")
    parser.add_argument("--program", required=True, metavar="FILE", help="the contest program file")
    parser.add_argument(
        "--mode",
        required=True,
        choices=(LIVE, TRAINING),
        help="what the run is for: live asks for an armed device",
    )
    add_data(parser)
    add_by(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Assign the run; the service tells the device as soon as it is connected."""
    by = persons(args)
    path = Path(args.program)
    data, program = read_program_file(path)
    signatures = read_signatures(path, Signed("program", data))
    names: list[str] = []

    def body(facts: Facts) -> Mapping[str, Any]:
        device = find_device(facts, args.device)
        names.append(facts.names[device])
        runs = sum(act.kind == "run_assigned" and act.body["precinct"] == args.precinct for act in facts.acts)
        return {
            "run": run_name(args.precinct, runs),
            "precinct": args.precinct,
            "device": device,
            "program": program.program_hash,
            "contest": program.key,
            "mode": args.mode,
        }

    with open_desk(args) as desk:
        add_program(desk, data, program, signatures, by, for_training=args.mode == TRAINING)
        state = desk.act("run_assigned", by, body)
    given = state.assignments[-1]
    answer(
        args,
        f"{names[0]} scans precinct {args.precinct} as run {given.run}, mode {given.mode}",
        {"run": given.run, "device": given.device, "mode": given.mode, "program": given.program.hex()},
    )
    return 0
