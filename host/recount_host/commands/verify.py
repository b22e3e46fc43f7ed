"""`recount-host verify`: check a locality's evidence bundle, offline and read-only, on any computer.

Exit code 0: everything holds. 1: something does not; each line says where and what. 2: it is no bundle, or it
cannot be opened.
"""

import argparse
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

from recount_host.commands.desk import add_json
from recount_host.commands.progress import ProgressLine
from recount_host.exports.opened import open_bundle
from recount_host.exports.report import PrecinctReport, Report
from recount_host.exports.sealed import read_court_private_key
from recount_host.exports.verify import verify_bundle
from recount_host.plain_words import plain_words


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("bundle", metavar="BUNDLE", help="the folder, tar or sealed tar")
    parser.add_argument("--court-key", metavar="COURT.key", help="the private key that opens a sealed bundle")
    parser.add_argument(
        "--host-key",
        default="",
        metavar="FINGERPRINT",
        help="the host's fingerprint, as written down on paper",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Verify and tell; return 0 when everything holds, 1 when something does not."""
    court = read_court_private_key(Path(args.court_key)) if args.court_key else None
    with open_bundle(Path(args.bundle), court) as opened:
        report = verify_bundle(opened, args.host_key, ProgressLine().show)
    if args.json:
        fields = dataclasses.asdict(report) | {"bundle": args.bundle, "sound": report.sound}
        print(json.dumps(fields, ensure_ascii=False, sort_keys=True))
    else:
        for line in _lines(report):
            print(line)
    return 0 if report.sound else 1


def _lines(report: Report) -> Iterator[str]:
    checked = ", ".join(f"{number} {what}" for what, number in report.checked.items())
    yield f"checked: {checked}"
    for precinct in report.precincts:
        yield _precinct_line(precinct)
    yield f"host's key: {report.host_fingerprint}"
    for name, (n, sha256) in report.heads.items():
        yield f"last of {name}: {n}, {sha256}"
    for problem in report.problems:
        yield f"FAILS {problem.where}: {problem.what}"
    if report.count > len(report.problems):
        yield f"and {report.count - len(report.problems)} more"
    if report.sound:
        yield "everything holds; compare the codes and the host's key with the signed paper"
    else:
        yield f"{report.count} {'thing does' if report.count == 1 else 'things do'} not hold"


def _precinct_line(precinct: PrecinctReport) -> str:
    parts = [f"precinct {precinct.id}: {plain_words(precinct.state)}"]
    parts += [f"{name} {'holds' if holds else 'fails'}" for name, holds in precinct.identities.items()]
    parts += [f"{name} {value}" for name, value in precinct.figures.items()]
    parts += [f"statement of record {code}" for code in precinct.record_codes]
    return ", ".join(parts)
