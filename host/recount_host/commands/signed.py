"""`recount-host signed ...`: keep the scan of a paper that was signed in ink with the evidence."""

import argparse
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from recount_host.act import Act
from recount_host.commands.desk import add_by, add_data, add_json, answer, open_desk, persons
from recount_host.exports.printed import print_again
from recount_host.law.court import admit_court
from recount_host.law.precinct import Facts, admit
from recount_host.programs.blanks import pdf_pages
from recount_host.scanned_paper import Scan, read_scan


def _add_arguments(parser: argparse.ArgumentParser, by: str) -> None:
    parser.add_argument("scan", metavar="FILE", help="the scan: PDF, PNG or JPEG, every page of the paper")
    add_data(parser)
    add_by(parser, by)
    add_json(parser)


def _fields(scan: Scan) -> dict[str, Any]:
    return {"sha256": sha256(scan.data).digest(), "type": scan.type, "pages": scan.pages}


class _KeepStatement:
    """Keep a scan of a precinct's signed statement in the ledger, for the evidence (E)."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("precinct", metavar="PRECINCT", help="the precinct's id in the order")
        _add_arguments(parser, "once")

    def run(self, args: argparse.Namespace) -> int:
        """Keep the file, then write the act that names it by its hash."""
        by, scan = persons(args), read_scan(Path(args.scan))
        kind, body = "signed_statement_kept", {"precinct": args.precinct, **_fields(scan)}
        with open_desk(args) as desk:
            admit(desk.facts(), kind, by, body)  # nothing is stored of what the law refuses
            desk.ledger.add_scan(scan.data)
            signed = desk.act(kind, by, lambda _facts: body).concluded
            facts = desk.facts()
        assert signed is not None  # the law takes no scan before
        _told(args, f"the statement of precinct {args.precinct}", scan, _pages_printed(facts, signed.body))
        return 0


class _KeepCertification:
    """Keep a scan of the certification that the court signed in the ledger, for the evidence (F)."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("version", metavar="VERSION", type=int, help="which version of the certification")
        _add_arguments(parser, 'once: the clerk, "name, clerk"')

    def run(self, args: argparse.Namespace) -> int:
        """Keep the file, then write the act that names it by its hash."""
        by, scan = persons(args), read_scan(Path(args.scan))
        kind, body = "signed_certification_kept", {"version": args.version, **_fields(scan)}
        with open_desk(args) as desk:
            admit_court(desk.facts(), kind, by, body)  # nothing is stored of what the law refuses
            desk.ledger.add_scan(scan.data)
            signed = desk.court_act(kind, by, lambda _facts: body).certified[args.version - 1]
            facts = desk.facts()
        paper = f"version {args.version} of the certification"
        _told(args, paper, scan, _pages_printed(facts, signed.body))
        return 0


def _pages_printed(facts: Facts, signed: Mapping[str, Any]) -> int:
    """Return how many pages the paper was printed with that was signed."""
    kinds = ("statement_printed", "court_form_printed")
    printed: Act = next(
        act for act in facts.acts if act.kind in kinds and act.body["sha256"] == signed["sha256"]
    )
    return pdf_pages(print_again(facts, printed))


def _told(args: argparse.Namespace, paper: str, scan: Scan, pages_printed: int) -> None:
    """Answer what was kept, and tell where the paper has another number of pages than its scan."""
    fields = _fields(scan)
    digest: str = fields["sha256"].hex()
    count = "1 page" if scan.pages == 1 else f"{scan.pages} pages"
    said = (
        f"the scan of {paper} is kept ({count}, SHA-256 {digest[:16]}) and goes into every evidence bundle; "
        "the paper itself is what holds"
    )
    if pages_printed != scan.pages:
        said += (
            f"\nlook again: the paper was printed with {pages_printed} pages; where one is missing, scan all "
            "of them and keep that scan too"
        )
    answer(args, said, {**fields, "sha256": digest, "pages_printed": pages_printed})


keep_statement = _KeepStatement()
keep_certification = _KeepCertification()
