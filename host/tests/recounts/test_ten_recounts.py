"""Ten recounts played to their known ends, forms included: decks and days as they happened, or could.

Contests, sheets and truth come from images/ballots; devices write records, people act, and the law admits
every act. The deck of Fairview goes through real devices in `make demo`; here the law and the forms are the
point.
"""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pypdfium2
import pytest

from host.tests.rehearsal import BOB, BOTH, Day
from host.tests.sound_device import Sheet
from recount_ballots.deck import Truth, read_deck
from recount_host.forms.blocks import Form, sentence
from recount_host.forms.court_forms import court_form
from recount_host.forms.precinct_forms import precinct_form
from recount_host.forms.statement import print_statement
from recount_host.law import court as law_of_court
from recount_host.law.changes import changes
from recount_host.law.disclosure import notices
from recount_host.law.errors import NotAllowed
from recount_host.law.precinct import fold
from recount_host.law.printed_forms import forms_ready
from recount_host.law.statement import statement
from recount_host.law.statement_lines import Statement
from recount_host.law.states import State
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, RETURNED, SET_ASIDE

FORMS = Path(__file__).parent / "forms"
DECKS = Path(__file__).parents[3] / "images" / "ballots"
ALWAYS = {"statement", "counts", "runs", "set-aside", "tally", "call", "submission"}
COURT = {"transmittal", "docket", "rulings", "certification", "changes"}


class Found(NamedTuple):
    """A sheet of a deck as a device judges it, and what people find on it."""

    sheet: Sheet
    hand: str


class Played(NamedTuple):
    """A deck, with what its ballots say of the contest that is recounted."""

    contest: Mapping[str, Any]
    """As a rehearsed day takes it."""
    sheets: tuple[Found, ...]


@cache
def deck(name: str) -> Played:
    """Return a deck of images/ballots. Its first two options are the parties, by the sides of Ann and Bob."""
    read = read_deck(DECKS / name)
    printed = read.ballots.designs[read.precinct].front
    contest = next(contest for contest in printed if contest.key == read.ballots.recount)
    sides = dict(zip((option.key for option in contest.candidates), ("D", "R"), strict=False))
    options = [(sides.get(o.key, o.key), o.name, o.write_in) for o in contest.candidates]
    said = {"title": contest.title, "vote_for": contest.vote_for, "options": options}
    return Played(said, tuple(_found(sheet.truth, sides) for sheet in read.sheets))


def _found(truth: Truth, sides: Mapping[str, str]) -> Found:
    choices = tuple(sides.get(key, key) for key in truth.choices)
    reasons = tuple(reason.partition("|")[0] for reason in truth.reasons)
    hand = "+".join(sides.get(part, part) for part in truth.hand.split("+"))
    return Found(Sheet(truth.fates[0], choices, reasons), hand)


def fairview() -> list[Sheet]:
    """Return the 120 sheets of one precinct for the House of Delegates: C 103, S 13, X 4."""
    return [found.sheet for found in deck("fairview").sheets]


def a_day(precincts: Sequence[str] = ("101",), *, of: str = "fairview", order: str = "") -> Day:
    """Return a day that recounts the contest of a deck."""
    return Day(precincts, order=order, **deck(of).contest)


def piles_of(stack: Sequence[Found]) -> dict[str, int]:
    """Return what people count of these sheets: the stack, and its piles."""
    fates = Counter(found.sheet.fate for found in stack)
    return {"H": len(stack), "c": fates[COUNTED], "s": fates[SET_ASIDE], "x": fates[NOT_ACCEPTED]}


def outcomes(*fates: str, stack: Sequence[Found] | None = None) -> dict[str, int]:
    """Return what people find on the sheets of these piles that bear the contest; Fairview's by default."""
    found = deck("fairview").sheets if stack is None else stack
    return dict(Counter(hand for sheet, hand in found if sheet.fate in fates and hand != "no_contest"))


