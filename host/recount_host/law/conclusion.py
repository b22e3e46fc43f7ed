"""Who concludes a precinct: every recount official of its team, each asked, all signing (D 3, E s. 1).

The team is whoever counted, decided or segregated ballots of the precinct for a side. Who left has been
replaced by a record; nobody is left out silently.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recount_host.act import Act, Person
from recount_host.law.errors import NotAllowed
from recount_host.law.persons import in_words, letters_of, same_person

NO_FURTHER_QUESTION = "no_further_question"
ANSWERS = (NO_FURTHER_QUESTION, "has_question")
"""What an official can say when asked for questioned ballots; there is no third."""

TEAM_KINDS = frozenset(
    {
        "count_entered",
        "hand_count_entered",
        "container_opened",
        "batch_void_ordered",
        "doubt_settled_ordered",
        "device_withdrawn",
        "hand_count_ordered",
        "sheet_moved",
        "ballot_segregated",
        "call_answered",
    }
)
"""Acts that make their official one of the precinct's team. A statement does not: any official makes one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one official said at the call."""

    person: Person
    answer: str
    act_n: int


def is_official(person: Person) -> bool:
    """Return whether this is a recount official: of a side, and neither coordinator nor clerk."""
    return bool(person.side) and "official" in person.role.casefold()


def check_official(person: Person) -> None:
    """Raise NotAllowed unless this person is a recount official: nobody else counts ballots (D 1, D 2)."""
    if not is_official(person):
        raise NotAllowed(
            f"ballots are counted by an official of a side, and {in_words(person)} is none; "
            'write --by "name, role, side", for example "Ann Lee, official, D"'
        )


def joined(team: Sequence[Person], act: Act) -> tuple[Person, ...]:
    """Return the team with the officials of this act in it, where the act is one of the team's."""
    return joined_by(team, *act.by) if act.kind in TEAM_KINDS else tuple(team)


def joined_by(team: Sequence[Person], *persons: Person) -> tuple[Person, ...]:
    """Return the team with the officials among these persons in it, each once, in the order they came."""
    new = [p for p in persons if is_official(p) and not any(same_person(p, known) for known in team)]
    return (*team, *new)


def without(team: Sequence[Person], name: str) -> tuple[Person, ...]:
    """Return the team without the official of this name."""
    return tuple(person for person in team if letters_of(person.name) != letters_of(name))


def answer_of(person: Person, answers: Sequence[Answer]) -> str:
    """Return what this official said last, "" while they were not asked."""
    return next((a.answer for a in reversed(answers) if same_person(a.person, person)), "")


def still_to_ask(team: Sequence[Person], answers: Sequence[Answer]) -> tuple[Person, ...]:
    """Return the officials who have not said that they have no further question."""
    return tuple(person for person in team if answer_of(person, answers) != NO_FURTHER_QUESTION)
