"""`recount-host export bundle`: write all evidence of this locality as one folder or tar, for courts.

A name that ends in .tar makes a tar, any other a folder. With --court-key the tar is sealed: only the holder
of the court's private key can read it.
"""

import argparse
from pathlib import Path
from typing import Any

from recount_host.commands.desk import add_data, add_json, answer
from recount_host.commands.progress import ProgressLine
from recount_host.exports.bundle import export_bundle
from recount_host.exports.errors import ExportRefused
from recount_host.exports.sealed import key_name, read_court_public_key
from recount_host.host_key import open_host_key
from recount_host.ledger.ledger import open_ledger, utc_now
from recount_host.order import OrderError, order_text_of, read_order_text


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("order", metavar="ORDER.toml", help="the order under which the host works")
    parser.add_argument(
        "target", metavar="FOLDER|FILE.tar", help="the bundle to be made; must not be there yet"
    )
    parser.add_argument("--court-key", metavar="COURT.key.pub", help="seal the bundle to this public key")
    add_data(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the bundle; tell what the evidence lacks, if anything."""
    target, folder = Path(args.target), Path(args.data)
    court = read_court_public_key(Path(args.court_key)) if args.court_key else None
    if court is not None and target.suffix != ".tar":
        raise ExportRefused(f"a sealed bundle is one file: name it {target}.tar")
    with open_ledger(folder) as ledger:
        if order_text_of(ledger.acts()) != read_order_text(Path(args.order)):
            raise OrderError(f"the ledger in {folder} works under another order than {args.order}")
        key = open_host_key(folder)
        made = export_bundle(ledger, key.private_key, target, court, utc_now(), ProgressLine().show)
    seal = f"sealed to the court's key {key_name(court)}; " if court else ""
    signed = f"{seal}signed by the host's key {key.fingerprint[:16]}; check it with recount-host verify"
    fields: dict[str, Any] = {
        "bundle": str(target),
        "manifest_sha256": made.manifest_sha256,
        "host_fingerprint": key.fingerprint,
        "court_key": key_name(court) if court else "",
    }
    if made.closed:
        said = f"{target} is made; what it holds is not told while precinct {made.closed} is counted blind; "
        answer(args, said + signed, fields)
        return 0
    for sentence in made.missing if not args.json else ():
        print(f"missing: {sentence}")
    fields |= {"files": made.files, "bytes": made.bytes, "missing": list(made.missing)}
    answer(args, f"{target} holds {made.files} files; {signed}", fields)
    return 0
