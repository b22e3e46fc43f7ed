"""The command `recount-device`: a table of subcommands, each a module with `configure` and `run`."""

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from recount_device.errors import OperatorError


class OneLineParser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence, as everything else that a person got wrong."""

    def error(self, message: str) -> NoReturn:
        """Raise OperatorError with what is wrong with the words given."""
        raise OperatorError(f"{message}; {self.prog} --help tells what it takes")


class Command(NamedTuple):
    """One subcommand: its words, the module that does it, and what it is for."""

    words: tuple[str, ...]
    module: str
    purpose: str


COMMANDS: tuple[Command, ...] = (
    Command(("run",), "recount_device.run", "run the device of a DEVICE.toml"),
    Command(("show",), "recount_device.show", "show a device's states from its journal; never a figure"),
    Command(("read",), "recount_device.read", "read sheets from image files with a contest program"),
    Command(
        ("calibrate-marks",), "recount_device.calibrate_marks", "pass or fail this device, paper and pens"
    ),
    Command(("simulate",), "recount_device.simulator", "run the simulated paper path of a WORLD.toml"),
    Command(("firmware",), "recount_device.firmware", "install or verify the program of a feeder board"),
    Command(("feeder",), "recount_device.feeder", "watch the feeder's sensors, and move its motors"),
    Command(
        ("replay",), "recount_device.replay", "run the feeder's firmware through the trace of a simulation"
    ),
)


def build_parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """Return the parser with every subcommand; the chosen one's module is imported, for its arguments."""
    parser = OneLineParser(prog="recount-device", description="The device of a ballot recount.")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        word = command.words[0]
        subparser = commands.add_parser(word, help=command.purpose, description=command.purpose)
        subparser.set_defaults(module=command.module)
        if word == chosen:
            importlib.import_module(command.module).configure(subparser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code; an OperatorError becomes one line and exit code 2."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        args = build_parser(words[0] if words else None).parse_args(words)
        return int(importlib.import_module(args.module).run(args))
    except OperatorError as error:
        print(f"recount-device: {error}", file=sys.stderr)
        return 2
