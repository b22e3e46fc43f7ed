"""`recount-device replay TRACE`: whether the feeder's firmware does again what a recorded run says it did."""

import argparse
from pathlib import Path

from recount_device.errors import OperatorError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("trace", type=Path, metavar="TRACE", help="what `simulate` wrote as `trace`")
    parser.add_argument(
        "--firmware", type=Path, metavar="FOLDER", help="a firmware's sources, instead of this release's"
    )


def run(args: argparse.Namespace) -> int:
    """Print the verdict; return 0 where the firmware does the same, 1 where it differs."""
    from recount_device.simulator import replay_trace  # noqa: PLC0415  the world is no part of a real device

    if args.firmware is not None and not (args.firmware / "main.py").is_file():
        raise OperatorError(f"{args.firmware} is no folder with a firmware: there is no main.py in it")
    same, lines = replay_trace(args.trace, args.firmware)
    print(*lines, sep="\n")
    return 0 if same else 1
