"""`recount-host doubt list`: the sheets whose landing is unknown."""

import argparse

from recount_host.commands.desk import add_data, add_json, answer, open_desk
from recount_host.law.disclosure import asked_now
from recount_host.law.precinct import fold_all


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_data(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the sheets in doubt of all precincts."""
    with open_desk(args) as desk:
        states = fold_all(desk.facts())
    doubts = [(precinct_id, doubt) for precinct_id, state in states.items() for doubt in asked_now(state)]
    lines = [
        f"precinct {precinct_id}: sheet {doubt.sheet} in batch {doubt.batch} of "
        f"{doubt.device_name}: {doubt.why}"
        for precinct_id, doubt in doubts
    ]
    answer(
        args,
        "\n".join(lines) or "no sheet is in doubt",
        {"doubts": [{"precinct": precinct_id, **doubt.to_json()} for precinct_id, doubt in doubts]},
    )
    return 0
