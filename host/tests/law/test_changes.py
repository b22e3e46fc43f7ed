"""F s. 4: each change with each of its causes, precinct by precinct, and the precincts without one."""

from dataclasses import replace

from host.tests.law.test_e_statement import a_wholly_hand_counted_day
from host.tests.law.test_f_court import counted, key_results
from host.tests.law.test_statement_line_by_line import a_day_without_the_scanned_ballots
from host.tests.rehearsal import Day
from host.tests.sound_device import Sheet
from recount_host.law.changes import Change, changes
from recount_protocol.fates import COUNTED


def certified(day: Day) -> Day:
    """Let every precinct be concluded, every ballot be ruled a vote for R, and the court certify."""
    for precinct in day.order.precincts:
        day.conclude(precinct.id)
    day.open_docket()
    for state, ballot in day.court().docket:
        day.hear(ballot.tag, state.precinct.id)
        day.rule("R", ballot.tag, state.precinct.id)
    day.certify()
    return day


def two_precincts() -> Day:
    """Return a certified day: 101 as certified before, 102 with a ballot that the court gives to R."""
    day = counted(precincts=("101", "102"))
    key_results(day, "101", D=6, R=4, T=1)
    key_results(day, "102", D=6, R=4, T=1)
    day.segregate(precinct="102", counted_as="D")
    return certified(day)


def test_a_precinct_without_a_change_says_so_and_one_with_a_change_says_why() -> None:
    day = two_precincts()
    report = changes(day.facts())
    same, moved = report.precincts
    assert (same.id, same.name, same.causes) == ("101", "Precinct 101", ("no change",))
    ruling = next(act.n for act in day.acts if act.kind == "ballot_ruled")
    assert moved.causes == (
        "3 ballots counted by hand (D 1, D 2)",
        f"ruling {ruling} of the court on tag T-1: R +1",
    )
    assert (report.version, report.mode) == (1, "training")


def test_each_option_is_told_as_certified_recounted_ruled_and_now() -> None:
    same, moved = changes(two_precincts().facts()).precincts
    assert same.options == (
        Change("D", "Josiah Bartlett", 6, 6, 0, 6, 0),
        Change("R", "Arnold Vinick", 4, 4, 0, 4, 0),
        Change("T", "Howard Stackhouse", 1, 1, 0, 1, 0),
    )
    assert moved.options == (
        Change("D", "Josiah Bartlett", 6, 5, 0, 5, -1),
        Change("R", "Arnold Vinick", 4, 4, 1, 5, 1),
        Change("T", "Howard Stackhouse", 1, 1, 0, 1, 0),
    )


def test_how_long_all_is_kept_is_counted_from_the_version_that_was_certified_last() -> None:
    day = two_precincts()
    day.court_act("amendment_ordered", version=2, order="of 4 January", reason="a wrong digit")
    day.certify()
    last = max(act.n for act in day.acts if act.kind == "certified")
    later = [replace(act, utc="2027-01-05T15:00:00Z") if act.n == last else act for act in day.acts]
    report = changes(replace(day.facts(), acts=tuple(later)))
    said = "the court certified on 2027-01-05 (the date at Greenwich)"
    assert (report.version, report.kept[0]) == (2, said)


def test_the_totals_are_those_of_all_precincts_in_the_same_order() -> None:
    assert changes(two_precincts().facts()).totals == (
        Change("D", "Josiah Bartlett", 12, 11, 0, 11, -1),
        Change("R", "Arnold Vinick", 8, 8, 1, 9, 1),
        Change("T", "Howard Stackhouse", 2, 2, 0, 2, 0),
    )


def test_where_one_precinct_was_not_keyed_in_no_total_is_held_against_what_was_certified() -> None:
    day = counted(precincts=("101", "102"))
    key_results(day, "101", D=6, R=4, T=1)
    report = changes(certified(day).facts())
    assert report.precincts[0].causes == ("no change",)
    assert report.precincts[1].causes == (
        "what was certified before is not keyed in (results key)",
        "3 ballots counted by hand (D 1, D 2)",
    )
    assert [(total.certified, total.final, total.change) for total in report.totals] == [
        (None, 12, None),
        (None, 8, None),
        (None, 2, None),
    ]


def test_rulings_that_cancel_each_other_are_told_although_the_total_is_the_same() -> None:
    day = counted()
    key_results(day, D=6, R=4, T=1)
    day.segregate(counted_as="R")
    (line,) = changes(certified(day).facts()).precincts
    assert [(option.key, option.by_court, option.change) for option in line.options] == [
        ("D", 0, 0),
        ("R", 1, 0),
        ("T", 0, 0),
    ]
    assert line.causes[-1].endswith("of the court on tag T-1: R +1")


def test_an_option_that_nobody_voted_for_stands_there_where_it_is_a_party_or_was_certified() -> None:
    day = counted()
    key_results(day, D=6, R=4, T=1, other_write_in=0)
    assert [option.key for option in changes(certified(day).facts()).totals] == [
        "D",
        "R",
        "T",
        "other_write_in",
    ]
    assert [option.key for option in changes(certified(counted()).facts()).totals] == ["D", "R", "T"]


def test_a_party_without_a_vote_stands_there_and_no_hand_count_that_was_none_is_a_cause() -> None:
    day = Day()
    day.scan([Sheet(COUNTED, ("D",))] * 3)
    day.finish()
    day.reconcile_with(H=3, c=3, s=0, x=0)
    day.lock(p=0)
    (line,) = changes(certified(day).facts()).precincts
    assert [(option.key, option.final) for option in line.options] == [("D", 3), ("R", 0)]
    assert line.causes == ("what was certified before is not keyed in (results key)",)


def test_each_ruling_that_stands_is_a_cause_in_its_own_precinct_and_in_no_other() -> None:
    day = counted(precincts=("101", "102"))
    for name, tag in (("101", "T-1"), ("102", "T-2")):
        key_results(day, name, D=6, R=4, T=1)
        day.segregate(tag, name, counted_as="D")
        day.conclude(name)
    day.open_docket()
    for name, tag in (("101", "T-1"), ("102", "T-2")):
        day.hear(tag, name)
    replaced = day.rule("T", "T-1", "101")
    other = day.rule("R", "T-2", "102")
    standing = day.rule("R", "T-1", "101", instead_of=replaced)
    day.certify()
    rulings = [line.causes[1:] for line in changes(day.facts()).precincts]
    assert rulings == [
        (f"ruling {standing} of the court on tag T-1: R +1",),
        (f"ruling {other} of the court on tag T-2: R +1",),
    ]


def test_d2_a_precinct_that_was_counted_by_hand_as_a_whole_says_only_that() -> None:
    (line,) = changes(certified(a_wholly_hand_counted_day()).facts()).precincts
    assert line.causes == (
        "what was certified before is not keyed in (results key)",
        "all ballots cast on scanners were counted by hand (D 2)",
    )


def test_e_what_stands_in_for_lost_ballots_is_a_cause_with_its_note() -> None:
    (line,) = changes(certified(a_day_without_the_scanned_ballots()).facts()).precincts
    assert line.causes == (
        "4 ballots counted by hand (D 1, D 2)",
        "the statement of results stands in for ballots that were counted by scanners at the election (E)",
        "for ballots that cannot be found the statement of results stands in (E)",
    )
