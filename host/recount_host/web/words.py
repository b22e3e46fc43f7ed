"""How states look to people: a row each of colour, symbol and words. No meaning hangs on the colour alone."""

from dataclasses import dataclass

from recount_host.law.precinct import PrecinctState
from recount_host.law.reconciliation import Step
from recount_host.law.states import State
from recount_host.links.live import DeviceLive


@dataclass(frozen=True, slots=True)
class Sign:
    """A traffic light with its symbol and words."""

    light: str
    """One of "go", "work", "wait", "stop", "off": a class of the style sheet."""
    symbol: str
    words: str


STATE_SIGNS: dict[State, Sign] = {
    State.NOT_OPEN: Sign("off", "○", "Not begun"),
    State.OPEN: Sign("wait", "◔", "Ready to feed"),
    State.SCANNING: Sign("work", "▶", "Feeding ballots"),
    State.SCANNED: Sign("work", "✎", "Counting the piles"),
    State.RECONCILED: Sign("work", "✓", "Reconciled, hand count the rest"),
    State.HAND_COUNT: Sign("stop", "■", "Hand count"),
    State.CHALLENGE_CALL: Sign("go", "✓", "Call for challenges"),
    State.CONCLUDED: Sign("go", "✓", "Concluded"),
    State.IN_COURT: Sign("go", "§", "In court"),
    State.CERTIFIED: Sign("go", "★", "Certified"),
}

STEP_SIGNS: dict[Step, Sign] = {
    Step.SHOW_RECONCILED: Sign("go", "✓", "All numbers agree"),
    Step.REVERIFY: Sign("stop", "!", "Count once more"),
    Step.LOOK_FOR_SHEET: Sign("stop", "!", "Look for a sheet"),
    Step.SHOW_HAND_COUNT: Sign("stop", "■", "Goes to hand count"),
}
"""What follows once the identities have been told."""

NEEDS_PEOPLE = Sign("stop", "!", "Needs you")
"""Something stands in the way that only people can decide."""

BATCH_WORDS: dict[str, str] = {
    "open": "open",
    "closed": "closed",
    "void": "void: both sides withdrew it; it counts nothing and is kept",
    "late": "ended too late: void it and feed it again",
    "cannot_stand": "cannot stand: void it and feed it again",
}

PILE_WORDS: dict[str, str] = {"set_aside": "set-aside tray", "not_accepted": "not-accepted tray"}

DEVICE_SIGNS: dict[str, Sign] = {
    "idle": Sign("go", "✓", "Free"),
    "press_start": Sign("wait", "◔", "Waits for START"),
    "feeding": Sign("work", "▶", "Feeding"),
    "hopper_empty": Sign("wait", "◔", "Hopper empty"),
    "take_out_and_return": Sign("stop", "!", "Needs you"),
    "take_out_to_tray": Sign("stop", "!", "Needs you"),
    "take_out_to_set_aside": Sign("stop", "!", "Needs you"),
    "batch_void_needed": Sign("stop", "!", "Needs both sides"),
    "ask_officials": Sign("stop", "!", "Needs both sides"),
    "fault": Sign("stop", "✗", "Fault"),
}
"""By the state that a device tells of itself."""

CONNECTED = Sign("go", "✓", "Connected")
NOT_CONNECTED = Sign("stop", "✗", "Not connected")
AWAY = Sign("off", "○", "Not connected")
"""As it should be: it has nothing to scan."""

NOT_SEEN = Sign("off", "○", "Not seen yet")
REFUSED = Sign("stop", "✗", "Refused")
TROUBLE = Sign("stop", "!", "Needs you")
RECORDS_MISSING = Sign("stop", "!", "Records are missing")


def precinct_sign(state: PrecinctState) -> Sign:
    """Return how a precinct stands."""
    if state.state is State.SCANNED and state.step is not None:
        # The attempt that the re-verification begins makes its verdict an old one at once.
        due = not state.counts_locked if state.step is Step.REVERIFY else state.verdict_is_current
        if due:
            return STEP_SIGNS[state.step]
    return STATE_SIGNS[state.state]


def device_sign(live: DeviceLive | None, *, is_scanning: bool) -> Sign:
    """Return how a device stands; `live` is None when it was not seen since this program started."""
    if live is None:
        return NOT_SEEN
    if live.problem:
        return TROUBLE if live.connected else REFUSED
    if live.gap:
        return RECORDS_MISSING
    if live.connected:
        return DEVICE_SIGNS.get(live.state, CONNECTED)
    return NOT_CONNECTED if is_scanning else AWAY
