"""`recount-host program proof`: print what a contest program holds, for both sides to compare and sign."""

import argparse
from pathlib import Path

from recount_host.commands.desk import add_json, answer
from recount_host.commands.program_add import read_program_file
from recount_host.errors import OperatorError
from recount_host.programs.proof import parties, print_proof, proof_pictures
from recount_host.signatures import Signed, read_signatures


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("program", metavar="FILE.program", help="the contest program")
    parser.add_argument("-o", "--output", required=True, metavar="PROOF.pdf", help="the PDF to write")
    parser.add_argument(
        "--side",
        action="append",
        default=[],
        metavar="NAME",
        help="a party that signs, by the name or key of its candidate or answer; once for each party",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Write the proof as PDF, and each page beside it as PNG."""
    path, output = Path(args.program), Path(args.output)
    if output.suffix.lower() != ".pdf":
        raise OperatorError(f'"{output}" is no name for a PDF: write -o PROOF.pdf')
    data, program = read_program_file(path)
    signed = [f"{s.name} (key {s.fingerprint})" for s in read_signatures(path, Signed("program", data))]
    sides = parties(program, args.side)
    pages = proof_pictures(program, sides, signed)
    names = [output.with_name(f"{output.stem}-{number}.png") for number in range(1, len(pages) + 1)]
    try:
        output.write_bytes(print_proof(program, sides, signed))
        for name, page in zip(names, pages, strict=True):
            name.write_bytes(page)
    except OSError as error:
        raise OperatorError(f"the proof {output} cannot be written: {error.strerror}") from error
    code = program.program_hash.hex()
    answer(
        args,
        f"{output}: proof of {program.title}, program {code[:8]}, {len(pages)} pages, also as PNG beside it",
        {"proof": str(output), "pages": [str(name) for name in names], "program": code},
    )
    return 0
