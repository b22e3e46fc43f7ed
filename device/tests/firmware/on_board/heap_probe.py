"""Runs on the simulated board: the firmware, which tells on its error stream the least free heap after a collection."""

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
            sys.stderr.write("free %d\n" % free)


Probed().run()
