"""I8, E s. 4: what the ballots are held against, figure by figure; a note, never a trigger."""

from collections.abc import Mapping

from host.tests.law.test_b_custody import open_, receive
from host.tests.law.test_custody_steps import lost
from host.tests.law.test_statement_line_by_line import a_day_without_the_scanned_ballots
from host.tests.rehearsal import BOTH, Day, a_counted_day, a_reconciled_day, count_twelve_sheets
from host.tests.sound_device import TWELVE_SHEETS, Sheet
from recount_host.law.notes import forecast, notes, pollbooks_together
from recount_protocol.fates import COUNTED, SET_ASIDE

STATED = {"ballots": 12, "votes:D": 6, "votes:R": 4}


def keyed(day: Day, **changed: int) -> Day:
    figures = {**STATED, **{name.replace("__", ":"): n for name, n in changed.items()}}
    for person in BOTH:
        day.act("results_keyed", (person,), figures=figures)
    return day


def equations(day: Day) -> list[str]:
    finding = notes(day.state()).finding
    return [str(equation) for equation in finding.equations] if finding is not None else []


def sentences(day: Day) -> tuple[str, ...]:
    return notes(day.state()).sentences


def a_rich_day() -> Day:
    """Return a counted day: H 12, o 1, p 2, d 3, and one ballot that B excludes."""
    day = Day()
    receive(day, "paper-1", "paper")
    open_(day, "paper-1")
    day.scan(TWELVE_SHEETS)
    day.finish()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    day.lock(p=2, o=1, d=3)
    day.count_pile("set_aside", {"D": 1, "excluded": 1})
    day.count_pile("not_programmable", {"R": 2})
    day.count_pile("paper", {"D": 3})
    return day


def test_the_ballots_of_the_contest_that_are_here_are_held_against_those_stated() -> None:
    day = keyed(a_rich_day(), ballots=12, paper_ballots=3)
    assert equations(day) == ["ballots found = 15, statement of results = 15"]
    assert sentences(day) == ()
    assert sentences(keyed(a_rich_day(), ballots=13, paper_ballots=3)) == (
        "1 ballot fewer than the statement of results: reported, not topped up",
    )
    assert sentences(keyed(a_rich_day(), ballots=10, paper_ballots=3)) == (
        "2 ballots more than the statement of results: the figures stand (E)",
    )


def test_where_no_paper_is_stated_the_ballots_alone_are() -> None:
    assert equations(keyed(a_counted_day())) == ["ballots found = 12, statement of results = 12"]


def test_where_no_paper_ballot_is_stated_the_pollbook_is_held_against_the_ballots_on_scanners() -> None:
    day = keyed(a_counted_day(), pollbook=12)
    assert equations(day)[-1] == "ballots = 12, pollbook names = 12"


def test_counters_and_pollbook_are_held_against_what_is_stated() -> None:
    day = keyed(a_rich_day(), ballots=12, paper_ballots=3, counter__east=9, counter__west=3, pollbook=15)
    assert equations(day) == [
        "ballots found = 15, statement of results = 15",
        "public counters = 12, ballots on scanners = 12",
        "ballots = 15, pollbook names = 15",
    ]
    assert sentences(day) == ()
    more = keyed(a_rich_day(), ballots=12, paper_ballots=3, pollbook=14)
    assert sentences(more) == (
        "ballots 15 exceed the 14 names on the pollbook: the figures recorded are accepted as correct (E)",
    )
    fewer = keyed(a_rich_day(), ballots=12, paper_ballots=3, pollbook=17)
    assert sentences(fewer) == ("the pollbook has 2 names more than ballots: reported, without effect",)


def test_for_lost_ballots_the_statement_of_results_stands_in_and_nothing_is_called_short() -> None:
    day = a_day_without_the_scanned_ballots()
    assert equations(day) == ["ballots found = 4, statement of results = 15"]
    assert sentences(day) == ("for ballots that cannot be found the statement of results stands in (E)",)


