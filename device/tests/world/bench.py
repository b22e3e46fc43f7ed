"""Pieces of worlds for tests: programs that play a board, blank sheets."""

from collections.abc import Callable, Generator, Iterable
from typing import Any

from recount_world.board import Answer, Request
from recount_world.paper import Sheet
from recount_world.pins import firmware_pins
from recount_world.scripted_board import Program
from recount_world.world import World

GPIO = firmware_pins().gpio
TRANSPORT = 6000  # steps a second: 600 mm/s
PICK = 3000

Worlds = Callable[..., World]


def motors(*, pick: int = 0, transport: int = 0, reverse: bool = False, wait_us: int = 100_000) -> Request:
    """Return a request that runs the motors so."""
    return Request(
        outputs=((GPIO["MOTOR_ENABLE"], 1), (GPIO["TRANSPORT_REVERSE"], int(reverse))),
        pulses=((GPIO["PICK_STEP"], pick), (GPIO["TRANSPORT_STEP"], transport)),
        wait_us=wait_us,
    )


def flap(exit_number: int, wait_us: int = 100_000) -> Request:
    """Return a request that sends the flap to an exit."""
    return Request(
        outputs=((GPIO["DIVERTER_A"], int(exit_number == 1)), (GPIO["DIVERTER_B"], int(exit_number == 2))),
        wait_us=wait_us,
    )


def until(name: str, level: int) -> Generator[Request, Answer, None]:
    """Wait for an edge at an input."""
    while True:
        answer = yield Request(wait_us=1_000_000)
        if any((gpio, value) == (GPIO[name], level) for gpio, value, _ in answer.edges):
            return


EXIT_SENSORS = ("EXIT_COUNTED", "EXIT_SET_ASIDE", "EXIT_NOT_ACCEPTED")


def feeds(exits: Iterable[int | None]) -> Program:
    """Return a program that feeds a sheet for each exit (None: stops at the camera for good)."""

    def program() -> Generator[Request, Answer, None]:
        yield Request()
        for exit_number in exits:
            yield motors(pick=PICK, transport=TRANSPORT, wait_us=0)
            yield from until("ENTRY", 1)
            yield motors(transport=TRANSPORT, wait_us=0)
            yield from until("CAMERA", 1)
            yield motors(wait_us=20_000)
            if exit_number is None:
                break
            yield flap(exit_number)
            yield motors(transport=TRANSPORT, wait_us=0)
            yield from until(EXIT_SENSORS[exit_number], 0)
            yield motors(wait_us=1000)
        while True:
            yield Request(wait_us=1_000_000)

    return program


def plays(requests: Iterable[Request]) -> Program:
    """Return a program that makes these requests, each for its whole time, and then rests."""

    def program() -> Generator[Request, Answer, None]:
        answer = yield Request()
        for request in requests:
            end_us = answer.now_us + request.wait_us
            answer = yield request
            while answer.now_us < end_us:  # an edge ended the wait
                answer = yield Request(wait_us=end_us - answer.now_us)
        yield motors(wait_us=0)
        yield from rests()

    return program


def rests() -> Generator[Request, Answer, None]:
    """Play a board that does nothing."""
    while True:
        yield Request(wait_us=1_000_000)


def some_sheets(count: int, **fields: Any) -> tuple[Sheet, ...]:
    """Return blank sheets with the ids 1, 2, ..."""
    return tuple(Sheet(str(number), **fields) for number in range(1, count + 1))
