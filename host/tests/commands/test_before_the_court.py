"""The clerk at the keyboard: docket, parties heard, rulings, certification, forms, and an amendment."""

from pathlib import Path

import pytest

from host.tests.commands.test_a_day_at_the_keyboard import ANN, BOB, BOTH, Keyboard

CLERK_OF_COURT = ("--by", "Dora Poe, clerk")


@pytest.fixture
def keyboard(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Keyboard:
    """A keyboard whose precinct is counted, with one questioned ballot that was counted for D."""
    keyboard = Keyboard(tmp_path, capsys)
    keyboard.up_to_counted()
    tag = ("challenge", "segregate", "101", "T-1", "--envelope", "E-1", "--pile", "set_aside")
    keyboard.do(*tag, "--counted-as", "D", "--question", "a slash", *ANN)
    return keyboard


def conclude(keyboard: Keyboard) -> None:
    for by in (ANN, BOB):
        keyboard.do("challenge", "call", "101", "no-further-question", *by)
    keyboard.do("statement", "101", "-o", str(keyboard.folder / "statement.pdf"), *ANN)
    keyboard.do("conclude", "101", *BOTH)


def hear(keyboard: Keyboard, side: str) -> str:
    heard = ("court", "hear", "101", "T-1", "--side", side, "--inspected", "inspected")
    return keyboard.do(*heard, "--argument", "the mark is plain", *CLERK_OF_COURT)


def test_from_the_docket_to_the_certification_and_its_amendment(keyboard: Keyboard) -> None:
    assert "F: precinct 101 is not concluded" in keyboard.refused("court", "open", *CLERK_OF_COURT)
    amend = ("court", "amend", "--order", "order of 4 January", "--reason", "a wrong digit")
    assert "F: precinct 101 is not concluded" in keyboard.refused(*amend, *CLERK_OF_COURT)
    conclude(keyboard)
    assert "the clerk of the court enters this" in keyboard.refused("court", "open", *ANN)
    opened = keyboard.do("court", "open", *CLERK_OF_COURT)
    assert "with 1 questioned ballots: hear the parties on tag T-1" in opened
    assert "G: only what is certified is amended" in keyboard.refused(*amend, *CLERK_OF_COURT)
    rule = ("court", "rule", "101", "T-1", "R", "--reason", "as argued", "--counted-as", "D")
    assert "D still has to" in keyboard.refused(*rule, *CLERK_OF_COURT)
    assert "still to be heard on tag T-1: R" in hear(keyboard, "D")
    assert "every party was heard" in hear(keyboard, "R")
    assert "not ruled on" in keyboard.do("court", "show")
    assert "the ballot with tag T-1 is R" in keyboard.do(*rule, *CLERK_OF_COURT)
    assert "printed first" in keyboard.refused("court", "certify", *CLERK_OF_COURT)
    told = keyboard.ask("court", "forms", str(keyboard.folder / "court"), *CLERK_OF_COURT)
    assert len(told["forms"]) == 5, "with the notice of the tie"  # type: ignore[arg-type]
    assert "version 1 is certified and final (G)" in keyboard.do("court", "certify", *CLERK_OF_COURT)
    result = ("court", "rule-result", "101", "R=+1", "--part", "accepted", "--reason", "a wrong digit")
    result = (*result, "--ruling", "order of 4 January")
    assert "that is final (G)" in keyboard.refused(*result, *CLERK_OF_COURT)
    assert "version 2 is being made" in keyboard.do(*amend, *CLERK_OF_COURT)
    assert "is entered" in keyboard.do(*result, *CLERK_OF_COURT)
    shown = keyboard.ask("court", "show")
    assert (shown["totals"], shown["tie"], shown["version"]) == ({"D": 5, "R": 6}, "", 2)
    (line,) = shown["lines"]  # type: ignore[misc]
    assert [entry["party"] for entry in line["said"]] == ["Josiah Bartlett", "Arnold Vinick"]
    assert [ruled["stands"] for ruled in line["rulings"]] == [True]
    assert [ruled["effect"] for ruled in shown["on_results"]] == [{"R": 1}]  # type: ignore[attr-defined]
    certification = ("court", "forms", str(keyboard.folder / "court"), "--only", "certification")
    keyboard.do(*certification, *CLERK_OF_COURT)
    assert "version 2 is certified" in keyboard.do("court", "certify", *CLERK_OF_COURT)
    assert "ruling" in keyboard.do("court", "show")


def test_all_forms_of_a_precinct_lie_in_one_folder(keyboard: Keyboard) -> None:
    conclude(keyboard)
    folder = keyboard.folder / "forms"
    told = keyboard.ask("forms", "101", str(folder), *ANN)
    names = {"call", "challenges", "counts", "labels", "runs", "set-aside", "submission", "tally"}
    assert {path.name for path in folder.iterdir()} == {f"101-{name}.pdf" for name in names}
    assert len(told["forms"]) == len(names)  # type: ignore[arg-type]
    assert "8 forms are in" in keyboard.do("forms", "101", str(folder), *ANN)


def test_a_form_that_is_none_or_not_due_and_a_folder_that_is_none_are_refused(keyboard: Keyboard) -> None:
    folder = str(keyboard.folder / "forms")
    assert 'there is no form "bill"' in keyboard.refused("forms", "101", folder, "--only", "bill", *ANN)
    refused = keyboard.refused("forms", "101", folder, "--only", "submission", *ANN)
    assert "the precinct is concluded first" in refused
    (keyboard.folder / "file").write_text("")
    assert "cannot be written to" in keyboard.refused("forms", "101", str(keyboard.folder / "file"), *ANN)
    assert "there is no form to print yet" in keyboard.do("court", "forms", folder, *CLERK_OF_COURT)


@pytest.mark.parametrize("votes", ["D", "D=1", "D=+", "=+1", "D=+x", "D=1+"])
def test_a_change_of_votes_has_an_option_a_sign_and_a_number(keyboard: Keyboard, votes: str) -> None:
    words = ("court", "rule-result", "101", votes, "--part", "other", "--reason", "r", "--ruling", "o")
    assert f'"{votes}" is no change of votes: write KEY=+N' in keyboard.refused(*words, *CLERK_OF_COURT)
