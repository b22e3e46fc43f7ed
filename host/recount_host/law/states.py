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

    RECEIVE = "take a container in"
    DECLARE_NOT_FOUND = "declare a container, or the paper ballots, not found"
    DECLARE_SCANNED_NOT_FOUND = "declare the ballots cast on scanners not found"
    OPEN_CONTAINER = "open a container"
    SORT = "record what was sorted out of a container"
    EXCLUDE = "record ballots that are no part of the recount"
    KEY_RESULTS = "key in the statement of results of the election"
    SUBSTITUTE = "let another official take a seat"
    COUNT_STACK = "enter a count of the stack (H)"
    COUNT_NOT_PROGRAMMABLE = "enter a count of the ballots that cannot be programmed (p)"
    COUNT_PAPER = "enter a count of the paper ballots (d)"
    ASSIGN_RUN = "assign a device"
    END_RUN = "end a device's run"
    OPEN_BATCH = "open a batch"
    VOID_BATCH = "void a batch"
    WITHDRAW_DEVICE = "withdraw a device"
    ORDER_HAND_COUNT = "send the precinct to hand count"
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
    SEGREGATE = "segregate a ballot"
    CORRECT_TAG = "correct a tag"
    STATE_CHALLENGE = "take a statement that challenges a ballot"
    WITHDRAW_CHALLENGE = "withdraw a challenge"
    ANSWER_CALL = "answer the call for challenges"
    PRINT_STATEMENT = "print the statement"
    CONCLUDE = "conclude the precinct"
    RESEAL = "seal a container again"
    PROFFER = "record a ballot that comes too late"
    KEEP_SIGNED = "keep a scan of the signed statement"
    SUBMIT = "submit to the court"
    HEAR = "hear a party on a questioned ballot"
    RULE = "enter a ruling of the court"
    CERTIFY = "certify"
    AMEND = "amend the certification"


_AT_THE_TABLE = (
    Event.DECLARE_NOT_FOUND,
    Event.OPEN_CONTAINER,
    Event.SORT,
    Event.EXCLUDE,
    Event.KEY_RESULTS,
    Event.SUBSTITUTE,
    Event.SEGREGATE,
    Event.CORRECT_TAG,
    Event.STATE_CHALLENGE,
    Event.WITHDRAW_CHALLENGE,
    Event.RESEAL,
    Event.RECEIVE,
    Event.COUNT_PAPER,
    Event.COUNT_NOT_PROGRAMMABLE,
)
"""What may happen while a precinct's ballots are counted, and leaves it where it is."""

_CALLED = (
    Event.KEY_RESULTS,
    Event.SUBSTITUTE,
    Event.SEGREGATE,
    Event.CORRECT_TAG,
    Event.STATE_CHALLENGE,
    Event.WITHDRAW_CHALLENGE,
    Event.RESEAL,
    Event.ANSWER_CALL,
    Event.PRINT_STATEMENT,
)
"""What may still happen when all is counted."""

_AFTERWARDS = (
    Event.STATE_CHALLENGE,
    Event.WITHDRAW_CHALLENGE,
    Event.RESEAL,
    Event.PROFFER,
    Event.PRINT_STATEMENT,
    Event.KEEP_SIGNED,
)
"""What may still be written down of a concluded precinct; nothing of it changes a number."""


def _stays(state: State, *events: Event) -> dict[Event, State]:
    return dict.fromkeys(events, state)


