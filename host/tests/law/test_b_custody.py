"""B, D 1, E s. 1: sealed containers, what is no part of the recount, and what stands in for lost ballots."""

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
from host.tests.sound_device import TWELVE_SHEETS, Sheet
from recount_host.law.custody import EXCLUDED
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.results import check_figures
from recount_host.law.statement import statement
from recount_host.law.states import State
from recount_protocol.fates import COUNTED

RESULTS = {
    "ballots": 12,
    "votes:D": 7,
    "votes:R": 4,
    "paper_votes:D": 2,
    "paper_votes:R": 1,
    "paper_ballots": 3,
}


def receive(day: Day, container: str, holds: str = "scanned", **changed: Any) -> None:
    how: dict[str, Any] = {"seal": "4711", "seal_was": "intact", "stated": [], "from": "the clerk", **changed}
    day.act("container_received", BOTH, container=container, holds=holds, **how)


def open_(day: Day, container: str) -> None:
    day.act("container_opened", BOTH, container=container)


def key(day: Day, **changed: int) -> None:
    for person in (CLERK, ANN):
        day.act("results_keyed", (person,), figures={**RESULTS, **changed})


def standing(day: Day) -> dict[str, str]:
    return {container.name: container.standing for container in day.view().containers}


# Containers


def test_a_container_comes_in_sealed_and_is_opened_by_both_sides() -> None:
    day = Day()
    receive(day, "box-1", stated=[12])
    assert day.state().state is State.OPEN
    assert standing(day) == {"box-1": "seal intact, not opened"}
    assert day.view().next.startswith("open container box-1, both sides together")
    with pytest.raises(NotAllowed, match="two persons of different sides"):
        day.act("container_opened", (ANN,), container="box-1")
    open_(day, "box-1")
    assert standing(day) == {"box-1": "open"}
    with pytest.raises(NotAllowed, match="open already"):
        open_(day, "box-1")
    with pytest.raises(NotAllowed, match="taken in already"):
        receive(day, "box-1")


def test_a_container_is_taken_in_by_both_sides_with_its_seal() -> None:
    with pytest.raises(NotAllowed, match="number of the seal"):
        receive(Day(), "box-1", seal="")
    day = Day()
    receive(day, "box-1", seal="", seal_was="missing")
    assert standing(day) == {"box-1": "seal missing, not opened"}


def test_the_number_on_a_label_is_not_shown_to_people_who_still_have_to_count() -> None:
    day = Day()
    receive(day, "box-1", stated=[12])
    assert "12" not in str(day.view().containers)


def test_a_container_that_did_not_come_cannot_be_opened() -> None:
    day = Day()
    receive(day, "box-1")
    with pytest.raises(NotAllowed, match="take it in first"):
        open_(day, "box-2")


def test_scanning_is_not_finished_while_a_container_of_ballots_is_unopened() -> None:
    day = Day()
    receive(day, "box-1")
    receive(day, "box-2")
    open_(day, "box-1")
    day.scan(TWELVE_SHEETS)
    with pytest.raises(NotAllowed, match="box-2 holds ballots to be rerun"):
        day.finish_checked()
    open_(day, "box-2")
    day.finish_checked()


def test_one_more_container_makes_another_stack_and_h_is_counted_again() -> None:
    day = Day()
    receive(day, "box-1")
    day.lock(H=12)
    receive(day, "box-2")
    assert day.state().stack is None
    assert [entry.value for entry in day.state().dropped_counts[0].entries] == [12, 12]
    day.lock(H=20)
    assert day.state().stack == 20


def test_a_container_that_comes_when_scanning_is_finished_stays_sealed() -> None:
    for day in (a_scanned_day(), a_reconciled_day(), a_hand_count_day()):
        with pytest.raises(NotAllowed, match="scanning is finished"):
            receive(day, "box-9")
        receive(day, "box-10", "paper")
    with pytest.raises(NotAllowed, match="take a container in"):
        receive(a_counted_day(), "box-11", "paper")


