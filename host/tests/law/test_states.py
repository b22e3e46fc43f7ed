"""The table of states: every pair of state and event is allowed, or refused with why and what to do."""

import pytest

from recount_host.law.errors import NotAllowed
from recount_host.law.states import SITUATION, TRANSITIONS, Event, State, after

PAIRS = [(state, event) for state in State for event in Event]

AT_THE_TABLE = {State.OPEN, State.SCANNING, State.SCANNED, State.RECONCILED, State.HAND_COUNT}
NOT_CONCLUDED = {State.NOT_OPEN, *AT_THE_TABLE, State.CHALLENGE_CALL}
BEFORE_THE_COURT = {State.CONCLUDED, State.IN_COURT}

STAYS: dict[Event, set[State]] = {
    Event.RECEIVE: AT_THE_TABLE,
    Event.DECLARE_NOT_FOUND: AT_THE_TABLE,
    Event.OPEN_CONTAINER: AT_THE_TABLE,
    Event.SORT: AT_THE_TABLE,
    Event.EXCLUDE: AT_THE_TABLE,
    Event.COUNT_NOT_PROGRAMMABLE: AT_THE_TABLE,
    Event.COUNT_PAPER: AT_THE_TABLE,
    Event.KEY_RESULTS: NOT_CONCLUDED,
    Event.SUBSTITUTE: NOT_CONCLUDED,
    Event.COUNT_STACK: {State.OPEN, State.SCANNING, State.SCANNED, State.HAND_COUNT},
    Event.ASSIGN_RUN: {State.OPEN, State.SCANNING},
    Event.END_RUN: {State.OPEN, State.SCANNING},
    Event.OPEN_BATCH: {State.SCANNING},
    Event.VOID_BATCH: {State.SCANNING},
    Event.WITHDRAW_DEVICE: {State.OPEN, State.SCANNING},
    Event.SETTLE_DOUBT: {State.SCANNING},
    Event.COUNT_PILE: {State.SCANNED},
    Event.TELL_IDENTITIES: {State.SCANNED},
    Event.MOVE_SHEET: {State.SCANNED},
    Event.COUNT_LACKING_CONTEST: {State.RECONCILED, State.HAND_COUNT},
    Event.COUNT_OUTCOMES: {State.RECONCILED, State.HAND_COUNT},
    Event.SEGREGATE: {*AT_THE_TABLE, State.CHALLENGE_CALL},
    Event.CORRECT_TAG: {*AT_THE_TABLE, State.CHALLENGE_CALL},
    Event.STATE_CHALLENGE: {*AT_THE_TABLE, State.CHALLENGE_CALL, *BEFORE_THE_COURT},
    Event.WITHDRAW_CHALLENGE: {*AT_THE_TABLE, State.CHALLENGE_CALL, *BEFORE_THE_COURT},
    Event.RESEAL: {*AT_THE_TABLE, State.CHALLENGE_CALL, *BEFORE_THE_COURT},
    Event.ANSWER_CALL: {State.CHALLENGE_CALL},
    Event.PRINT_STATEMENT: {State.CHALLENGE_CALL, *BEFORE_THE_COURT, State.CERTIFIED},
    Event.KEEP_SIGNED: {*BEFORE_THE_COURT, State.CERTIFIED},
    Event.PROFFER: BEFORE_THE_COURT,
    Event.HEAR: {State.IN_COURT},
    Event.RULE: {State.IN_COURT},
}
"""What may happen in which states, and leaves a precinct where it is."""

LEADS: dict[Event, dict[State, State]] = {
    Event.RECEIVE: {State.NOT_OPEN: State.OPEN},
    Event.DECLARE_NOT_FOUND: {State.NOT_OPEN: State.OPEN},
    Event.COUNT_STACK: {State.NOT_OPEN: State.OPEN},
    Event.COUNT_NOT_PROGRAMMABLE: {State.NOT_OPEN: State.OPEN},
    Event.COUNT_PAPER: {State.NOT_OPEN: State.OPEN},
    Event.ASSIGN_RUN: {State.NOT_OPEN: State.OPEN},
    Event.DECLARE_SCANNED_NOT_FOUND: {State.NOT_OPEN: State.HAND_COUNT, State.OPEN: State.HAND_COUNT},
    Event.OPEN_BATCH: {State.OPEN: State.SCANNING},
    Event.FINISH_SCANNING: {State.OPEN: State.SCANNED, State.SCANNING: State.SCANNED},
    Event.ORDER_HAND_COUNT: dict.fromkeys((State.OPEN, State.SCANNING, State.SCANNED), State.HAND_COUNT),
    Event.VOID_BATCH: {State.SCANNED: State.SCANNING},
    Event.WITHDRAW_DEVICE: {State.SCANNED: State.SCANNING},
    Event.SHOW_RECONCILED: {State.SCANNED: State.RECONCILED},
    Event.SHOW_HAND_COUNT: {State.SCANNED: State.HAND_COUNT},
    Event.AGREE_OUTCOMES: dict.fromkeys((State.RECONCILED, State.HAND_COUNT), State.CHALLENGE_CALL),
    Event.CONCLUDE: {State.CHALLENGE_CALL: State.CONCLUDED},
    Event.SUBMIT: {State.CONCLUDED: State.IN_COURT},
    Event.CERTIFY: {State.IN_COURT: State.CERTIFIED},
    Event.AMEND: {State.CERTIFIED: State.IN_COURT},
}
"""What leads where."""


@pytest.mark.parametrize(("state", "event"), PAIRS, ids=[f"{s.value}-{e.name.lower()}" for s, e in PAIRS])
def test_every_pair_leads_where_it_must_or_is_refused_with_a_sentence(state: State, event: Event) -> None:
    expected = LEADS.get(event, {}).get(state, state if state in STAYS.get(event, ()) else None)
    if expected is not None:
        assert after(state, event) is expected
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
    reached, new = {State.CONCLUDED}, {State.CONCLUDED}
    while new:
        new = {to for state in new for to in TRANSITIONS[state].values()} - reached
        reached |= new
    assert not reached & NOT_CONCLUDED


def test_d2_nothing_leads_back_from_hand_count_to_the_scanners() -> None:
    reached, new = {State.HAND_COUNT}, {State.HAND_COUNT}
    while new:
        new = {to for state in new for to in TRANSITIONS[state].values()} - reached
        reached |= new
    assert not reached & {State.OPEN, State.SCANNING, State.SCANNED, State.RECONCILED}


def test_every_state_says_where_it_stands_and_what_to_do() -> None:
    assert set(SITUATION) == set(TRANSITIONS) == set(State)
    assert all(why and instead for why, instead in SITUATION.values())
