"""Where a precinct is in its recount: every state, every event, and the one table that says what leads where.

Everything that decides whether an event may happen in a state is in this file. Guards that need more than
the state only ever refuse more: what an act asks of other acts is in `steps.py`, what a new act asks of
records and other precincts in `precinct.py`.
"""

from enum import Enum

from recount_host.law.errors import NotAllowed


class State(Enum):
    """Where a precinct is in its recount."""

    NOT_OPEN = "not_open"
    """Nothing has been done for this precinct."""
    OPEN = "open"
    """Its ballots are at the table: sheets are counted, devices assigned; no sheet has been fed."""
    SCANNING = "scanning"
    """Sheets are being fed."""
    SCANNED = "scanned"
    """Every sheet went through; people count the piles, blind."""
    RECONCILED = "reconciled"
    """D 2: C + S = R and every pile holds what it should; what was not counted is hand counted."""
    HAND_COUNT = "hand_count"
    """D 2: the numbers do not add up; all ballots are hand counted, the scanners' result is worth nothing."""
    CHALLENGE_CALL = "challenge_call"
    """D 3: all is counted and adds up; each official is asked for questioned ballots before the end."""
    CONCLUDED = "concluded"
    """E: the statement is written down and signed. Nothing of the count changes any more."""
    IN_COURT = "in_court"
    """F: all precincts are concluded and the court has the questioned ballots."""
    CERTIFIED = "certified"
    """F, G: the court has certified; final."""


class Event(Enum):
    """What can happen to a precinct, in words that fit after "it is not possible to"."""

    COUNT_STACK = "enter a count of the stack (H)"
    COUNT_NOT_PROGRAMMABLE = "enter a count of the ballots that cannot be programmed (p)"
    ASSIGN_RUN = "assign a device"
    END_RUN = "end a device's run"
    OPEN_BATCH = "open a batch"
    VOID_BATCH = "void a batch"
    SETTLE_DOUBT = "settle a sheet in doubt"
    FINISH_SCANNING = "finish scanning"
    COUNT_PILE = "enter a count of a pile (c, s or x)"
    TELL_IDENTITIES = "reconcile"
    MOVE_SHEET = "move a sheet to another pile"
    SHOW_RECONCILED = "show the figures as reconciled"
    SHOW_HAND_COUNT = "show the figures and send the precinct to hand count"
    COUNT_LACKING_CONTEST = "enter a count of the ballots without the contest (o)"
    COUNT_OUTCOMES = "enter a hand count"
    AGREE_OUTCOMES = "take the hand count as agreed"
    PRINT_STATEMENT = "print the statement"
    CONCLUDE = "conclude the precinct"
    SUBMIT = "submit to the court"
    CERTIFY = "certify"


TRANSITIONS: dict[State, dict[Event, State]] = {
    State.NOT_OPEN: {
        Event.COUNT_STACK: State.OPEN,
        Event.COUNT_NOT_PROGRAMMABLE: State.OPEN,
        Event.ASSIGN_RUN: State.OPEN,
    },
    State.OPEN: {
        Event.COUNT_STACK: State.OPEN,
        Event.COUNT_NOT_PROGRAMMABLE: State.OPEN,
        Event.ASSIGN_RUN: State.OPEN,
        Event.END_RUN: State.OPEN,
        Event.OPEN_BATCH: State.SCANNING,
        # A precinct may have nothing that a scanner can take: then no batch is ever opened.
        Event.FINISH_SCANNING: State.SCANNED,
    },
    State.SCANNING: {
        Event.COUNT_STACK: State.SCANNING,
        Event.COUNT_NOT_PROGRAMMABLE: State.SCANNING,
        Event.ASSIGN_RUN: State.SCANNING,
        Event.END_RUN: State.SCANNING,
        Event.OPEN_BATCH: State.SCANNING,
        Event.VOID_BATCH: State.SCANNING,
        Event.SETTLE_DOUBT: State.SCANNING,
        Event.FINISH_SCANNING: State.SCANNED,
    },
    State.SCANNED: {
        Event.COUNT_STACK: State.SCANNED,
        Event.COUNT_NOT_PROGRAMMABLE: State.SCANNED,
        Event.COUNT_PILE: State.SCANNED,
        # Back to feeding: the batch runs again. Only before any identity was told (guarded in steps.py).
        Event.VOID_BATCH: State.SCANNING,
        Event.TELL_IDENTITIES: State.SCANNED,
        Event.MOVE_SHEET: State.SCANNED,
        Event.SHOW_RECONCILED: State.RECONCILED,
        Event.SHOW_HAND_COUNT: State.HAND_COUNT,
    },
    State.RECONCILED: {
        Event.COUNT_NOT_PROGRAMMABLE: State.RECONCILED,
        Event.COUNT_LACKING_CONTEST: State.RECONCILED,
        Event.COUNT_OUTCOMES: State.RECONCILED,
        Event.AGREE_OUTCOMES: State.CHALLENGE_CALL,
    },
    State.HAND_COUNT: {
        Event.COUNT_NOT_PROGRAMMABLE: State.HAND_COUNT,
        Event.COUNT_LACKING_CONTEST: State.HAND_COUNT,
        Event.COUNT_OUTCOMES: State.HAND_COUNT,
        Event.AGREE_OUTCOMES: State.CHALLENGE_CALL,
    },
    State.CHALLENGE_CALL: {
        Event.PRINT_STATEMENT: State.CHALLENGE_CALL,
        Event.CONCLUDE: State.CONCLUDED,
    },
    State.CONCLUDED: {
        Event.PRINT_STATEMENT: State.CONCLUDED,
        Event.SUBMIT: State.IN_COURT,
    },
    State.IN_COURT: {
        Event.PRINT_STATEMENT: State.IN_COURT,
        Event.CERTIFY: State.CERTIFIED,
    },
    State.CERTIFIED: {
        Event.PRINT_STATEMENT: State.CERTIFIED,
    },
}

SITUATION: dict[State, tuple[str, str]] = {
    State.NOT_OPEN: (
        "nothing has been done for this precinct yet",
        "count its stack (count enter PRECINCT H) or assign a device (run assign)",
    ),
    State.OPEN: ("no sheet of this precinct has been fed yet", "feed its ballots, then finish-scanning"),
    State.SCANNING: ("its ballots are still being fed", "feed the rest, then finish-scanning"),
    State.SCANNED: (
        "its ballots are fed and people count the piles, blind",
        "enter H, c, s and x, then reconcile, then figures",
    ),
    State.RECONCILED: (
        "its figures have been shown and it is reconciled",
        "hand count the set-aside and not-accepted ballots (hand-count enter)",
    ),
    State.HAND_COUNT: (
        "its figures have been shown and D 2 sends all its ballots to hand count",
        "hand count all of them (hand-count enter)",
    ),
    State.CHALLENGE_CALL: (
        "its ballots are all counted and the numbers add up",
        "print the statement (statement) and let the officials sign it",
    ),
    State.CONCLUDED: ("it is concluded; there is only one recount of a precinct (D)", "leave it as it is"),
    State.IN_COURT: ("it lies before the court", "leave it to the court (F)"),
    State.CERTIFIED: ("the court has certified it and that is final (G)", "leave it as it is"),
}
"""Of each state: why so much is not possible in it, and what to do instead."""


def after(state: State, event: Event) -> State:
    """Return the state that `event` leads to. Raises NotAllowed that says why not and what to do."""
    try:
        return TRANSITIONS[state][event]
    except KeyError:
        why, instead = SITUATION[state]
        raise NotAllowed(f"it is not possible to {event.value} now: {why}; {instead}") from None
