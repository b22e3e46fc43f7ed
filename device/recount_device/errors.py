"""What can go wrong in the device, as a person or a caller meets it.

* RecountError
  - OperatorError: something a person gave or did does not fit; one sentence says what is wrong and what to do
    + JournalDamaged: the journal on the disk is not what was written
  - NotAllowed: this event may not happen in this state of a sheet: a fault of a part, never of a person
  - CameraFault: no picture of the sheet under the camera can be had
  - LinkLost: the port or socket is gone; it is looked for again
"""


class RecountError(Exception):
    """Any error of this package."""


class OperatorError(RecountError):
    """One sentence for the person at the keyboard: what is wrong and what to do. Exit code 2."""


class JournalDamaged(OperatorError):
    """The journal is torn, changed or from another device; nothing is fed before a person has looked."""


class NotAllowed(RecountError):
    """An event came that has no meaning in the sheet's state."""


class CameraFault(RecountError):
    """No picture exposed after the sheet came to rest can be had; the sheet goes back to the operator."""


class LinkLost(RecountError):
    """The port or socket is gone: unplugged, hung up, refused. It is closed, and looked for again."""
