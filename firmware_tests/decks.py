"""`make decks`: the deck of every contest of every blank at hand, through the whole virtual device.

For each contest a program and its deck are made by the real commands, and the deck is run as on the day:
paper path, board, station, host, compared sheet by sheet. Exit code 0 where every deck passes, 1 where one
fails.
"""

import argparse
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from firmware_tests.day import FOLD_S, Day, DayError, wait_until
from firmware_tests.races import (
    OWN,
    VENDORS,
    Blank,
    Made,
    NotProgrammable,
    RaceError,
    blank_of,
    make_race,
    order_of_race,
    races_on,
)
from recount_ballots.errors import BallotError
from recount_host.decks.deck_make import DECK_FILE
from recount_host.law.deck import parse_deck
from recount_world.errors import WorldGone

BALLOTS = Path(__file__).resolve().parents[2] / "shared" / "ballots"
DEVICES = ("alpha", "beta")
MAKERS = 1
"""Processes that draw decks while the devices run others."""
PATIENCE_S = 300.0
"""For the longest deck, of some ninety sheets, on a busy machine."""


def main(words: Sequence[str]) -> int:
    """Run every deck, and tell of each."""
    parser = argparse.ArgumentParser(prog="make decks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a vendor's (juneau) or a race's (juneau-3); all if left out"
    )
    options = parser.parse_args(words)
    here = [*OWN, *(vendor for vendor in VENDORS if (BALLOTS / vendor).is_dir())]
    names: list[str] = options.names or here
    vendors = [vendor for vendor in here if any(name.startswith(vendor) for name in names)]
    if not vendors:
        parser.error(f"the blanks at hand are those of {', '.join(here)}")
    signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGINT))
    begun = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="decks-") as folder:
            failed = run_decks([blank_of(vendor, BALLOTS) for vendor in vendors], names, Path(folder))
    except KeyboardInterrupt:
        print("decks: ended before its end", file=sys.stderr)
        return 2
    except (RaceError, DayError, BallotError, WorldGone, OSError) as error:
        print(f"decks: {error}", file=sys.stderr)
        return 2
    passed = "every deck passed" if not failed else f"NOT passed: {', '.join(failed)}"
    print(f"{passed}, {time.monotonic() - begun:.0f} s")
    return 1 if failed else 0


def run_decks(blanks: Sequence[Blank], names: Sequence[str], folder: Path) -> list[str]:
    """Make and run the decks of these blanks' contests so named; return the names of those that fail."""
    races = [
        race
        for blank in blanks
        for race in races_on(blank, folder / blank.vendor)
        if {race.name, blank.vendor} & set(names)
    ]
    print(f"{len(races)} contests on the blanks of {', '.join(blank.vendor for blank in blanks)}", flush=True)
    failed: list[str] = []
    for vote_for in sorted({race.known.vote_for for race in races}):
        group = [race for race in races if race.known.vote_for == vote_for]
        place = folder / f"day-{vote_for}"
        place.mkdir()
        with (
            ProcessPoolExecutor(MAKERS, get_context("spawn")) as pool,
            Day(place, order_of_race(vote_for), place / "none") as day,
        ):
            making = [pool.submit(make_race, race, folder / race.name) for race in group]
            day.open_host()
            for name in DEVICES:
                day.add_table(name, [], duplex=False)
            failed += run_all(day, programmed(as_completed(making)))
    return failed


def programmed(making: Iterable[Future[Made]]) -> Iterator[Made]:
    """Yield what was made; tell of what could not be programmed."""
    for one in making:
        try:
            yield one.result()
        except NotProgrammable as refusal:
            print(refusal, flush=True)


def run_all(day: Day, made: Iterable[Made]) -> list[str]:
    """Run these decks on the day's devices, as they come; return the names of those that did not pass."""
    at_work: dict[str, AtWork] = {}
    failed: list[str] = []
    for one in made:
        if len(at_work) == len(day.tables):
            failed += end_first(day, at_work)
        name = next(name for name in day.tables if name not in at_work)
        day.begin_test(name, one.deck, one.program)
        at_work[name] = AtWork(one, time.monotonic())
    while at_work:
        failed += end_first(day, at_work)
    return failed


class AtWork(NamedTuple):
    """A deck in a device, and since when."""

    made: Made
    begun_s: float


def end_first(day: Day, at_work: dict[str, AtWork]) -> list[str]:
    """Wait for the first device that is through, and end its test; return its deck's name if it failed."""

    def first() -> tuple[str, Mapping[str, Any]] | None:
        compared = ((name, day.compared_so_far(name)) for name in at_work)
        return next(((name, told) for name, told in compared if told is not None), None)

    try:
        name, told = wait_until("a device is through with its deck", first, PATIENCE_S, FOLD_S)
    except DayError as error:
        shown = {deck.made.name: day.tables[name].panel() for name, deck in at_work.items()}
        raise DayError(f"{error}: {shown}") from error
    made, begun_s = at_work.pop(name)
    tell(made, told, time.monotonic() - begun_s)
    day.end_test(name)
    return [] if told["passed"] else [made.name]


def tell(made: Made, told: Mapping[str, Any], seconds: float) -> None:
    """Print how a device dealt with a deck."""
    sheets = len(parse_deck((made.deck / DECK_FILE).read_bytes()).sheets)
    passed = "passed" if told["passed"] else "did NOT pass"
    print(f"{made.name}: {sheets} sheets, {passed}, {seconds:.0f} s", flush=True)
    for one in told["differences"]:
        print(
            f"  {one['code']} ({one['what']}): expected {one['expected']}; actual {one['actual']}", flush=True
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
