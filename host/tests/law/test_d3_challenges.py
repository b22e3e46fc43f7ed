"""C, D 3, E s. 2 and s. 3, F: questioned ballots, one official's statement, the call, and the conclusion."""

from dataclasses import replace
from typing import Any

import pytest

from host.tests.rehearsal import (
    ANN,
    BOB,
    BOTH,
    CLERK,
    Day,
    a_counted_day,
    a_hand_count_day,
    a_reconciled_day,
    a_scanned_day,
)
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.act import Person
from recount_host.law.challenges import CHALLENGED, GROUNDS
from recount_host.law.court import docket_of
from recount_host.law.errors import BadEntry, LedgerContradiction, NotAllowed
from recount_host.law.statement import statement
from recount_host.law.statement_lines import Statement
from recount_host.law.states import State

CARL = Person("Carl Orr", "official", "D")
OBSERVER = Person("Olga Day", "observer", "D")


def segregate(day: Day, tag: str = "T-1", by: tuple[Person, ...] = (ANN,), **changed: Any) -> None:
    body: dict[str, Any] = {
        "tag": tag, "envelope": "E-1", "pile": "set_aside", "counted_as": CHALLENGED,
        "question": "a slash through one oval", "device": "", "batch": 0, "sheet": 0, **changed,
    }  # fmt: skip
    day.act("ballot_segregated", by, **body)


def challenge(day: Day, by: Person = BOB, tag: str = "T-1", **changed: Any) -> int:
    body: dict[str, Any] = {
        "tag": tag,
        "ground": "mark",
        "text": "The slash strikes the oval out.",
        **changed,
    }
    day.act("challenge_stated", (by,), **body)
    return day.acts[-1].n


def answer(day: Day, by: Person, said: str = "no_further_question") -> None:
    day.act("call_answered", (by,), answer=said)


def print_it(day: Day) -> Statement:
    said = statement(day.facts(), "101")
    facts = bytes.fromhex(said.facts_sha256)
    day.act("statement_printed", (CLERK,), sha256=bytes(32), facts_sha256=facts)
    return said


def sign(day: Day, by: tuple[Person, ...] = BOTH) -> None:
    printed = day.state().statements[-1].body
    day.act("precinct_concluded", by, sha256=printed["sha256"], facts_sha256=printed["facts_sha256"])


def conclude(day: Day, team: tuple[Person, ...] = BOTH) -> Statement:
    for person in team:
        answer(day, person)
    said = print_it(day)
    sign(day, team)
    return said


def a_concluded_day() -> Day:
    day = a_counted_day()
    conclude(day)
    return day


# Segregation


def test_d3_a_questioned_ballot_is_laid_into_an_envelope_with_a_tag() -> None:
    day = a_reconciled_day()
    segregate(day)
    (ballot,) = day.view().challenged
    assert (ballot.tag, ballot.envelope, ballot.pile) == ("T-1", "E-1", "set_aside")
    with pytest.raises(NotAllowed, match="tag T-1 is on another ballot already"):
        segregate(day)


def test_d3_a_recount_official_segregates() -> None:
    with pytest.raises(NotAllowed, match="a recount official of a side segregates"):
        segregate(a_reconciled_day(), by=(CLERK,))
    with pytest.raises(NotAllowed, match="Olga Day is an observer"):
        segregate(a_reconciled_day(), by=(ANN, OBSERVER))


def test_a_ballot_in_an_envelope_is_counted_with_its_pile_as_challenged() -> None:
    day = a_reconciled_day()
    segregate(day)
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "R": 2})
    assert day.state().state is State.RECONCILED
    assert "1 envelopes lie with this pile: count them as challenged" in day.view().hand_count
    day.count_pile("set_aside", {"R": 1, CHALLENGED: 1})
    assert day.state().state is State.CHALLENGE_CALL
    said = statement(day.facts(), "101")
    assert [row.total for row in said.parties] == [5, 5]
    assert [(line.tag, line.in_totals) for line in said.challenged] == [("T-1", False)]


