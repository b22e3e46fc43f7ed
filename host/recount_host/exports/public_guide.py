"""README.txt of a public export: what its files are, and what the words and letters in them mean."""

from collections.abc import Mapping, Sequence

from recount_host.exports.tables import Table
from recount_host.law.certification import mode_of
from recount_host.law.counts import LETTERS
from recount_host.law.court import Court
from recount_host.law.identities import MEANINGS
from recount_host.law.precinct import Facts
from recount_protocol.records import LIVE

SCANNERS_LETTERS = {
    "R": "the sheets rerun: what a scanner should have counted or set aside",
    "C": "the sheets that the scanners counted",
    "S": "the sheets that the scanners set aside for people",
    "X": "the sheets that the scanners did not accept",
    "N": "how many the voter may choose",
}
VOTES = {
    "accepted": "votes on the ballots that the scanners counted",
    "by hand": "votes on ballots that no scanner counted, or whose scanned figures do not stand (D 2)",
    "paper": "votes on paper ballots, which were counted by hand at the election too",
    "stated": "votes of the statement of results, for ballots that cannot be found (E)",
    "total": "all of these: what the officials wrote down and signed",
}
"""The columns of a statement's votes."""


def guide(
    facts: Facts, court: Court, concluded: Sequence[str], left_out: Sequence[str], tables: Sequence[Table]
) -> str:
    """Return the text."""
    order, mode = facts.order, mode_of(court)
    title = f"Recount: {order.title}, {order.locality}"
    rows = {f"tables/{table.name}.csv": table.title for table in tables}
    lines = [
        title,
        "=" * len(title),
        "",
        *([] if mode == LIVE else [f"MODE {mode.upper()}: not a result of the recount.", ""]),
        f"Recounted under {order.citation} of the Code of Virginia, its subsections in round brackets.",
        f"Precincts in these files: {', '.join(concluded)}.",
        *([f"Not concluded yet, so not in them: {', '.join(left_out)}."] if left_out else []),
        "",
        *_listed(
            {
                "err.json": "the results: NIST SP 1500-100, version 2",
                "cvr.json": "what the scanners read on each ballot, in random order: NIST SP 1500-103",
                "tables": "the tables of the signed papers, one a file, for any spreadsheet",
                "tables.json": "the same tables in one file, each with its title",
            }
        ),
        "",
        "No file tells which scanner took a ballot, when, or where it lay: that, and the pictures, are in",
        "the evidence bundle for the court. A text that a spreadsheet would take for a formula, a date or",
        "another number has an apostrophe before it, which is no part of it.",
        "",
        "Letters",
        *_listed({**LETTERS, **SCANNERS_LETTERS}),
        "",
        "Identities: what must be equal, and is on every statement",
        *_listed(MEANINGS),
        "",
        "Columns of a statement's votes",
        *_listed(VOTES),
        "",
        "Tables",
        *_listed(rows),
    ]
    return "\n".join(lines) + "\n"


def _listed(said: Mapping[str, str]) -> list[str]:
    width = max(map(len, said))
    return [f"  {word:{width}}  {what}" for word, what in said.items()]
