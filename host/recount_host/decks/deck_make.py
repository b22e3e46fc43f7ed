"""`recount-host deck make`: a logic-and-accuracy deck for a contest program, on paper and as pictures."""

import argparse
from pathlib import Path

import cv2

from recount_host.commands.program_add import read_program_file
from recount_host.decks.making import Source, draw_deck, plan_deck, read_source
from recount_host.decks.papers import print_expected, print_guide, print_overlays, print_test_ballots
from recount_host.errors import OperatorError
from recount_host.law.deck import Deck, deck_text, expected_totals

DECK_FILE = "deck.toml"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("program", metavar="PROGRAM", help="the contest program file")
    parser.add_argument("folder", metavar="FOLDER", help="the folder to make; it must not exist")
    parser.add_argument(
        "--spec", required=True, metavar="SPEC.toml", help="the spec that the program was built from"
    )
    parser.add_argument(
        "--foreign",
        metavar="BLANK",
        help="a blank ballot of a style that is not in the program; else an invented one is printed",
    )


def run(args: argparse.Namespace) -> int:
    """Make the deck."""
    cv2.setNumThreads(1)
    folder = Path(args.folder)
    if folder.exists():
        raise OperatorError(f"{folder} exists already: name a new folder")
    _, program = read_program_file(Path(args.program))
    source = read_source(program, Path(args.spec), Path(args.foreign) if args.foreign else None)
    try:
        deck = make_deck(source, folder)
    except OSError as error:
        raise OperatorError(f"the deck {folder} cannot be written: {error.strerror}") from error
    totals = expected_totals(deck)
    print(f"{folder}: {len(deck.papers)} sheets, program {deck.program[:16]}")
    told = f"set aside {totals.set_aside}, not accepted {totals.not_accepted}, fed twice {totals.read_before}"
    print(f"expected: counted {totals.counted}, {told}")
    return 0


def make_deck(source: Source, folder: Path) -> Deck:
    """Write the deck into `folder`: deck.toml, pictures, and the four PDFs; return it. Raises OSError."""
    deck, plans = plan_deck(source)
    (folder / "pictures").mkdir(parents=True)
    for name, picture in draw_deck(source, deck, plans):
        (folder / name).write_bytes(cv2.imencode(".png", picture)[1].tobytes())
    (folder / "overlays.pdf").write_bytes(print_overlays(source, deck, plans))
    (folder / "test-ballots.pdf").write_bytes(print_test_ballots(source, deck, plans))
    (folder / "marking-guide.pdf").write_bytes(print_guide(source, deck, plans))
    (folder / "expected.pdf").write_bytes(print_expected(source, deck))
    (folder / DECK_FILE).write_text(deck_text(deck), encoding="utf-8")
    return deck
