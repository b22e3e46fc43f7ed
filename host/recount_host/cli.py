"""The command `recount-host`: a table of subcommands, each a module with `configure` and `run`."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

from recount_host.errors import OperatorError, RecountError


class OneLineParser(argparse.ArgumentParser):
    """A parser whose complaint is one sentence, as everything else that a person got wrong."""

    def error(self, message: str) -> NoReturn:
        """Raise OperatorError with what is wrong with the words given."""
        raise OperatorError(f"{message}; {self.prog} --help tells what it takes")


class Command(NamedTuple):
    """One subcommand: its words, the module of `recount_host` that does it, and what it is for."""

    words: str
    module: str
    purpose: str


COMMANDS: tuple[Command, ...] = (
    Command("serve", "serve", "collect from devices and show where every precinct stands"),
    Command("order set", "commands.order_set", "let the ledger work under an order of the court"),
    Command("program build", "programs.build", "build a contest program from blank ballots"),
    Command("program add", "commands.program_add", "take a contest program into the ledger"),
    Command("run assign", "commands.run_assign", "tell a device to scan a precinct"),
    Command("run end", "commands.run_end", "end a device's run before its precinct is finished"),
    Command("show", "commands.show", "say where each precinct stands and what to do next"),
    Command("log", "commands.log", "tell every act in order, who did it and what it means"),
    Command("count enter", "commands.count_enter", "enter what one person counted by hand, blind"),
    Command("doubt list", "commands.doubt_list", "list the sheets whose landing is unknown"),
    Command("doubt settle", "commands.doubt_settle", "say where a sheet in doubt lies, both sides"),
    Command("batch void", "commands.batch_void", "declare a batch void, both sides"),
    Command("finish-scanning", "commands.finish_scanning", "all sheets of a precinct went through"),
    Command("reconcile", "commands.reconcile", "say which identities hold, and no figure"),
    Command("notices", "commands.notices", "list the set-aside sheets, once they may be shown"),
    Command("move-sheet", "commands.move_sheet", "lay a misplaced sheet into its pile, both sides"),
    Command("figures", "commands.figures", "show the figures of a precinct, for good"),
    Command("hand-count enter", "commands.hand_count_enter", "enter one pass of the hand count, both sides"),
    Command("statement", "commands.statement", "print the statement of a precinct"),
)


INTERRUPTED = 128 + 2
"""The exit code after Ctrl-C, as shells have it."""


def usage() -> str:
    """Return the list of subcommands for people."""
    width = max(len(command.words) for command in COMMANDS)
    lines = [f"  {command.words:<{width}}  {command.purpose}" for command in COMMANDS]
    head = "usage: recount-host COMMAND ...   (recount-host COMMAND --help tells more)"
    return "\n".join([head, "", "commands:", *lines])


def find_command(arguments: Sequence[str]) -> Command:
    """Return the subcommand that the arguments begin with. Raises OperatorError when there is none."""
    for command in COMMANDS:
        words = command.words.split()
        if list(arguments[: len(words)]) == words:
            return command
    begun = [command.words for command in COMMANDS if command.words.split()[:1] == list(arguments[:1])]
    if begun:
        raise OperatorError(f"{arguments[0]} alone is no command: write {' or '.join(begun)}")
    named = f'there is no command "{arguments[0]}"' if arguments else "name a command"
    raise OperatorError(f"{named}: recount-host --help lists them")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code.

    What a person can put right becomes one line and exit code 2, a ledger that contradicts itself one line
    and 3.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given and given[0] in ("-h", "--help"):
        print(usage())
        return 0
    try:
        command = find_command(given)
        # Only the chosen command's module is imported: none waits for, or fails by, another's libraries.
        module = importlib.import_module(f"recount_host.{command.module}")
        parser = OneLineParser(prog=f"recount-host {command.words}", description=module.__doc__)
        module.configure(parser)
        return int(module.run(parser.parse_args(given[len(command.words.split()) :])))
    except OperatorError as error:
        print(f"recount-host: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read the answer has enough of it; what was done is done.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except RecountError as error:
        print(f"recount-host: stop, and keep everything as it is: {error}", file=sys.stderr)
        return 3
