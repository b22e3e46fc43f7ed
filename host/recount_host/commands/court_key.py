"""`recount-host court-key make`: make the key pair to which bundles are sealed. The court does this itself.

The private key stays with the court; the file beside it that ends in .pub is given to the localities.
"""

import argparse
from pathlib import Path

from recount_host.commands.desk import add_json, answer
from recount_host.exports.sealed import key_name, make_court_key, public_path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "file", metavar="COURT.key", help="where the private key is written; must not be there yet"
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Make the two files."""
    path = Path(args.file)
    name = key_name(make_court_key(path))
    answer(
        args,
        f"key {name}: keep {path} where only the court reads it; give {public_path(path)} to the localities",
        {"key": name, "private": str(path), "public": str(public_path(path))},
    )
    return 0
