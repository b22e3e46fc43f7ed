"""The ledger: records as they came and acts as they were done, on disk, append-only, each in its chain."""

from recount_host.ledger.ledger import Ledger, Turn
from recount_host.ledger.rows import Gap, Newcomer, Outcome, Refusal, StoredRecord, Verdict

__all__ = ["Gap", "Ledger", "Newcomer", "Outcome", "Refusal", "StoredRecord", "Turn", "Verdict"]
