"""`recount-host show`: where each precinct stands and what to do next; figures only where they were shown."""

import argparse

from recount_host.commands.desk import add_data, add_json, answer, open_desk
from recount_host.law.disclosure import PrecinctView, view
from recount_host.law.precinct import fold, fold_all


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "precinct", nargs="?", metavar="PRECINCT", help="one precinct; left out: all of the order"
    )
    add_data(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print each precinct's state."""
    with open_desk(args) as desk:
        facts = desk.facts()
    states = [fold(facts, args.precinct)] if args.precinct else list(fold_all(facts).values())
    views = [view(state) for state in states]
    names = [{"device": device, "name": name} for device, name in sorted(facts.names.items())]
    answer(
        args,
        "\n".join(line for shown in views for line in _in_words(shown)),
        {"devices": names, "precincts": [shown.to_json() for shown in views]},
    )
    return 0


def _in_words(shown: PrecinctView) -> list[str]:
    lines = [f"precinct {shown.id} {shown.name}: {shown.state}; {shown.situation}"]
    if shown.devices:
        lines.append(f"  devices: {', '.join(shown.devices)} (mode {shown.mode})")
    if shown.sheets_fed is not None:
        lines.append(f"  sheets fed: {shown.sheets_fed}")
    lines += [f"  batch {batch.batch} of {batch.device_name}: {batch.standing}" for batch in shown.batches]
    if shown.state != "not_open":
        lines += [f"  {count.letter}: {count.standing}" for count in shown.counts]
    lines += [f"  {identity.name} {'holds' if identity.holds else 'FAILS'}" for identity in shown.identities]
    lines += [f"  open: {obstacle}" for obstacle in shown.obstacles]
    if shown.figures is not None:
        lines.append(f"  hand count: {shown.hand_count}")
    lines.append(f"  next: {shown.next}")
    return lines
