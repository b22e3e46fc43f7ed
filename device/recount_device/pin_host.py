"""`recount-device pin-host DEVICE.toml WORD ...`: let the device obey the host with these words only.

The words are those that the host's page and `recount-host device list` show. Without words it tells which
host is pinned now. A running device takes the new pin at its next connection.
"""

import argparse
from pathlib import Path

from recount_device.config import read_config
from recount_device.errors import OperatorError
from recount_device.host_pin import HostPin
from recount_device.run import make_own_folder
from recount_protocol.errors import WordsError
from recount_protocol.key_words import read_words


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument("config", type=Path, metavar="DEVICE.toml")
    parser.add_argument("words", nargs="*", metavar="WORD", help="the eight words of the host's key")


def run(args: argparse.Namespace) -> int:
    """Pin the host, or tell which is pinned; return 0."""
    config = read_config(args.config)
    pin = HostPin(config.folder)
    if not args.words:
        print(f"host       {pin.words or 'none is pinned: pin-host DEVICE.toml WORD ... does it'}")
        return 0
    try:
        words = read_words(" ".join(args.words))
    except WordsError as error:
        raise OperatorError(str(error)) from None
    make_own_folder(config.folder)
    pin.pin(words)
    print(f"{config.name} obeys the host {words}, and no other")
    return 0
