"""What both sides decide where a device cannot go on; and who takes an official's seat."""

import argparse

from recount_host.commands.act_command import BOTH, ActCommand, Argument, device_of, option, text
from recount_host.commands.desk import Desk, find_device, persons
from recount_host.law import drafts
from recount_host.law.persons import parse_person


def _end_runs(args: argparse.Namespace, desk: Desk) -> None:
    """End the precinct's runs, of one device where the command names one: nothing more is fed."""
    facts, state = desk.facts(), desk.precinct(args.precinct)
    device = find_device(facts, args.device) if "device" in args else None
    for ending in drafts.runs_to_end(state):
        if device in (None, ending["device"]):
            desk.act("run_ended", persons(args), lambda _facts, body=ending: body)


withdraw = ActCommand(
    "device_withdrawn",
    "Both sides withdraw a device that is dead or opened a wrong run: all it scanned here is fed again.",
    (
        option("--device", "the device, by name or id", metavar="NAME|ID"),
        option("--reason", "why, in a few words"),
    ),
    lambda args, state: {
        "device": device_of(state, args.device),
        "reason": text(args.reason, "why the device is withdrawn (--reason)"),
    },
    lambda args, _state: (
        f"{args.device} is withdrawn, and all that it scanned of precinct {args.precinct} counts nothing: "
        "gather "
        "its sheets from every tray and feed them on another device"
    ),
    BOTH,
    _end_runs,
)
hand_count = ActCommand(
    "hand_count_ordered",
    "Both sides send all ballots of the precinct to the hand count, before any figure is shown (D 2).",
    (option("--reason", "why no scanner can give a total that stands"),),
    lambda args, _state: {"reason": text(args.reason, "why no scanner's total can stand (--reason)")},
    lambda args, _state: (
        f"all ballots of precinct {args.precinct} are counted by hand; what scanners recorded counts "
        "nothing, and is "
        "kept"
    ),
    BOTH,
    _end_runs,
)


def _words(person: str) -> list[str]:
    named = parse_person(person)
    return [named.name, named.role, named.side]


substitute = ActCommand(
    "official_substituted",
    "A recount official leaves the team; another of the same side may take the seat.",
    (
        Argument("leaves", "the name of the official who leaves"),
        option("--comes", 'who takes the seat: "name, official, side"; left out: nobody', default=""),
        option("--reason", "why, in a few words"),
    ),
    lambda args, _state: {
        "leaves": [text(args.leaves, "who leaves"), "", ""],
        "comes": _words(args.comes) if args.comes else ["", "", ""],
        "reason": text(args.reason, "why the official leaves (--reason)"),
    },
    lambda _args, state: f"the team is {'; '.join(person.name for person in state.team) or 'nobody'}",
)
