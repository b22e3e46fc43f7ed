"""The statement of results of the election, keyed in by two persons, each blind to the other (E s. 1, s. 4).

It stands in for ballots that cannot be found, stream by stream, and is what the recount's ballots are held
against in the note I8. Wrong digits on such forms cost a recount of 2024 four weeks: hence two persons.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recount_host.act import Person
from recount_host.law.custody import PAPER, SCANNED
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.persons import same_person

BALLOTS, PAPER_BALLOTS, POLLBOOK = "ballots", "paper_ballots", "pollbook"
COUNTER, VOTES, PAPER_VOTES = "counter:", "votes:", "paper_votes:"
WORDS: Mapping[str, str] = {
    BALLOTS: "ballots cast on scanners",
    PAPER_BALLOTS: "paper ballots counted by hand",
    POLLBOOK: "names on the pollbook of persons voting",
    f"{COUNTER}NAME": "public counter of the election's scanner NAME",
    f"{VOTES}KEY": "votes for the option KEY on ballots cast on scanners",
    f"{PAPER_VOTES}KEY": "votes for the option KEY on paper ballots",
}
"""The figures that are keyed in."""

VOTES_OF_STREAM = {SCANNED: VOTES, PAPER: PAPER_VOTES}


@dataclass(frozen=True, slots=True)
class Keyed:
    """What one person keyed in."""

    figures: Mapping[str, int]
    person: Person
    act_n: int


@dataclass(frozen=True, slots=True)
class ResultsBook:
    """Every keying of the statement of results, none ever removed."""

    entries: tuple[Keyed, ...] = ()

    @property
    def agreed(self) -> Mapping[str, int] | None:
        """Return the figures on which two persons agreed, None while they have not."""
        if not self.entries or len(self.entries) % 2 or self.entries[-1].figures != self.entries[-2].figures:
            return None
        return self.entries[-1].figures

    @property
    def standing(self) -> str:
        """Return how far the keying is, in words that tell no figure."""
        if not self.entries:
            return "not keyed in"
        if len(self.entries) % 2:
            return "keyed in once: another person keys it in now"
        return "locked" if self.agreed is not None else "the two keyings differ: both key it in again"

    def keyed(self, entry: Keyed) -> "ResultsBook":
        """Return the book with one more keying. Raises NotAllowed when this person may not key it in now."""
        if self.agreed is not None:
            raise NotAllowed("the statement of results is locked: two persons keyed it in and agree")
        if len(self.entries) % 2 and same_person(self.entries[-1].person, entry.person):
            raise NotAllowed(f"{entry.person.name} has keyed it in already: another person does it now")
        return ResultsBook((*self.entries, entry))

    def votes(self, stream: str) -> Mapping[str, int]:
        """Return the votes of this stream by option, as the statement of results shows them."""
        prefix = VOTES_OF_STREAM[stream]
        figures = self.agreed or {}
        return {name.removeprefix(prefix): n for name, n in figures.items() if name.startswith(prefix)}

    def counters(self) -> int | None:
        """Return the public counters of the election's scanners together, None where none is stated."""
        counters = [n for name, n in (self.agreed or {}).items() if name.startswith(COUNTER)]
        return sum(counters) if counters else None


def check_figures(
    figures: Mapping[str, int], options: Iterable[str], sides: Iterable[str], until: str = ""
) -> None:
    """Raise BadEntry unless these are figures of a statement of results for these options and parties.

    The ballots and every party's votes must be there; no blank is allowed, 0 is a figure. `until` says what
    makes more options known.
    """
    known = tuple(options)
    for name in figures:
        head, colon, key = name.partition(":")
        prefix = head + colon
        if prefix in (VOTES, PAPER_VOTES):
            if key not in known:
                raise BadEntry(
                    f'"{key}" is no option of this contest: the options are {", ".join(known)}{until}'
                )
        elif not (name in (BALLOTS, PAPER_BALLOTS, POLLBOOK) or (prefix == COUNTER and key)):
            raise BadEntry(f'"{name}" is no figure of a statement of results: {", ".join(WORDS)}')
    wanted = [BALLOTS, *(f"{VOTES}{side}" for side in sides)]
    missing = [name for name in wanted if name not in figures]
    if missing:
        raise BadEntry(f"the statement of results lacks {', '.join(missing)}: write 0 where it shows none")
