"""`recount-host order sign` and `program sign`: a signature with one's own key, beside what is signed."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recount_host.commands.desk import add_json, answer
from recount_host.commands.program_add import read_program_file
from recount_host.law.persons import parse_person
from recount_host.order import order_hash, read_order, read_order_text
from recount_host.signatures import Signed, add_signature, open_signing_key, read_signatures


@dataclass(frozen=True, slots=True)
class ToSign:
    """A file that was read and may be signed."""

    signed: Signed
    code: str
    """Its hash, as people compare it."""
    told: str
    """What it is, in words."""


@dataclass(frozen=True, slots=True)
class SignCommand:
    """A command that signs one kind of file; the signatures lie in FILE.signatures."""

    what: str
    file: str
    """How --help calls the file."""
    example: str
    """Who signs it, for example."""
    read: Callable[[Path], ToSign]
    signers: int
    """How many persons have to sign it; where there are two, each says a role and a side."""

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """What it is for: cli.py takes a command's description from here."""
        return f"Sign {self.what} with a key of one's own; the signature lies beside it."

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments."""
        parser.add_argument("file", metavar=self.file, help=self.what)
        parser.add_argument(
            "--key", required=True, metavar="FILE", help="the signer's private key; made if absent"
        )
        parser.add_argument("--name", required=True, help=f'who signs, for example "{self.example}"')
        add_json(parser)

    def run(self, args: argparse.Namespace) -> int:
        """Sign the file, which must be one of its kind, and say whether another person has to."""
        if self.signers > 1:
            parse_person(args.name)
        path = Path(args.file)
        it = self.read(path)
        made = add_signature(path, it.signed, args.name, open_signing_key(Path(args.key)))
        count = len(read_signatures(path, it.signed))
        more = "" if count >= self.signers else "; one more person has to sign"
        answer(
            args,
            f"{it.told} is signed by {made.name}, key {made.fingerprint}{more}",
            {"sha256": it.code, "name": made.name, "key": made.fingerprint, "signatures": count},
        )
        return 0


def _order(path: Path) -> ToSign:
    read_order(path)
    text = read_order_text(path)
    code = order_hash(text).hex()
    return ToSign(Signed("order", text.encode("utf-8")), code, f"{path} (SHA-256 {code[:8]})")


def _program(path: Path) -> ToSign:
    data, program = read_program_file(path)
    code = program.program_hash.hex()
    return ToSign(Signed("program", data), code, f"program {code[:8]} ({program.title})")


order = SignCommand("an order profile", "ORDER.toml", "Cleo May, clerk of the court", _order, signers=1)
program = SignCommand("a contest program", "FILE.program", "Ann Lee, official, D", _program, signers=2)
