"""The secure channel: TLS 1.3 inside the payloads of a delivery, the same over TCP and over a serial line.

No I/O: payloads in, payloads and messages out. The delivery below brings each payload once and in order, so
TLS never meets a damaged line, only somebody who changes bytes on purpose. One payload carries one message.
The host is the server and shows its key; the device compares it with the one it has pinned before it says a
word. The device then proves its own key with a signature (`introductions`). CPython only.
"""

import ssl

from recount_protocol.errors import ChannelError, KeyFileError
from recount_protocol.key_files import key_of_certificate

OVERHEAD_BYTES = 22
"""What TLS adds to each 16 KiB of a message: header, type and tag."""
_RECORD_BYTES = 16 * 1024
_READ_BYTES = 64 * 1024


def only_tls_1_3(*, server_side: bool) -> ssl.SSLContext:
    """Return a context that speaks TLS 1.3 alone, without resumed sessions; a server adds its certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server_side else ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.maximum_version = ssl.TLSVersion.TLSv1_3
    # No authority vouches for anybody here and no name is known: TLS proves that the other end has the key of
    # its certificate, and the caller compares that key with the pinned one.
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if server_side:
        context.num_tickets = 0  # tickets are for resumed sessions, and cost half a kilobyte of the line
    return context


class SecureChannel:
    """One end of the channel over one connection of a delivery."""

    def __init__(self, context: ssl.SSLContext, *, server_side: bool) -> None:
        """Nothing is said before `output`; the device's end (`server_side` false) begins."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=server_side)
        self.established = False
        """Whether both ends have agreed on keys: messages may be sealed."""
        if not server_side:
            self._shake_hands()

    @property
    def peer_public_key(self) -> bytes:
        """The raw public key that the host has shown. Raises ChannelError where it is of another kind."""
        try:
            return key_of_certificate(self._tls.getpeercert(binary_form=True) or b"")
        except KeyFileError as error:
            raise ChannelError(f"its certificate {error}") from None

    def receive(self, payload: bytes) -> bytes:
        """Take a payload and return the message in it; empty where it was TLS's own.

        Raises ChannelError where it was changed on its way, or comes from no end of this channel.
        """
        self._incoming.write(payload)
        try:
            if not self.established and not self._shake_hands():
                return b""
            return self._read()
        except ssl.SSLError as error:
            raise ChannelError(_words(error)) from None

    def output(self) -> bytes:
        """Return the payload that TLS itself wants to send now; empty for none."""
        return self._outgoing.read()

    def seal(self, message: bytes) -> bytes:
        """Return the payload that carries `message`; payloads must be sent in the order they were sealed."""
        view = memoryview(message)
        while view:
            view = view[self._tls.write(view) :]
        return self._outgoing.read()

    def _shake_hands(self) -> bool:
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return False
        self.established = True
        return True

    def _read(self) -> bytes:
        parts: list[bytes] = []
        while True:
            try:
                part = self._tls.read(_READ_BYTES)
            except ssl.SSLWantReadError:
                return b"".join(parts)
            if not part:
                raise ChannelError("the other end has closed the channel")
            parts.append(part)


def longest_message(max_payload_bytes: int) -> int:
    """Return the length of the longest message that fits into one payload, sealed."""
    return max_payload_bytes - OVERHEAD_BYTES * (max_payload_bytes // _RECORD_BYTES + 1)


def _words(error: ssl.SSLError) -> str:
    return (error.reason or "broken off").replace("_", " ").lower()
