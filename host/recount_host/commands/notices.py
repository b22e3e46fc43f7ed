"""`recount-host notices`: the set-aside and not-accepted sheets, once they may be shown."""

import argparse

from recount_host.commands.desk import add_data, add_json, answer, open_desk
from recount_host.law.disclosure import notices


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    add_data(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """List the notices, or refuse while they are closed."""
    with open_desk(args) as desk:
        listed = notices(desk.precinct(args.precinct))
    lines = [
        f"{notice.device_name} batch {notice.batch} sheet {notice.sheet}: {notice.pile}, place "
        f"{notice.place} from below, "
        f"{', '.join(notice.reasons) or 'no reason recorded'}"
        for notice in listed
    ]
    answer(
        args,
        "\n".join(lines) or "no sheet was set aside or not accepted",
        {"notices": [notice.to_json() for notice in listed]},
    )
    return 0
