"""`recount-host logic-accuracy ...`: run a deck on a device, compare it, certify, and arm it (D 2)."""

import argparse
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from recount_host.commands.desk import (
    Desk,
    add_by,
    add_data,
    add_json,
    answer,
    find_device,
    open_desk,
    persons,
)
from recount_host.commands.program_add import add_program, read_program_file
from recount_host.decks.deck_make import DECK_FILE
from recount_host.decks.differences import write_differences
from recount_host.decks.gate import begin_test, certify, end_open_test, last_test, report_zero, settle
from recount_host.errors import OperatorError
from recount_host.given_files import read_given
from recount_host.law.deck import MAX_DECK_BYTES, DeckError, parse_deck
from recount_host.law.errors import NotAllowed
from recount_host.law.logic_accuracy import Comparison, compare
from recount_host.signatures import Signed, read_signatures


class _Command:
    """A command with the arguments that all of these have."""

    def __init__(
        self,
        says: str,
        arguments: Callable[[argparse.ArgumentParser], None],
        act: Callable[[argparse.Namespace, Desk], int],
        *,
        by: str = "once",
    ) -> None:
        self.__doc__ = says
        self._arguments = arguments
        self._act = act
        self._by = by

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("--device", required=True, metavar="NAME|ID", help="the device, by name or id")
        self._arguments(parser)
        add_data(parser)
        if self._by:
            add_by(parser, self._by)
        add_json(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Do it."""
        with open_desk(args) as desk:
            return self._act(args, desk)


def _write_file(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise OperatorError(f"{path} cannot be written: {error.strerror}") from error


# begin


def _arguments_of_begin(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--program", required=True, metavar="FILE", help="the contest program file")
    parser.add_argument("--deck", required=True, metavar="FOLDER", help="the deck, as deck make made it")


def _begin(args: argparse.Namespace, desk: Desk) -> int:
    by, path = persons(args), Path(args.program)
    data, program = read_program_file(path)
    signatures = read_signatures(path, Signed("program", data))
    deck_path = Path(args.deck) / DECK_FILE
    deck = read_given(deck_path, "the deck", MAX_DECK_BYTES)
    try:
        parse_deck(deck)
    except DeckError as error:
        raise OperatorError(f"{deck_path}: {error}") from error
    add_program(desk, data, program, signatures, by)
    given = begin_test(desk, find_device(desk.facts(), args.device), program, deck, by)
    answer(
        args,
        f"{args.device} runs the deck as {given['run']}: feed the sheets in order, then press End batch",
        {"run": given["run"], "device": given["device"]},
    )
    return 0


# compare


def _arguments_of_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pictures", metavar="FOLDER", help="write a page with the pictures of what differs")


def comparison_fields(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values."""
    return {
        "passed": comparison.passed,
        "hindrances": list(comparison.hindrances),
        "question": None if comparison.question is None else asdict(comparison.question),
        "differences": [
            {"code": d.code, "what": d.what, "expected": d.expected, "actual": d.actual}
            for d in comparison.differences
        ],
    }


def _compare(args: argparse.Namespace, desk: Desk) -> int:
    facts = desk.facts()
    device = find_device(facts, args.device)
    test = last_test(facts, device)
    comparison = compare(facts, test)
    lines = [f"not finished: {sentence}" for sentence in comparison.hindrances]
    lines += [
        f"{d.code} ({d.what}): expected {d.expected}; actual {d.actual}" for d in comparison.differences
    ]
    if args.pictures:
        write_differences(Path(args.pictures), desk.ledger, test, comparison)
        lines.append(f"pictures: {Path(args.pictures) / 'index.html'}")
    sheets = len(comparison.deck.papers)
    head = f"{args.device}, {test.body['run']}: " + (
        f"all {sheets} sheets and all totals are as they must be"
        if comparison.passed
        else f"{len(comparison.differences)} of {sheets} sheets differ"
    )
    answer(args, "\n".join([head, *lines]), {"run": test.body["run"], **comparison_fields(comparison)})
    return 0 if comparison.passed else 1


# settle, end, certify, zero report


def _nothing(_parser: argparse.ArgumentParser) -> None:
    """Need no further argument."""


def _settle(args: argparse.Namespace, desk: Desk) -> int:
    asked = settle(desk, find_device(desk.facts(), args.device), persons(args))
    answer(
        args,
        f"sheet {asked.sheet} is sheet {asked.like} once more: {args.device} is told so; lay it back where "
        "it was taken from",
        asdict(asked),
    )
    return 0


def _end(args: argparse.Namespace, desk: Desk) -> int:
    device = find_device(desk.facts(), args.device)
    run = end_open_test(desk, device, persons(args))
    if not run:
        raise NotAllowed(f"{args.device} has no open test")
    answer(args, f"{run} is ended; {args.device} is not armed by it", {"run": run})
    return 0


def _arguments_of_certify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", required=True, metavar="FILE.pdf", help="the certificate to write")


def _certify(args: argparse.Namespace, desk: Desk) -> int:
    device = find_device(desk.facts(), args.device)
    pdf, body = certify(desk, device, persons(args))
    _write_file(Path(args.output), pdf)
    answer(
        args,
        f"{args.device} passed; it is armed as soon as it hears of it. Both sides sign {args.output}, then "
        "print its zero report (zero-report)",
        {"run": body["run"], "device": device, "sha256": body["sha256"].hex(), "file": args.output},
    )
    return 0


def _zero(args: argparse.Namespace, desk: Desk) -> int:
    device = find_device(desk.facts(), args.device)
    pdf = report_zero(desk, device, persons(args))
    _write_file(Path(args.output), pdf)
    answer(args, f"{args.device} stands at zero: {args.output}", {"device": device, "file": args.output})
    return 0


begin = _Command("Give a device a deck to run, before it counts.", _arguments_of_begin, _begin)
compare_ = _Command(
    "Compare what the device made of the deck, sheet by sheet and in total; exit code 1 where it differs.",
    _arguments_of_compare,
    _compare,
    by="",
)
settle_ = _Command(
    "Say that the sheet which the device asks about is the very sheet that it had read before: both sides.",
    _nothing,
    _settle,
    by="twice: one person of each side",
)
end = _Command("End a test without arming the device.", _nothing, _end)
certify_ = _Command(
    "Certify that the deck came out exactly as it must, and arm the device: both sides.",
    _arguments_of_certify,
    _certify,
    by="twice: one person of each side",
)
zero_report = _Command(
    "Print that an armed device stands at zero; due after it was armed and after every start.",
    _arguments_of_certify,
    _zero,
)
