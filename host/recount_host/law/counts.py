"""Counts by hand: two persons of different sides, each alone and blind, who must agree; one re-verification.

An *attempt* is one full counting of a number. H, c, s and x are counted in attempt 1; when an identity fails
they are all counted once more, in attempt 2, and both values are kept. Within an attempt the two persons
enter their numbers in turn; numbers that differ are kept too, and both persons count again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from recount_host.act import Person
from recount_host.law.conclusion import check_official
from recount_host.law.errors import NotAllowed
from recount_host.law.persons import same_person

STACK_AND_PILES = ("H", "c", "s", "x")
"""The numbers that judge the scanners: re-verified together, never entered after the figures are shown."""

LETTERS: dict[str, str] = {
    "H": "every sheet in the stack handed to the scanning team",
    "c": "the counted pile",
    "s": "the set-aside pile",
    "x": "the not-accepted pile",
    "p": "the ballots for which no scanner could be programmed",
    "o": "the not-accepted sheets that lack the contest",
    "d": "the paper ballots, which were counted by hand at the election (D 1)",
}


class Standing(Enum):
    """How far one number has come in one attempt, in words that tell no figure."""

    NOT_COUNTED = "not counted"
    """Nobody has entered it."""
    HALF = "one person has counted"
    """The other side's count is awaited."""
    DIFFER = "the two counts differ: both count again"
    """Both values are kept; neither is used."""
    LOCKED = "locked"
    """Two persons of different sides found the same number."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One person's count."""

    letter: str
    attempt: int
    value: int
    person: Person
    act_n: int


@dataclass(frozen=True, slots=True)
class CountBook:
    """Every count entered for a precinct, none ever removed."""

    entries: tuple[Entry, ...] = ()

    def of(self, letter: str, attempt: int) -> tuple[Entry, ...]:
        """Return the entries of one number in one attempt, in order."""
        return tuple(entry for entry in self.entries if (entry.letter, entry.attempt) == (letter, attempt))

    @property
    def rounds(self) -> tuple[tuple[Entry, ...], ...]:
        """Return the entries two and two, as both persons counted in turn, by letter and attempt."""
        return tuple(
            entries[start : start + 2]
            for letter in LETTERS
            for attempt in range(1, self.last_attempt(letter) + 1)
            for entries in (self.of(letter, attempt),)
            for start in range(0, len(entries), 2)
        )

    def standing(self, letter: str, attempt: int) -> Standing:
        """Return how far this number has come."""
        entries = self.of(letter, attempt)
        if not entries:
            return Standing.NOT_COUNTED
        if len(entries) % 2:
            return Standing.HALF
        return Standing.LOCKED if entries[-1].value == entries[-2].value else Standing.DIFFER

    def agreed(self, letter: str, attempt: int) -> tuple[Entry, ...]:
        """Return the two counts that agree and lock this number, none while it is not locked."""
        return self.of(letter, attempt)[-2:] if self.standing(letter, attempt) is Standing.LOCKED else ()

    def value(self, letter: str, attempt: int) -> int | None:
        """Return the number on which both persons agreed, or None while they have not."""
        agreed = self.agreed(letter, attempt)
        return agreed[-1].value if agreed else None

    def last_attempt(self, letter: str) -> int:
        """Return the latest attempt in which somebody entered this number; 1 when nobody did."""
        return max((entry.attempt for entry in self.entries if entry.letter == letter), default=1)

    def entered(self, entry: Entry) -> "CountBook":
        """Return the book with one more count. Raises NotAllowed when this person may not enter it now."""
        check_official(entry.person)
        earlier = self.of(entry.letter, entry.attempt)
        if self.standing(entry.letter, entry.attempt) is Standing.LOCKED:
            raise NotAllowed(f"{entry.letter} is locked: two persons have counted it and agree")
        if len(earlier) % 2:
            first = earlier[-1].person
            if same_person(first, entry.person):
                raise NotAllowed(
                    f"{first.name} has counted {entry.letter} already: the other side counts it now"
                )
            if first.side == entry.person.side:
                raise NotAllowed(
                    f"{entry.letter} was counted for side {first.side} already: a person of "
                    "another side counts it now"
                )
        return CountBook((*self.entries, entry))


def locked(book: CountBook, attempt: int, letters: Sequence[str] = STACK_AND_PILES) -> bool:
    """Return whether all these numbers are locked in this attempt."""
    return all(book.standing(letter, attempt) is Standing.LOCKED for letter in letters)