@pytest.mark.parametrize(("holds", "letter"), [("paper", "d"), ("not_programmable", "p")])
def test_ballots_that_lie_in_a_closed_container_are_not_counted_as_none(holds: str, letter: str) -> None:
    day = a_reconciled_day()
    receive(day, "box-7", holds, stated=[30])
    assert day.view().next.startswith("open container box-7, both sides together")
    with pytest.raises(NotAllowed, match="box-7 has not been opened"):
        day.lock(**{letter: 0})
    open_(day, "box-7")
    day.lock(**{letter: 0})


@pytest.mark.parametrize(("holds", "letter"), [("paper", "d"), ("not_programmable", "p")])
def test_one_more_container_is_counted_though_the_number_before_it_is_locked(holds: str, letter: str) -> None:
    day = a_reconciled_day()
    receive(day, "box-7", holds)
    open_(day, "box-7")
    day.lock(**{letter: 2})
    receive(day, "box-8", holds)
    assert letter in day.state().numbers_to_count
    open_(day, "box-8")
    day.lock(**{letter: 3})
    assert day.state().other(letter) == 3


def test_where_all_is_hand_counted_the_stack_waits_for_every_container() -> None:
    day = Day()
    for name in ("box-1", "box-2"):
        receive(day, name)
    open_(day, "box-1")
    day.scan(TWELVE_SHEETS)
    day.act("run_ended", (CLERK,), run="101-1", device=day.device().id)
    day.act("hand_count_ordered", BOTH, reason="the device is dead")
    with pytest.raises(NotAllowed, match="container box-2 has not been opened"):
        day.enter("H", 12, ANN)


def test_the_hand_count_of_all_ballots_waits_for_every_container() -> None:
    day = Day()
    receive(day, "box-1")
    receive(day, "box-2")
    open_(day, "box-1")
    day.lock(H=0)
    day.act("hand_count_ordered", BOTH, reason="no scanner works")
    day.lock(p=0, o=0)
    assert day.state().state is State.HAND_COUNT
    with pytest.raises(NotAllowed, match="box-2 has not been opened"):
        day.count_pile("all_scanned", {"D": 2})
    open_(day, "box-2")
    assert day.state().numbers_to_count == ("H",)
    day.lock(H=2)
    day.count_pile("all_scanned", {"D": 2})
    assert day.state().state is State.CHALLENGE_CALL


@pytest.mark.parametrize("holds", EXCLUDED)
def test_b_a_package_that_is_no_part_of_the_recount_is_listed_and_never_opened(holds: str) -> None:
    day = Day()
    receive(day, "package-1", holds, stated=[4])
    with pytest.raises(NotAllowed, match="no part of the recount and stays sealed"):
        open_(day, "package-1")
    day.scan(TWELVE_SHEETS)
    day.finish_checked()
    assert standing(day) == {"package-1": "no part of the recount: stays sealed"}


def test_b_excluded_ballots_found_among_the_others_are_laid_apart() -> None:
    day = Day()
    receive(day, "box-1")
    day.act("excluded_recorded", BOTH, kind="spoiled", ballots=2, where="in box-1")
    assert len(day.state().excluded) == 1


def test_b_an_excluded_ballot_found_in_the_hand_count_gives_no_vote_and_is_no_ballot_found() -> None:
    day = a_reconciled_day()
    key(day, paper_ballots=0)
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "R": 1, "excluded": 1})
    said = statement(day.facts(), "101")
    assert [line.value for line in said.not_votes] == [0, 0, 1]
    assert said.notes[0].startswith("1 ballot fewer than the statement of results")


def test_d_ballots_that_lack_the_contest_are_sorted_out_before_anything_is_counted() -> None:
    day = Day()
    receive(day, "cap-1")
    with pytest.raises(NotAllowed, match="has not been opened"):
        day.act("container_sorted", BOTH, container="cap-1", out_of_scope=46)
    open_(day, "cap-1")
    day.act("container_sorted", BOTH, container="cap-1", out_of_scope=46)
    day.act("container_sorted", BOTH, container="cap-1", out_of_scope=4)
    assert day.state().containers[0].sorted_out == 50


