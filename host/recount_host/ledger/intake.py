"""What is asked of everything a device sends before it is stored. Runs inside one writing transaction.

Nothing here raises for what a device sent: the outcome says what became of it, and a refusal is itself kept,
because a forged or forked record is evidence.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, insert, select

from recount_host.ledger import schema
from recount_host.ledger.contents import crop_sha256
from recount_host.ledger.rows import Gap, Outcome, Verdict
from recount_protocol.records import (
    NO_HASH,
    Record,
    RecordError,
    check_next,
    decode_record,
    device_id,
    record_hash,
    verify,
)

MAX_DEVICES = 1000
"""More first contacts than a locality has devices are somebody else's."""

MAX_REFUSALS_PER_DEVICE = 100
"""What a hostile device can make us keep is bounded; the first refusals tell the story."""

MAX_EVIDENCE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Introduction:
    """What a device says of itself when it connects."""

    device: str
    name: str
    public_key: bytes
    next_n: int
    head: bytes


@dataclass(slots=True)
class _Chain:
    """A device's key and the end of its chain while a batch of records is taken in."""

    name: str
    public_key: bytes
    n: int = 0
    head: bytes = NO_HASH
    early: dict[int, bytes] = field(default_factory=dict[int, bytes])
    """Records that came before their predecessors."""
    added: list[tuple[str, int, bytes, bytes]] = field(default_factory=list[tuple[str, int, bytes, bytes]])


def introduce(connection: Connection, claim: Introduction, utc: str) -> Outcome:
    """Pin a new device, recognise a known one, or refuse."""
    why = _why_not_that_device(connection, claim)
    if why:
        return refuse(connection, claim.device, claim.name, why, claim.public_key, utc)
    chain = _load_chain(connection, claim.device)
    if chain is None:
        connection.execute(
            insert(schema.devices).values(
                device=claim.device, name=claim.name, public_key=claim.public_key, first_seen_utc=utc
            )
        )
        return Outcome(Verdict.STORED, next_n=1)
    if why := _why_not_that_chain(claim, chain):
        return refuse(connection, claim.device, claim.name, why, claim.head, utc)
    return Outcome(Verdict.ALREADY, next_n=chain.n + 1)


def add_records(connection: Connection, items: Sequence[tuple[bytes, bytes]], utc: str) -> list[Outcome]:
    """Verify records in order and store those that follow."""
    chains: dict[str, _Chain | None] = {}
    outcomes: list[Outcome] = []
    for data, signature in items:
        try:
            record = decode_record(data)
        except RecordError as error:
            outcomes.append(refuse(connection, "", "", f"not a record: {error}", data, utc))
            continue
        if record.device not in chains:
            chains[record.device] = _load_chain(connection, record.device)
        outcomes.append(_take(connection, chains[record.device], record, data, signature, utc))
    for chain in chains.values():
        if chain and chain.added:
            connection.execute(
                insert(schema.records),
                [
                    {"device": device, "n": n, "record": data, "signature": signature, "received_utc": utc}
                    for device, n, data, signature in chain.added
                ],
            )
    return outcomes


def add_crop(connection: Connection, device: str, n: int, png: bytes, utc: str) -> Outcome:
    """Store a crop that fits its record."""
    name = connection.execute(
        select(schema.devices.c.name).where(schema.devices.c.device == device)
    ).scalar_one_or_none()
    data = _stored_bytes(connection, device, n)
    if data is None:
        return Outcome(Verdict.GAP, f"record {n}, to which this crop belongs, has not come")
    wanted = crop_sha256(decode_record(data))
    found = hashlib.sha256(png).digest()
    if not wanted or found != wanted:
        why = f"the crop it sent for record {n} is not the one that the record names"
        return refuse(connection, device, name or "", why, found, utc)
    table = schema.crops
    if connection.execute(select(table.c.n).where(table.c.device == device, table.c.n == n)).first():
        return Outcome(Verdict.ALREADY)
    connection.execute(insert(table).values(device=device, n=n, sha256=found, png=png))
    return Outcome(Verdict.STORED)


def refuse(connection: Connection, device: str, name: str, why: str, evidence: bytes, utc: str) -> Outcome:
    """Keep the refusal (each cause once) and return it."""
    table = schema.refusals
    same = select(table.c.stored).where(table.c.device == device, table.c.name == name, table.c.why == why)
    kept = connection.execute(
        select(func.count()).select_from(table).where(table.c.device == device)
    ).scalar_one()
    if kept < MAX_REFUSALS_PER_DEVICE and connection.execute(same).first() is None:
        connection.execute(
            insert(table).values(
                device=device, name=name, why=why, evidence=evidence[:MAX_EVIDENCE_BYTES], utc=utc
            )
        )
    return Outcome(Verdict.REFUSED, why)


