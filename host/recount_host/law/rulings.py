"""What the court says of a precinct: parties heard, rulings on ballots, rulings on a result (F, D 2 s. 5).

Only the clerk enters what the court ruled. A ruling is never edited: where the court reconsiders, a new one
stands instead of the earlier, which is kept. Its effect is a delta on what the recount officials wrote down;
their statement itself never changes.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from recount_host.act import Person
from recount_host.law.challenges import Segregated
from recount_host.law.errors import NotAllowed
from recount_host.law.hand_count import votes_in
from recount_host.law.persons import check_one, in_words


@dataclass(frozen=True, slots=True)
class Heard:
    """A party that inspected a questioned ballot, or did not want to, and was heard."""

    tag: str
    side: str
    inspected: str
    argument: str
    """Empty where the party made none."""
    act_n: int


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the court ruled on one questioned ballot."""

    number: int
    """The number of its act."""
    tag: str
    outcome: str
    """The outcome that the ballot has: whom it is a vote for, or why it is none."""
    counted_as: str
    """What it was counted as before, as the clerk entered it from the paper and its pile."""
    reason: str
    utc: str
    entered_by: Person
    instead_of: int
    """The ruling that it stands for, where the court reconsidered; 0 for none."""
    finding: str = ""
    """Where the court wrote that it was counted otherwise than the official entered; else empty."""


@dataclass(frozen=True, slots=True)
class ResultRuling:
    """What the court ruled on a precinct's result, apart from single ballots."""

    number: int
    part: str
    votes: Mapping[str, int]
    """Votes more (or fewer, below 0) for each option."""
    reason: str
    ruling: str
    """Where the court's written ruling stands."""
    utc: str
    entered_by: Person


def check_clerk(by: Sequence[Person]) -> Person:
    """Return the clerk who enters what the court did. Raises NotAllowed for anybody else."""
    person = check_one(by)
    if "clerk" not in person.role.casefold() or person.side:
        raise NotAllowed(
            f"F: the clerk of the court enters this, and {person.name} is entered as {in_words(person)}: "
            'write "name, clerk"'
        )
    return person


def standing(rulings: Sequence[Ruling], tag: str) -> Ruling | None:
    """Return the ruling on this ballot that stands, None while the court has not ruled."""
    return next((ruling for ruling in reversed(rulings) if ruling.tag == tag), None)


def sides_heard(heard: Iterable[Heard], tag: str) -> frozenset[str]:
    """Return the parties that were heard on this ballot."""
    return frozenset(entry.side for entry in heard if entry.tag == tag)


def is_in_totals(ballot: Segregated) -> bool:
    """Return whether its vote is in the precinct's totals until the court rules: a scanner accepted it."""
    return ballot.pile == "counted"


def effect(ballot: Segregated, ruling: Ruling) -> dict[str, int]:
    """Return by how many votes each option changes by this ruling on the ballot.

    What the ballot was counted as leaves the result. A hand count was signed without what the official had
    entered, so where the court found another outcome, the one comes back and the other leaves.
    """
    votes: Counter[str] = Counter(votes_in({ruling.outcome: 1}))
    votes.subtract(votes_in({ruling.counted_as: 1}))
    if not is_in_totals(ballot):
        votes.update(votes_in({ballot.counted_as: 1}))
    return {key: change for key, change in sorted(votes.items()) if change}