def test_a_container_that_cannot_be_found_is_reported_and_nothing_is_topped_up() -> None:
    day = a_reconciled_day()
    missing: dict[str, Any] = {
        "container": "box-2",
        "holds": "scanned",
        "stated": [9],
        "reason": "not in the vault",
    }
    day.act("container_not_found", BOTH, **missing)
    with pytest.raises(NotAllowed, match="in the list already"):
        day.act("container_not_found", BOTH, **missing)
    with pytest.raises(NotAllowed, match="take it in first"):
        open_(day, "box-2")
    key(day, ballots=21, paper_ballots=0)
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "R": 1, "no_vote": 1})
    said = statement(day.facts(), "101")
    assert [row.total for row in said.parties] == [6, 4]
    assert "9 ballots fewer than the statement of results: reported, not topped up" in said.notes
    assert any("container box-2" in note and "stated as 9" in note for note in said.notes)
    assert standing(day) == {"box-2": "not found"}


def test_a_container_without_a_number_on_its_label_is_reported_without_one() -> None:
    day = a_reconciled_day()
    day.act("container_not_found", BOTH, container="b", holds="paper", stated=[], reason="not in the vault")
    key(day, paper_ballots=0)
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "R": 1, "no_vote": 1})
    assert any("container b (paper ballots" in note for note in statement(day.facts(), "101").notes)


def test_a_container_that_is_found_after_all_is_taken_in() -> None:
    day = Day()
    day.act("container_not_found", BOTH, container="b", holds="scanned", stated=[], reason="not in the vault")
    receive(day, "b")
    assert standing(day) == {"b": "seal intact, not opened"}


def test_custody_out_names_the_new_seal_and_changes_nothing_that_was_signed() -> None:
    day = a_counted_day()
    before = day.state().last_act_n
    receive_day = Day()
    receive(receive_day, "box-1")
    sealed: dict[str, Any] = {"container": "box-1", "holds": "counted", "seal": "4712", "to": "the clerk"}
    receive_day.act("container_resealed", BOTH, **sealed)
    assert standing(receive_day) == {"box-1": "sealed again, seal 4712"}
    day.act("container_resealed", BOTH, **sealed)
    assert day.state().resealed[0].seal == "4712"
    assert day.state().last_act_n == before


# The paper stream


def a_day_with_paper() -> Day:
    day = Day()
    receive(day, "box-1")
    receive(day, "paper-1", "paper")
    open_(day, "box-1")
    day.scan(TWELVE_SHEETS)
    day.finish_checked()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    day.lock(p=0, o=0)
    return day


def test_d1_paper_ballots_are_counted_by_hand_as_a_stream_of_their_own() -> None:
    day = a_day_with_paper()
    with pytest.raises(NotAllowed, match="count d first"):
        day.count_pile("set_aside", {"D": 2})
    with pytest.raises(NotAllowed, match="paper-1 has not been opened"):
        day.lock(d=3)
    open_(day, "paper-1")
    day.lock(d=3)
    day.count_pile("set_aside", {"D": 1, "no_vote": 1})
    day.count_pile("not_accepted", {"R": 1})
    assert day.state().state is State.RECONCILED
    day.count_pile("paper", {"D": 2, "R": 1})
    assert day.state().state is State.CHALLENGE_CALL
    said = statement(day.facts(), "101")
    assert [(row.accepted, row.by_hand, row.paper, row.total) for row in said.parties] == [
        (5, 1, 2, 8),
        (3, 1, 1, 5),
    ]
    assert [line.source for line in said.sources] == ["the ballots", "the ballots"]


def test_d1_paper_ballots_fed_among_the_others_make_c_plus_s_unequal_to_the_ballots_rerun() -> None:
    day = Day()
    receive(day, "paper-1", "paper")
    day.scan([*TWELVE_SHEETS, Sheet(COUNTED, ("D",))])
    day.finish()
    day.lock(H=12, c=9, s=2, x=1)
    assert "I2" in day.reconcile().verdicts[-1].failed


def test_d1_paper_that_the_statement_of_results_tells_of_is_asked_for() -> None:
    day = a_reconciled_day()
    key(day)
    day.lock(p=0, o=0)
    with pytest.raises(NotAllowed, match="count d first"):
        day.count_pile("set_aside", {"D": 2})


