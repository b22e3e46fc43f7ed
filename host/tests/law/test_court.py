"""F, G: what the court's acts ask for, whoever enters them, and where its part stands in words."""

from dataclasses import replace
from typing import Any

import pytest

from host.tests.law.test_f_court import counted, in_court
from host.tests.rehearsal import ANN, BOB, CLERK, CLERK_OF_COURT, Day
from host.tests.sound_device import Sheet
from recount_host.act import Person
from recount_host.law.court import admit_court, forms_ready
from recount_host.law.errors import BadEntry, LedgerContradiction, NotAllowed

NOTHING: dict[str, Any] = {"sha256": bytes(32), "facts_sha256": bytes(32)}
OTHER: dict[str, Any] = {"sha256": b"\1" * 32, "facts_sha256": b"\2" * 32}


def concluded() -> Day:
    day = counted()
    day.conclude()
    return day


def all_ruled() -> Day:
    day = in_court()
    day.hear()
    day.rule("D")
    return day


def two_questioned() -> Day:
    day = counted()
    day.segregate("T-1", counted_as="D")
    day.segregate("T-2", counted_as="R")
    day.conclude()
    day.open_docket()
    return day


def test_f_the_situation_names_the_first_precinct_and_the_first_ballot_that_wait() -> None:
    day = counted(precincts=("101", "102"))
    assert day.court().situation == (
        "precinct 101 is not concluded, and the docket opens after all are (F)",
        "conclude it first (show 101 says how)",
    )
    day.conclude("101")
    assert day.court().situation[0].startswith("precinct 102 is not concluded")
    assert day.court().not_concluded == ("102",)
    day = two_questioned()
    assert day.court().unruled == (("101", "T-1"), ("101", "T-2"))
    situation, following = day.court().situation
    assert situation == "2 of 2 questioned ballots are not ruled on"
    assert following.startswith("hear the parties on tag T-1 of precinct 101 (court hear)")
    day.hear("T-1")
    day.rule("D", "T-1")
    situation, following = day.court().situation
    assert situation == "1 of 2 questioned ballots are not ruled on"
    assert following.startswith("hear the parties on tag T-2")


def test_f_before_the_docket_is_opened_nothing_of_the_court_is_printed() -> None:
    day = concluded()
    assert forms_ready(day.court()) == ("transmittal",)
    day.open_docket()
    assert forms_ready(day.court()) == ("transmittal", "docket", "rulings", "certification")


def test_f_when_all_is_ruled_on_the_draft_is_printed_and_signed_next() -> None:
    situation, following = all_ruled().court().situation
    assert situation == "every questioned ballot is ruled on"
    assert following.startswith("print the draft of the certification (court forms)")


def test_an_act_of_the_court_that_holds_too_much_is_not_admitted() -> None:
    with pytest.raises(BadEntry, match="surplus"):
        concluded().court_act("court_opened", ballots=[], surplus=1)


def test_an_act_of_the_court_without_its_form_is_not_admitted_by_the_law_itself() -> None:
    day = concluded()
    with pytest.raises(BadEntry, match="surplus"):
        admit_court(day.facts(), "court_opened", (CLERK_OF_COURT,), {"ballots": [], "surplus": 1})


def test_who_enters_an_act_of_the_court_is_of_a_party_to_the_recount_and_of_one_only() -> None:
    day = all_ruled()
    with pytest.raises(BadEntry, match='side "Z"'):
        day.court_act("court_form_printed", (Person("Eve Fox", "official", "Z"),), form="docket", **NOTHING)
    with pytest.raises((BadEntry, NotAllowed)):
        day.court_act("court_form_printed", (replace(ANN, side="R"),), form="docket", **NOTHING)
    for person in (ANN, BOB, CLERK, CLERK_OF_COURT):
        day.court_act("court_form_printed", (person,), form="docket", **NOTHING)


def test_the_courts_part_after_an_act_knows_the_act_by_its_number() -> None:
    day = all_ruled()
    court = day.court_act("court_form_printed", (CLERK,), form="docket", **NOTHING)
    assert court.printed[-1].n == day.acts[-1].n


def test_f_what_is_signed_is_the_last_draft_of_the_certification_and_no_other_form() -> None:
    day = all_ruled()
    day.court_act("court_form_printed", (CLERK,), form="certification", **OTHER)
    day.court_act("court_form_printed", (CLERK,), form="rulings", **NOTHING)
    with pytest.raises(NotAllowed, match="what was signed is not the draft printed last"):
        day.court_act("certified", version=1, **NOTHING)
    for name in OTHER:
        with pytest.raises(NotAllowed, match="what was signed is not the draft printed last"):
            day.court_act("certified", version=1, **{**OTHER, name: bytes(32)})
    day.court_act("certified", version=1, **OTHER)
    assert day.court().is_sealed


