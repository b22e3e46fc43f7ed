"""The ledger: records as they came and acts as they were done, on disk, append-only, each in its chain."""

from recount_host.ledger.ledger import Ledger, Turn
from recount_host.ledger.rows import Device, Gap, Outcome, Refusal, StoredRecord, Verdict

__all__ = ["Device", "Gap", "Ledger", "Outcome", "Refusal", "StoredRecord", "Turn", "Verdict"]
