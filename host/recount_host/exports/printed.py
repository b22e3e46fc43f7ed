"""The forms that acts say were printed: each can be made again from the ledger, byte for byte."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from recount_host.act import Act
from recount_host.forms.statement import print_statement
from recount_host.law.precinct import Facts
from recount_host.law.statement import statement

PRINTED: Mapping[str, Callable[[Facts, Act], bytes]] = {
    "statement_printed": lambda facts, act: print_statement(statement(facts, act.body["precinct"])),
}
"""Act kind -> the form it printed, from the facts as they were then. Its body holds the form's `sha256`."""


def print_again(facts: Facts, act: Act) -> bytes:
    """Return the PDF that `act` printed, made of the acts before it.

    Records that came later change nothing: `scanning_finished` fixed which of them count. Raises what the law
    says where the statement cannot be made of these facts.
    """
    return PRINTED[act.kind](replace(facts, acts=facts.acts[: act.n - 1]), act)
