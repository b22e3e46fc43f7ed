"""D 2 s. 5, F, G, H: the docket, rulings with their effect, the certification, ties, and what is final."""

from typing import Any

import msgspec
import pytest

from host.tests.rehearsal import ANN, BOTH, CLERK, CLERK_OF_COURT, Day, a_counted_day
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.act import Person
from recount_host.law.certification import certification, to_declare
from recount_host.law.changes import changes
from recount_host.law.court import docket_of, forms_ready
from recount_host.law.errors import BadEntry, LedgerContradiction, NotAllowed
from recount_host.law.precinct import fold
from recount_host.law.statement import statement
from recount_host.law.states import State
from recount_host.law.ties import TIE_BRANCHES
from recount_host.order import OFFICE_CLASSES

NONE = bytes(32)
NO_VOTE_MORE = {"D": 5, "R": 4}


def counted(order: str = "", precincts: tuple[str, ...] = ("101",)) -> Day:
    """Return a day whose precincts are all counted: 6 votes for D and 4 for R in each."""
    day = Day(precincts, order=order)
    for number, precinct in enumerate(precincts):
        day.scan(TWELVE_SHEETS, f"device-{number}", precinct)
        day.finish(precinct)
        day.reconcile_with(precinct, H=12, c=9, s=2, x=1)
        day.lock(precinct, p=0, o=0)
        day.hand_count({"D": 1, "R": 1, "no_vote": 1}, precinct)
    return day


def in_court(pile: str = "set_aside") -> Day:
    """Return a day before the court with one questioned ballot: D 5, R 4 and the ballot, counted for D."""
    day = counted()
    day.segregate(counted_as="D", pile=pile)
    day.conclude()
    day.open_docket()
    return day


def key_results(day: Day, precinct: str = "101", **votes: int) -> None:
    figures = {"ballots": 12, **{f"votes:{key}": n for key, n in votes.items()}}
    for person in BOTH:
        day.act("results_keyed", (person,), precinct, figures=figures)


def final(day: Day) -> dict[str, int]:
    return {party.key: party.total for party in certification(day.facts()).totals}


# The docket


def test_f_the_docket_opens_after_all_precincts_are_concluded() -> None:
    day = counted(precincts=("101", "102"))
    day.segregate(precinct="102", counted_as="R")
    day.conclude("101")
    with pytest.raises(NotAllowed, match="F: precinct 102 is not concluded, and the docket opens after"):
        day.open_docket()
    day.conclude("102")
    court = day.open_docket()
    assert docket_of(court) == [["102", "T-1"]]
    assert {state.state for state in court.precincts.values()} == {State.IN_COURT}
    with pytest.raises(NotAllowed, match="the docket is open already"):
        day.open_docket()


def test_f_the_clerk_opens_hears_and_rules_and_nobody_else() -> None:
    day = in_court()
    body: dict[str, Any] = {"tag": "T-1", "outcome": "D", "counted_as": "D", "finding": ""}
    for person in (ANN, CLERK, Person("Eve Fox", "clerk", "D")):
        with pytest.raises(NotAllowed, match="the clerk of the court enters this"):
            day.act("ballot_ruled", (person,), **body, reason="x", instead_of=0)
    with pytest.raises(NotAllowed, match="the clerk of the court enters this"):
        day.court_act("amendment_ordered", (ANN,), version=2, order="o", reason="r")


def test_f_a_docket_told_otherwise_than_the_ballots_segregated_in_time_is_a_contradiction() -> None:
    day = counted()
    day.conclude()
    with pytest.raises(LedgerContradiction, match="the docket told is not that"):
        day.court_act("court_opened", ballots=[["101", "T-9"]])
    day.append("court_opened", (CLERK_OF_COURT,), {"ballots": [["101", "T-9"]]})
    with pytest.raises(LedgerContradiction, match=r"act \d+ \(court_opened\) cannot have been done"):
        day.court()


def test_f_a_ballot_that_was_not_segregated_in_time_is_never_ruled_on() -> None:
    day = in_court()
    with pytest.raises(NotAllowed, match="the court may not consider it"):
        day.rule("D", tag="T-2")
    with pytest.raises(NotAllowed, match="the court may not consider it"):
        day.hear("T-2")
    day.act("ballot_proffered", (ANN,), text="an overvote, by letter on the next morning")
    assert docket_of(day.court()) == [["101", "T-1"]]
    day.hear()
    day.rule("R")
    (line,) = certification(day.facts()).not_considered
    assert line.startswith("precinct 101: an overvote, by letter on the next morning")


