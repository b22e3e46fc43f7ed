"""`recount-host order set`: let the ledger work under an order profile."""

import argparse
from pathlib import Path

from recount_host.commands.desk import add_by, add_data, adopt_order, persons
from recount_host.ledger.ledger import open_ledger
from recount_host.order import order_signers, read_order


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("order", metavar="ORDER.toml", help="the order profile")
    add_data(parser)
    add_by(parser)


def run(args: argparse.Namespace) -> int:
    """Take the order into the ledger, which is made when there is none."""
    by = persons(args)
    read_order(Path(args.order))  # a wrong file must not leave an empty ledger behind
    with open_ledger(Path(args.data), create=True) as ledger:
        adopt_order(ledger, Path(args.order), by)
        acts = ledger.acts()
    signers = "; ".join(order_signers(acts))
    print(f"the ledger in {args.data} works under the order {args.order}, signed by {signers or 'nobody'}")
    if not signers:
        print(
            "no device counts live under an order that nobody signed: have it signed (order sign), and give "
            "this command again"
        )
    return 0
