"""E s. 1: the statement line by line, for the three ways in which a precinct can be counted."""

from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from host.tests.law.test_b_custody import key, open_, receive
from host.tests.law.test_e_statement import a_wholly_hand_counted_day, written
from host.tests.rehearsal import ANN, BOB, BOTH, CLERK, Day, a_scanned_day, count_twelve_sheets
from host.tests.sound_device import PROGRAM, TWELVE_SHEETS, Sheet
from recount_host.act import act_hash, encode_act
from recount_host.law import statement as statement_module
from recount_host.law.errors import LedgerContradiction
from recount_host.law.precinct import PrecinctState
from recount_host.law.statement_lines import CountLine, Line, PileLine, RunLine, Signer, SourceLine, Statement
from recount_host.order import order_hash, order_text_of

PEOPLE, SCANNERS = "counted by people", "reported by the scanners"
TEAM = "Ann Lee, official, D and Bob Ray, official, R"


def a_rerun_day() -> Day:
    """Return a counted day with one container; in one pile each outcome is another one."""
    day = Day()
    receive(day, "box-1", stated=[12])
    open_(day, "box-1")
    day.scan(TWELVE_SHEETS)
    day.finish()
    day.reconcile_with(H=12, c=9, s=2, x=1)
    day.lock(p=0, o=0)
    day.count_pile("set_aside", {"D": 1, "no_vote": 1})
    day.count_pile("not_accepted", {"R": 1})
    return day


def a_day_without_the_scanned_ballots() -> Day:
    """Return a counted day whose scanned ballots cannot be found: D 1 and R 3 are counted."""
    day = Day()
    key(day)
    receive(day, "paper-1", "paper")
    open_(day, "paper-1")
    day.act("ballots_not_found", BOTH, stream="scanned", reason="the room was flooded")
    day.lock(p=1, d=3)
    day.count_pile("not_programmable", {"D": 1})
    day.count_pile("paper", {"R": 3})
    return day


def a_day_sent_to_hand_count() -> Day:
    """Return a counted day that both sides sent to hand count after a device had scanned."""
    day = Day()
    day.scan(TWELVE_SHEETS)
    day.act("run_ended", run="101-1", device=day.device().id)
    day.act("hand_count_ordered", BOTH, reason="no device is left")
    day.lock(H=12, p=0, o=1)
    day.count_pile("all_scanned", {"D": 6, "R": 4, "no_vote": 1})
    return day


def counts(letter: str, what: str, *values: int) -> tuple[CountLine, ...]:
    ann, bob = TEAM.split(" and ")
    return tuple(CountLine(letter, what, n, value, ann, value, bob) for n, value in enumerate(values, 1))


H_SAYS = "every sheet in the stack handed to the scanning team"
P_SAYS = "the ballots for which no scanner could be programmed"
O_SAYS = "the not-accepted sheets that lack the contest"


def test_what_was_counted_stands_on_the_statement_with_who_counted_it() -> None:
    said = written(a_rerun_day())
    assert said.ballots == (
        Line("H  sheets in the stack", 12, PEOPLE),
        Line("x  sheets not accepted", 1, PEOPLE),
        Line("R  sheets rerun: H - x", 11, PEOPLE),
        Line("C  sheets counted", 9, SCANNERS),
        Line("S  sheets set aside", 2, SCANNERS),
        Line("X  sheets not accepted", 1, SCANNERS),
        Line("c  counted pile", 9, PEOPLE),
        Line("s  set-aside pile", 2, PEOPLE),
        Line("o  sheets that lack the contest", 0, PEOPLE),
        Line("p  ballots that cannot be programmed", 0, PEOPLE),
        Line("d  paper ballots", 0, PEOPLE),
        Line("Ballots hand counted", 3, PEOPLE),
    )
    assert said.piles == (
        PileLine(
            "set_aside",
            "the ballots that the scanners set aside",
            2,
            (Line("D", 1), Line("no_vote", 1)),
        ),
        PileLine("not_accepted", "the ballots that the scanners did not accept", 1, (Line("R", 1),)),
    )
    assert said.counts == (
        *counts("H", H_SAYS, 12),
        *counts("c", "the counted pile", 9),
        *counts("s", "the set-aside pile", 2),
        *counts("x", "the not-accepted pile", 1),
        *counts("p", P_SAYS, 0),
        *counts("o", O_SAYS, 0),
    )
    assert said.hand_count_by == (
        f"set aside, pass 1: {TEAM}",
        f"set aside, pass 2: {TEAM}",
        f"not accepted, pass 1: {TEAM}",
        f"not accepted, pass 2: {TEAM}",
    )
    assert said.standards == ("Ballot Examples, 2020",)
    assert said.sources == (
        SourceLine("ballots that were counted by scanners at the election", "the ballots"),
    )
    assert said.set_aside_reasons == (Line("overvote", 1), Line("undervote", 1))
    assert said.not_accepted_reasons == (Line("wrong_style", 1),)


