"""`rp2` of a simulated board: PIO state machines that make step pulses.

The program is not taken on trust: its own source is assembled and run here, cycle by cycle, to learn how many
cycles lie between two rising edges, also across words. The world is told steps per second; a machine that was
not given words in time stands, as on the chip.
"""

from dialogue import dialogue

FIFO_WORDS = 4
TRIAL_WORDS = (3, 0, 2)


class PIO:
    OUT_LOW = 2
    OUT_HIGH = 3
    JOIN_NONE = 0
    JOIN_TX = 1
    SHIFT_LEFT = 0
    SHIFT_RIGHT = 1


class Instruction:
    def __init__(self, name, first, second):
        self.name = name
        self.first = first
        self.second = second
        self.cycles = 1

    def __getitem__(self, delay):
        self.cycles = 1 + delay
        return self


class Program:
    """A PIO program of `set(pins, n)`, `out(x, 32)` and `jmp`: all that our step generator uses."""

    def __init__(self, function):
        self.instructions = []
        self.labels = {}
        self.wrap_to = 0
        self.wrap_from = None
        names = function.__globals__
        saved = dict(names)
        names.update(
            {
                "set": lambda target, value: self._add("set", target, value),
                "out": lambda target, bits: self._add("out", target, bits),
                "jmp": lambda condition, label=None: self._add("jmp", condition, label),
                "label": self._label,
                "wrap_target": self._wrap_target,
                "wrap": self._wrap,
                "pins": "pins",
                "x": "x",
                "x_dec": "x_dec",
            }
        )
        function()
        names.clear()
        names.update(saved)
        if self.wrap_from is None:
            self.wrap_from = len(self.instructions)

    def _add(self, name, first, second):
        instruction = Instruction(name, first, second)
        self.instructions.append(instruction)
        return instruction

    def _label(self, name):
        self.labels[name] = len(self.instructions)

    def _wrap_target(self):
        self.wrap_to = len(self.instructions)

    def _wrap(self):
        self.wrap_from = len(self.instructions)

    def rising_edges(self, words):
        """Return the cycles at which the pin rises while `words` are used up."""
        words = list(words)
        edges = []
        pin = x = cycle = place = 0
        while True:
            instruction = self.instructions[place]
            jump = None
            if instruction.name == "set":
                if instruction.second > pin:
                    edges.append(cycle)
                pin = instruction.second
            elif instruction.name == "out":
                if not words:
                    return edges
                x = words.pop(0)
            elif instruction.second is None:
                jump = instruction.first
            elif instruction.first == "x_dec":
                if x:
                    jump = instruction.second
                x = (x - 1) & 0xFFFFFFFF
            else:
                raise ValueError("the simulated board knows no jump on " + str(instruction.first))
            cycle += instruction.cycles
            if jump is not None:
                place = self.labels[jump]
            else:
                place += 1
                if place == self.wrap_from:
                    place = self.wrap_to

    def cycles_per_step(self):
        """Return the cycles between two steps; raises ValueError if they are uneven or too many or few."""
        edges = self.rising_edges(TRIAL_WORDS)
        if len(edges) != sum([word + 1 for word in TRIAL_WORDS]):
            raise ValueError("the step generator makes another number of steps than its words say")
        gaps = [edges[place + 1] - edges[place] for place in range(len(edges) - 1)]
        if min(gaps) != max(gaps):
            raise ValueError("the step generator's steps are uneven: " + str(gaps))
        return gaps[0]


def asm_pio(**settings):
    return Program


class StateMachine:
    def __init__(self, id, program=None, **settings):
        self.gpio = None
        self._rate = 0
        self._told = 0
        self._on = False
        self._word_us = 1
        self._left_us = 0  # of steps, at `_since_us`
        self._since_us = 0
        if program is not None:
            self.init(program, **settings)

    def init(self, program, *, freq, set_base):
        if freq < 1908:
            raise ValueError("the clock cannot be divided so far")
        if self.gpio is None:
            dialogue.generators.append(self)
        self.gpio = set_base.gpio
        self._rate = freq // program.cycles_per_step()
        self._on = False
        self._left_us = 0

    def put(self, word):
        if self.tx_fifo() >= FIFO_WORDS:
            raise RuntimeError("on the board this would wait for a free place for ever")
        self._word_us = (word + 1) * 1000000 // self._rate
        self._left_us += self._word_us

    def tx_fifo(self):
        """Return how many words wait; the one at work and the one pulled ahead are not among them."""
        self._run_on()
        words = (self._left_us + self._word_us - 1) // self._word_us
        return max(0, words - 2) if self._on else min(words, FIFO_WORDS)

    def active(self, on=None):
        self._run_on()
        if on is not None:
            self._on = bool(on)
        return self._on

    def changed_rate(self):
        """Return the steps per second if they are others than the world was told last, else None."""
        self._run_on()
        rate = self._rate if self._on and self._left_us else 0
        if rate == self._told:
            return None
        self._told = rate
        return rate

    def _run_on(self):
        if self._on:
            self._left_us = max(0, self._left_us - (dialogue.now_us - self._since_us))
        self._since_us = dialogue.now_us