def test_f_before_the_docket_is_open_nothing_is_heard_or_ruled() -> None:
    day = counted()
    day.segregate(counted_as="D")
    day.conclude()
    with pytest.raises(NotAllowed, match=r"not possible to enter a ruling.*court open"):
        day.rule("D")
    with pytest.raises(NotAllowed, match="not possible to hear a party"):
        day.hear()


# Rulings


def test_f_the_court_rules_after_every_party_could_inspect_the_ballot_and_was_heard() -> None:
    day = in_court()
    with pytest.raises(NotAllowed, match="D still has to"):
        day.rule("R")
    said: dict[str, Any] = {"tag": "T-1", "side": "D", "inspected": "inspected", "argument": "a vote for D"}
    day.act("ballot_heard", (CLERK_OF_COURT,), **said)
    with pytest.raises(NotAllowed, match="R still has to"):
        day.rule("R")
    day.act("ballot_heard", (CLERK_OF_COURT,), **{**said, "side": "R", "inspected": "waived", "argument": ""})
    day.rule("R")
    with pytest.raises(NotAllowed, match='"T" is none: they are D, R'):
        day.act("ballot_heard", (CLERK_OF_COURT,), **{**said, "side": "T"})


@pytest.mark.parametrize(
    ("outcome", "votes"),
    [
        ("D", {"D": 6, "R": 4}),
        ("R", {"D": 5, "R": 5}),
        ("no_vote", NO_VOTE_MORE),
        ("T", {"D": 5, "R": 4}),
    ],
)
def test_f_a_hand_counted_ballot_gives_the_vote_that_the_court_rules(
    outcome: str, votes: dict[str, int]
) -> None:
    day = in_court()
    day.hear()
    day.rule(outcome)
    assert final(day) == votes


@pytest.mark.parametrize(
    ("outcome", "votes"), [("D", {"D": 6, "R": 4}), ("R", {"D": 5, "R": 5}), ("excluded", {"D": 5, "R": 4})]
)
def test_d2_the_vote_of_a_ballot_that_a_scanner_accepted_changes_only_by_the_ruling(
    outcome: str, votes: dict[str, int]
) -> None:
    day = in_court(pile="counted")
    day.hear()
    day.rule(outcome)
    assert final(day) == votes


def test_f_a_ruling_that_is_reconsidered_is_replaced_and_kept() -> None:
    day = in_court()
    day.hear()
    with pytest.raises(NotAllowed, match="there is no ruling on tag T-1 yet"):
        day.rule("D", instead_of=7)
    first = day.rule("D")
    with pytest.raises(NotAllowed, match=f"ruling {first} on tag T-1 stands"):
        day.rule("R")
    day.rule("R", instead_of=first)
    assert final(day) == {"D": 5, "R": 5}
    lines = certification(day.facts()).rulings
    assert [(line.says, line.stands) for line in lines] == [
        ("D", False),
        (f"R (instead of ruling {first})", True),
    ]


def test_f_a_ruling_is_an_outcome_of_the_contest_and_leaves_no_ballot_challenged() -> None:
    day = in_court()
    day.hear()
    with pytest.raises(NotAllowed, match="it does not stay challenged"):
        day.rule("challenged")
    with pytest.raises(BadEntry, match='"Z" is no outcome'):
        day.rule("Z")


def rule_result(day: Day, part: str = "accepted", **votes: int) -> None:
    body: dict[str, Any] = {"part": part, "votes": votes, "reason": "digits", "ruling": "order of 4 January"}
    day.act("result_ruled", (CLERK_OF_COURT,), **body)


def test_d2_the_result_of_accepted_ballots_is_changed_only_by_a_ruling_for_sufficient_cause() -> None:
    day = in_court()
    day.hear()
    day.rule("no_vote")
    rule_result(day, D=-1, R=2)
    assert final(day) == {"D": 4, "R": 6}
    (before, after) = certification(day.facts()).precincts[0].parties
    assert (before.written, before.by_court) == (5, -1)
    assert (after.written, after.by_court) == (4, 2)


