"""A precinct at the keyboard from its sealed containers to its conclusion, and what is refused on the way."""

from pathlib import Path

import pytest

from host.tests.commands.test_a_day_at_the_keyboard import ANN, BOB, BOTH, CLERK, Keyboard


@pytest.fixture
def keyboard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Keyboard:
    return Keyboard(tmp_path, capsys)


def receive(keyboard: Keyboard, name: str, holds: str) -> str:
    words = ("custody", "receive", "101", name, "--holds", holds, "--seal", "4711", "--stated", "12")
    return keyboard.do(*words, "--from", "the clerk", *BOTH)


def key_results(keyboard: Keyboard) -> None:
    for by, says in ((CLERK, "keyed in once"), (ANN, "locked")):
        words = ("results", "key", "101", "ballots=12", "votes:D=6", "votes:R=4", "pollbook=11")
        assert says in keyboard.do(*words, *by)


def test_a_precinct_from_its_containers_to_its_conclusion(keyboard: Keyboard) -> None:
    keyboard.start()
    assert "open it, both sides together" in receive(keyboard, "box-1", "scanned")
    assert "stays sealed" in receive(keyboard, "pack-1", "spoiled")
    assert "is open" in keyboard.do("custody", "open", "101", "box-1", *BOTH)
    keyboard.do("custody", "sort-out", "101", "box-1", "46", *BOTH)
    keyboard.do("custody", "exclude", "101", "spoiled", "2", "--where", "in box-1", *BOTH)
    missing = ("custody", "not-found", "101", "box-2", "--holds", "scanned", "--reason", "not in the vault")
    assert "nothing is topped up" in keyboard.do(*missing, *BOTH)
    key_results(keyboard)
    keyboard.assign()
    keyboard.scan()
    keyboard.do("finish-scanning", "101", *CLERK)
    keyboard.lock(H=12, c=9, s=2, x=1)
    keyboard.do("reconcile", "101", *CLERK)
    keyboard.do("figures", "101", *CLERK)
    tag = ("challenge", "segregate", "101", "T-1", "--envelope", "E-1", "--pile", "set_aside")
    told = keyboard.do(*tag, "--question", "a slash", *ANN)
    assert "tag T-1" in told
    assert "look again" not in told
    state = ("challenge", "state", "101", "T-1", "--text", "the slash strikes it out", "--ground")
    assert "who may vote is no issue in a recount (C)" in keyboard.refused(*state, "eligibility", *BOB)
    assert "is taken; the court gets the ballot" in keyboard.do(*state, "mark", *BOB)
    keyboard.lock(p=0, o=0)
    for _ in range(2):
        keyboard.do("hand-count", "enter", "101", "set_aside", "challenged=1", "R=1", *BOTH)
        keyboard.do("hand-count", "enter", "101", "not_accepted", "no_vote=1", *BOTH)
    call = ("challenge", "call", "101")
    assert "still to be asked, or with a question: Bob Ray" in keyboard.do(*call, "no-further-question", *ANN)
    assert "Bob Ray has not said" in keyboard.refused("conclude", "101", *BOTH)
    assert "no further question: print the statement" in keyboard.do(*call, "no-further-question", *BOB)
    pdf = keyboard.folder / "statement.pdf"
    answer = keyboard.ask("statement", "101", "-o", str(pdf), *CLERK)
    assert [(row["key"], row["total"]) for row in answer["parties"]] == [("D", 5), ("R", 4)]  # type: ignore[index, attr-defined]
    assert "is concluded" in keyboard.do("conclude", "101", *BOTH)
    seal = ("custody", "reseal", "101", "box-1", "--holds", "counted", "--seal", "4712", "--to", "the clerk")
    assert "seal 4712" in keyboard.do(*seal, *BOTH)
    listed = keyboard.do("challenge", "list", "101")
    assert "tag T-1, envelope E-1, from set_aside: a slash" in listed
    number = keyboard.ask("challenge", "list", "101")["challenged"][0]["statements"][0][0]  # type: ignore[index]
    gone = ("challenge", "withdraw", "101", str(number), "--reason", "seen in better light")
    assert "stays segregated" in keyboard.do(*gone, *BOB)
    late = ("challenge", "state", "101", "T-1", "--ground", "other", "--text", "late")
    assert "stamped as made after the conclusion" in keyboard.do(*late, *ANN)
    assert "not considered (F)" in keyboard.do("challenge", "proffer", "101", "--text", "a letter", *CLERK)
    assert "only one recount of a precinct (D)" in keyboard.refused("count", "enter", "101", "H", "3", *ANN)
    assert keyboard.do("challenge", "list", "101") != listed


def test_an_envelope_that_is_entered_for_two_ballots_is_told_and_stops_nobody(keyboard: Keyboard) -> None:
    keyboard.up_to_scanned()
    for tag, said in (("T-1", ""), ("T-2", "envelope E-1 is entered for tag T-1 too")):
        words = ("challenge", "segregate", "101", tag, "--envelope", "E-1", "--pile", "set_aside")
        assert said in keyboard.do(*words, "--question", "a slash", *ANN)


def test_without_a_printed_statement_nothing_is_concluded(keyboard: Keyboard) -> None:
    keyboard.up_to_counted()
    assert "is segregated" in keyboard.do("challenge", "list", "101")
    for by in (ANN, BOB):
        keyboard.do("challenge", "call", "101", "no-further-question", *by)
    assert "is printed first" in keyboard.refused("conclude", "101", *BOTH)


def test_an_official_leaves_and_another_takes_the_seat(keyboard: Keyboard) -> None:
    keyboard.up_to_scanned()
    keyboard.lock(H=12)
    seat = ("team", "substitute", "101", "Ann Lee", "--reason", "ill")
    assert "Bob Ray; Carl Orr" in keyboard.do(*seat, "--comes", "Carl Orr, official, D", *CLERK)
    assert "has no seat in this team" in keyboard.refused(*seat, *CLERK)


def test_where_all_ballots_are_lost_the_statement_of_results_stands_in(keyboard: Keyboard) -> None:
    keyboard.start()
    lost = ("results", "stand-in", "101", "scanned", "--reason", "flooded")
    assert "key in the statement of results first" in keyboard.refused(*lost, *BOTH)
    key_results(keyboard)
    assert "stands in" in keyboard.do(*lost, *BOTH)
    keyboard.lock(p=0)
    assert keyboard.ask("show", "101")["precincts"][0]["state"] == "challenge_call"  # type: ignore[index]


def test_a_dead_device_is_withdrawn_or_all_is_counted_by_hand(keyboard: Keyboard) -> None:
    keyboard.start()
    keyboard.assign()
    keyboard.scan()
    gone = ("device", "withdraw", "101", "--device", "alpha", "--reason", "dead")
    assert "gather its sheets" in keyboard.do(*gone, *BOTH)
    assert "batch 1 of alpha: void" in keyboard.do("show", "101")
    assert "is withdrawn already" in keyboard.refused(*gone, *BOTH)
    order = ("hand-count", "order", "101", "--reason", "no other device")
    assert "are counted by hand" in keyboard.do(*order, *BOTH)
    assert keyboard.ask("show", "101")["precincts"][0]["state"] == "hand_count"  # type: ignore[index]
    assert "say why" in keyboard.refused("hand-count", "order", "101", "--reason", "  ", *BOTH)
