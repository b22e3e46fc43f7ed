"""The acts in the ledger: read with their chain checked, appended inside a writing transaction."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select

from recount_host.act import NO_ACT, Act, ActError, Person, act_hash, check_follows, decode_act, encode_act
from recount_host.ledger.schema import acts


def read_acts(connection: Connection, known: Sequence[Act], known_hash: bytes) -> tuple[list[Act], bytes]:
    """Return the acts after `known`, and the hash of the last one.

    Raises ActError, naming the act, where the chain does not hold.
    """
    fresh: list[Act] = []
    n, prev = len(known), known_hash
    rows = connection.execute(
        select(acts.c.n, acts.c.act, acts.c.hash).where(acts.c.n > n).order_by(acts.c.n)
    )
    for row in rows:
        n += 1
        act = _sound(row.act, row.hash, n, prev)
        fresh.append(act)
        prev = act_hash(row.act)
    return fresh, prev


def append(connection: Connection, kind: str, by: Sequence[Person], body: Mapping[str, Any], utc: str) -> Act:
    """Write the next act and return it; `connection` must be in a writing transaction."""
    last = connection.execute(select(acts.c.n, acts.c.hash).order_by(acts.c.n.desc()).limit(1)).first()
    act = Act(
        n=last.n + 1 if last else 1,
        prev=last.hash if last else NO_ACT,
        kind=kind,
        utc=utc,
        by=tuple(by),
        body=body,
    )
    data = encode_act(act)
    # What cannot be read back must never be written: a body of foreign types fails here, not years later.
    written = decode_act(data)
    connection.execute(insert(acts).values(n=act.n, prev=act.prev, act=data, hash=act_hash(data)))
    return written


def count(connection: Connection) -> int:
    """Return how many acts there are."""
    return connection.execute(select(func.count()).select_from(acts)).scalar_one()


def _sound(data: bytes, stored_hash: bytes, n: int, prev: bytes) -> Act:
    if act_hash(data) != stored_hash:
        raise ActError(f"act {n} is not as it was written")
    act = decode_act(data)
    check_follows(act, n, prev)
    return act
