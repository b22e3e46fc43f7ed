"""The host's own fold of a device's records, and I9: entries, exits, landings and the device's tally."""

from typing import Any

import pytest

from host.tests.sound_device import PROGRAM, TWELVE_SHEETS, Device, Sheet
from recount_host.law.tally import Batch, Figures, Gap, add_up, fold_sheets, read_device
from recount_host.law.tally import Sheet as SheetRead

COUNTED = Sheet("counted", ("D",))
SET_ASIDE = Sheet("set_aside", (), ("overvote", "marginal_light"))
NOT_ACCEPTED = Sheet("not_accepted", (), ("torn",))


def a_device() -> Device:
    device = Device()
    device.open_run("101-1", "101")
    device.open_batch()
    return device


def the_batch(device: Device) -> Batch:
    (batch,) = read_device(device.id, device.records).batches
    return batch


def closed(device: Device, **changed: Any) -> Batch:
    device.close_batch(**changed)
    return the_batch(device)


def test_a_batch_is_folded_from_its_sheets() -> None:
    device = a_device()
    for sheet in TWELVE_SHEETS:
        device.scan(sheet)
    batch = closed(device)
    assert batch.figures == Figures(
        9, 2, 1, 0, {"D": 5, "R": 3, "T": 1}, {"overvote": 1, "undervote": 1}, {"wrong_style": 1}, {1: 9}
    )
    assert batch.i9.holds
    assert not batch.contradictions
    assert batch.fed == 12


def test_a_sheet_with_several_reasons_counts_under_each_and_once_as_a_sheet() -> None:
    device = a_device()
    device.scan(SET_ASIDE)
    batch = closed(device)
    assert batch.figures.set_aside == 1
    assert batch.figures.set_aside_reasons == {"marginal_light": 1, "overvote": 1}
    assert batch.i9.holds


def test_a_returned_sheet_counts_nowhere_and_its_feeding_again_does() -> None:
    device = a_device()
    device.give_back()
    device.give_back("hand", ("double_feed",))
    device.scan(COUNTED)
    batch = closed(device)
    assert (batch.figures.counted, batch.figures.returned, batch.fed) == (1, 2, 1)
    assert batch.i9.holds


def test_a_sheet_laid_into_its_bin_by_hand_counts_there() -> None:
    device = a_device()
    for sheet in (COUNTED, SET_ASIDE):
        number = device.judge(sheet)
        device.land(number, sheet.fate, by="hand")
        device.tell(sheet)
    batch = closed(device)
    assert (batch.figures.counted, batch.figures.set_aside) == (1, 1)
    assert batch.i9.holds


def test_a_judged_sheet_that_people_lay_into_the_not_accepted_tray_is_hand_counted() -> None:
    device = a_device()
    number = device.judge(COUNTED)
    device.land(number, "not_accepted", by="hand")
    device.tell(Sheet("not_accepted"))
    batch = closed(device)
    assert (batch.figures.counted, batch.figures.not_accepted, batch.figures.votes) == (0, 1, {})
    assert batch.i9.holds
    assert not batch.contradictions


@pytest.mark.parametrize("fate", ["counted", "not_accepted", "returned"])
def test_a_sheet_in_doubt_counts_as_the_officials_settle_it(fate: str) -> None:
    device = a_device()
    number = device.judge(COUNTED)
    device.doubt(number)
    assert [sheet.sheet for sheet in the_batch(device).doubts] == [number]
    device.settle(number, fate)
    if fate != "returned":
        device.tell(Sheet(fate, ("D",) if fate == "counted" else ()))
    batch = closed(device)
    assert not batch.doubts
    assert getattr(batch.figures, fate) == 1
    assert batch.i9.holds


def test_a_sheet_in_doubt_that_the_sensor_saw_after_all_has_landed() -> None:
    device = a_device()
    number = device.judge(COUNTED)
    device.doubt(number)
    device.land(number, "counted")
    device.tell(COUNTED)
    assert closed(device).i9.holds


