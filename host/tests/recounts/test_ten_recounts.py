"""Ten recounts played to their known ends, forms included: decks and days as they happened, or could.

Sheets and truth come from images/ballots; devices write records, people act, and the law admits every act.
The same deck goes through real devices in `make demo`; here the law and the forms are the point.
"""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from recount_ballots.deck import read_deck
from recount_host.forms.blocks import Form
from recount_host.forms.court_forms import court_form
from recount_host.forms.precinct_forms import precinct_form
from recount_host.law import court as law_of_court
from recount_host.law.changes import changes
from recount_host.law.disclosure import notices
from recount_host.law.errors import NotAllowed
from recount_host.law.precinct import fold
from recount_host.law.printed_forms import forms_ready
from recount_host.law.statement import statement
from recount_host.law.statement_lines import Statement
from recount_host.law.states import State
from recount_host.rehearsal import BOB, BOTH, Day, Sheet
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE

FORMS = Path(__file__).parent / "forms"
FAIRVIEW = Path(__file__).parents[3] / "images" / "ballots" / "fairview"
THIRD = {"I": "T"}
"""The deck's third candidate, by the key of the rehearsed contest."""
ALWAYS = {"counts", "runs", "set-aside", "tally", "call", "submission"}
COURT = {"transmittal", "docket", "rulings", "certification", "changes"}


@cache
def fairview() -> tuple[tuple[Sheet, str], ...]:
    """Return every sheet of the deck as a device judges it, with what people find on it."""
    return tuple(
        (
            Sheet(
                sheet.truth.fates[0],
                tuple(THIRD.get(key, key) for key in sheet.truth.choices),
                tuple(reason.partition("|")[0] for reason in sheet.truth.reasons),
            ),
            THIRD.get(sheet.truth.hand, sheet.truth.hand),
        )
        for sheet in read_deck(FAIRVIEW).sheets
    )


def outcomes(*fates: str) -> dict[str, int]:
    """Return what people find on the deck's sheets of these piles that bear the contest."""
    found = Counter(hand for sheet, hand in fairview() if sheet.fate in fates and hand != "no_contest")
    return dict(found)


def count_by_hand(day: Day, precinct: str = "101") -> None:
    day.lock(precinct, p=0, o=3)
    day.count_pile("set_aside", outcomes(SET_ASIDE), precinct)
    day.count_pile("not_accepted", outcomes(NOT_ACCEPTED), precinct)


def scanned(*, order: str = "", results: Mapping[str, int] | None = None) -> Day:
    """Return a day whose deck of 120 sheets is scanned: C 103, S 13, X 4, as the deck's head says."""
    day = Day(order=order)
    for person in BOTH if results else ():
        day.act("results_keyed", (person,), figures=dict(results or {}))
    day.scan([sheet for sheet, _ in fairview()])
    day.finish()
    return day


def to_the_court(day: Day) -> None:
    day.open_docket()
    for state, ballot in day.court().docket:
        day.hear(ballot.tag, state.precinct.id)


def lines_of(form: Form) -> list[str]:
    """Return every line of a form; cells of a table row are parted by " | "."""
    found = [form.title]
    for block in form.blocks:
        found += [block["text"]] if "text" in block else []
        found += block.get("lines", [])
        found += [" | ".join(block["columns"])] if "columns" in block else []
        found += [" | ".join(cell["text"] for cell in row) for row in block.get("rows", ())]
        found += [block["says"], *block["signers"]] if "says" in block else []
    return found


def forms_of(day: Day, precinct: str = "101") -> dict[str, list[str]]:
    """Return the lines of every form that precinct and locality have now."""
    facts = day.facts()
    own = {form: lines_of(precinct_form(facts, precinct, form)) for form in forms_ready(day.state(precinct))}
    wide = law_of_court.forms_ready(day.court())
    return own | {form: lines_of(court_form(facts, form)) for form in wide}


def assert_they_read(recount: str, forms: Mapping[str, Sequence[str]]) -> None:
    """Assert that the forms of this recount read, word for word, as the text beside this file.

    Codes are no words: they are other ones as soon as anything is written otherwise. Where forms were changed
    on purpose, RECOUNT_WRITE_FORMS=1 writes the texts anew; read what git shows of it.
    """
    said = "".join(f"# {name}\n\n" + "\n".join(lines) + "\n\n" for name, lines in sorted(forms.items()))
    without_codes = re.sub(r"\b(?:[0-9a-f]{64}|[0-9a-f]{16}|[0-9a-f]{8})\b", "CODE", said)
    path = FORMS / f"{recount}.txt"
    if os.environ.get("RECOUNT_WRITE_FORMS"):
        path.write_text(without_codes, encoding="utf-8")
    assert without_codes.splitlines() == path.read_text(encoding="utf-8").splitlines()


