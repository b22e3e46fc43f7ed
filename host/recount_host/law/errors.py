"""What can go wrong where the law is applied.

* RecountError
  - LedgerContradiction: what is stored cannot have come about lawfully: stop, keep everything, have it looked
  into - OperatorError + NotAllowed: the step is not allowed now; the sentence says why and what to do instead
  + BadEntry: what was entered is not such a thing; the sentence says what is wrong
"""

from recount_host.errors import OperatorError, RecountError


class LedgerContradiction(RecountError):
    """The stored acts and records contradict each other; no figure may be folded from them."""


class NotAllowed(OperatorError):
    """This step is not allowed now; the sentence says why, and what to do instead."""


class BadEntry(OperatorError):
    """What was entered does not fit; the sentence says what is wrong and what is expected."""
