"""The board: wires, motors, link bytes, watchdog. It decides nothing; `feeder` does."""

from array import array

import pins
from debounce import NONE, Debouncer
from feeder import REVERSE, SENSORS, STANDING, Feeder
from machine import UART, WDT, Pin, idle, unique_id
from rp2 import StateMachine
from step_pulses import CYCLES_PER_STEP, step_pulses
from time import ticks_us

BAUD = 460_800
RX_BUFFER_BYTES = 1024
TX_BUFFER_BYTES = 1024
READ_BYTES = 512  # at most so many are worked on in a turn, so that a flood cannot hold the motion step up

WATCHDOG_MS = 2000  # longer than any write to flash, which stops everything

SENSOR_PINS = (
    # (gpio, the level that a broken wire shows: the one with which nothing runs)
    (pins.HOPPER, Pin.PULL_DOWN),
    (pins.ENTRY, Pin.PULL_UP),
    (pins.CAMERA, Pin.PULL_UP),
    (pins.EXIT_COUNTED, Pin.PULL_UP),
    (pins.EXIT_SET_ASIDE, Pin.PULL_UP),
    (pins.EXIT_NOT_ACCEPTED, Pin.PULL_UP),
    (pins.DOUBLE_FEED, Pin.PULL_UP),
    (pins.COVER_OPEN, Pin.PULL_UP),
    (pins.STOP_BUTTON, Pin.PULL_UP),
)
"""In the order of the feeder's sensor numbers."""

RING_CHANGES = 64

WORD_MS = 10
WORDS_AHEAD = 3


def now_us() -> int:
    """Return the board's time; plain numbers, where the type checker sees only opaque ticks."""
    return ticks_us()  # type: ignore[return-value]


class ChangeRing:
    """Changes of the sensors' wires from the interrupts to the loop, in order of time; allocates nothing.

    Only interrupts move `_head`, only the loop moves `_tail`, so neither needs to lock the other out.
    """

    def __init__(self) -> None:
        self._sensors = bytearray(RING_CHANGES)
        self._levels = bytearray(RING_CHANGES)
        self._times_us = array("I", [0] * RING_CHANGES)
        self._head = 0
        self._tail = 0
        self.overrun = False
        self.sensor = 0
        self.level = 0
        self.at_us = 0

    def put(self, sensor: int, level: int, at_us: int) -> None:
        """Add a change; a ring that is full says so in `overrun`."""
        after = (self._head + 1) % RING_CHANGES
        if after == self._tail:
            self.overrun = True
            return
        self._sensors[self._head] = sensor
        self._levels[self._head] = level
        self._times_us[self._head] = at_us
        self._head = after

    def take(self) -> bool:
        """Move the oldest change into `sensor`, `level`, `at_us`; return whether there was one."""
        if self._tail == self._head:
            return False
        self.sensor = self._sensors[self._tail]
        self.level = self._levels[self._tail]
        self.at_us = self._times_us[self._tail]
        self._tail = (self._tail + 1) % RING_CHANGES
        return True


class SensorWire:
    """One sensor's wire; its hard interrupt puts each change into the ring with its time."""

    def __init__(self, sensor: int, gpio: int, pull: int, ring: ChangeRing) -> None:
        self._sensor = sensor
        self._ring = ring
        self._pin = Pin(gpio, Pin.IN, pull)
        self._pin.irq(handler=self._changed, trigger=Pin.IRQ_RISING | Pin.IRQ_FALLING, hard=True)

    def _changed(self, pin: Pin) -> None:
        self._ring.put(self._sensor, pin.value(), now_us())

    def level(self) -> int:
        """Return the wire's level now."""
        return self._pin.value()


