"""The whole path: paper, feeder board, station, host, people, statement; real ballots where they are here."""

import pytest

from firmware_tests.day import ANN, BOB, COORDINATOR, Day
from firmware_tests.stacks import PRECINCT, Stack
from recount_classifier.program import read_program
from recount_host.ledger.ledger import open_ledger

pytestmark = pytest.mark.timeout(300)


def scan(day: Day, stack: Stack) -> None:
    """Count H, run all sheets through one device, and finish scanning."""
    day.count(PRECINCT, "H", len(stack.sheets))
    day.add_table("table-1", stack.sheets, duplex=stack.duplex)
    day.assign(PRECINCT, "table-1")
    day.wait_for_batches(PRECINCT, closed=1, patience_s=200)
    day.does("finish-scanning", PRECINCT, "--by", COORDINATOR)


def test_sheets_come_to_the_same_figures_through_the_whole_device_as_read_alone(
    day: Day, stack: Stack
) -> None:
    scan(day, stack)
    positions = day.tables["table-1"].control.positions()
    assert sorted(positions["counted"]) == stack.ids("counted")
    assert sorted(positions["set_aside"]) == stack.ids("set_aside")
    # A sheet that comes back twice for one reason is laid into the tray of those not accepted.
    not_accepted = sorted(stack.ids("not_accepted") + stack.ids("returned"))
    assert sorted(positions["not_accepted"]) == not_accepted

    day.count_piles(PRECINCT)
    told = day.does("reconcile", PRECINCT, "--by", COORDINATOR)
    assert told["identities"] == {"I1": True, "I2": True, "I3": True, "I4": True}
    figures = day.does("figures", PRECINCT, "--by", COORDINATOR)["figures"]
    assert {key: votes for key, votes in figures["votes"].items() if votes} == stack.votes()
    assert figures["counted"] == len(stack.ids("counted"))
    assert figures["set_aside"] == len(stack.ids("set_aside"))
    assert figures["not_accepted"] == len(not_accepted)
    assert figures["counted"] + figures["set_aside"] == figures["rerun"]

    assert selections_in_logs(day, stack) == []

    choices_in_the_pile = [stack.readings[sheet]["choices"] for sheet in positions["counted"]]
    assert counted_choices(day) == choices_in_the_pile


def selections_in_logs(day: Day, stack: Stack) -> list[str]:
    """Return every line of the day's logs (host and station) that could tell how a voter voted."""
    options = read_program(stack.program.read_bytes()).options
    told = {"choices", "votes", *(option.name for option in options)}
    told |= {f"{quote}{option.key}{quote}" for option in options for quote in "\"'"}
    lines = [
        line
        for log in (day.host.log, *(table.station.log for table in day.tables.values()))
        for line in log.read_text(encoding="utf-8").splitlines()
    ]
    assert lines, "there are logs to look into"
    return [line for line in lines if any(word in line for word in told)]


def counted_choices(day: Day) -> list[list[str]]:
    """Return the choices of the counted sheets as the host holds them, in the order of their landing."""
    with open_ledger(day.folder / "host") as ledger:
        records = ledger.records()
    judged = {r.body["sheet"]: r.body["choices"] for r in records if r.kind == "sheet_judged"}
    landed = [r.body for r in records if r.kind == "sheet_landed" and r.body["bin"] == "counted"]
    return [judged[body["sheet"]] for body in landed]


def test_the_statement_is_printed_when_the_hand_count_adds_up(day: Day, stack: Stack) -> None:
    scan(day, stack)
    day.count_piles(PRECINCT)
    day.does("reconcile", PRECINCT, "--by", COORDINATOR)
    shown = day.does("figures", PRECINCT, "--by", COORDINATOR)
    by_hand = shown["figures"]["set_aside"] + shown["figures"]["not_accepted"]
    output = str(day.folder / "statement.pdf")
    refusal = day.refused("statement", PRECINCT, "-o", output, "--by", ANN)
    assert "hand count" in refusal
    for letter in ("p", "o"):
        day.count(PRECINCT, letter, 0)
    day.hand_count(PRECINCT, {"D": 1, "no_vote": by_hand - 1})
    day.does("statement", PRECINCT, "-o", output, "--by", ANN, "--by", BOB)
    assert (day.folder / "statement.pdf").read_bytes().startswith(b"%PDF")