def count_by_hand(day: Day) -> None:
    day.lock(p=0, o=3)
    day.count_pile("set_aside", outcomes(SET_ASIDE))
    day.count_pile("not_accepted", outcomes(NOT_ACCEPTED))


def scanned(*, order: str = "", results: Mapping[str, int] | None = None) -> Day:
    """Return a day whose deck of 120 sheets is scanned: C 103, S 13, X 4, as the deck's head says."""
    day = a_day(order=order)
    for person in BOTH if results else ():
        day.act("results_keyed", (person,), figures=dict(results or {}))
    day.scan(fairview())
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


def printed_lines(pdf: bytes) -> list[str]:
    """Return every line that is printed on these pages."""
    document = pypdfium2.PdfDocument(pdf)
    try:
        return [line for page in document for line in page.get_textpage().get_text_range().splitlines()]
    finally:
        document.close()


def forms_of(day: Day, precinct: str = "101") -> dict[str, list[str]]:
    """Return the lines of the statement and of every form that precinct and locality have now.

    The statement has words of its own in its template: it is read as printed.
    """
    facts = day.facts()
    own = {form: lines_of(precinct_form(facts, precinct, form)) for form in forms_ready(day.state(precinct))}
    wide = {form: lines_of(court_form(facts, form)) for form in law_of_court.forms_ready(day.court())}
    return own | wide | {"statement": printed_lines(print_statement(statement(facts, precinct)))}


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


CLEAN = {"D": 49, "R": 45, "I": 12, "other_write_in": 3}
"""The deck's truth: 103 counted, 2 of R and 3 written in by hand, 1 of the third among the not accepted."""
STACK = "H | every sheet in the stack handed to the scanning team"
SIGNED = "Signed by Ann Lee, official, D and Bob Ray, official, R."
BALLOTS = "ballots that were counted by scanners at the election | the ballots"


def test_1_a_clean_recount_ends_as_the_deck_says() -> None:
    stated = {"ballots": 117, "votes:D": 49, "votes:R": 44, "votes:I": 12, "pollbook": 117}
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
        .startswith("Cora Whitlock received the higher number of votes: Cora Whitlock 49; Oscar Radford 45;")
    )
    assert [(o.key, o.change) for o in changes(day.facts()).totals] == [
        ("D", 0),
        ("R", 1),
        ("I", 0),
        ("other_write_in", None),
    ]
    forms = forms_of(day)
    assert_they_read("1-clean", forms)
    assert_on_forms(
        forms,
        statement=("Cora Whitlock 49 0 49", "Oscar Radford 43 2 45", "Tessa Marlow 11 1 12"),
        counts=f"{STACK} | 1 | 120, Ann Lee, official, D | 120, Bob Ray, official, R | used",
        runs=("C  sheets counted | 103", "S  sheets set aside | 13", "X  sheets not accepted | 4"),
        set_aside=("Sheets set aside: 13", "Sheets not accepted: 4", "alpha | 1 | 5 | 1 | write-in"),
        tally=("Oscar Radford | 2 | 2", "Write-in votes for others | 3 | 3", "All ballots | 13 | 13"),
        call=SIGNED,
        submission=(BALLOTS, "No ballot of this precinct is in question."),
        transmittal=f"101 | Precinct 101 | {said.short_code} | 49 | 45 | 0",
        docket="0 ballots.",
        rulings="The court has ruled on nothing yet.",
        certification=("Cora Whitlock | 49 | 0 | 49", "Oscar Radford | 45 | 0 | 45"),
        changes=("Oscar Radford | 44 | 45 | 0 | 45 | +1", "14 ballots counted by hand (D 1, D 2)."),
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
        line.startswith("I2 | ") and line.endswith("C + S = 116, R = 117 | 1 | NO")
        for line in forms["mismatch"]
    )
    assert "H | 2 | 121, Ann Lee, official, D | 121, Bob Ray, official, R" in forms["mismatch"]
    assert "All ballots | 118 | 118" in forms["tally"]
    assert (
        "D 2: all ballots of this precinct are counted by hand; nothing of this report counts."
        in forms["runs"]
    )
    assert "All ballots cast on scanners were counted by hand (D 2)." in forms["changes"]
    assert "Cora Whitlock | 49 | 0 | 49" in forms["certification"]


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
    assert (
        "c | the counted pile | 2 | 104, Ann Lee, official, D | 104, Bob Ray, official, R | used"
        in forms["counts"]
    )
    assert "All ballots | 13 | 13" in forms["tally"]
    assert (
        f"Statement of the recount with the record code {said.short_code}, signed by all officials (E)."
        in (forms["submission"])
    )


