"""`make fuzz`: all decoders under atheris, two at a time; exit code 1 on a finding or a bound not met."""

import argparse
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp

from firmware_tests.fuzz.reached import unreached
from firmware_tests.fuzz.targets import NAMES, Target, target

PAST = 0.30
"""At least this share of the inputs must come past the outermost layer."""
REACHED = 0.95
"""At least this share of a decoder's lines must be reached."""
REPLAYED = 3000
"""So many inputs of the corpus are replayed to see which lines they reach."""


@dataclass(frozen=True)
class Outcome:
    """What became of one target."""

    target: Target
    wanted: int
    """So many inputs were asked for."""
    inputs: int
    past: int
    lines: int
    left: Sequence[str]
    seconds: float
    failure: str

    @property
    def is_good(self) -> bool:
        """Return whether nothing was found and the bounds are met."""
        far = self.past >= PAST * self.inputs and self.inputs >= self.wanted
        return not self.failure and far and len(self.left) <= (1 - REACHED) * self.lines

    def line(self) -> str:
        """Return the outcome for people."""
        share = 100 * self.past / max(1, self.inputs)
        reached = 100 * (self.lines - len(self.left)) / max(1, self.lines)
        return (
            f"{self.target.name}: {self.inputs} of {self.wanted} inputs in {self.seconds:.0f} s, "
            f"{share:.0f} % past the first layer, "
            f"{reached:.1f} % of {self.lines} decoder lines reached; {self.failure or 'nothing found'}"
        )


def fuzz(target: Target, inputs: int, folder: Path, seed: int) -> Outcome:
    """Fuzz one target in a process of its own."""
    name = target.name.replace(" ", "-")
    corpus, figures, log = folder / name, folder / f"{name}.json", folder / f"{name}.log"
    corpus.mkdir()
    begun = time.monotonic()
    words = [target.name, str(inputs), str(figures), str(corpus), str(seed), *target.guided_by]
    with log.open("wb") as stream:
        ended = subprocess.run(
            [sys.executable, "-m", "firmware_tests.fuzz.one", *words],
            stdout=stream,
            stderr=subprocess.STDOUT,
            check=False,
        )
    counts = json.loads(figures.read_text()) if figures.exists() else {"inputs": 0, "past": 0}
    failure = "" if ended.returncode == 0 else f"FINDING, see {log}"
    kept = sorted(corpus.iterdir(), key=lambda path: path.stat().st_size)[:REPLAYED]
    inputs_kept = chain(target.seeds(), (path.read_bytes() for path in kept))
    left: Sequence[str] = ()
    lines = 0
    if not failure:
        try:
            left, lines = unreached(target, inputs_kept)
        except ValueError as error:
            failure = str(error)
    return Outcome(
        target, inputs, counts["inputs"], counts["past"], lines, left, time.monotonic() - begun, failure
    )


def _tell(outcome: Outcome) -> None:
    print(outcome.line(), flush=True)
    for line in outcome.left:
        print(f"  not reached: {line}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz all targets, or some."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="only so much of it")
    parser.add_argument("--only", action="append", default=[], help="only this target; may be repeated")
    parser.add_argument("--seed", type=int, default=802)
    args = parser.parse_args(arguments)
    try:
        importlib.import_module("atheris")
    except ImportError:
        print("make fuzz: atheris has no wheel for this machine (Linux on x86-64 only)", file=sys.stderr)
        return 2
    folder = Path(mkdtemp(prefix="recount-fuzz-"))
    chosen = [target(name) for name in NAMES if not args.only or name in args.only]
    chosen.sort(key=lambda each: each.inputs * each.max_bytes, reverse=True)  # what takes long begins first
    with ThreadPoolExecutor(2) as pool:
        waiting = [
            pool.submit(fuzz, each, max(100, round(each.inputs * args.share)), folder, args.seed)
            for each in chosen
        ]
        outcomes: list[Outcome] = []
        for done in as_completed(waiting):
            outcomes.append(done.result())
            _tell(outcomes[-1])
    print(
        f"bounds: all inputs, {PAST:.0%} of them past the first layer, {REACHED:.0%} of the lines reached, "
        "no crash, no hang (10 s), no memory above 1,500 MB"
    )
    print(f"corpus and logs: {folder}")
    return 0 if all(outcome.is_good for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
