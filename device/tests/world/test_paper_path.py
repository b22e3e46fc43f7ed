"""The paper path: what moves paper, what stops it, where it lands, and that none is ever lost."""

from collections import Counter
from collections.abc import Generator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from device.tests.world.bench import (
    GPIO,
    PICK,
    TRANSPORT,
    Worlds,
    feeds,
    flap,
    motors,
    plays,
    some_sheets,
    until,
)
from recount_world.board import Answer, Request
from recount_world.paper import Paper, Place, Sheet
from recount_world.path import Bundle, Carried, PaperPath, millimetres, ticks
from recount_world.script import Script
from recount_world.scripted_board import ScriptedBoard
from recount_world.sensors import sensor_levels
from recount_world.world import World

LETTER_S = 3.0
"""A letter sheet is through the path in this time, at the tests' speeds."""


def test_a_sheet_lands_in_the_bin_that_the_flap_leads_to(a_world: Worlds) -> None:
    world = a_world(feeds([0, 1, 2, 0]), some_sheets(4))
    world.run_until(12_000_000)
    assert world.paper.at(Place.COUNTED) == ("1", "4")
    assert world.paper.at(Place.SET_ASIDE) == ("2",)
    assert world.paper.at(Place.NOT_ACCEPTED) == ("3",)


def test_a_sheet_that_is_not_driven_past_the_camera_stays_under_it(a_world: Worlds) -> None:
    world = a_world(feeds([None]), some_sheets(2))
    world.run_until(5_000_000)
    assert world.hands.in_path() == ("1",)
    (lying,) = world.path.carried()
    assert abs(millimetres(lying.lead) - world.script.geometry.camera_mm) < 1


def test_the_entry_sensor_measures_a_sheet_by_the_transports_steps(a_world: Worlds) -> None:
    edges: list[tuple[int, int]] = []

    def program() -> Generator[Request, Answer, None]:
        yield motors(pick=PICK, transport=TRANSPORT, wait_us=0)
        while True:
            answer = yield Request(wait_us=1_000_000)
            edges.extend((level, at) for gpio, level, at in answer.edges if gpio == GPIO["ENTRY"])

    world = a_world(program, some_sheets(1, length_mm=279.4))
    world.run_until(5_000_000)
    (_, on), (_, off) = edges[-2:]
    assert (off - on) * TRANSPORT / 10 / 1_000_000 == pytest.approx(279.4, abs=0.01)


def test_a_sheet_driven_backwards_falls_into_the_operators_hands_clear_of_the_entry(a_world: Worlds) -> None:
    def program() -> Generator[Request, Answer, None]:
        yield motors(pick=PICK, transport=TRANSPORT, wait_us=0)
        yield from until("CAMERA", 1)
        yield motors(transport=TRANSPORT, reverse=True, wait_us=0)
        yield from until("ENTRY", 0)
        while True:
            yield Request(wait_us=1_000_000)

    world = a_world(program, some_sheets(1))
    world.run_until(10_000_000)
    assert world.paper.at(Place.OPERATOR) == ("1",)
    assert sensor_levels(world.path, world.switches, world.ailments)["ENTRY"] == 0


def test_a_half_picked_sheet_stays_in_the_hopper_while_another_is_driven_back() -> None:
    paper = Paper(some_sheets(2))
    path = PaperPath(paper)
    path.put(Bundle([Carried(paper.sheets["1"], ticks(200))]))
    path.put(Bundle([Carried(paper.sheets["2"], ticks(10))]))
    path.settle(0)
    path.motors.powered, path.motors.reverse, path.motors.transport_steps_per_s = True, True, TRANSPORT
    _run(path, 2_000_000)
    assert paper.at(Place.OPERATOR) == ("1",)
    assert [sheet.sheet.id for sheet in path.carried()] == ["2"]


def test_the_pick_roller_running_on_feeds_the_next_sheet_behind_the_first(a_world: Worlds) -> None:
    world = a_world(plays([motors(pick=TRANSPORT, transport=TRANSPORT, wait_us=700_000)]), some_sheets(3))
    world.run_until(1_500_000)
    assert world.hands.in_path() == ("1", "2")


def test_motors_without_current_move_nothing(a_world: Worlds) -> None:
    pulses = ((GPIO["PICK_STEP"], PICK), (GPIO["TRANSPORT_STEP"], TRANSPORT))
    world = a_world(plays([Request(pulses=pulses, wait_us=2_000_000)]), some_sheets(1))
    world.run_until(3_000_000)
    assert world.hands.in_hopper() == ("1",)
    assert not list(world.path.carried())


def test_the_stop_button_takes_the_motors_current_whatever_the_board_does(a_world: Worlds) -> None:
    world = a_world(plays([motors(pick=PICK, transport=TRANSPORT, wait_us=3_000_000)]), some_sheets(1))
    world.run_until(800_000)
    (before,) = [sheet.lead for sheet in world.path.carried()]
    world.touch()
    before = next(world.path.carried()).lead
    world.hands.press("stop")
    world.settle()
    world.run_until(1_000_000)
    world.touch()
    assert next(world.path.carried()).lead == before
    world.run_until(1_200_000)
    world.touch()
    assert next(world.path.carried()).lead > before


