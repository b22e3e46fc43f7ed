"""`recount-device calibrate DEVICE.toml`: the walk that sets a device's camera up, and passes or fails it.

Three steps, each with its sheets: the lens chart (focus, exposure, noise; the lens), white sheets (light and
glass), and, with --program, known blanks and marks. The feeder brings the sheets under the device's camera;
pictures may be given instead. A lens that passed is kept in the device's folder, and every sheet is read with
it from then on. Exit code 0: passed; 1: failed, with what to do; 2: something was given that cannot be.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import cv2

from recount_classifier.lens import Lens
from recount_classifier.program import Program
from recount_classifier.raster import Grey
from recount_device.calibration.calibrate_marks import (
    KnownSheet,
    assessed,
    known_files,
    known_marks_in,
    read_known_sheets,
    refuse_unknown,
    words,
)
from recount_device.calibration.drawing import drawing
from recount_device.calibration.feed import SheetFeed, open_feed
from recount_device.calibration.mark_margins import LEAST_BLANKS
from recount_device.calibration.page import Walk, json_line, page
from recount_device.calibration.steps import MARKS_TITLE, Seen, Step, chart_steps, lens_of, light_step
from recount_device.config import Config, read_config
from recount_device.errors import OperatorError
from recount_device.identity import KEY_FILE, open_identity
from recount_device.journal import JOURNAL_FILE
from recount_device.lens_file import lens_hash, lens_of_device, write_lens
from recount_device.read import load_program, load_sheet
from recount_device.run import make_own_folder
from recount_device.show import fold_journal

CHARTS, WHITES = 3, 2
"""Sheets of each kind that are fed where nobody says otherwise: a chart lies differently each time."""
MOST_FED = 1000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add this command's arguments."""
    parser.add_argument("config", type=Path, metavar="DEVICE.toml")
    parser.add_argument("--only", choices=("chart", "white", "marks"), help="do this step alone")
    parser.add_argument(
        "--charts", type=_sheets, default=CHARTS, metavar="N", help=f"times a chart is fed ({CHARTS})"
    )
    parser.add_argument(
        "--whites", type=_sheets, default=WHITES, metavar="N", help=f"white sheets that are fed ({WHITES})"
    )
    parser.add_argument("--blanks", type=_sheets, default=0, metavar="N", help="blank ballots that are fed")
    parser.add_argument(
        "--chart", nargs="+", metavar="PICTURE", help="read these pictures of the chart instead"
    )
    parser.add_argument("--white", nargs="+", metavar="PICTURE", help="read these pictures of white sheets")
    parser.add_argument("--program", type=Path, metavar="PROGRAM", help="the contest program: its marks too")
    parser.add_argument(
        "--known", type=Path, metavar="KNOWN.csv", help="the marks of the known deck, a line a sheet"
    )
    parser.add_argument("--blank", nargs="+", metavar="SHEET", help="read these pictures of unmarked sheets")
    parser.add_argument("--marked", nargs="+", metavar="SHEET", help="read these pictures of the known deck")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT.svg", help="draw what was found")


