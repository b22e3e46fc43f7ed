"""What can go wrong in the device, as a person or a caller meets it.

* RecountError
  - OperatorError: something a person gave or did does not fit; one sentence says what is wrong and what to do
"""


class RecountError(Exception):
    """Any error of this package."""


class OperatorError(RecountError):
    """One sentence for the person at the keyboard: what is wrong and what to do. Exit code 2."""
