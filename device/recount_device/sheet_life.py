"""A sheet's life at the device, from the feed command to its end: states, events, and the table of both.

Everything that changes the state of a sheet is in TRANSITIONS; what is done about a change (records, commands
to the feeder, words on the panel) is the station's. A sheet that was JUDGED is never read again: from there
it lands where it was sent, or people say where it lies (Va. Code 24.2-802.2 leaves no third way).
"""

from enum import Enum

from recount_device.errors import NotAllowed


class State(Enum):
    """Where a sheet is in its life."""

    ASKED = "asked"
    """The feeder was told to pick it; no paper was seen yet."""
    ENTERING = "entering"
    """Its leading edge passed the entry."""
    AT_CAMERA = "at_camera"
    """It rests under the camera and waits for its verdict."""
    JUDGED = "judged"
    """Its verdict is on the disk, and the feeder was told which way to send it."""
    FOR_TRAY = "for_tray"
    """Its verdict is on the disk, and nothing here moves paper into its tray: a person lays it there."""
    BACKING = "backing"
    """It has no verdict and is being driven back out through the entry."""
    STUCK = "stuck"
    """The feeder stopped with it in the path before it had a verdict; a person has to take it out."""
    IN_DOUBT = "in_doubt"
    """It had a verdict, but nobody saw it land, or it looks like a sheet read before; two officials say where
    it lies."""
    LANDED = "landed"
    """It lies where its verdict sent it. Nothing changes any more."""
    RETURNED = "returned"
    """It is with the operator again, without a verdict; fed again it is another sheet number."""
    SETTLED = "settled"
    """The officials said where it lies."""
    NOT_FED = "not_fed"
    """There was no sheet: the hopper was empty, or the pick found nothing."""


class Event(Enum):
    """What can happen to a sheet."""

    ENTERED = "entered"
    """The feeder saw its leading edge at the entry."""
    CAME_TO_REST = "came_to_rest"
    """The feeder stopped it under the camera."""
    GOT_VERDICT = "got_verdict"
    """`sheet_judged` is on the disk."""
    LOOKS_READ = "looks_read"
    """It looks like a sheet that was read in this batch already."""
    LEFT_TO_HANDS = "left_to_hands"
    """The feeder was told to stand: a device without a diverter."""
    SENT_BACK = "sent_back"
    """The feeder was told to drive it back out."""
    SEEN_LANDING = "seen_landing"
    """The sensor of the bin it was sent to saw it pass."""
    FELL_BACK = "fell_back"
    """The feeder saw it fall clear of the entry again."""
    FEEDER_STOPPED = "feeder_stopped"
    """The feeder stopped with it in the path, for whatever reason."""
    TRACE_LOST = "trace_lost"
    """It is not where it was, and no sensor saw it go."""
    TAKEN_OUT = "taken_out"
    """The operator confirmed to have taken it out, to feed it again."""
    LAID_IN_TRAY = "laid_in_tray"
    """The operator confirmed to have laid it in the tray that the panel named."""
    NOTHING_PICKED = "nothing_picked"
    """The feeder says that no sheet came."""
    PEOPLE_SETTLED = "people_settled"
    """Two officials said where it lies."""


TRANSITIONS: dict[State, dict[Event, State]] = {
    State.ASKED: {
        Event.ENTERED: State.ENTERING,
        Event.CAME_TO_REST: State.AT_CAMERA,
        Event.SENT_BACK: State.BACKING,
        Event.FELL_BACK: State.RETURNED,
        Event.FEEDER_STOPPED: State.STUCK,
        Event.TRACE_LOST: State.STUCK,
        Event.NOTHING_PICKED: State.NOT_FED,
    },
    State.ENTERING: {
        Event.ENTERED: State.ENTERING,
        Event.CAME_TO_REST: State.AT_CAMERA,
        Event.SENT_BACK: State.BACKING,
        Event.FELL_BACK: State.RETURNED,
        Event.FEEDER_STOPPED: State.STUCK,
        Event.TRACE_LOST: State.STUCK,
        Event.NOTHING_PICKED: State.NOT_FED,
    },
    State.AT_CAMERA: {
        Event.GOT_VERDICT: State.JUDGED,
        Event.SENT_BACK: State.BACKING,
        Event.FELL_BACK: State.RETURNED,
        Event.FEEDER_STOPPED: State.STUCK,
        Event.TRACE_LOST: State.STUCK,
    },
    State.JUDGED: {
        Event.LOOKS_READ: State.IN_DOUBT,
        Event.LEFT_TO_HANDS: State.FOR_TRAY,
        Event.SEEN_LANDING: State.LANDED,
        Event.FEEDER_STOPPED: State.IN_DOUBT,
        Event.TRACE_LOST: State.IN_DOUBT,
    },
    State.FOR_TRAY: {
        Event.FEEDER_STOPPED: State.FOR_TRAY,
        Event.LAID_IN_TRAY: State.LANDED,
        Event.TRACE_LOST: State.IN_DOUBT,
    },
    State.BACKING: {
        Event.SENT_BACK: State.BACKING,
        Event.FELL_BACK: State.RETURNED,
        Event.FEEDER_STOPPED: State.STUCK,
        Event.TRACE_LOST: State.STUCK,
    },
    State.STUCK: {
        Event.SENT_BACK: State.BACKING,
        Event.FELL_BACK: State.RETURNED,
        Event.FEEDER_STOPPED: State.STUCK,
        Event.TRACE_LOST: State.STUCK,
        Event.TAKEN_OUT: State.RETURNED,
        Event.LAID_IN_TRAY: State.LANDED,
        Event.NOTHING_PICKED: State.NOT_FED,
    },
    State.IN_DOUBT: {
        Event.PEOPLE_SETTLED: State.SETTLED,
    },
    State.LANDED: {},
    State.RETURNED: {},
    State.SETTLED: {},
    State.NOT_FED: {},
}

ENDED = frozenset(state for state, ways_out in TRANSITIONS.items() if not ways_out)
"""The ends of a sheet's life."""


def after(state: State, event: Event) -> State:
    """Return the state that `event` leads to, or raise NotAllowed."""
    try:
        return TRANSITIONS[state][event]
    except KeyError:
        raise NotAllowed(f"a sheet that is {state.value} cannot have {event.value}") from None
