"""I8: what the ballots are held against, and what is said where they differ. Notes, never a trigger.

E s. 4: where more was counted than the pollbook has names, the figures stand. Nothing here blocks a step or
changes a number; nothing missing is topped up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recount_host.law.custody import COUNTED_CONTENTS, PAPER, SCANNED
from recount_host.law.identities import Equation, Finding, i8_against_statement_of_results
from recount_host.law.precinct_state import PrecinctState
from recount_host.law.results import BALLOTS, PAPER_BALLOTS, POLLBOOK


@dataclass(frozen=True, slots=True)
class Notes:
    """I8 and its sentences."""

    finding: Finding | None
    """None where no statement of results is keyed in: there is nothing to hold the ballots against."""
    sentences: tuple[str, ...]


def notes(state: PrecinctState) -> Notes:
    """Return I8 of a precinct whose ballots are all counted."""
    return Notes(_finding(state), tuple(_sentences(state)))


def _finding(state: PrecinctState) -> Finding | None:
    stated = state.results.agreed
    if stated is None:
        return None
    found = i8_against_statement_of_results(_found(state), stated[BALLOTS] + stated.get(PAPER_BALLOTS, 0))
    equations = list(found.equations)
    counters = state.results.counters()
    if counters is not None:
        equations.append(Equation("public counters", counters, "ballots on scanners", stated[BALLOTS]))
    if POLLBOOK in stated:
        equations.append(Equation(*_voted(state), "pollbook names", stated[POLLBOOK]))
    return Finding("I8", tuple(equations))


def _found(state: PrecinctState) -> int:
    """Return the ballots of the contest that are here, without those that B excludes."""
    to_count = state.to_count
    assert to_count is not None  # all is counted
    lacking = 0 if to_count.scanned_missing else to_count.without_contest
    return to_count.stack - lacking + to_count.not_programmable + to_count.paper - _excluded(state)


def _excluded(state: PrecinctState) -> int:
    return (state.outcomes or {}).get("excluded", 0)


def _voted(state: PrecinctState) -> tuple[str, int]:
    """Return what the order holds against the pollbook: ballots, or votes for all options together."""
    stated = state.results.agreed or {}
    if state.order.pollbook == "ballots":
        return "ballots", stated[BALLOTS] + stated.get(PAPER_BALLOTS, 0)
    return "votes cast", _votes(state)


def _votes(state: PrecinctState) -> int:
    """Return the votes for all options together, as the statement of results has them."""
    return sum(sum(state.results.votes(stream).values()) for stream in (SCANNED, PAPER))


def _sentences(state: PrecinctState) -> Iterator[str]:
    stated = state.results.agreed
    if stated is None:
        yield "no statement of results is keyed in, so the ballots are held against nothing"
        return
    total, found = stated[BALLOTS] + stated.get(PAPER_BALLOTS, 0), _found(state)
    if state.not_found:
        yield "for ballots that cannot be found the statement of results stands in (E)"
    elif found < total:
        yield f"{ballots(total - found)} fewer than the statement of results: reported, not topped up"
    elif found > total:
        yield f"{ballots(found - total)} more than the statement of results: the figures stand (E)"
    yield from _pollbook(state, stated.get(POLLBOOK))
    for container in state.containers:
        if not container.found:
            label = "" if container.stated is None else f", stated as {container.stated}"
            what = COUNTED_CONTENTS[container.holds]
            yield f"container {container.name} ({what}{label}) cannot be found: nothing is topped up"


def ballots(number: int) -> str:
    """Return a number of ballots in words: 1 ballot, 2 ballots."""
    return f"{number} ballot{'' if number == 1 else 's'}"


def _pollbook(state: PrecinctState, names: int | None) -> Iterator[str]:
    if names is None:
        return
    what, number = _voted(state)
    yield from _against_names(what, number, names)
    elected = state.order.vote_for
    if elected > 1:
        votes = _votes(state)
        yield (
            f"for information: {votes} votes, of which a ballot may have {elected}, are those of "
            f"{votes / elected:.1f} full ballots"
        )


def _against_names(what: str, number: int, names: int) -> Iterator[str]:
    if number > names:
        yield (
            f"{what} {number} exceed the {names} names on the pollbook: the figures recorded are accepted as "
            "correct (E)"
        )
    elif number < names:
        yield f"the pollbook has {names - number} names more than {what}: reported, without effect"


def pollbooks_together(states: Iterable[PrecinctState]) -> tuple[str, ...]:
    """Return what all precincts together have against their pollbooks, nothing where one has none keyed in.

    "On all ballot scanners" is read as those of each precinct (E s. 4); the sum is told beside it.
    """
    what, number, names = "", 0, 0
    for state in states:
        here = (state.results.agreed or {}).get(POLLBOOK)
        if here is None:
            return ()
        what, voted = _voted(state)
        number, names = number + voted, names + here
    held = f"all precincts together: {what} {number}, pollbook names {names}"
    return (held, *_against_names(what, number, names))


def forecast(state: PrecinctState) -> tuple[str, ...]:
    """Return how many ballots will be set aside where several are elected, told before the run.

    Any ballot with fewer votes than N is an undervote (A), and an overvote or a write-in is set aside too:
    the statement of results says how many votes for printed options its ballots lack. Nothing where it does
    not have the votes of each printed option, and nothing while the stack is counted blind.
    """
    stated, contest, most = state.results.agreed or {}, state.contest, state.order.vote_for
    if contest is None or most == 1 or state.stack is None:
        return ()
    votes = state.results.votes(SCANNED)
    printed = [option.key for option in contest.printed]
    if not votes.keys() >= set(printed):
        return ()
    cast, lacking = stated[BALLOTS], most * stated[BALLOTS] - sum(votes[key] for key in printed)
    if lacking <= 0:
        return ()
    fewest, at_most = -(-lacking // most), min(lacking, cast)
    span = f"{fewest}" if fewest == at_most else f"{fewest} to {at_most}"
    told = (
        f"by the statement of results {span} of {ballots(cast)} give fewer than {most} votes to printed "
        "names: so many will be set aside and counted by hand, unless the court orders that all are"
    )
    return (told,)
