"""Runs on the simulated board: the firmware with an error in it that shows once the file `broken` is there."""

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
