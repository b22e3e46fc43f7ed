"""The panel through gpiozero's mock pins."""

import io
from collections.abc import Iterator

import pytest
from gpiozero import Device
from gpiozero.pins.mock import MockFactory, MockPin

from recount_device.config import PinSettings
from recount_device.hardware.panel import BOUNCE_US, GpioPanel
from recount_device.messages import message

PINS = PinSettings()


class Panel:
    """A panel on mock pins, with a clock in hand."""

    def __init__(self) -> None:
        self.now_us = 1_000_000
        self.woken = 0
        self.screen = io.StringIO()
        self.panel = GpioPanel(PINS, self.screen, lambda: self.now_us, self._wake)

    def _wake(self) -> None:
        self.woken += 1

    def press(self, name: str, down_us: int = 100_000) -> None:
        pin = self.pin(name)
        pin.drive_low()
        self.now_us += down_us
        pin.drive_high()
        self.now_us += down_us

    @staticmethod
    def pin(name: str) -> MockPin:
        factory = Device.pin_factory
        assert isinstance(factory, MockFactory)
        pin = factory.pin(getattr(PINS, name))
        assert isinstance(pin, MockPin)
        return pin


@pytest.fixture
def panel() -> Iterator[Panel]:
    before = Device.pin_factory
    Device.pin_factory = MockFactory()
    panel = Panel()
    yield panel
    panel.panel.close()
    Device.pin_factory.reset()
    Device.pin_factory = before


def test_buttons_are_given_in_the_order_in_which_they_were_pressed(panel: Panel) -> None:
    panel.press("confirm")
    panel.press("start")
    assert panel.panel.pressed() == ["confirm", "start"]
    assert panel.panel.pressed() == []


def test_a_press_wakes_the_station(panel: Panel) -> None:
    panel.press("end_batch")
    assert panel.woken == 1


def test_a_button_that_bounces_is_pressed_once(panel: Panel) -> None:
    for _ in range(4):
        panel.press("start", down_us=BOUNCE_US // 10)
    assert panel.panel.pressed() == ["start"]


def test_a_button_pressed_twice_is_pressed_twice(panel: Panel) -> None:
    panel.press("start")
    panel.press("start")
    assert panel.panel.pressed() == ["start", "start"]


def test_lamps_and_text_show_the_message(panel: Panel) -> None:
    panel.panel.show(message("take_out", sheet=12, why="The sheet jammed."))
    assert (panel.pin("ready").state, panel.pin("attention").state) == (0, 1)
    assert "Sheet 12: The sheet jammed. Open the cover" in panel.screen.getvalue()
    panel.panel.show(message("feeding"))
    assert (panel.pin("ready").state, panel.pin("attention").state) == (1, 0)
