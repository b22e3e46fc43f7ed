"""The command `recount-host`: a table of subcommands, each a module with `configure` and `run`."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

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
    """A module that has `configure` and `run`, or "module:name" for something in it that has both."""
    purpose: str


COMMANDS: tuple[Command, ...] = (
    Command("serve", "serve", "collect from devices and show where every precinct stands"),
    Command("order sign", "commands.signing:order", "sign an order profile with a key of one's own"),
    Command("order set", "commands.order_set", "let the ledger work under an order of the court"),
    Command("person add", "commands.person:add", "let a person sign in at the host's pages"),
    Command("person list", "commands.person:list_", "list who may sign in at the host's pages"),
    Command("program draft", "commands.program_draft", "find targets on blanks and draft a contest's spec"),
    Command("program import", "commands.program_import", "draft a spec from a NIST definition or a CSV"),
    Command("program build", "programs.build", "build a contest program from blank ballots"),
    Command("program proof", "commands.program_proof", "print what a program holds, for both sides to sign"),
    Command("program sign", "commands.signing:program", "sign a contest program with a key of one's own"),
    Command("program add", "commands.program_add", "take a contest program into the ledger"),
    Command("deck make", "decks.deck_make", "make a logic-and-accuracy deck for a contest program"),
    Command("custody receive", "commands.custody:receive", "take a sealed container in, both sides"),
    Command("custody open", "commands.custody:open_", "open a container, both sides"),
    Command("custody not-found", "commands.custody:not_found", "a container cannot be found, both sides"),
    Command("custody sort-out", "commands.custody:sort_out", "ballots that lack the contest, both sides"),
    Command("custody exclude", "commands.custody:exclude", "ballots that are no part of it, both sides"),
    Command("custody reseal", "commands.custody:reseal", "seal ballots again, both sides"),
    Command("results key", "commands.results:key", "key in the election's statement of results, blind"),
    Command("results stand-in", "commands.results:stand_in", "for ballots not found, both sides"),
    Command("device list", "commands.device_list", "show the words of this host and of every device"),
    Command("device enrol", "commands.device_enrol", "enrol a device by its words, both sides"),
    Command("device revoke", "commands.device_revoke", "take a device out of the recount, both sides"),
    Command("logic-accuracy begin", "commands.logic_accuracy:begin", "give a device a deck to run"),
    Command("logic-accuracy compare", "commands.logic_accuracy:compare_", "compare a deck, sheet by sheet"),
    Command("logic-accuracy settle", "commands.logic_accuracy:settle_", "a sheet was fed twice, both sides"),
    Command("logic-accuracy certify", "commands.logic_accuracy:certify_", "arm a device, both sides"),
    Command("logic-accuracy end", "commands.logic_accuracy:end", "end a test without arming"),
    Command("zero-report", "commands.logic_accuracy:zero_report", "print that an armed device is at zero"),
    Command("run assign", "commands.run_assign", "tell a device to scan a precinct"),
    Command("run end", "commands.stacks:end_run", "end a device's run before its precinct is finished"),
    Command("show", "commands.show", "say where each precinct stands and what to do next"),
    Command("log", "commands.log", "tell every act in order, who did it and what it means"),
    Command("count enter", "commands.count_enter", "enter what one person counted by hand, blind"),
    Command("doubt list", "commands.doubt_list", "list the sheets whose landing is unknown"),
    Command("doubt settle", "commands.stacks:settle_doubt", "say where a sheet in doubt lies, both sides"),
    Command("batch void", "commands.stacks:void", "declare a batch void, both sides"),
    Command("device withdraw", "commands.by_both_sides:withdraw", "a device is out of it, both sides"),
    Command("finish-scanning", "commands.finish_scanning", "all sheets of a precinct went through"),
    Command("reconcile", "commands.reconcile", "say which identities hold, and no figure"),
    Command("notices", "commands.notices", "list the set-aside sheets, once they may be shown"),
    Command("move-sheet", "commands.stacks:move_sheet", "lay a misplaced sheet into its pile, both sides"),
    Command("figures", "commands.figures", "show the figures of a precinct, for good"),
    Command("hand-count enter", "commands.hand_count_enter", "enter one pass of the hand count, both sides"),
    Command("hand-count order", "commands.by_both_sides:hand_count", "all ballots by hand, both sides"),
    Command("team swear", "commands.team:swear", "a person took the oath and stands on the roster"),
    Command("team list", "commands.team:list_", "list the roster by side, with oaths"),
    Command("team substitute", "commands.by_both_sides:substitute", "another official takes a seat"),
    Command("challenge segregate", "commands.challenge:segregate", "lay a questioned ballot apart"),
    Command("challenge correct-tag", "commands.challenge:correct_tag", "what stands on the envelope"),
    Command("challenge state", "commands.challenge:state", "one official challenges a ballot in writing"),
    Command("challenge withdraw", "commands.challenge:withdraw", "withdraw one's own statement"),
    Command("challenge list", "commands.challenge:list_", "list questioned ballots and statements"),
    Command("challenge call", "commands.challenge:call", "answer the call for questioned ballots"),
    Command("challenge proffer", "commands.challenge:proffer", "a ballot that was offered too late"),
    Command("statement", "commands.statement", "print the statement of a precinct"),
    Command("conclude", "commands.conclude:conclude", "all officials signed: the precinct is concluded"),
    Command("signed keep", "commands.signed:keep_statement", "keep a scan of the signed statement"),
    Command("forms", "commands.forms:of_precinct", "print all forms of a precinct into one folder"),
    Command("court show", "commands.court:show", "the docket, the rulings, and the vote for each party"),
    Command("court open", "commands.court:open_", "the clerk opens the docket of questioned ballots"),
    Command("court hear", "commands.court:hear", "a party inspected a questioned ballot and was heard"),
    Command("court rule", "commands.court:rule", "enter a ruling of the court on a questioned ballot"),
    Command("court rule-result", "commands.court:rule_result", "enter a ruling on a precinct's result"),
    Command("court forms", "commands.forms:of_court", "print docket, rulings, certification and changes"),
    Command("court certify", "commands.court:certify", "the court signed the certification: final"),
    Command("court keep-signed", "commands.signed:keep_certification", "keep a scan of what it signed"),
    Command("court amend", "commands.court:amend", "the court ordered a new version"),
    Command("export bundle", "commands.export_bundle", "write all evidence of the locality, for courts"),
    Command("export public", "commands.export_public", "results and records in NIST formats, and tables"),
    Command("verify", "commands.verify", "check an evidence bundle: signatures, counts, every picture again"),
    Command("court-key make", "commands.court_key", "make the key pair to which bundles are sealed"),
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


def implementation(command: Command) -> Any:
    """Return what has `configure` and `run` of this command.

    Only the chosen command's module is imported: none waits for, or fails by, another's libraries.
    """
    module, _, name = command.module.partition(":")
    found: Any = importlib.import_module(f"recount_host.{module}")
    return getattr(found, name) if name else found


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
        found = implementation(command)
        parser = OneLineParser(prog=f"recount-host {command.words}", description=found.__doc__)
        found.configure(parser)
        return int(found.run(parser.parse_args(given[len(command.words.split()) :])))
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
