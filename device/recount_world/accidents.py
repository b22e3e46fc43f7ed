"""What each kind of fault does when its moment comes: to paper, sensors, hands, cable, lamp or board."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from recount_world.faults import Fault
from recount_world.paper import Place, Sheet

if TYPE_CHECKING:
    from recount_world.world import World

COVER_US = 1_000_000
"""A cover opened by accident stays open so long, unless the script says otherwise."""
UNPLUGGED_US = 1_000_000
"""A cable pulled out by accident is put back after this time, unless the script says otherwise."""


def strike(world: "World", fault: Fault) -> None:
    """Let a fault happen now."""
    _EFFECTS[fault.kind](world, fault)


def _jam(world: "World", fault: Fault) -> None:
    for bundle in world.path.bundles:
        if any(sheet.sheet.id == fault.fields["sheet"] for sheet in bundle.carried):
            bundle.held = True


def _pulled_out(world: "World", fault: Fault) -> None:
    world.path.take(str(fault.fields["sheet"]), Place.OPERATOR)


def _blind(world: "World", fault: Fault) -> None:
    _for_a_while(world, fault, lambda on: setattr(world.ailments, "blind_double_feed", on))


def _stuck(world: "World", fault: Fault) -> None:
    sensor, level = str(fault.fields["sensor"]), int(fault.fields["level"])

    def hold(on: bool) -> None:
        if on:
            world.ailments.stuck[sensor] = level
        else:
            world.ailments.stuck.pop(sensor, None)

    _for_a_while(world, fault, hold)


def _slip(world: "World", fault: Fault) -> None:
    world.hands.insert(_sheet(world, fault), f"exit_{fault.fields['bin']}")


def _laid(world: "World", fault: Fault) -> None:
    world.hands.insert(_sheet(world, fault), str(fault.fields["bin"]))


def _sheet(world: "World", fault: Fault) -> Sheet | str:
    """Return the sheet by its id where the world has it, else a new one, blank."""
    sheet_id = str(fault.fields["sheet"])
    return sheet_id if sheet_id in world.paper.sheets else Sheet(sheet_id)


def _cover(world: "World", fault: Fault) -> None:
    world.hands.set_cover(open_=True)
    world.later(fault.for_us or COVER_US, lambda: world.hands.set_cover(open_=False))


def _cut(world: "World", fault: Fault) -> None:
    _for_a_while(world, fault, lambda on: setattr(world.cable, "cut", on))


def _unplug(world: "World", fault: Fault) -> None:
    world.unplug_cable()
    world.later(fault.for_us or UNPLUGGED_US, world.plug_cable)


def _power_cut(world: "World", _fault: Fault) -> None:
    world.reset_board()
    world.station_down()


def _noise(world: "World", fault: Fault) -> None:
    flips = int(fault.fields["per_million"])
    _for_a_while(world, fault, lambda on: setattr(world.cable, "flips_per_million", flips if on else 0))


def _stuck_diverter(world: "World", fault: Fault) -> None:
    def hold(on: bool) -> None:
        world.path.flap_stuck = on
        world.outputs.turn_flap(world.now_us)

    _for_a_while(world, fault, hold)


def _dim(world: "World", fault: Fault) -> None:
    _for_a_while(world, fault, lambda on: setattr(world.camera, "dim", on))


def _stalled(world: "World", fault: Fault) -> None:
    _for_a_while(world, fault, lambda on: setattr(world.camera, "stalled", on))


def _for_a_while(world: "World", fault: Fault, turn: Callable[[bool], None]) -> None:
    """Turn something on, and off again after the fault's time, if it has one."""
    on, off = True, False
    turn(on)
    if fault.for_us is not None:
        world.later(fault.for_us, lambda: turn(off))


_EFFECTS: Mapping[str, Callable[["World", Fault], None]] = {
    "jam": _jam,
    "pulled_out": _pulled_out,
    "blind_double_feed": _blind,
    "sensor_stuck": _stuck,
    "slip": _slip,
    "laid": _laid,
    "cover_opened": _cover,
    "stop_pressed": lambda world, _: world.hands.press("stop"),
    "diverter_stuck": _stuck_diverter,
    "board_reset": lambda world, _: world.reset_board(),
    "power_cut": _power_cut,
    "cable_cut": _cut,
    "cable_unplugged": _unplug,
    "cable_noise": _noise,
    "dim_light": _dim,
    "camera_stalled": _stalled,
}
"""Kinds that strike at a moment; those of faults.PICKED act when the paper is picked."""
