"""`machine` of a simulated board: what the firmware uses of it, by the Pico's own names and numbers."""

from binascii import crc32
from dialogue import FALLING, RISING, dialogue
import uos

TOLD_EVERY_US = 100000


class Pin:
    IN = 0
    OUT = 1
    PULL_UP = 1
    PULL_DOWN = 2
    IRQ_FALLING = FALLING
    IRQ_RISING = RISING

    def __init__(self, id, mode=-1, pull=-1, *, value=None):
        self.gpio = id
        self._mode = mode
        if mode == Pin.OUT and value is not None:
            self.value(value)

    def value(self, level=None):
        if level is None:
            if self._mode == Pin.IN:
                dialogue.begin()
            return dialogue.levels[self.gpio]
        dialogue.levels[self.gpio] = 1 if level else 0
        dialogue.put_out(self.gpio, 1 if level else 0)

    def irq(self, handler=None, trigger=FALLING | RISING, hard=False):
        # `hard` makes no difference: interrupts come while the firmware waits.
        dialogue.handlers[self.gpio] = None if handler is None else (handler, trigger, self)


class UART:
    """Bytes over the dialogue; more than `rxbuf` unread bytes are lost, as on the wire."""

    def __init__(self, id, baudrate=9600, *, tx=None, rx=None, rxbuf=256, txbuf=256):
        self._room = rxbuf
        self._received = b""
        self._sent = []
        dialogue.uart = self

    def any(self):
        return len(self._received)

    def read(self, count):
        data = self._received[:count]
        self._received = self._received[count:]
        return data or None

    def write(self, data):
        self._sent.append(bytes(data))
        return len(data)

    def arrive(self, data):
        self._received += data[: self._room - len(self._received)]

    def departed(self):
        data = b"".join(self._sent)
        self._sent.clear()
        return data


class WDT:
    """The world is told of a feed every 100 ms at the most, so its watchdog bites up to 100 ms early."""

    def __init__(self, id=0, timeout=5000):
        self._timeout_ms = timeout
        self._told_us = dialogue.now_us
        dialogue.watchdog_ms = timeout

    def feed(self):
        if dialogue.now_us - self._told_us >= TOLD_EVERY_US:
            self._told_us = dialogue.now_us
            dialogue.watchdog_ms = self._timeout_ms


def idle():
    dialogue.idle()


def unique_id():
    seed = (uos.getenv("RECOUNT_BOARD_SEED") or "0").encode()
    return b"RcSc" + crc32(seed).to_bytes(4, "big")


def reset():
    dialogue.reset()
