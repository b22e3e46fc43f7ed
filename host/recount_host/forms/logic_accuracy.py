"""The certificate of a device that passed logic and accuracy, and its zero report, as PDFs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from recount_host.act import Act, Person
from recount_host.forms.pages import print_form
from recount_host.law.contest import Contest, contests_of
from recount_host.law.deck import DeckSheet, Totals, classes_of
from recount_host.law.live import ARMED, assigned_tests
from recount_host.law.logic_accuracy import check_passed, compare, outcome_in_words
from recount_host.law.persons import in_words
from recount_host.law.precinct import Facts
from recount_host.plain_words import plain_words

SHORT = 8
"""Hexadecimal digits of a hash that stand on every page."""


def print_certificate(facts: Facts, body: Mapping[str, Any], by: Sequence[Person]) -> bytes:
    """Return the PDF of the certificate that an act `device_armed` with this body names.

    Raises NotAllowed unless the device's last test came out exactly as it must.
    """
    test = assigned_tests(facts.acts, body["device"])[-1]
    comparison = compare(facts, test)
    check_passed(comparison)
    contest = contests_of(facts.acts)[body["program"]]
    written = {
        **_head(facts, body, by, contest),
        "run": body["run"],
        "earlier": _earlier(facts, test),
        "deck": body["deck_sha256"].hex(),
        "totals": totals_rows(comparison.expected, comparison.actual, contest),
        "names": [*option_names(contest.options).items()],
        "papers": len(comparison.deck.papers),
        "sheets": [[sheet.code, sheet.what, _in_words(sheet)] for sheet in comparison.deck.sheets],
        "thresholds": body["thresholds"].hex(),
        "thresholds_told": body["thresholds_told"],
        "software": body["software"],
        "firmware": body["firmware"],
    }
    return print_form("logic_accuracy_certificate.typ", written, facts.acts[-1].utc)


def _earlier(facts: Facts, test: Act) -> str:
    """Return which tests with this program the device was given before; whoever signs may ask why."""
    certified = {act.body["run"] for act in facts.acts if act.kind == ARMED}
    tests = assigned_tests(facts.acts, test.body["device"])
    told = [
        f"{run} ({'certified' if run in certified else 'not certified'})"
        for run in (one.body["run"] for one in tests if one.body["program"] == test.body["program"])
        if run != test.body["run"]
    ]
    return ", ".join(told) or "none"


class _Option(Protocol):
    """An option, of a program or of what the ledger holds of one."""

    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def write_in(self) -> bool: ...


def option_names(options: Iterable[_Option]) -> dict[str, str]:
    """Return the name of each option by its key; write-ins are numbered where there are several."""
    known = list(options)
    lines = [option.key for option in known if option.write_in]
    numbers = {key: f" {n}" if len(lines) > 1 else "" for n, key in enumerate(lines, 1)}
    return {
        option.key: f"write-in{numbers[option.key]}" if option.write_in else option.name or option.key
        for option in known
    }


def print_zero_report(facts: Facts, body: Mapping[str, Any], by: Sequence[Person]) -> bytes:
    """Return the PDF of the report that an armed device stands at zero before it counts.

    How many records it has is not on it: two such numbers tell how many sheets went through in between,
    which people may still have to count blind.
    """
    contest = contests_of(facts.acts)[body["program"]]
    certificates = [act for act in facts.acts if act.kind == "device_armed"]
    armed = next(act for act in reversed(certificates) if act.body["device"] == body["device"])
    written = {
        **_head(facts, body, by, contest),
        "certificate": armed.body["sha256"].hex(),
        "software": armed.body["software"],
        "firmware": armed.body["firmware"],
        "options": [option.name or option.key for option in contest.printed],
    }
    return print_form("zero_report.typ", written, facts.acts[-1].utc)


def _head(facts: Facts, body: Mapping[str, Any], by: Sequence[Person], contest: Contest) -> dict[str, Any]:
    return {
        "locality": facts.order.locality,
        "citation": facts.order.citation,
        "contest": contest.title,
        "device": body["device"],
        "name": facts.names[body["device"]],
        "program": body["program"].hex(),
        "short_code": body["program"].hex()[:SHORT],
        "utc": facts.acts[-1].utc,
        "by": [in_words(person) for person in by],
    }


def _in_words(sheet: DeckSheet) -> str:
    return outcome_in_words((sheet.fate, sheet.choices, classes_of(sheet.reasons)))


def totals_rows(expected: Totals, actual: Totals, contest: Contest) -> list[list[str]]:
    """Return a line for each total: what it is, the number expected, the actual one."""

    def of(what: str, one: Mapping[str, int], other: Mapping[str, int]) -> list[list[str]]:
        return [
            [f"{what} {plain_words(key)}", str(one.get(key, 0)), str(other.get(key, 0))]
            for key in sorted({*one, *other})
        ]

    votes = [
        [
            f"votes for {option.name or option.key}",
            str(expected.votes.get(option.key, 0)),
            str(actual.votes.get(option.key, 0)),
        ]
        for option in contest.printed
    ]
    return [
        ["counted", str(expected.counted), str(actual.counted)],
        *votes,
        ["set aside", str(expected.set_aside), str(actual.set_aside)],
        *of("set aside for", expected.set_aside_reasons, actual.set_aside_reasons),
        ["not accepted", str(expected.not_accepted), str(actual.not_accepted)],
        *of("not accepted for", expected.not_accepted_reasons, actual.not_accepted_reasons),
        ["given back as read before", str(expected.read_before), str(actual.read_before)],
    ]
