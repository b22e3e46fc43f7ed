"""The tables for publication, as rows: for CSV, and together as JSON.

They are tables of the forms and of the statement, so nothing is in them that is not printed; but each is
about all ballots of a precinct, or of one of its piles. What is about one ballot, device or batch is for the
court alone: the run report, the set-aside list, questioned ballots and the rulings on them. A device that
took a few sheets, or a place in a tray, could tell how one person voted.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recount_host.forms.blocks import Form
from recount_host.forms.court_forms import court_form
from recount_host.forms.precinct_forms import precinct_form
from recount_host.law import court as law_of_court
from recount_host.law.court import Court
from recount_host.law.hand_count import together, votes_lost
from recount_host.law.precinct import Facts, PrecinctState
from recount_host.law.printed_forms import forms_ready
from recount_host.law.statement import statement
from recount_host.law.statement_lines import IdentityLine, Line, Row, Statement
from recount_host.plain_words import plain_words

PRECINCT_FORMS_PUBLISHED = frozenset({"custody", "counts", "mismatch", "tally", "call", "reseal"})
COURT_FORMS_PUBLISHED = frozenset({"transmittal", "certification", "tie", "changes"})
"""The forms whose tables are published, by their words; one that is not named here is not."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table."""

    name: str
    """Its file's name without .csv."""
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def to_fields(self) -> dict[str, Any]:
        """Return it as plain maps, lists and strings."""
        return {
            "name": self.name,
            "title": self.title,
            "columns": list(self.columns),
            "rows": [list(row) for row in self.rows],
        }


def csv_bytes(table: Table) -> bytes:
    """Return the table as a CSV file, its columns in the first line, for spreadsheets as for programs.

    It is UTF-8 and begins with the mark that says so: in some spreadsheets names lose their accents without.
    A text that one would take for a formula, a date or another number (the record code 12345e67) gets an
    apostrophe before it; numbers stay as they are.
    """
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(table.columns)
    writer.writerows([_cell(cell) for cell in row] for row in table.rows)
    return written.getvalue().encode("utf-8-sig")


_NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)")
_MISTAKEN = re.compile(r"[=+\-@\t]|[0-9]+([eE.,:/-]?[0-9]+)*$")
"""What begins like a formula; what is all digits, with what stands between them in dates and numbers."""


def _cell(text: str) -> str:
    return f"'{text}" if _MISTAKEN.match(text) and not _NUMBER.fullmatch(text) else text


def tables_of(facts: Facts, court: Court, precincts: Sequence[PrecinctState]) -> tuple[Table, ...]:
    """Return the tables of these precincts, which are concluded, and of the locality."""
    found: list[Table] = []
    for state in precincts:
        name = state.precinct.id
        found += _of_statement(name, statement(facts, name))
        for form in (form for form in forms_ready(state) if form in PRECINCT_FORMS_PUBLISHED):
            found += _of_form(f"{name}-{form}", precinct_form(facts, name, form))
    for form in (form for form in law_of_court.forms_ready(court) if form in COURT_FORMS_PUBLISHED):
        found += _of_form(f"court-{form}", court_form(facts, form))
    return (*found, _undervotes(precincts))


def _of_form(name: str, form: Form) -> Iterator[Table]:
    heading, number = "", 0
    for block in form.blocks:
        if block["block"] == "heading":
            heading = str(block["text"])
        elif block["block"] == "table":
            number += 1
            title = f"{form.title}, {form.about}" + (f": {heading}" if heading else "")
            rows = tuple(tuple(str(cell["text"]) for cell in row) for row in block["rows"])
            yield Table(f"{name}-{number}", title, tuple(map(str, block["columns"])), rows)


def _of_statement(name: str, said: Statement) -> Iterator[Table]:
    title = f"Statement of the recount, precinct {said.precinct_id} {said.precinct_name}"
    yield Table(
        f"{name}-statement-votes",
        f"{title}: votes",
        ("key", "name", "accepted", "by hand", "paper", "stated", "total"),
        tuple(_of_row(row) for row in (*said.parties, *said.others)),
    )
    yield Table(
        f"{name}-statement-ballots",
        f"{title}: ballots",
        ("what", "number", "source"),
        tuple((line.name, str(line.value), line.source) for line in said.ballots),
    )
    for what, (about, lines) in _LINES.items():
        rows = tuple((plain_words(line.name), str(line.value)) for line in lines(said))
        yield Table(f"{name}-statement-{what}", f"{title}: {about}", ("what", "number"), rows)
    yield Table(
        f"{name}-statement-sources",
        f"{title}: whence the figures come",
        ("stream", "source"),
        tuple((line.stream, line.source) for line in said.sources),
    )
    yield Table(
        f"{name}-statement-identities",
        f"{title}: identities",
        ("identity", "meaning", "holds", "figures", "note"),
        tuple(
            (line.name, line.meaning, _HOLDS[line.holds], "; ".join(line.figures), _note(line))
            for line in said.identities
        ),
    )


def _note(line: IdentityLine) -> str:
    """Return the note of an identity; that of I9 says how many batches there were."""
    return "" if line.name == "I9" else line.note


_HOLDS: Mapping[bool | None, str] = {True: "yes", False: "no", None: "a note"}
_LINES: Mapping[str, tuple[str, Callable[[Statement], tuple[Line, ...]]]] = {
    "not-votes": ("ballots counted by hand that are no vote", lambda said: said.not_votes),
    "set-aside": (
        "sheets set aside, under each of their reasons",
        lambda said: said.set_aside_reasons,
    ),
    "not-accepted": (
        "sheets not accepted, under each of their reasons",
        lambda said: said.not_accepted_reasons,
    ),
}


def _of_row(row: Row) -> tuple[str, ...]:
    numbers = (row.accepted, row.by_hand, row.paper, row.stated, row.total)
    return (row.key, row.name, *map(str, numbers))


def _undervotes(precincts: Sequence[PrecinctState]) -> Table:
    """Return undervotes both ways: ballots, as Virginia counts them (A), and votes lost."""
    rows: list[tuple[str, ...]] = []
    for state in precincts:
        lost = votes_lost(together(state.outcomes_by_pile or {}), state.order.vote_for)
        numbers = (lost.undervoted_ballots, lost.by_undervotes, lost.overvoted_ballots, lost.by_overvotes)
        rows.append((state.precinct.id, state.precinct.name, *map(str, numbers)))
    return Table(
        "undervotes",
        "Undervotes and overvotes, as ballots (A) and as votes lost",
        (
            "precinct", "name", "undervoted ballots", "votes lost by undervotes", "overvoted ballots",
            "votes lost by overvotes",
        ),
        tuple(rows),
    )  # fmt: skip