def test_what_it_was_made_of_stands_on_the_statement() -> None:
    day = a_rerun_day()
    said, device = written(day), day.device()
    assert said.runs == (
        RunLine("101-1", device.id, "alpha", "1.0", "1.0", 1, len(device.records), device.hash.hex()),
    )
    last = day.acts[-1]
    assert (said.last_act, said.last_act_sha256) == (last.n, act_hash(encode_act(last)).hex())
    assert said.counted_utc == last.utc
    shown = next(act for act in day.acts if act.kind == "figures_shown")
    assert said.figures_shown_utc == shown.utc
    assert said.order_sha256 == order_hash(order_text_of(day.acts) or "").hex()
    assert said.program_sha256 == PROGRAM.hex()
    assert said.check_total == 11
    assert (said.mode, said.whole_precinct, said.hand_count_reason) == ("training", False, "")


def test_whatever_stands_otherwise_on_it_gives_another_code() -> None:
    codes = {written(make()).facts_sha256 for make in (a_rerun_day, a_wholly_hand_counted_day)}
    assert len(codes) == 2
    assert sha256(b"").hexdigest() not in codes


IDENTITIES = {
    "rerun": {
        "I1": ("H - x = 11, R = 11",),
        "I2": ("C + S = 11, R = 11",),
        "I3": ("c = 9, C = 9", "s = 2, S = 2", "x = 1, X = 1"),
        "I4": ("votes = 9, N x C = 9", "sheets with N votes = 9, C = 9"),
        "I5": (
            "outcomes = 3, s + (x - o) + p = 3",
            "outcomes of set aside = 2, ballots = 2",
            "outcomes of not accepted = 1, ballots = 1",
            "outcomes of not programmable = 0, ballots = 0",
            "outcomes of paper = 0, ballots = 0",
        ),
        "I7": (
            "Josiah Bartlett = 6, accepted + hand = 6",
            "Arnold Vinick = 4, accepted + hand = 4",
            "Howard Stackhouse = 1, accepted + hand = 1",
            "Write-in votes for others = 0, accepted + hand = 0",
        ),
        "I8": (),
        "I9": (),
    },
    "missing": {
        "I5": (
            "outcomes = 1, s + (x - o) + p = 1",
            "outcomes of not programmable = 1, ballots = 1",
            "outcomes of paper = 3, ballots = 3",
        ),
        "I7": (
            "Josiah Bartlett = 8, accepted + hand = 8",
            "Arnold Vinick = 7, accepted + hand = 7",
            "Howard Stackhouse = 0, accepted + hand = 0",
            "Write-in votes for others = 0, accepted + hand = 0",
        ),
        "I8": ("ballots found = 4, statement of results = 15",),
    },
}


def identities(said: Statement) -> dict[str, tuple[str, ...]]:
    return {line.name: line.figures for line in said.identities}


def test_every_identity_stands_on_the_statement_with_both_its_figures() -> None:
    assert identities(written(a_rerun_day())) == IDENTITIES["rerun"]
    assert identities(written(a_day_without_the_scanned_ballots())) == IDENTITIES["missing"]
    last = written(a_rerun_day()).identities[-1]
    assert (last.name, last.holds, last.note) == ("I9", True, "in every batch that counts: 1")


def test_d2_where_all_is_hand_counted_both_attempts_and_the_mismatch_stand_on_the_statement() -> None:
    said = written(a_wholly_hand_counted_day())
    assert said.counts == (
        *counts("H", H_SAYS, 13, 13),
        *counts("c", "the counted pile", 9, 9),
        *counts("s", "the set-aside pile", 2, 2),
        *counts("x", "the not-accepted pile", 1, 1),
        *counts("p", P_SAYS, 0),
        *counts("o", O_SAYS, 1),
    )
    assert [(line.name, line.holds, bool(line.note)) for line in said.identities] == [
        ("I1", True, False),
        ("I2", False, True),
        ("I3", True, False),
        ("I4", True, False),
        ("I6", True, False),
        ("I7", True, False),
        ("I8", None, True),
        ("I9", True, True),
    ]
    assert [line.value for line in said.ballots] == [13, 1, 12, 9, 2, 1, 9, 2, 1, 0, 0, 12]


