"""A ledger that cannot have been written is found when it is folded, and the act is named."""

from dataclasses import replace
from typing import Any

import pytest

from host.tests.rehearsal import ANN, CLERK, Day, a_reconciled_day, program_body
from host.tests.sound_device import PROGRAM
from recount_host.act import Act
from recount_host.law.contest import contest_of
from recount_host.law.errors import LedgerContradiction

OPTION: dict[str, Any] = {"key": "D", "name": "Josiah Bartlett", "write_in": False}


def changed(day: Day, kind: str, **fields: Any) -> int:
    """Write other fields into the last act of this kind; return its number."""
    n = next(act.n for act in reversed(day.acts) if act.kind == kind)
    act = day.acts[n - 1]
    day.acts[n - 1] = replace(act, body={**act.body, **fields})
    return n


@pytest.mark.parametrize("fields", [{"surplus": 1}, {"value": "12"}, {"value": -1}])
def test_an_act_without_the_form_of_its_kind_is_named(fields: dict[str, Any]) -> None:
    day = Day()
    day.enter("H", 12, ANN)
    n = changed(day, "count_entered", **fields)
    with pytest.raises(LedgerContradiction, match=rf"act {n} \(count_entered\) cannot have been done"):
        day.state()


def test_an_act_that_tells_other_figures_than_the_records_is_named() -> None:
    day = a_reconciled_day()
    n = changed(day, "figures_shown", counted=10)
    with pytest.raises(
        LedgerContradiction, match=rf"act {n} \(figures_shown\) cannot have been done: the fig"
    ):
        day.state()


@pytest.mark.parametrize(
    "option",
    [
        {**OPTION, "key": ""},
        {**OPTION, "key": 5},
        {**OPTION, "write_in": "yes"},
        {**OPTION, "write_in": 1},
        {"key": "D", "name": "Josiah Bartlett"},
        {**OPTION, "party": "D"},
    ],
)
def test_a_program_whose_options_have_another_form_is_none_that_was_added(option: dict[str, Any]) -> None:
    body = {**program_body(PROGRAM), "options": [option]}
    with pytest.raises(LedgerContradiction, match="act 2 is none that this program writes"):
        contest_of(Act(2, b"", "program_added", "", (CLERK,), body))


def test_a_program_tells_its_contest_and_options_as_they_were_added() -> None:
    contest = contest_of(Act(2, b"", "program_added", "", (CLERK,), program_body(PROGRAM, 2)))
    assert (contest.program, contest.key, contest.title, contest.vote_for) == (
        PROGRAM,
        "governor",
        "Governor",
        2,
    )
    assert [(option.key, option.name, option.write_in) for option in contest.options] == [
        ("D", "Josiah Bartlett", False),
        ("R", "Arnold Vinick", False),
        ("T", "Howard Stackhouse", False),
        ("W", "Write-in", True),
    ]
    assert [option.key for option in contest.printed] == ["D", "R", "T"]
    assert contest.signed_by == ("Ann Lee, official, D", "Bob Ray, official, R")


@pytest.mark.parametrize(
    "signature", [{"name": "Ann Lee, official, D"}, {"name": "", "public_key": "00", "signature": "00"}]
)
def test_a_program_whose_signatures_have_another_form_is_none_that_was_added(
    signature: dict[str, Any],
) -> None:
    body = {**program_body(PROGRAM), "signatures": [signature]}
    with pytest.raises(LedgerContradiction, match="act 2 is none that this program writes"):
        contest_of(Act(2, b"", "program_added", "", (CLERK,), body))
