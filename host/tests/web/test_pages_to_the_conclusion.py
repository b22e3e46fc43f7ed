"""A precinct's page from its containers to its conclusion: what it shows, and no figure too early."""

from pathlib import Path

from host.tests.law.test_b_custody import a_day_with_paper, key, open_, receive
from host.tests.law.test_d3_challenges import answer, challenge, conclude, segregate
from host.tests.rehearsal import ANN, Day
from host.tests.web.site import Site


def page(folder: Path, day: Day) -> str:
    return Site(folder).fill(day).ask("/precincts/101").text


def test_containers_and_the_statement_of_results_are_shown_without_a_number(tmp_path: Path) -> None:
    day = Day()
    receive(day, "box-1", stated=[8731])
    receive(day, "pack-1", "spoiled")
    key(day, ballots=8732)
    text = page(tmp_path, day)
    assert "Open container box-1, both sides together" in text
    assert "no part of the recount: stays sealed" in text
    assert "Statement of results of the election: locked." in text
    assert "8731" not in text
    assert "8732" not in text


def a_questioned_day() -> Day:
    day = a_day_with_paper()
    key(day, pollbook=10)
    segregate(day)
    challenge(day)
    open_(day, "paper-1")
    day.lock(d=3)
    day.count_pile("set_aside", {"challenged": 1, "no_vote": 1})
    day.count_pile("not_accepted", {"R": 1})
    return day


def test_the_hand_count_is_shown_pile_by_pile(tmp_path: Path) -> None:
    text = page(tmp_path, a_questioned_day())
    assert "The paper ballots (D 1)." in text
    assert "to be counted, twice through" in text


def test_questioned_ballots_the_call_and_the_notes_are_shown(tmp_path: Path) -> None:
    day = a_questioned_day()
    day.count_pile("paper", {"D": 2, "R": 1})
    answer(day, ANN)
    site = Site(tmp_path).fill(day)
    text = site.ask("/precincts/101").text
    assert "T-1" in text
    assert "by Bob Ray, official, R (before conclusion): The slash strikes the oval out." in text
    assert "Ann Lee, official, D: no further question" in text
    assert "Bob Ray, official, R: not asked yet" in text
    assert "accepted as correct (E)." in text
    conclude(day)
    text = site.fill(day).ask("/precincts/101").text
    assert "Concluded" in text
    assert "not asked yet" not in text