def test_e_where_ballots_are_missing_only_what_is_here_stands_on_the_statement_as_counted() -> None:
    said = written(a_day_without_the_scanned_ballots())
    assert said.ballots == (
        Line("p  ballots that cannot be programmed", 1, PEOPLE),
        Line("d  paper ballots", 3, PEOPLE),
        Line("Ballots hand counted", 4, PEOPLE),
    )
    assert said.sources == (
        SourceLine(
            "ballots that were counted by scanners at the election",
            "the statement of results; the ballots cannot be found: the room was flooded",
        ),
        SourceLine("paper ballots, counted by hand at the election (D 1)", "the ballots"),
    )
    assert [(row.accepted, row.by_hand, row.paper, row.stated, row.total) for row in said.parties] == [
        (0, 1, 0, 7, 8),
        (0, 0, 3, 4, 7),
    ]
    assert (said.figures_shown_utc, said.program_sha256, said.runs, said.check_total) == ("", "", (), 15)


def test_d2_where_both_sides_sent_all_to_hand_count_nothing_of_a_scanner_stands_on_the_statement() -> None:
    said = written(a_day_sent_to_hand_count())
    assert said.hand_count_reason == "no device is left"
    assert [line.name for line in said.ballots] == [
        "H  sheets in the stack",
        "o  sheets that lack the contest",
        "p  ballots that cannot be programmed",
        "d  paper ballots",
        "Ballots hand counted",
    ]
    assert [line.name for line in said.identities] == ["I6", "I7", "I8"]
    assert said.set_aside_reasons == said.not_accepted_reasons == ()
    (run,) = said.runs
    assert (run.software, run.firmware, run.batches) == ("nothing of it counts", "nothing of it counts", 0)
    assert (run.last_record, run.last_record_sha256) == (0, "")


def test_each_device_is_named_with_its_own_run() -> None:
    day = Day()
    day.scan(TWELVE_SHEETS)
    other = day.device("beta")
    given: dict[str, Any] = {"run": "101-2", "device": other.id, "program": PROGRAM}
    day.act("run_assigned", (CLERK,), **given, contest="governor", mode="training")
    other.run = "101-2"
    what = {"precinct": "101", "contest": "governor", "program": PROGRAM, "mode": "training"}
    other.write("run_opened", {**what, "software": "2.0", "firmware": "3.0"}, batch=0)
    day.finish()
    count_twelve_sheets(day)
    runs = written(day).runs
    assert [(run.run, run.software, run.firmware) for run in runs] == [
        ("101-1", "1.0", "1.0"),
        ("101-2", "2.0", "3.0"),
    ]


def test_d2_what_a_scanner_would_have_told_stands_nowhere_where_both_sides_sent_all_to_hand_count() -> None:
    day = a_scanned_day()
    day.lock(H=12, c=9, s=2, x=1)
    day.act("hand_count_ordered", BOTH, reason="the device is dead")
    day.lock(p=0, o=0)
    day.count_pile("all_scanned", {"D": 12})
    names = {identity.name for identity in written(day).identities}
    assert names == {"I6", "I7", "I8"}


def test_a_container_stands_on_the_statement_with_who_opened_it() -> None:
    day = Day()
    receive(day, "box-1")
    receive(day, "spoiled-1", "spoiled")
    open_(day, "box-1")
    day.scan(TWELVE_SHEETS)
    day.finish()
    count_twelve_sheets(day)
    containers = written(day).containers
    both = "Ann Lee, official, D and Bob Ray, official, R"
    assert [(one.name, one.opened_by) for one in containers] == [("box-1", both), ("spoiled-1", "")]


def test_a_device_that_never_opened_its_run_is_named_as_such() -> None:
    day = a_scanned_day()
    said = day.state()
    silent = replace(said.assignments[0], run="101-9", device="f" * 16)
    state = replace(said, assignments=(*said.assignments, silent))
    _, line = statement_module._runs(state)  # pyright: ignore[reportPrivateUsage]
    assert (line.software, line.firmware, line.batches, line.last_record) == (
        "never opened",
        "never opened",
        0,
        0,
    )


def test_who_is_on_no_team_has_a_line_to_sign_for_the_side() -> None:
    day = a_rerun_day()
    assert written(day).signers == (
        Signer("Ann Lee", "official", "Josiah Bartlett"),
        Signer("Bob Ray", "official", "Arnold Vinick"),
    )
    alone = replace(day.state(), team=(ANN,))
    signers = statement_module._signers(alone)  # pyright: ignore[reportPrivateUsage]
    assert signers == (
        Signer("Ann Lee", "official", "Josiah Bartlett"),
        Signer("", "official", "Arnold Vinick"),
    )


