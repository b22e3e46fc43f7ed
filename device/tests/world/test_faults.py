"""The fault script: each accident is physics, and strikes at its moment."""

from collections.abc import Generator
from typing import Any

import pytest

from device.tests.world.bench import (
    GPIO,
    PICK,
    TRANSPORT,
    Worlds,
    feeds,
    motors,
    plays,
    rests,
    some_sheets,
)
from recount_world.board import Answer, Request
from recount_world.errors import ScriptError
from recount_world.faults import KINDS, read_fault
from recount_world.paper import Place, Sheet
from recount_world.path import millimetres
from recount_world.scripted_board import ScriptedBoard
from recount_world.world import World

RUNNING = motors(pick=PICK, transport=TRANSPORT, wait_us=4_000_000)


def fault(**fields: Any) -> Any:
    return read_fault(fields, "fault 1")


def edges(world: World, name: str) -> list[int]:
    """Return the levels that the board was told of an input, in order."""
    board = world._board
    assert isinstance(board, ScriptedBoard)
    return [level for answer in board.answers for gpio, level, _ in answer.edges if gpio == GPIO[name]]


def test_a_jammed_sheet_is_held_where_the_script_says_until_hands_take_it_out(a_world: Worlds) -> None:
    world = a_world(plays([RUNNING]), some_sheets(1), faults=(fault(kind="jam", sheet="1", at_mm=120),))
    world.run_until(4_000_000)
    (held,) = world.path.carried()
    assert millimetres(held.lead) - 30 == pytest.approx(120, abs=0.1)
    world.hands.take_path()
    world.hands.lay_back(world.hands.held())
    assert world.hands.in_hopper() == ("1",)


def test_a_jam_strikes_again_only_as_often_as_the_script_says(a_world: Worlds) -> None:
    jam = fault(kind="jam", sheet="1", at_mm=120, times=2)
    forever = plays([motors(pick=PICK, transport=TRANSPORT, wait_us=60_000_000)])
    world = a_world(forever, some_sheets(1), faults=(jam,))
    held: list[bool] = []
    for moment_us in (4_000_000, 8_000_000, 12_000_000):
        world.run_until(moment_us)
        held.append(bool(world.hands.in_path()))
        world.touch()
        world.hands.take_path()
        world.hands.lay_back(world.hands.held())
        world.settle()
    assert held == [True, True, False]


def test_sheets_fully_over_each_other_trip_the_double_feed_sensor_and_land_together(a_world: Worlds) -> None:
    double = fault(kind="double_feed", sheets=["1", "2"])
    world = a_world(feeds([0]), some_sheets(3), faults=(double,))
    world.run_until(4_000_000)
    assert 1 in edges(world, "DOUBLE_FEED")
    assert set(world.paper.at(Place.COUNTED)) == {"1", "2"}
    assert edges(world, "EXIT_COUNTED")[:3] == [0, 1, 0]


def test_a_partly_overlapped_double_feed_is_longer_than_a_sheet(a_world: Worlds) -> None:
    double = fault(kind="double_feed", sheets=["1", "2"], overlap_mm=30)
    world = a_world(feeds([None]), some_sheets(2), faults=(double,))
    world.run_until(3_000_000)
    first, second = world.path.carried()
    assert millimetres(first.lead - second.lead) == pytest.approx(279.4 - 30, abs=0.001)


def test_a_blind_double_feed_sensor_sees_one_sheet_where_there_are_two(a_world: Worlds) -> None:
    faults = (fault(kind="double_feed", sheets=["1", "2"]), fault(kind="blind_double_feed"))
    world = a_world(feeds([0]), some_sheets(2), faults=faults)
    world.run_until(4_000_000)
    assert 1 not in edges(world, "DOUBLE_FEED")
    assert len(world.paper.at(Place.COUNTED)) == 2


def test_the_double_feed_sensor_errs_by_as_much_as_the_script_says(a_world: Worlds) -> None:
    seen: set[bool] = set()
    for seed in range(12):
        world = a_world(feeds([None]), some_sheets(1), seed=seed, double_feed_error_um=100.0)
        world.run_until(3_000_000)
        seen.add(1 in edges(world, "DOUBLE_FEED"))
    assert seen == {False, True}


def test_the_double_feed_sensor_flickers_for_2_ms_at_the_most(a_world: Worlds) -> None:
    world = a_world(double_feed_flicker=600.0)
    world.run_until(10_000_000)
    told = [line.split() for line in world.trace.lines if " sensor DOUBLE_FEED " in line]
    rose = [int(at) for at, _, _, level in told if level == "1"]
    fell = [int(at) for at, _, _, level in told if level == "0"][1:]
    assert 50 < len(rose) < 150
    assert all(0 < end - begin <= 2000 for begin, end in zip(rose, fell, strict=False))