def _sheets(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_FED:
        raise argparse.ArgumentTypeError(f"{text} is no number of sheets from 1 to {MOST_FED}")
    return int(text)


@dataclass(frozen=True)
class Marks:
    """What the step of the marks needs."""

    program: Program
    known: dict[str, frozenset[str]]


def run(args: argparse.Namespace) -> int:
    """Walk through the steps; return 0 when all passed, 1 when one failed."""
    cv2.setNumThreads(1)
    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    config = read_config(args.config)
    _refuse_in_a_run(config)
    make_own_folder(config.folder)
    before = _lens_before(config)
    marks = _marks(args)
    begun = datetime.now(UTC)
    with ExitStack() as stack:
        sheets = _sources(args, config, stack)
        walk = _walk(config, sheets, marks, before, begun)
    if args.output is not None:
        _write(args.output, drawing(walk))
    print(json_line(walk) if args.json else page(walk))
    return 0 if walk.passed else 1


# -- where the sheets come from ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Sources:
    """For each kind of sheet where its pictures come from; None where the step is left out."""

    chart: Callable[[], list[Grey]] | None
    white: Callable[[], list[Grey]] | None
    marks: Callable[[Marks], Iterator[KnownSheet]] | None


def _sources(args: argparse.Namespace, config: Config, stack: ExitStack) -> Sources:
    if args.chart or args.white or args.blank or args.marked:
        return _from_files(args, config)
    feed = stack.enter_context(open_feed(config))
    wanted = (args.only,) if args.only else ("chart", "white", "marks")
    return Sources(
        (lambda: _fronts(feed, args.charts, CHART_WORDS)) if "chart" in wanted else None,
        (lambda: _fronts(feed, args.whites, WHITE_WORDS)) if "white" in wanted else None,
        (lambda marks: _fed_marks(feed, args.blanks, marks)) if "marks" in wanted and args.program else None,
    )


def _from_files(args: argparse.Namespace, config: Config) -> Sources:
    def marked(marks: Marks) -> Iterator[KnownSheet]:
        refuse_unknown(args.marked, marks.known, args.known)
        return known_files(args.blank, args.marked, marks.known)

    def pictures(names: Sequence[str]) -> list[Grey]:
        fronts = [load_sheet(name)[0] for name in names]
        for name, front in zip(names, fronts, strict=True):
            _refuse_other_size(name, front, config)
        return fronts

    return Sources(
        (lambda: pictures(args.chart)) if args.chart else None,
        (lambda: pictures(args.white)) if args.white else None,
        marked if args.blank and args.marked else None,
    )


def _refuse_other_size(name: str, picture: Grey, config: Config) -> None:
    """Raise OperatorError for a picture that this device's camera did not take."""
    wide, high = config.optics.width, config.optics.height
    if config.simulator_socket is None and picture.shape != (high, wide):
        raise OperatorError(
            f"{name} has {picture.shape[1]} x {picture.shape[0]} pixels, but the camera of {config.name} "
            f"gives {wide} x {high}: give pictures that it took, without a change"
        )


CHART_WORDS = (
    "Lay {count} lens charts (recount-device chart OUT.pdf prints one) into the hopper, printed side up."
)
WHITE_WORDS = "Lay {count} blank white sheets into the hopper."
BLANK_WORDS = "Lay {count} unmarked ballots into the hopper."
DECK_WORDS = "Lay the {count} ballots of the known deck into the hopper, in the order of the table."


def _fed(feed: SheetFeed, count: int, told: str) -> Iterator[list[Grey]]:
    """Have people lay the sheets in; yield the pictures of each. Sheets end in the not-accepted tray."""
    print(told.format(count=count), "Then press Enter.", file=sys.stderr, flush=True)
    sys.stdin.readline()
    return feed.pictures(count)


def _fronts(feed: SheetFeed, count: int, told: str) -> list[Grey]:
    return [pages[0] for pages in _fed(feed, count, told)]


def _fed_marks(feed: SheetFeed, blanks: int, marks: Marks) -> Iterator[KnownSheet]:
    for number, sides in enumerate(_fed(feed, blanks, BLANK_WORDS), 1):
        yield KnownSheet(f"blank {number}", sides, frozenset[str]())
    deck = _fed(feed, len(marks.known), DECK_WORDS)
    for (name, marked), sides in zip(marks.known.items(), deck, strict=True):
        yield KnownSheet(name, sides, marked)


def _marks(args: argparse.Namespace) -> Marks | None:
    """Return what the step of the marks needs; None where it is left out."""
    if args.program is None and args.known is None:
        if args.only == "marks" or args.blank or args.marked or args.blanks:
            raise OperatorError("the step of the marks needs --program and --known")
        return None
    if args.program is None or args.known is None:
        raise OperatorError("the step of the marks needs both --program and --known")
    if max(len(args.blank or ()), args.blanks) < LEAST_BLANKS:
        raise OperatorError(
            f"the marks need {LEAST_BLANKS} blank sheets or more (--blanks N, or --blank SHEET ...)"
        )
    if bool(args.blank) != bool(args.marked):
        raise OperatorError("the step of the marks needs both --blank and --marked, or neither")
    if (args.chart or args.white) and not args.blank:
        raise OperatorError("where pictures are given, the marks need --blank and --marked too")
    program = load_program(args.program)
    return Marks(program, known_marks_in(args.known, program))


# -- the walk ------------------------------------------------------------------------------------------------


def _walk(
    config: Config,
    sources: Sources,
    marks: Marks | None,
    before: Lens | None,
    begun: datetime,
) -> Walk:
    steps: list[Step] = []
    seen, said, kept = Seen(), "", None
    if sources.chart is not None:
        focus, its_lens, seen = chart_steps(sources.chart())
        steps += [focus, its_lens]
        kept = lens_of(its_lens, seen) if focus.passed else None
        said = _keep(config.folder, before, kept)
    if sources.white is not None:
        light, grey = light_step(sources.white())
        steps.append(light)
        seen = replace(seen, light=grey)
    if sources.marks is not None and marks is not None:
        steps.append(_marks_step(sources.marks(marks), marks.program, kept or before))
    device = open_identity(config.folder).device if (config.folder / KEY_FILE).exists() else ""
    return Walk(config.name, device, begun, tuple(steps), seen, said)


def _marks_step(sheets: Iterator[KnownSheet], program: Program, lens: Lens | None) -> Step:
    scores = read_known_sheets(sheets, program, lens)
    count = scores.blanks + scores.decks
    try:
        result = assessed(scores, program)
    except OperatorError as error:
        return Step("marks", MARKS_TITLE, count, trouble=f"{str(error)[:1].upper()}{str(error)[1:]}.")
    told = tuple(line.strip() for line in words(scores, result).splitlines()[:-1])
    return Step("marks", MARKS_TITLE, count, notes=told, trouble=result.advice)


def _keep(folder: Path, before: Lens | None, found: Lens | None) -> str:
    """Keep a lens that passed; return what to say of it."""
    if found is None:
        kept = "the one before stays" if before is not None else "sheets are read without one"
        return f"No lens calibration was kept: {kept}."
    path = write_lens(folder, found)
    return (
        f"{path.name} is written ({lens_hash(found)[:8]}): sheets are read with it from now on. "
        "The device must pass logic and accuracy again before it counts."
    )


def _lens_before(config: Config) -> Lens | None:
    """Return the calibration that is there; a file that is none is about to be replaced."""
    try:
        return lens_of_device(config.folder)
    except OperatorError:
        return None


def _refuse_in_a_run(config: Config) -> None:
    """Raise OperatorError while the device has a run open: it must end as it began."""
    journal = config.folder / JOURNAL_FILE
    if not journal.is_file() or not (config.folder / KEY_FILE).is_file():
        return  # this device never ran
    run = fold_journal(journal, open_identity(config.folder).public_key).run
    if run is not None:
        raise OperatorError(
            f"device {config.name} has run {run.run} open, which another calibration would end: end it first"
        )


def _write(path: Path, svg: str) -> None:
    try:
        path.write_text(svg, encoding="utf-8")
    except OSError as error:
        raise OperatorError(f"{path} cannot be written: {error.strerror}") from error
