"""`recount-host program sign`: sign a contest program; the signature lies in FILE.program.signatures."""

import argparse
from pathlib import Path

from recount_host.commands.desk import add_json, answer
from recount_host.commands.program_add import read_program_file
from recount_host.law.persons import parse_person
from recount_host.signatures import Signed, add_signature, open_signing_key, read_signatures


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("program", metavar="FILE.program", help="the contest program")
    parser.add_argument(
        "--key", required=True, metavar="FILE", help="the signer's private key; made if absent"
    )
    parser.add_argument("--name", required=True, help='who signs, for example "Ann Lee, official, D"')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Sign the program, which must be one, and say whether two persons have."""
    parse_person(args.name)
    path = Path(args.program)
    data, program = read_program_file(path)
    signed = Signed("program", data)
    made = add_signature(path, signed, args.name, open_signing_key(Path(args.key)))
    count = len(read_signatures(path, signed))
    code = program.program_hash.hex()
    more = "" if count >= 2 else "; one more person has to sign"
    answer(
        args,
        f"program {code[:8]} ({program.title}) is signed by {made.name}, key {made.fingerprint}{more}",
        {"program": code, "name": made.name, "key": made.fingerprint, "signatures": count},
    )
    return 0