def test_i9_fails_for_a_sheet_that_slipped_past_the_camera() -> None:
    device = a_device()
    device.scan(COUNTED)
    device.counters[0] += 1
    device.counters[1] += 1
    batch = closed(device)
    assert not batch.i9.holds


def test_i9_fails_for_an_entry_that_no_exit_answers() -> None:
    device = a_device()
    device.scan(COUNTED)
    device.counters[0] += 1
    assert not closed(device).i9.holds


def test_i9_fails_where_a_bin_saw_another_sheet_than_was_recorded() -> None:
    device = a_device()
    number = device.judge(COUNTED)
    device.counters[2] += 1
    device.write("sheet_landed", {"sheet": number, "bin": "counted", "by": "feeder", "feeder": device.feeder})
    device.tell(COUNTED)
    assert not closed(device).i9.holds


@pytest.mark.parametrize(
    "changed",
    [
        {"counted": 2},
        {"set_aside_sheets": 0},
        {"not_accepted_sheets": 2},
        {"returned": 1},
        {"votes": {"D": 2}},
        {"votes": {"R": 1}},
        {"set_aside": {"overvote": 1}},
        {"not_accepted": {}},
        {"entries": 4},
        {"by_hand": 1},
        {"exits": {"counted": 1, "set_aside": 1, "not_accepted": 1, "back": 1}},
    ],
)
def test_i9_fails_where_the_devices_tally_is_not_the_hosts_fold(changed: dict[str, Any]) -> None:
    device = a_device()
    for sheet in (COUNTED, SET_ASIDE, NOT_ACCEPTED):
        device.scan(sheet)
    assert not closed(device, **changed).i9.holds


def test_i9_fails_where_the_device_tells_of_a_vote_for_an_option_that_no_sheet_chose() -> None:
    device = a_device()
    device.scan(COUNTED)
    assert not closed(device, votes={"D": 1, "T": 1}).i9.holds


def test_a_sheet_that_was_given_back_and_then_judged_is_a_contradiction() -> None:
    device = a_device()
    device.give_back()
    device.sheet -= 1
    device.judge(COUNTED)
    assert "sheet 1 was judged twice" in the_batch(device).contradictions


def test_i9_tells_the_votes_of_both_in_a_fixed_order() -> None:
    names = [row.left_name for row in closed(a_device(), votes=dict.fromkeys("GFEDCBA", 1)).i9.equations]
    assert [name for name in names if "votes" in name] == [f"votes {key} reported" for key in "ABCDEFG"]


def test_i9_holds_for_a_feeder_board_that_started_anew_within_the_batch() -> None:
    device = a_device()
    device.scan(COUNTED)
    device.boot, device.counters = 8, [0, 0, 0, 0, 0]
    device.scan(COUNTED)
    device.close_batch(entries=2, exits={"counted": 2, "set_aside": 0, "not_accepted": 0, "back": 0})
    assert the_batch(device).i9.holds


def test_counters_that_go_back_without_a_new_boot_are_a_contradiction() -> None:
    device = a_device()
    device.scan(COUNTED)
    device.counters[1] = 0
    device.scan(COUNTED)
    assert "counters going back" in the_batch(device).contradictions[0]


def test_a_counted_verdict_in_the_set_aside_bin_is_a_contradiction_and_so_is_the_reverse() -> None:
    device = a_device()
    device.land(device.judge(COUNTED), "set_aside")
    device.land(device.judge(SET_ASIDE), "counted")
    assert list(the_batch(device).contradictions) == [
        "sheet 1 was judged counted and lies with the set_aside sheets",
        "sheet 2 was judged set_aside and lies with the counted sheets",
    ]


def test_a_landing_without_a_verdict_is_a_contradiction() -> None:
    device = a_device()
    for number, pile in ((41, "counted"), (42, "not_accepted")):
        device.land(number, pile)
    assert [sentence[:32] for sentence in the_batch(device).contradictions] == [
        "sheet 41 was never judged and li",
        "sheet 42 was never judged and li",
    ]


