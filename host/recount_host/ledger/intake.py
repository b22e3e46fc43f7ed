"""What is asked of everything a device sends before it is stored. Runs inside one writing transaction.

Nothing here raises for what a device sent: the outcome says what became of it, and a refusal is itself kept,
because a forged or forked record is evidence.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, insert, select

from recount_host.law.enrolment import Enrolment
from recount_host.ledger import schema
from recount_host.ledger.arrivals import Arrival
from recount_host.ledger.contents import Contents, crop_sha256
from recount_host.ledger.rows import Gap, Outcome, Verdict
from recount_protocol.key_words import key_words
from recount_protocol.records import (
    NO_HASH,
    Record,
    RecordError,
    check_next,
    decode_record,
    device_id,
)

MAX_INTRODUCED = 1000
"""More new keys than a locality has devices are somebody else's; so many for each start of the host."""

MAX_REFUSALS = 10_000
"""The same for all that was refused, under whatever names."""

MAX_REFUSALS_PER_DEVICE = 100
"""What a hostile device can make us keep is bounded; the first refusals tell the story."""

TWIN = "its key is in two places, as was seen before: nothing more of it is taken, and it has to be revoked"

MAX_EARLY = 100
"""Proofs of one device's present gap: one that counts its records down would else have each of them kept."""

MAX_EVIDENCE_BYTES = 64 * 1024

_ADD_RECORD = "INSERT INTO records (device, n, record, signature, received_utc) VALUES (?, ?, ?, ?, ?)"
_ADD_CROP = "INSERT INTO crops (device, n, sha256, png) VALUES (?, ?, ?, ?)"
"""For the driver as it is: making a statement's values of maps costs as much again as writing them down."""


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


def introduce(connection: Connection, contents: Contents, claim: Introduction, utc: str) -> Outcome:
    """Recognise an enrolled device, note a newcomer for people to enrol, or refuse."""
    enrolled = contents.devices
    why = _why_not_that_device(enrolled, claim)
    if why:
        # Whoever shows another key than the id's is none of the device, and uses up nothing of its room.
        own = claim.device if device_id(claim.public_key) == claim.device else ""
        return refuse(connection, own, claim.name, why, claim.public_key, utc)
    if claim.device in enrolled and claim.device in contents.twins:
        return Outcome(Verdict.REFUSED, TWIN)
    if claim.device not in enrolled:
        return _note_newcomer(connection, contents, claim, utc)
    chain = _load_chain(connection, contents, enrolled[claim.device])
    if why := _why_not_that_chain(claim, chain):
        return refuse(connection, claim.device, claim.name, why, claim.head, utc)
    return Outcome(Verdict.ALREADY, next_n=chain.n + 1)


def _note_newcomer(connection: Connection, contents: Contents, claim: Introduction, utc: str) -> Outcome:
    """Keep the key of a device that is not enrolled, so that people can compare its words and enrol it."""
    table = schema.introduced
    if not contents.is_introduced(claim.device):
        if contents.introduced_since_opening >= MAX_INTRODUCED:
            why = (
                f"{MAX_INTRODUCED} new keys were shown to this host since its start, which is the limit: "
                "take whoever does that off the network, then start recount-host serve again"
            )
            return Outcome(Verdict.REFUSED, why)
        connection.execute(
            insert(table).values(
                device=claim.device, name=claim.name, public_key=claim.public_key, first_seen_utc=utc
            )
        )
    why = f"it is not enrolled here; its words are: {key_words(claim.public_key)}"
    return Outcome(Verdict.NOT_ENROLLED, why)


def add_records(
    connection: Connection, contents: Contents, arrivals: Sequence[Arrival], utc: str
) -> list[Outcome]:
    """Verify records in order and store those that follow.

    `contents` is what the ledger holds as of this transaction.
    """
    chains: dict[str, _Chain | None] = {}
    twins = set(contents.twins)
    outcomes: list[Outcome] = []
    for arrival in arrivals:
        record = arrival.record
        if record is None:
            outcomes.append(refuse(connection, "", "", f"not a record: {arrival.fault}", arrival.data, utc))
            continue
        device = record.device
        if device not in chains:
            known = contents.devices.get(device)
            chains[device] = _load_chain(connection, contents, known) if known and not known.revoked else None
        if device in twins:
            outcomes.append(Outcome(Verdict.REFUSED, TWIN))  # the proof is kept: once is enough
            continue
        outcomes.append(_take(connection, chains[device], arrival, record, utc))
        if outcomes[-1].verdict is Verdict.REFUSED and _is_twin(connection, device):
            twins.add(device)
    for chain in chains.values():
        if chain and chain.added:
            connection.exec_driver_sql(_ADD_RECORD, [(*added, utc) for added in chain.added])
    return outcomes


def add_crops(
    connection: Connection, contents: Contents, crops: Sequence[tuple[str, int, bytes]], utc: str
) -> list[Outcome]:
    """Store crops (device, record number, PNG) that fit their records."""
    added: dict[tuple[str, int], tuple[bytes, bytes]] = {}
    outcomes: list[Outcome] = []
    for device, n, png in crops:
        wanted, found = contents.crop_due(device, n), hashlib.sha256(png).digest()
        if wanted == found and (device, n) not in added:
            added[device, n] = found, png
            outcomes.append(Outcome(Verdict.STORED))
        else:
            outcomes.append(_why_not_that_crop(connection, contents, device, n, found, utc))
    if added:
        rows = [(device, n, found, png) for (device, n), (found, png) in added.items()]
        connection.exec_driver_sql(_ADD_CROP, rows)
    return outcomes