def assert_on_forms(forms: Mapping[str, Sequence[str]], **expected: str | tuple[str, ...]) -> None:
    """Assert that exactly these forms are there, and each has these lines ("set_aside" is "set-aside")."""
    named = {name.replace("_", "-"): lines for name, lines in expected.items()}
    assert set(forms) == set(named)
    for name, wanted in named.items():
        for line in (wanted,) if isinstance(wanted, str) else wanted:
            assert line in forms[name], (name, line, forms[name])


def has(lines: Sequence[str], start: str, end: str = "") -> bool:
    return any(line.startswith(start) and line.endswith(end) for line in lines)


def totals(said: Statement) -> dict[str, int]:
    return {row.key: row.total for row in (*said.parties, *said.others) if row.total}


CLEAN = {"D": 49, "R": 45, "T": 12, "other_write_in": 3}
"""The deck's truth: 103 counted, 2 of R and 3 written in by hand, 1 of the third among the not accepted."""
STACK = "H | every sheet in the stack handed to the scanning team"
SIGNED = "Signed by Ann Lee, official, D and Bob Ray, official, R."
BALLOTS = "ballots that were counted by scanners at the election | the ballots"


def test_1_a_clean_recount_ends_as_the_deck_says() -> None:
    stated = {"ballots": 117, "votes:D": 49, "votes:R": 44, "votes:T": 12, "pollbook": 117}
    day = scanned(results=stated)
    day.lock(H=120, c=103, s=13, x=4)
    assert day.reconcile().verdicts[-1].failed == ()
    day.show_figures()
    count_by_hand(day)
    said = day.conclude()
    assert totals(said) == CLEAN
    to_the_court(day)
    assert (
        day.certify()
        .to_declare[0]
        .startswith(
            "Josiah Bartlett received the higher number of votes: Josiah Bartlett 49; Arnold Vinick 45;"
        )
    )
    assert [(o.key, o.change) for o in changes(day.facts()).totals] == [
        ("D", 0),
        ("R", 1),
        ("T", 0),
        ("other_write_in", None),
    ]
    forms = forms_of(day)
    assert_they_read("1-clean", forms)
    assert_on_forms(
        forms,
        counts=f"{STACK} | 1 | 120 | Ann Lee, official, D | used",
        runs=("C  sheets counted | 103", "S  sheets set aside | 13", "X  sheets not accepted | 4"),
        set_aside=("Sheets set aside: 13", "Sheets not accepted: 4", "alpha | 1 | 5 | 1 | write in"),
        tally=("Arnold Vinick | 2 | 2", "Write-in votes for others | 3 | 3", "All ballots | 13 | 13"),
        call=SIGNED,
        submission=(BALLOTS, "No ballot of this precinct is in question."),
        transmittal=f"101 | Precinct 101 | {said.short_code} | 49 | 45 | 0",
        docket="0 ballots.",
        rulings="The court has ruled on nothing yet.",
        certification=("Josiah Bartlett | 49 | 0 | 49", "Arnold Vinick | 45 | 0 | 45"),
        changes=("Arnold Vinick | 44 | 45 | 0 | 45 | +1", "14 ballots were counted by hand (D 1, D 2)"),
    )