def test_two_fates_or_two_verdicts_of_one_sheet_are_contradictions() -> None:
    device = a_device()
    number = device.scan(COUNTED)
    device.land(number, "counted")
    device.sheet -= 1
    device.judge(COUNTED)
    assert the_batch(device).contradictions == (
        f"sheet {number} has two fates",
        f"sheet {number} was judged twice",
    )


def test_choices_on_a_sheet_that_was_not_counted_are_a_contradiction() -> None:
    device = a_device()
    device.scan(Sheet("set_aside", ("D",), ("overvote",)))
    assert "has choices although it was not counted" in the_batch(device).contradictions[0]


def test_a_batch_closed_over_a_sheet_without_a_landing_is_a_contradiction() -> None:
    device = a_device()
    device.judge(COUNTED)
    assert closed(device).contradictions == ("sheet 1 has no landing",)


def test_a_sheet_after_the_batch_was_closed_is_a_contradiction() -> None:
    device = a_device()
    device.close_batch()
    device.scan(COUNTED)
    assert "comes after the batch was closed" in the_batch(device).contradictions[0]


def test_a_batch_opened_twice_or_never_is_a_contradiction() -> None:
    device = a_device()
    device.write("batch_opened", {"feeder": device.feeder})
    assert the_batch(device).contradictions == ("it was opened twice",)
    device = Device()
    device.open_run("101-1", "101")
    device.number = 1
    device.give_back()
    assert the_batch(device).contradictions == ("it was never opened",)


def test_a_record_of_another_run_in_the_batch_is_a_contradiction() -> None:
    device = a_device()
    device.run = "102-1"
    device.scan(COUNTED)
    assert "names run 102-1" in the_batch(device).contradictions[0]


def test_a_fault_is_no_sheet() -> None:
    device = a_device()
    device.scan(COUNTED)
    device.close_batch()
    device.write("fault", {"word": "camera_fault", "detail": "no picture"})
    assert the_batch(device).i9.holds
    assert not the_batch(device).contradictions


def test_a_voided_batch_is_kept_with_its_reason() -> None:
    device = a_device()
    device.scan(COUNTED)
    device.close_batch()
    device.write(
        "batch_voided", {"reason": "slipped", "by": ["Ann Lee, official, D", "Bob Ray, official, R"]}
    )
    batch = the_batch(device)
    assert (batch.void_reason, batch.figures.counted, batch.contradictions) == ("slipped", 1, ())


def test_records_after_a_missing_number_are_not_read_and_the_gap_is_named() -> None:
    device = a_device()
    for _ in range(3):
        device.scan(COUNTED)
    device.close_batch()
    facts = read_device(device.id, [record for record in device.records if record.n not in (5, 6)])
    assert facts.gaps == (Gap(device.id, 5, 6),)
    assert facts.head_n == 4
    assert facts.batches[0].figures.counted == 1


def test_a_device_that_wrote_nothing_tells_nothing() -> None:
    facts = read_device("0" * 16, [])
    assert (facts.head_n, facts.head_sha256, facts.batches, facts.gaps) == (0, bytes(32), (), ())


def test_a_runs_closing_is_known_and_that_of_an_unknown_run_means_nothing() -> None:
    device = a_device()
    device.close_batch()
    device.close_run()
    device.run = "nobody-1"
    device.close_run()
    assert read_device(device.id, device.records).runs["101-1"].closed_n == 4


def test_figures_add_up() -> None:
    one = Figures(1, 2, 3, 4, {"D": 1}, {"overvote": 2}, {}, {1: 1})
    other = Figures(1, 1, 1, 1, {"D": 1, "R": 2}, {}, {"torn": 1}, {1: 2, 2: 1})
    assert one + other == Figures(2, 3, 4, 5, {"D": 2, "R": 2}, {"overvote": 2}, {"torn": 1}, {1: 3, 2: 1})


