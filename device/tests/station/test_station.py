"""The station at work: paper in, records out, through the real journal."""

import pytest

from device.tests.station.bench import ANN_AND_BOB, PROGRAM, Bench, Paper, foreign, overvote, upside_down
from device.tests.station.conftest import MakeBench
from recount_device.feeder_link import Said
from recount_protocol.fates import RETURNED


def piles(bench: Bench) -> dict[str, list[str]]:
    return {name: [paper.name for paper in pile] for name, pile in bench.machine.bins.items() if pile}


# --- the good day ---


def test_each_sheet_is_judged_and_lands_where_its_verdict_sends_it(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), overvote("2"), foreign("3")])
    bench.scan()
    assert piles(bench) == {"counted": ["1"], "set_aside": ["2"], "not_accepted": ["3"]}
    assert [kinds for _, kinds in bench.sheets()] == [["sheet_judged", "sheet_landed"]] * 3


def test_the_batch_closes_with_the_tally(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), Paper("2", choices=("R",)), overvote("3"), foreign("4")])
    bench.scan()
    bench.end_batch()
    (closed,) = bench.records("batch_closed")
    assert closed.body == {
        "counted": 2,
        "set_aside": {"overvote": 1},
        "set_aside_sheets": 1,
        "not_accepted": {"wrong_style": 1},
        "not_accepted_sheets": 1,
        "returned": 0,
        "votes": {"D": 1, "R": 1},
        "entries": 4,
        "exits": {"counted": 2, "set_aside": 1, "not_accepted": 1, "back": 0},
        "by_hand": 0,
        "feeder": [71, 4, 2, 1, 1, 0],
    }


def test_a_sheet_aside_has_its_place_in_the_tray_counted_from_the_bottom(a_bench: MakeBench) -> None:
    bench = a_bench([overvote("1"), Paper("2"), overvote("3"), foreign("4")])
    bench.scan()
    judged = bench.records("sheet_judged")
    assert [record.body["place"] for record in judged] == [1, 0, 2, 1]


def test_the_verdict_is_on_the_disk_before_the_diverter_moves(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    on_disk: list[list[str]] = []
    bench.feeder.fail_at_send = lambda name, _: on_disk.append(bench.kinds()) if name == "divert" else None
    bench.scan()
    assert [kinds[-1] for kinds in on_disk] == ["sheet_judged"]


def test_the_number_is_on_the_disk_before_the_feeder_hears_it(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    reserved: list[tuple[int, int]] = []

    def watch(name: str, fields: dict[str, int]) -> None:
        if name == "feed":
            reserved.append((fields["sheet"], bench.journal.feeding.sheet))

    bench.feeder.fail_at_send = watch
    bench.scan()
    assert reserved
    assert all(told == stored for told, stored in reserved)


def test_the_judged_pixels_are_kept_beside_the_record(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), foreign("2")])
    bench.scan()
    counted, not_accepted = bench.records("sheet_judged")
    assert counted.body["crop_bytes"] > 0
    assert counted.body["evidence"]["style"] == "card-1"
    assert (not_accepted.body["crop_bytes"], not_accepted.body["evidence"]) == (0, {})


def test_a_second_batch_counts_from_its_own_beginning(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), overvote("2")])
    bench.scan()
    bench.end_batch()
    bench.machine.hopper.append(overvote("3"))
    bench.go_on()
    bench.end_batch()
    first, second = bench.records("batch_closed")
    assert (first.batch, second.batch) == (1, 2)
    assert (second.body["entries"], second.body["set_aside"]) == (1, {"overvote": 1})
    assert bench.records("sheet_judged")[-1].body["place"] == 1


def test_a_batch_takes_no_more_sheets_than_the_config_says(a_bench: MakeBench) -> None:
    bench = a_bench([Paper(str(n)) for n in range(5)], batch_sheets=3)
    bench.assign()
    bench.press("start")
    bench.until("batch_full")
    assert "batch is full" in bench.panel.text
    assert len(bench.records("sheet_landed")) == 3


