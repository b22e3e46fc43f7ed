"""`recount-host order sign`: sign an order profile; the signature lies beside it in ORDER.toml.signatures."""

import argparse
from pathlib import Path

from recount_host.commands.desk import add_json, answer
from recount_host.order import order_hash, read_order, read_order_text
from recount_host.signatures import Signed, add_signature, open_signing_key


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("order", metavar="ORDER.toml", help="the order profile")
    parser.add_argument(
        "--key", required=True, metavar="FILE", help="the signer's private key; made if absent"
    )
    parser.add_argument("--name", required=True, help='who signs, for example "Cleo May, clerk of the court"')
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Sign the order, which must be one."""
    path = Path(args.order)
    read_order(path)
    text = read_order_text(path)
    signed = Signed("order", text.encode("utf-8"))
    made = add_signature(path, signed, args.name, open_signing_key(Path(args.key)))
    answer(
        args,
        f"{path} (SHA-256 {order_hash(text).hex()[:8]}) is signed by {made.name}, key {made.fingerprint}",
        {"name": made.name, "key": made.fingerprint, "order_sha256": order_hash(text).hex()},
    )
    return 0
