"""The hand count: the outcome of each ballot as the officials found it; the last two passes must agree.

D 2 s. 2 and s. 3. An outcome is what one ballot turned out to be: the option it is a vote for, or the options
joined by "+" where a voter may vote for several, or one of the words below. The host never suggests how to
read a mark.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recount_host.act import Person
from recount_host.law.contest import Contest
from recount_host.law.errors import BadEntry
from recount_host.law.identities import Finding, i5_hand_count, i6_whole_precinct
from recount_host.order import Order

OTHER_WRITE_IN = "other_write_in"
NOT_VOTES: Mapping[str, str] = {
    "no_vote": "No vote in this contest",
    "overvote": "Overvote: votes for more than allowed; no vote counts (A)",
}
"""Outcomes that give nobody a vote."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One time through all the ballots to be hand counted."""

    outcomes: Mapping[str, int]
    """Ballots by outcome; outcomes of no ballot are left out."""
    by: tuple[Person, ...]
    act_n: int


def voteable(contest: Contest, order: Order) -> tuple[str, ...]:
    """Return the keys a hand-counted ballot can be a vote for, in the contest's sequence, write-ins last."""
    keys = [option.key for option in contest.options if not option.write_in or option.key in order.side_keys]
    return (*keys, OTHER_WRITE_IN)


def check_outcomes(outcomes: Mapping[str, int], contest: Contest, order: Order) -> None:
    """Raise BadEntry unless each outcome can be one of this contest and each number can be one of ballots."""
    keys = voteable(contest, order)
    for outcome, ballots in outcomes.items():
        if type(ballots) is not int or ballots < 0:
            raise BadEntry(f"{outcome}: a number of ballots is 0 or more")
        if outcome in NOT_VOTES:
            continue
        parts = outcome.split("+")
        for part in parts:
            if part not in keys:
                known = ", ".join((*keys, *NOT_VOTES))
                raise BadEntry(f'"{outcome}" is no outcome of this contest: the outcomes are {known}')
        # Two different persons may be written in on one ballot; a printed name counts once.
        repeated = [part for part in parts if part != OTHER_WRITE_IN and parts.count(part) > 1]
        if repeated:
            raise BadEntry(f'"{outcome}" names {repeated[0]} twice: a ballot gives nobody two votes')
        if len(parts) > contest.vote_for:
            raise BadEntry(
                f'"{outcome}" is more than {contest.vote_for} votes: enter such a ballot as overvote'
            )
        if parts != sorted(parts, key=keys.index):
            ordered = "+".join(sorted(parts, key=keys.index))
            raise BadEntry(f'write "{outcome}" as "{ordered}", so that one outcome has one name')


def without_zeros(outcomes: Mapping[str, int]) -> dict[str, int]:
    """Return the outcomes that have ballots, in a fixed order; so equal passes are equal values."""
    return {outcome: ballots for outcome, ballots in sorted(outcomes.items()) if ballots}


def agreed(passes: Sequence[Pass]) -> Mapping[str, int] | None:
    """Return the outcomes on which the last two passes agree, or None while they do not."""
    if len(passes) < 2 or passes[-1].outcomes != passes[-2].outcomes:
        return None
    return passes[-1].outcomes


def votes_in(outcomes: Mapping[str, int]) -> dict[str, int]:
    """Return the votes that these ballots give, by option key and other_write_in."""
    votes: Counter[str] = Counter()
    for outcome, ballots in outcomes.items():
        if outcome not in NOT_VOTES:
            for part in outcome.split("+"):
                votes[part] += ballots
    return dict(sorted(votes.items()))


@dataclass(frozen=True, slots=True)
class ToCount:
    """The numbers of people that say how many ballots there are to hand count."""

    whole_precinct: bool
    stack: int
    set_aside: int
    not_accepted: int
    without_contest: int
    not_programmable: int

    def finding(self, ballots: int) -> Finding:
        """Return I5, or I6 in hand count, for a pass of so many ballots."""
        if self.whole_precinct:
            return i6_whole_precinct(ballots, self.stack, self.without_contest, self.not_programmable)
        return i5_hand_count(
            ballots, self.set_aside, self.not_accepted, self.without_contest, self.not_programmable
        )