TRANSITIONS: dict[State, dict[Event, State]] = {
    State.NOT_OPEN: {
        **_stays(State.NOT_OPEN, Event.KEY_RESULTS, Event.SUBSTITUTE),
        Event.RECEIVE: State.OPEN,
        Event.DECLARE_NOT_FOUND: State.OPEN,
        # Nothing is fed: what is left of the precinct is counted by hand.
        Event.DECLARE_SCANNED_NOT_FOUND: State.HAND_COUNT,
        Event.COUNT_STACK: State.OPEN,
        Event.COUNT_NOT_PROGRAMMABLE: State.OPEN,
        Event.COUNT_PAPER: State.OPEN,
        Event.ASSIGN_RUN: State.OPEN,
    },
    State.OPEN: {
        **_stays(State.OPEN, *_AT_THE_TABLE, Event.COUNT_STACK, Event.ASSIGN_RUN, Event.END_RUN),
        Event.WITHDRAW_DEVICE: State.OPEN,
        Event.DECLARE_SCANNED_NOT_FOUND: State.HAND_COUNT,
        Event.OPEN_BATCH: State.SCANNING,
        # A precinct may have nothing that a scanner can take: then no batch is ever opened.
        Event.FINISH_SCANNING: State.SCANNED,
        Event.ORDER_HAND_COUNT: State.HAND_COUNT,
    },
    State.SCANNING: {
        **_stays(State.SCANNING, *_AT_THE_TABLE, Event.COUNT_STACK, Event.ASSIGN_RUN, Event.END_RUN),
        **_stays(State.SCANNING, Event.OPEN_BATCH, Event.VOID_BATCH, Event.SETTLE_DOUBT),
        Event.WITHDRAW_DEVICE: State.SCANNING,
        Event.FINISH_SCANNING: State.SCANNED,
        Event.ORDER_HAND_COUNT: State.HAND_COUNT,
    },
    State.SCANNED: {
        **_stays(State.SCANNED, *_AT_THE_TABLE, Event.COUNT_STACK, Event.COUNT_PILE),
        **_stays(State.SCANNED, Event.TELL_IDENTITIES, Event.MOVE_SHEET),
        # Back to feeding: the batch runs again. Until when, the order says (guarded in steps.py).
        Event.VOID_BATCH: State.SCANNING,
        Event.WITHDRAW_DEVICE: State.SCANNING,
        Event.SHOW_RECONCILED: State.RECONCILED,
        Event.SHOW_HAND_COUNT: State.HAND_COUNT,
        Event.ORDER_HAND_COUNT: State.HAND_COUNT,
    },
    State.RECONCILED: {
        **_stays(State.RECONCILED, *_AT_THE_TABLE, Event.COUNT_LACKING_CONTEST, Event.COUNT_OUTCOMES),
        Event.AGREE_OUTCOMES: State.CHALLENGE_CALL,
    },
    State.HAND_COUNT: {
        **_stays(State.HAND_COUNT, *_AT_THE_TABLE, Event.COUNT_LACKING_CONTEST, Event.COUNT_OUTCOMES),
        # Only where both sides sent it here before H was locked (guarded in steps.py).
        Event.COUNT_STACK: State.HAND_COUNT,
        Event.AGREE_OUTCOMES: State.CHALLENGE_CALL,
    },
    State.CHALLENGE_CALL: {
        **_stays(State.CHALLENGE_CALL, *_CALLED),
        Event.CONCLUDE: State.CONCLUDED,
    },
    State.CONCLUDED: {
        **_stays(State.CONCLUDED, *_AFTERWARDS),
        Event.SUBMIT: State.IN_COURT,
    },
    State.IN_COURT: {
        **_stays(State.IN_COURT, *_AFTERWARDS, Event.HEAR, Event.RULE),
        Event.CERTIFY: State.CERTIFIED,
    },
    State.CERTIFIED: {
        **_stays(State.CERTIFIED, Event.PRINT_STATEMENT, Event.KEEP_SIGNED),
        # Under an order of the court: a new version, the old one kept. Nothing is counted again.
        Event.AMEND: State.IN_COURT,
    },
}

SITUATION: dict[State, tuple[str, str]] = {
    State.NOT_OPEN: (
        "nothing has been done for this precinct yet",
        "take its sealed containers in (custody receive), open them, and count the stack (count enter H)",
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
        "all its ballots are counted by hand (D 2)",
        "hand count all of them (hand-count enter)",
    ),
    State.CHALLENGE_CALL: (
        "all its ballots that are here are counted and the numbers add up",
        (
            "ask every official for questioned ballots (challenge call), print the statement (statement) "
            "and let all of them sign it (conclude)"
        ),
    ),
    State.CONCLUDED: (
        (
            "it is concluded; there is only one recount of a precinct (D), and the court considers no ballot "
            "that was not segregated before (F)"
        ),
        (
            "scan the signed statement and keep the scan (signed keep), seal its containers again (custody "
            "reseal), and leave the rest to the court, which has the "
            "questioned ballots once all precincts are concluded (court open)"
        ),
    ),
    State.IN_COURT: (
        "it is concluded and lies before the court (F)",
        (
            "let the clerk enter what the parties say (court hear) and what the court rules (court rule), "
            "then print the certification (court forms) and enter it when it is signed (court certify)"
        ),
    ),
    State.CERTIFIED: (
        "the court has certified it and that is final (G)",
        "leave it as it is; only an order of the court makes a new version (court amend)",
    ),
}
"""Of each state: why so much is not possible in it, and what to do instead."""


def after(state: State, event: Event) -> State:
    """Return the state that `event` leads to. Raises NotAllowed that says why not and what to do."""
    try:
        return TRANSITIONS[state][event]
    except KeyError:
        why, instead = SITUATION[state]
        raise NotAllowed(f"it is not possible to {event.value} now: {why}; {instead}") from None
