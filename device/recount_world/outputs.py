"""The board's output wires: what they make of the motors and of the flap."""

from recount_world.path import Motors, PaperPath
from recount_world.sensors import Switches


class Outputs:
    """Motors and flap, as the board's pins and the stop button let them be."""

    def __init__(self, path: PaperPath, switches: Switches) -> None:
        self._path = path
        self._switches = switches
        self._levels: dict[str, int] = {}

    def set_level(self, name: str, level: int, now_us: int) -> None:
        """Bring an output pin to a level."""
        self._levels[name] = level
        if name == "TRANSPORT_REVERSE":
            self._path.motors.reverse = bool(level)
        elif name == "MOTOR_ENABLE":
            self.power_motors()
        elif name in ("DIVERTER_A", "DIVERTER_B"):
            self.turn_flap(now_us)

    def set_pulses(self, name: str, steps_per_s: int) -> None:
        """Let a pulse generator run at this rate; 0 is off."""
        if name == "PICK_STEP":
            self._path.motors.pick_steps_per_s = steps_per_s
        elif name == "TRANSPORT_STEP":
            self._path.motors.transport_steps_per_s = steps_per_s

    def drop(self, now_us: int) -> None:
        """Let all pins fall back: the board has no power."""
        self._levels.clear()
        self._path.motors = Motors()
        self.turn_flap(now_us)

    def power_motors(self) -> None:
        """Give the motors current, or take it.

        The stop button cuts their power in hardware, whatever the board wants.
        """
        enabled = bool(self._levels.get("MOTOR_ENABLE"))
        self._path.motors.powered = enabled and not self._switches.stop_pressed

    def turn_flap(self, now_us: int) -> None:
        """Send the flap where the pins want it."""
        # The first flap, A, lies before the second: with A up, B does not matter.
        first, second = (self._levels.get(name, 0) for name in ("DIVERTER_A", "DIVERTER_B"))
        self._path.command_flap(1 if first else 2 if second else 0, now_us)