def test_2_where_c_plus_s_is_not_r_all_ballots_are_counted_by_hand() -> None:
    day = scanned()
    for _ in range(2):
        day.lock(H=121, c=103, s=13, x=4)
        assert "I2" in day.reconcile().verdicts[-1].failed
    day.show_figures()
    day.lock(p=0, o=3)
    whole = outcomes(COUNTED, SET_ASIDE, NOT_ACCEPTED)
    day.count_pile("all_scanned", {**whole, "no_vote": whole["no_vote"] + 1})
    said = day.conclude()
    assert totals(said) == CLEAN
    assert all(row.accepted == 0 for row in said.parties)
    to_the_court(day)
    day.certify()
    forms = forms_of(day)
    assert_they_read("2-c-plus-s-is-not-r", forms)
    assert set(forms) == {*ALWAYS, "mismatch", *COURT}
    assert any(
        line.startswith("I2 | ") and line.endswith("C + S = 116, R = 117 | NO") for line in forms["mismatch"]
    )
    assert (
        "The numbers were counted in 2 attempts; all values are kept (ballot-count slip)."
        in forms["mismatch"]
    )
    assert "All ballots | 118 | 118" in forms["tally"]
    assert (
        "D 2: all ballots of this precinct are counted by hand; nothing of this report counts."
        in forms["runs"]
    )
    assert "all ballots cast on scanners were counted by hand (D 2)" in forms["changes"]
    assert "Josiah Bartlett | 49 | 0 | 49" in forms["certification"]


def test_3_a_ballot_in_the_wrong_pile_is_found_by_its_notice() -> None:
    day = scanned()
    for _ in range(2):
        day.lock(H=120, c=104, s=12, x=4)
        assert day.reconcile().verdicts[-1].failed == ("I3",)
    lost = next(notice for notice in notices(day.state()) if notice.pile == SET_ASIDE)
    where: dict[str, Any] = {"device": lost.device, "batch": lost.batch, "sheet": lost.sheet}
    day.act("sheet_moved", BOTH, **where, from_pile=COUNTED, to_pile=SET_ASIDE)
    assert day.reconcile().verdicts[-1].failed == ()
    day.show_figures()
    count_by_hand(day)
    said = day.conclude()
    assert totals(said) == CLEAN
    assert "moved from the counted pile to the set_aside pile" in said.moves[0]
    forms = forms_of(day)
    assert_they_read("3-wrong-pile", forms)
    assert set(forms) == {*ALWAYS, "transmittal"}
    assert "c | the counted pile | 2 | 104 | Bob Ray, official, R | used" in forms["counts"]
    assert "All ballots | 13 | 13" in forms["tally"]
    assert (
        f"Statement of the recount with the record code {said.short_code}, signed by all officials (E)."
        in (forms["submission"])
    )


def test_4_a_jammed_ballot_that_is_fed_again_counts_once() -> None:
    """2005: ballots that jammed were fed again and counted twice."""
    day = Day()
    device = day.assign()
    device.open_batch()
    sheets = [sheet for sheet, _ in fairview()]
    for sheet in sheets[:37]:
        device.scan(sheet)
    jammed = device.judge(sheets[37])
    device.doubt(jammed)
    for sheet in sheets[38:]:
        device.scan(sheet)
    with pytest.raises(NotAllowed, match="is in doubt: say where it lies"):
        day.finish_checked()
    settled: dict[str, Any] = {"run": device.run, "device": device.id, "batch": 1, "sheet": jammed}
    day.act("doubt_settled_ordered", BOTH, **settled, fate=RETURNED)
    device.settle(jammed, RETURNED)
    device.scan(sheets[37])
    device.close_batch()
    day.finish()
    day.lock(H=120, c=103, s=13, x=4)
    assert day.reconcile().verdicts[-1].failed == ()
    day.show_figures()
    count_by_hand(day)
    said = day.conclude()
    assert totals(said) == CLEAN
    forms = forms_of(day)
    assert_they_read("4-jam-fed-again", forms)
    assert "alpha | 101-1 | 1 | 120 | yes" in forms["runs"]
    assert "Votes for Josiah Bartlett | 49" in forms["runs"]
    assert set(forms) == {*ALWAYS, "transmittal"}


def test_5_nine_ballots_short_are_reported_and_not_topped_up() -> None:
    """House of Delegates district 85, 2021: nine early ballots short; the court accepted it."""
    stated = {"ballots": 126, "votes:D": 55, "votes:R": 48, "pollbook": 126}
    day = scanned(results=stated)
    day.lock(H=120, c=103, s=13, x=4)
    day.reconcile()
    day.show_figures()
    count_by_hand(day)
    said = day.conclude()
    assert totals(said) == CLEAN
    assert said.notes[0] == "9 ballots fewer than the statement of results: reported, not topped up"
    to_the_court(day)
    day.certify()
    forms = forms_of(day)
    assert_they_read("5-nine-short", forms)
    assert set(forms) == {*ALWAYS, *COURT}
    note = "9 ballots fewer than the statement of results: reported, not topped up"
    assert note in forms["submission"]
    assert note in forms["changes"]
    assert "Josiah Bartlett | 55 | 49 | 0 | 49 | -6" in forms["changes"]
    assert "Josiah Bartlett | 49 | 0 | 49" in forms["certification"]


