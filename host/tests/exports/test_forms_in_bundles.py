"""Forms and the court's acts in a bundle: each form is made again byte for byte, each act folded again."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from host.tests.exports.localities import a_finished_day, conclude, export, verified
from host.tests.rehearsal import CLERK, CLERK_OF_COURT, Day
from recount_host.forms.blocks import Form
from recount_host.forms.court_forms import court_form
from recount_host.forms.precinct_forms import precinct_form
from recount_host.law.court import forms_ready as court_forms_ready
from recount_host.law.printed_forms import forms_ready


def hashes_of(form: Form) -> dict[str, bytes]:
    return {"sha256": sha256(form.pdf()).digest(), "facts_sha256": form.facts_sha256}


def print_forms(day: Day) -> int:
    """Print every form of precinct and locality that there is, each with its act; return how many."""
    own, wide = forms_ready(day.state()), court_forms_ready(day.court())
    for form in own:
        day.act("form_printed", (CLERK,), form=form, **hashes_of(precinct_form(day.facts(), "101", form)))
    for form in wide:
        day.court_act("court_form_printed", form=form, **hashes_of(court_form(day.facts(), form)))
    return len(own) + len(wide)


def a_certified_day() -> tuple[Day, int]:
    """Return a day that is certified, with every form, and how many forms it printed."""
    day = a_finished_day()
    day.segregate(counted_as="overvote")
    conclude(day)
    day.open_docket()
    day.hear()
    day.rule("R")
    forms = print_forms(day)
    draft = [act for act in day.court().printed if act.body["form"] == "certification"][-1]
    signed = {name: draft.body[name] for name in ("sha256", "facts_sha256")}
    day.court_act("certified", version=1, **signed)
    return day, forms


def test_every_form_is_made_again_byte_for_byte(tmp_path: Path) -> None:
    day, forms = a_certified_day()
    path, _ = export(tmp_path, "bundle.tar", day)
    report = verified(path)
    assert [f"{problem.where}: {problem.what}" for problem in report.problems] == []
    assert report.checked["statements"] == forms + 2


def test_a_form_whose_act_tells_another_file_is_found(tmp_path: Path) -> None:
    day, _ = a_certified_day()
    nothing: dict[str, Any] = {"sha256": bytes(32), "facts_sha256": bytes(32)}
    day.act("form_printed", (CLERK,), form="tally", **nothing)
    path, _ = export(tmp_path, "bundle.tar", day)
    assert any("differs byte for byte" in problem.what for problem in verified(path).problems)


def test_a_certification_that_was_never_printed_is_found(tmp_path: Path) -> None:
    day, _ = a_certified_day()
    body = {"version": 2, "order": "order of 4 February", "reason": "a digit"}
    day.court_act("amendment_ordered", **body)
    day.append("certified", (CLERK_OF_COURT,), {"version": 2, "sha256": bytes(32), "facts_sha256": bytes(32)})
    path, _ = export(tmp_path, "bundle.tar", day)
    assert any("printed first" in problem.what for problem in verified(path).problems)
