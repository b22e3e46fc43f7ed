"""F s. 1 and s. 2: the docket as it may be shown, from a draft to the rulings as they stand."""

from host.tests.law.test_d3_challenges import challenge
from host.tests.law.test_f_court import counted, in_court
from host.tests.rehearsal import CLERK_OF_COURT, Day, a_reconciled_day, a_scanned_day
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.law.docket import ACCEPTED_PILE, DocketLine, DocketView, docket_view
from recount_host.law.piles import PILES


def shown(day: Day) -> DocketView:
    return docket_view(day.order, day.court())


def the_line(day: Day) -> DocketLine:
    (line,) = shown(day).lines
    return line


def test_f_before_every_precinct_is_concluded_the_docket_is_a_draft_that_tells_no_outcome() -> None:
    day = counted(precincts=("101", "102"))
    day.segregate(precinct="102", counted_as="R")
    day.conclude("101")
    view = shown(day)
    assert not view.is_open
    assert view.not_concluded == ("102",)
    assert "the docket opens after all are (F)" in view.situation
    (line,) = view.lines
    assert (line.precinct, line.precinct_name, line.tag) == ("102", "Precinct 102", "T-1")
    assert line.counted_as == ""
    assert view.totals == view.to_declare == ()


def test_a_draft_of_the_docket_tells_no_figure_that_people_still_have_to_find() -> None:
    seen: list[DocketView] = []
    for sheets in (TWELVE_SHEETS, TWELVE_SHEETS[1:]):
        day = a_scanned_day(sheets)
        day.segregate()
        seen.append(shown(day))
    assert seen[0] == seen[1]


def test_f_the_open_docket_names_each_ballot_with_its_question_its_statements_and_who_was_heard() -> None:
    day = in_court()
    challenge(day)
    line = the_line(day)
    assert shown(day).is_open
    assert (line.envelope, line.counted_as, line.question) == ("E-T-1", "", "a slash through one oval")
    assert (line.pile, line.in_totals) == (PILES["set_aside"], False)
    ((number, who, what, standing),) = line.statements
    assert number == day.acts[-1].n
    assert (who, what) == ("Bob Ray, official, R", "The slash strikes the oval out.")
    assert standing == "after conclusion"
    assert line.not_heard == ("Josiah Bartlett", "Arnold Vinick")
    said = {"tag": "T-1", "side": "R", "inspected": "waived", "argument": "the law is plain"}
    day.act("ballot_heard", (day.acts[-2].by), "101", **said)
    line = the_line(day)
    assert [(one.party, one.inspected, one.argument) for one in line.said] == [
        ("Arnold Vinick", "waived", "the law is plain")
    ]
    assert line.not_heard == ("Josiah Bartlett",)


def test_f_every_ruling_is_shown_and_which_one_stands() -> None:
    day = in_court("counted")
    assert the_line(day).pile == ACCEPTED_PILE
    assert the_line(day).in_totals
    assert the_line(day).ruling is None
    assert shown(day).unruled == 1
    day.hear()
    first = day.rule("R")
    day.rule("overvote", instead_of=first)
    line = the_line(day)
    assert [(ruling.says, ruling.stands) for ruling in line.rulings] == [
        ("R", False),
        (f"overvote (instead of ruling {first})", True),
    ]
    standing = line.ruling
    assert standing is not None
    assert standing.effect == {"D": -1}
    assert shown(day).unruled == 0


def test_f_the_vote_for_each_party_is_shown_once_every_ballot_is_ruled_on() -> None:
    day = in_court()
    assert shown(day).totals == ()
    day.hear()
    day.rule("D")
    view = shown(day)
    assert {party.key: party.total for party in view.totals} == {"D": 6, "R": 4}
    (declared,) = view.to_declare
    assert declared.startswith("Josiah Bartlett received the higher number of votes")
    assert (view.version, view.is_sealed) == (1, False)
    day.certify()
    assert shown(day).is_sealed


