"""The bodies of the acts that the host writes from what it knows, not from what somebody typed."""

from typing import Any

from recount_host.law.counts import STACK_AND_PILES, Standing
from recount_host.law.errors import NotAllowed
from recount_host.law.obstacles import check_no_obstacles
from recount_host.law.precinct import PrecinctState, heads_body
from recount_host.law.reconciliation import Step
from recount_host.law.states import Event, State, after


def runs_to_end(state: PrecinctState) -> tuple[dict[str, Any], ...]:
    """Return the bodies of `run_ended` for every run that is still open."""
    return tuple(
        {"precinct": state.precinct.id, "run": known.run, "device": known.device}
        for known in state.assignments
        if not known.ended
    )


def check_anything_was_fed(state: PrecinctState, *, nothing_fed: bool) -> None:
    """Raise NotAllowed where no batch counts, unless the officials say that none can be fed (`nothing_fed`).

    No scan leads back from here: a wrong precinct number would send the precinct to hand count for good.
    """
    if not state.standing_batches and not nothing_fed:
        raise NotAllowed(
            f"no sheet of precinct {state.precinct.id} has been fed, and after this none can be: feed its "
            "ballots first; if no scanner can take them, give --nothing-fed"
        )


def scanning_finished(state: PrecinctState) -> dict[str, Any]:
    """Return the body that fixes which records are the scanners' report. D 2 s. 3: "reported as counted"."""
    return heads_body(state)


def identities_told(state: PrecinctState) -> dict[str, Any]:
    """Return the body that tells which identities hold, with no figure.

    Raises NotAllowed while it may not.
    """
    after(state.state, Event.TELL_IDENTITIES)
    check_no_obstacles(state)
    if not state.counts_locked:
        missing = ", ".join(
            letter
            for letter in STACK_AND_PILES
            if state.counts.standing(letter, state.attempt) is not Standing.LOCKED
        )
        again = " once more" if state.attempt == 2 else ""
        raise NotAllowed(
            f"count{again} and enter {missing} first, two persons of different sides each: count enter"
        )
    verdict = state.verdict
    return {
        "precinct": state.precinct.id,
        "attempt": verdict.attempt,
        "held": list(verdict.held),
        "failed": list(verdict.failed),
        "disarmed": list(verdict.disarmed),
    }


def figures_shown(state: PrecinctState, *, search_ended: bool) -> dict[str, Any]:
    """Return the body that opens the figures for good. Raises NotAllowed while they must stay closed.

    `search_ended`: the officials looked for the misplaced sheet and say that the search is over.
    """
    after(state.state, Event.SHOW_RECONCILED)
    if state.step is Step.REVERIFY:
        raise NotAllowed(f"the figures stay closed: {state.step.value}")
    if not state.verdict_is_current:
        raise NotAllowed("the identities are told first: reconcile")
    if state.step is Step.LOOK_FOR_SHEET and not search_ended:
        raise NotAllowed(f"I3 still fails: {state.step.value}")
    holds = state.step is Step.SHOW_RECONCILED
    figures = state.figures
    return {
        "precinct": state.precinct.id,
        "outcome": State.RECONCILED.value if holds else State.HAND_COUNT.value,
        "counted": figures.counted,
        "set_aside": figures.set_aside,
        "not_accepted": figures.not_accepted,
        "votes": dict(figures.votes),
    }
