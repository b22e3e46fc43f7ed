"""What a questioned ballot was counted as: one official's entry, confirmed by the clerk when the court rules.

E: one official alone brings a ballot before the court, so nothing is asked of a second person when it is
segregated. But what it was counted as is no challenge: it is a fact, and a ruling moves votes by it (D 2 s.
5). So the clerk enters it once more from the paper and its pile, and no ruling stands on one person's word:
where the two differ, the ruling names where the court wrote down which it is. Until then no page, form or
refusal of the court's part tells the clerk the official's entry. Nobody can hold a ruling up by this: the
parties are heard on it like on all else, and the court decides.
"""

from collections.abc import Sequence

from recount_host.act import Person
from recount_host.law.challenges import CHALLENGED, Segregated
from recount_host.law.errors import NotAllowed
from recount_host.law.hand_count import check_outcomes
from recount_host.law.persons import in_words, same_person
from recount_host.law.precinct_state import PrecinctState
from recount_host.law.rulings import Ruling, is_in_totals, standing
from recount_host.plain_words import plain_words


def check_confirmed(
    state: PrecinctState, ballot: Segregated, clerk: Person, counted_as: str, finding: str
) -> None:
    """Raise NotAllowed where the clerk enters what the official did not, and no finding decides."""
    if ballot.counted_as != CHALLENGED and any(same_person(person, clerk) for person in ballot.by):
        raise NotAllowed(
            f"F: {clerk.name} entered what tag {ballot.tag} was counted as, so another clerk or deputy clerk "
            "confirms it and enters the ruling"
        )
    if same_outcome(counted_as, ballot.counted_as):
        if finding:
            raise NotAllowed(
                f'tag {ballot.tag} was entered as counted as "{ballot.counted_as}" both times: leave '
                "--finding out"
            )
        if counted_as != CHALLENGED:
            _check_possible(state, ballot, counted_as)
        return
    if CHALLENGED in (counted_as, ballot.counted_as):
        raise NotAllowed(_whether_counted(ballot, counted_as))
    if not finding:
        raise NotAllowed(
            f'F: what the clerk enters that tag {ballot.tag} was counted as, "{counted_as}", is not what '
            f"{_entered_by(ballot)} entered: look at the paper and its pile again; where the first entry is "
            "wrong, the court writes down which it is, and the ruling names where that stands (--finding)"
        )
    _check_possible(state, ballot, counted_as)


def same_outcome(one: str, other: str) -> bool:
    """Return whether two outcomes are the same, in whatever order their options are named."""
    return sorted(one.split("+")) == sorted(other.split("+"))


def counted_as_told(rulings: Sequence[Ruling], ballot: Segregated) -> str:
    """Return what the ballot was counted as; empty while the clerk still has to find that blind."""
    is_told = ballot.counted_as == CHALLENGED or standing(rulings, ballot.tag) is not None
    return plain_words(ballot.counted_as) if is_told else ""


def confirmation(rulings: Sequence[Ruling], ballot: Segregated) -> str:
    """Return who says what the ballot was counted as; empty where it was counted as nothing yet."""
    if ballot.counted_as == CHALLENGED:
        return ""
    entered, ruling = f"entered by {_entered_by(ballot)}", standing(rulings, ballot.tag)
    if ruling is None:
        return f"{entered}; not confirmed yet"
    if not ruling.finding:
        return f"{entered}; confirmed by {in_words(ruling.entered_by)}"
    return f"{entered}, but {_found(ruling)}"


def reason_in_words(ruling: Ruling) -> str:
    """Return the court's reason, with what it found of how the ballot had been counted."""
    return f"{ruling.reason}; {_found(ruling)}" if ruling.finding else ruling.reason


def _found(ruling: Ruling) -> str:
    return f"the court found that it was counted as {plain_words(ruling.counted_as)} ({ruling.finding})"


def _entered_by(ballot: Segregated) -> str:
    return " and ".join(in_words(person) for person in ballot.by)


def _whether_counted(ballot: Segregated, counted_as: str) -> str:
    if counted_as == CHALLENGED:
        return (
            f"F: tag {ballot.tag} was counted before it was segregated: look at the paper and its pile, and "
            "say what it was counted as (--counted-as); the ruling moves votes by it"
        )
    return (
        f"F: tag {ballot.tag} was counted as challenged, and gave nobody a vote: leave --counted-as out, "
        f'"{counted_as}" is in no total'
    )


def _check_possible(state: PrecinctState, ballot: Segregated, counted_as: str) -> None:
    """Raise NotAllowed where the ballot's pile holds no ballot counted as this that is not another one."""
    contest = state.contest
    assert contest is not None  # no precinct with a ballot in an envelope is concluded without one
    check_outcomes({counted_as: 1}, contest, state.order)
    confirmed = [
        ruling.counted_as
        for other in state.questioned
        if other.pile == ballot.pile and other.tag != ballot.tag
        for ruling in [standing(state.rulings, other.tag)]
        if ruling is not None
    ]
    if is_in_totals(ballot):
        parts = counted_as.split("+")
        possible = len(parts) == state.order.vote_for and all(
            state.figures.votes.get(key, 0) > sum(key in known.split("+") for known in confirmed)
            for key in parts
        )
    else:
        outcomes = (state.outcomes_by_pile or {}).get(ballot.pile, {})
        counted = sum(n for known, n in outcomes.items() if same_outcome(known, counted_as))
        possible = counted > sum(same_outcome(known, counted_as) for known in confirmed)
    if not possible:
        raise NotAllowed(
            f'no ballot of that pile is left that was counted as "{counted_as}": look again at the paper, '
            "its pile, and the rulings on other tags"
        )