def test_6_a_late_challenge_of_a_ballot_that_was_not_segregated_is_refused() -> None:
    """House of Delegates district 94, 2017: a letter on the next morning; F s. 2 stands against it now."""
    day = scanned()
    day.lock(H=120, c=103, s=13, x=4)
    day.reconcile()
    day.show_figures()
    count_by_hand(day)
    day.conclude()
    late: dict[str, Any] = {"tag": "T-1", "ground": "overvote", "text": "Both ovals, a slash through one."}
    with pytest.raises(NotAllowed, match="was segregated before the conclusion"):
        day.act("challenge_stated", (BOB,), **late)
    with pytest.raises(NotAllowed, match="not possible to segregate a ballot now"):
        day.segregate(counted_as="overvote")
    day.act("ballot_proffered", (BOB,), text="an overvote, by letter on the next morning")
    to_the_court(day)
    with pytest.raises(NotAllowed, match="the court may not consider it"):
        day.rule("R")
    draft = day.certify()
    assert [party.total for party in draft.totals] == [49, 45]
    forms = forms_of(day)
    assert_they_read("6-late-challenge", forms)
    assert set(forms) == {*ALWAYS, *COURT}
    assert "0 ballots." in forms["docket"]
    offered = "an overvote, by letter on the next morning"
    assert any(
        line.startswith(f"Not considered (F): precinct 101: {offered}") for line in forms["certification"]
    )
    assert any(
        line.startswith(f"Offered too late, not considered (F): {offered}") for line in forms["submission"]
    )


def test_7_a_tie_ends_in_a_writ_for_a_special_election() -> None:
    day = scanned(order='office_class = "office"\n')
    day.lock(H=120, c=103, s=13, x=4)
    day.reconcile()
    day.show_figures()
    day.lock(p=0, o=3)
    found = outcomes(SET_ASIDE)
    # Four of the ballots set aside lie in envelopes, and the court rules that all four are votes for R.
    day.count_pile("set_aside", {**found, "overvote": 0, "challenged": found["overvote"]})
    for number in range(4):
        day.segregate(f"T-{number}")
    day.count_pile("not_accepted", outcomes(NOT_ACCEPTED))
    said = day.conclude()
    assert totals(said) == CLEAN
    to_the_court(day)
    for number in range(4):
        day.rule("R", f"T-{number}")
    draft = day.certify()
    assert [party.total for party in draft.totals] == [49, 49]
    assert draft.tie == "the court issues a writ promptly ordering a special election (H)"
    forms = forms_of(day)
    assert_they_read("7-tie", forms)
    assert set(forms) == {*ALWAYS, "challenges", "labels", *COURT, "tie"}
    assert {"Josiah Bartlett | 49", "Arnold Vinick | 49"} <= set(forms["tie"])
    assert draft.tie in forms["tie"]
    assert "Arnold Vinick | 45 | +4 | 49" in forms["certification"]
    assert sum("| tag T-" in line and "| R | R +1 |" in line for line in forms["rulings"]) == 4
    assert "4 ballots." in forms["docket"]
    assert "Tag T-3" in forms["labels"]
    assert "Tag T-0, envelope E-T-0" in forms["challenges"]
    assert "Challenged: in its envelope, for the court (E) | 4 | 4" in forms["tally"]


def test_8_three_of_several_with_most_ballots_set_aside() -> None:
    day = Day(vote_for=3)
    sheets = [
        *(Sheet(COUNTED, ("D", "R", "T")) for _ in range(10)),
        *(Sheet(SET_ASIDE, (), ("undervote",)) for _ in range(30)),
    ]
    day.scan(sheets)
    day.finish()
    day.lock(H=40, c=10, s=30, x=0)
    assert day.reconcile().verdicts[-1].failed == ()
    day.show_figures()
    day.lock(p=0)
    day.count_pile("set_aside", {"D+R": 12, "D": 10, "R+T": 7, "no_vote": 1})
    said = day.conclude()
    assert totals(said) == {"D": 32, "R": 29, "T": 17}
    to_the_court(day)
    draft = day.certify()
    assert draft.to_declare[0].startswith(
        "in the order of their votes: Josiah Bartlett 32; Arnold Vinick 29;"
    )
    forms = forms_of(day)
    assert_they_read("8-three-of-several", forms)
    assert set(forms) == {*ALWAYS, *COURT}
    assert "Josiah Bartlett + Arnold Vinick | 12 | 12" in forms["tally"]
    assert "S because of undervote | 30" in forms["runs"]
    assert "Sheets set aside: 30" in forms["set-aside"]
    assert "Josiah Bartlett | 32 | 0 | 32" in forms["certification"]