def test_a_nearly_full_disk_feeds_no_further_sheet(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), Paper("2")])
    bench.free_bytes = 1000
    bench.assign()
    bench.press("start")
    bench.until("fault")
    assert "disk is nearly full" in bench.panel.text
    assert "feed" not in [name for name, _ in bench.feeder.sent]


def until_a_sheet_lands(bench: Bench) -> None:
    """Feed until a bin's sensor has seen a sheet, and the station has not heard of it."""
    bench.assign()
    bench.panel.press("start")
    while not any(said.name == "landed" for said in bench.machine.said):
        bench.station.step()


def test_end_batch_pressed_between_two_sheets_closes_the_batch_before_another_is_picked(
    a_bench: MakeBench,
) -> None:
    bench = a_bench([Paper("1"), Paper("2"), Paper("3")])
    until_a_sheet_lands(bench)
    bench.panel.press("end_batch")
    bench.steps(20)
    (closed,) = bench.records("batch_closed")
    assert closed.body["counted"] == len(bench.machine.bins["counted"]) == 1
    assert len(bench.machine.hopper) == 2
    assert bench.passage.idle


def test_the_stop_button_of_the_panel_pauses_after_the_sheet_under_way(a_bench: MakeBench) -> None:
    bench = a_bench([Paper(str(n)) for n in range(9)])
    bench.assign()
    bench.panel.press("start")
    bench.steps(6)
    bench.press("stop")
    bench.until("press_start")
    landed = len(bench.records("sheet_landed"))
    assert landed < 9
    assert bench.machine.path is None
    bench.go_on()
    assert len(bench.records("sheet_landed")) == 9


# --- what comes back ---


def test_a_sheet_wrong_side_up_comes_back_and_the_panel_says_why(a_bench: MakeBench) -> None:
    bench = a_bench([upside_down("1")])
    bench.assign()
    bench.press("start")
    bench.until("take_out_and_return")
    assert "wrong side up: turn it over" in bench.panel.text
    (returned,) = bench.records("sheet_returned")
    assert (returned.body["reasons"], returned.body["out"]) == (["wrong_side"], "entry")


def test_the_second_return_in_a_row_for_one_reason_goes_to_the_not_accepted_tray(a_bench: MakeBench) -> None:
    bench = a_bench([upside_down("1"), Paper("2")])
    bench.scan()
    assert piles(bench) == {"not_accepted": ["1"], "counted": ["2"]}
    judged = bench.records("sheet_judged")[0]
    assert (judged.body["fate"], judged.body["reasons"]) == ("not_accepted", ["wrong_side"])


def test_two_returns_with_a_sheet_between_them_are_not_two_in_a_row(a_bench: MakeBench) -> None:
    camera_failed = Paper("1", mishaps=("no_picture", "", ""))
    bench = a_bench([camera_failed, Paper("2", mishaps=("no_picture",))])
    bench.scan()
    assert piles(bench) == {"counted": ["1", "2"]}
    assert [record.body["reasons"] for record in bench.records("sheet_returned")] == [["camera_fault"]] * 2


def test_a_sheet_that_comes_back_never_tells_of_its_marks(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1", "returned", (), ("streak", "undervote", "write_in"))])
    bench.assign()
    bench.press("start")
    bench.until("take_out_and_return")
    assert bench.records("sheet_returned")[0].body["reasons"] == ["streak"]
    assert "write-in" not in bench.panel.text


def test_a_camera_that_fails_gives_the_sheet_back(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1", mishaps=("no_picture", ""))])
    bench.scan()
    assert bench.records("sheet_returned")[0].body["reasons"] == ["camera_fault"]
    fault = bench.records("fault")[0].body
    assert (fault["word"], fault["detail"][:50]) == (
        "camera_fault",
        "the camera gave no picture in time:  [31mtimeout -",
    )
    assert piles(bench) == {"counted": ["1"]}


def test_the_very_picture_of_the_sheet_before_gives_the_sheet_back(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), Paper("2", choices=("R",), mishaps=("same_picture", ""))])
    bench.scan()
    assert bench.records("sheet_returned")[0].body["reasons"] == ["same_image"]
    assert bench.records("fault")[0].body["word"] == "camera_fault"
    assert [record.body["choices"] for record in bench.records("sheet_judged")] == [["D"], ["R"]]


