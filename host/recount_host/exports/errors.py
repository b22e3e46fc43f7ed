"""What can go wrong with a bundle.

* RecountError
  - OperatorError
    + ExportRefused: this bundle may not, or cannot, be made now
    + NoBundle: what was given is no bundle, or one that no export of ours can have made; nothing more is read
    + SealBroken: a sealed bundle that does not open with this key, was cut off, or was changed
"""

from recount_host.errors import OperatorError


class ExportRefused(OperatorError):
    """The bundle may not be made now, or its place cannot be written."""


class NoBundle(OperatorError):
    """What was given is no bundle; the sentence says what gives it away."""


class SealBroken(NoBundle):
    """The sealed bundle cannot be opened with this key, or is not as it was sealed."""
