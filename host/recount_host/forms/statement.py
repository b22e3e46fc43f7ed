"""The precinct's statement of the recount as a PDF."""

from recount_host.forms.pages import print_form
from recount_host.law.statement_lines import Statement


def print_statement(written: Statement) -> bytes:
    """Return the PDF of this statement. The same facts give the same bytes."""
    facts = written.to_fields() | {"short_code": written.short_code}
    return print_form("statement.typ", facts, written.counted_utc)