def test_e_challenged_ballots_are_apart_from_the_totals() -> None:
    day = a_counted_day()
    segregate(day, pile="set_aside", counted_as="D")
    said = statement(day.facts(), "101")
    assert [(row.by_hand, row.total) for row in said.parties] == [(0, 5), (1, 4)]
    assert [(line.counted_as, line.in_totals) for line in said.challenged] == [("D", False)]


def test_a_ballot_that_was_counted_otherwise_cannot_be_taken_out_of_an_outcome() -> None:
    day = a_counted_day()
    with pytest.raises(NotAllowed, match=r'counted as "T".*its outcomes are D, R'):
        segregate(day, counted_as="T")
    segregate(day, counted_as="D")
    with pytest.raises(NotAllowed, match=r'no ballot of .* is left that was counted as "D"'):
        segregate(day, "T-2", counted_as="D")
    with pytest.raises(NotAllowed, match="its outcomes are none"):
        segregate(day, "T-2", pile="paper", counted_as="D")


def test_before_the_hand_count_agrees_a_ballot_is_taken_out_of_no_outcome() -> None:
    with pytest.raises(NotAllowed, match="count the ballot as challenged in both passes"):
        segregate(a_reconciled_day(), counted_as="D")


def test_d2_a_ballot_that_a_scanner_accepted_may_be_questioned_and_its_vote_stays_until_the_court_rules() -> (
    None
):
    day = a_counted_day()
    with pytest.raises(NotAllowed, match="its vote stays in the result until the court rules"):
        segregate(day, pile="counted")
    segregate(day, pile="counted", counted_as="D")
    said = statement(day.facts(), "101")
    assert [(row.accepted, row.total) for row in said.parties] == [(5, 6), (3, 4)]
    assert [(line.counted_as, line.in_totals) for line in said.challenged] == [("D", True)]


def test_a_ballot_that_a_scanner_accepted_was_counted_for_somebody_or_a_ruling_would_count_it_twice() -> None:
    day = a_counted_day()
    for never in ("no_vote", "overvote", "other_write_in"):
        with pytest.raises(NotAllowed, match="say for whom it is counted"):
            segregate(day, pile="counted", counted_as=never)
    day = Day(program=False)
    day.lock(p=1)
    with pytest.raises(NotAllowed, match="say for whom"):
        segregate(day, pile="counted")


def test_what_one_official_entered_of_other_ballots_stops_no_question_about_this_one() -> None:
    day = a_counted_day()
    for number in range(2):  # one was counted for T
        segregate(day, f"T-{number}", pile="counted", counted_as="T")
    assert len(day.state().segregated) == 2


def test_before_the_figures_are_shown_no_refusal_tells_for_whom_scanners_counted() -> None:
    day = a_scanned_day()
    for number in range(3):
        segregate(day, f"T-{number}", pile="counted", counted_as="T")


def test_where_no_scanner_was_used_none_accepted_a_ballot() -> None:
    day = Day()
    for person in (ANN, BOB):
        figures = {"ballots": 12, "votes:D": 7, "votes:R": 5}
        day.act("results_keyed", (person,), figures=figures)
    day.act("ballots_not_found", BOTH, stream="scanned", reason="the vault was flooded")
    day.lock(p=0)
    assert day.state().state is State.CHALLENGE_CALL
    with pytest.raises(NotAllowed, match='no scanner counted a ballot for "D"'):
        segregate(day, pile="counted", counted_as="D")


def test_what_a_ballot_was_counted_as_is_an_outcome_of_the_contest() -> None:
    with pytest.raises(BadEntry, match='"Z" is no outcome'):
        segregate(a_counted_day(), pile="counted", counted_as="Z")
    day = Day(program=False)
    day.lock(p=1)
    with pytest.raises(NotAllowed, match="no contest program yet"):
        segregate(day, pile="counted", counted_as="D")