def test_h_a_tie_is_shown_with_its_branch() -> None:
    day = in_court()
    day.hear()
    day.rule("no_vote")
    taken: dict[str, object] = {
        "part": "other",
        "votes": {"D": -1},
        "reason": "a slip",
        "ruling": "order of 1 Dec.",
    }
    day.act("result_ruled", day.acts[-1].by, "101", **taken)
    view = shown(day)
    assert view.to_declare[-1].endswith("(office_class); the court directs")
    assert [(ruling.what, ruling.effect) for ruling in view.on_results] == [("result, other", {"D": -1})]
    (line,) = view.lines
    assert [ruling.says for ruling in line.rulings] == ["no vote"]


def test_f_what_was_offered_too_late_is_shown_apart_and_never_on_the_docket() -> None:
    day = in_court()
    day.act("ballot_proffered", text="an overvote, by letter on the next morning")
    view = shown(day)
    assert view.not_considered == (("101", "an overvote, by letter on the next morning"),)
    assert [line.tag for line in view.lines] == ["T-1"]


def test_the_picture_of_a_ballot_is_named_where_its_notice_is() -> None:
    day = a_reconciled_day()
    device = day.devices["alpha"]
    sheet = 10  # the overvote
    day.segregate(device=device.id, batch=1, sheet=sheet)
    day.segregate("T-2")
    first, second = shown(day).lines
    judged = [r.n for r in device.records if r.kind == "sheet_judged" and r.body["sheet"] == sheet]
    assert first.picture == (device.id, judged[0])
    assert second.picture is None


def test_the_docket_is_given_to_programs_as_plain_values() -> None:
    assert shown(in_court()).to_json()["lines"][0]["tag"] == "T-1"


def test_each_line_of_the_docket_holds_what_is_about_its_own_ballot() -> None:
    day = counted()
    day.segregate("T-1", counted_as="D")
    day.segregate("T-2", counted_as="R")
    first = challenge(day, tag="T-1")
    second = challenge(day, tag="T-2", text="another ink")
    day.conclude()
    day.open_docket()
    day.hear("T-2")
    day.rule("no_vote", "T-2")
    one, other = shown(day).lines
    assert [number for number, *_ in one.statements] == [first]
    assert [number for number, *_ in other.statements] == [second]
    assert (len(one.said), len(other.said)) == (0, 2)
    assert (one.not_heard, other.not_heard) == (("Josiah Bartlett", "Arnold Vinick"), ())
    assert (one.ruling, other.ruling is None) == (None, False)
    assert shown(day).unruled == 1


def test_f_a_draft_says_of_no_ballot_what_it_was_counted_as_and_the_open_docket_of_those_not_blind() -> None:
    day = a_reconciled_day()
    day.segregate()
    assert [line.counted_as for line in shown(day).lines] == [""]
    day.lock(p=0, o=0)
    day.hand_count({"challenged": 1, "D": 1, "R": 1})
    day.conclude()
    day.open_docket()
    assert [line.counted_as for line in shown(day).lines] == ["challenged"]


def test_h_no_tie_is_told_before_every_ballot_is_ruled_on() -> None:
    day = in_court()
    more: dict[str, object] = {"part": "other", "votes": {"R": 1}, "reason": "a slip", "ruling": "order"}
    day.act("result_ruled", (CLERK_OF_COURT,), "101", **more)
    assert shown(day).to_declare == ()
    assert shown(day).totals == ()


def test_each_picture_is_that_of_the_sheet_that_was_named() -> None:
    day = a_reconciled_day()
    device = day.devices["alpha"]
    for tag, sheet in (("T-1", 11), ("T-2", 10)):
        day.segregate(tag, device=device.id, batch=1, sheet=sheet)
    judged = {r.body["sheet"]: r.n for r in device.records if r.kind == "sheet_judged"}
    assert [line.picture for line in shown(day).lines] == [(device.id, judged[11]), (device.id, judged[10])]
