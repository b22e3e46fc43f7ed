"""Every state of a sheet with every event: what the table says, or refused."""

import pytest

from recount_device.errors import NotAllowed
from recount_device.sheet_life import ENDED, TRANSITIONS, Event, State, after

PAIRS = [(state, event) for state in State for event in Event]


@pytest.mark.parametrize(("state", "event"), PAIRS, ids=lambda part: part.value)
def test_each_event_leads_where_the_table_says_or_is_refused(state: State, event: Event) -> None:
    if event in TRANSITIONS[state]:
        assert after(state, event) is TRANSITIONS[state][event]
    else:
        with pytest.raises(NotAllowed, match=f"{state.value} cannot have {event.value}"):
            after(state, event)


def test_the_table_has_every_state() -> None:
    assert set(TRANSITIONS) == set(State)


def test_a_life_ends_landed_returned_settled_or_not_fed_and_nowhere_else() -> None:
    assert {State.LANDED, State.RETURNED, State.SETTLED, State.NOT_FED} == ENDED


def test_every_state_is_reached_and_every_life_can_end() -> None:
    reached = {State.ASKED} | {to for ways in TRANSITIONS.values() for to in ways.values()}
    assert reached == set(State)
    can_end = set(ENDED)
    for _ in State:
        can_end |= {state for state, ways in TRANSITIONS.items() if can_end & set(ways.values())}
    assert can_end == set(State)


def test_a_sheet_with_a_verdict_is_never_given_back_by_the_device() -> None:
    seen, waiting = set[State](), [State.JUDGED]
    while waiting:
        state = waiting.pop()
        seen.add(state)
        waiting.extend(to for to in TRANSITIONS[state].values() if to not in seen)
    assert State.RETURNED not in seen
    assert State.AT_CAMERA not in seen, "and never read a second time"


def test_only_people_end_a_doubt() -> None:
    assert TRANSITIONS[State.IN_DOUBT] == {Event.PEOPLE_SETTLED: State.SETTLED}