def test_d2_a_ruling_on_a_result_changes_something_and_leaves_no_fewer_votes_than_none() -> None:
    day = in_court()
    with pytest.raises(NotAllowed, match="would leave -1 votes for D"):
        rule_result(day, D=-6)
    with pytest.raises(NotAllowed, match="would leave -1 votes for R"):
        rule_result(day, "other", R=-5)
    with pytest.raises(NotAllowed, match="a change of 0 votes for D is none"):
        rule_result(day, D=0)
    with pytest.raises(NotAllowed, match='"Z" is no option'):
        rule_result(day, Z=1)
    rule_result(day, "other", R=-4)
    with pytest.raises(NotAllowed, match="would leave -1 votes for R"):
        rule_result(day, "other", R=-1)


def test_f_no_ruling_on_a_ballot_leaves_fewer_votes_than_none() -> None:
    day = in_court()
    day.hear()
    first = day.rule("R")
    rule_result(day, "other", R=-5)
    with pytest.raises(NotAllowed, match="would leave -1 votes for R"):
        day.rule("D", instead_of=first)


def test_d2_where_all_was_counted_by_hand_there_is_no_accepted_result_to_rule_on() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS)
    day.act("run_ended", run="101-1", device=day.device().id)
    day.act("hand_count_ordered", BOTH, reason="the device is dead")
    day.lock(H=12, p=0, o=0)
    day.hand_count({"D": 7, "R": 5})
    day.conclude()
    day.open_docket()
    with pytest.raises(NotAllowed, match="no ballot that a scanner accepted is in this precinct's result"):
        rule_result(day, D=1)
    rule_result(day, "other", D=1)
    assert final(day) == {"D": 8, "R": 5}


# Certification


def test_f_the_certification_waits_for_every_ruling() -> None:
    day = in_court()
    assert day.court().unruled == (("101", "T-1"),)
    with pytest.raises(NotAllowed, match="the court rules on every questioned ballot first"):
        certification(day.facts())
    nothing: dict[str, Any] = {"version": 1, "sha256": NONE, "facts_sha256": NONE}
    with pytest.raises(NotAllowed, match="printed first"):
        day.court_act("certified", **nothing)
    day.append("court_form_printed", (CLERK_OF_COURT,), {"form": "certification", **hashes(NONE)})
    with pytest.raises(NotAllowed, match="tag T-1 of precinct 101 is not ruled on"):
        day.court_act("certified", **nothing)


def hashes(facts: bytes) -> dict[str, bytes]:
    return {"sha256": NONE, "facts_sha256": facts}


def test_f_what_the_court_signs_is_the_draft_as_it_stands_and_was_printed_last() -> None:
    day = in_court()
    day.hear()
    first = day.rule("D")
    draft = certification(day.facts())
    printed = hashes(bytes.fromhex(draft.facts_sha256))
    day.court_act("court_form_printed", form="certification", **printed)
    with pytest.raises(NotAllowed, match="not the draft printed last"):
        day.court_act("certified", version=1, **hashes(NONE))
    with pytest.raises(NotAllowed, match="version 1 is what the court certifies next"):
        day.court_act("certified", version=2, **printed)
    day.rule("R", instead_of=first)
    with pytest.raises(NotAllowed, match="as it stands now is printed first"):
        day.court_act("certified", version=1, **printed)
    assert day.certify().version == 1
    assert day.state().state is State.CERTIFIED


def test_f_the_draft_gives_the_vote_for_each_party_by_precinct_and_declares_nothing() -> None:
    day = counted(precincts=("101", "102"), order='court = "Circuit Court"\noffice_class = "office"\n')
    codes = [day.conclude(name).short_code for name in ("101", "102")]
    day.open_docket()
    draft = certification(day.facts())
    assert [line.code for line in draft.precincts] == codes
    assert [(party.key, party.total) for party in draft.totals] == [("D", 12), ("R", 8)]
    for line in draft.precincts:
        rows = statement(day.facts(), line.id).parties
        assert [row.total for row in rows] == [party.written for party in line.parties]
    (said,) = draft.to_declare
    assert said.startswith("Josiah Bartlett received the higher number of votes: Josiah Bartlett 12; Arnold")
    assert said.endswith("the court declares the person nominated or elected, as appropriate (F)")
    assert (draft.court, draft.tie, draft.version, draft.amended_by) == ("Circuit Court", "", 1, "")
    assert day.certify() == draft


@pytest.mark.parametrize(
    ("order", "says"),
    [
        (
            'office_class = "question"\n',
            "votes for and against: Josiah Bartlett 6; Arnold Vinick 4;",
        ),
        ('office_class = "primary"\n', "declares the person nominated (F)"),
    ],
)
def test_f_what_is_left_to_declare_follows_the_class_of_the_office(order: str, says: str) -> None:
    day = counted(order)
    day.conclude()
    day.open_docket()
    assert says in certification(day.facts()).to_declare[0]


