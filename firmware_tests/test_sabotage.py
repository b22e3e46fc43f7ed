"""Five ways to spoil a precinct: each is found by the identity that is there for it."""

import sys
from itertools import pairwise
from typing import Any

import pytest

from firmware_tests.day import ANN, BOB, COORDINATOR, Day, wait_until
from firmware_tests.stacks import PRECINCT, Stack

pytestmark = pytest.mark.timeout(300)


def scan(day: Day, stack: Stack, *faults: dict[str, object], closed: int = 1) -> None:
    """Count H, run all sheets through one device with these accidents, wait for the closed batches."""
    day.count(PRECINCT, "H", len(stack.sheets))
    day.add_table("table-1", stack.sheets, faults, duplex=stack.duplex)
    day.assign(PRECINCT, "table-1")
    if closed:
        day.wait_for_batches(PRECINCT, closed=closed, patience_s=200)


def reconcile_twice(day: Day, stack: int) -> dict[str, Any]:
    """Count the piles and reconcile; then count all once more, as the law's reading allows, and reconcile."""
    day.does("finish-scanning", PRECINCT, "--by", COORDINATOR)
    day.count_piles(PRECINCT)
    first = day.does("reconcile", PRECINCT, "--by", COORDINATOR)
    assert first["step"] == "reverify"
    day.count(PRECINCT, "H", stack)
    day.count_piles(PRECINCT)
    return day.does("reconcile", PRECINCT, "--by", COORDINATOR)


def test_a_foreign_sheet_laid_in_the_counted_bin_fails_I3(day: Day, stack: Stack) -> None:
    scan(day, stack)
    day.tables["table-1"].control.insert({"id": "foreign"}, "counted")
    told = reconcile_twice(day, len(stack.sheets))
    assert told["identities"] == {"I1": True, "I2": True, "I3": False, "I4": True}
    assert told["step"] == "look_for_sheet"
    ended = day.does("figures", PRECINCT, "--search-ended", "--by", COORDINATOR)
    assert ended["state"] == "hand_count"


def test_a_set_aside_sheet_in_the_counted_bin_fails_I3_while_I2_holds(day: Day, stack: Stack) -> None:
    scan(day, stack)
    hands = day.tables["table-1"].control
    moved = hands.positions()["set_aside"][0]
    hands.move(moved, "counted", "set_aside")
    told = reconcile_twice(day, len(stack.sheets))
    assert told["identities"] == {"I1": True, "I2": True, "I3": False, "I4": True}
    # Its notice finds it: both persons lay it back, and the precinct is reconciled.
    notice = next(n for n in day.does("notices", PRECINCT)["notices"] if n["pile"] == "set_aside")
    assert notice["place"] == 1
    day.does(
        "move-sheet", PRECINCT, "counted", "set_aside", "--device", "table-1",
        "--batch", str(notice["batch"]), "--sheet", str(notice["sheet"]), "--by", ANN, "--by", BOB,
    )  # fmt: skip
    again = day.does("reconcile", PRECINCT, "--by", COORDINATOR)
    assert all(again["identities"].values())
    assert day.does("figures", PRECINCT, "--by", COORDINATOR)["state"] == "reconciled"


def test_a_sheet_slipped_past_the_camera_fails_I9_and_the_batch_is_run_again(day: Day, stack: Stack) -> None:
    first, last = str(stack.sheets[2]["id"]), str(stack.sheets[-1]["id"])
    slip: dict[str, object] = {
        "kind": "slip", "sheet": last, "bin": "counted", "when_sheet": first, "at_mm": 200,
    }  # fmt: skip
    scan(day, stack, slip, closed=0)
    table = day.tables["table-1"]
    wait_until("the batch cannot be closed", lambda: table.asks("batch_void_needed"), 200)
    assert day.batches(PRECINCT)[0]["standing"] == "open"
    refusal = day.refused("finish-scanning", PRECINCT, "--by", COORDINATOR)
    assert "batch" in refusal
    day.does(
        "batch", "void", PRECINCT, "1", "--device", "table-1", "--reason", "feeder count does not add up",
        "--by", ANN, "--by", BOB,
    )  # fmt: skip
    lay_all_back(day)
    day.wait_for_batches(PRECINCT, closed=1, patience_s=200)
    assert [batch["standing"] for batch in day.batches(PRECINCT)] == ["void", "closed"]
    day.does("finish-scanning", PRECINCT, "--by", COORDINATOR)
    day.count_piles(PRECINCT)
    assert all(day.does("reconcile", PRECINCT, "--by", COORDINATOR)["identities"].values())
    figures = day.does("figures", PRECINCT, "--by", COORDINATOR)["figures"]
    assert {key: votes for key, votes in figures["votes"].items() if votes} == stack.votes()


