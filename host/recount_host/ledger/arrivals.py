"""What arrives from devices, decoded and its signatures checked: all that needs no look into the ledger.

Checking a signature takes the longest of all that is done with a record, and lets go of the interpreter
meanwhile: threads share it out over the cores.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from recount_protocol.records import Record, RecordError, decode_record, record_hash, verify

SHARE = 64
"""Signatures that a thread checks at a time; fewer are not worth a thread."""

KeyOf = Callable[[str], bytes]
"""The public key of a device, empty where none is known."""


@dataclass(slots=True)
class Arrival:
    """One record as it came."""

    data: bytes
    signature: bytes
    digest: bytes
    """The SHA-256 of its bytes."""
    record: Record | None
    """None where the bytes are no record."""
    fault: str = ""
    """Why they are none."""
    signed_by: bytes = b""
    """The public key whose signature it bears; empty where that was not checked, or it does not."""

    def bears_signature_of(self, public_key: bytes) -> bool:
        """Return whether the record is signed by this key."""
        if self.signed_by != public_key:
            try:
                verify(public_key, self.data, self.signature)
            except RecordError:
                return False
            self.signed_by = public_key
        return True


def arrived(items: Sequence[tuple[bytes, bytes]], key_of: KeyOf, threads: Executor) -> list[Arrival]:
    """Return what these bytes and signatures are. Raises nothing for what a device sent."""
    arrivals = [_decoded(data, signature) for data, signature in items]
    shares = [arrivals[at : at + SHARE] for at in range(0, len(arrivals), SHARE)]
    if len(shares) == 1:
        _check(shares[0], key_of)
    else:
        for _ in threads.map(_check, shares, [key_of] * len(shares)):
            pass  # a fault of ours comes out here
    return arrivals


def _decoded(data: bytes, signature: bytes) -> Arrival:
    try:
        return Arrival(data, signature, record_hash(data), decode_record(data))
    except RecordError as error:
        return Arrival(data, signature, record_hash(data), None, str(error))


def _check(arrivals: Sequence[Arrival], key_of: KeyOf) -> None:
    for arrival in arrivals:
        if arrival.record is not None and (key := key_of(arrival.record.device)):
            arrival.bears_signature_of(key)
