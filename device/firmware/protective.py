"""The protective counter's file: how many sheets this board has landed as counted or set aside in its life.

The new file is complete before it takes the old one's place, and the board's file system (littlefs) makes
that one step, so a power cut leaves the one or the other. A file that is damaged all the same is neither
counted on nor written over: the counter then reads UNREADABLE until a person looks at the board.
"""

import os
from binascii import crc32
from struct import calcsize, pack, unpack

FILE = "protective"
NEW_FILE = "protective.new"
FORMAT = "<4sII"
MAGIC = b"RcPc"

UNREADABLE = 0xFFFFFFFF


def read() -> int:
    """Return the counter; 0 on a board that never wrote it, UNREADABLE where the file is damaged."""
    if FILE not in os.listdir():
        return 0
    with open(FILE, "rb") as file:
        data = file.read()
    if len(data) != calcsize(FORMAT):
        return UNREADABLE
    magic, count, checksum = unpack(FORMAT, data)
    return count if magic == MAGIC and checksum == crc32(data[:8]) else UNREADABLE


def write(count: int) -> None:
    """Keep `count`. Interrupts are off meanwhile, for up to half a second on a Pico: nothing may move."""
    head = pack("<4sI", MAGIC, count)
    with open(NEW_FILE, "wb") as file:
        file.write(head + pack("<I", crc32(head)))
    os.rename(NEW_FILE, FILE)
