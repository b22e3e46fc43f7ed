"""The table of states: every pair of state and event is allowed, or refused with why and what to do."""

import pytest

from recount_host.law.errors import NotAllowed
from recount_host.law.states import SITUATION, TRANSITIONS, Event, State, after

PAIRS = [(state, event) for state in State for event in Event]


@pytest.mark.parametrize(("state", "event"), PAIRS, ids=[f"{s.value}-{e.name.lower()}" for s, e in PAIRS])
def test_every_pair_is_in_the_table_or_refused_with_a_sentence(state: State, event: Event) -> None:
    if event in TRANSITIONS[state]:
        assert after(state, event) is TRANSITIONS[state][event]
        return
    with pytest.raises(NotAllowed) as refusal:
        after(state, event)
    why, instead = SITUATION[state]
    sentence = str(refusal.value)
    assert event.value in sentence
    assert why in sentence
    assert sentence.endswith(instead)


def test_every_state_can_be_reached() -> None:
    reached, new = {State.NOT_OPEN}, {State.NOT_OPEN}
    while new:
        new = {to for state in new for to in TRANSITIONS[state].values()} - reached
        reached |= new
    assert reached == set(State)


def test_d_a_concluded_precinct_is_never_counted_again() -> None:
    final = (State.CONCLUDED, State.IN_COURT, State.CERTIFIED)
    counting = set(Event) - {
        Event.PRINT_STATEMENT,
        Event.SUBMIT,
        Event.CERTIFY,
        # What the court rules changes no count: it is a delta of its own, and what was signed stays.
        Event.HEAR,
        Event.RULE,
        Event.AMEND,
        # What is written down of it afterwards; that nothing of it changes a number is tested elsewhere.
        Event.STATE_CHALLENGE,
        Event.WITHDRAW_CHALLENGE,
        Event.PROFFER,
        Event.RESEAL,
    }
    assert not [(state, event) for state in final for event in counting if event in TRANSITIONS[state]]


def test_d2_nothing_leads_back_from_hand_count_to_the_scanners() -> None:
    reached, new = {State.HAND_COUNT}, {State.HAND_COUNT}
    while new:
        new = {to for state in new for to in TRANSITIONS[state].values()} - reached
        reached |= new
    assert not reached & {State.OPEN, State.SCANNING, State.SCANNED, State.RECONCILED}


def test_every_state_says_where_it_stands_and_what_to_do() -> None:
    assert set(SITUATION) == set(TRANSITIONS) == set(State)
    assert all(why and instead for why, instead in SITUATION.values())
