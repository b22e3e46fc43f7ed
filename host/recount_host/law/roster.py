"""The roster: who took the oath, for which side, and who may act for a side (§ 24.2-802.1).

The court lets each party choose an equal number of officials; coordinators stand for no side, observers look
on. As long as nobody is on the roster, everybody is who they say they are at the desk. From the first oath
on only sworn officials act for a side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recount_host.act import Act, Person
from recount_host.law.acts import check_act
from recount_host.law.conclusion import is_official
from recount_host.law.errors import NotAllowed
from recount_host.law.persons import check_one, check_sides_known, letters_of, same_person
from recount_host.order import Order

SWORN = "official_sworn"


@dataclass(frozen=True, slots=True)
class Sworn:
    """One person on the roster."""

    person: Person
    before: str
    """Who took the oath."""
    utc: str
    act_n: int


def roster(acts: Sequence[Act]) -> tuple[Sworn, ...]:
    """Return everybody who took the oath, in that order."""
    return tuple(
        Sworn(Person(*act.body["person"]), act.body["before"], act.utc, act.n)
        for act in acts
        if act.kind == SWORN
    )


def admit_oath(acts: Sequence[Act], order: Order, by: Sequence[Person], body: Mapping[str, Any]) -> None:
    """Raise BadEntry or NotAllowed unless this oath may be written down now."""
    check_act(SWORN, by, body)
    check_one(by)
    person = Person(*body["person"])
    check_sides_known((person,), order.side_keys)
    if not letters_of(person.name) or not person.role:
        raise NotAllowed('name the person with name, role and side, for example "Ann Lee, official, D"')
    if "official" in person.role.casefold() and not person.side:
        raise NotAllowed(
            f"an official is chosen by a party (§ 24.2-802.1): write for which side {person.name} is, as in "
            f'"{person.name}, official, {order.side_keys[0]}"'
        )
    for known in roster(acts):
        if same_person(known.person, person):
            raise NotAllowed(
                f"{known.person.name} is on the roster already (act {known.act_n}); if this is another "
                "person, write a middle name too"
            )


def check_may_act(by: Sequence[Person], acts: Sequence[Act]) -> None:
    """Raise NotAllowed where an observer acts, or somebody for a side who is none of its sworn officials."""
    sworn = roster(acts)
    for person in by:
        if "observer" in person.role.casefold():
            raise NotAllowed(
                f"{person.name} is an observer: observers look on and ask the coordinators; officials do this"
            )
        if sworn and person.side and not any(_is(person, known.person) for known in sworn):
            raise NotAllowed(
                f"{person.name} is not among the sworn officials of side {person.side}: the oath comes first "
                "(team swear; team list shows the roster)"
            )


def _is(person: Person, sworn: Person) -> bool:
    return same_person(person, sworn) and person.side == sworn.side and is_official(sworn)


def balance(acts: Sequence[Act], order: Order) -> str:
    """Return in a sentence whether every party has an equal number of officials on the roster."""
    officials = [known.person for known in roster(acts) if is_official(known.person)]
    numbers = {key: sum(person.side == key for person in officials) for key in order.side_keys}
    told = ", ".join(f"{key} {number}" for key, number in numbers.items())
    if len(set(numbers.values())) == 1:
        return f"each party has an equal number of officials ({told})"
    return f"the parties do not have an equal number of officials (§ 24.2-802.1): {told}"
