"""Delivery: payloads over frames, each exactly once and in order, or the connection is lost and says so.

No I/O: the only inputs are bytes and times, so one source serves the feeder board, the station, the host and
the tests. All times are whole milliseconds of one monotonic clock of the caller's, never wrapping.

**Connections.** Each end has a boot id (new at each start) and a session number (one more each time this
end gives a connection up). A connection is the pair of both ends' (boot id, session). Each end repeats
`hello` with its own pair and the one it has heard, until it hears its own pair come back: only then is the
other end's hello surely not an old one, and the ends are connected. Another boot id or a higher session means
that the other end gave the old connection up: its state is dropped, nothing of it is ever resent.

**Sequence.** Every frame of a connection bears 16 bits of the sequence number and of the cumulative
acknowledgement, and a tag: the CRC-32 of both pairs and of the higher bits of both numbers. A frame left over
from an earlier connection, or from 65,536 payloads ago, has another tag and is dropped: numbers never wrap.

**Loss.** At most `window` payloads are unacknowledged. They are sent again, all from the first, when nothing
was acknowledged for the resend time (measured round trip, at least `resend_ms`, doubled at each vain try up
to half of `dead_ms`), or once when the other end reports a gap. Silence for `dead_ms` ends the connection.
"""

from binascii import crc32
from struct import calcsize, pack, unpack

from .errors import FrameError, NotConnected, PayloadTooLong, QueueFull
from .frames import END, FrameReader, encode_frame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, Literal, TypeAlias

    Event: TypeAlias = (
        tuple[Literal["connected"], int]
        | tuple[Literal["payload"], bytes]
        | tuple[Literal["lost", "refused"], str]
    )

# Events of `receive`.
CONNECTED: "Final" = "connected"
PAYLOAD: "Final" = "payload"
LOST: "Final" = "lost"
REFUSED: "Final" = "refused"

# Why a connection was lost.
SILENT = "silent"
"""Nothing was heard for `dead_ms`."""
RESTARTED = "restarted"
"""The other end has another boot id: it started anew."""
DROPPED = "dropped"
"""The other end gave the connection up and begins a new one."""
CLOSED = "closed"
"""This end gave the connection up by `reset`."""

MAGIC = b"RcSc"
HELLO = 1
DATA = 2
ACKNOWLEDGE = 3
GAP = 4

# kind, magic, version, table hash | boot id, session, both of the other end, window, flags, max payload
HELLO_PREFIX = "<B4sHI"
HELLO_FORMAT = "<B4sHIIIIIBBI"
HELLO_PREFIX_BYTES = calcsize(HELLO_PREFIX)
HELLO_BYTES = calcsize(HELLO_FORMAT)
ANSWER_WANTED = 1

# kind, tag, sequence number, next number expected
HEADER_FORMAT = "<BIHH"
HEADER_BYTES = calcsize(HEADER_FORMAT)

WORD = 0x10000
MAX_WINDOW = 255
MAX_BOOT_ID = 0xFFFFFFFF
MAX_TAGS = 8
MAX_BACKOFF = 64
NOBODY = (0, 0)

CAUSES = (
    "hellos",
    "connects",
    "lost_silent",
    "lost_restarted",
    "lost_dropped",
    "lost_closed",
    "refused",
    "echoes",
    "old_hellos",
    "too_long",
    "garbled",
    "checksum",
    "malformed",
    "stale",
    "duplicates",
    "gaps",
    "payloads_in",
    "payloads_out",
    "resent",
)
"""What `Delivery.stats` counts since this end started."""


