"""`recount-host device revoke`: both sides take a device out of the recount; its key never comes back."""

import argparse

from recount_host.commands.desk import add_by, add_data, add_json, answer, find_device, open_desk, persons
from recount_host.law.enrolment import REVOKED, admit_enrolment
from recount_host.law.errors import BadEntry
from recount_host.order import order_of


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("device", metavar="NAME|ID", help="the device, by name or id")
    parser.add_argument("--reason", required=True, help="why, in a few words")
    add_data(parser)
    add_by(parser, "twice: one person of each side")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Revoke the device; what it delivered before stays."""
    reason = " ".join(args.reason.split())
    if not reason:
        raise BadEntry('say why the device is revoked: --reason "in a few words"')
    by = persons(args)
    with open_desk(args) as desk:
        facts = desk.facts()
        device = find_device(facts, args.device)
        body = {"device": device, "name": facts.names[device], "reason": reason}
        with desk.ledger.deciding() as turn:
            admit_enrolment(turn.acts(), order_of(turn.acts()), REVOKED, by, body)
            turn.append(REVOKED, by, body)
    answer(
        args,
        f"{body['name']} is revoked: nothing more of it is taken; what it delivered before stays",
        {"device": device, "name": body["name"], "reason": reason},
    )
    return 0
