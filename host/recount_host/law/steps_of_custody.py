"""What the acts of custody and of the statement of results do to a precinct, and when they are refused.

B: what is no part of the recount is listed and stays sealed. E s. 1: where the ballots of a stream cannot be
found, the statement of results of the election stands in for that stream; a part that is short is reported,
and nothing is topped up.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from recount_host.act import Act
from recount_host.law.custody import EXCLUDED, NUMBER_OF, SCANNED, Container, Sealed, find_container
from recount_host.law.errors import NotAllowed
from recount_host.law.hand_count import voteable
from recount_host.law.persons import check_one
from recount_host.law.precinct_state import PrecinctState, with_counts_dropped
from recount_host.law.results import Keyed, check_figures
from recount_host.law.states import Event, State, after


def _container_received(state: PrecinctState, act: Act) -> PrecinctState:
    reached, body = after(state.state, Event.RECEIVE), act.body
    known = find_container(state.containers, body["container"])
    if known is not None and known.found:
        raise NotAllowed(f"container {known.name} was taken in already: give each container its own name")
    if not body["seal"] and body["seal_was"] != "missing":
        raise NotAllowed(
            "write down the number of the seal (--seal), or that it is missing (--seal-was missing)"
        )
    if state.is_missing(body["holds"]):
        raise NotAllowed(
            "both sides declared that these ballots cannot be found, and the statement of results stands "
            "in for "
            "them: leave the container sealed and tell the court"
        )
    if body["holds"] == SCANNED and state.state not in (State.NOT_OPEN, State.OPEN, State.SCANNING):
        raise NotAllowed(
            "scanning is finished, so its ballots could not be rerun any more: leave the container sealed; "
            "before "
            "any identity is told both sides may void a batch (batch void) and feed again with it, "
            "afterwards the court is told"
        )
    came = Container(body["container"], body["holds"], body["seal"], body["seal_was"], _stated(act))
    others = tuple(container for container in state.containers if container.name != came.name)
    return _more_ballots(replace(state, state=reached, containers=(*others, came)), came)


def _more_ballots(state: PrecinctState, container: Container) -> PrecinctState:
    """Return the state without the count that cannot have held this container's ballots: it is made again."""
    return with_counts_dropped(state, NUMBER_OF.get(container.holds, ""))


def _container_not_found(state: PrecinctState, act: Act) -> PrecinctState:
    reached, body = after(state.state, Event.DECLARE_NOT_FOUND), act.body
    if find_container(state.containers, body["container"]) is not None:
        raise NotAllowed(f"container {body['container']} is in the list already: see show")
    missing = Container(body["container"], body["holds"], "", "not_found", _stated(act))
    return replace(state, state=reached, containers=(*state.containers, missing))


def _stated(act: Act) -> int | None:
    stated: list[int] = act.body["stated"]
    return stated[0] if stated else None


def _container_opened(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.OPEN_CONTAINER)
    container = _here(state, act)
    if container.is_excluded:
        raise NotAllowed(
            f"container {container.name} holds {EXCLUDED[container.holds]}: it is no part of the recount "
            "and stays "
            "sealed"
        )
    if container.opened is not None:
        raise NotAllowed(f"container {container.name} is open already")
    return _more_ballots(replace(_with(state, replace(container, opened=act)), state=reached), container)


def _container_sorted(state: PrecinctState, act: Act) -> PrecinctState:
    reached = after(state.state, Event.SORT)
    container = _here(state, act)
    if container.opened is None:
        raise NotAllowed(f"container {container.name} has not been opened: open it first (custody open)")
    sorted_out = container.sorted_out + int(act.body["out_of_scope"])
    return replace(_with(state, replace(container, sorted_out=sorted_out)), state=reached)


def _here(state: PrecinctState, act: Act) -> Container:
    container = find_container(state.containers, act.body["container"])
    if container is None or not container.found:
        raise NotAllowed(
            f"container {act.body['container']} was not taken in: take it in first (custody receive)"
        )
    return container


def _with(state: PrecinctState, container: Container) -> PrecinctState:
    return replace(
        state,
        containers=tuple(container if known.name == container.name else known for known in state.containers),
    )


def _excluded_recorded(state: PrecinctState, act: Act) -> PrecinctState:
    return replace(state, state=after(state.state, Event.EXCLUDE), excluded=(*state.excluded, act))


def _container_resealed(state: PrecinctState, act: Act) -> PrecinctState:
    reached, body = after(state.state, Event.RESEAL), act.body
    sealed = Sealed(body["container"], body["holds"], body["seal"], body["to"], act.by, act.n)
    return replace(state, state=reached, resealed=(*state.resealed, sealed))


def _results_keyed(state: PrecinctState, act: Act) -> PrecinctState:
    reached, person = after(state.state, Event.KEY_RESULTS), check_one(act.by)
    sides = state.order.side_keys
    contest = state.contest
    options, until = sides, ", until the contest program that names all of them is here (program add)"
    if contest is not None:
        options, until = voteable(contest, state.order), ""
    figures: Mapping[str, int] = act.body["figures"]
    check_figures(figures, options, sides, until)
    entry = Keyed(dict(sorted(figures.items())), person, act.n)
    return replace(state, state=reached, results=state.results.keyed(entry))


def _ballots_not_found(state: PrecinctState, act: Act) -> PrecinctState:
    stream = act.body["stream"]
    of_scanners = stream == SCANNED
    reached = after(state.state, Event.DECLARE_SCANNED_NOT_FOUND if of_scanners else Event.DECLARE_NOT_FOUND)
    if state.is_missing(stream):
        raise NotAllowed("this is declared already")
    here = [c.name for c in state.containers if c.holds == stream and c.found]
    letter = "H" if of_scanners else "d"
    if here or state.counts.of(letter, 1) or (of_scanners and state.assignments):
        what = f"container {here[0]} is here" if here else "some of them were counted or given to a device"
        raise NotAllowed(
            f"{what}: what is here is counted, and what is short is reported (custody not-found), never "
            "topped up"
        )
    wanting = [side for side in state.order.side_keys if side not in state.results.votes(stream)]
    if wanting:
        raise NotAllowed(
            "two persons key in the statement of results first, with the votes of every party for these "
            "ballots "
            f"(results key); still wanting: {', '.join(wanting)}"
        )
    return replace(state, state=reached, not_found=(*state.not_found, act))


CUSTODY_STEPS: Mapping[str, Callable[[PrecinctState, Act], PrecinctState]] = {
    "container_received": _container_received,
    "container_opened": _container_opened,
    "container_not_found": _container_not_found,
    "container_sorted": _container_sorted,
    "container_resealed": _container_resealed,
    "excluded_recorded": _excluded_recorded,
    "results_keyed": _results_keyed,
    "ballots_not_found": _ballots_not_found,
}
"""By kind of act."""