def test_d2_in_hand_count_a_ballot_questioned_while_scanning_is_counted_as_challenged() -> None:
    day = a_hand_count_day()
    with pytest.raises(NotAllowed, match="say that it comes from all_scanned"):
        segregate(day, pile="counted", counted_as="D")
    day = Day()
    day.scan(TWELVE_SHEETS)
    segregate(day, pile="counted", counted_as="D")
    segregate(day, "T-2", pile="paper")
    day.act("run_ended", run="101-1", device=day.device().id)
    day.act("hand_count_ordered", BOTH, reason="the device is dead")
    day.lock(H=12, p=0, o=0, d=1)
    day.count_pile("paper", {CHALLENGED: 1})
    day.count_pile("all_scanned", {"D": 7, "R": 5})
    assert day.state().state is State.HAND_COUNT
    day.count_pile("all_scanned", {"D": 6, "R": 5, CHALLENGED: 1})
    said = statement(day.facts(), "101")
    assert [(line.pile, line.counted_as, line.in_totals) for line in said.challenged] == [
        ("all_scanned", CHALLENGED, False),
        ("paper", CHALLENGED, False),
    ]
    assert [row.total for row in said.parties] == [6, 5]


def test_a_segregated_ballot_may_name_its_notice_once_the_notices_are_open() -> None:
    day = a_reconciled_day()
    where: dict[str, Any] = {"device": day.device().id, "batch": 1}
    with pytest.raises(NotAllowed, match="no notice that puts this sheet into the pile set_aside"):
        segregate(day, **where, sheet=12)
    with pytest.raises(NotAllowed, match="no notice that puts this sheet into the pile paper"):
        segregate(day, **where, sheet=10, pile="paper")
    segregate(day, **where, sheet=10)
    assert day.state().segregated[0].notice == (day.device().id, 1, 10)
    with pytest.raises(NotAllowed, match="lies in another envelope already"):
        segregate(day, "T-2", **where, sheet=10)
    early = Day()
    early.scan(TWELVE_SHEETS)
    with pytest.raises(NotAllowed, match="the notices are closed"):
        segregate(early, device=early.device().id, batch=1, sheet=10)


def test_f_nothing_is_segregated_after_the_conclusion() -> None:
    with pytest.raises(
        NotAllowed, match=r"segregate a ballot now.*considers no ballot that was not segregated"
    ):
        segregate(a_concluded_day(), counted_as="D")


# Statements


def test_e_the_statement_of_one_official_is_enough_and_nobody_else_has_a_say() -> None:
    day = a_reconciled_day()
    segregate(day)
    challenge(day, CARL)
    (ballot,) = day.view().challenged
    assert [(who, standing) for _, who, _, standing in ballot.statements] == [
        ("Carl Orr, official, D", "before conclusion")
    ]
    with pytest.raises(NotAllowed, match="alone"):
        day.act("challenge_stated", BOTH, tag="T-1", ground="mark", text="both")
    # A statement gives its official no seat in the team: any recount official may make one.
    assert CARL not in day.state().team


def test_e_an_observer_or_a_coordinator_does_not_challenge() -> None:
    day = a_reconciled_day()
    segregate(day)
    with pytest.raises(NotAllowed, match="observers look on and ask the coordinators"):
        challenge(day, OBSERVER)
    with pytest.raises(NotAllowed, match="a recount official challenges a ballot"):
        challenge(day, CLERK)


def test_e_a_challenge_is_in_writing() -> None:
    day = a_reconciled_day()
    segregate(day)
    with pytest.raises(NotAllowed, match="the statement is written"):
        challenge(day, text="  ")


def test_c_who_may_vote_is_no_ground_and_no_field_holds_who_a_voter_is() -> None:
    day = a_reconciled_day()
    segregate(day)
    assert not any("eligib" in what or "voter" in what for what in GROUNDS.values())
    with pytest.raises(BadEntry, match="ground must be mark"):
        challenge(day, ground="eligibility")
    with pytest.raises(BadEntry, match="no field 'voter'"):
        challenge(day, voter="N. N.")


