"""What can go wrong with a ledger.

* RecountError
  - OperatorError
    + LedgerMissing: there is no ledger where the operator pointed
    + LedgerDamaged: the file is not what was written; stop and keep it
    + LedgerBusy: another program holds it for too long, or the disk refuses
"""

from recount_host.errors import OperatorError


class LedgerMissing(OperatorError):
    """There is no ledger at the place that was named."""


class LedgerDamaged(OperatorError):
    """The ledger is not as it was written; the sentence says where, and that the file must be kept."""


class LedgerBusy(OperatorError):
    """The ledger could not be read or written now: locked for too long, disk full, or not ours to write."""
