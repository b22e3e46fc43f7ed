"""The people who act: how they are named, and when two of them can vouch for one thing together.

§ 24.2-802.1 of the Code of Virginia forms each team of one representative of each party to the recount. A
*side* is a party to the recount (the candidate's option key in the contest program), not a political party.
"""

import unicodedata
from collections.abc import Collection, Iterable, Sequence

from recount_host.act import Act, Person
from recount_host.law.errors import BadEntry, NotAllowed

MAX_NAME_CHARACTERS = 80

LOOK_ALIKE = frozenset({"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU"})
"""Alphabets with letters that look alike: a name in two of them makes a second person of one."""


def parse_person(text: str) -> Person:
    """Return the person that "name, role, side" or "name, role" names. Raises BadEntry."""
    parts = [" ".join(part.split()) for part in text.split(",")]
    if len(parts) not in (2, 3) or not all(parts):
        raise BadEntry(
            f'"{text}" does not name a person: write "name, role, side", for example "Ann Lee, official, D"'
        )
    if any(len(part) > MAX_NAME_CHARACTERS or not part.isprintable() for part in parts):
        raise BadEntry(f"a name, role or side has at most {MAX_NAME_CHARACTERS} printable characters")
    if not letters_of(parts[0]):
        raise BadEntry(f'"{parts[0]}" is no name: it has no letter')
    if len(_alphabets(parts[0])) > 1:
        raise BadEntry(f'"{parts[0]}" mixes alphabets whose letters look alike: write it in one')
    return Person(parts[0], parts[1], parts[2] if len(parts) == 3 else "")


def in_words(person: Person) -> str:
    """Return the person as written on forms and in device records: "name, role, side"."""
    return ", ".join(part for part in (person.name, person.role, person.side) if part)


def same_person(one: Person, other: Person) -> bool:
    """Return whether both names are one name, whatever the case, spacing, points and accents."""
    return letters_of(one.name) == letters_of(other.name)


def letters_of(name: str) -> str:
    """Return the letters and digits of a name, without case and accents: what its spellings share."""
    # Decomposed before and after: a bold capital becomes a plain one, which then loses its case.
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return "".join(letter for letter in plain if letter.isalnum())


def _alphabets(name: str) -> frozenset[str]:
    """Return which of the alphabets that look alike the name has letters of."""
    return LOOK_ALIKE & {unicodedata.name(letter, "").split(" ")[0] for letter in letters_of(name)}


def check_one_side_each(by: Sequence[Person], acts: Iterable[Act]) -> None:
    """Raise NotAllowed when somebody has acted for another side before: nobody vouches for both."""
    sides = {letters_of(person.name): person.side for act in acts for person in act.by if person.side}
    for person in by:
        before = sides.get(letters_of(person.name), person.side)
        if person.side and person.side != before:
            raise NotAllowed(
                f"{person.name} has acted for side {before} before, and nobody acts for two sides; "
                "if these are two persons, write a middle name too"
            )


def check_sides_known(by: Sequence[Person], sides: Collection[str]) -> None:
    """Raise BadEntry when somebody stands for a side that is no party to this recount."""
    for person in by:
        if person.side and person.side not in sides:
            known = " or ".join(sorted(sides))
            raise BadEntry(
                f'{person.name} is entered for side "{person.side}", but the sides of this '
                f"recount are {known}"
            )


def check_one(by: Sequence[Person]) -> Person:
    """Return the one person of an act that each person does alone. Raises NotAllowed."""
    if len(by) != 1:
        raise NotAllowed("each person enters this alone, without the other: give --by exactly once")
    return by[0]


def check_both_sides(by: Sequence[Person], what: str) -> None:
    """Raise NotAllowed unless exactly two persons of different sides do `what` together."""
    sides = {person.side for person in by if person.side}
    if len(by) != 2 or len(sides) != 2 or same_person(by[0], by[1]):
        raise NotAllowed(
            f"{what} is done by two persons of different sides together: "
            'give --by twice, for example --by "Ann Lee, official, D" --by "Bob Ray, official, R"'
        )