@pytest.mark.parametrize("part", ["by_hand", "paper", "stated"])
def test_i7_a_vote_for_an_option_that_no_line_has_is_never_lost(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result that holds more than the lines is found, whichever part of it holds it."""
    day = a_rerun_day()
    made = statement_module.result_of

    def with_a_stray_vote(state: PrecinctState) -> Any:
        result = made(state)
        return replace(result, **{part: {**getattr(result, part), "Z": 1}})

    monkeypatch.setattr(statement_module, "result_of", with_a_stray_vote)
    with pytest.raises(LedgerContradiction, match="I7 fails"):
        written(day)


def test_where_a_scanner_counted_no_sheet_the_counted_pile_is_0() -> None:
    day = a_scanned_day([Sheet("set_aside", (), ("overvote",))])
    day.reconcile_with(H=1, c=0, s=1, x=0)
    day.lock(p=0)
    day.hand_count({"overvote": 1})
    assert [line.value for line in written(day).ballots] == [1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0, 1]


def test_who_withdrew_a_statement_and_which_ballot_it_is_about_stand_on_the_statement() -> None:
    day = a_rerun_day()
    day.segregate("T-1", counted_as="D")
    day.segregate("T-2", pile="counted", counted_as="R")
    for tag, text in (("T-1", "a slash"), ("T-2", "another ink")):
        day.act("challenge_stated", (ANN,), tag=tag, ground="mark", text=text)
    first, second = day.acts[-2], day.acts[-1]
    day.act("challenge_withdrawn", (ANN,), statement=second.n, reason="a slip")
    said = written(day)
    assert [(line.tag, line.pile, line.counted_as, line.in_totals) for line in said.challenged] == [
        ("T-1", "set_aside", "D", False),
        ("T-2", "counted", "R", True),
    ]
    mark = "for whom the ballot is marked"
    assert said.challenged[0].statements == (
        f"statement {first.n} by Ann Lee, official, D, {first.utc}, {mark}: a slash",
    )
    stated = f"statement {second.n} by Ann Lee, official, D, {second.utc}, {mark}: another ink"
    assert said.challenged[1].statements == (f"{stated} (withdrawn {day.acts[-1].utc}: a slip)",)


def test_a_precinct_that_is_all_hand_counted_has_no_questioned_ballot_in_its_totals() -> None:
    day = a_scanned_day()
    day.segregate(pile="counted", counted_as="D")
    for _ in range(2):
        day.lock(H=13, c=9, s=2, x=1)
        day.reconcile()
    day.show_figures()
    day.lock(p=0, o=1)
    day.count_pile("all_scanned", {"D": 11, "challenged": 1})
    assert [(line.pile, line.in_totals) for line in written(day).challenged] == [("all_scanned", False)]


def test_counts_that_differ_and_one_that_was_never_answered_stand_there_as_they_were_entered() -> None:
    day = a_scanned_day()
    for value, person in ((13, ANN), (12, BOB), (12, BOB), (12, ANN)):
        day.enter("H", value, person)
    day.lock(c=9, s=2, x=1)
    day.reconcile()
    day.show_figures()
    day.lock(p=0, o=0)
    day.enter("p", 5, ANN)
    day.enter("p", 0, BOB)
    day.lock(p=0)
    day.hand_count({"D": 1, "R": 1, "no_vote": 1})
    lines = [(line.letter, line.attempt, line.first, line.second) for line in written(day).counts]
    assert lines == [
        ("H", 1, 13, 12),
        ("H", 1, 12, 12),
        ("c", 1, 9, 9),
        ("s", 1, 2, 2),
        ("x", 1, 1, 1),
        ("p", 1, 0, 0),
        ("p", 2, 5, 0),
        ("p", 2, 0, 0),
        ("o", 1, 0, 0),
    ]


def test_a_device_that_opened_its_run_and_fed_nothing_is_named_with_its_software() -> None:
    day = Day()
    day.assign("alpha")
    day.scan(TWELVE_SHEETS, "beta")
    day.finish()
    count_twelve_sheets(day)
    assert [
        (run.name, run.software, run.firmware, run.batches, run.last_record) for run in written(day).runs
    ] == [
        ("alpha", "1.0", "1.0", 0, 1),
        ("beta", "1.0", "1.0", 1, len(day.device("beta").records)),
    ]