def test_a_camera_that_stalls_for_long_counts_no_sheet(a_bench: MakeBench) -> None:
    stalled = [Paper(str(n), mishaps=("same_picture",) * 2) for n in range(2, 5)]
    bench = a_bench([Paper("1"), *stalled])
    bench.scan()
    assert piles(bench) == {"counted": ["1"], "not_accepted": ["2", "3", "4"]}


def test_a_double_feed_always_comes_back_however_often(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1", mishaps=("double_feed", "double_feed", "double_feed"))])
    bench.scan()
    assert [record.body["reasons"] for record in bench.records("sheet_returned")] == [["double_feed"]] * 3
    assert piles(bench) == {"counted": ["1"]}


def test_two_sheets_that_only_the_cameras_see_are_a_double_feed(a_bench: MakeBench) -> None:
    pair = Paper("1", RETURNED, (), ("two_sheets",))
    bench = a_bench([pair])
    bench.assign()
    bench.press("start")
    for _ in range(3):
        bench.steps()
        assert bench.panel.text.startswith("Two sheets came back together.")
        bench.machine.put_back()
        bench.press("confirm")
    bodies = [record.body for record in bench.records("sheet_returned")]
    assert {tuple(body["reasons"]) for body in bodies} == {("double_feed",)}
    assert not bench.records("sheet_judged")


def test_an_over_long_sheet_is_driven_back_out_and_the_second_time_laid_in_the_tray(
    a_bench: MakeBench,
) -> None:
    bench = a_bench([Paper("1", mishaps=("over_long", "over_long"))])
    bench.scan()
    assert piles(bench) == {"not_accepted": ["1"]}
    bench.end_batch()
    assert bench.records("batch_closed")[0].body["by_hand"] == 1


# --- jams ---


def test_a_jammed_sheet_is_taken_out_confirmed_and_fed_again_under_a_new_number(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1", mishaps=("jam", "")), Paper("2")])
    bench.scan()
    (returned,) = bench.records("sheet_returned")
    assert (returned.body["reasons"], returned.body["out"]) == (["jam"], "hand")
    assert piles(bench) == {"counted": ["1", "2"]}
    bench.end_batch()
    (closed,) = bench.records("batch_closed")
    assert (closed.body["entries"], closed.body["by_hand"], closed.body["returned"]) == (3, 1, 1)


def test_the_second_jam_in_a_row_lays_the_sheet_in_the_not_accepted_tray_by_hand(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1", mishaps=("jam", "jam")), Paper("2")])
    bench.scan()
    landed = bench.records("sheet_landed")[0]
    assert (landed.body["bin"], landed.body["by"]) == ("not_accepted", "hand")
    assert bench.records("sheet_judged")[0].body["reasons"] == ["jam"]
    bench.end_batch()
    assert bench.records("batch_closed")[0].body["not_accepted"] == {"jam": 1}


def test_confirming_with_the_sheet_still_inside_records_nothing(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1", mishaps=("jam",))])
    bench.assign()
    bench.press("start")
    bench.until("take_out_and_return")
    bench.press("confirm")
    assert bench.records("sheet_returned") == []
    assert "still a sheet in the feeder" in bench.panel.text
    assert bench.panel.key == "take_out_and_return"


def test_an_open_cover_holds_the_next_step(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.assign()
    bench.machine.cover_open = True
    bench.press("start")
    assert "cover is open" in bench.panel.text
    assert bench.records("batch_opened") == []
    bench.machine.cover_open = False
    bench.press("start")
    assert len(bench.records("batch_opened")) == 1


# --- doubts ---


def in_doubt(a_bench: MakeBench, paper: Paper) -> Bench:
    bench = a_bench([paper, Paper("2")])
    bench.scan()
    assert bench.panel.key == "ask_officials"
    return bench


def settle(bench: Bench, fate: str) -> None:
    sheet = bench.records("sheet_in_doubt")[0].body["sheet"]
    bench.host.order("settle_doubt", run="r1", batch=1, sheet=sheet, fate=fate, by=ANN_AND_BOB)
    bench.steps()


JAMS_AFTER = Paper("1", mishaps=("jam_after", ""))


def test_a_judged_sheet_that_jams_is_in_doubt_until_two_officials_settle_it(a_bench: MakeBench) -> None:
    bench = in_doubt(a_bench, JAMS_AFTER)
    bench.press("confirm")
    bench.press("start")
    assert bench.kinds()[-1] == "sheet_in_doubt", "no button settles it"
    bench.machine.bins["counted"].append(bench.machine.take_out())
    settle(bench, "counted")
    bench.go_on()
    bench.end_batch()
    (settled,) = bench.records("doubt_settled")
    assert settled.body["by"] == ANN_AND_BOB
    (closed,) = bench.records("batch_closed")
    assert (closed.body["counted"], closed.body["votes"], closed.body["by_hand"]) == (2, {"D": 2}, 1)


def test_a_doubt_settled_as_returned_counts_the_sheet_only_when_it_is_fed_again(a_bench: MakeBench) -> None:
    bench = in_doubt(a_bench, JAMS_AFTER)
    bench.machine.put_back()
    settle(bench, "returned")
    bench.go_on()
    bench.end_batch()
    (closed,) = bench.records("batch_closed")
    assert (closed.body["counted"], closed.body["returned"], closed.body["votes"]) == (2, 1, {"D": 2})


def test_a_doubt_cannot_be_settled_into_a_bin_the_sheet_was_not_sent_to(a_bench: MakeBench) -> None:
    bench = in_doubt(a_bench, Paper("1", "set_aside", (), ("overvote",), ("jam_after", "")))
    settle(bench, "counted")
    assert bench.records("doubt_settled") == []
    assert "was not sent there" in bench.panel.text


def test_the_host_repeats_a_settlement_and_it_is_recorded_once(a_bench: MakeBench) -> None:
    bench = in_doubt(a_bench, JAMS_AFTER)
    bench.machine.put_back()
    settle(bench, "returned")
    settle(bench, "returned")
    assert len(bench.records("doubt_settled")) == 1


# --- batches that cannot be closed ---


def test_a_sheet_slipped_into_the_counted_bin_keeps_the_batch_from_closing(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), Paper("2")])
    bench.scan()
    bench.machine.counts[1] += 1
    bench.end_batch()
    assert bench.panel.key == "batch_void_needed"
    assert bench.records("batch_closed") == []
    bench.press("start")
    assert len(bench.records("sheet_judged")) == 2, "nothing more is fed"


def test_a_void_batch_is_run_again_and_the_attempt_is_kept(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), Paper("2")])
    bench.scan()
    bench.machine.counts[1] += 1
    bench.end_batch()
    bench.host.order("void_batch", run="r1", batch=1, reason="I9 fails", by=ANN_AND_BOB)
    bench.steps()
    assert "batch is void" in bench.panel.text
    bench.machine.hopper = bench.machine.bins["counted"][:]
    bench.machine.bins["counted"].clear()
    bench.go_on()
    bench.end_batch()
    (voided,) = bench.records("batch_voided")
    assert (voided.batch, voided.body["by"]) == (1, ANN_AND_BOB)
    (closed,) = bench.records("batch_closed")
    assert (closed.batch, closed.body["counted"]) == (2, 2)


def test_a_closed_batch_can_still_be_voided_once(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.scan()
    bench.end_batch()
    for _ in range(3):
        bench.host.order("void_batch", run="r1", batch=1, reason="officials ask", by=ANN_AND_BOB)
        bench.steps()
    assert len(bench.records("batch_voided")) == 1


def test_voiding_waits_for_the_sheet_in_motion(a_bench: MakeBench) -> None:
    bench = a_bench([Paper(str(n)) for n in range(20)])
    bench.assign()
    bench.panel.press("start")
    bench.steps(7)
    for _ in range(4):
        bench.host.order("void_batch", run="r1", batch=1, reason="officials ask", by=ANN_AND_BOB)
        bench.steps(3)
    assert bench.machine.path is None
    assert len(bench.records("batch_voided")) == 1
    judged, landed = bench.records("sheet_judged"), bench.records("sheet_landed")
    assert len(judged) == len(landed) < 20


def test_a_doubt_in_a_void_batch_needs_no_answer(a_bench: MakeBench) -> None:
    bench = in_doubt(a_bench, JAMS_AFTER)
    bench.host.order("void_batch", run="r1", batch=1, reason="officials ask", by=ANN_AND_BOB)
    bench.steps()
    bench.machine.put_back()
    bench.go_on()
    bench.end_batch()
    assert bench.records("batch_closed")[0].body["counted"] == 2


# --- the host's orders ---


def test_a_run_assigned_again_is_opened_once(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.assign()
    bench.assign()
    assert len(bench.records("run_opened")) == 1


def test_a_run_that_was_closed_is_not_opened_again(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.assign()
    for _ in range(2):
        bench.host.order("close_run", run="r1")
        bench.steps()
    bench.assign()
    assert bench.kinds().count("run_opened") == bench.kinds().count("run_closed") == 1


def test_a_run_is_not_closed_while_a_batch_is_open(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.scan()
    bench.host.order("close_run", run="r1")
    bench.steps()
    assert bench.records("run_closed") == []


def test_another_run_waits_until_the_open_one_is_closed(a_bench: MakeBench) -> None:
    bench = a_bench()
    bench.assign("r1")
    bench.assign("r2")
    assert [record.run for record in bench.records("run_opened")] == ["r1"]
    assert "run r1 is open" in bench.panel.text
    bench.host.order("close_run", run="r1")
    bench.assign("r2")
    assert [record.run for record in bench.records("run_opened")] == ["r1", "r2"]


def test_a_program_that_is_not_here_is_asked_for_and_checked(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.store.programs.clear()
    bench.assign()
    assert bench.host.programs_wanted[0] == PROGRAM.program_hash
    assert bench.records("run_opened") == []
    bench.host.order("program_arrived", program=PROGRAM.program_hash, content=b"edited")
    bench.assign()
    assert bench.records("run_opened") == []
    bench.host.order("program_arrived", program=PROGRAM.program_hash, content=PROGRAM.content)
    bench.assign()
    assert len(bench.records("run_opened")) == 1


def test_a_program_that_rotted_on_the_disk_is_asked_for_again(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.assign()
    bench.store.is_damaged = True
    bench.restart()
    bench.steps()
    assert bench.host.programs_wanted == [PROGRAM.program_hash]
    bench.host.order("program_arrived", program=PROGRAM.program_hash, content=PROGRAM.content)
    bench.steps()
    bench.go_on()
    assert len(bench.records("sheet_landed")) == 1


def test_a_silent_host_opens_no_batch_but_the_open_one_is_finished(a_bench: MakeBench) -> None:
    bench = a_bench([Paper(str(n)) for n in range(6)])
    bench.assign()
    bench.panel.press("start")
    bench.steps(6)
    bench.host.present = False
    bench.until("hopper_empty")
    bench.end_batch()
    assert bench.records("batch_closed")[0].body["counted"] == 6
    bench.machine.hopper.append(Paper("7"))
    bench.press("start")
    assert len(bench.records("batch_opened")) == 1
    assert "host does not answer" in bench.panel.text


def test_the_host_hears_states_and_never_a_figure(a_bench: MakeBench) -> None:
    papers = [Paper("1"), overvote("2"), foreign("3"), upside_down("4"), Paper("5", mishaps=("jam", ""))]
    bench = a_bench(papers)
    bench.scan()
    bench.end_batch()
    words = " ".join(f"{state} {note}" for state, note in bench.host.states).lower()
    for secret in ("overvote", "counted", "bartlett", "set aside", "votes", "ballots", "wrong_style"):
        assert secret not in words


# --- the board ---


def test_a_board_that_starts_anew_with_a_judged_sheet_puts_it_in_doubt(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), Paper("2")])
    bench.machine.holds_divert = True
    bench.assign()
    bench.panel.press("start")
    bench.steps()
    assert bench.kinds()[-1] == "sheet_judged"
    bench.machine.holds_divert = False
    bench.machine.start_anew()
    bench.until("ask_officials")
    bench.machine.put_back()
    settle(bench, "returned")
    bench.go_on()
    bench.end_batch()
    assert bench.records("batch_closed")[0].body["counted"] == 2


def test_a_board_that_starts_anew_between_two_sheets_loses_nothing(a_bench: MakeBench) -> None:
    bench = a_bench([Paper(str(n)) for n in range(4)])
    bench.assign()
    bench.panel.press("start")
    bench.steps(7)
    bench.press("stop")
    bench.until("press_start")
    bench.machine.start_anew()
    bench.go_on()
    bench.end_batch()
    assert bench.records("batch_closed")[0].body["counted"] == 4
    assert len({record.body["feeder"][0] for record in bench.records("sheet_landed")}) == 2


def test_a_message_without_meaning_is_put_on_record_and_stops_the_feeder(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), Paper("2")])
    bench.machine.holds_divert = True
    bench.assign()
    bench.panel.press("start")
    bench.steps()
    bench.machine._say("at_camera", sheet=1, length_mm=279)
    bench.steps()
    assert bench.records("fault")[0].body["word"] == "unexpected_message"
    assert bench.panel.key == "ask_officials", "the sheet was judged, and where it is now only people can say"


def test_a_verdict_that_the_feeder_does_not_take_puts_the_sheet_in_doubt(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), Paper("2")])
    bench.machine.holds_divert = True
    bench.assign()
    bench.panel.press("start")
    bench.steps()
    bench.machine._refuse("divert", 1)
    bench.until("ask_officials")
    assert bench.records("sheet_in_doubt")[0].body["why"] == "the feeder did not take its verdict"


def test_a_feed_that_the_feeder_does_not_take_pauses(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.assign()
    bench.press("start")
    bench.go_on()
    bench.machine.hopper.append(Paper("2"))
    bench.machine.refuses_feed = True
    bench.press("start")
    bench.until("press_start")
    assert "did not take the command" in bench.panel.text
    bench.machine.refuses_feed = False
    bench.go_on()
    assert len(bench.records("sheet_landed")) == 2


def test_a_sheet_that_slides_in_after_the_feeder_stopped_is_asked_for(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1", mishaps=("slides_in", "")), Paper("2")])
    bench.assign()
    bench.press("start")
    bench.until("take_out_and_return")
    assert "cover was opened" in bench.panel.text
    bench.go_on()
    bench.end_batch()
    assert bench.records("sheet_returned")[0].body["reasons"] == ["cover_open"]
    assert bench.records("batch_closed")[0].body["counted"] == 2


def test_the_panel_tells_when_the_cover_was_closed_again(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.assign()
    bench.machine.cover_open = True
    bench.press("start")
    assert "cover is open" in bench.panel.text
    bench.machine.cover_open = False
    bench.steps(30)
    assert bench.panel.key == "press_start"


def test_a_feeder_that_speaks_of_another_sheet_is_put_on_record(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.assign()
    bench.machine._say("landed", sheet=999, exit=0)  # pyright: ignore[reportPrivateUsage]
    bench.steps()
    assert bench.records("fault")[0].body["word"] == "unexpected_sheet"


def test_a_board_that_stands_without_a_reason_pauses_the_feeding(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), Paper("2")])
    until_a_sheet_lands(bench)
    report = {"state": 8, "sheet": 0, "stop_reason": 0, "sensors": 1, "last_sheet": 1, "last_exit": 0}
    bench.machine.said.append(Said("report", {**report, "protective": 0}, (1, 1, 0, 0, 0)))
    bench.steps()
    assert bench.panel.key == "press_start"
    assert "Feeding is paused." in bench.panel.text


def test_a_board_that_says_nothing_was_picked_of_a_sheet_it_saw_enter_has_it_taken_out(
    a_bench: MakeBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = a_bench([Paper("1")])

    def enter(sheet: int) -> None:
        bench.machine._say("entered", sheet=sheet)

    monkeypatch.setattr(bench.machine, "_on_feed", enter)
    bench.assign()
    bench.press("start")
    bench.machine.said.append(Said("stopped", {"reason": 1, "sheet": 0}, (1, 0, 0, 0, 0)))
    bench.steps()
    assert bench.panel.key == "take_out_and_return"
    assert "jammed" in bench.panel.text


def test_counters_that_went_back_keep_the_batch_from_closing(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.scan()
    bench.machine.counts = [0, 1, 0, 0, 2**32 - 1]
    bench.end_batch()
    assert bench.panel.key == "batch_void_needed"


# --- which firmware, which software ---


def test_a_run_is_opened_with_the_firmware_that_the_board_told(a_bench: MakeBench) -> None:
    bench = a_bench()
    bench.assign()
    (opened,) = bench.records("run_opened")
    assert opened.body["firmware"].startswith("f1" * 32)
    assert opened.body["software"] == "software"


def test_a_run_waits_for_the_board_that_has_not_told_its_firmware(a_bench: MakeBench) -> None:
    bench = a_bench()
    bench.feeder.answers = False
    bench.assign()
    assert bench.records("run_opened") == []
    bench.feeder.answers = True
    bench.steps()
    assert len(bench.records("run_opened")) == 1


def test_a_run_that_the_host_ends_before_the_board_told_its_firmware_is_never_opened(
    a_bench: MakeBench,
) -> None:
    bench = a_bench()
    bench.feeder.answers = False
    bench.assign()
    bench.host.order("close_run", run="r1")
    bench.steps()
    bench.feeder.answers = True
    bench.steps()
    assert bench.records("run_opened") == []


def test_a_board_with_another_firmware_than_the_released_one_feeds_nothing(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1")])
    bench.scan()
    bench.machine.firmware_hash = "f2" * 32
    bench.machine.start_anew()
    bench.machine.hopper.append(Paper("2"))
    bench.steps()
    assert "not the one that this device was released with" in bench.panel.text
    bench.press("start")
    assert piles(bench) == {"counted": ["1"]}
    bench.press("end_batch")
    assert len(bench.records("batch_closed")) == 1
    bench.press("start")
    assert len(bench.records("batch_opened")) == 1
    bench.host.order("close_run", run="r1")
    bench.assign("r2")
    assert len(bench.records("run_opened")) == 1
    assert "not the one that this device was released with" in bench.panel.text
    bench.machine.firmware_hash = "f1" * 32  # the technician installed the right one
    bench.machine.start_anew()
    bench.steps()
    assert bench.records("run_opened")[1].body["firmware"].startswith("f1" * 32)
    assert bench.panel.key == "press_start"


def test_another_software_feeds_nothing_in_the_open_run(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1"), Paper("2")])
    bench.assign()
    bench.software = "another"
    bench.restart()
    bench.steps()
    bench.press("start")
    assert "Since run r1 was opened on this device, its software was changed" in bench.panel.text
    assert bench.records("batch_opened") == []
