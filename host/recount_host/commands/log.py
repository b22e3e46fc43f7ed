"""`recount-host log`: every act in order, with who did it and what such an act means."""

import argparse
import json

from recount_host.commands.desk import add_data, add_json, answer, open_desk
from recount_host.law.disclosure import LogLine, log
from recount_host.law.precinct import fold_all


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", nargs="?", metavar="PRECINCT", help="one precinct; left out: all acts")
    add_data(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the log; a figure that somebody still has to find blind is left out."""
    with open_desk(args) as desk:
        facts = desk.facts()
    if args.precinct:
        facts.order.precinct(args.precinct)
    lines = [line for line in log(facts.acts, fold_all(facts)) if args.precinct in (None, line.precinct)]
    answer(
        args,
        "\n".join(_in_words(line) for line in lines) or "nothing was done yet",
        {"acts": [line.to_json() for line in lines]},
    )
    return 0


LONGEST = 160
"""Characters of a value in words: a whole deck is one. `--json` tells all."""


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:16]}...({len(text)} characters)"


def _in_words(line: LogLine) -> str:
    where = f" precinct {line.precinct}" if line.precinct else ""
    fields = "".join(f" {name}={_short(value)}" for name, value in line.fields.items())
    hidden = "".join(f" {name}=(not shown yet)" for name in line.hidden)
    return f"{line.n} {line.utc} {line.kind}{where} by {'; '.join(line.by)}:{fields}{hidden}\n    {line.says}"
