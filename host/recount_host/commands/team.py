"""`recount-host team swear` and `team list`: the roster of those who took the oath (§ 24.2-802.1)."""

import argparse
from pathlib import Path

from recount_host.commands.act_command import text
from recount_host.commands.desk import add_by, add_data, add_json, answer, persons
from recount_host.law.persons import in_words, parse_person
from recount_host.law.roster import SWORN, admit_oath, balance, roster
from recount_host.ledger.ledger import open_ledger
from recount_host.order import order_of


class _Swear:
    """A person took the oath and stands on the roster; from then on only sworn officials act for a side."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument(
            "person", metavar='"NAME, ROLE, SIDE"', help="who took the oath; a coordinator has no side"
        )
        parser.add_argument("--before", required=True, help="who took it, for example the clerk's name")
        add_data(parser)
        add_by(parser, "once: who enters it")
        add_json(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Write the oath down."""
        by, sworn = persons(args), parse_person(args.person)
        body = {
            "person": [sworn.name, sworn.role, sworn.side],
            "before": text(args.before, "who took the oath (--before)"),
        }
        with open_ledger(Path(args.data)) as ledger, ledger.deciding() as turn:
            order = order_of(turn.acts())
            admit_oath(turn.acts(), order, by, body)
            turn.append(SWORN, by, body)
            told = balance(turn.acts(), order)
        answer(
            args, f"{in_words(sworn)} is on the roster; {told}", {"person": body["person"], "balance": told}
        )
        return 0


class _List:
    """List the roster: who took the oath, before whom and when, by side."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        add_data(parser)
        add_json(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Show the roster."""
        with open_ledger(Path(args.data)) as ledger:
            acts = ledger.acts()
        order, sworn = order_of(acts), roster(acts)
        lines = [f"{in_words(known.person)}: sworn before {known.before}, {known.utc}" for known in sworn]
        if order.teams:
            lines.append(f"the order has {order.teams} teams")
        lines.append(balance(acts, order) if sworn else "nobody is on the roster yet (team swear)")
        fields = [
            {"name": k.person.name, "role": k.person.role, "side": k.person.side, "before": k.before}
            for k in sworn
        ]
        answer(args, "\n".join(lines), {"roster": fields, "teams": order.teams})
        return 0


swear = _Swear()
list_ = _List()
