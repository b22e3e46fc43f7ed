"""F, D 2 s. 5: what each ruling keeps, and that no precinct is left with fewer votes than none."""

from typing import Any

import pytest

from host.tests.law.test_f_court import counted, in_court
from host.tests.law.test_statement_line_by_line import a_day_without_the_scanned_ballots
from host.tests.rehearsal import ANN, BOTH, CLERK_OF_COURT, Day
from recount_host.law.court_words import ACCEPTED, OTHER_MATTER
from recount_host.law.errors import BadEntry, LedgerContradiction, NotAllowed
from recount_host.law.rulings import Heard, ResultRuling, Ruling
from recount_host.law.states import State
from recount_host.law.steps_of_court import changes_by_court

CLERK_ONLY = (CLERK_OF_COURT,)


def on_result(day: Day, part: str = OTHER_MATTER, **votes: int) -> None:
    body: dict[str, Any] = {"part": part, "votes": votes, "reason": "a slip", "ruling": "order of 4 January"}
    day.act("result_ruled", CLERK_ONLY, "101", **body)


def hear(day: Day, side: str, tag: str = "T-1", inspected: str = "inspected", argument: str = "") -> None:
    said: dict[str, Any] = {"tag": tag, "side": side, "inspected": inspected, "argument": argument}
    day.act("ballot_heard", CLERK_ONLY, "101", **said)


def test_who_was_heard_on_a_ballot_is_kept_as_it_was_entered() -> None:
    day = in_court()
    hear(day, "R", inspected="waived", argument="the law is plain")
    assert day.state().heard == (Heard("T-1", "R", "waived", "the law is plain", day.acts[-1].n),)
    with pytest.raises(NotAllowed, match='"T" is none: they are D, R'):
        hear(day, "T")
    with pytest.raises(NotAllowed, match="D still has to"):
        day.rule("R")
    hear(day, "D")
    day.rule("R")
    assert len(day.state().heard) == 2


def test_a_ruling_on_a_ballot_is_kept_as_it_was_entered() -> None:
    day = in_court()
    day.hear()
    first = day.rule("R")
    ruled = day.acts[-1]
    assert day.state().rulings == (Ruling(first, "T-1", "R", "D", "as argued", ruled.utc, CLERK_OF_COURT, 0),)
    with pytest.raises(NotAllowed, match=rf"ruling {first} on tag T-1 stands: .* \(--instead-of {first}\)"):
        day.rule("D")
    with pytest.raises(NotAllowed, match=rf"ruling {first} on tag T-1 stands"):
        day.rule("D", instead_of=first - 1)
    second = day.rule("D", instead_of=first)
    assert [(one.number, one.instead_of) for one in day.state().rulings] == [(first, 0), (second, first)]


def test_a_first_ruling_stands_instead_of_none() -> None:
    day = in_court()
    day.hear()
    with pytest.raises(NotAllowed, match="there is no ruling on tag T-1 yet: leave --instead-of out"):
        day.rule("D", instead_of=3)


@pytest.mark.parametrize("outcome", ["Z", "D+R", "W", ""])
def test_a_ruling_is_an_outcome_that_the_contest_has(outcome: str) -> None:
    day = in_court()
    day.hear()
    with pytest.raises((BadEntry, NotAllowed)):
        day.rule(outcome)
    with pytest.raises(NotAllowed, match="it does not stay challenged"):
        day.rule("challenged")


def test_a_ruling_on_a_result_is_kept_as_it_was_entered() -> None:
    day = in_court()
    on_result(day, ACCEPTED, D=-1, R=2)
    act = day.acts[-1]
    assert day.state().result_rulings == (
        ResultRuling(
            act.n, ACCEPTED, {"D": -1, "R": 2}, "a slip", "order of 4 January", act.utc, CLERK_OF_COURT
        ),
    )


def test_all_rulings_that_stand_are_added_up_and_what_cancels_out_is_left_out() -> None:
    day = counted()
    day.segregate("T-1", counted_as="D")
    day.segregate("T-2", pile="counted", counted_as="R")
    day.conclude()
    day.open_docket()
    for tag in ("T-1", "T-2"):
        day.hear(tag)
    first = day.rule("R", "T-1")
    assert changes_by_court(day.state()) == {"R": 1}
    day.rule("D", "T-2")
    assert changes_by_court(day.state()) == {"D": 1}
    day.rule("D", "T-1", instead_of=first)
    assert changes_by_court(day.state()) == {"D": 2, "R": -1}
    on_result(day, T=1, D=-1)
    assert list(changes_by_court(day.state()).items()) == [("D", 1), ("R", -1), ("T", 1)]


