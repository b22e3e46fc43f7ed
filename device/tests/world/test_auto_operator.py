"""The automatic operator: does what the panel asks, no more, with the paper that is really there."""

from device.tests.world.bench import PICK, TRANSPORT, Worlds, motors, plays, rests, some_sheets
from recount_world.auto_operator import Panel
from recount_world.faults import read_fault
from recount_world.paper import Place
from recount_world.world import World


def show(world: World, key: str, sheet: int | None = None, seconds: int = 5) -> tuple[str, ...]:
    """Show a message, let time run, and return the buttons pressed."""
    world.show_panel(Panel(key, key, sheet, f"{key}?"))
    world.run_until(world.now_us + seconds * 1_000_000)
    return world.hands.pressed()


def jammed(a_world: Worlds) -> World:
    jam = read_fault({"kind": "jam", "sheet": "1", "at_mm": 120}, "fault 1")
    running = plays([motors(pick=PICK, transport=TRANSPORT, wait_us=2_000_000)])
    world = a_world(running, some_sheets(3), faults=(jam,), operator="auto")
    world.run_until(3_000_000)
    return world


def test_it_presses_start_when_asked_and_sheets_lie_in_the_hopper(a_world: Worlds) -> None:
    world = a_world(rests, some_sheets(1), operator="auto")
    assert show(world, "press_start") == ("start",)


def test_it_waits_for_paper_before_it_presses_start(a_world: Worlds) -> None:
    world = a_world(rests, operator="auto")
    assert show(world, "press_start") == ()
    world.hands.load(some_sheets(1))
    world.run_until(world.now_us + 3_000_000)
    assert world.hands.pressed() == ("start",)


def test_it_takes_a_jammed_sheet_out_and_lays_it_back_on_top(a_world: Worlds) -> None:
    world = jammed(a_world)
    assert show(world, "take_out_and_return", 1) == ("confirm",)
    assert world.hands.in_hopper() == ("1", "2", "3")
    assert not world.switches.cover_open


def test_it_lays_the_sheet_into_the_tray_when_the_panel_says_so(a_world: Worlds) -> None:
    world = jammed(a_world)
    assert show(world, "take_out_to_tray", 1) == ("confirm",)
    assert world.paper.at(Place.NOT_ACCEPTED) == ("1",)


def test_it_lays_back_a_sheet_that_was_driven_out_without_opening_the_cover(a_world: Worlds) -> None:
    world = a_world(rests, some_sheets(2), operator="auto")
    world.hands.take_out("hopper", "1")
    assert show(world, "take_out_and_return", 1) == ("confirm",)
    assert world.hands.in_hopper() == ("1", "2")
    assert not any("COVER_OPEN 1" in line for line in world.trace.lines)


def test_it_ends_the_batch_when_the_hopper_is_empty_and_feeds_on_when_it_is_not(a_world: Worlds) -> None:
    world = a_world(rests, operator="auto")
    assert show(world, "hopper_empty") == ("end_batch",)
    world.hands.load(some_sheets(1))
    world.show_panel(Panel("feeding", "", None))
    assert show(world, "hopper_empty") == ("start",)


def test_it_ends_a_full_batch_with_sheets_left_in_the_hopper(a_world: Worlds) -> None:
    world = a_world(rests, some_sheets(2), operator="auto")
    assert show(world, "batch_full") == ("end_batch",)


def test_it_leaves_officials_matters_to_the_officials(a_world: Worlds) -> None:
    world = jammed(a_world)
    for key in ("ask_officials", "batch_void_needed", "fault", "idle", "feeding"):
        assert show(world, key) == ()
    assert world.hands.in_path() == ("1",)


def test_it_closes_a_cover_that_stands_open_and_presses_the_button_again(a_world: Worlds) -> None:
    world = a_world(rests, some_sheets(1), operator="auto")
    world.hands.set_cover(open_=True)
    assert show(world, "press_start", seconds=3) == ("start",)
    assert show(world, "fault", seconds=3) == ("start",)
    assert not world.switches.cover_open


def test_it_does_not_press_a_button_that_is_no_longer_asked_for(a_world: Worlds) -> None:
    world = a_world(rests, some_sheets(1), operator="auto")
    assert show(world, "press_start", seconds=0) == ()
    assert show(world, "feeding") == ()


def test_it_asks_itself_again_a_few_times_and_then_lets_the_device_be(a_world: Worlds) -> None:
    world = a_world(rests, some_sheets(1), operator="auto")
    assert show(world, "press_start", seconds=60) == ("start", "start", "start")
    assert world.idle()
