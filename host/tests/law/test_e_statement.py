"""E s. 1: what the officials write down, with its source, and nothing that the ledger does not yield."""

from dataclasses import replace
from typing import Any

import pytest

from host.tests.rehearsal import (
    ANN,
    BOTH,
    CLERK,
    Day,
    a_counted_day,
    a_day_told_twice,
    a_hand_count_day,
    a_reconciled_day,
    a_scanned_day,
    count_twelve_sheets,
)
from host.tests.sound_device import TWELVE_SHEETS
from recount_host.act import Person
from recount_host.law import statement as statement_module
from recount_host.law.errors import LedgerContradiction, NotAllowed
from recount_host.law.identities import Equation, Finding
from recount_host.law.precinct import Facts, PrecinctState
from recount_host.law.statement import statement
from recount_host.law.statement_lines import Row, Statement


def written(day: Day) -> Statement:
    return statement(day.facts(), "101")


def a_wholly_hand_counted_day() -> Day:
    day = a_hand_count_day()
    day.lock(p=0, o=1)
    day.hand_count({"D": 6, "R": 4, "T": 1, "no_vote": 1})
    return day


def test_e_each_partys_figure_is_accepted_plus_hand_counted_votes() -> None:
    assert written(a_counted_day()).parties == (
        Row("D", "Josiah Bartlett", 5, 1, 0, 0, 6),
        Row("R", "Arnold Vinick", 3, 1, 0, 0, 4),
    )


def test_votes_for_others_and_ballots_without_a_vote_are_listed_apart() -> None:
    said = written(a_counted_day())
    assert said.others == (
        Row("T", "Howard Stackhouse", 1, 0, 0, 0, 1),
        Row("other_write_in", "Write-in votes for others", 0, 0, 0, 0, 0),
    )
    assert [line.value for line in said.not_votes] == [1, 0, 0]
    assert said.check_total == 11


def test_d2_in_hand_count_no_vote_reported_by_a_scanner_is_in_the_statement() -> None:
    said = written(a_wholly_hand_counted_day())
    assert said.whole_precinct
    assert said.parties == (
        Row("D", "Josiah Bartlett", 0, 6, 0, 0, 6),
        Row("R", "Arnold Vinick", 0, 4, 0, 0, 4),
    )
    failed = [line for line in said.identities if line.holds is False]
    assert [line.name for line in failed] == ["I2"]
    assert "count for nothing" in failed[0].note


def test_every_identity_is_on_the_statement_with_its_figures() -> None:
    said = written(a_counted_day())
    assert [line.name for line in said.identities] == ["I1", "I2", "I3", "I4", "I5", "I7", "I8", "I9"]
    assert said.identities[1].figures == ("C + S = 11, R = 11",)
    assert [line.name for line in said.identities if line.holds is None] == ["I8"]


@pytest.mark.parametrize("make", [Day, a_scanned_day, a_reconciled_day, a_hand_count_day])
def test_no_statement_while_an_identity_is_open(make: Any) -> None:
    with pytest.raises(NotAllowed, match="print the statement"):
        written(make())