def test_4_a_jammed_ballot_that_is_fed_again_counts_once() -> None:
    """2005: ballots that jammed were fed again and counted twice."""
    day = a_day()
    device = day.assign()
    device.open_batch()
    sheets = fairview()
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
    assert "Votes for Cora Whitlock | 49" in forms["runs"]
    assert set(forms) == {*ALWAYS, "transmittal"}


def test_5_nine_ballots_short_are_reported_and_not_topped_up() -> None:
    """House of Delegates district 85, 2021: nine early ballots short; the court accepted it."""
    stated = {"ballots": 126, "votes:D": 55, "votes:R": 48, "pollbook": 126}
    day = scanned(results=stated)
    day.reconcile_with(H=120, c=103, s=13, x=4)
    count_by_hand(day)
    said = day.conclude()
    assert totals(said) == CLEAN
    assert said.notes[0] == "9 ballots fewer than the statement of results: reported, not topped up"
    to_the_court(day)
    day.certify()
    forms = forms_of(day)
    assert_they_read("5-nine-short", forms)
    assert set(forms) == {*ALWAYS, *COURT}
    note = "9 ballots fewer than the statement of results: reported, not topped up."
    assert note in forms["submission"]
    assert note in forms["changes"]
    assert "Cora Whitlock | 55 | 49 | 0 | 49 | -6" in forms["changes"]
    assert "Cora Whitlock | 49 | 0 | 49" in forms["certification"]


def test_6_a_late_challenge_of_a_ballot_that_was_not_segregated_is_refused() -> None:
    """House of Delegates district 94, 2017: a letter on the next morning; F s. 2 stands against it now."""
    day = scanned()
    day.reconcile_with(H=120, c=103, s=13, x=4)
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
    day.reconcile_with(H=120, c=103, s=13, x=4)
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
    assert {"Cora Whitlock | 49", "Oscar Radford | 49"} <= set(forms["tie"])
    assert sentence(draft.tie) in forms["tie"]
    assert "Oscar Radford | 45 | +4 | 49" in forms["certification"]
    assert sum("| tag T-" in line and "| R | R +1 |" in line for line in forms["rulings"]) == 4
    assert "4 ballots." in forms["docket"]
    assert "Tag T-3" in forms["labels"]
    assert "Tag T-0, envelope E-T-0" in forms["challenges"]
    assert "Challenged: in its envelope, for the court (E) | 4 | 4" in forms["tally"]


def test_8_three_of_several_with_most_ballots_set_aside() -> None:
    day = a_day(of="millbrook")
    stack = deck("millbrook").sheets
    day.scan([found.sheet for found in stack])
    day.finish()
    day.lock(H=40, c=12, s=28, x=0)
    assert day.reconcile().verdicts[-1].failed == ()
    day.show_figures()
    day.lock(p=0)
    day.count_pile("set_aside", outcomes(SET_ASIDE, stack=stack))
    said = day.conclude()
    assert totals(said) == {"D": 25, "R": 26, "U": 11, "O": 8, "Y": 7, "other_write_in": 2}
    to_the_court(day)
    draft = day.certify()
    assert draft.to_declare[0].startswith("in the order of their votes: Daniel Hadley 26; Cora Jarvis 25;")
    forms = forms_of(day)
    assert_they_read("8-three-of-several", forms)
    assert set(forms) == {*ALWAYS, *COURT}
    assert "Cora Jarvis + Daniel Hadley | 7 | 7" in forms["tally"]
    assert "S because of undervote | 24" in forms["runs"]
    assert "Sheets set aside: 28" in forms["set-aside"]
    assert "Cora Jarvis | 25 | 0 | 25" in forms["certification"]


