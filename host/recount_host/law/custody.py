"""The sealed containers of a precinct: what they hold, what became of them, and what is never fed (B).

B keeps three kinds of ballots out of the recount; their packages are listed with seal and stated number, and
stay sealed. Of the others each is opened by both sides before its ballots are counted, or declared not found.
Paper ballots were counted by hand at the election (D 1, § 24.2-101) and are never fed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recount_host.act import Act, Person
from recount_host.law.persons import in_words

EXCLUDED: Mapping[str, str] = {
    "invalid_absentee": "absentee ballots ruled invalid and not cast, B (i)",
    "invalid_provisional": "provisional ballots ruled invalid and not cast, B (i)",
    "void_or_test": "ballots for administrative or test purposes, voided by the officers of election, B (ii)",
    "spoiled": "ballots spoiled by a voter and replaced, B (iii)",
}
"""Ballots that the recount does not take into account."""

SCANNED, NOT_PROGRAMMABLE, PAPER = "scanned", "not_programmable", "paper"
COUNTED_CONTENTS: Mapping[str, str] = {
    SCANNED: "ballots that were counted by scanners at the election",
    NOT_PROGRAMMABLE: "ballots for which no scanner can be programmed (D 2)",
    PAPER: "paper ballots, counted by hand at the election (D 1)",
}
"""Ballots that the recount counts; each is a stream of its own, with its own source on the statement (E)."""

CONTENTS: Mapping[str, str] = {**COUNTED_CONTENTS, **EXCLUDED}

NUMBER_OF: Mapping[str, str] = {SCANNED: "H", NOT_PROGRAMMABLE: "p", PAPER: "d"}
"""The letter of the count that a container's ballots are part of, by what it holds."""

STREAMS = (SCANNED, PAPER)
"""The streams for which the statement of results can stand in where the ballots cannot be found (E)."""

SEALS = ("intact", "broken", "missing")

SEALED_AGAIN = ("counted", "set_aside", "not_accepted", "all_scanned", *CONTENTS, "challenged")
"""What a container may hold when it is sealed again: piles stay apart, in case a court reads F broadly."""


@dataclass(frozen=True, slots=True)
class Container:
    """A container, as its acts tell it."""

    name: str
    holds: str
    seal: str
    """Number of its seal when it came; empty where it was not found."""
    seal_was: str
    """One of SEALS when it came; "not_found" where it never did."""
    stated: int | None
    """The number of ballots that its label states, None where it states none."""
    opened: Act | None = None
    sorted_out: int = 0
    """Ballots without the contest that were sorted out of it before anything was counted."""

    @property
    def found(self) -> bool:
        """Return whether it came."""
        return self.seal_was != "not_found"

    @property
    def is_excluded(self) -> bool:
        """Return whether B keeps it out of the recount."""
        return self.holds in EXCLUDED


@dataclass(frozen=True, slots=True)
class Sealed:
    """A container sealed again, for custody out."""

    name: str
    holds: str
    seal: str
    given_to: str
    by: tuple[Person, ...]
    act_n: int


def find_container(containers: Iterable[Container], name: str) -> Container | None:
    """Return the container of this name, None when there is none."""
    return next((container for container in containers if container.name == name), None)


def laid_apart(excluded: Iterable[Act]) -> tuple[str, ...]:
    """Return of each find of ballots that B keeps out how many, where and by whom, in words."""
    return tuple(
        f"{act.body['ballots']} {EXCLUDED[act.body['kind']]}, found {act.body['where']}, laid apart by "
        f"{' and '.join(in_words(person) for person in act.by)}"
        for act in excluded
    )


def unopened(containers: Iterable[Container], *holds: str) -> tuple[str, ...]:
    """Return the names of the containers with these contents that came and were not opened."""
    return tuple(c.name for c in containers if c.holds in holds and c.found and c.opened is None)
