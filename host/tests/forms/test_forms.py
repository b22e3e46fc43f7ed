"""Every form as a PDF: what stands on each page, no blank box, and the same bytes for the same facts."""

from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium
import pytest

from host.tests.forms.test_statement_form import pages_of
from host.tests.law.test_d2_logic_accuracy import CERTIFICATE, armed, zero
from host.tests.rehearsal import BOB, BOTH, Day, a_scanned_day
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.forms.blocks import Form
from recount_host.forms.court_forms import BUILD as COURT_BUILD
from recount_host.forms.court_forms import TITLES, court_form
from recount_host.forms.precinct_forms import BUILD, precinct_form
from recount_host.law.court_words import COURT_FORMS, PRECINCT_FORMS
from recount_host.law.errors import NotAllowed
from recount_host.law.printed_forms import forms_ready

BOX: dict[str, Any] = {"container": "box-1", "holds": "scanned", "seal": "4711", "seal_was": "intact"}


def a_whole_day() -> Day:
    """Return a day before the court: 102 went to hand count, each precinct has one questioned ballot."""
    day = Day(("101", "102"), order='office_class = "office"\n')
    for precinct, stack in (("101", 12), ("102", 13)):
        day.act("container_received", BOTH, precinct, **BOX, stated=[12], **{"from": "Dora Poe, clerk"})
        day.act("container_opened", BOTH, precinct, container="box-1")
        for person in BOTH:
            day.act("results_keyed", (person,), precinct, figures={"ballots": 12, "votes:D": 6, "votes:R": 4})
        day.scan(TWELVE_SHEETS, f"device-{precinct}", precinct)
        day.finish(precinct)
        for _ in range(stack - 11):
            day.lock(precinct, H=stack, c=9, s=2, x=1)
            day.reconcile(precinct)
        day.show_figures(precinct)
        day.lock(precinct, p=0, o=0)
        day.hand_count({"D": 1, "R": 1, "no_vote": 1 if precinct == "101" else 11}, precinct)
        pile = "set_aside" if precinct == "101" else "all_scanned"
        day.segregate("T-1", precinct, pile=pile, counted_as="D")
        said = {"tag": "T-1", "ground": "mark", "text": "The slash strikes it out."}
        day.act("challenge_stated", (BOB,), precinct, **said)
        day.conclude(precinct)
        seal = {"container": "box-1", "holds": "counted", "seal": "4712", "to": "Dora Poe, clerk"}
        day.act("container_resealed", BOTH, precinct, **seal)
    day.open_docket()
    for precinct, outcome in (("101", "D"), ("102", "no_vote")):
        day.hear(precinct=precinct)
        day.rule(outcome, precinct=precinct)
    return day


@pytest.fixture(scope="module")
def forms() -> dict[str, Form]:
    """All forms of a whole day by name; those of the mismatch are of precinct 102."""
    day = a_whole_day()
    facts = day.facts()
    found = {form: precinct_form(facts, "101", form) for form in forms_ready(day.state("101"))}
    found["mismatch"] = precinct_form(facts, "102", "mismatch")
    found |= {form: court_form(facts, form) for form in ("transmittal", "docket", "rulings", "certification")}
    day.certify()
    return found | {"changes": court_form(day.facts(), "changes")}


WORDS: dict[str, tuple[str, ...]] = {
    "custody": (
        "box-1 ballots that were counted by scanners",
        "4711 intact 12",
        "Released by Dora Poe, clerk",
    ),
    "counts": (
        "H every sheet in the stack handed to the scanning team 1 12, Ann Lee, official, D 12, Bob Ray,",
    ),
    "runs": (
        "C sheets counted 9",
        "S because of overvote 1",
        "Votes for Josiah Bartlett 5",
        "returned",
        "12 yes",
    ),
    "set-aside": ("Sheets set aside: 2", "device-101 1 10 1 overvote", "device-101 1 12 1 wrong style"),
    "mismatch": (
        "cast on ballot scanner machines are set aside and counted by hand (D 2)",
        "C + S = 11, R = 12 1 NO",
        "H 1 13, Ann Lee, official, D 13, Bob Ray, official, R",
        "H 2 13, Ann Lee, official, D 13, Bob Ray, official, R",
        "Told after attempt 2: I2 failed",
        "Sent to the hand count",
    ),
    "tally": ("Josiah Bartlett 1 1", "All ballots 2 2", "marks read by Ballot Examples, 2020"),
    "challenges": ("Tag T-1, envelope E-T-1", "counted as D; in no total", "The slash strikes it out."),
    "labels": ("Tag T-1", "Envelope E-T-1: a questioned ballot, for the court (D 3, E)"),
    "call": ("Bob Ray, official, R no further question", "Signed by Ann Lee, official, D and Bob Ray"),
    "reseal": ("box-1 counted 4712 Dora Poe, clerk", "Received by Dora Poe, clerk"),
    "submission": ("ballots that were counted by scanners at the election the ballots", "T-1 E-T-1", "4712"),
    "transmittal": ("all Fairview County 5 5 2",),
    "docket": ("2 ballots.", "Precinct 102, tag T-1", "For D: inspected; no argument", "Ruled: no vote"),
    "rulings": ("101 tag T-1 D D +1", "102 tag T-1 no vote none"),
    "certification": ("Josiah Bartlett 5 +1 6", "Arnold Vinick 5 0 5", "the court declares the person"),
    "changes": (
        "Josiah Bartlett 12 5 +1 6 -6",
        "ruling",
        "All ballots cast on scanners were",
        "Ballots are kept until 2027-12-01 (12 months, § 24.2-669).",
    ),
}