def test_a_total_that_the_ledger_does_not_yield_is_never_written(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = statement_module._rows  # pyright: ignore[reportPrivateUsage]

    def one_more(*args: Any, **kwargs: Any) -> tuple[Row, ...]:
        first, *rest = rows(*args, **kwargs)
        return (replace(first, total=first.total + 1), *rest)

    def one_less(*args: Any, **kwargs: Any) -> tuple[Row, ...]:
        return rows(*args, **kwargs)[1:]

    for wrong in (one_more, one_less):
        monkeypatch.setattr(statement_module, "_rows", wrong)
        with pytest.raises(LedgerContradiction, match="I7 fails"):
            written(a_counted_day())


@pytest.mark.parametrize("make", [a_counted_day, a_wholly_hand_counted_day])
def test_nothing_is_written_over_a_batch_whose_feeder_counted_otherwise(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fold = statement_module.fold

    def with_one_entry_more(facts: Facts, precinct_id: str) -> PrecinctState:
        state = fold(facts, precinct_id)
        wrong = Finding("I9", (Equation("entries", 13, "exits + by hand", 12),))
        return replace(state, batches=tuple(replace(batch, i9=wrong) for batch in state.batches))

    monkeypatch.setattr(statement_module, "fold", with_one_entry_more)
    with pytest.raises(LedgerContradiction, match="I9 fails"):
        written(make())


def test_both_values_of_a_number_verified_again_are_kept_on_the_statement() -> None:
    said = written(a_wholly_hand_counted_day())
    of_h = [(line.attempt, line.first, line.second) for line in said.counts if line.letter == "H"]
    assert of_h == [(1, 13, 13), (2, 13, 13)]


def test_a_count_that_a_second_person_never_entered_is_on_the_statement_as_such() -> None:
    day = a_scanned_day()
    day.enter("c", 9, ANN)
    where: dict[str, Any] = {"run": "101-1", "device": day.device().id}
    day.act("batch_void_ordered", BOTH, **where, batch=1, reason="dropped")
    day.scan(TWELVE_SHEETS)
    day.finish()
    count_twelve_sheets(day)
    (line,) = written(day).dropped
    assert (line.first, line.first_by, line.second, line.second_by) == (9, "Ann Lee, official, D", None, "")


def test_voided_attempts_are_on_the_statement_with_who_voided_them_and_why() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    where: dict[str, Any] = {"run": "101-1", "device": device.id}
    day.act("batch_void_ordered", BOTH, **where, batch=1, reason="a sheet slipped past")
    device.open_batch()
    device.close_batch()
    device.write("batch_voided", {"reason": "at the panel", "by": ["a", "b"]})
    device.open_batch()
    for sheet in TWELVE_SHEETS:
        device.scan(sheet)
    device.close_batch()
    day.finish()
    count_twelve_sheets(day)
    said = written(day)
    assert [(line.batch, line.reason, line.by) for line in said.voided] == [
        (1, "a sheet slipped past", "Ann Lee, official, D and Bob Ray, official, R"),
        (2, "at the panel", "both sides at the device"),
    ]
    assert said.runs[0].batches == 1


def printed_body() -> dict[str, Any]:
    return {"precinct": "101", "sha256": bytes(32), "facts_sha256": bytes(32)}


def test_counts_of_piles_that_were_scanned_again_are_kept_on_the_statement() -> None:
    day = a_scanned_day()
    day.lock(c=9)
    device = day.device()
    where: dict[str, Any] = {"run": "101-1", "device": device.id}
    day.act("batch_void_ordered", BOTH, **where, batch=1, reason="dropped")
    day.scan(TWELVE_SHEETS)
    day.finish()
    count_twelve_sheets(day)
    said = written(day)
    assert [(line.letter, line.first, line.second) for line in said.dropped] == [("c", 9, 9)]
    assert [run.run for run in said.runs] == ["101-1", "101-2"]


def test_moved_sheets_are_on_the_statement() -> None:
    day = a_day_told_twice(H=12, c=8, s=3, x=1)
    where: dict[str, Any] = {"device": "", "batch": 0, "sheet": 0}
    day.act("sheet_moved", BOTH, **where, from_pile="set_aside", to_pile="counted")
    day.reconcile()
    day.show_figures()
    day.lock(p=0, o=0)
    day.hand_count({"D": 3})
    (move,) = written(day).moves
    assert move.startswith("a counted sheet moved from the set_aside pile to the counted pile by Ann Lee")


def test_a_sheet_moved_by_its_notice_is_named_on_the_statement() -> None:
    day = a_day_told_twice(H=12, c=10, s=1, x=1)
    where: dict[str, Any] = {"device": day.device().id, "batch": 1, "sheet": 10}
    day.act("sheet_moved", BOTH, **where, from_pile="counted", to_pile="set_aside")
    day.reconcile()
    day.show_figures()
    day.lock(p=0, o=0)
    day.hand_count({"D": 3})
    assert written(day).moves[0].startswith("sheet 10 of batch 1 of alpha moved from the counted pile")


def test_every_official_who_acted_has_a_line_to_sign_and_each_side_has_one() -> None:
    signers = written(a_counted_day()).signers
    assert [(signer.name, signer.side) for signer in signers] == [
        ("Ann Lee", "Josiah Bartlett"),
        ("Bob Ray", "Arnold Vinick"),
    ]
    day = a_counted_day()
    day.append("statement_printed", (Person("Cora Day", "coordinator", "D"),), printed_body())
    assert [signer.name for signer in written(day).signers] == ["Ann Lee", "Bob Ray"]
    nobody = replace(day.state(), team=())
    signers = statement_module._signers(nobody)  # pyright: ignore[reportPrivateUsage]
    assert [(signer.name, signer.side) for signer in signers] == [
        ("", "Josiah Bartlett"),
        ("", "Arnold Vinick"),
    ]


def test_the_same_facts_have_the_same_hash_and_other_facts_another() -> None:
    day = a_counted_day()
    first = written(day)
    printed = {"sha256": bytes(32), "facts_sha256": bytes.fromhex(first.facts_sha256)}
    day.act("statement_printed", (CLERK,), **printed)
    assert written(day) == first
    assert first.short_code == first.facts_sha256[:8]
    assert written(a_wholly_hand_counted_day()).facts_sha256 != first.facts_sha256


def test_the_statement_names_order_program_records_and_acts_by_their_hashes() -> None:
    day = a_counted_day()
    said = written(day)
    assert said.order_sha256 == day.acts[0].body["sha256"].hex()
    assert said.program_sha256 == day.acts[1].body["program"].hex()
    assert said.runs[0].last_record == 27
    assert said.last_act == len(day.acts)
    assert said.mode == "training"


def test_a_precinct_without_a_scanner_has_a_statement_too() -> None:
    day = Day()
    day.assign("alpha")
    day.lock(p=3, H=0)
    day.finish()
    day.lock(c=0, s=0, x=0)
    day.reconcile()
    day.show_figures()
    day.hand_count({"D": 2, "R": 1})
    said = written(day)
    assert said.runs[0].batches == 0
    assert [row.total for row in said.parties] == [2, 1]


def test_a_run_that_a_device_never_opened_says_so() -> None:
    day = Day()
    device = day.device()
    day.act(
        "run_assigned", run="101-1", device=device.id, program=day.acts[1].body["program"],
        contest="governor", mode="training",
    )  # fmt: skip
    day.lock(p=1, H=0)
    day.finish()
    day.lock(c=0, s=0, x=0)
    day.reconcile()
    day.show_figures()
    day.hand_count({"D": 1})
    assert written(day).runs[0].software == "never opened"