def lay_all_back(day: Day) -> None:
    """Gather every sheet from the trays and lay the stack on the hopper in the order of the ids."""
    hands = day.tables["table-1"].control
    gathered: list[str] = []
    for place in ("path", "counted", "set_aside", "not_accepted"):
        gathered += hands.take_out(place)
    gathered += hands.positions()["operator"]
    hands.load(sorted(set(gathered)))


def test_two_overlapped_sheets_that_pass_as_one_fail_I2_and_the_precinct_is_counted_by_hand(
    day: Day, stack: Stack
) -> None:
    counted = stack.ids("counted")
    order = [str(sheet["id"]) for sheet in stack.sheets]
    pair = next([a, b] for a, b in pairwise(order) if a in counted)
    scan(
        day,
        stack,
        {"kind": "double_feed", "sheets": pair},
        {"kind": "blind_double_feed"},
    )
    in_stack = len(stack.sheets)
    assert sum(day.piles().values()) == in_stack  # the batch was closed: I9 holds
    told = reconcile_twice(day, in_stack)
    assert told["identities"]["I2"] is False
    shown = day.does("figures", PRECINCT, "--by", COORDINATOR)
    assert shown["state"] == "hand_count"
    assert shown["figures"]["superseded"] is True
    for letter in ("p", "o"):
        day.count(PRECINCT, letter, 0)
    refusal = day.refused("count", "enter", PRECINCT, "H", str(in_stack - 1), "--by", ANN)
    assert refusal
    day.hand_count(PRECINCT, {"D": 20, "R": 10, "no_vote": in_stack - 30})
    day.does("statement", PRECINCT, "-o", str(day.folder / "s.pdf"), "--by", ANN, "--by", BOB)


def test_a_record_withheld_by_the_device_is_named_as_a_gap_and_no_figures_are_shown(
    day: Day, stack: Stack
) -> None:
    day.count(PRECINCT, "H", len(stack.sheets))
    flag = day.folder / "withhold"
    flag.touch()
    liar = (sys.executable, "-m", "firmware_tests.withholding_device", "20", str(flag))
    day.add_table("table-1", stack.sheets, duplex=stack.duplex, station=liar)
    day.assign(PRECINCT, "table-1")
    table = day.tables["table-1"]
    wait_until("all sheets have landed", lambda: not table.control.positions()["hopper"], 200)
    named = wait_until("the gap is named", lambda: gaps_named(day), 60)
    assert "records of table-1 did not arrive" in named
    refusal = day.refused("finish-scanning", PRECINCT, "--by", COORDINATOR)
    assert "records of table-1 did not arrive" in refusal
    assert day.view(PRECINCT)["figures"] is None
    day.refused("figures", PRECINCT, "--by", COORDINATOR)
    flag.unlink()
    # The device still holds the record: it comes again, and the precinct goes on.
    day.wait_for_batches(PRECINCT, closed=1, patience_s=60)
    day.does("finish-scanning", PRECINCT, "--by", COORDINATOR)


def gaps_named(day: Day) -> str:
    """Return the sentence that names missing records, or nothing."""
    return next((line for line in day.view(PRECINCT)["obstacles"] if "did not arrive" in line), "")