def test_a_statement_names_a_segregated_ballot() -> None:
    with pytest.raises(NotAllowed, match="lay the ballot into an envelope first"):
        challenge(a_reconciled_day())


def test_e_a_challenge_can_be_made_from_the_first_ballot_to_the_conclusion() -> None:
    day = Day()
    day.lock(H=12)
    segregate(day, "T-1", pile="paper")
    challenge(day)
    day = a_counted_day()
    segregate(day, counted_as="D")
    challenge(day)


def test_e_a_later_statement_on_a_segregated_ballot_is_taken_and_stamped() -> None:
    day = a_counted_day()
    segregate(day, counted_as="D")
    said = conclude(day)
    challenge(day, CARL)
    (ballot,) = day.view().challenged
    assert ballot.statements[0][3] == "after conclusion"
    assert statement(day.facts(), "101") == said


def test_f_a_statement_on_a_ballot_that_was_not_segregated_is_refused_after_the_conclusion() -> None:
    day = a_concluded_day()
    with pytest.raises(NotAllowed, match=r"was segregated before the conclusion.*\(F\)"):
        challenge(day)
    day.act("ballot_proffered", (ANN,), text="an overvote of 2017, by letter on the next morning")
    assert len(day.state().proffered) == 1


def test_e_a_withdrawal_is_a_new_record_by_who_made_the_statement() -> None:
    day = a_reconciled_day()
    segregate(day)
    number = challenge(day, BOB)
    other = challenge(day, CARL)
    with pytest.raises(NotAllowed, match="only Bob Ray can withdraw"):
        day.act("challenge_withdrawn", (ANN,), statement=number, reason="no question")
    with pytest.raises(NotAllowed, match="no statement 1 of this precinct"):
        day.act("challenge_withdrawn", (BOB,), statement=1, reason="no question")
    day.act("challenge_withdrawn", (BOB,), statement=number, reason="seen in better light")
    with pytest.raises(NotAllowed, match="withdrawn already"):
        day.act("challenge_withdrawn", (BOB,), statement=number, reason="again")
    (ballot,) = day.view().challenged
    standings = {n: standing for n, _, _, standing in ballot.statements}
    assert standings[number].endswith("seen in better light")
    assert standings[other] == "before conclusion"
    day.lock(p=0, o=0)
    day.hand_count({CHALLENGED: 1, "D": 1, "R": 1})
    (line,) = statement(day.facts(), "101").challenged
    assert "withdrawn" in line.statements[0]


# The call and the conclusion


def test_d3_a_precinct_is_not_concluded_before_every_official_has_answered_the_call() -> None:
    day = a_counted_day()
    print_it(day)
    with pytest.raises(NotAllowed, match="Ann Lee has not said"):
        sign(day)
    answer(day, ANN)
    print_it(day)
    with pytest.raises(NotAllowed, match="Bob Ray has not said"):
        sign(day)


def test_d3_an_official_with_a_question_is_asked_again_after_it_is_segregated() -> None:
    day = a_counted_day()
    answer(day, ANN)
    answer(day, BOB, "has_question")
    print_it(day)
    with pytest.raises(NotAllowed, match="Bob Ray has not said"):
        sign(day)
    assert statement(day.facts(), "101").not_asked == ("Bob Ray, official, R",)
    segregate(day, by=(BOB,), counted_as="D")
    assert dict(day.view().call)["Bob Ray, official, R"] == "has question"
    conclude(day)
    assert day.state().state is State.CONCLUDED


def test_d3_only_officials_answer_the_call() -> None:
    with pytest.raises(NotAllowed, match="the recount officials are asked"):
        answer(a_counted_day(), CLERK)


