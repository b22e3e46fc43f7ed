"""The command `recount-device`: a table of subcommands, each a module with `configure` and `run`."""

import argparse
import errno
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
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


NO_ROOM: Mapping[int, str] = {
    errno.ENOSPC: "the disk is full; make room and start again",
    errno.EDQUOT: "this user's share of the disk is full; make room and start again",
    errno.EFBIG: "the file may not grow any more; make room and start again",
    errno.EPIPE: "whoever read the output has gone",
}
"""What is wrong where nothing can be written any more, and what to do."""

COMMANDS: tuple[Command, ...] = (
    Command(("run",), "recount_device.run", "run the device of a DEVICE.toml"),
    Command(("show",), "recount_device.show", "show a device's states from its journal; never a figure"),
    Command(("pin-host",), "recount_device.pin_host", "let the device obey the host with these words only"),
    Command(("read",), "recount_device.read", "read sheets from image files with a contest program"),
    Command(
        ("calibrate-marks",),
        "recount_device.calibration.calibrate_marks",
        "pass or fail this device, paper and pens",
    ),
    Command(
        ("calibrate",),
        "recount_device.calibration.calibrate",
        "set up this device's camera, and pass or fail it",
    ),
    Command(("chart",), "recount_device.calibration.chart", "make the lens chart that calibrate is fed with"),
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
    """Run one subcommand and return its exit code.

    An OperatorError, a file of another user, a disk that is full and a reader of the output that has gone
    become one line and exit code 2.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        args = build_parser(words[0] if words else None).parse_args(words)
        code = int(importlib.import_module(args.module).run(args))
        sys.stdout.flush()
    except OperatorError as error:
        print(f"recount-device: {error}", file=sys.stderr)
        return 2
    except PermissionError as error:
        print(
            f"recount-device: {error.filename or 'a file'}: {error.strerror}; what a device keeps is its "
            "owner's alone, so work as the user who starts recount-device run",
            file=sys.stderr,
        )
        return 2
    except OSError as error:
        why = NO_ROOM.get(error.errno or 0)
        if why is None:
            raise
        _drop_output()
        print(f"recount-device: cannot write: {why}", file=sys.stderr)
        return 2
    return code


def _drop_output() -> None:
    """Send what is still to be printed nowhere: Python's own end would fail over it once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
