"""A command that is one act: its arguments, the body they make, and what is said when the act is done."""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from recount_host.commands.desk import (
    Desk,
    add_by,
    add_data,
    add_json,
    answer,
    device_named,
    open_desk,
    persons,
    view_fields,
)
from recount_host.law.errors import BadEntry
from recount_host.law.precinct import PrecinctState, fold

ONE = "once"
BOTH = "twice: one person of each side"

Body = Callable[[argparse.Namespace, PrecinctState], Mapping[str, Any]]
Said = Callable[[argparse.Namespace, PrecinctState], str]
Before = Callable[[argparse.Namespace, Desk], None]


def _nothing(_args: argparse.Namespace, _desk: Desk) -> None:
    """Do nothing before the act."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument after PRECINCT, in argparse's words."""

    name: str
    help: str
    more: Mapping[str, Any] = field(default_factory=dict[str, Any])


def option(name: str, what: str, **more: Any) -> Argument:
    """Return an option that has to be given, unless `more` says otherwise."""
    return Argument(name, what, {"required": "default" not in more, **more})


@dataclass(frozen=True, slots=True)
class ActCommand:
    """A subcommand of `recount-host` that does one act of a precinct."""

    kind: str
    says: str
    """What it is for, for --help."""
    arguments: tuple[Argument, ...]
    body: Body
    """The act's body without the precinct."""
    said: Said
    by: str = ONE
    before: Before = _nothing
    """What is done in the same command before: the law looks at it as at every act."""

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """What it is for: cli.py takes a command's description from here."""
        return self.says

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
        for argument in self.arguments:
            parser.add_argument(argument.name, help=argument.help, **argument.more)
        add_data(parser)
        add_by(parser, self.by)
        add_json(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Do the act and say where the precinct stands then."""
        by = persons(args)
        with open_desk(args) as desk:
            self.before(args, desk)
            state = desk.act(
                self.kind,
                by,
                lambda facts: {**self.body(args, fold(facts, args.precinct)), "precinct": args.precinct},
            )
        answer(args, self.said(args, state), view_fields(state))
        return 0


def text(given: str, what: str) -> str:
    """Return a text of one line as people typed it. Raises BadEntry when there is nothing in it."""
    line = " ".join(given.split())
    if not line:
        raise BadEntry(f"say {what}, in a few words")
    return line


def device_of(state: PrecinctState, name_or_id: str) -> str:
    """Return the id of the device with this name or id.

    Raises BadEntry that names the devices known, or those of this precinct that bear the name: a device that
    was revoked and its successor may both have scanned here.
    """
    device = device_named(state.names, name_or_id)
    here = {batch.device for batch in state.batches} | {device}
    alike = sorted(one for one in here if state.names.get(one) == name_or_id)
    if len(alike) > 1:
        raise BadEntry(
            f'{len(alike)} devices of this precinct are called "{name_or_id}": name it by its id, '
            f"{' or '.join(alike)}"
        )
    return device