def test_every_form_of_the_law_is_built() -> None:
    assert set(BUILD) == set(PRECINCT_FORMS)
    assert set(COURT_BUILD) == set(TITLES) == set(COURT_FORMS)
    assert set(WORDS) == {*PRECINCT_FORMS, *COURT_FORMS} - {"tie"}


@pytest.mark.parametrize("form", WORDS)
def test_a_form_says_what_the_ledger_yields_and_every_page_its_record(
    form: str, forms: dict[str, Form]
) -> None:
    made = forms[form]
    pages = pages_of(made.pdf())
    text = " ".join(pages)
    for words in WORDS[form]:
        assert words in text
    for number, page in enumerate(pages, 1):
        assert "MODE TRAINING: not a result of the recount." in page
        assert f"Record {made.facts_sha256.hex()[:8]}, order {made.order_sha256[:8]}" in page
        assert f"page {number} of {len(pages)}" in page


def test_the_same_facts_print_the_same_bytes_tagged_titled_and_black_on_white(forms: dict[str, Form]) -> None:
    made = forms["tally"]
    pdf = made.pdf()
    assert pdf == made.pdf()
    document = pypdfium2.PdfDocument(pdf)
    assert pdfium.FPDFCatalog_IsTagged(document.raw)
    assert document.get_metadata_value("Title").startswith("Tally of the hand count")
    picture = document[0].render(scale=1).to_numpy()
    assert (picture.max(axis=2).astype(int) - picture.min(axis=2) < 3).all()
    document.close()


def test_a_custody_slip_before_the_count_tells_no_stated_number() -> None:
    day = a_scanned_day()
    paper = BOX | {"holds": "paper", "container": "box-2"}
    day.act("container_received", BOTH, **paper, stated=[77], **{"from": "Dora Poe, clerk"})
    text = " ".join(pages_of(precinct_form(day.facts(), "101", "custody").pdf()))
    assert "4711 intact closed" in text
    assert "77" not in text.partition("Made from the record")[0]


def test_a_custody_slip_tells_what_was_sorted_out_and_what_b_keeps_out() -> None:
    day = Day()
    day.act("container_received", BOTH, **BOX, stated=[12], **{"from": "Dora Poe, clerk"})
    assert "Sorted out" not in " ".join(pages_of(precinct_form(day.facts(), "101", "custody").pdf()))
    day.act("container_opened", BOTH, container="box-1")
    day.act("container_sorted", BOTH, container="box-1", out_of_scope=7)
    day.act("excluded_recorded", BOTH, kind="spoiled", ballots=3, where="under its lid")
    text = " ".join(pages_of(precinct_form(day.facts(), "101", "custody").pdf()))
    assert (
        "Sorted out of box-1: 7 ballots without the contest, laid apart before anything was counted." in text
    )
    assert (
        "No part of the recount (B): 3 ballots spoiled by a voter and replaced, B (iii), found under "
        "its lid, laid apart by Ann Lee, official, D and Bob Ray, official, R."
    ) in text


def test_a_precinct_that_both_sides_sent_to_hand_count_says_so_and_shows_no_figure() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS)
    day.act("run_ended", run="101-1", device=day.device().id)
    day.act("hand_count_ordered", BOTH, reason="the device is dead")
    text = " ".join(pages_of(precinct_form(day.facts(), "101", "mismatch").pdf()))
    assert "Decided by Ann Lee, official, D and Bob Ray, official, R" in text
    assert "the device is dead" in text
    assert "C + S" not in text


def test_a_run_report_names_certificate_and_thresholds_what_came_back_and_what_was_withdrawn() -> None:
    day = Day()
    device = armed(day)
    zero(day, device)
    day.assign(mode="live")
    for reason in ("jam", "blur"):
        device.open_batch()
        device.give_back(reasons=(reason,))
        for sheet in TWELVE_SHEETS:
            device.scan(sheet)
        device.close_batch()
    where: dict[str, Any] = {"run": device.run, "device": device.id, "batch": device.number - 1}
    day.act("batch_void_ordered", BOTH, **where, reason="a sheet slipped past the camera")
    day.finish()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    text = " ".join(pages_of(precinct_form(day.facts(), "101", "runs").pdf()))
    assert f"certificate, SHA-256 {CERTIFICATE.hex()}; thresholds, SHA-256" in text
    assert "all thresholds are the defaults" in text
    assert "Sheets returned, none of them counted 1 Returned because of blur 1" in text
    assert "void by Ann Lee, official, D and Bob Ray, official, R, because: a sheet slipped" in text


def test_every_form_says_whom_each_side_stands_for(forms: dict[str, Form]) -> None:
    for form in forms.values():
        assert "Sides D for Josiah Bartlett; R for Arnold Vinick" in " ".join(pages_of(form.pdf()))


def test_a_tie_is_told_with_its_branch_and_broken_by_nobody() -> None:
    day = a_scanned_day_tied()
    text = " ".join(pages_of(court_form(day.facts(), "tie").pdf()))
    assert "Each party received an equal number of votes: Josiah Bartlett 5; Arnold Vinick 5." in text
    assert "The order does not say which class of office this is" in text
    assert "breaks no tie, draws no lot, and is no writ" in text


def a_scanned_day_tied() -> Day:
    day = a_scanned_day()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    day.lock(p=0, o=0)
    day.hand_count({"R": 2, "no_vote": 1})
    day.conclude()
    day.open_docket()
    return day


def test_a_form_whose_time_has_not_come_is_refused() -> None:
    day = a_scanned_day()
    with pytest.raises(NotAllowed, match="the form runs cannot be printed: the figures are shown first"):
        precinct_form(day.facts(), "101", "runs")
    with pytest.raises(NotAllowed, match="docket cannot be printed: the clerk opens the docket first"):
        court_form(day.facts(), "docket")