def test_thick_paper_trips_the_double_feed_sensor_too(a_world: Worlds) -> None:
    world = a_world(feeds([0]), (Sheet("1", thickness_um=180),))
    world.run_until(4_000_000)
    assert 1 in edges(world, "DOUBLE_FEED")


def test_a_slipped_sheet_passes_only_the_bins_sensor(a_world: Worlds) -> None:
    slip = fault(kind="slip", sheet="extra", bin="counted", at_s=2)
    world = a_world(rests, some_sheets(1), faults=(slip,))
    world.run_until(4_000_000)
    assert world.paper.at(Place.COUNTED) == ("extra",)
    assert edges(world, "EXIT_COUNTED") == [0, 1, 0]
    assert edges(world, "ENTRY") == edges(world, "CAMERA") == [0]


def test_a_sheet_laid_into_a_bin_passes_no_sensor(a_world: Worlds) -> None:
    laid = fault(kind="laid", sheet="1", bin="set_aside", at_s=1)
    world = a_world(rests, some_sheets(2), faults=(laid,))
    world.run_until(2_000_000)
    assert world.paper.at(Place.SET_ASIDE) == ("1",)
    assert edges(world, "EXIT_SET_ASIDE") == [0]


def test_a_sheet_pulled_out_clears_its_sensors(a_world: Worlds) -> None:
    pulled = fault(kind="pulled_out", sheet="1", at_mm=100)
    world = a_world(plays([RUNNING]), some_sheets(1), faults=(pulled,))
    world.run_until(3_000_000)
    assert world.paper.at(Place.OPERATOR) == ("1",)
    assert edges(world, "ENTRY") == [0, 1, 0]


def test_a_slipping_pick_roller_brings_the_sheet_later(a_world: Worlds) -> None:
    late = fault(kind="pick_slip", sheet="1", slip_mm=300)
    world = a_world(plays([RUNNING]), some_sheets(1), faults=(late,))
    world.run_until(1_200_000)
    assert world.hands.in_path() == ()
    world.run_until(1_600_000)
    assert world.hands.in_path() == ("1",)


def test_a_stuck_sensor_shows_its_level_until_its_time_is_over(a_world: Worlds) -> None:
    stuck = fault(kind="sensor_stuck", sensor="CAMERA", level=1, at_s=1, for_s=2)
    world = a_world(rests, (), faults=(stuck,))
    world.run_until(5_000_000)
    assert edges(world, "CAMERA") == [0, 1, 0]


def test_a_cover_opened_by_accident_is_closed_again(a_world: Worlds) -> None:
    world = a_world(rests, (), faults=(fault(kind="cover_opened", at_s=1, for_s=0.5),))
    world.run_until(5_000_000)
    assert edges(world, "COVER_OPEN") == [0, 1, 0]


def test_a_reset_board_drops_its_pins_and_starts_anew_while_the_paper_stays(a_world: Worlds) -> None:
    reset = fault(kind="board_reset", when_sheet="1", at_mm=200)
    program_starts: list[int] = []

    def program() -> Generator[Request, Answer, None]:
        program_starts.append(1)
        if len(program_starts) == 1:
            yield RUNNING
        yield from rests()

    world = a_world(program, some_sheets(1), faults=(reset,))
    world.run_until(3_000_000)
    assert len(program_starts) == 2
    assert world.hands.in_path() == ("1",)
    assert not world.path.motors.turning
    assert edges(world, "ENTRY")[-1] == 1


def test_a_cut_cable_loses_the_bytes_of_both_sides_and_a_joined_one_carries_them(a_world: Worlds) -> None:
    def program() -> Generator[Request, Answer, None]:
        while True:
            yield Request(sent=b"x", wait_us=100_000)

    world = a_world(program, (), faults=(fault(kind="cable_cut", at_s=1, for_s=1),))
    arrived: list[int] = []
    world.to_station = lambda _data: arrived.append(world.now_us)
    world.run_until(950_000)
    before = len(arrived)
    world.run_until(1_950_000)
    assert len(arrived) == before > 0
    world.from_station(b"lost")
    world.run_until(3_000_000)
    assert len(arrived) > before
    board = world._board
    assert isinstance(board, ScriptedBoard)
    assert not any(answer.received for answer in board.answers)


def test_a_noisy_cable_bends_bytes_and_loses_none(a_world: Worlds) -> None:
    world = a_world(rests, (), faults=(fault(kind="cable_noise", per_million=200_000),))
    world.run_until(500_000)
    world.from_station(bytes(100))
    world.run_until(1_500_000)
    board = world._board
    assert isinstance(board, ScriptedBoard)
    received = b"".join(answer.received for answer in board.answers)
    assert len(received) == 100
    assert received != bytes(100)


