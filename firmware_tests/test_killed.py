"""SIGKILL of device, host and feeder board in mid-batch: nothing is lost, nothing counted twice."""

import random
from collections.abc import Callable

import pytest

from firmware_tests.day import ANN, BOB, COORDINATOR, Day, Table, kill_processes_of, wait_until
from firmware_tests.stacks import PRECINCT, Stack
from recount_host.ledger.ledger import open_ledger

pytestmark = pytest.mark.timeout(300)

HANDS_US = 500_000
"""How soon the officials' hands are in the path, on the world's clock."""


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
    assert kill_processes_of(table.world, "micropython") == 1


@pytest.mark.parametrize("kill", [kill_the_device, kill_the_host, kill_the_board])
def test_a_kill_in_mid_batch_loses_no_sheet_and_counts_none_twice(
    day: Day, stack: Stack, kill: Callable[[Day, Table], None]
) -> None:
    chance = random.Random(kill.__name__)
    day.count(PRECINCT, "H", len(stack.sheets))
    table = day.add_table("table-1", stack.sheets, duplex=stack.duplex)
    day.assign(PRECINCT, "table-1")
    after = chance.randrange(5, 25)
    wait_until("sheets have landed", lambda: sum(day.piles().values()) >= after, 200)
    kill(day, table)
    asked: list[int] = []
    day.wait_for_batches(
        PRECINCT, closed=1, patience_s=200, watch=lambda: asked.extend(settle_doubts(day, table))
    )
    assert len(asked) <= 1
    day.does("finish-scanning", PRECINCT, "--by", COORDINATOR)
    day.count_piles(PRECINCT)
    assert all(day.does("reconcile", PRECINCT, "--by", COORDINATOR)["identities"].values())
    figures = day.does("figures", PRECINCT, "--by", COORDINATOR)["figures"]
    piles = day.piles()
    assert sum(piles.values()) == len(stack.sheets)
    assert (figures["counted"], figures["set_aside"]) == (piles["counted"], piles["set_aside"])
    votes: dict[str, int] = {}
    for sheet in table.control.positions()["counted"]:
        for choice in stack.readings[sheet]["choices"]:
            votes[choice] = votes.get(choice, 0) + 1
    assert {key: n for key, n in figures["votes"].items() if n} == votes


def settle_doubts(day: Day, table: Table) -> list[int]:
    """Answer for the officials where a sheet in doubt lies, from the world's truth; return its number."""
    doubts = day.does("doubt", "list")["doubts"]
    if not doubts or not table.asks("ask_officials"):
        return []
    doubt = doubts[0]
    # The officials come to the table; no hand is in the path the moment the question is asked.
    asked_us = table.control.now_us()
    wait_until("the officials come", lambda: table.control.now_us() > asked_us + HANDS_US)
    positions = table.control.positions()
    assert len(positions["path"]) <= 1
    if positions["path"]:
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
        landed = [r.body["bin"] for r in ledger.records() if r.kind == "sheet_landed"]
    positions = table.control.positions()
    piles = ("counted", "set_aside", "not_accepted")
    return next(pile for pile in piles if len(positions[pile]) > landed.count(pile))
