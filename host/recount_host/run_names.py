"""What a run is called, so that it is taken for no run of another recount.

A device's journal comes to the host whole. Where it holds an earlier recount, or one that was begun anew, its
runs lie beside those of this ledger; and by a run's name alone its records are counted. So no two ledgers
give one name: records of an earlier "101-1" would else stand for ballots that nobody has fed.
"""

import secrets

MARK_BYTES = 3


def run_name(stem: str, earlier: int) -> str:
    """Return a new name for a run, as in "101-2-9f3a1c", when so many of its kind were named before it."""
    return f"{stem}-{earlier + 1}-{secrets.token_hex(MARK_BYTES)}"
