"""The commands `python -m recount_ballots draw FOLDER` and `... render FOLDER -o OUT`."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from recount_ballots.ballots_file import draw_ballots
from recount_ballots.errors import BallotError
from recount_ballots.render import Progress, render_deck


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; what is wrong with the folder becomes one line and exit code 2."""
    parser = argparse.ArgumentParser(prog="python -m recount_ballots", description="Draw ballots and decks.")
    commands = parser.add_subparsers(required=True)
    draw = commands.add_parser("draw", help="draw the blanks and spec.toml from ballots.toml")
    draw.add_argument("folder", type=Path)
    draw.set_defaults(run=_draw)
    render = commands.add_parser("render", help="draw the marked sheets of deck.toml as scans")
    render.add_argument("folder", type=Path)
    render.add_argument("-o", "--out", type=Path, required=True, help="the folder for the pictures")
    render.add_argument("--duplex", action="store_true", help="both sides of each sheet")
    render.set_defaults(run=_render)
    args = parser.parse_args(arguments)
    try:
        args.run(args)
    except (BallotError, OSError) as error:
        print(f"recount_ballots: {error}", file=sys.stderr)
        return 2
    return 0


def _draw(args: argparse.Namespace) -> None:
    for path in draw_ballots(args.folder):
        print(path)


def _render(args: argparse.Namespace) -> None:
    drawn = render_deck(args.folder, args.out, duplex=args.duplex, progress=progress_line("drawing ballots"))
    said = f"{drawn} sheets drawn into" if drawn else "the sheets are already in"
    print(said, args.out)


def progress_line(what: str) -> Progress:
    """Return a progress callback: one line on a terminal, every tenth part elsewhere."""
    begun = time.monotonic()

    def show(done: int, of: int) -> None:
        if sys.stdout.isatty():
            end = "\n" if done == of else ""
            seconds = round(time.monotonic() - begun)
            print(f"\r{what}: {done} of {of} ({seconds} s)", end=end, flush=True)
        elif done * 10 // of != (done - 1) * 10 // of:
            print(f"{what}: {done} of {of}", flush=True)

    return show


if __name__ == "__main__":
    sys.exit(main())
