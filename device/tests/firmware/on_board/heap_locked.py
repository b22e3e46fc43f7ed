"""Runs on the simulated board: the firmware, whose motion step finds the heap locked."""

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
