"""The feeder's tables: whole, free of contradictions, the link's own, and drawn in the docs as they are."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device.tests.firmware.bench import CONFIGURATION, ROOT
from device.tests.firmware.pages import PARTS, with_parts
from device.tests.firmware.sources import firmware_module
from recount_protocol import feeder_messages

feeder = firmware_module("feeder")
debounce = firmware_module("debounce")

EVENTS = sorted({*feeder.COMMANDS, *feeder.STEPS, *feeder.REASONS[1:]})


def a_feeder_in(state: str) -> Any:
    """Return a configured feeder that has got into `state` with sheet 7, as far as the state has one."""
    one = feeder.Feeder()
    if state != feeder.UNCONFIGURED:
        one.command("configure", CONFIGURATION, 0)
    one.state = state
    if state not in {feeder.UNCONFIGURED, feeder.READY, feeder.STOPPED}:
        one.sheet = 7
    one.forget_messages()
    return one


@pytest.mark.parametrize(("state", "event"), list(itertools.product(feeder.STATES, EVENTS)))
def test_every_event_in_every_state_is_in_the_table_or_refused(state: str, event: str) -> None:
    one = a_feeder_in(state)
    expected = feeder.TRANSITIONS[state].get(event)
    if expected is not None:
        one._happen(event, 0, 0)
        assert one.state == expected
    elif event in feeder.COMMANDS:
        # `back` and `clear_unconfigured` are words of the table for commands that other fields tell apart.
        name = {"back": "divert", "clear_unconfigured": "clear"}.get(event, event)
        one.configured = event != "clear_unconfigured"
        fields = {"sheet": 7, "exit": 3 if event == "back" else 0} | CONFIGURATION
        one.levels[feeder.HOPPER] = 1
        one.command(name, fields, 0)
        assert one.state == state
        message = one.next_message()
        assert (message.name, message.command) == ("refused", name)
    else:
        one._happen(event, 0, 0)
        assert one.state == feeder.STOPPED


@pytest.mark.parametrize("state", feeder.STATES)
def test_a_state_has_all_its_rows(state: str) -> None:
    assert state in feeder.OUTPUTS
    edges = {
        *feeder.COVERED_EDGES,
        *feeder.CLEAR_EDGES,
        feeder.OTHER_EXIT_COVERED,
        feeder.OTHER_EXIT_CLEAR,
    } - {""}
    if state == feeder.LEAVING:
        edges |= {feeder.EXIT_COVERED, feeder.EXIT_CLEAR}
    assert set(feeder.EDGES[state]) == edges
    assert set(feeder.EDGES[state].values()) <= set(feeder.TRANSITIONS[state])


def test_every_event_of_the_table_is_an_event() -> None:
    for state in feeder.STATES:
        assert set(feeder.TRANSITIONS[state]) <= set(EVENTS)
        assert set(feeder.TRANSITIONS[state].values()) <= set(feeder.STATES)


def test_every_state_can_be_reached_and_left() -> None:
    reached = {feeder.UNCONFIGURED}
    for _ in feeder.STATES:
        reached |= {target for state in reached for target in feeder.TRANSITIONS[state].values()}
    assert reached == set(feeder.STATES)
    for state in feeder.STATES:
        assert set(feeder.TRANSITIONS[state].values()) - {state}


def test_only_a_verdict_leads_past_the_camera() -> None:
    def ways_into(target: str) -> set[tuple[str, str]]:
        return {
            (state, event)
            for state in feeder.STATES
            for event, after in feeder.TRANSITIONS[state].items()
            if after == target and state != target
        }

    forward = {state for state in feeder.STATES if feeder.OUTPUTS[state][1] == feeder.FORWARD}
    assert forward == {feeder.PICKING, feeder.ENTERING, feeder.LEAVING}
    assert ways_into(feeder.LEAVING) == {(feeder.DIVERTING, feeder.SETTLED)}
    assert ways_into(feeder.DIVERTING) == {(feeder.AT_CAMERA, feeder.DIVERT)}


def test_a_stop_is_left_by_clear_or_backwards_only() -> None:
    left_by = {
        event for event, after in feeder.TRANSITIONS[feeder.STOPPED].items() if after != feeder.STOPPED
    }
    assert left_by == {feeder.CLEAR, feeder.CLEAR_UNCONFIGURED, feeder.BACK}


@pytest.mark.parametrize(
    "state", [feeder.UNCONFIGURED, feeder.READY, feeder.AT_CAMERA, feeder.DIVERTING, feeder.STOPPED]
)
def test_a_state_of_rest_moves_nothing(state: str) -> None:
    pick, transport, powered, _lamp = feeder.OUTPUTS[state]
    assert not pick
    assert transport == feeder.STANDING
    if state == feeder.STOPPED:
        assert not powered


def test_every_moving_state_has_every_reason_to_stand_still() -> None:
    for state in feeder.MOVING:
        for reason in ("cover_open", "stop_button", "station_silent", "halt", "firmware_error"):
            assert feeder.TRANSITIONS[state][reason] == feeder.STOPPED


def test_numbers_are_those_of_the_link() -> None:
    assert feeder.STATES == feeder_messages.STATES
    assert feeder.REASONS == feeder_messages.STOP_REASONS
    assert len(feeder_messages.SENSORS) == feeder.SENSORS
    assert len(feeder_messages.COUNTS) == feeder.COUNTS
    assert feeder.EXIT_BACK == feeder_messages.BACK
    assert feeder.NO_EXIT == feeder_messages.NO_EXIT
    assert list(feeder.PARAMETERS) == [field[0] for field in feeder_messages.MESSAGES["configure"][2]]


@pytest.mark.parametrize("page", PARTS)
def test_the_docs_show_the_tables_as_they_are(page: str) -> None:
    text = (ROOT / page).read_text()
    assert with_parts(page, text) == text


@given(speed=st.integers(25, 2000), way_mm=st.integers(0, 100_000))
def test_a_way_is_exact_to_the_way_of_100_us_and_fits_31_bits(speed: int, way_mm: int) -> None:
    time_us = way_mm * 1_000_000 // speed
    assert time_us // 100 * speed < 1 << 30
    assert 0 <= speed * time_us / 1000 - feeder.travel_um(speed, time_us) < 0.1 * speed + 1


@given(start=st.integers(0, (1 << 30) - 1), passed=st.integers(0, (1 << 29) - 1))
def test_elapsed_time_survives_the_wrap(start: int, passed: int) -> None:
    later = (start + passed) % (1 << 30)
    assert feeder.elapsed_us(later, start) == passed
    if passed:
        assert feeder.elapsed_us(start, later) == 0


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1), st.integers(0, 8000)), max_size=60))
def test_debouncing_passes_on_what_stands_in_order_of_time(changes: list[tuple[int, int, int]]) -> None:
    """However the wires flicker: edges alternate, come in order, and are those levels that stood 3 ms."""
    one = debounce.Debouncer()
    now_us = 1_000_000
    edges: list[tuple[int, int, int]] = []

    def confirm(until_us: int) -> None:
        while (sensor := one.next_edge(until_us)) != debounce.NONE:
            edges.append((one.edge_us, sensor, one.levels[sensor]))

    history: dict[int, list[tuple[int, int]]] = {sensor: [(0, 0)] for sensor in range(9)}
    for sensor, level, pause_us in changes:
        now_us += pause_us
        confirm(now_us)
        one.change(sensor, level, now_us)
        if history[sensor][-1][1] != level:
            history[sensor].append((now_us, level))
    end_us = now_us + 10_000
    confirm(end_us)
    expected: list[tuple[int, int, int]] = []
    for sensor, levels in history.items():
        standing = 0
        for (at_us, level), (until_us, _next) in itertools.pairwise([*levels, (end_us, 0)]):
            if until_us - at_us >= debounce.HOLD_US and level != standing:
                standing = level
                expected.append((at_us, sensor, level))
    assert sorted(edges) == sorted(expected)
    assert [edge[0] for edge in edges] == sorted(edge[0] for edge in edges)


def test_what_there_is_no_room_to_tell_is_noticed_and_nothing_told_before_is_lost() -> None:
    one = a_feeder_in(feeder.READY)
    for sheet in range(1, feeder.MESSAGES_HELD + 1):
        one.command("divert", {"sheet": sheet, "exit": 0}, 0)
    assert not one.messages_lost
    one.command("ask", {}, 0)
    assert one.messages_lost
    assert [one.next_message().sheet for _ in range(feeder.MESSAGES_HELD)] == list(range(1, 17))
    assert one.next_message() is None
