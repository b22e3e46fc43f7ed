"""Drives frames, delivery and feeder messages through some thousand cases and prints what came out.

Run by both interpreters with the same seed; `test_both_interpreters.py` compares the prints byte for byte.
Only what MicroPython has is used here, and nothing is printed in the order of a dict.
"""

import sys
from binascii import crc32

from recount_protocol import delivery, feeder_messages, frames
from recount_protocol.delivery import Delivery
from recount_protocol.errors import MessageError, ProtocolError


class Dice:
    """A linear congruential generator (Numerical Recipes), the same everywhere."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def throw(self, sides: int) -> int:
        """Return a number from 0 to below `sides`."""
        self.state = (self.state * 1664525 + 1013904223) & 0xFFFFFFFF
        return (self.state >> 8) % sides

    def noise(self, longest: int) -> bytes:
        """Return up to `longest` bytes, zero bytes more often than chance."""
        return bytes([self.throw(256) * (self.throw(4) > 0) for _byte in range(self.throw(longest + 1))])


def shown(item: object) -> str:
    """Return an item as text that is the same on both interpreters."""
    if isinstance(item, bytes):
        return item.hex()
    if isinstance(item, ProtocolError):
        return item.__class__.__name__ + " " + str(item)
    if isinstance(item, tuple):
        return "(" + " ".join([shown(part) for part in item]) + ")"
    return str(item)


def exercise_frames(dice: Dice, rounds: int) -> None:
    """Frames, whole, cut, damaged and in noise."""
    reader = frames.FrameReader(240)
    for _round in range(rounds):
        payload = dice.noise(300)
        frame = frames.encode_frame(payload)
        print("frame", crc32(frame), len(frame), frames.max_frame_bytes(len(payload)))
        if dice.throw(3) == 0:
            at = dice.throw(len(frame))
            frame = frame[:at] + bytes([dice.throw(256)]) + frame[at + 1 :]
        if dice.throw(5) == 0:
            frame = dice.noise(40) + frame
        at = dice.throw(len(frame) + 1)
        for piece in (frame[:at], frame[at:]):
            for item in reader.feed(piece):
                print("read", shown(item))
    print(sorted(reader.counts.items()))


def exercise_messages(dice: Dice, rounds: int) -> None:
    """Feeder messages, right and wrong."""
    print("table", feeder_messages.TABLE_HASH, crc32(feeder_messages.canonical_text().encode()))
    for name in sorted(feeder_messages.MESSAGES):
        for _round in range(rounds):
            fields = {}
            for field, code, lowest, highest in feeder_messages.MESSAGES[name][2]:
                span = highest - lowest + 1
                numbers = [
                    lowest + dice.throw(0xFFFFFF) % span - (dice.throw(60) == 0)
                    for _number in range(int(code[:-1] or 1))
                ]
                fields[field] = tuple(numbers) if len(code) > 1 else numbers[0]
            try:
                payload = feeder_messages.encode(name, **fields)
            except MessageError as error:
                print(name, shown(error))
                continue
            at = dice.throw(len(payload))
            changed = payload[:at] + bytes([dice.throw(256)]) + payload[at + 1 :]
            print(name, payload.hex())
            for received in (payload, changed, payload[:at]):
                try:
                    decoded, values = feeder_messages.decode(received)
                    print(decoded, sorted(values.items()))
                except MessageError as error:
                    print(shown(error))


def exercise_delivery(dice: Dice, duration_ms: int) -> None:
    """Two ends over a wire that loses, repeats, damages and delays, with restarts."""
    ends = [Delivery(1, feeder_messages.TABLE_HASH, boot_id, 60, 4, 20, 80, 300, 12) for boot_id in (1, 2)]
    flying = [[], []]
    boots = 2
    number = 0
    for now_ms in range(0, duration_ms, 5):
        if dice.throw(400) == 0:
            boots += 1
            side = dice.throw(2)
            ends[side] = Delivery(1, feeder_messages.TABLE_HASH, boots, 60, 4, 20, 80, 300, 12)
        if dice.throw(400) == 0:
            ends[dice.throw(2)].reset()
        for side in (0, 1):
            end = ends[side]
            arrived = b"".join([data for at_ms, data in flying[side] if at_ms <= now_ms])
            flying[side] = [entry for entry in flying[side] if entry[0] > now_ms]
            for event in end.receive(arrived, now_ms):
                print(now_ms, side, shown(event))
            if end.can_send and dice.throw(3) == 0:
                number += 1
                end.send(number.to_bytes(4, "little") + dice.noise(40))
            written = end.output(now_ms)
            if written:
                print(now_ms, side, written.hex(), end.next_deadline_ms(now_ms))
            fate = dice.throw(30)
            if fate == 1 and written:
                at = dice.throw(len(written))
                written = written[:at] + bytes([dice.throw(256)]) + written[at + 1 :]
            if fate > 0:
                flying[1 - side].append((now_ms + 5 + 40 * (fate == 2), written))
            if fate == 3:
                flying[1 - side].append((now_ms + 100, written))
    for end in ends:
        print([(cause, end.stats[cause]) for cause in delivery.CAUSES])


if __name__ == "__main__":
    SEED = int(sys.argv[1])
    exercise_frames(Dice(SEED), 300)
    exercise_messages(Dice(SEED), 20)
    exercise_delivery(Dice(SEED), 8000)