def _nearest(low_bits: int, number: int) -> int:
    """Return the number nearest to `number` whose lower 16 bits are `low_bits`."""
    return number + (low_bits - number + WORD // 2) % WORD - WORD // 2


class Delivery:
    """One end of a link.

    `version` (16 bit) and `table_hash` (32 bit) must be the same at both ends, `boot_id` (32 bit) new at each
    start. `max_payload_bytes` bounds what is taken from the other end; what may be sent is bounded by the
    smaller of both ends' values, and so is the window. At most `queue_payloads` payloads wait or are
    unacknowledged, so memory is bounded. `dead_ms` may be set anew at any time.

    The caller writes what `output` returns, calls `receive` with what arrives (acknowledging it thereby), and
    calls both again, with `b""`, at the latest when `next_deadline_ms` says.
    """

    def __init__(
        self,
        version: int,
        table_hash: int,
        boot_id: int,
        max_payload_bytes: int,
        window: int = 8,
        resend_ms: int = 50,
        keepalive_ms: int = 150,
        dead_ms: int = 500,
        queue_payloads: int = 32,
    ) -> None:
        if not 1 <= window <= MAX_WINDOW:
            raise ValueError("the window must be 1 to 255 payloads")
        if not 0 <= boot_id <= MAX_BOOT_ID:
            raise ValueError("the boot id must be 32 bits")
        self._version = version
        self._table_hash = table_hash
        self._me = (boot_id, 1)
        self._max_payload_bytes = max_payload_bytes
        self._window = window
        self._resend_ms = resend_ms
        self._keepalive_ms = keepalive_ms
        self.dead_ms = dead_ms
        self._queue_payloads = queue_payloads
        self._reader = FrameReader(max(max_payload_bytes + HEADER_BYTES, HELLO_BYTES))
        self.stats: "dict[str, int]" = dict.fromkeys(CAUSES, 0)
        self.connected = False
        self._peer = NOBODY  # heard in this session of ours
        self._newest = NOBODY  # heard ever: an older hello is a late one
        self._refusal = ""
        self._events: "list[Event]" = []
        self._hello_due = True
        self._hello_sent_ms: "int | None" = None
        self._answered_ms: "int | None" = None
        self._forget()

    def _forget(self) -> None:
        """Drop all that belongs to one connection."""
        self._queue: "list[bytes]" = []  # unacknowledged payloads first, then those not sent yet
        self._base = 0  # the number of the first of `_queue`
        self._next = 0  # the number to be sent next
        self._sent_end = 0  # one more than the highest number ever sent
        self._expected = 0  # the number to be received next
        self._acknowledge_due = False
        self._gap_due = False
        self._gap_reported = False
        self._gap_answered = -1
        self._peer_window = self._window
        self._peer_max_bytes = self._max_payload_bytes
        self._tags: "dict[tuple[int, int, int], int]" = {}
        self._heard_ms = 0
        self._sent_ms = 0
        self._progress_ms = 0
        self._backoff = 1
        self._timed: "tuple[int, int] | None" = (
            None  # number and time of the sending whose round trip is measured
        )
        self._round_trip_8ms: "int | None" = None  # smoothed, in eighths of a millisecond (RFC 6298)
        self._variation_4ms = 0  # in quarters of a millisecond

    # --- what the caller sends ---

    @property
    def can_send(self) -> bool:
        """Whether `send` takes a payload now."""
        return self.connected and len(self._queue) < self._queue_payloads

    @property
    def unacknowledged(self) -> int:
        """How many payloads were taken by `send` and not yet acknowledged by the other end."""
        return len(self._queue)

    def send(self, payload: bytes) -> None:
        """Take `payload` for sending in this connection; what is not delivered when it is lost, is dropped.

        Raises NotConnected, QueueFull, PayloadTooLong.
        """
        if not self.connected:
            raise NotConnected("nothing can be sent: the other end has not answered")
        if len(self._queue) >= self._queue_payloads:
            raise QueueFull("nothing can be sent: the other end has not acknowledged what waits")
        if len(payload) > self._peer_max_bytes:
            raise PayloadTooLong(f"a payload of {len(payload)} bytes; the link takes {self._peer_max_bytes}")
        self._queue.append(payload)

    def reset(self) -> None:
        """Give the connection up, as when the port was opened anew; the other end learns it by our hello."""
        self._reader = FrameReader(max(self._max_payload_bytes + HEADER_BYTES, HELLO_BYTES))
        self._give_up(CLOSED)

    # --- what arrives ---

    def receive(self, data: bytes, now_ms: int) -> "list[Event]":
        """Return what `data`, and the time, brought about.

        ("connected", boot id of the other end), ("payload", bytes), ("lost", one of the reasons above),
        ("refused", a sentence: the other end can never be talked to as it is).
        """
        for item in self._reader.feed(data):
            if isinstance(item, FrameError):
                self.stats[item.cause] += 1
            else:
                self._take(item, now_ms)
        self._notice_silence(now_ms)
        events = self._events
        self._events = []
        return events

    def _take(self, packet: bytes, now_ms: int) -> None:
        kind = packet[0] if packet else 0
        if kind == HELLO and len(packet) >= HELLO_PREFIX_BYTES:
            self._take_hello(packet, now_ms)
        elif (
            DATA <= kind <= GAP
            and len(packet) >= HEADER_BYTES
            and (kind == DATA or len(packet) == HEADER_BYTES)
        ):
            self._take_numbered(kind, packet, now_ms)
        else:
            self.stats["malformed"] += 1

    def _take_hello(self, packet: bytes, now_ms: int) -> None:
        _kind, magic, version, table_hash = unpack(HELLO_PREFIX, packet[:HELLO_PREFIX_BYTES])
        if magic != MAGIC:
            self.stats["malformed"] += 1
            return
        if version != self._version:
            self._refuse(
                f"the other end speaks protocol version {version}, this end {self._version}: "
                "update the older one"
            )
            return
        if table_hash != self._table_hash:
            self._refuse(
                f"the other end's message table is {table_hash:08x}, this end's {self._table_hash:08x}: "
                "install the same release at both ends"
            )
            return
        if len(packet) != HELLO_BYTES:
            self.stats["malformed"] += 1
            return
        boot_id, session, heard_boot_id, heard_session, window, flags, max_bytes = unpack(
            HELLO_FORMAT, packet
        )[4:]
        if boot_id == self._me[0]:
            self.stats["echoes"] += 1
            return
        if boot_id == self._newest[0] and session < self._newest[1]:
            self.stats["old_hellos"] += 1
            return
        self._meet((boot_id, session))
        self._peer_window = min(max(window, 1), self._window)
        self._peer_max_bytes = min(max_bytes, self._max_payload_bytes)
        if flags & ANSWER_WANTED:
            self._hello_due = True
        if (heard_boot_id, heard_session) == self._me:
            self._prove(now_ms)

    def _refuse(self, sentence: str) -> None:
        self.stats["refused"] += 1
        if self.connected:
            self._give_up(RESTARTED)
        if sentence != self._refusal:
            self._refusal = sentence
            self._events.append((REFUSED, sentence))

    def _meet(self, peer: "tuple[int, int]") -> None:
        """Take note of the other end's pair; another than before ends the connection with the one before."""
        if peer == self._peer:
            return
        another_boot = peer[0] != self._newest[0]
        if self.connected:
            self._lose(RESTARTED if another_boot else DROPPED)
        if another_boot and self._newest != NOBODY:
            # A hello left over from the earlier boot may name our present session: let it name a past one.
            self._me = (self._me[0], self._me[1] + 1)
        self._forget()
        self._peer = peer
        self._newest = peer
        self._hello_due = True

    def _prove(self, now_ms: int) -> None:
        """Be connected: the other end has heard this very session of ours."""
        if self.connected:
            return
        self.connected = True
        self._refusal = ""
        self._hello_due = True
        self._heard_ms = now_ms
        self._sent_ms = now_ms
        self._progress_ms = now_ms
        self.stats["connects"] += 1
        self._events.append((CONNECTED, self._peer[0]))

    def _take_numbered(self, kind: int, packet: bytes, now_ms: int) -> None:
        _kind, tag, low_number, low_acknowledged = unpack(HEADER_FORMAT, packet[:HEADER_BYTES])
        number = _nearest(low_number, self._expected)
        acknowledged = _nearest(low_acknowledged, self._base)
        if (
            self._peer == NOBODY
            or min(number, acknowledged) < 0
            or acknowledged > self._sent_end
            or tag != self._tag(self._peer, self._me, number, acknowledged)
        ):
            self.stats["stale"] += 1
            return
        self._prove(now_ms)
        self._heard_ms = now_ms
        self._take_acknowledgement(acknowledged, now_ms)
        if kind == DATA:
            self._take_payload(number, packet)
        elif kind == GAP and acknowledged == self._base and self._gap_answered != self._base:
            self._gap_answered = self._base
            self._rewind(now_ms)

    def _take_acknowledgement(self, acknowledged: int, now_ms: int) -> None:
        if acknowledged <= self._base:
            return
        if self._timed is not None and acknowledged > self._timed[0]:
            self._measure(now_ms - self._timed[1])
            self._timed = None
            self._backoff = 1
        self._queue = self._queue[acknowledged - self._base :]
        self._base = acknowledged
        self._next = max(self._next, acknowledged)
        self._progress_ms = now_ms

    def _take_payload(self, number: int, packet: bytes) -> None:
        self._acknowledge_due = True
        if number == self._expected:
            self._expected += 1
            self._gap_reported = False
            self._gap_due = False
            self.stats["payloads_in"] += 1
            self._events.append((PAYLOAD, packet[HEADER_BYTES:]))
        elif number < self._expected:
            self.stats["duplicates"] += 1
        else:
            self.stats["gaps"] += 1
            if not self._gap_reported:
                self._gap_reported = True
                self._gap_due = True

    # --- what is to be written ---

    def output(self, now_ms: int) -> bytes:
        """Return the bytes to write now: hello, payloads new or again, acknowledgement, keepalive."""
        self._notice_silence(now_ms)
        parts: "list[bytes]" = []
        if self._hello_is_due(now_ms):
            parts.append(self._hello(now_ms))
        if self.connected:
            if self._next > self._base and now_ms >= self._progress_ms + self._patience_ms():
                self._backoff = min(self._backoff * 2, MAX_BACKOFF)
                self._rewind(now_ms)
            while self._next < self._base + min(len(self._queue), self._peer_window):
                parts.append(self._numbered(now_ms))
            if self._gap_due or self._acknowledge_due or now_ms >= self._sent_ms + self._keepalive_ms:
                parts.append(self._bare(GAP if self._gap_due else ACKNOWLEDGE, now_ms))
        return b"".join(parts)

    def next_deadline_ms(self, now_ms: int) -> int:
        """Return when `receive` and `output` must be called again if nothing arrives; `now_ms`: at once."""
        if self._events or self._hello_is_due(now_ms):
            return now_ms
        if not self.connected:
            return self._hello_again_ms()
        if self._gap_due or self._acknowledge_due:
            return now_ms
        if self._next < self._base + min(len(self._queue), self._peer_window):
            return now_ms
        deadline = min(self._sent_ms + self._keepalive_ms, self._heard_ms + self.dead_ms)
        if self._next > self._base:
            deadline = min(deadline, self._progress_ms + self._patience_ms())
        return max(now_ms, deadline)

    def _hello_again_ms(self) -> int:
        return 0 if self._hello_sent_ms is None else self._hello_sent_ms + self._resend_ms

    def _hello_is_due(self, now_ms: int) -> bool:
        return self._hello_due or (not self.connected and now_ms >= self._hello_again_ms())

    def _hello(self, now_ms: int) -> bytes:
        self._hello_due = False
        self._hello_sent_ms = now_ms
        self.stats["hellos"] += 1
        hello = pack(
            HELLO_FORMAT,
            HELLO,
            MAGIC,
            self._version,
            self._table_hash,
            self._me[0],
            self._me[1],
            self._peer[0],
            self._peer[1],
            self._window,
            0 if self.connected else ANSWER_WANTED,
            self._max_payload_bytes,
        )
        # The zero byte in front ends whatever noise or half frame lies before it on the wire.
        return END + encode_frame(hello)

    def _numbered(self, now_ms: int) -> bytes:
        number = self._next
        payload = self._queue[number - self._base]
        if number < self._sent_end:
            self.stats["resent"] += 1
        else:
            self._sent_end = number + 1
            self.stats["payloads_out"] += 1
            if self._timed is None:
                self._timed = (number, now_ms)
        if number == self._base:
            self._progress_ms = now_ms
        self._next = number + 1
        return self._packet(DATA, number, payload, now_ms)

    def _bare(self, kind: int, now_ms: int) -> bytes:
        return self._packet(kind, self._next, b"", now_ms)

    def _packet(self, kind: int, number: int, payload: bytes, now_ms: int) -> bytes:
        self._acknowledge_due = False
        self._sent_ms = now_ms
        if kind == GAP:
            self._gap_due = False
        header = pack(
            HEADER_FORMAT,
            kind,
            self._tag(self._me, self._peer, number, self._expected),
            number % WORD,
            self._expected % WORD,
        )
        return encode_frame(header + payload)

    def _tag(
        self, sender: "tuple[int, int]", receiver: "tuple[int, int]", number: int, acknowledged: int
    ) -> int:
        """Return the tag of `sender`'s frames; the order of the pairs keeps an echo from being taken."""
        key = (sender[0], number // WORD, acknowledged // WORD)
        tag = self._tags.get(key)
        if tag is None:
            tag = crc32(pack("<6I", sender[0], sender[1], receiver[0], receiver[1], key[1], key[2]))
            if len(self._tags) >= MAX_TAGS:
                self._tags = {}
            self._tags[key] = tag
        return tag

    # --- time ---

    def _rewind(self, now_ms: int) -> None:
        """Send again from the first unacknowledged payload."""
        self._next = self._base
        self._progress_ms = now_ms
        self._timed = None  # an acknowledgement could be that of either sending (Karn)

    def _patience_ms(self) -> int:
        """Return how long an acknowledgement is waited for; doubling stays until one was measured (Karn)."""
        round_trip_ms = 0
        if self._round_trip_8ms is not None:
            round_trip_ms = self._round_trip_8ms // 8 + self._variation_4ms
        patience_ms = max(self._resend_ms, round_trip_ms) * self._backoff
        return min(patience_ms, max(self._resend_ms, self.dead_ms // 2))

    def _measure(self, round_trip_ms: int) -> None:
        if self._round_trip_8ms is None:
            self._round_trip_8ms = round_trip_ms * 8
            self._variation_4ms = round_trip_ms * 2
            return
        error_ms = round_trip_ms - self._round_trip_8ms // 8
        self._round_trip_8ms += error_ms
        self._variation_4ms += abs(error_ms) - self._variation_4ms // 4

    def _notice_silence(self, now_ms: int) -> None:
        if self.connected and now_ms >= self._heard_ms + self.dead_ms:
            self._give_up(SILENT)

    def _give_up(self, reason: str) -> None:
        """End the connection by our own will: with a new session, so that the other end must end it too."""
        if self.connected:
            self._lose(reason)
        self._me = (self._me[0], self._me[1] + 1)
        self._peer = NOBODY
        self._forget()
        self._hello_due = True

    def _lose(self, reason: str) -> None:
        self.connected = False
        self.stats["lost_" + reason] += 1
        self._events.append((LOST, reason))