class StepMotor:
    """A stepper whose pulses a PIO state machine makes, at most some 50 ms of them on its own.

    If this program hangs, the motor stands by itself, long before the watchdog starts the board anew.
    """

    def __init__(self, machine_number: int, gpio: int) -> None:
        self._pin = Pin(gpio, Pin.OUT, value=0)
        self._machine = StateMachine(machine_number)
        self._word = 0
        self._runs = False

    def set_speed(self, speed_mm_s: int) -> None:
        """Take the speed of all runs to come; the motor stands."""
        steps_s = speed_mm_s * pins.STEPS_PER_MM
        self._machine.init(step_pulses, freq=steps_s * CYCLES_PER_STEP, set_base=self._pin)
        self._word = max(1, steps_s * WORD_MS // 1000) - 1
        self._runs = False

    def stop(self) -> None:
        """Stand, at once."""
        if self._runs:
            self._machine.active(0)
            self._runs = False

    def run(self) -> None:
        """Run on; must be called again every 30 ms at the latest."""
        while self._machine.tx_fifo() < WORDS_AHEAD:
            self._machine.put(self._word)
        if not self._runs:
            self._machine.active(1)
            self._runs = True


class OutputWire:
    """An output that is written only when it changes."""

    def __init__(self, gpio: int) -> None:
        self._pin = Pin(gpio, Pin.OUT, value=0)
        self._level = False

    def set(self, level: bool) -> None:
        """Show `level`."""
        if level != self._level:
            self._level = level
            self._pin.value(1 if level else 0)


class Board:
    """All wires of one feeder."""

    def __init__(self) -> None:
        self._power = OutputWire(pins.MOTOR_ENABLE)
        self._pick = StepMotor(0, pins.PICK_STEP)
        self._transport = StepMotor(1, pins.TRANSPORT_STEP)
        self._reverse = OutputWire(pins.TRANSPORT_REVERSE)
        self._diverter_a = OutputWire(pins.DIVERTER_A)
        self._diverter_b = OutputWire(pins.DIVERTER_B)
        self._lamp = OutputWire(pins.LAMP)
        self._direction = STANDING
        self._ring = ChangeRing()
        self._debouncer = Debouncer()
        self._wires = [
            SensorWire(sensor, SENSOR_PINS[sensor][0], SENSOR_PINS[sensor][1], self._ring)
            for sensor in range(SENSORS)
        ]
        self._uart = UART(
            0,
            baudrate=BAUD,
            tx=Pin(pins.UART_TX),
            rx=Pin(pins.UART_RX),
            rxbuf=RX_BUFFER_BYTES,
            txbuf=TX_BUFFER_BYTES,
        )
        self._watchdog: "WDT | None" = None

    def start(self, feeder: Feeder) -> None:
        """Tell the feeder what the sensors show at power-on."""
        for sensor in range(SENSORS):
            level = self._wires[sensor].level()
            self._debouncer.start(sensor, level)
            feeder.levels[sensor] = level
        feeder.start(now_us())

    def set_speeds(self, feeder: Feeder) -> None:
        """Take the motors' speeds from the feeder's parameters; from the first on, the watchdog watches.

        Before, nothing can move, and a person may stop this program to install another.
        """
        self._pick.set_speed(feeder.pick_mm_s)
        self._transport.set_speed(feeder.transport_mm_s)
        self._direction = STANDING
        feeder.speeds_new = False
        if self._watchdog is None:
            self._watchdog = WDT(timeout=WATCHDOG_MS)

    # --- the motion step: allocates nothing ---

    def step(self, feeder: Feeder) -> None:
        """Bring the sensors' edges and the time to the feeder, and its outputs to the wires."""
        time_us = now_us()
        while self._ring.take():
            self._confirm(feeder, self._ring.at_us, time_us)
            self._debouncer.change(self._ring.sensor, self._ring.level, self._ring.at_us)
        if self._ring.overrun:
            self._ring.overrun = False
            feeder.fault(time_us)  # more changes than any paper makes: an electrical fault
        sensor = 0
        while sensor < SENSORS:  # an interrupt that was lost must not hide a level that lasts
            self._debouncer.change(sensor, self._wires[sensor].level(), time_us)
            sensor += 1
        self._confirm(feeder, time_us, time_us)
        feeder.tick(time_us)
        self.apply(feeder)

    def _confirm(self, feeder: Feeder, until_us: int, time_us: int) -> None:
        sensor = self._debouncer.next_edge(until_us)
        while sensor != NONE:
            feeder.edge(sensor, self._debouncer.levels[sensor] == 1, self._debouncer.edge_us, time_us)
            sensor = self._debouncer.next_edge(until_us)

    def apply(self, feeder: Feeder) -> None:
        """Do with the wires what the feeder says. What stands, stands first."""
        if not feeder.pick_runs:
            self._pick.stop()
        if feeder.transport == STANDING or feeder.transport != self._direction:
            self._transport.stop()
            self._direction = feeder.transport
        self._power.set(feeder.powered)
        self._lamp.set(feeder.lamp)
        self._diverter_a.set(feeder.diverter == 1)
        self._diverter_b.set(feeder.diverter == 2)
        if feeder.transport != STANDING:
            self._reverse.set(feeder.transport == REVERSE)
            self._transport.run()
        if feeder.pick_runs:
            self._pick.run()

    def stop_motors(self) -> None:
        """Nothing moves, whatever the feeder says."""
        self._pick.stop()
        self._transport.stop()
        self._direction = STANDING
        self._power.set(False)

    # --- the link's bytes, and time ---

    def read(self) -> bytes:
        """Return the bytes that have come, up to `READ_BYTES`; none is no error."""
        waiting = self._uart.any()
        if not waiting:
            return b""
        return self._uart.read(min(waiting, READ_BYTES)) or b""

    def write(self, data: bytes) -> None:
        """Send bytes to the station."""
        self._uart.write(data)

    def wait(self) -> None:
        """Tell the watchdog that all is well, and wait for an interrupt, or a millisecond or two."""
        if self._watchdog is not None:
            self._watchdog.feed()
        idle()

    def serial_number(self) -> bytes:
        """Return the chip's own number, 8 bytes."""
        return unique_id()
