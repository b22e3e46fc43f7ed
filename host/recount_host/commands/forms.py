"""`recount-host forms` and `court forms`: print every form that there is now into one folder."""

import argparse
import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from recount_host.act import Person
from recount_host.commands.desk import Desk, add_by, add_data, add_json, answer, open_desk, persons
from recount_host.errors import OperatorError
from recount_host.forms.blocks import Form
from recount_host.forms.court_forms import court_form
from recount_host.forms.precinct_forms import precinct_form
from recount_host.law import court as law_of_court
from recount_host.law.court_words import COURT_FORMS, PRECINCT_FORMS
from recount_host.law.printed_forms import forms_ready
from recount_host.law.statement_lines import SHORT_CODE_DIGITS

Write = Callable[[Mapping[str, Any]], object]


def _print(form: Form, path: Path, write: Write) -> str:
    """Write the PDF, then the act that it was printed; return its record code."""
    pdf, facts = form.pdf(), form.facts_sha256
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pdf)
    except OSError as error:
        raise OperatorError(f"the form cannot be written to {path}: {error.strerror}") from error
    write({"sha256": hashlib.sha256(pdf).digest(), "facts_sha256": facts})
    return facts.hex()[:SHORT_CODE_DIGITS]


def _told(args: argparse.Namespace, printed: Mapping[str, tuple[str, str]], folder: Path) -> None:
    lines = [f"  {path}  record {code}  {says}" for path, (code, says) in printed.items()]
    head = f"{len(printed)} forms are in {folder}" if printed else "there is no form to print yet"
    answer(args, "\n".join([head, *lines]), {"forms": {path: code for path, (code, _) in printed.items()}})


def _which(args: argparse.Namespace, ready: Sequence[str], known: Mapping[str, str]) -> Sequence[str]:
    for form in args.only:
        if form not in known:
            raise OperatorError(f'there is no form "{form}": the forms are {", ".join(known)}')
    return args.only or ready


def _arguments(parser: argparse.ArgumentParser, known: Mapping[str, str]) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="where the PDFs are put")
    what = "; ".join(known)
    parser.add_argument(
        "--only", action="append", default=[], metavar="FORM", help=f"this form only, once or more: {what}"
    )
    add_data(parser)
    add_by(parser)
    add_json(parser)


class _OfPrecinct:
    """Print every form of a precinct that there is now into one folder; for its statement see statement."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
        _arguments(parser, PRECINCT_FORMS)

    def run(self, args: argparse.Namespace) -> int:
        """Print the forms, each with its act."""
        by, folder, printed = persons(args), Path(args.folder), dict[str, tuple[str, str]]()
        with open_desk(args) as desk:
            for form in _which(args, forms_ready(desk.precinct(args.precinct)), PRECINCT_FORMS):
                path = folder / f"{args.precinct}-{form}.pdf"
                made = precinct_form(desk.facts(), args.precinct, form)
                code = _print(made, path, _precinct_act(desk, by, args.precinct, form))
                printed[str(path)] = (code, PRECINCT_FORMS[form])
        _told(args, printed, folder)
        return 0


def _precinct_act(desk: Desk, by: Sequence[Person], precinct: str, form: str) -> Write:
    what = {"precinct": precinct, "form": form}
    return lambda hashes: desk.act("form_printed", by, lambda _facts: {**what, **hashes})


class _OfCourt:
    """Print every form of the locality that there is now into one folder."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        _arguments(parser, COURT_FORMS)

    def run(self, args: argparse.Namespace) -> int:
        """Print the forms, each with its act."""
        by, folder, printed = persons(args), Path(args.folder), dict[str, tuple[str, str]]()
        with open_desk(args) as desk:
            ready = law_of_court.forms_ready(law_of_court.fold_court(desk.facts()))
            for form in _which(args, ready, COURT_FORMS):
                path = folder / f"court-{form}.pdf"
                code = _print(court_form(desk.facts(), form), path, _court_act(desk, by, form))
                printed[str(path)] = (code, COURT_FORMS[form])
        _told(args, printed, folder)
        return 0


def _court_act(desk: Desk, by: Sequence[Person], form: str) -> Write:
    return lambda hashes: desk.court_act("court_form_printed", by, lambda _: {"form": form, **hashes})


of_precinct = _OfPrecinct()
of_court = _OfCourt()