def test_a_container_that_cannot_be_found_is_named_with_what_its_label_says() -> None:
    day = Day()
    lost(day, "box-1", stated=[7])
    lost(day, "np-1", "not_programmable")
    lost(day, "box-2", stated=[0])
    receive(day, "box-3")
    open_(day, "box-3")
    day.scan(TWELVE_SHEETS)
    day.finish()
    count_twelve_sheets(day)
    scanned = "ballots that were counted by scanners at the election"
    told = [sentence for sentence in sentences(keyed(day)) if sentence.startswith("container")]
    assert told[0] == f"container box-1 ({scanned}, stated as 7) cannot be found: nothing is topped up"
    assert told[1].startswith("container np-1 (")
    assert "stated as" not in told[1]
    assert told[2] == f"container box-2 ({scanned}, stated as 0) cannot be found: nothing is topped up"
    assert len(told) == 3


def test_without_a_statement_of_results_nothing_is_held_against_anything() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    assert notes(day.state()).finding is None


def test_where_several_are_elected_the_votes_are_told_as_full_ballots_for_information() -> None:
    day = Day(vote_for=2)
    day.scan([*(Sheet(COUNTED, ("D", "R")) for _ in range(5)), Sheet(SET_ASIDE, (), ("undervote",))])
    day.finish()
    day.reconcile_with(H=6, c=5, s=1, x=0)
    day.lock(p=0, o=0)
    day.hand_count({"D": 1})
    assert sentences(keyed(day, ballots=6, votes__D=6, votes__R=5, pollbook=6)) == (
        "for information: 11 votes, of which a ballot may have 2, are those of 5.5 full ballots",
    )
    assert sentences(keyed(a_counted_day(), pollbook=12)) == ()


def test_the_precincts_together_are_held_against_their_pollbooks_where_each_has_one() -> None:
    one, other = (keyed(a_counted_day(), pollbook=names).state() for names in (12, 9))
    assert pollbooks_together([one, other]) == (
        "all precincts together: ballots 24, pollbook names 21",
        "ballots 24 exceed the 21 names on the pollbook: the figures recorded are accepted as correct (E)",
    )
    more = keyed(a_counted_day(), pollbook=15).state()
    assert pollbooks_together([one, more, other]) == (
        "all precincts together: ballots 36, pollbook names 36",
    )
    assert pollbooks_together([one, keyed(a_counted_day()).state()]) == ()
    assert pollbooks_together([one, a_counted_day().state()]) == ()
    assert pollbooks_together([keyed(a_counted_day()).state()]) == ()


def a_day_before_the_run(vote_for: int, figures: Mapping[str, int], *, locked: bool = True) -> Day:
    day = keyed(Day(vote_for=vote_for), **figures)
    if locked:
        day.lock(H=12)
    return day


def test_before_the_run_it_is_told_how_many_ballots_will_be_set_aside_where_several_are_elected() -> None:
    every = {"votes__D": 9, "votes__R": 8, "votes__T": 0}
    said = (
        "by the statement of results 4 to 7 of 12 ballots give fewer than 2 votes to printed names: so many "
        "will be set aside and counted by hand, unless the court orders that all are"
    )
    day = a_day_before_the_run(2, every)
    assert day.view().notes == (said,)
    day.scan([Sheet(COUNTED, ("D", "R"))])
    assert day.view().notes == ()
    [few] = a_day_before_the_run(3, every).view().notes
    assert few.startswith("by the statement of results 7 to 12 of 12 ballots give fewer than 3 votes")
    one = a_day_before_the_run(2, {**every, "votes__R": 14})
    assert one.view().notes[0].startswith("by the statement of results 1 of 12 ballots")
    assert a_day_before_the_run(2, {**every, "votes__R": 15}).view().notes == ()


def test_no_forecast_is_told_where_one_is_elected_or_votes_are_not_stated_or_the_stack_is_counted() -> None:
    every = {"votes__D": 9, "votes__R": 2, "votes__T": 0}
    assert a_day_before_the_run(1, every).view().notes == ()
    assert a_day_before_the_run(2, {"votes__D": 9}).view().notes == ()
    assert forecast(a_day_before_the_run(2, every, locked=False).state()) == ()
    without_program = keyed(Day(vote_for=2, program=False), votes__D=9, votes__R=2)
    without_program.lock(H=12)
    assert forecast(without_program.state()) == ()
    unstated = Day(vote_for=2)
    unstated.lock(H=12)
    assert forecast(unstated.state()) == ()