def test_d2_no_ruling_leaves_fewer_accepted_votes_than_none() -> None:
    day = in_court()  # the scanners accepted 5 for D, 3 for R and 1 for T; by hand are 1 for R and the ballot
    with pytest.raises(NotAllowed, match="that would leave -1 votes for R"):
        on_result(day, ACCEPTED, R=-4)
    on_result(day, ACCEPTED, R=-3)
    with pytest.raises(NotAllowed, match="that would leave -1 votes for R"):
        on_result(day, ACCEPTED, R=-1)
    with pytest.raises(NotAllowed, match="that would leave -1 votes for R"):
        on_result(day, OTHER_MATTER, R=-2)
    on_result(day, OTHER_MATTER, R=-1)
    assert changes_by_court(day.state()) == {"R": -4}


def test_f_no_ruling_on_a_ballot_leaves_fewer_votes_than_none_for_any_option() -> None:
    day = in_court("counted")
    day.hear()
    on_result(day, OTHER_MATTER, D=-6)
    with pytest.raises(NotAllowed, match="that would leave -1 votes for D"):
        day.rule("R")
    day.rule("D")


@pytest.mark.parametrize(
    ("votes", "why"),
    [
        ({"Z": 1}, '"Z" is no option'),
        ({"D": 0}, "a change of 0 votes for D is none"),
        ({"W": 1}, '"W" is no option'),
    ],
)
def test_a_ruling_on_a_result_changes_options_of_the_contest(votes: dict[str, int], why: str) -> None:
    with pytest.raises(NotAllowed, match=why):
        on_result(in_court(), OTHER_MATTER, **votes)


def test_a_ledger_without_a_program_is_ruled_on_for_the_parties() -> None:
    day = Day(program=False)
    for person in BOTH:
        day.act("results_keyed", (person,), figures={"ballots": 12, "votes:D": 7, "votes:R": 5})
    day.act("ballots_not_found", BOTH, stream="scanned", reason="the room was flooded")
    day.lock(p=0)
    for person in BOTH:
        day.act("call_answered", (person,), answer="no_further_question")
    day.conclude()
    day.open_docket()
    on_result(day, OTHER_MATTER, D=1)
    with pytest.raises(NotAllowed, match='"T" is no option of this contest: the options are D, R'):
        on_result(day, OTHER_MATTER, T=1)


def test_where_no_scanner_accepted_a_ballot_another_matter_alone_is_ruled_on() -> None:
    day = a_day_without_the_scanned_ballots()
    day.conclude()
    day.open_docket()
    with pytest.raises(NotAllowed, match="no ballot that a scanner accepted is in this precinct's result"):
        on_result(day, ACCEPTED, D=1)
    on_result(day, OTHER_MATTER, D=1)
    assert changes_by_court(day.state()) == {"D": 1}


def test_f_the_court_certifies_a_precinct_whose_ballots_are_all_ruled_on() -> None:
    day = in_court()
    day.hear()
    day.rule("D")
    day.certify()
    assert day.state().state is State.CERTIFIED
    day.court_act("amendment_ordered", version=2, order="of 4 January", reason="a wrong digit")
    assert day.state().state is State.IN_COURT
    with pytest.raises(NotAllowed, match="no ballot of precinct 101 with the tag T-9"):
        day.rule("D", "T-9")


def test_d2_of_accepted_ballots_no_option_has_less_than_none_whatever_other_rulings_say() -> None:
    day = in_court()
    on_result(day, ACCEPTED, R=-1)
    on_result(day, OTHER_MATTER, D=1)
    with pytest.raises(NotAllowed, match="leave -1 votes for D"):
        on_result(day, ACCEPTED, D=-6)
    with pytest.raises(NotAllowed, match="leave -1 votes for other_write_in"):
        on_result(day, ACCEPTED, other_write_in=-1)
    on_result(day, ACCEPTED, D=-5)


def test_f_nobody_but_the_clerk_enters_that_a_party_was_heard() -> None:
    day = in_court()
    said: dict[str, Any] = {"tag": "T-1", "side": "D", "inspected": "inspected", "argument": ""}
    with pytest.raises(NotAllowed, match="the clerk of the court enters this"):
        day.act("ballot_heard", (ANN,), **said)


def test_an_act_of_the_court_that_another_than_the_clerk_entered_is_found_in_the_ledger() -> None:
    day = counted()
    day.conclude()
    acts: list[tuple[str, dict[str, Any]]] = [("court_opened", {"ballots": []})]
    day.open_docket()
    draft = day.certify()
    acts.append(("certified", dict(day.acts[-1].body)))
    acts.append(("amendment_ordered", {"version": draft.version + 1, "order": "o", "reason": "r"}))
    for kind, body in acts:
        before = Day()
        before.acts = [act for act in day.acts if act.kind not in {kind for kind, _ in acts}]
        before.devices = day.devices
        for earlier in acts[: [known for known, _ in acts].index(kind)]:
            before.append(earlier[0], CLERK_ONLY, earlier[1])
        before.append(kind, (ANN,), body)
        with pytest.raises(LedgerContradiction, match="the clerk of the court enters this"):
            before.state()