def test_f_a_draft_printed_before_the_last_ruling_is_not_signed() -> None:
    day = two_questioned()
    for tag in ("T-1", "T-2"):
        day.hear(tag)
    day.rule("D", "T-1")
    first = day.rule("R", "T-2")
    day.court_act("court_form_printed", (CLERK,), form="certification", **OTHER)
    day.rule("no_vote", "T-2", instead_of=first)
    with pytest.raises(NotAllowed, match="as it stands now is printed first"):
        day.court_act("certified", version=1, **OTHER)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("certified", {"version": 1, **OTHER}),
        ("amendment_ordered", {"version": 2, "order": "o", "reason": "r"}),
        ("court_opened", {"ballots": []}),
    ],
)
def test_an_act_of_the_court_that_cannot_have_been_done_is_named(kind: str, body: dict[str, Any]) -> None:
    day = all_ruled()
    act = day.append(kind, (CLERK_OF_COURT,), body)
    with pytest.raises(LedgerContradiction, match=rf"act {act.n} \({kind}\) cannot have been done: "):
        day.court()


def test_an_act_of_the_court_without_the_form_of_its_kind_is_named() -> None:
    day = all_ruled()
    act = day.append("court_form_printed", (CLERK,), {"form": "docket", **NOTHING})
    day.acts[-1] = replace(act, body={**act.body, "surplus": 1})
    with pytest.raises(
        LedgerContradiction, match=rf"act {act.n} \(court_form_printed\) cannot have been done"
    ):
        day.court()


def test_g_a_version_is_in_force_when_it_is_signed_and_being_made_when_it_is_not() -> None:
    day = all_ruled()
    assert (day.court().version, day.court().is_sealed) == (1, False)
    day.certify()
    assert (day.court().version, day.court().is_sealed) == (1, True)
    assert day.court().situation == (
        "version 1 is certified and final (G)",
        "print the changes for publication (court forms); only an order of the court amends it (court amend)",
    )
    day.court_act("amendment_ordered", version=2, order="of 4 January", reason="a wrong digit")
    assert (day.court().version, day.court().is_sealed) == (2, False)
    with pytest.raises(NotAllowed, match="version 2 is what the court certifies next"):
        day.court_act("certified", version=1, **OTHER)
    with pytest.raises(NotAllowed, match="the next version is 2"):
        day.court_act("amendment_ordered", version=3, order="of 5 January", reason="another")


def test_the_locality_has_these_forms_and_no_others_step_by_step() -> None:
    day = counted()
    day.segregate(counted_as="D")
    assert forms_ready(day.court()) == ()
    day.conclude()
    assert forms_ready(day.court()) == ("transmittal",)
    day.open_docket()
    assert forms_ready(day.court()) == ("transmittal", "docket", "rulings")
    day.hear()
    first = day.rule("D")
    assert forms_ready(day.court()) == ("transmittal", "docket", "rulings", "certification")
    less: dict[str, Any] = {"part": "other", "votes": {"D": -2}, "reason": "a slip", "ruling": "order"}
    day.act("result_ruled", (CLERK_OF_COURT,), "101", **less)
    tied = ("transmittal", "docket", "rulings", "certification", "tie")
    assert forms_ready(day.court()) == tied
    day.certify()
    assert forms_ready(day.court()) == (*tied, "changes")
    day.court_act("amendment_ordered", version=2, order="of 4 January", reason="a wrong digit")
    assert forms_ready(day.court()) == tied
    day.rule("R", instead_of=first)
    assert "tie" not in forms_ready(day.court())


def test_h_no_notice_of_a_tie_is_printed_before_every_ballot_is_ruled_on() -> None:
    day = Day()
    day.scan([Sheet("counted", ("D",)), Sheet("counted", ("R",)), Sheet("set_aside", (), ("overvote",))])
    day.finish()
    day.reconcile_with(H=3, c=2, s=1, x=0)
    day.lock(p=0)
    day.segregate()
    day.count_pile("set_aside", {"challenged": 1})
    day.conclude()
    day.open_docket()
    assert "tie" not in forms_ready(day.court())
    day.hear()
    day.rule("no_vote")
    assert "tie" in forms_ready(day.court())
