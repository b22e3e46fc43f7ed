"""The panel on GPIO: four buttons and two lamps through gpiozero, and the text on the device's own screen.

Buttons are debounced here, because gpiozero's own debouncing drops edges on a Pi: a press counts when the
button was released for BOUNCE_US before. The stop button that cuts the motors' power is wired in hardware and
watched by the feeder board; the panel's `stop` only pauses feeding.
"""

import threading
from collections.abc import Callable
from functools import partial
from typing import TextIO

from gpiozero import LED, Button

from recount_device.config import PinSettings
from recount_device.panel import BUTTONS, LAMPS, Message

BOUNCE_US = 50_000


class GpioPanel:
    """Lamps and buttons; the text goes to `screen`, which the device's display shows."""

    def __init__(
        self, pins: PinSettings, screen: TextIO, now_us: Callable[[], int], wake: Callable[[], None]
    ) -> None:
        """Take the pins; `wake` ends the station's wait at a press."""
        self._screen = screen
        self._now_us = now_us
        self._wake = wake
        self._lock = threading.Lock()
        self._pressed: list[str] = []
        self._changed_us: dict[str, int] = {}
        self._lamps = {name: LED(getattr(pins, name)) for name in LAMPS}
        self._buttons: dict[str, Button] = {}
        for name in BUTTONS:
            button = Button(getattr(pins, name), pull_up=True)
            button.when_pressed = partial(self._press, name)
            button.when_released = partial(self._release, name)
            self._buttons[name] = button

    def _press(self, name: str) -> None:
        now_us = self._now_us()
        quiet_us = now_us - self._changed_us.get(name, now_us - BOUNCE_US)
        self._changed_us[name] = now_us
        if quiet_us < BOUNCE_US:
            return
        with self._lock:
            self._pressed.append(name)
        self._wake()

    def _release(self, name: str) -> None:
        self._changed_us[name] = self._now_us()

    def show(self, message: Message) -> None:
        """Set the lamps and write the text, on a cleared screen."""
        for name, lamp in self._lamps.items():
            lamp.value = int(message.lamps.get(name, False))
        self._screen.write(f"\x1b[2J\x1b[H{message.text}\n")
        self._screen.flush()

    def pressed(self) -> list[str]:
        """Return the buttons pressed since the last call."""
        with self._lock:
            pressed, self._pressed = self._pressed, []
        return pressed

    def close(self) -> None:
        """Put the lamps out and give the pins back."""
        for part in (*self._lamps.values(), *self._buttons.values()):
            part.close()
