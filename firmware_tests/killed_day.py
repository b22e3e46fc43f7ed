"""A day in which something is ended by SIGKILL in mid-batch, with the real commands as processes.

Whatever is killed, and whenever: the precinct is finished, and its figures are those of the paper.
"""

from collections import Counter
from collections.abc import Callable, Mapping

from firmware_tests.day import ANN, BOB, COORDINATOR, Day, DayError, Table, kill_processes_of, wait_until
from firmware_tests.stacks import PRECINCT, Stack
from recount_host.ledger.ledger import open_ledger
from recount_protocol.fates import BINS, COUNTED, SET_ASIDE

HANDS_US = 500_000
"""How soon the officials' hands are in the path, on the world's clock."""
PATIENCE_S = 200.0

Kill = Callable[[Day, Table], None]


def kill_the_device(_day: Day, table: Table) -> None:
    """End the station at once and start it again."""
    table.station.kill()
    table.station.start()


def kill_the_host(day: Day, _table: Table) -> None:
    """End the host at once and start it again."""
    day.host.kill()
    day.open_host()


def kill_the_board(_day: Day, table: Table) -> None:
    """End the feeder board's interpreter at once; the world powers it up again."""
    if kill_processes_of(table.world, "micropython") != 1:
        raise DayError("the world has no board to kill")


def kill_device_and_board(day: Day, table: Table) -> None:
    """End both at once and start them again."""
    kill_the_board(day, table)
    kill_the_device(day, table)


KILLS: Mapping[str, Kill] = {
    "device": kill_the_device,
    "host": kill_the_host,
    "board": kill_the_board,
    "device_and_board": kill_device_and_board,
}


def scan_and_kill(day: Day, stack: Stack, kill: Kill, after: int) -> int:
    """Scan the stack and kill when `after` sheets have landed; return how many sheets were in doubt."""
    day.count(PRECINCT, "H", len(stack.sheets))
    table = day.add_table("table-1", stack.sheets, duplex=stack.duplex)
    day.assign(PRECINCT, "table-1")
    wait_until("sheets have landed", lambda: sum(day.piles().values()) >= after, PATIENCE_S)
    kill(day, table)
    asked: list[int] = []
    day.wait_for_batches(
        PRECINCT, closed=1, patience_s=PATIENCE_S, watch=lambda: asked.extend(settle_doubts(day, table))
    )
    return len(asked)


def check_figures(day: Day, stack: Stack) -> None:
    """Let people finish the precinct; raises DayError where its figures are not those of the paper."""
    day.does("finish-scanning", PRECINCT, "--by", COORDINATOR)
    day.count_piles(PRECINCT)
    identities = day.does("reconcile", PRECINCT, "--by", COORDINATOR)["identities"]
    figures = day.does("figures", PRECINCT, "--by", COORDINATOR)["figures"]
    piles = day.piles()
    paper = [sheet for table in day.tables.values() for sheet in table.control.positions()["counted"]]
    votes = dict(Counter(choice for sheet in paper for choice in stack.readings[sheet]["choices"]))
    counted = {key: n for key, n in figures["votes"].items() if n}
    if not all(identities.values()) or sum(piles.values()) != len(stack.sheets):
        raise DayError(f"of {len(stack.sheets)} sheets lie {piles}; identities {identities}")
    if (figures["counted"], figures["set_aside"], counted) != (piles[COUNTED], piles[SET_ASIDE], votes):
        raise DayError(f"the figures are {figures}, the paper {piles}, its votes {votes}")


def settle_doubts(day: Day, table: Table) -> list[int]:
    """Answer for the officials where a sheet in doubt lies, from the world's truth; return its number."""
    doubts = day.does("doubt", "list")["doubts"]
    if not doubts or not table.asks("ask_officials"):
        return []
    doubt = doubts[0]
    # The officials come to the table; no hand is in the path the moment the question is asked.
    asked_us = table.control.now_us()
    wait_until("the officials come", lambda: table.control.now_us() > asked_us + HANDS_US)
    if table.control.positions()["path"]:
        table.control.set(cover_open=True)
        table.control.load(table.control.take_out("path"))
        table.control.set(cover_open=False)
        fate = "returned"
    else:
        # It landed unseen: it is the one sheet more than the records say, on top of its pile.
        fate = pile_with_one_too_many(day, table)
    day.does(
        "doubt", "settle", PRECINCT, str(doubt["sheet"]), fate, "--device", table.name,
        "--batch", str(doubt["batch"]), "--by", ANN, "--by", BOB,
    )  # fmt: skip
    wait_until("the doubt is settled", lambda: not day.does("doubt", "list")["doubts"])
    return [doubt["sheet"]]


def pile_with_one_too_many(day: Day, table: Table) -> str:
    """Return the pile that holds one sheet more than there are landed records of it."""
    with open_ledger(day.folder / "host") as ledger:
        landed = [record.body["bin"] for record in ledger.records() if record.kind == "sheet_landed"]
    positions = table.control.positions()
    return next(pile for pile in BINS if len(positions[pile]) > landed.count(pile))
