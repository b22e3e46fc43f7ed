"""`recount-host device list`: the words of this host and of every device, and which devices are enrolled."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from recount_host.commands.desk import add_data, add_json, answer, open_desk
from recount_host.host_key import host_words
from recount_host.ledger import Ledger
from recount_protocol.key_words import key_words


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_data(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print the host and the devices."""
    with open_desk(args) as desk:
        rows = devices_of(desk.ledger)
    words = host_words(Path(args.data))
    lines = [f"this host: {words or 'has no key yet; recount-host serve makes it'}"]
    lines += [f"{row['name']} ({row['device']}), {row['standing']}: {row['words']}" for row in rows]
    answer(args, "\n".join(lines), {"host_words": words, "devices": rows})
    return 0


def devices_of(ledger: Ledger) -> list[Mapping[str, str]]:
    """Return id, name, words and standing of every device that is enrolled or has shown its key."""
    twins = ledger.twins()

    def standing(device: str, revoked: str) -> str:
        if revoked:
            return "revoked"
        return "its key is in two places" if device in twins else "enrolled"

    known = [(d.device, d.name, d.public_key, standing(d.device, d.revoked)) for d in ledger.devices()]
    known += [(d.device, d.name, d.public_key, "waits to be enrolled") for d in ledger.newcomers()]
    return [
        {"device": device, "name": name, "words": key_words(key), "standing": words}
        for device, name, key, words in known
    ]
