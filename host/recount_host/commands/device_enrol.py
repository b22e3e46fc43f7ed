"""`recount-host device enrol`: both sides enrol a device whose words they have compared.

The device must have connected once. Read the eight words on the device itself (its panel, or `recount-device
show`), and type them here: the host enrols only the key that has these very words.
"""

import argparse

from recount_host.commands.desk import add_by, add_data, add_json, answer, open_desk, persons
from recount_host.law.enrolment import ENROLLED, admit_enrolment, enrolment_body
from recount_host.law.errors import BadEntry
from recount_host.ledger import Newcomer
from recount_host.order import order_of
from recount_protocol.errors import WordsError
from recount_protocol.key_words import key_words, read_words


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("name", metavar="NAME", help="the device's name in its DEVICE.toml")
    parser.add_argument("words", nargs="+", metavar="WORD", help="the eight words, as the device shows them")
    add_data(parser)
    add_by(parser, "twice: one person of each side")
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Enrol the device; its records are taken from now on."""
    try:
        words = read_words(" ".join(args.words))
    except WordsError as error:
        raise BadEntry(str(error)) from error
    by = persons(args)
    with open_desk(args) as desk:
        newcomer = _find(desk.ledger.newcomers(), args.name, words)
        body = enrolment_body(newcomer.name, newcomer.public_key)
        with desk.ledger.deciding() as turn:
            admit_enrolment(turn.acts(), order_of(turn.acts()), ENROLLED, by, body)
            turn.append(ENROLLED, by, body)
    answer(
        args,
        f"{newcomer.name} ({newcomer.device}) is enrolled: {words}",
        {"device": newcomer.device, "name": newcomer.name, "words": words},
    )
    return 0


def _find(newcomers: tuple[Newcomer, ...], name: str, words: str) -> Newcomer:
    """Return the one that waits under this name with these words. Raises BadEntry."""
    for newcomer in newcomers:
        if key_words(newcomer.public_key) == words:
            if newcomer.name != name:
                raise BadEntry(f"the device with these words calls itself {newcomer.name}, not {name}")
            return newcomer
    waiting = ", ".join(sorted({newcomer.name for newcomer in newcomers})) or "none"
    raise BadEntry(
        f"no device with these words waits to be enrolled (waiting: {waiting}): connect it, and read its "
        "words on the device itself; if the host shows other words for it, somebody stands between: stop"
    )
