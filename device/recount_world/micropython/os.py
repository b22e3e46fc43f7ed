"""`os` of a simulated board: the interpreter's own, with random numbers that its seed repeats.

RECOUNT_BOARD_SEED holds the seed, another one at each start of the board; without it numbers are random.
"""

from binascii import crc32
from uos import *
import uos

_seed = uos.getenv("RECOUNT_BOARD_SEED")
_drawn = 0


def urandom(count):
    global _drawn
    if _seed is None:
        return uos.urandom(count)
    numbers = b""
    while len(numbers) < count:
        _drawn += 1
        numbers += crc32(("%s %d" % (_seed, _drawn)).encode()).to_bytes(4, "little")
    return numbers[:count]
