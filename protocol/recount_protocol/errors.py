"""Everything that can be wrong with bytes from the other end, or with what we ask of a link.

* ProtocolError
  * FrameError - the peer's bytes; returned as a value, because damage is expected on a wire
    - FrameTooLong
    - FrameGarbled
    - ChecksumMismatch
  * MessageError - a payload that its message table does not allow
  * RecordError - a record that its kind, its chain or its signature does not allow
  * OrderError - an order that is not the host's, or not for this device and this moment
  * ProofError - an introduction by somebody who does not have the key
  * ChannelError - the secure channel was broken, or is not with whom it should be
  * KeyFileError - bytes that are no key file or certificate
  * WordsError - words that are not a key's
  * LinkError - our own step, refused by the link's state
    - NotConnected
    - QueueFull
    - PayloadTooLong

Both interpreters import this module, so it uses nothing that MicroPython lacks.
"""


class ProtocolError(Exception):
    """Base of every error of this package."""


class FrameError(ProtocolError):
    """Bytes between two zero bytes that are no frame; `cause` is the counter that counts it."""

    cause = "damaged"


class FrameTooLong(FrameError):
    """More bytes without an end than the longest allowed frame has."""

    cause = "too_long"


class FrameGarbled(FrameError):
    """The byte stuffing does not add up, or the frame is shorter than its checksum."""

    cause = "garbled"


class ChecksumMismatch(FrameError):
    """The CRC-32 at the frame's end is not that of its payload."""

    cause = "checksum"


class MessageError(ProtocolError):
    """A payload with an unknown kind, a wrong length, or a field outside its bounds."""


class RecordError(ProtocolError):
    """A record that is malformed, wrongly signed, or does not follow the one before."""


class OrderError(ProtocolError):
    """An order that the host's key did not sign for this device and this connection, or that came before."""


class ProofError(ProtocolError):
    """An introduction that does not bear the signature of the key it names."""


class ChannelError(ProtocolError):
    """What came through the secure channel was changed, or the other end's key is of another kind."""


class KeyFileError(ProtocolError):
    """Bytes that are no key file or certificate; the text goes after the name of what they came from."""


class WordsError(ProtocolError):
    """Words, typed by a person, that cannot be those of a key."""


class LinkError(ProtocolError):
    """A step that the link does not allow now."""


class NotConnected(LinkError):
    """Nothing can be sent before the other end has answered, or after it was lost."""


class QueueFull(LinkError):
    """The other end takes payloads more slowly than they are offered; wait until `can_send`."""


class PayloadTooLong(LinkError):
    """The payload is longer than this end or the other end allows."""