def test_a_sheet_judged_twice_keeps_its_first_verdict_and_cannot_stand() -> None:
    device = a_device()
    number = device.judge(COUNTED)
    device.doubt(number)
    device.sheet -= 1
    device.judge(SET_ASIDE)
    (sheet,) = the_batch(device).sheets
    assert (sheet.judged, sheet.choices) == ("counted", ("D",))
    assert "was judged twice" in the_batch(device).contradictions[0]


def test_a_tally_that_names_other_exits_fails_i9() -> None:
    device = a_device()
    device.scan(COUNTED)
    assert not closed(device, exits={"a": 1, "b": 0, "c": 0, "d": 0}).i9.holds


def test_everything_that_records_tell_of_a_run_a_batch_and_its_sheets_is_read() -> None:
    device = Device()
    device.write("fault", {"word": "camera_fault", "detail": "no picture"}, batch=0)
    device.open_run("101-1", "101")
    device.open_batch()
    device.scan(COUNTED)
    number = device.judge(SET_ASIDE)
    device.doubt(number, like=1)
    device.give_back(reasons=("jam", "long"))
    facts = read_device(device.id, device.records)
    run = facts.runs["101-1"]
    assert (run.run, run.device, run.precinct, run.contest, run.program, run.mode) == (
        "101-1",
        device.id,
        "101",
        "governor",
        PROGRAM,
        "training",
    )
    assert (run.software, run.firmware, run.opened_n, run.closed_n) == ("1.0", "1.0", 2, 0)
    (batch,) = facts.batches
    assert (batch.device, batch.run, batch.batch, batch.opened_n) == (device.id, "101-1", 1, 3)
    assert (batch.closed_n, batch.voided_n, batch.void_reason) == (0, 0, "")
    why = "it looks like sheet 1, which was read in this batch"
    assert batch.sheets == (
        SheetRead(1, "counted", ("D",), (), 0, 4, "counted", ""),
        SheetRead(number, "set_aside", (), ("overvote", "marginal_light"), 1, 6, "", why, 1),
        SheetRead(3, "", (), ("jam", "long"), 0, 0, "returned", ""),
    )
    assert (facts.head_n, facts.head_sha256) == (len(device.records), device.hash)
    device.settle(number, "set_aside")
    device.tell(SET_ASIDE)
    device.close_batch()
    device.write("batch_voided", {"reason": "slipped", "by": ["a", "b"]})
    device.close_run()
    facts = read_device(device.id, device.records)
    (batch,) = facts.batches
    last = len(device.records)
    assert (batch.closed_n, batch.voided_n, batch.void_reason) == (last - 2, last - 1, "slipped")
    run = facts.runs["101-1"]
    assert (run.opened_n, run.closed_n, run.precinct, run.mode) == (2, last, "101", "training")
    assert (run.contest, run.program, run.software, run.firmware) == ("governor", PROGRAM, "1.0", "1.0")
    assert batch.i9.holds


def test_a_doubt_without_a_reason_says_that_the_landing_was_not_seen() -> None:
    device = a_device()
    device.write("sheet_in_doubt", {"sheet": device.judge(COUNTED), "why": "", "feeder": device.feeder})
    (sheet,) = the_batch(device).doubts
    assert sheet.in_doubt == "its landing was not seen"


def test_figures_are_told_in_a_fixed_order_however_the_sheets_came() -> None:
    device = a_device()
    for key in ("T", "D", "R"):
        device.scan(Sheet("counted", (key,)))
    device.scan(Sheet("set_aside", (), ("write_in", "overvote")))
    device.scan(Sheet("not_accepted", (), ("wrong_style", "torn")))
    figures = the_batch(device).figures
    assert list(figures.votes) == ["D", "R", "T"]
    assert list(figures.set_aside_reasons) == ["overvote", "write_in"]
    assert list(figures.not_accepted_reasons) == ["torn", "wrong_style"]
    both = Figures(votes=dict.fromkeys("GECA", 1)) + Figures(votes=dict.fromkeys("FDB", 1))
    assert list(both.votes) == list("ABCDEFG")
    several = fold_sheets(
        SheetRead(n, "counted", choices, (), 0, 1, "counted", "")
        for n, choices in enumerate((("D", "R"), ("D",), ("D", "D")))
    )
    assert list(several.sheets_by_votes.items()) == [(1, 2), (2, 1)]


