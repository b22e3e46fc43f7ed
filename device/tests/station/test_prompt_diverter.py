"""A device without a diverter: people lay in their trays what is not counted, and the counts still agree."""

import pytest

from device.tests.station.bench import Bench, Paper
from device.tests.station.conftest import MakeBench
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, SET_ASIDE

EXITS_OF_TRAYS = {1, 2}
PAPERS = [Paper("1"), Paper("2", SET_ASIDE, reasons=("overvote",)), Paper("3", NOT_ACCEPTED), Paper("4")]


def at_the_question(bench: Bench, key: str) -> None:
    bench.assign()
    bench.press("start")
    bench.until(key)


def diverted(bench: Bench) -> set[int]:
    """Return the exits that sheets were sent to."""
    return {fields["exit"] for name, fields in bench.feeder.sent if name == "divert"}


@pytest.mark.parametrize(
    ("fate", "key", "tray"),
    [(SET_ASIDE, "take_out_to_set_aside", "SET ASIDE"), (NOT_ACCEPTED, "take_out_to_tray", "NOT ACCEPTED")],
)
def test_the_feeder_stops_and_the_panel_names_the_tray(
    a_bench: MakeBench, fate: str, key: str, tray: str
) -> None:
    bench = a_bench([Paper("1", fate), Paper("2")], diverter="prompt")
    at_the_question(bench, key)
    assert f"in the tray {tray}" in bench.panel.text
    assert bench.feeder.sent[-1][0] != "divert"
    assert bench.machine.state == "stopped"
    assert bench.records("sheet_judged")[0].body["fate"] == fate
    assert bench.records("sheet_landed") == []


def test_a_batch_with_sheets_laid_in_their_trays_by_hand_closes(a_bench: MakeBench) -> None:
    bench = a_bench(PAPERS, diverter="prompt")
    bench.scan()
    landed = [(record.body["bin"], record.body["by"]) for record in bench.records("sheet_landed")]
    assert landed == [(COUNTED, "feeder"), (SET_ASIDE, "hand"), (NOT_ACCEPTED, "hand"), (COUNTED, "feeder")]
    assert not diverted(bench) & EXITS_OF_TRAYS
    bench.end_batch()
    (closed,) = bench.records("batch_closed")
    assert closed.body["exits"] == {COUNTED: 2, SET_ASIDE: 0, NOT_ACCEPTED: 0, "back": 0}
    assert (closed.body["entries"], closed.body["by_hand"]) == (4, 2)
    assert (closed.body["counted"], closed.body["set_aside_sheets"], closed.body["not_accepted_sheets"]) == (
        2,
        1,
        1,
    )


def test_a_set_aside_sheet_bears_its_place_in_the_tray(a_bench: MakeBench) -> None:
    bench = a_bench([Paper(str(number), SET_ASIDE) for number in range(3)], diverter="prompt")
    bench.scan()
    assert [record.body["place"] for record in bench.records("sheet_judged")] == [1, 2, 3]


def test_confirming_with_the_sheet_still_under_the_camera_records_nothing(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1", SET_ASIDE)], diverter="prompt")
    at_the_question(bench, "take_out_to_set_aside")
    bench.press("confirm")
    assert bench.records("sheet_landed") == []
    assert "still a sheet in the feeder" in bench.panel.text
    assert bench.panel.key == "take_out_to_set_aside"


@pytest.mark.parametrize("button", ["start", "end_batch"])
def test_no_other_button_goes_on_while_a_sheet_waits_for_its_tray(a_bench: MakeBench, button: str) -> None:
    bench = a_bench([Paper("1", SET_ASIDE)], diverter="prompt")
    at_the_question(bench, "take_out_to_set_aside")
    bench.press(button)
    assert bench.panel.key == "take_out_to_set_aside"
    assert bench.records("batch_closed") == []


def test_a_device_that_dies_before_the_button_asks_the_officials_and_moves_nothing(
    a_bench: MakeBench,
) -> None:
    bench = a_bench([Paper("1", SET_ASIDE)], diverter="prompt")
    at_the_question(bench, "take_out_to_set_aside")
    bench.kill()
    bench.start()
    bench.until("ask_officials")
    assert not diverted(bench)
    assert bench.machine.path is not None


def test_a_board_that_starts_anew_changes_nothing_about_the_question(a_bench: MakeBench) -> None:
    bench = a_bench([Paper("1", SET_ASIDE), Paper("2")], diverter="prompt")
    at_the_question(bench, "take_out_to_set_aside")
    bench.machine.start_anew()
    bench.go_on()
    assert [record.body["by"] for record in bench.records("sheet_landed")] == ["hand", "feeder"]
    bench.end_batch()
    assert bench.records("batch_closed")[0].body["by_hand"] == 1


def test_a_device_with_a_diverter_asks_for_no_hands(a_bench: MakeBench) -> None:
    bench = a_bench(PAPERS)
    bench.scan()
    assert {record.body["by"] for record in bench.records("sheet_landed")} == {"feeder"}
