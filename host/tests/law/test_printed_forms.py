"""Which form of a precinct can be printed when: none shows a figure that somebody still has to find blind."""

from typing import Any

import pytest

from host.tests.law.test_b_custody import open_, receive
from host.tests.rehearsal import (
    ANN,
    BOTH,
    CLERK,
    Day,
    a_counted_day,
    a_hand_count_day,
    a_reconciled_day,
    a_scanned_day,
)
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.law.court import READY as COURT_READY
from recount_host.law.court_words import COURT_FORMS, PRECINCT_FORMS
from recount_host.law.errors import NotAllowed
from recount_host.law.printed_forms import READY, forms_ready

NONE = bytes(32)


def printing(day: Day, form: str) -> None:
    day.act("form_printed", (CLERK,), form=form, sha256=NONE, facts_sha256=NONE)


def test_every_form_says_from_when_on_it_can_be_printed() -> None:
    assert set(READY) == set(PRECINCT_FORMS)
    assert set(COURT_READY) == set(COURT_FORMS)


@pytest.mark.parametrize("form", PRECINCT_FORMS)
def test_on_an_untouched_day_nothing_is_printed_and_each_refusal_says_what_comes_first(form: str) -> None:
    with pytest.raises(NotAllowed, match=f"the form {form} cannot be printed: .* "):
        printing(Day(), form)


def test_no_form_with_a_figure_is_printed_before_the_figures_are_shown() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    assert forms_ready(day.state()) == ()
    assert forms_ready(a_reconciled_day().state()) == ("runs", "set-aside")


def test_no_count_that_is_still_blind_is_printed() -> None:
    day = a_reconciled_day()
    day.lock(p=0, o=0)
    day.hand_count({"D": 1, "R": 1, "no_vote": 1}, passes=1)
    assert {"counts", "tally"}.isdisjoint(forms_ready(day.state()))
    assert {"counts", "tally"} <= set(forms_ready(a_counted_day().state()))
    assert "mismatch" in forms_ready(a_hand_count_day().state())


def test_printing_a_form_changes_nothing_of_the_precinct() -> None:
    day = a_counted_day()
    day.segregate(counted_as="D")
    for person in BOTH:
        day.act("call_answered", (person,), answer="no_further_question")
    before = day.state()
    forms = ("runs", "counts", "challenges", "labels", "call")
    for form in forms:
        printing(day, form)
    after = day.state()
    assert (after.last_act_n, after.state, after.team) == (before.last_act_n, before.state, before.team)
    assert [act.body["form"] for act in after.forms_printed] == [
        "runs",
        "counts",
        "challenges",
        "labels",
        "call",
    ]


def test_from_custody_to_the_submission_every_form_has_its_time() -> None:
    day = a_counted_day()
    box: dict[str, Any] = {"container": "box-1", "holds": "paper", "seal": "1", "seal_was": "intact"}
    state = a_reconciled_day()
    state.act("container_received", BOTH, **box, stated=[], **{"from": "the clerk"})
    assert "custody" in forms_ready(state.state())
    day.conclude()
    seal: dict[str, Any] = {"container": "box-1", "holds": "counted", "seal": "4712", "to": "the clerk"}
    day.act("container_resealed", BOTH, **seal)
    assert {"reseal", "submission"} <= set(forms_ready(day.state()))


def test_a_day_has_these_forms_and_no_others_step_by_step() -> None:
    day = Day()
    assert forms_ready(day.state()) == ()
    receive(day, "box-1")
    open_(day, "box-1")
    assert forms_ready(day.state()) == ("custody",)
    day.scan(TWELVE_SHEETS)
    day.finish()
    day.segregate()
    assert forms_ready(day.state()) == ("custody", "challenges", "labels")
    day.lock(H=12, c=9, s=2, x=1)
    day.reconcile()
    assert forms_ready(day.state()) == ("custody", "challenges", "labels")
    day.show_figures()
    shown = ("custody", "runs", "set-aside", "challenges", "labels")
    assert forms_ready(day.state()) == shown
    day.lock(p=0, o=0)
    assert forms_ready(day.state()) == shown
    day.count_pile("set_aside", {"challenged": 1, "no_vote": 1})
    day.count_pile("not_accepted", {"R": 1})
    counted = ("custody", "counts", "runs", "set-aside", "tally", "challenges", "labels")
    assert forms_ready(day.state()) == counted
    day.act("call_answered", (ANN,), answer="no_further_question")
    assert forms_ready(day.state()) == (*counted, "call")
    sealed = {"container": "box-1", "holds": "counted", "seal": "4712", "to": "the clerk"}
    day.act("container_resealed", BOTH, **sealed)
    assert forms_ready(day.state()) == (*counted, "call", "reseal")
    day.conclude()
    assert forms_ready(day.state()) == (*counted, "call", "reseal", "submission")


def test_d2_the_notice_of_a_mismatch_is_printed_where_all_is_hand_counted() -> None:
    assert "mismatch" in forms_ready(a_hand_count_day().state())
    assert "mismatch" not in forms_ready(a_reconciled_day().state())
    day = Day()
    day.lock(H=12)
    day.act("hand_count_ordered", BOTH, reason="no device came")
    assert forms_ready(day.state()) == ("mismatch",)