def test_f_where_several_are_elected_the_order_of_votes_is_given_and_nobody_named() -> None:
    day = counted()
    day.conclude()
    day.open_docket()
    sums = certification(day.facts()).totals
    several = msgspec.structs.replace(day.order, vote_for=2)
    assert to_declare(several, sums)[0].startswith("in the order of their votes: Josiah Bartlett 6; Arnold")


# Ties


def tied(order: str = "") -> Day:
    day = counted(order)
    day.segregate(counted_as="D")
    day.conclude()
    day.open_docket()
    day.hear()
    day.rule("R")
    return day


@pytest.mark.parametrize("office_class", ["", *OFFICE_CLASSES])
def test_h_a_tie_takes_the_branch_of_its_office(office_class: str) -> None:
    day = tied(f'office_class = "{office_class}"\n')
    draft = certification(day.facts())
    assert draft.tie == TIE_BRANCHES[office_class]
    assert draft.to_declare == (
        "each party received an equal number of votes: Josiah Bartlett 5; Arnold Vinick 5",
    )
    assert ("issues a writ" in draft.tie) is (office_class == "office")
    excepted = ("governor", "lieutenant_governor", "attorney_general", "presidential_electors")
    assert ("no writ" in draft.tie) is (office_class in excepted)
    assert draft.tie.startswith("flagged") is (office_class in ("primary", "question"))
    day.court_act("court_form_printed", form="tie", **hashes(NONE))


def test_h_where_there_is_no_tie_no_notice_of_one_is_printed() -> None:
    day = in_court()
    day.hear()
    day.rule("D")
    with pytest.raises(NotAllowed, match="there is no tie"):
        day.court_act("court_form_printed", form="tie", **hashes(NONE))
    assert certification(day.facts()).tie == ""


# The end


def test_g_what_is_certified_is_final() -> None:
    day = in_court()
    day.hear()
    number = day.rule("D")
    day.certify()
    assert day.court().is_sealed
    final_words = "the court has certified it and that is final \\(G\\).*only an order of the court"
    for does in (lambda: day.rule("R", instead_of=number), day.hear, lambda: rule_result(day, D=1)):
        with pytest.raises(NotAllowed, match=final_words):
            does()
    with pytest.raises(NotAllowed, match="final"):
        day.act("ballot_proffered", (ANN,), text="late")
    with pytest.raises(NotAllowed, match="final"):
        day.certify()


def test_g_only_an_order_of_the_court_makes_a_new_version_and_the_old_one_is_kept() -> None:
    day = in_court()
    day.hear()
    day.rule("D")
    with pytest.raises(NotAllowed, match="only what is certified is amended"):
        day.court_act("amendment_ordered", version=2, order="order of 4 February", reason="wrong digits")
    first = day.certify()
    with pytest.raises(NotAllowed, match="the next version is 2"):
        day.court_act("amendment_ordered", version=3, order="order of 4 February", reason="wrong digits")
    day.court_act("amendment_ordered", version=2, order="order of 4 February", reason="wrong digits")
    assert day.state().state is State.IN_COURT
    rule_result(day, R=1)
    second = day.certify()
    assert (second.version, second.amended_by) == (2, "order of 4 February: wrong digits")
    assert [party.total for party in second.totals] == [6, 5]
    kept = [act.body["facts_sha256"].hex() for act in day.court().certified]
    assert kept == [first.facts_sha256, second.facts_sha256]
    assert day.court().version == 2


def test_g_a_certification_that_cannot_have_been_made_is_found_when_it_is_folded() -> None:
    day = in_court()
    day.append("certified", (CLERK_OF_COURT,), {"version": 1, **hashes(NONE)})
    with pytest.raises(LedgerContradiction, match="cannot have been done"):
        fold(day.facts(), "101")


def test_d_nothing_of_the_court_changes_what_the_officials_signed() -> None:
    day = counted()
    day.segregate(counted_as="D")
    signed = day.conclude()
    day.open_docket()
    day.hear()
    day.rule("R")
    rule_result(day, D=-1)
    day.certify()
    assert statement(day.facts(), "101") == signed


# Publication


