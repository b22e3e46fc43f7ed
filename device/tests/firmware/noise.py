"""Garbage on the feeder link, as a bad wire makes it, or a bad program at the other end."""

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from device.tests.firmware.bench import a_ready_feeder
from recount_protocol import feeder_messages
from recount_protocol.frames import encode_frame


def _flipped(chance: random.Random, frame: bytes) -> bytes:
    bits = bytearray(frame)
    bits[chance.randrange(len(bits))] ^= 1 << chance.randrange(8)
    return bytes(bits)


FEED = encode_frame(feeder_messages.encode("feed", sheet=3))
DIVERT = encode_frame(feeder_messages.encode("divert", sheet=1, exit=0))

KINDS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    lambda _, noise: noise,
    lambda _, noise: encode_frame(noise[:240]),  # a whole frame of nonsense
    lambda _, __: FEED,  # a command without a connection
    lambda chance, _: _flipped(chance, DIVERT),
    lambda chance, noise: encode_frame(noise[:200])[: chance.randrange(1, 200)],  # half a frame
    lambda chance, noise: bytes((chance.choice((0x00, 0x55, 0xFF)),)) * len(noise),  # a line that hangs
    lambda _, noise: encode_frame(bytes((1,)) + b"RcSc" + noise[:31]),  # a hello of nobody's
)


def some_noise(chance: random.Random) -> bytes:
    """Return what a bad wire, or a bad program at its other end, may send."""
    return chance.choice(KINDS)(chance, chance.randbytes(chance.randrange(1, 480)))


def under_noise(folder: Path, seed: int, noise_bytes: int) -> Counter[str]:
    """Pour garbage over a ready feeder and return what came of it; but for the bytes all should be zero."""
    chance = random.Random(seed)
    figures: Counter[str] = Counter()
    with a_ready_feeder(folder) as bench:
        bench.pulse_log.clear()
        while figures["bytes of garbage"] < noise_bytes:
            bench.garbage = some_noise(chance)
            figures["bytes of garbage"] += len(bench.garbage)
            bench.turn()
        bench.run(700)
        figures["motions under garbage"] = sum(rate != 0 for _at, _gpio, rate in bench.pulse_log)
        figures["resets"] = int(bench.was_reset)
        if bench.lost:  # so much noise may cost the connection, never more
            bench.connect(boot_id=80)
        report = bench.report()
        still_ready = (report["state"], report["counts"]) == (1, (0, 0, 0, 0, 0))
        figures["wrong counts or states under garbage"] = int(not still_ready)
        bench.ask("feed", "at_camera", sheet=1)
    return figures
