"""The live board: a device that was refused as a stranger is shown once when it is enrolled."""

from recount_host.links.live import LiveBoard
from recount_host.links.session import Condition

LINK = "tcp 127.0.0.1"


def refused(name: str = "alpha") -> Condition:
    return Condition("", name, connected=True, problem="it is not enrolled here")


def welcome(name: str = "alpha") -> Condition:
    return Condition("0a" * 8, name, connected=True, welcomed=True, state="idle")


def shown(board: LiveBoard) -> list[tuple[str, str]]:
    return [(entry.device, entry.problem) for entry in board.devices()]


def test_a_device_that_was_enrolled_is_no_stranger_any_more() -> None:
    board = LiveBoard()
    board.show(LINK, refused(), 1, heard=True)
    board.show(LINK, refused("beta"), 2, heard=True)
    before = board.version
    board.show(LINK, welcome(), 3, heard=True)
    assert shown(board) == [("0a" * 8, ""), ("", "it is not enrolled here")]
    assert board.version > before


def test_whoever_comes_under_a_devices_name_while_it_is_here_stays_shown() -> None:
    board = LiveBoard()
    board.show(LINK, welcome(), 1, heard=True)
    board.show(LINK, refused(), 2, heard=True)
    board.show(LINK, welcome(), 3, heard=True)
    assert ("", "it is not enrolled here") in shown(board)
