"""`recount-host statement`: print a precinct's statement as a PDF for the officials to sign."""

import argparse
import hashlib
from pathlib import Path

from recount_host.commands.desk import add_by, add_data, add_json, answer, open_desk, persons
from recount_host.errors import OperatorError
from recount_host.forms.statement import print_statement
from recount_host.law.statement import statement


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.pdf", help="the PDF to write")
    add_data(parser)
    add_by(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the PDF, then the act that it was printed; refused while an identity is open."""
    by, path = persons(args), Path(args.output)
    with open_desk(args) as desk:
        written = statement(desk.facts(), args.precinct)
        pdf = print_statement(written)
        try:
            path.write_bytes(pdf)
        except OSError as error:
            raise OperatorError(f"the statement cannot be written to {path}: {error.strerror}") from error
        body = {
            "precinct": args.precinct,
            "sha256": hashlib.sha256(pdf).digest(),
            "facts_sha256": bytes.fromhex(written.facts_sha256),
        }
        desk.act("statement_printed", by, lambda _facts: body)
    fields = written.to_fields() | {"file": str(path), "sha256": hashlib.sha256(pdf).hexdigest()}
    answer(args, f"the statement of precinct {args.precinct} is {path}, record {written.short_code}", fields)
    return 0
