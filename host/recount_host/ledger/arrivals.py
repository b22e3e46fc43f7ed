"""What arrives from devices, decoded: all that needs no look into the ledger."""

from collections.abc import Sequence
from dataclasses import dataclass

from recount_protocol.records import Record, RecordError, decode_record, record_hash, verify


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


def arrived(items: Sequence[tuple[bytes, bytes]]) -> list[Arrival]:
    """Return what these bytes and signatures are, no signature checked. Raises nothing for what was sent."""
    return [_decoded(data, signature) for data, signature in items]


def _decoded(data: bytes, signature: bytes) -> Arrival:
    try:
        return Arrival(data, signature, record_hash(data), decode_record(data))
    except RecordError as error:
        return Arrival(data, signature, record_hash(data), None, str(error))
