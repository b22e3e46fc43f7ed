"""B, D 1, E s. 1: what each act of custody changes of a precinct, and what it leaves alone."""

from typing import Any

import pytest

from host.tests.law.test_b_custody import key, open_, receive
from host.tests.rehearsal import BOTH, Day, a_counted_day, a_reconciled_day
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.law.errors import NotAllowed
from recount_host.law.states import State


def containers(day: Day) -> list[tuple[str, str, str, str, int | None, bool, int]]:
    return [
        (c.name, c.holds, c.seal, c.seal_was, c.stated, c.opened is not None, c.sorted_out)
        for c in day.state().containers
    ]


def lost(day: Day, name: str, holds: str = "scanned", **changed: Any) -> None:
    what: dict[str, Any] = {"container": name, "holds": holds, "stated": [], "reason": "not in the vault"}
    day.act("container_not_found", BOTH, **{**what, **changed})


def sort_out(day: Day, name: str, ballots: int) -> None:
    day.act("container_sorted", BOTH, container=name, out_of_scope=ballots)


def test_a_precinct_begins_with_the_first_container_also_where_that_cannot_be_found() -> None:
    day = Day()
    lost(day, "box-1")
    assert day.state().state is State.OPEN


def test_what_is_laid_apart_is_recorded_while_ballots_are_counted_and_not_afterwards() -> None:
    found: dict[str, Any] = {"kind": "spoiled", "ballots": 1, "where": "in the stack"}
    day = a_counted_day()
    with pytest.raises(NotAllowed, match="all its ballots that are here are counted"):
        day.act("excluded_recorded", BOTH, **found)
    day = Day()
    receive(day, "box-1")
    day.act("excluded_recorded", BOTH, **found)
    assert len(day.state().excluded) == 1


def test_each_container_is_kept_as_it_came_and_only_the_one_named_is_changed() -> None:
    day = Day()
    receive(day, "box-1", stated=[12])
    receive(day, "box-2", seal="4712", seal_was="broken")
    lost(day, "box-3", stated=[7])
    open_(day, "box-2")
    sort_out(day, "box-2", 2)
    sort_out(day, "box-2", 3)
    assert containers(day) == [
        ("box-1", "scanned", "4711", "intact", 12, False, 0),
        ("box-2", "scanned", "4712", "broken", None, True, 5),
        ("box-3", "scanned", "", "not_found", 7, False, 0),
    ]
    assert day.state().unopened == ("box-1",)


def test_what_did_not_come_or_is_not_open_is_not_sorted() -> None:
    day = Day()
    receive(day, "box-1")
    lost(day, "box-2")
    for name in ("box-2", "box-3"):
        with pytest.raises(NotAllowed, match=f"container {name} was not taken in"):
            sort_out(day, name, 1)
        with pytest.raises(NotAllowed, match=f"container {name} was not taken in"):
            open_(day, name)
    with pytest.raises(NotAllowed, match="box-1 has not been opened"):
        sort_out(day, "box-1", 1)


def test_a_container_that_was_lost_and_is_found_stands_in_its_place_once() -> None:
    day = Day()
    lost(day, "box-1", stated=[7])
    with pytest.raises(NotAllowed, match="box-1 is in the list already"):
        lost(day, "box-1")
    receive(day, "box-1", stated=[6])
    assert containers(day) == [("box-1", "scanned", "4711", "intact", 6, False, 0)]
    with pytest.raises(NotAllowed, match="box-1 is in the list already"):
        lost(day, "box-1")


@pytest.mark.parametrize(("holds", "letter"), [("scanned", "H"), ("paper", "d"), ("not_programmable", "p")])
def test_more_ballots_of_a_kind_drop_the_count_that_cannot_have_held_them(holds: str, letter: str) -> None:
    day = Day()
    day.lock(H=12, p=0, d=3)
    receive(day, "box-9", holds)
    left = {entry.letter for entry in day.state().counts.entries}
    assert left == {"H", "p", "d"} - {letter}
    assert [entry.letter for book in day.state().dropped_counts for entry in book.entries] == [letter, letter]


def test_a_package_that_is_no_part_of_the_recount_drops_no_count() -> None:
    day = Day()
    day.lock(H=12, p=0, d=3)
    receive(day, "pack-1", "spoiled")
    assert day.state().dropped_counts == ()


