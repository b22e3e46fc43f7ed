"""The dialogue of a simulated board with its world: one JSON line each way, whenever the firmware waits.

    board -> world  {"out": [[gpio, value], ...], "pulse": [[gpio, steps_per_s], ...], "tx": "hex",
                     "wait_us": n}
                    also "wdt_ms": n when the watchdog was armed or fed; "reset": true as the last line
    world -> board  {"now_us": t, "in": [[gpio, value, t_us], ...], "rx": "hex"}

The shims of `machine`, `time` and `rp2` keep what the firmware does in here until it waits. Between two waits
no time passes. What the firmware's motion step may do allocates nothing here either, so that it can be tested
under `micropython.heap_lock`.
"""

import json
import sys

GPIOS = 30
OUT_HELD = 128
EDGE_US = 4000
EDGE_IDLE_US = 3200
UNREAD_IDLE_US = 1000
IDLE_US = 20000
TICKS_MASK = 0x3FFFFFFF  # the Pico's ticks wrap at 2**30

QUIET_ANSWER = '{"now_us": '
QUIET_ANSWER_END = ', "in": [], "rx": ""}\n'
QUIET = '{"out": [], "pulse": [], "tx": "", "wait_us": %d}\n'


class Dialogue:
    """What one board has done since it waited last, and what the world has told it."""

    def __init__(self):
        self.now_us = 0
        self.levels = bytearray(GPIOS)
        self.handlers = [None] * GPIOS  # (handler, trigger, pin) of each input
        self.generators = []  # the step generators, asked for their steps/s at each wait
        self.uart = None
        self.watchdog_ms = 0  # to be told with the next wait; 0 nothing
        self._began = False
        self._out_gpio = bytearray(OUT_HELD)
        self._out_value = bytearray(OUT_HELD)
        self._outs = 0
        self._edge_us = -EDGE_US  # when an input last changed

    def begin(self):
        """Learn the levels and the time, before the firmware reads the first of them."""
        if not self._began:
            self.wait(0)

    def put_out(self, gpio, value):
        """Keep an output's new value for the next wait."""
        if self._outs == OUT_HELD:
            raise RuntimeError("more outputs changed than a board changes between two waits")
        self._out_gpio[self._outs] = gpio
        self._out_value[self._outs] = value
        self._outs += 1

    def ticks_us(self):
        return self.now_us & TICKS_MASK

    def wait(self, wait_us):
        """Tell the world all that was done; take in what it answers, and run the interrupts."""
        self._began = True
        sys.stdout.write(self._line(wait_us))
        line = sys.stdin.readline()
        if not line:
            raise SystemExit  # the world is gone, and with it the board
        if line.endswith(QUIET_ANSWER_END) and line.startswith(QUIET_ANSWER):
            self.now_us = int(line[len(QUIET_ANSWER) : -len(QUIET_ANSWER_END)])
            return
        answer = json.loads(line)
        for gpio, value, at_us in answer["in"]:
            self._change(gpio, value, at_us)
            self._edge_us = at_us
        self.now_us = answer["now_us"]
        if answer["rx"]:
            self.uart.arrive(bytes.fromhex(answer["rx"]))

    def idle(self):
        """Wait as `machine.idle` does: until something happens, or a moment.

        The chip's moment is a millisecond. Here each wait costs real time, so it is short only while
        something is due: a level that must stand for 3 ms to count, bytes that nobody has read. Edges and
        bytes end a wait at once all the same. Otherwise it is as long as the step generators can do without
        new words.
        """
        if self.now_us - self._edge_us < EDGE_US:
            self.wait(EDGE_IDLE_US)
        elif self.uart is not None and self.uart.any():
            self.wait(UNREAD_IDLE_US)
        else:
            self.wait(IDLE_US)

    def reset(self):
        """End the board: the world starts it anew."""
        sys.stdout.write(json.dumps({"out": [], "pulse": [], "tx": "", "wait_us": 0, "reset": True}) + "\n")
        raise SystemExit

    def _change(self, gpio, value, at_us):
        before = self.levels[gpio]
        self.levels[gpio] = value
        handler = self.handlers[gpio]
        if handler is not None and value != before and handler[1] & (RISING if value else FALLING):
            self.now_us = at_us
            handler[0](handler[2])

    def _line(self, wait_us):
        pulses = None
        for generator in self.generators:
            rate = generator.changed_rate()
            if rate is not None:
                pulses = pulses or []
                pulses.append([generator.gpio, rate])
        sent = self.uart.departed() if self.uart else b""
        if pulses is None and not self._outs and not sent and not self.watchdog_ms:
            return QUIET % wait_us
        line = {
            "out": [[self._out_gpio[place], self._out_value[place]] for place in range(self._outs)],
            "pulse": pulses or [],
            "tx": sent.hex(),
            "wait_us": wait_us,
        }
        self._outs = 0
        if self.watchdog_ms:
            line["wdt_ms"] = self.watchdog_ms
            self.watchdog_ms = 0
        return json.dumps(line) + "\n"


FALLING = 4
RISING = 8

dialogue = Dialogue()