def test_a_flap_that_is_still_moving_leads_where_it_led_before(a_world: Worlds) -> None:
    def program() -> Generator[Request, Answer, None]:
        yield motors(pick=PICK, transport=TRANSPORT, wait_us=0)
        yield from until("CAMERA", 1)
        # 50 mm to the flap at 600 mm/s are 83 ms; the flap takes 60 ms and is sent off 70 ms late.
        yield Request(wait_us=70_000)
        yield Request(outputs=((GPIO["DIVERTER_A"], 1),), wait_us=0)
        while True:
            yield Request(wait_us=1_000_000)

    world = a_world(program, some_sheets(1))
    world.run_until(6_000_000)
    assert world.paper.at(Place.COUNTED) == ("1",)


def test_a_sheet_laid_back_on_the_hopper_is_fed_next_and_lies_face_up(a_world: Worlds) -> None:
    world = a_world(sheets=(Sheet("1"), Sheet("2", wrong_side=True)))
    world.hands.lay_back(["2"])
    assert world.paper.at(Place.HOPPER) == ("2", "1")
    assert not world.paper.sheets["2"].wrong_side


def _run(path: PaperPath, until_us: int, step_us: int | None = None) -> None:
    """Run a path alone: from change to change, or in small steps."""
    now_us = 0
    while now_us < until_us:
        change_us = path.next_change_us()
        if step_us is not None:
            change_us = step_us if change_us is None else min(step_us, change_us)
        elapsed_us = until_us - now_us if change_us is None else min(change_us, until_us - now_us)
        path.advance(elapsed_us)
        now_us += elapsed_us
        path.settle(now_us)


def _a_path(leads_mm: list[int], transport: int, pick: int) -> PaperPath:
    paper = Paper(some_sheets(len(leads_mm)))
    path = PaperPath(paper)
    path.motors.powered, path.motors.reverse = True, transport < 0
    path.motors.transport_steps_per_s, path.motors.pick_steps_per_s = abs(transport), pick
    for number, lead_mm in enumerate(leads_mm, 1):
        path.put(Bundle([Carried(paper.sheets[str(number)], ticks(lead_mm))]))
    path.settle(0)
    return path


@given(
    leads_mm=st.lists(st.integers(0, 900), min_size=1, max_size=4),
    transport=st.integers(-8000, 8000),
    pick=st.integers(0, 5000),
    until_us=st.integers(1, 3_000_000),
)
@settings(max_examples=60, deadline=None)
def test_jumping_from_change_to_change_ends_where_small_steps_end(
    leads_mm: list[int], transport: int, pick: int, until_us: int
) -> None:
    jumping, stepping = _a_path(leads_mm, transport, pick), _a_path(leads_mm, transport, pick)
    _run(jumping, until_us)
    _run(stepping, until_us, step_us=7919)
    assert [(one.sheet.id, one.lead) for one in jumping.carried()] == [
        (one.sheet.id, one.lead) for one in stepping.carried()
    ]
    assert all(jumping.paper.at(place) == stepping.paper.at(place) for place in Place)


REQUESTS = st.builds(
    motors,
    pick=st.sampled_from([0, 0, 1500, 6000]),
    transport=st.sampled_from([0, 3000, 6000]),
    reverse=st.booleans(),
    wait_us=st.integers(0, 900_000),
) | st.builds(flap, st.integers(0, 2))


@given(
    requests=st.lists(REQUESTS, max_size=12),
    lengths_mm=st.lists(st.floats(80, 380), min_size=1, max_size=5),
    acts=st.lists(st.sampled_from(["take_path", "stop", "cover", "reset", "lay_back", "slip"]), max_size=6),
    data=st.data(),
)
@settings(max_examples=60, deadline=None)
def test_whatever_board_and_hands_do_paper_is_conserved_time_goes_on_and_sensors_show_the_paper(
    requests: list[Request], lengths_mm: list[float], acts: list[str], data: st.DataObject
) -> None:
    sheets = tuple(Sheet(str(number), length_mm=length) for number, length in enumerate(lengths_mm))
    world = World(Script(operator="none", sheets=sheets), ScriptedBoard(plays(requests)))
    told: dict[int, int] = {}
    moments = [0]
    for _ in range(120):
        world.step(world.now_us + 200_000)
        moments.append(world.now_us)
        if acts and data.draw(st.integers(0, 9)) == 0:
            world.touch()
            _act(world, acts.pop())
            world.settle()
        _check_paper(world)
    board = world._board
    assert isinstance(board, ScriptedBoard)
    for answer in board.answers:
        told.update({gpio: level for gpio, level, _ in answer.edges})
        assert [at for _, _, at in answer.edges] == sorted(at for _, _, at in answer.edges)
    assert moments == sorted(moments)
    world.close()


def _act(world: World, act: str) -> None:
    match act:
        case "take_path":
            world.hands.take_path()
        case "stop":
            world.hands.press("stop")
        case "cover":
            world.hands.set_cover(open_=not world.switches.cover_open)
        case "reset":
            world.reset_board()
        case "lay_back":
            world.hands.lay_back(world.hands.held())
        case _:
            world.hands.insert(next(iter(world.paper.sheets)), "exit_counted")


def _check_paper(world: World) -> None:
    lying = Counter(sheet for place in Place for sheet in world.paper.at(place))
    assert lying == Counter(world.paper.sheets.keys())
    world.touch()
    assert sorted(one.sheet.id for one in world.path.carried()) == sorted(world.paper.at(Place.PATH))
    entry = world.path.edges.entry
    covered = any(one.tail < entry <= one.lead and not one.past_camera for one in world.path.carried())
    assert world.inputs.shown["ENTRY"] == covered