def test_9_a_referendum_is_counted_for_and_against() -> None:
    options = (("D", "Yes", False), ("R", "No", False))
    day = Day(order='office_class = "question"\n', options=options)
    day.scan(
        [*[Sheet(COUNTED, ("D",))] * 7, *[Sheet(COUNTED, ("R",))] * 8, Sheet(SET_ASIDE, (), ("overvote",))]
    )
    day.finish()
    day.lock(H=16, c=15, s=1, x=0)
    day.reconcile()
    day.show_figures()
    day.lock(p=0)
    day.count_pile("set_aside", {"overvote": 1})
    day.conclude()
    to_the_court(day)
    draft = day.certify()
    assert draft.to_declare == (
        "votes for and against: No 8; Yes 7; the court declares the outcome of the referendum (F)",
    )
    forms = forms_of(day)
    assert_they_read("9-referendum", forms)
    assert set(forms) == {*ALWAYS, *COURT}
    assert {"Yes | 7 | 0 | 7", "No | 8 | 0 | 8"} <= set(forms["certification"])
    assert "Overvote: votes for more than allowed; no vote counts (A) | 1 | 1" in forms["tally"]


PRECINCTS = tuple(str(101 + number) for number in range(30))
SHEETS = (*[Sheet(COUNTED, ("D",))] * 4, *[Sheet(COUNTED, ("R",))] * 3, Sheet(SET_ASIDE, (), ("undervote",)))


def feed_at_once(day: Day, names: Sequence[str]) -> None:
    """Feed so many precincts on as many devices, sheet by sheet in turn."""
    devices = [day.assign(f"device-{number}", name) for number, name in enumerate(names)]
    for device in devices:
        device.open_batch()
    for sheet in SHEETS:
        for device in devices:
            device.scan(sheet)
    for device in devices:
        device.close_batch()


def test_10_a_locality_of_30_precincts_on_8_devices_at_once() -> None:
    day = Day(PRECINCTS)
    for start in range(0, len(PRECINCTS), 8):
        group = PRECINCTS[start : start + 8]
        feed_at_once(day, group)
        for name in group:
            day.finish(name)
        for number in range(len(group)):
            day.device(f"device-{number}").close_run()
    for number, name in enumerate(PRECINCTS):
        day.lock(name, H=8, c=7, s=1, x=0)
        day.reconcile(name)
        day.show_figures(name)
        day.lock(name, p=0)
        # In every third precinct the officials find a vote for R on the ballot that was set aside.
        day.count_pile("set_aside", {"no_vote" if number % 3 else "R": 1}, name)
        if number < len(PRECINCTS) - 1:
            day.conclude(name)
    with pytest.raises(NotAllowed, match="F: precinct 130 is not concluded"):
        day.open_docket()
    day.conclude("130")
    to_the_court(day)
    draft = day.certify()
    assert [party.total for party in draft.totals] == [120, 100]
    assert len(draft.precincts) == 30
    forms = forms_of(day, "130")
    assert_they_read("10-thirty-precincts", forms)
    assert set(forms) == {*ALWAYS, *COURT}
    assert "all | Fairview County |  | 120 | 100 | 0" in forms["transmittal"]
    assert "all | Fairview County |  | 120 | 100" in forms["certification"]
    codes = {line.code for line in draft.precincts}
    assert len(codes) == 30
    assert sum(any(f"| {code} |" in line for code in codes) for line in forms["transmittal"]) == 30
    assert (
        "H | every sheet in the stack handed to the scanning team | 1 | 8 | Ann Lee, official, D | used"
        in (forms["counts"])
    )
    assert {fold(day.facts(), name).state for name in PRECINCTS[::10]} == {State.CERTIFIED}
    assert totals(statement(day.facts(), "101")) == {"D": 4, "R": 4}
