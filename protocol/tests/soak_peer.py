"""The sending end of `soak_link`, run by MicroPython: records over standard input and output.

The payloads are those of `soak_link.payload_of`.
"""

import sys
import time

from recount_protocol.delivery import Delivery

NUMBER_BYTES = 8
# MicroPython's own clock: CPython's type checker does not know it.
_ticks_ms = getattr(time, "ticks_ms")  # noqa: B009
_ticks_diff = getattr(time, "ticks_diff")  # noqa: B009


def payload_of(number: int) -> bytes:
    """Return the record with this number."""
    word = (number * 2654435761 % 2**32).to_bytes(4, "big")
    return number.to_bytes(NUMBER_BYTES, "big") + word * 14


def main(records: int) -> None:
    """Send records for ever, from wherever the other end says."""
    end = Delivery(1, 0xABCD, 1, 240, window=8, queue_payloads=16, resend_ms=30, dead_ms=1000)
    read, write = sys.stdin.buffer, sys.stdout.buffer
    buffer = bytearray(512)
    view = memoryview(buffer)
    started = _ticks_ms()
    next_number = 0
    while True:
        count = read.readinto(buffer)  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue, reportUnknownVariableType]
        now_ms = _ticks_diff(_ticks_ms(), started)
        for kind, value in end.receive(bytes(view[:count]) if count else b"", now_ms):
            if kind == "payload":
                assert isinstance(value, bytes)
                next_number = int.from_bytes(value[:NUMBER_BYTES], "big")
            elif kind == "lost":
                next_number = 0
        while next_number and next_number <= records and end.can_send:
            end.send(payload_of(next_number))
            next_number += 1
        data = end.output(now_ms)
        while data:
            taken = write.write(data)
            if taken:
                data = data[taken:]
        if not count:
            time.sleep(0.001)


main(int(sys.argv[1]))