def test_d2_ballots_that_cannot_be_programmed_are_a_pile_of_their_own() -> None:
    day = a_reconciled_day()
    receive(day, "odd", "not_programmable")
    with pytest.raises(NotAllowed, match="odd has not been opened"):
        day.lock(p=2)
    open_(day, "odd")
    day.lock(p=2, o=0)
    day.count_pile("not_programmable", {"D": 2})
    day.count_pile("set_aside", {"D": 2})
    assert day.count_pile("not_accepted", {"R": 1}).state is State.CHALLENGE_CALL


def test_a_pile_that_this_hand_count_does_not_have_is_refused() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    with pytest.raises(NotAllowed, match="its piles are set_aside, not_accepted, not_programmable, paper"):
        day.count_pile("all_scanned", {"D": 12})


# The statement of results


def test_e_the_statement_of_results_is_keyed_twice_blind_and_must_agree() -> None:
    day = Day()
    day.act("results_keyed", (CLERK,), figures=RESULTS)
    assert day.view().results == "keyed in once: another person keys it in now"
    with pytest.raises(NotAllowed, match="Cleo May has keyed it in already"):
        day.act("results_keyed", (CLERK,), figures=RESULTS)
    day.act("results_keyed", (ANN,), figures={**RESULTS, "votes:D": 8})
    assert day.view().results == "the two keyings differ: both key it in again"
    assert day.state().results.agreed is None
    key(day)
    assert day.view().results == "locked"
    assert day.state().results.agreed == dict(sorted(RESULTS.items()))
    assert len(day.state().results.entries) == 4
    with pytest.raises(NotAllowed, match="is locked"):
        day.act("results_keyed", (BOB,), figures=RESULTS)


def test_each_person_keys_the_statement_of_results_alone() -> None:
    with pytest.raises(NotAllowed, match="alone"):
        Day().act("results_keyed", BOTH, figures=RESULTS)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"votes:Z": 1}, '"Z" is no option'),
        ({"paper_votes:Z": 1}, '"Z" is no option'),
        ({"voters": 1}, '"voters" is no figure'),
        ({"counter:": 1}, '"counter:" is no figure'),
    ],
)
def test_what_is_no_figure_of_a_statement_of_results_is_refused(changed: dict[str, int], why: str) -> None:
    with pytest.raises(BadEntry, match=why):
        key(Day(), **changed)


def test_no_blank_is_left_in_a_statement_of_results() -> None:
    with pytest.raises(BadEntry, match=r"lacks ballots, votes:R: write 0"):
        check_figures({"votes:D": 1}, ("D", "R"), ("D", "R"))


def test_before_a_program_is_known_only_the_parties_votes_can_be_keyed() -> None:
    day = Day(program=False)
    with pytest.raises(BadEntry, match='"T" is no option'):
        key(day, **{"votes:T": 1})
    key(day)


# Ballots that cannot be found


def test_f_the_votes_of_candidates_who_are_no_party_are_keyed_in_once_the_program_names_them() -> None:
    day = Day(program=False)
    with pytest.raises(
        BadEntry, match=r"the options are D, R, until the contest program .* \(program add\)$"
    ):
        key(day, **{"votes:T": 1})
    with pytest.raises(BadEntry, match=r"the options are D, R, T, other_write_in$"):
        key(Day(), **{"votes:Z": 1})


def test_e_where_the_ballots_cannot_be_found_the_statement_of_results_stands_in() -> None:
    day = Day()
    receive(day, "paper-1", "paper")
    key(day, pollbook=15)
    lost: dict[str, Any] = {"stream": "scanned", "reason": "the vault was flooded"}
    day.act("ballots_not_found", BOTH, **lost)
    assert day.state().state is State.HAND_COUNT
    with pytest.raises(NotAllowed, match="declare the ballots cast on scanners not found"):
        day.act("ballots_not_found", BOTH, **lost)
    with pytest.raises(NotAllowed, match="statement of results stands in"):
        receive(day, "box-1")
    with pytest.raises(NotAllowed, match="H is not counted any more"):
        day.enter("H", 12, ANN)
    open_(day, "paper-1")
    day.lock(p=0, d=3)
    assert day.count_pile("paper", {"D": 3}).state is State.CHALLENGE_CALL
    said = statement(day.facts(), "101")
    assert [(row.stated, row.paper, row.total) for row in said.parties] == [(7, 3, 10), (4, 0, 4)]
    assert said.mode == "live", "no device stood here, and it is no less a recount"
    assert (
        said.sources[0].source
        == "the statement of results; the ballots cannot be found: the vault was flooded"
    )
    assert said.notes[0] == "for ballots that cannot be found the statement of results stands in (E)"
    assert [line.name for line in said.identities] == ["I5", "I7", "I8"]
    assert not [line.name for line in said.ballots if line.name[:1] in "HCSXo"]


