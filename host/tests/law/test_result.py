"""E s. 1: where the votes of a precinct come from, and what is no part of them."""

from typing import Any

from host.tests.rehearsal import Day, a_counted_day, a_hand_count_day, a_reconciled_day
from recount_host.law.challenges import CHALLENGED
from recount_host.law.result import Result, option_names, result_of, scanners_count, valid_outcomes


def test_the_votes_of_an_option_are_those_of_all_four_sources() -> None:
    result = Result({"D": 1}, {"D": 20}, {"D": 300}, {"D": 4000, "R": 7})
    assert (result.votes("D"), result.votes("R"), result.votes("T")) == (4321, 7, 0)


def test_a_party_has_the_name_that_the_order_gives_it() -> None:
    day = Day(options=(("D", "Josiah Bartlett", False), ("R", "Arnold Vinick", False), ("T", "Third", False)))
    written: list[dict[str, Any]] = day.acts[-1].body["options"]
    options = [{**option, "name": str(option["name"]).upper()} for option in written]
    program = {**day.acts[-1].body, "program": bytes(32), "options": options}
    other = Day(program=False)
    other.append("program_added", day.acts[-1].by, program)
    names = option_names(other.state())
    assert names == {
        "D": "Josiah Bartlett",
        "R": "Arnold Vinick",
        "T": "THIRD",
        "other_write_in": "Write-in votes for others",
    }


def test_without_a_program_only_the_parties_and_write_ins_are_known() -> None:
    assert list(option_names(Day(program=False).state())) == ["D", "R", "other_write_in"]


def test_the_scanners_count_only_where_their_figures_were_shown_and_stand() -> None:
    assert not scanners_count(Day().state())
    assert scanners_count(a_reconciled_day().state())
    assert not scanners_count(a_hand_count_day().state())
    assert result_of(a_hand_count_day().state()).accepted == {}


def test_a_ballot_counted_as_challenged_is_no_valid_outcome() -> None:
    assert valid_outcomes(Day().state()) == {}
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, CHALLENGED: 2})
    assert valid_outcomes(day.state())["set_aside"] == {"D": 1}


def test_a_ballot_laid_apart_after_it_was_counted_is_taken_out_of_its_outcome() -> None:
    day = a_counted_day()
    before = valid_outcomes(day.state())
    day.segregate(counted_as="D")
    after = valid_outcomes(day.state())
    assert before["set_aside"]["D"] - after["set_aside"]["D"] == 1
