"""`recount-host export public`: results, cast vote records and tables, for publication.

cvr.json (NIST SP 1500-103), err.json (NIST SP 1500-100), tables.json, and each table as CSV in tables/. A
precinct is in it once it is concluded. Cast vote records are in random order; no file carries the number or
place of a sheet, or names a device.
"""

import argparse
import random
from datetime import date
from pathlib import Path

from recount_host.commands.desk import add_data, add_json, answer, facts_of
from recount_host.exports.errors import ExportRefused
from recount_host.exports.public import public_export
from recount_host.law.errors import BadEntry
from recount_host.ledger.contents import crop_sha256
from recount_host.ledger.ledger import open_ledger, utc_now


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("folder", metavar="FOLDER", help="the folder to be made; must not be there yet")
    parser.add_argument(
        "--election-date", required=True, metavar="YYYY-MM-DD", help="the day of the election recounted"
    )
    add_data(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the files; tell which precincts are not in them yet."""
    try:
        day = date.fromisoformat(args.election_date)
    except ValueError:
        raise BadEntry(
            f'"{args.election_date}" is no date: write the day of the election as YYYY-MM-DD '
            "(--election-date)"
        ) from None
    folder = Path(args.folder)
    with open_ledger(Path(args.data)) as ledger:
        crops = {(r.device, r.n): crop_sha256(r) or b"" for r in ledger.records()}
        made = public_export(facts_of(ledger), crops, utc_now(), day.isoformat(), random.SystemRandom())
    try:
        folder.mkdir(parents=True)
        for name, content in made.files.items():
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
    except FileExistsError:
        raise ExportRefused(f"{folder} is there already: name a new folder") from None
    except OSError as error:
        raise ExportRefused(f"{folder} cannot be written: {error.strerror}") from None
    waiting = f"; not concluded, so not in it: precinct {', '.join(made.left_out)}" if made.left_out else ""
    answer(
        args,
        f"{folder} holds {len(made.files)} files for publication{waiting}",
        {"folder": str(folder), "files": sorted(made.files), "left_out": list(made.left_out)},
    )
    return 0