def test_e_where_the_paper_ballots_cannot_be_found_their_stated_votes_stand_in() -> None:
    day = a_reconciled_day()
    key(day)
    day.act("ballots_not_found", BOTH, stream="paper", reason="the envelope is empty")
    with pytest.raises(NotAllowed, match="declared already"):
        day.act("ballots_not_found", BOTH, stream="paper", reason="again")
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "R": 1, "no_vote": 1})
    said = statement(day.facts(), "101")
    assert [(row.accepted, row.by_hand, row.stated, row.total) for row in said.parties] == [
        (5, 1, 2, 8),
        (3, 1, 1, 5),
    ]


def test_e_nothing_stands_in_for_ballots_that_are_here() -> None:
    day = Day()
    key(day)
    receive(day, "box-1")
    with pytest.raises(NotAllowed, match="container box-1 is here: what is here is counted"):
        day.act("ballots_not_found", BOTH, stream="scanned", reason="some are wet")
    day = Day()
    key(day)
    day.assign()
    with pytest.raises(NotAllowed, match="counted or given to a device"):
        day.act("ballots_not_found", BOTH, stream="scanned", reason="some are wet")


def test_e_without_the_statement_of_results_nothing_can_stand_in() -> None:
    with pytest.raises(NotAllowed, match="still wanting: D, R"):
        Day().act("ballots_not_found", BOTH, stream="scanned", reason="lost")


# Notes


def counted_with_results(**changed: int) -> Day:
    day = a_reconciled_day()
    key(day, paper_ballots=0, **changed)
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "R": 1, "no_vote": 1})
    return day


def test_e_more_than_the_pollbook_has_names_is_a_note_and_the_figures_stand() -> None:
    said = statement(counted_with_results(pollbook=10).facts(), "101")
    assert "accepted as correct (E)" in said.notes[-1]
    assert [row.total for row in said.parties] == [6, 4]
    (i8,) = [line for line in said.identities if line.name == "I8"]
    assert i8.holds is None
    assert i8.figures == (
        "ballots found = 12, statement of results = 12",
        "ballots = 12, pollbook names = 10",
    )


def test_e_fewer_than_the_pollbook_has_names_is_reported_without_effect() -> None:
    day = counted_with_results(pollbook=15)
    assert day.view().notes == ("the pollbook has 3 names more than ballots: reported, without effect",)


def test_e_as_many_as_the_pollbook_has_names_needs_no_note() -> None:
    assert counted_with_results(pollbook=12).view().notes == ()


def test_e_the_order_may_hold_the_votes_against_the_pollbook() -> None:
    day = Day(order='pollbook = "votes"\n')
    day.scan(TWELVE_SHEETS)
    day.finish()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    key(day, paper_ballots=0, pollbook=12)
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "R": 1, "no_vote": 1})
    assert day.view().notes[-1].startswith("votes cast 14 exceed the 12 names")


def test_e_more_ballots_than_stated_are_a_note() -> None:
    assert counted_with_results(ballots=10).view().notes[0].startswith("2 ballots more than")


def test_i8_holds_the_public_counters_against_the_ballots() -> None:
    said = statement(counted_with_results(**{"counter:dsx-1": 8, "counter:dsx-2": 4}).facts(), "101")
    (i8,) = [line for line in said.identities if line.name == "I8"]
    assert i8.figures[1] == "public counters = 12, ballots on scanners = 12"


def test_without_a_statement_of_results_the_note_says_so() -> None:
    assert a_counted_day().view().notes == (
        "no statement of results is keyed in, so the ballots are held against nothing",
    )


def test_paper_that_is_told_of_when_all_is_counted_is_a_shortage_and_stops_nothing() -> None:
    day = a_counted_day()
    key(day)
    assert day.view().notes[0].startswith("3 ballots fewer than")
