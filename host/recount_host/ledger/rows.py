"""What the ledger gives back: plain frozen values, no database in them."""

from dataclasses import dataclass
from enum import Enum

from recount_protocol.records import Record


class Verdict(Enum):
    """What became of something that a device sent."""

    STORED = "stored"
    """It was new, sound, and is now on disk."""
    ALREADY = "already"
    """The same bytes are on disk since an earlier time."""
    GAP = "gap"
    """It is sound, but records before it have not come: it waits until the device sends those."""
    NOT_ENROLLED = "not enrolled"
    """Both sides have not compared its words yet: nothing is taken from it, and it may come again."""
    REFUSED = "refused"
    """It is forged, forked, damaged or out of bounds. The refusal itself is kept and shown."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one record, crop or introduction, with the sentence that tells people."""

    verdict: Verdict
    sentence: str = ""
    """Empty when stored or already there."""
    next_n: int = 0
    """The number of the record that the ledger waits for from this device (0 = no such device here)."""


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record with the bytes and signature as they came."""

    record: Record
    data: bytes
    signature: bytes
    received_utc: str


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A device that has shown its key and is not enrolled."""

    device: str
    """Its id: the first 16 hex digits of the SHA-256 of its public key."""
    name: str
    """What it calls itself."""
    public_key: bytes
    first_seen_utc: str


@dataclass(frozen=True, slots=True)
class Gap:
    """Records which a device has surely written, because a later signed one came, and which are not here."""

    device: str
    name: str
    first_n: int
    last_n: int

    @property
    def told(self) -> str:
        """Return what people at the host are told: a number would tell how many sheets went through."""
        return f"records of {self.name} are missing"

    @property
    def sentence(self) -> str:
        """Return the gap in words for the evidence, as in "records 14 to 16 of device-1 are missing"."""
        if self.first_n == self.last_n:
            return f"record {self.first_n} of {self.name} is missing"
        return f"records {self.first_n} to {self.last_n} of {self.name} are missing"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something a device sent that was not taken, kept as evidence."""

    n: int
    """Its number in the ledger."""
    device: str
    name: str
    why: str
    """In words for people at the host: a record's number would tell them how many sheets went through."""
    record_n: int
    """The number of the record that it is about, for the evidence; 0 where it is about none."""
    utc: str
