"""`make rig-soak`: the real firmware through days that are too long for `make test`, on all cores.

Each piece is a world of its own with its own seed, so a figure that is not as it must be can be had again by
that piece alone. The noise is stated in device/tests/world/soak_days.py.
"""

import argparse
import os
import platform
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from device.tests.firmware.noise import under_noise
from device.tests.world.feeder_model import random_days
from device.tests.world.soak_days import clean_day, stuck_day
from firmware_tests.benchmark_page import write_section
from recount_world.board_process import interpreter
from recount_world.errors import BoardError

TOLD_EVERY_S = 20.0

NOISE_STATED = """
Clean sheets and stuck ones: paper 100 um thick, give or take 10, and 279.4 mm long, give or take 0.8.
The double-feed sensor reads up to 25 um wrong on each sheet, and is wholly wrong for up to 2 ms at a
time, a hundred times a minute. The optical sensors bounce for up to 1.5 ms after each edge, and dust
passes each of them 20 times a minute. The pick roller slips for up to 15 mm. Of the stuck groups three
in ten are triples, three in ten lie fully over each other, the others by a random part. *Blind*: the
double-feed sensor sees nothing; a group that is then counted as one sheet must show by its length, by
I9 or by the people's count (I2). Random sequences: jams, stuck sheets, sheets askew, hands, covers,
stops, power, cables and words out of turn in any order (the model of
`device/tests/world/feeder_model.py`). Garbage: noise, bit flips, floods, half frames, false greetings.
"""

Figures = Counter[str]


class Part(NamedTuple):
    """One thing to prove: a piece of it is run with a seed and a size."""

    unit: str
    amount: int
    piece: int
    run: Callable[[int, int], Figures]


def garbage(seed: int, noise_bytes: int) -> Figures:
    """Pour garbage over one feeder."""
    with TemporaryDirectory() as folder:
        return under_noise(Path(folder), seed, noise_bytes)


PARTS: Mapping[str, Part] = {
    "clean": Part("clean sheets", 20_000, 500, clean_day),
    "stuck": Part("double and triple feeds", 10_000, 250, partial(stuck_day, blind=False)),
    "blind": Part("of them past a blind sensor", 2_000, 250, partial(stuck_day, blind=True)),
    "random": Part("random sequences of events", 2_000, 50, random_days),
    "garbage": Part("bytes of garbage", 24_000_000, 1_000_000, garbage),
}

MUST_BE_ZERO = (
    "sequences that break a rule",
    "false stops",
    "sheets elsewhere",
    "days without I9",
    "counted as one",
    "not caught by I9 or I2",
    "blind: not caught by I9 or I2",
    "motions under garbage",
    "wrong counts or states under garbage",
    "resets",
)


class Piece(NamedTuple):
    """A piece of a part."""

    part: str
    seed: int
    size: int


def pieces(share: float, names: Sequence[str]) -> list[Piece]:
    """Return the pieces of a soak that does `share` of everything, mixed so that all parts advance alike."""
    found: list[tuple[float, Piece]] = []
    for name in names:
        part = PARTS[name]
        amount = max(1, round(part.amount * share))
        count = -(-amount // part.piece)
        for number in range(count):
            size = min(part.piece, amount - number * part.piece)
            found.append(((number + 0.5) / count, Piece(name, number + 1, size)))
    return [piece for _, piece in sorted(found)]


def run_piece(piece: Piece) -> Figures:
    """Run one piece, in a process of the pool."""
    return PARTS[piece.part].run(piece.seed, piece.size)


def wrong(figures: Figures) -> list[str]:
    """Return the names of the figures that must be zero and are not."""
    return [name for name in MUST_BE_ZERO if figures[name]]


def soak(share: float, names: Sequence[str], say: Callable[[str], None]) -> Figures:
    """Run everything and return its figures; progress goes to `say`."""
    planned = pieces(share, names)
    total: Figures = Counter()
    began = told = time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        running: dict[Future[Figures], Piece] = {pool.submit(run_piece, piece): piece for piece in planned}
        for done, future in enumerate(as_completed(running), 1):
            figures = future.result()
            total.update(figures)
            piece = running[future]
            if wrong(figures):
                say(f"{piece.part}, seed {piece.seed}, size {piece.size}: {dict(figures)}")
            now = time.monotonic()
            if now - told >= TOLD_EVERY_S:
                told = now
                say(f"{now - began:5.0f} s: {done} of {len(planned)} pieces, {summary(total)}")
    total["seconds"] = round(time.monotonic() - began)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    total["processor seconds"] = round(used.ru_utime + used.ru_stime)
    return total


def summary(figures: Figures) -> str:
    """Return in one line how far it is, and what is wrong."""
    faults = ", ".join(f"{name}: {figures[name]}" for name in wrong(figures)) or "nothing wrong"
    return f"{figures['clean sheets']} clean sheets, {figures['stuck groups']} stuck groups, {faults}"


def main(words: Sequence[str]) -> int:
    """Run the soak and print its figures; 1 where one is not as it must be."""
    parser = argparse.ArgumentParser(prog="firmware_tests.soak", description="The long days.")
    parser.add_argument("--share", type=float, default=1.0, help="so much of everything (default: 1, all)")
    parser.add_argument("--only", action="append", choices=[*PARTS], help="only this part (may be repeated)")
    options = parser.parse_args(words)
    if not 0 < options.share <= 100:
        parser.error("--share must be more than 0 and at most 100")
    try:
        interpreter()
    except BoardError as error:
        print(f"rig-soak: {error}", file=sys.stderr)
        return 2
    total = soak(options.share, options.only or list(PARTS), lambda line: print(line, flush=True))
    for name in in_order(total):
        print(f"{total[name]:>12,}  {name}{'  (must be 0)' if name in MUST_BE_ZERO else ''}")
    if options.share == 1 and not options.only:
        write_section("rig-soak", section(total))
        print("written to docs/benchmarks.md")
    return 1 if wrong(total) else 0


def in_order(total: Figures) -> list[str]:
    """Return the names of the figures, those that must be zero last."""
    return sorted({*total, *MUST_BE_ZERO}, key=lambda name: (name in MUST_BE_ZERO, name))


def section(total: Figures) -> str:
    """Return the section of docs/benchmarks.md: what was run, and what came of it."""
    minutes, seconds = divmod(total["seconds"], 60)
    said_above = {*MUST_BE_ZERO, "seconds", "processor seconds"}
    rows = [f"| {name} | {total[name]:,} |" for name in in_order(total) if name not in said_above]
    written = (
        f"Written by `make rig-soak` after {minutes} min {seconds} s, in which it used "
        f"{total['processor seconds']:,} seconds of {os.cpu_count()} cores of {platform.machine()}, Python "
        f"{platform.python_version()}: the real firmware in its interpreter, in the simulated world, from "
        "fixed seeds. On cores that do nothing else it takes the latter, divided by their number."
    )
    zeros = [f"| {name} | {total[name]:,} |" for name in MUST_BE_ZERO]
    return "\n".join(
        [
            "# The feeder's long days",
            "",
            written,
            "",
            " ".join(NOISE_STATED.split()),
            "",
            "| what was run | |",
            "| --- | --: |",
            *rows,
            "",
            "| must be 0 | |",
            "| --- | --: |",
            *zeros,
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