def test_e_the_statement_is_signed_by_every_official_as_it_was_printed_last() -> None:
    day = a_counted_day()
    answer(day, ANN)
    answer(day, BOB)
    nothing: dict[str, Any] = {"sha256": bytes(32), "facts_sha256": bytes(32)}
    with pytest.raises(NotAllowed, match="is printed first"):
        day.act("precinct_concluded", BOTH, **nothing)
    print_it(day)
    with pytest.raises(NotAllowed, match="not the last one printed"):
        day.act("precinct_concluded", BOTH, **nothing)
    with pytest.raises(NotAllowed, match="every recount official signs, and Bob Ray has not"):
        sign(day, (ANN,))
    answer(day, CARL)
    with pytest.raises(NotAllowed, match="as it stands now is printed first"):
        sign(day, (*BOTH, CARL))
    print_it(day)
    sign(day, (*BOTH, CARL))
    assert day.state().state is State.CONCLUDED


def test_ballots_counted_as_challenged_all_lie_in_envelopes_before_the_conclusion() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    day.hand_count({CHALLENGED: 1, "D": 1, "R": 1})
    for person in BOTH:
        answer(day, person)
    print_it(day)
    with pytest.raises(NotAllowed, match="1 were counted as challenged, but 0 lie in envelopes"):
        sign(day)
    segregate(day)
    conclude(day)


def test_what_to_do_next_leads_from_the_hand_count_to_the_conclusion() -> None:
    day = a_reconciled_day()
    assert day.view().next.startswith("count p, o, two persons")
    day.lock(p=0, o=0)
    assert day.view().next.startswith("hand count the ballots that the scanners set aside: to be counted")
    day.hand_count({"D": 1, "R": 1, "no_vote": 1})
    assert day.view().next.endswith("(challenge call, D 3): Ann Lee, Bob Ray")
    answer(day, ANN)
    answer(day, BOB)
    assert day.view().next == "print the statement as it stands now (statement)"
    print_it(day)
    assert "sign the statement in ink" in day.view().next
    answer(day, ANN)
    assert day.view().next == "print the statement as it stands now (statement)"


def test_a_team_has_officials_of_two_sides() -> None:
    day = a_counted_day()
    day.act("official_substituted", leaves=["Bob Ray", "", ""], comes=["", "", ""], reason="ill")
    answer(day, ANN)
    print_it(day)
    with pytest.raises(NotAllowed, match="an official of each party"):
        sign(day, (ANN,))


def test_who_leaves_is_replaced_by_another_official_of_the_same_side() -> None:
    day = a_counted_day()
    leaves: dict[str, Any] = {"leaves": ["Ann Lee", "", ""], "reason": "the shift ended"}
    for wrong in (["Ann Lee", "official", "D"], ["Eve Oz", "official", "R"], ["Eve Oz", "coordinator", "D"]):
        with pytest.raises(NotAllowed, match="another official of the same side"):
            day.act("official_substituted", **leaves, comes=wrong)
    day.act("official_substituted", **leaves, comes=["Carl Orr", "official", "D"])
    with pytest.raises(NotAllowed, match="its officials are Bob Ray, Carl Orr"):
        day.act("official_substituted", **leaves, comes=["", "", ""])
    said = conclude(day, (BOB, CARL))
    assert [signer.name for signer in said.signers] == ["Carl Orr", "Bob Ray"]
    assert "Carl Orr, official, D took the seat" in said.substitutions[0]
    with pytest.raises(NotAllowed, match="its officials are nobody yet"):
        Day().act("official_substituted", **leaves, comes=["", "", ""])


def test_a_seat_may_stay_empty_where_another_of_the_side_is_there() -> None:
    day = a_counted_day()
    answer(day, CARL)
    day.act("official_substituted", leaves=["Ann Lee", "", ""], comes=["", "", ""], reason="ill")
    assert "nobody took the seat" in conclude(day, (BOB, CARL)).substitutions[0]