def test_9_a_referendum_is_counted_for_and_against() -> None:
    day = a_day(of="bonds", order='office_class = "question"\n')
    day.scan([found.sheet for found in deck("bonds").sheets])
    day.finish()
    day.reconcile_with(H=16, c=15, s=1, x=0)
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


def dealt() -> dict[str, tuple[Found, ...]]:
    """Return the deck of Fairview dealt to thirty precincts of one ballot style: four sheets each."""
    sheets = deck("fairview").sheets
    return {name: sheets[number :: len(PRECINCTS)] for number, name in enumerate(PRECINCTS)}


def feed_at_once(day: Day, stacks: Mapping[str, Sequence[Found]]) -> None:
    """Feed these precincts on as many devices, sheet by sheet in turn, and finish their scanning."""
    devices = {name: day.assign(f"device-{number}", name) for number, name in enumerate(stacks)}
    for device in devices.values():
        device.open_batch()
    for turn in zip(*stacks.values(), strict=True):
        for device, found in zip(devices.values(), turn, strict=True):
            device.scan(found.sheet)
    for name, device in devices.items():
        device.close_batch()
        day.finish(name)
        device.close_run()


def count_of(day: Day, name: str, stack: Sequence[Found]) -> None:
    """Count the stack and the piles of one precinct, and what lies in them."""
    day.lock(name, **piles_of(stack))
    assert day.reconcile(name).verdicts[-1].failed == ()
    day.show_figures(name)
    day.lock(name, p=0)
    if day.state(name).state is State.RECONCILED:
        day.lock(name, o=sum(found.hand == "no_contest" for found in stack))
    for pile in (SET_ASIDE, NOT_ACCEPTED):
        if found := outcomes(pile, stack=stack):
            day.count_pile(pile, found, name)


def test_10_a_locality_of_30_precincts_on_8_devices_at_once() -> None:
    day, stacks = a_day(PRECINCTS), dealt()
    for start in range(0, len(PRECINCTS), 8):
        feed_at_once(day, {name: stacks[name] for name in PRECINCTS[start : start + 8]})
    for name, stack in stacks.items():
        count_of(day, name, stack)
        if name != PRECINCTS[-1]:
            day.conclude(name)
    with pytest.raises(NotAllowed, match="F: precinct 130 is not concluded"):
        day.open_docket()
    day.conclude("130")
    to_the_court(day)
    draft = day.certify()
    # Thirty statements together say what the one of the first recount says.
    assert [party.total for party in draft.totals] == [49, 45]
    assert len(draft.precincts) == 30
    forms = forms_of(day, "130")
    assert_they_read("10-thirty-precincts", forms)
    assert set(forms) == {*ALWAYS, *COURT}
    assert "all | Fairview County |  | 49 | 45 | 0" in forms["transmittal"]
    assert "all | Fairview County |  | 49 | 45" in forms["certification"]
    codes = {line.code for line in draft.precincts}
    assert len(codes) == 30
    assert sum(any(f"| {code} |" in line for code in codes) for line in forms["transmittal"]) == 30
    assert f"{STACK} | 1 | 4, Ann Lee, official, D | 4, Bob Ray, official, R | used" in forms["counts"]
    assert {fold(day.facts(), name).state for name in PRECINCTS[::10]} == {State.CERTIFIED}
    stated = sum((Counter(totals(statement(day.facts(), name))) for name in PRECINCTS), Counter[str]())
    assert stated == CLEAN