def test_f_every_change_is_reported_and_every_precinct_without_one_too() -> None:
    day = counted(precincts=("101", "102", "103"))
    key_results(day, "101", D=6, R=4, T=1)
    key_results(day, "102", D=5, R=4, T=1)
    for precinct in ("101", "102", "103"):
        if precinct == "102":
            day.segregate(precinct=precinct, counted_as="R")
        day.conclude(precinct)
    day.open_docket()
    day.hear(precinct="102")
    day.rule("D", precinct="102")
    with pytest.raises(NotAllowed, match="the court certifies first"):
        changes(day.facts())
    day.certify()
    report = changes(day.facts())
    assert report.pollbooks == ()
    first, second, third = report.precincts
    assert [(o.key, o.certified, o.final, o.change) for o in first.options] == [
        ("D", 6, 6, 0),
        ("R", 4, 4, 0),
        ("T", 1, 1, 0),
    ]
    assert first.causes == ("no change",)
    assert [(o.recounted, o.by_court, o.final, o.change) for o in second.options] == [
        (6, 1, 7, 2),
        (3, 0, 3, -1),
        (1, 0, 1, 0),
    ]
    assert "3 ballots counted by hand (D 1, D 2)" in second.causes
    assert any(cause.endswith("on tag T-1: D +1") for cause in second.causes)
    assert third.causes[0] == "what was certified before is not keyed in (results key)"
    assert [(o.certified, o.change) for o in third.options] == [(None, None)] * 3
    assert [(o.key, o.certified, o.final, o.change) for o in report.totals] == [
        ("D", None, 19, None),
        ("R", None, 11, None),
        ("T", None, 3, None),
    ]


def test_f_the_causes_of_a_change_name_the_hand_count_what_stands_in_and_rulings_without_effect() -> None:
    day = Day()
    key_results(day, D=6, R=4)
    day.act("ballots_not_found", BOTH, stream="scanned", reason="burnt")
    day.lock(p=1)
    day.hand_count({"R": 1})
    day.segregate(pile="not_programmable", counted_as="R")
    day.conclude()
    day.open_docket()
    day.hear()
    day.rule("no_vote")
    rule_result(day, "other", D=-1)
    day.certify()
    (line,) = changes(day.facts()).precincts
    assert line.causes[1] == (
        "the statement of results stands in for ballots that were counted by scanners at the election (E)"
    )
    assert any(cause.endswith("on tag T-1: no vote more") for cause in line.causes)
    assert [(o.key, o.change) for o in line.options] == [("D", -1), ("R", 0)]


def test_f_a_whole_precinct_counted_by_hand_is_a_cause() -> None:
    day = Day()
    key_results(day, D=7, R=4)
    day.scan(TWELVE_SHEETS)
    day.act("run_ended", run="101-1", device=day.device().id)
    day.act("hand_count_ordered", BOTH, reason="the device is dead")
    day.lock(H=12, p=0, o=0)
    day.hand_count({"D": 7, "R": 5})
    day.conclude()
    day.open_docket()
    day.certify()
    (line,) = changes(day.facts()).precincts
    assert line.causes[0] == "all ballots cast on scanners were counted by hand (D 2)"
    assert [o.change for o in line.options] == [0, 1]
    assert [o.change for o in changes(day.facts()).totals] == [0, 1]


# What to do next


def test_what_to_do_next_leads_from_the_conclusion_to_the_certification() -> None:
    day = counted()
    day.segregate(counted_as="D")
    assert day.court().situation[0] == "precinct 101 is not concluded, and the docket opens after all are (F)"
    assert forms_ready(day.court()) == ()
    day.conclude()
    assert "court open" in day.court().situation[1]
    assert forms_ready(day.court()) == ("transmittal",)
    day.open_docket()
    assert forms_ready(day.court()) == ("transmittal", "docket", "rulings")
    assert day.court().situation == (
        "1 of 1 questioned ballots are not ruled on",
        "hear the parties on tag T-1 of precinct 101 (court hear), then enter the ruling (court rule)",
    )
    day.hear()
    day.rule("D")
    assert "court certify" in day.court().situation[1]
    day.certify()
    assert day.court().situation[0] == "version 1 is certified and final (G)"
    ready = ("transmittal", "docket", "rulings", "certification", "changes")
    assert forms_ready(day.court()) == ready


def test_an_uncounted_day_has_no_transmittal() -> None:
    with pytest.raises(NotAllowed, match="all precincts are concluded first"):
        a_counted_day().court_act("court_form_printed", form="transmittal", **hashes(NONE))
