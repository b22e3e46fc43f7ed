"""`recount-host person ...`: who may sign in at the host's pages."""

import argparse
import getpass
import sys
from pathlib import Path

from recount_host.commands.desk import add_data, add_json, answer
from recount_host.law.persons import in_words, parse_person
from recount_host.people import People, SignInRefused


class _Add:
    """Let a person sign in at the pages; the pass phrase is asked for, or read from the standard input."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("person", metavar="PERSON", help='"name, role, side" or "name, role"')
        add_data(parser)
        add_json(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Make the account, or give it another pass phrase."""
        person = parse_person(args.person)
        people = People(_folder(args.data))
        people.add(person, _pass_phrase())
        answer(args, f"{in_words(person)} may sign in", {"name": person.name, "role": person.role})
        return 0


class _List:
    """List who may sign in at the pages."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        add_data(parser)
        add_json(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Print everybody."""
        known = [in_words(person) for person in People(_folder(args.data)).known()]
        answer(args, "\n".join(known) or "nobody may sign in yet: person add", {"people": known})
        return 0


def _folder(data: str) -> Path:
    folder = Path(data)
    if not folder.is_dir():
        raise SignInRefused(f"there is no data folder {data}: start the host first (serve)")
    return folder


def _pass_phrase() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    first = getpass.getpass("pass phrase: ")
    if getpass.getpass("once more: ") != first:
        raise SignInRefused("the two are not the same")
    return first


add, list_ = _Add(), _List()