def test_d_a_concluded_precinct_changes_no_more() -> None:
    day = a_concluded_day()
    before = statement(day.facts(), "101")
    for kind, by, body in (
        ("results_keyed", (CLERK,), {"figures": {}}),
        ("call_answered", (ANN,), {"answer": "has_question"}),
        ("precinct_concluded", BOTH, {"sha256": bytes(32), "facts_sha256": bytes(32)}),
        ("count_entered", (ANN,), {"letter": "H", "value": 3, "attempt": 1}),
        ("hand_count_ordered", BOTH, {"reason": "again"}),
    ):
        with pytest.raises(NotAllowed, match="only one recount of a precinct"):
            day.act(kind, by, **body)
    sealed: dict[str, Any] = {"container": "b", "holds": "challenged", "seal": "9", "to": "the clerk"}
    day.act("container_resealed", BOTH, **sealed)
    assert print_it(day) == before
    assert day.view().state == "concluded"


def test_a_conclusion_that_was_never_lawful_is_found_in_the_ledger() -> None:
    day = a_counted_day()
    body = {"precinct": "101", "sha256": bytes(32), "facts_sha256": bytes(32)}
    day.append("precinct_concluded", BOTH, body)
    with pytest.raises(LedgerContradiction, match="has not said"):
        day.state()


def test_a_statement_before_all_are_asked_is_a_draft() -> None:
    day = a_counted_day()
    assert statement(day.facts(), "101").not_asked == ("Ann Lee, official, D", "Bob Ray, official, R")
    said = conclude(day)
    assert said.not_asked == ()
    assert said.call == (
        "Ann Lee, official, D: no further question",
        "Bob Ray, official, R: no further question",
    )
    assert replace(said, call=()) != said


# A tag that was entered wrongly


def correct(day: Day, tag: str = "T-1", by: Person = BOB, **changed: Any) -> None:
    body: dict[str, Any] = {"right_tag": "T-7", "right_envelope": "E-1", "reason": "misread", **changed}
    day.act("tag_corrected", (by,), tag=tag, **body)


def test_a_tag_entered_wrongly_is_corrected_by_a_new_record_and_the_wrong_one_is_kept() -> None:
    day = a_counted_day()
    segregate(day, counted_as="D")
    segregate(day, "T-2", counted_as="R")
    challenge(day)
    challenge(day, tag="T-2")
    correct(day)
    correct(day, "T-7", right_tag="T-7", right_envelope="E-9")
    first, second = day.state().segregated
    assert (first.tag, first.envelope, second.tag, second.envelope) == ("T-7", "E-9", "T-2", "E-1")
    assert first.entered_as == ("tag T-1, envelope E-1", "tag T-7, envelope E-1")
    assert [stated.tag for stated in day.state().challenges] == ["T-7", "T-2"]
    answer(day, ANN)
    answer(day, BOB)
    said = print_it(day)
    assert said.challenged[0].tag == "T-7"
    assert said.challenged[0].question == (
        "a slash through one oval; first entered as tag T-1, envelope E-1; "
        "first entered as tag T-7, envelope E-1"
    )
    assert said.challenged[0].statements
    sign(day)
    assert [tag for _, tag in docket_of(day.court())] == ["T-7", "T-2"]


def test_a_correction_asks_for_a_statement_printed_anew() -> None:
    day = a_counted_day()
    segregate(day, counted_as="D")
    answer(day, ANN)
    answer(day, BOB)
    print_it(day)
    correct(day)
    with pytest.raises(NotAllowed, match="the statement as it stands now is printed first"):
        sign(day)
    print_it(day)
    sign(day)
    with pytest.raises(NotAllowed, match="not possible to correct a tag now"):
        correct(day, "T-7", right_tag="T-8")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"tag": "T-3"}, "no ballot has the tag T-3"),
        ({"right_tag": "T-1"}, "there is nothing to correct"),
        ({"right_tag": "T-2"}, "tag T-2 is on another ballot"),
        ({"by": CLERK}, "Cleo May is entered as Cleo May, coordinator"),
    ],
)
def test_a_correction_that_corrects_nothing_right_is_refused(changed: dict[str, Any], why: str) -> None:
    day = a_counted_day()
    segregate(day, counted_as="D")
    segregate(day, "T-2", counted_as="R")
    with pytest.raises(NotAllowed, match=why):
        correct(day, **changed)
    assert [ballot.tag for ballot in day.state().segregated] == ["T-1", "T-2"]
