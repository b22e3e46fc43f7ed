"""The forms that acts say were printed: each can be made again from the ledger, byte for byte."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from recount_host.act import Act
from recount_host.forms.court_forms import court_form
from recount_host.forms.logic_accuracy import print_certificate, print_zero_report
from recount_host.forms.precinct_forms import precinct_form
from recount_host.forms.statement import print_statement
from recount_host.law.precinct import Facts
from recount_host.law.statement import statement

PRINTED: Mapping[str, Callable[[Facts, Act], bytes]] = {
    "statement_printed": lambda facts, act: print_statement(statement(facts, act.body["precinct"])),
    "form_printed": lambda facts, act: precinct_form(facts, act.body["precinct"], act.body["form"]).pdf(),
    "court_form_printed": lambda facts, act: court_form(facts, act.body["form"]).pdf(),
    "device_armed": lambda facts, act: print_certificate(facts, act.body, act.by),
    "zero_report_printed": lambda facts, act: print_zero_report(facts, act.body, act.by),
}
"""Act kind -> the form it printed, from the facts as they were then. Its body holds the form's `sha256`."""


def print_again(facts: Facts, act: Act) -> bytes:
    """Return the PDF that `act` printed, made of the acts before it.

    Records that came later change nothing: `scanning_finished` fixed which of them count. Raises what the law
    says where the statement cannot be made of these facts.
    """
    return PRINTED[act.kind](replace(facts, acts=facts.acts[: act.n - 1]), act)