def _why_not_that_crop(
    connection: Connection, contents: Contents, device: str, n: int, found: bytes, utc: str
) -> Outcome:
    data = _stored_bytes(connection, device, n)
    if data is None:
        return Outcome(Verdict.GAP, "the record to which this crop belongs has not come")
    if found == crop_sha256(decode_record(data)):
        return Outcome(Verdict.ALREADY)
    known = contents.devices.get(device)
    why = "a crop that it sent is not the one that its record names"
    return refuse(connection, device, known.name if known else "", why, found, utc, record_n=n)


def refuse(
    connection: Connection,
    device: str,
    name: str,
    why: str,
    evidence: bytes,
    utc: str,
    *,
    record_n: int = 0,
    twins: bool = False,
) -> Outcome:
    """Keep the refusal (each cause once) and return it; `twins`: it proves that two have the device's key.

    `why` is told to people and names no record: its number, from which the stack could be reckoned, is kept
    beside it. There is always room for such a proof: it is asked for once, and what came before must not keep
    it out.
    """
    table = schema.refusals
    cause = {"device": device, "name": name, "why": why, "record_n": record_n}
    same = select(table.c.stored).where(*(table.c[column] == value for column, value in cause.items()))
    count = select(func.count()).select_from(table)
    kept = connection.execute(count.where(table.c.device == device)).scalar_one()
    room = twins or (kept < MAX_REFUSALS_PER_DEVICE and connection.execute(count).scalar_one() < MAX_REFUSALS)
    if room and connection.execute(same).first() is None:
        connection.execute(
            insert(table).values(**cause, evidence=evidence[:MAX_EVIDENCE_BYTES], twins=twins, utc=utc)
        )
    return Outcome(Verdict.REFUSED, why)


def _take(
    connection: Connection, chain: _Chain | None, arrival: Arrival, record: Record, utc: str
) -> Outcome:
    data, signature = arrival.data, arrival.signature
    if chain is None:
        why = "a record comes from a device that is not enrolled, or not any more"
        return refuse(connection, record.device, "", why, data, utc, record_n=record.n)
    if not arrival.bears_signature_of(chain.public_key):
        why = f"a record does not bear the signature of {chain.name}"
        return refuse(connection, record.device, chain.name, why, data, utc, record_n=record.n)
    if not _fits(connection, chain, record, data):
        why = (
            f"a record of {chain.name} does not fit the records that it sent before: "
            "two devices have its key, or its journal was changed"
        )
        return refuse(connection, record.device, chain.name, why, data, utc, record_n=record.n, twins=True)
    if record.n <= chain.n:
        return Outcome(Verdict.ALREADY, next_n=chain.n + 1)
    if record.n > chain.n + 1:
        return _early(connection, chain, record, data, signature, utc)
    chain.added.append((record.device, record.n, data, signature))
    chain.n, chain.head = record.n, arrival.digest
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
    if not waiting or (record.n < min(waiting) and len(waiting) < MAX_EARLY):
        chain.early[record.n] = data
        connection.execute(
            insert(table).values(
                device=record.device, n=record.n, record=data, signature=signature, received_utc=utc
            )
        )
    gap = Gap(record.device, chain.name, chain.n + 1, min([*waiting, record.n]) - 1)
    return Outcome(Verdict.GAP, gap.told, next_n=gap.first_n)


def _why_not_that_device(enrolled: Mapping[str, Enrolment], claim: Introduction) -> str:
    if device_id(claim.public_key) != claim.device:
        return "it does not show the key that its id is made of"
    known = enrolled.get(claim.device)
    if known is None:
        namesake = any(other.name == claim.name and not other.revoked for other in enrolled.values())
        return f"another device, with another key, is enrolled here as {claim.name}" if namesake else ""
    if known.public_key != claim.public_key:
        return f"its key is another than the one enrolled here as {known.name}"
    if known.revoked:
        return f"it was revoked here ({known.revoked})"
    if known.name != claim.name:
        return f"it calls itself {claim.name}, but its key is enrolled here as {known.name}"
    return ""


def _is_twin(connection: Connection, device: str) -> bool:
    """Return whether it is proven that this device's key is in two places."""
    table = schema.refusals
    proof = select(table.c.stored).where(table.c.device == device, table.c.twins == 1).limit(1)
    return connection.execute(proof).first() is not None


def _why_not_that_chain(claim: Introduction, chain: _Chain) -> str:
    """Return why the chain a device offers is not the one here; a longer one is judged record by record.

    Without numbers: the page shows it, and people may still have to count the sheets blind.
    """
    last_n = claim.next_n - 1
    if last_n > chain.n:
        return ""
    if last_n < chain.n:
        return (
            "its journal ends before records of it that are here: "
            "an old copy of its card, or a second device with its key"
        )
    return "" if claim.head == chain.head else "its last record is not the one that it sent before"


def _load_chain(connection: Connection, contents: Contents, known: Enrolment) -> _Chain:
    device = known.device
    n, head = contents.head(device)
    chain = _Chain(known.name, known.public_key, n, head)
    if any(early_n > n for early_n in contents.early(device)):
        early = schema.early_records
        query = select(early.c.n, early.c.record).where(early.c.device == device, early.c.n > n)
        chain.early = {row.n: row.record for row in connection.execute(query)}
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