def test_a_board_that_does_not_feed_its_watchdog_is_reset(a_world: Worlds) -> None:
    def program() -> Generator[Request, Answer, None]:
        yield Request(watchdog_ms=500, wait_us=10_000_000)
        yield from rests()

    world = a_world(program)
    world.run_until(2_000_000)
    board = world._board
    assert isinstance(board, ScriptedBoard)
    assert board.starts > 1


@pytest.mark.parametrize(
    ("entry", "complaint"),
    [
        ({"kind": "earthquake"}, "kind must be one of"),
        ({"kind": "jam"}, "the field sheet is missing"),
        ({"kind": "jam", "sheet": "1", "at_s": 3}, "there is no field at_s"),
        ({"kind": "jam", "sheet": "1", "at_mm": "far"}, "at_mm must be a number"),
        ({"kind": "double_feed", "sheets": ["1"]}, "two or more sheet ids"),
        ({"kind": "cover_opened"}, "the moment is missing"),
        ({"kind": "cover_opened", "at_s": 1, "when_sheet": "1"}, "not both"),
        ({"kind": "cover_opened", "at_s": 1, "at_mm": 5}, "at_mm needs when_sheet"),
        ({"kind": "sensor_stuck", "sensor": "NOSE", "level": 1}, "sensor must be one of"),
        ({"kind": "slip", "sheet": "1", "bin": "floor", "at_s": 1}, "bin must be one of"),
        ("jam", "a table with a kind"),
    ],
)
def test_a_fault_that_does_not_fit_is_refused_in_one_sentence(entry: object, complaint: str) -> None:
    with pytest.raises(ScriptError, match=complaint) as refusal:
        read_fault(entry, "WORLD.toml: fault 1")
    assert "\n" not in str(refusal.value)


def test_every_kind_of_fault_is_explained_in_the_modules_text() -> None:
    from recount_world import faults

    assert faults.__doc__ is not None
    assert all(f"\n    {kind} " in faults.__doc__ for kind in KINDS)


@pytest.mark.parametrize("skew_deg", [5.0, -5.0])
def test_a_sheet_that_enters_askew_is_longer_to_the_sensors(a_world: Worlds, skew_deg: float) -> None:
    skew = fault(kind="pick_skew", sheet="1", skew_deg=skew_deg)
    world = a_world(feeds([0, 0]), some_sheets(2), faults=(skew,))
    world.run_until(8_000_000)
    assert world.paper.at(Place.COUNTED) == ("1", "2")
    board = world._board
    assert isinstance(board, ScriptedBoard)
    entry = [at for answer in board.answers for gpio, _, at in answer.edges if gpio == GPIO["ENTRY"]][1:]
    askew_us, straight_us = entry[1] - entry[0], entry[3] - entry[2]
    assert askew_us / straight_us == pytest.approx(1 / 0.99619, rel=1e-3)


def test_a_sheet_too_far_askew_is_caught_between_the_guides_and_goes_straight_the_next_time(
    a_world: Worlds,
) -> None:
    skew = fault(kind="pick_skew", sheet="1", skew_deg=8)
    forever = plays([motors(pick=PICK, transport=TRANSPORT, wait_us=60_000_000)])
    world = a_world(forever, some_sheets(1), faults=(skew,))
    world.run_until(4_000_000)
    (held,) = world.path.carried()
    assert millimetres(held.lead) - 30 == pytest.approx(150, abs=0.1)
    world.touch()
    world.hands.take_path()
    world.hands.lay_back(world.hands.held())
    world.settle()
    world.run_until(10_000_000)
    assert world.paper.at(Place.COUNTED) == ("1",)


def test_a_stuck_diverter_sends_the_sheet_where_it_stands(a_world: Worlds) -> None:
    world = a_world(feeds([1, 2]), some_sheets(2), faults=(fault(kind="diverter_stuck", at_s=2.5),))
    world.run_until(8_000_000)
    assert world.paper.at(Place.SET_ASIDE) == ("1", "2")


def test_a_diverter_that_comes_free_goes_where_it_is_told(a_world: Worlds) -> None:
    stuck = fault(kind="diverter_stuck", for_s=0.2)
    world = a_world(feeds([2]), some_sheets(1), faults=(stuck,))
    world.run_until(4_000_000)
    assert world.paper.at(Place.NOT_ACCEPTED) == ("1",)


def test_a_sheet_askew_is_seen_turned_by_the_camera(a_world: Worlds) -> None:
    world = a_world(feeds([None]), some_sheets(1), faults=(fault(kind="pick_skew", sheet="1", skew_deg=4),))
    world.run_until(3_000_000)
    above, below = world.capture()
    rows, columns = above.shape
    upper, lower = rows // 4, 3 * rows // 4
    # Clockwise: what lies above the middle goes to the right, what lies below it to the left.
    assert above[upper, 5] < 100
    assert above[upper, columns - 5] > 200
    assert above[lower, 5] > 200
    assert above[lower, columns - 5] < 100
    assert below[upper, 5] > 200
    assert below[upper, columns - 5] < 100
