"""Programs that run on the simulated board instead of `main.py`: the firmware, watched or spoilt."""

from pathlib import Path

HEAP_PROBE = """
# Tells on its error stream the least free heap after a collection.
import gc
import sys
import main

class Probed(main.Program):
    least = 1 << 30

    def _turn(self):
        main.Program._turn(self)
        gc.collect()
        free = gc.mem_free()
        if free < Probed.least:
            Probed.least = free
            sys.stderr.write("free %d\\n" % free)

Probed().run()
"""

HEAP_LOCKED = """
# The motion step finds the heap locked.
import main
import micropython
from board import Board

class LockedBoard(Board):
    def step(self, feeder):
        micropython.heap_lock()
        try:
            Board.step(self, feeder)
        finally:
            micropython.heap_unlock()

main.Board = LockedBoard
main.Program().run()
"""

BROKEN = """
# An error in the program shows once the file `broken` is there.
import os
import main
from board import Board

class BrokenBoard(Board):
    def step(self, feeder):
        if "broken" in os.listdir():
            if "once" in open("broken").read():
                os.remove("broken")
            raise ValueError("an error in the program")
        Board.step(self, feeder)

main.Board = BrokenBoard
main.Program().run()
"""


def board_program(folder: Path, text: str) -> Path:
    """Write a program and return its path."""
    path = folder / "program.py"
    path.write_text(text)
    return path
