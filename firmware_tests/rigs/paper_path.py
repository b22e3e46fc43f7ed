"""The paper path, played by a second Pico wired to the feeder board, each pin to the pin of the same number.

It counts the feeder's step pulses, moves paper that does not exist, and shows the feeder what its sensors
would see. Hands are commands on the USB port, one line each, answered by one line:

    lay COUNT LENGTH_MM SHEETS     lay so many sheets into the hopper; each is really SHEETS stuck together
    jam MM                         the sheet in the path is held when its leading edge is MM past the entry
    cover 0|1, stop 0|1            the cover, the stop button
    clear                          take all paper out of the path and the hopper
    where                          how many lie where: hopper path counted set_aside not_accepted operator

Copy it to the second Pico as main.py. `Path` has no pins: the tests run it as it is.
"""

STEPS_PER_MM = 10
PICK_ROLLER = -20 * STEPS_PER_MM
ENTRY_NIP = 20 * STEPS_PER_MM
ENTRY = 30 * STEPS_PER_MM
CAMERA = 430 * STEPS_PER_MM
FLAP = 480 * STEPS_PER_MM
EXIT = 680 * STEPS_PER_MM
"""Places from the hopper's mouth on, in steps: those of the simulated device."""

HOPPER_BIT, ENTRY_BIT, CAMERA_BIT, EXIT_BIT, DOUBLE_BIT, COVER_BIT, STOP_BIT = 1, 2, 4, 8, 64, 128, 256
"""Bits of `levels`, in the order of the feeder's input pins, 2 to 10; three exits, from EXIT_BIT on."""

NOWHERE = 1 << 29


class Path:
    """Paper that moves by steps; no pins, no clock."""

    def __init__(self) -> None:
        self.hopper: "list[tuple[int, int]]" = []  # of (length in steps, how many sheets stick together)
        self.path: "list[list[int]]" = []  # of [leading edge, length, sheets, exit or -1]
        self.bins = [0, 0, 0]
        self.operator = 0
        self.jam_at = NOWHERE
        self.cover_open = False
        self.stop_pressed = False

    def move(self, pick: int, transport: int, flap: int) -> None:
        """Move paper by so many steps of each motor; transport steps are negative towards the entry."""
        if pick and self.hopper and not self._under_pick_roller():
            length, sheets = self.hopper.pop(0)
            self.path.append([0, length, sheets, -1])
        for sheet in list(self.path):
            way = transport if sheet[0] >= ENTRY_NIP else pick
            sheet[0] = max(sheet[0], min(sheet[0] + way, self.jam_at)) if way > 0 else sheet[0] + way
            if sheet[0] >= FLAP and sheet[3] < 0:
                sheet[3] = flap
            if sheet[0] - sheet[1] >= EXIT:
                self.path.remove(sheet)
                self.bins[sheet[3]] += sheet[2]
            elif sheet[0] < ENTRY_NIP and transport < 0:
                self.path.remove(sheet)
                self.operator += sheet[2]

    def _under_pick_roller(self) -> bool:
        return any(sheet[0] - sheet[1] < PICK_ROLLER <= sheet[0] for sheet in self.path)

    def levels(self) -> int:
        """Return what the sensors see, a bit each."""
        seen = HOPPER_BIT if self.hopper else 0
        for lead, length, sheets, exit_ in self.path:
            tail = lead - length
            if tail < ENTRY <= lead:
                seen |= ENTRY_BIT | (DOUBLE_BIT if sheets > 1 else 0)
            if tail < CAMERA <= lead:
                seen |= CAMERA_BIT
            if tail < EXIT <= lead:
                seen |= EXIT_BIT << max(exit_, 0)
        return seen | (COVER_BIT if self.cover_open else 0) | (STOP_BIT if self.stop_pressed else 0)

    def command(self, line: str) -> str:
        """Do what a line says; return the answer: `ok`, what was asked for, or `error` and why."""
        words = line.split()
        if not words or words[0] not in COMMANDS:
            return "error: no such command: " + line.strip()
        try:
            return getattr(self, words[0])(*[float(word) for word in words[1:]]) or "ok"
        except (ValueError, TypeError):
            return "error: other numbers are needed: " + line.strip()

    def lay(self, count: float, length_mm: float, sheets: float) -> None:
        """Lay sheets into the hopper."""
        for _ in range(int(count)):
            self.hopper.append((int(length_mm * STEPS_PER_MM), int(sheets)))

    def jam(self, at_mm: float) -> None:
        """Hold the sheet there."""
        self.jam_at = ENTRY + int(at_mm * STEPS_PER_MM)

    def cover(self, open_: float) -> None:
        """Open or close the cover."""
        self.cover_open = bool(open_)

    def stop(self, pressed: float) -> None:
        """Press or release the stop button."""
        self.stop_pressed = bool(pressed)

    def clear(self) -> None:
        """Take all paper out of path and hopper."""
        self.hopper.clear()
        self.path.clear()
        self.jam_at = NOWHERE

    def where(self) -> str:
        """Return how many lie where."""
        in_hopper = sum([sheets for _, sheets in self.hopper])
        in_path = sum([sheet[2] for sheet in self.path])
        return " ".join([str(count) for count in [in_hopper, in_path] + self.bins + [self.operator]])


COMMANDS = ("lay", "jam", "cover", "stop", "clear", "where")
"""First words of a line; each is the name of what `Path` does."""

SENSOR_PINS = (2, 3, 4, 5, 6, 7, 8, 9, 10)
PICK_STEP, TRANSPORT_STEP, REVERSE, ENABLE, DIVERTER_A, DIVERTER_B = 14, 15, 16, 17, 18, 19


def run() -> None:
    """Play the paper path for ever."""
    import select
    import sys
    from array import array

    from machine import Pin

    path = Path()
    sensors = [Pin(gpio, Pin.OUT, value=0) for gpio in SENSOR_PINS]
    reverse, enable, flap_a, flap_b = (
        Pin(gpio, Pin.IN) for gpio in (REVERSE, ENABLE, DIVERTER_A, DIVERTER_B)
    )
    steps = array("I", [0, 0])  # only the interrupts write it

    def count_pick(pin: Pin) -> None:
        steps[0] = (steps[0] + 1) & 0xFFFF

    def count_transport(pin: Pin) -> None:
        steps[1] = (steps[1] + 1) & 0xFFFF

    Pin(PICK_STEP, Pin.IN).irq(count_pick, Pin.IRQ_RISING, hard=True)
    Pin(TRANSPORT_STEP, Pin.IN).irq(count_transport, Pin.IRQ_RISING, hard=True)
    seen = [0, 0]
    lines = select.poll()
    lines.register(sys.stdin, select.POLLIN)
    while True:
        pick, transport = steps[0], steps[1]
        picked, moved = (pick - seen[0]) & 0xFFFF, (transport - seen[1]) & 0xFFFF
        seen[0], seen[1] = pick, transport
        if enable.value():
            flap = min(2, flap_a.value() + 2 * flap_b.value())
            path.move(picked, -moved if reverse.value() else moved, flap)
        levels = path.levels()
        for place, sensor in enumerate(sensors):
            sensor.value(levels >> place & 1)
        if lines.poll(0):
            print(path.command(sys.stdin.readline()))


if __name__ == "__main__":
    run()
