"""The hand count, pile by pile: each ballot's outcome as the officials found it; the last two passes agree.

D 1, D 2 s. 2 and s. 3. An outcome is what one ballot turned out to be: the option it is a vote for, or the
options joined by "+" where a voter may vote for several, or one of the words below. The host never suggests
how to read a mark.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recount_host.act import Person
from recount_host.law.challenges import CHALLENGED
from recount_host.law.contest import Contest
from recount_host.law.errors import BadEntry
from recount_host.law.identities import Finding, each_pile, i5_hand_count, i6_whole_precinct
from recount_host.law.piles import PAPER_PILE
from recount_host.order import Order

OTHER_WRITE_IN = "other_write_in"
NO_VOTE, OVERVOTE = "no_vote", "overvote"
NOT_VOTES: Mapping[str, str] = {
    NO_VOTE: "No vote in this contest",
    OVERVOTE: "Overvote: votes for more than allowed; no vote counts (A)",
    "excluded": "Never cast in the election: test, void, spoiled or invalid (B)",
    CHALLENGED: "Challenged: in its envelope, for the court (E)",
}
"""Outcomes that give nobody a vote."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One time through all the ballots of one pile."""

    pile: str
    outcomes: Mapping[str, int]
    """Ballots by outcome; outcomes of no ballot are left out."""
    by: tuple[Person, ...]
    standards: str
    """The edition of the standards that the team read the marks by."""
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


def of_pile(passes: Iterable[Pass], pile: str) -> tuple[Pass, ...]:
    """Return the passes through this pile, in order."""
    return tuple(entered for entered in passes if entered.pile == pile)


def agreed(passes: Sequence[Pass], pile: str) -> Mapping[str, int] | None:
    """Return the outcomes on which the last two passes through this pile agree, or None."""
    own = of_pile(passes, pile)
    if len(own) < 2 or own[-1].outcomes != own[-2].outcomes:
        return None
    return own[-1].outcomes


def together(by_pile: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Return the outcomes of all these piles in one."""
    total: Counter[str] = Counter()
    for outcomes in by_pile.values():
        total.update(outcomes)
    return dict(sorted(total.items()))


def votes_in(outcomes: Mapping[str, int]) -> dict[str, int]:
    """Return the votes that these ballots give, by option key and other_write_in."""
    votes: Counter[str] = Counter()
    for outcome, ballots in outcomes.items():
        if outcome not in NOT_VOTES:
            for part in outcome.split("+"):
                votes[part] += ballots
    return dict(sorted(votes.items()))


@dataclass(frozen=True, slots=True)
class Lost:
    """What over- and undervotes of hand-counted ballots cost, as ballots (A) and as votes."""

    undervoted_ballots: int
    """A: ballots with fewer votes than allowed, those with none too."""
    by_undervotes: int
    """Votes that could have been cast on them and were not."""
    overvoted_ballots: int
    by_overvotes: int
    """Votes that count for nobody because the ballot holds too many."""


def votes_lost(outcomes: Mapping[str, int], vote_for: int) -> Lost:
    """Return what these ballots lost. Ballots excluded (B) or before the court lost nothing."""
    undervoted = lost = overvoted = 0
    for outcome, ballots in outcomes.items():
        given = 0 if outcome == NO_VOTE else len(outcome.split("+"))
        if outcome == OVERVOTE:
            overvoted += ballots
        elif given < vote_for and (outcome == NO_VOTE or outcome not in NOT_VOTES):
            undervoted += ballots
            lost += ballots * (vote_for - given)
    return Lost(undervoted, lost, overvoted, overvoted * vote_for)


@dataclass(frozen=True, slots=True)
class ToCount:
    """The numbers of people that say how many ballots there are to hand count."""

    stack: int
    set_aside: int
    not_accepted: int
    without_contest: int
    not_programmable: int
    paper: int
    whole_precinct: bool = False
    """Whether D 2 sends every ballot cast on scanners to the hand count."""
    scanned_missing: bool = False
    """Whether the ballots cast on scanners cannot be found."""

    @property
    def expected(self) -> Mapping[str, int]:
        """Return how many ballots each pile holds."""
        rest = {"not_programmable": self.not_programmable, PAPER_PILE: self.paper}
        if self.scanned_missing:
            return rest
        if self.whole_precinct:
            return {"all_scanned": self.stack - self.without_contest, **rest}
        not_accepted = self.not_accepted - self.without_contest
        return {"set_aside": self.set_aside, "not_accepted": not_accepted, **rest}

    def finding(self, ballots: Mapping[str, int]) -> Finding:
        """Return I5, or I6 in hand count, for so many outcomes in each pile."""
        of_scanners = sum(number for pile, number in ballots.items() if pile != PAPER_PILE)
        whole = i6_whole_precinct(of_scanners, self.stack, self.without_contest, self.not_programmable)
        rest = i5_hand_count(
            of_scanners, self.set_aside, self.not_accepted, self.without_contest, self.not_programmable
        )
        finding = whole if self.whole_precinct else rest
        return Finding(finding.name, (*finding.equations, *each_pile(ballots, self.expected)))
