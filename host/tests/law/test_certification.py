"""F s. 3: what stands on the draft of the certification, word by word."""

from dataclasses import replace
from typing import Any

import pytest

from host.tests.law.test_f_court import counted, in_court
from host.tests.rehearsal import CLERK_OF_COURT, Day, order_text
from host.tests.sound_device import PROGRAM
from recount_host.act import act_hash, encode_act
from recount_host.law.certification import (
    PartyVotes,
    certification,
    mode_of,
    ruling_lines,
    to_declare,
    totals,
)
from recount_host.law.court import Court, court_over
from recount_host.law.precinct import fold_all
from recount_host.law.precinct_state import Assignment
from recount_host.order import order_hash, order_of


def ruled(order: str = "", outcome: str = "D") -> Day:
    day = counted(order)
    day.segregate(counted_as="D")
    day.conclude()
    day.open_docket()
    day.hear()
    day.rule(outcome)
    return day


def amend(day: Day, version: int, why: str) -> None:
    day.court_act("amendment_ordered", version=version, order=f"order {version}", reason=why)


def test_the_draft_is_that_of_the_last_act_that_changed_it_and_names_the_order() -> None:
    day = ruled()
    last = day.acts[-1]
    day.court_act("court_form_printed", form="docket", sha256=bytes(32), facts_sha256=bytes(32))
    draft = certification(day.facts())
    assert (draft.last_act, draft.last_act_sha256, draft.utc) == (
        last.n,
        act_hash(encode_act(last)).hex(),
        last.utc,
    )
    assert draft.order_sha256 == order_hash(order_text()).hex()


def test_another_draft_has_another_code() -> None:
    codes = {certification(ruled(outcome=outcome).facts()).facts_sha256 for outcome in ("D", "R", "overvote")}
    assert len(codes) == 3


def test_the_court_is_named_as_its_order_names_it() -> None:
    assert certification(ruled().facts()).court == "the recount court"
    assert certification(ruled('court = "the Circuit Court of Fairview"\n').facts()).court == (
        "the Circuit Court of Fairview"
    )


def test_g_a_draft_names_the_order_by_which_its_version_is_made() -> None:
    day = ruled()
    assert certification(day.facts()).amended_by == ""
    day.certify()
    for version, why in ((2, "a wrong digit"), (3, "another wrong digit")):
        amend(day, version, why)
        assert certification(day.facts()).amended_by == f"order {version}: {why}"
        assert certification(day.facts()).version == version
        day.certify()


def a_court(*modes: str) -> Court:
    states = fold_all(Day(tuple(str(number) for number in range(len(modes)))).facts())
    return Court(
        {
            name: replace(state, assignments=(Assignment("run", "d" * 16, PROGRAM, mode),))
            for (name, state), mode in zip(states.items(), modes, strict=True)
        }
    )


@pytest.mark.parametrize(
    ("modes", "mode"),
    [
        (("live",), "live"),
        (("live", "live"), "live"),
        (("live", "training"), "training"),
        (("training", "live"), "training"),
    ],
)
def test_the_whole_is_live_only_where_every_precinct_is(modes: tuple[str, ...], mode: str) -> None:
    assert mode_of(a_court(*modes)) == mode


def test_the_votes_of_all_precincts_are_added_party_by_party() -> None:
    day = counted(precincts=("101", "102"))
    day.segregate(precinct="102", counted_as="D")
    for precinct in ("101", "102"):
        day.conclude(precinct)
    day.open_docket()
    day.hear(precinct="102")
    day.rule("R", precinct="102")
    court = day.court()
    assert totals(court) == (
        PartyVotes("D", "Josiah Bartlett", 11, 0, 11),
        PartyVotes("R", "Arnold Vinick", 8, 1, 9),
    )
    by_precinct = {line.id: line for line in certification(day.facts()).precincts}
    assert by_precinct["101"].parties == (
        PartyVotes("D", "Josiah Bartlett", 6, 0, 6),
        PartyVotes("R", "Arnold Vinick", 4, 0, 4),
    )
    assert by_precinct["102"].parties == (
        PartyVotes("D", "Josiah Bartlett", 5, 0, 5),
        PartyVotes("R", "Arnold Vinick", 4, 1, 5),
    )
    assert [line.name for line in by_precinct.values()] == ["Precinct 101", "Precinct 102"]


def votes(*numbers: int) -> tuple[PartyVotes, ...]:
    return tuple(PartyVotes(key, f"Candidate {key}", n, 0, n) for key, n in zip("DRT", numbers, strict=False))


def test_what_is_to_be_declared_is_told_in_the_order_of_votes() -> None:
    order = order_of(Day().acts)
    (said,) = to_declare(order, votes(3, 5))
    assert said.startswith("Candidate R received the higher number of votes: Candidate R 5; Candidate D 3;")
    assert said.endswith("; the court declares the person nominated or elected, as appropriate (F)")
    assert to_declare(order, votes(4, 4)) == (
        "each party received an equal number of votes: Candidate D 4; Candidate R 4",
    )
    (said,) = to_declare(order, votes(5, 2, 5))
    assert said.startswith("in the order of their votes: Candidate D 5; Candidate T 5; Candidate R 2;")
    assert said.endswith("the court declares who is elected (F)")


def test_in_a_primary_a_person_is_nominated() -> None:
    order = order_of(Day(order='office_class = "primary"\n').acts)
    (said,) = to_declare(order, votes(3, 5))
    assert said.endswith("the court declares the person nominated (F)")


def test_every_ruling_is_told_in_the_order_of_the_acts_with_what_it_replaced() -> None:
    day = in_court()
    day.hear()
    first = day.rule("R")
    on_result: dict[str, Any] = {
        "part": "other",
        "votes": {"D": 1},
        "reason": "a slip",
        "ruling": "order of 4 Jan.",
    }
    day.act("result_ruled", (CLERK_OF_COURT,), "101", **on_result)
    second = day.rule("no_vote", instead_of=first)
    lines = ruling_lines(court_over(fold_all(day.facts()), day.acts))
    assert [line.number for line in lines] == [first, first + 1, second]
    assert [(line.precinct, line.tag, line.what, line.says, line.stands) for line in lines] == [
        ("101", "T-1", "tag T-1", "R", False),
        ("101", "", "result, other", "order of 4 Jan.", True),
        ("101", "T-1", "tag T-1", f"no vote (instead of ruling {first})", True),
    ]
    assert [dict(line.effect) for line in lines] == [{"R": 1}, {"D": 1}, {}]
    assert {line.entered_by for line in lines} == {"Dora Poe"}
    assert [line.reason for line in lines] == ["as argued", "a slip", "as argued"]