def _take(
    connection: Connection, chain: _Chain | None, record: Record, data: bytes, signature: bytes, utc: str
) -> Outcome:
    if chain is None:
        why = f"record {record.n} comes from a device that never introduced itself"
        return refuse(connection, record.device, "", why, data, utc)
    try:
        verify(chain.public_key, data, signature)
    except RecordError:
        why = f"record {record.n} does not bear the signature of {chain.name}"
        return refuse(connection, record.device, chain.name, why, data, utc)
    if not _fits(connection, chain, record, data):
        why = (
            f"record {record.n} of {chain.name} does not fit the records that it sent before: "
            "two devices have its key, or its journal was changed"
        )
        return refuse(connection, record.device, chain.name, why, data, utc)
    if record.n <= chain.n:
        return Outcome(Verdict.ALREADY, next_n=chain.n + 1)
    if record.n > chain.n + 1:
        return _early(connection, chain, record, data, signature, utc)
    chain.added.append((record.device, record.n, data, signature))
    chain.n, chain.head = record.n, record_hash(data)
    return Outcome(Verdict.STORED, next_n=chain.n + 1)


def _fits(connection: Connection, chain: _Chain, record: Record, data: bytes) -> bool:
    """Return whether a signed record agrees with every record of its device that is known here."""
    if record.n <= chain.n:
        return _known_bytes(connection, chain, record) == data
    if chain.early.get(record.n, data) != data:
        return False
    if record.n > chain.n + 1:
        return True  # what lies between will tell
    try:
        check_next(chain.head, chain.n + 1, record)
    except RecordError:
        return False
    return True


def _early(
    connection: Connection, chain: _Chain, record: Record, data: bytes, signature: bytes, utc: str
) -> Outcome:
    """Keep the record that proves the gap: the lowest is enough, the others come again once it is closed."""
    table = schema.early_records
    waiting = [n for n in chain.early if n > chain.n + 1]
    if not waiting or record.n < min(waiting):
        chain.early[record.n] = data
        connection.execute(
            insert(table).values(
                device=record.device, n=record.n, record=data, signature=signature, received_utc=utc
            )
        )
    gap = Gap(record.device, chain.name, chain.n + 1, min([*waiting, record.n]) - 1)
    return Outcome(Verdict.GAP, gap.sentence, next_n=gap.first_n)


def _why_not_that_device(connection: Connection, claim: Introduction) -> str:
    if device_id(claim.public_key) != claim.device:
        return "it does not show the key that its id is made of"
    table = schema.devices
    row = connection.execute(
        select(table).where((table.c.device == claim.device) | (table.c.name == claim.name))
    ).first()
    if row is None:
        known = connection.execute(select(func.count()).select_from(table)).scalar_one()
        return "" if known < MAX_DEVICES else f"{known} devices are known here, which is the limit"
    if row.device != claim.device:
        return f"another device, with another key, is known here as {claim.name}"
    if row.name != claim.name:
        return f"it calls itself {claim.name}, but its key is known here as {row.name}"
    return ""


def _why_not_that_chain(claim: Introduction, chain: _Chain) -> str:
    """Return why the chain a device offers is not the one here; a longer one is judged record by record."""
    last_n = claim.next_n - 1
    if last_n > chain.n:
        return ""
    if last_n < chain.n:
        return (
            f"its journal ends at record {last_n}, but {chain.n} of its records are here: "
            "an old copy of its card, or a second device with its key"
        )
    return "" if claim.head == chain.head else f"its record {last_n} is not the one that it sent before"


def _load_chain(connection: Connection, device: str) -> _Chain | None:
    table = schema.devices
    row = connection.execute(select(table.c.name, table.c.public_key).where(table.c.device == device)).first()
    if row is None:
        return None
    last = connection.execute(
        select(schema.records.c.n, schema.records.c.record)
        .where(schema.records.c.device == device)
        .order_by(schema.records.c.n.desc())
        .limit(1)
    ).first()
    chain = _Chain(row.name, row.public_key)
    if last is not None:
        chain.n, chain.head = last.n, record_hash(last.record)
    early = schema.early_records
    for waiting in connection.execute(select(early.c.n, early.c.record).where(early.c.device == device)):
        chain.early[waiting.n] = waiting.record
    return chain


def _known_bytes(connection: Connection, chain: _Chain, record: Record) -> bytes | None:
    for _, n, data, _ in chain.added:
        if n == record.n:
            return data
    return _stored_bytes(connection, record.device, record.n)


def _stored_bytes(connection: Connection, device: str, n: int) -> bytes | None:
    table = schema.records
    return connection.execute(
        select(table.c.record).where(table.c.device == device, table.c.n == n)
    ).scalar_one_or_none()