def test_scanned_ballots_that_come_when_scanning_is_finished_stay_sealed_and_others_do_not() -> None:
    day = a_reconciled_day()
    with pytest.raises(NotAllowed, match="scanning is finished"):
        receive(day, "box-9")
    receive(day, "np-1", "not_programmable")
    assert [name for name, *_ in containers(day)] == ["np-1"]


def test_what_is_declared_missing_is_not_taken_in_any_more() -> None:
    day = Day()
    key(day)
    day.act("ballots_not_found", BOTH, stream="paper", reason="the envelope is empty")
    with pytest.raises(NotAllowed, match="both sides declared that these ballots cannot be found"):
        receive(day, "paper-1", "paper")
    receive(day, "box-1")


@pytest.mark.parametrize("stream", ["scanned", "paper"])
def test_e_a_stream_is_missing_only_where_nothing_of_it_is_here(stream: str) -> None:
    day = Day()
    key(day)
    receive(day, "one", stream)
    with pytest.raises(NotAllowed, match="container one is here"):
        day.act("ballots_not_found", BOTH, stream=stream, reason="lost")
    day = Day()
    key(day)
    lost(day, "one", stream)
    assert day.act("ballots_not_found", BOTH, stream=stream, reason="lost").is_missing(stream)


def test_e_a_stream_that_was_counted_or_given_to_a_device_is_not_missing() -> None:
    for letter, stream in (("H", "scanned"), ("d", "paper")):
        day = Day()
        key(day)
        day.lock(**{letter: 3})
        with pytest.raises(NotAllowed, match="some of them were counted or given to a device"):
            day.act("ballots_not_found", BOTH, stream=stream, reason="lost")
    day = Day()
    key(day)
    day.assign()
    with pytest.raises(NotAllowed, match="some of them were counted or given to a device"):
        day.act("ballots_not_found", BOTH, stream="scanned", reason="lost")
    assert day.act("ballots_not_found", BOTH, stream="paper", reason="lost").is_missing("paper")


def test_e_the_votes_of_every_party_stand_in_the_statement_of_results_first() -> None:
    day = Day()
    with pytest.raises(NotAllowed, match="still wanting: D, R"):
        day.act("ballots_not_found", BOTH, stream="paper", reason="lost")
    figures = {"ballots": 12, "votes:D": 7, "votes:R": 4, "paper_votes:D": 1}
    for person in BOTH:
        day.act("results_keyed", (person,), figures=figures)
    with pytest.raises(NotAllowed, match="still wanting: R"):
        day.act("ballots_not_found", BOTH, stream="paper", reason="lost")
    day.act("ballots_not_found", BOTH, stream="scanned", reason="lost")


def test_figures_that_were_keyed_in_are_equal_in_whatever_order_they_came() -> None:
    day = Day()
    figures = {"ballots": 12, "votes:R": 4, "votes:D": 7}
    day.act("results_keyed", (BOTH[0],), figures=figures)
    day.act("results_keyed", (BOTH[1],), figures=dict(reversed(figures.items())))
    assert list(day.state().results.agreed or {}) == ["ballots", "votes:D", "votes:R"]


def test_what_is_sealed_again_and_what_was_excluded_is_kept_in_order() -> None:
    day = a_counted_day()
    for name, seal in (("box-1", "4712"), ("box-2", "4713")):
        sealed: dict[str, Any] = {
            "container": name,
            "holds": "counted",
            "seal": seal,
            "to": "the clerk, June Day",
        }
        day.act("container_resealed", BOTH, **sealed)
    assert [(one.name, one.holds, one.seal, one.given_to, one.by) for one in day.state().resealed] == [
        ("box-1", "counted", "4712", "the clerk, June Day", BOTH),
        ("box-2", "counted", "4713", "the clerk, June Day", BOTH),
    ]
    day = Day()
    day.scan(TWELVE_SHEETS)
    for ballots in (1, 2):
        day.act("excluded_recorded", BOTH, kind="spoiled", ballots=ballots, where="in the box")
    assert [act.body["ballots"] for act in day.state().excluded] == [1, 2]
