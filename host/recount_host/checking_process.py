"""A process that checks signatures: `python -m recount_host.checking_process PIPE`, started by the ledger.

It takes lists of (public key, record, signature) and answers each with one byte for every entry: 1 where the
signature is good, 0 where not. It ends when the host does, and when it has had nothing to do for a while:
signals are the host's to obey.
"""

import signal
import sys
from multiprocessing.connection import Connection

import msgpack

from recount_protocol.records import RecordError, verify

GOOD = 1
NOT_GOOD = 0

IDLE_S = 60.0
"""Backlogs are seldom: the memory of a process that has nothing to do is given back."""

Claim = tuple[bytes, bytes, bytes]
"""A public key, a record's bytes, and what is said to be its signature by that key."""


def is_good(public_key: bytes, data: bytes, signature: bytes) -> bool:
    """Return whether the signature is that of these bytes by this key."""
    try:
        verify(public_key, data, signature)
    except RecordError:
        return False
    return True


def check_until_done(connection: Connection, idle_s: float = IDLE_S) -> None:
    """Answer what comes, in its order, until the other end is gone or asks nothing for `idle_s`."""
    try:
        while connection.poll(idle_s):
            claims = msgpack.unpackb(connection.recv_bytes())
            connection.send_bytes(bytes(GOOD if is_good(*claim) else NOT_GOOD for claim in claims))
    except (EOFError, OSError):
        return  # the host has ended, or given this process up


def main() -> None:
    """Serve the pipe whose descriptor was handed over."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    with Connection(int(sys.argv[1])) as connection:
        check_until_done(connection)


if __name__ == "__main__":
    main()