def test_batches_are_added_up_one_by_one() -> None:
    device = Device()
    device.open_run("101-1", "101")
    for _ in range(3):
        device.open_batch()
        device.scan(COUNTED)
        device.close_batch()
    batches = read_device(device.id, device.records).batches
    assert [batch.batch for batch in batches] == [1, 2, 3]
    assert add_up(batches) == Figures(3, votes={"D": 3}, sheets_by_votes={1: 3})
    assert add_up(()) == Figures()


def test_i9_looks_at_each_bin_by_itself() -> None:
    """Two wrongs that leave the sum right: a sheet that went elsewhere than it was recorded."""
    device = a_device()
    for pile, other in (("counted", 2), ("set_aside", 1)):
        number = device.judge(Sheet(pile, ("D",) if pile == "counted" else ()))
        device.counters[other] += 1
        device.write("sheet_landed", {"sheet": number, "bin": pile, "by": "feeder", "feeder": device.feeder})
        device.tell(Sheet(pile, ("D",) if pile == "counted" else ()))
    assert the_batch(device).i9.holds, "each bin has one sheet, as recorded"
    number = device.judge(NOT_ACCEPTED)
    device.counters[1] += 1
    device.write(
        "sheet_landed", {"sheet": number, "bin": "not_accepted", "by": "feeder", "feeder": device.feeder}
    )
    assert not the_batch(device).i9.holds
    failed = [equation.left_name for equation in the_batch(device).i9.equations if not equation.holds]
    assert failed == ["counted seen", "not_accepted seen"]


def test_i9_counts_what_people_laid_into_each_bin_and_took_out() -> None:
    device = a_device()
    device.land(device.judge(NOT_ACCEPTED), "not_accepted", by="hand")
    device.tell(NOT_ACCEPTED)
    device.give_back("hand")
    device.give_back("entry")
    batch = closed(device)
    assert batch.i9.holds
    told = {equation.left_name: (equation.left, equation.right) for equation in batch.i9.equations}
    assert told["entries"] == (3, 3)
    assert told["not_accepted seen"] == (1, 1)
    assert told["by hand reported"] == (2, 2)
    assert told["exits back reported"] == (1, 1)
    assert told["returned reported"] == (2, 2)
    assert set(told) == {
        "entries", "counted seen", "set_aside seen", "not_accepted seen", "counted reported",
        "set aside reported", "not accepted reported", "returned reported", "entries reported",
        "by hand reported", "exits counted reported", "exits set_aside reported",
        "exits not_accepted reported", "exits back reported", "not accepted for torn reported",
    }  # fmt: skip


def test_counters_of_the_board_are_counted_from_the_opening_of_the_batch_on() -> None:
    device = a_device()
    device.scan(COUNTED)
    device.close_batch()
    device.open_batch()
    device.scan(SET_ASIDE)
    device.close_batch()
    first, second = read_device(device.id, device.records).batches
    assert first.i9.holds
    assert second.i9.holds
    assert second.figures == Figures(0, 1, set_aside_reasons={"marginal_light": 1, "overvote": 1})


def test_a_sheet_on_its_way_is_in_no_doubt() -> None:
    device = a_device()
    device.judge(COUNTED)
    assert the_batch(device).doubts == ()


def test_records_are_read_in_the_order_of_their_numbers_however_they_came() -> None:
    device = a_device()
    for sheet in (COUNTED, SET_ASIDE):
        device.scan(sheet)
    device.close_batch()
    assert read_device(device.id, device.records[::-1]) == read_device(device.id, device.records)
