"""The command `recount-device`: a table of subcommands, each in a module with `configure(parser)` and `run(args)`."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NamedTuple

from recount_device.errors import OperatorError


class Command(NamedTuple):
    """One subcommand: its words, the module that does it, and what it is for."""

    words: tuple[str, ...]
    module: str
    purpose: str


COMMANDS: tuple[Command, ...] = ()


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every subcommand; modules are imported only when their command is chosen."""
    parser = argparse.ArgumentParser(prog="recount-device", description=__doc__)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code; an OperatorError becomes one line and exit code 2."""
    parser = build_parser()
    args = parser.parse_args(arguments)
    try:
        return int(importlib.import_module(args.module).run(args))
    except OperatorError as error:
        print(f"recount-device: {error}", file=sys.stderr)
        return 2
