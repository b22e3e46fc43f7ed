"""§ 24.2-802.1: the parties choose an equal number of officials, who take an oath; observers only look on."""

import pytest

from host.tests.rehearsal import ANN, BOB, BOTH, CLERK, CLERK_OF_COURT, Day
from host.tests.sound_device import Device
from recount_host.act import Act, Person
from recount_host.law.enrolment import admit_enrolment, enrolment_body
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.roster import SWORN, admit_oath, balance, check_may_act, roster

CARL = Person("Carl Orr", "alternate official", "D")
OLGA = Person("Olga Day", "observer", "D")


def swear(day: Day, *persons: Person) -> None:
    for person in persons:
        body = {"person": [person.name, person.role, person.side], "before": "Dora Poe, clerk"}
        admit_oath(day.acts, day.order, (CLERK,), body)
        day.append(SWORN, (CLERK,), body)


def test_who_took_the_oath_stands_on_the_roster() -> None:
    day = Day()
    swear(day, ANN, BOB, CLERK, OLGA)
    assert [known.person for known in roster(day.acts)] == [ANN, BOB, CLERK, OLGA]
    first = roster(day.acts)[0]
    assert (first.before, first.act_n) == ("Dora Poe, clerk", day.acts[-4].n)
    assert first.utc == day.acts[-4].utc


@pytest.mark.parametrize(
    ("person", "why"),
    [
        (Person("Ann  LEE", "official", "D"), r"is on the roster already \(act 3\)"),
        (Person("Max Roe", "official", ""), 'as in "Max Roe, official, D"'),
        (Person("...", "official", "D"), "name the person"),
        (Person("Max Roe", "", "D"), "name the person"),
    ],
)
def test_an_oath_names_a_person_once_and_an_official_a_side(person: Person, why: str) -> None:
    day = Day()
    swear(day, ANN)
    with pytest.raises(NotAllowed, match=why):
        swear(day, person)
    assert len(roster(day.acts)) == 1


def test_an_oath_for_a_side_that_is_no_party_is_refused() -> None:
    with pytest.raises(BadEntry, match="the sides of this recount are D or R"):
        swear(Day(), Person("Max Roe", "official", "T"))


def test_an_oath_that_holds_too_much_is_refused() -> None:
    day = Day()
    body = {"person": ["Carl Orr", "official", "D"], "before": "Dora Poe, clerk", "surplus": 1}
    with pytest.raises(BadEntry, match="surplus"):
        admit_oath(day.acts, day.order, (CLERK,), body)


def test_one_person_enters_an_oath() -> None:
    day, body = Day(), {"person": ["Ann Lee", "official", "D"], "before": "the clerk"}
    with pytest.raises(NotAllowed, match="exactly once"):
        admit_oath(day.acts, day.order, BOTH, body)


def test_from_the_first_oath_on_only_sworn_officials_act_for_a_side() -> None:
    day = Day()
    day.enter("H", 12, ANN)
    swear(day, BOB)
    with pytest.raises(NotAllowed, match="Ann Lee is not among the sworn officials of side D"):
        day.enter("p", 0, ANN)
    swear(day, ANN)
    day.enter("p", 0, ANN)
    assert day.state().counts.of("p", 1)


def test_an_official_sworn_for_one_side_does_not_act_for_the_other() -> None:
    acts: list[Act] = Day().acts
    day = Day()
    swear(day, ANN)
    assert not roster(acts)
    with pytest.raises(NotAllowed, match="sworn officials of side R"):
        check_may_act((Person("Ann Lee", "official", "R"),), day.acts)
    with pytest.raises(NotAllowed, match="sworn officials of side D"):
        check_may_act((Person("Anna Lee", "official", "D"),), day.acts)


def test_an_alternate_acts_and_an_observer_never_does() -> None:
    day = Day()
    swear(day, CARL, OLGA)
    check_may_act((CARL, CLERK), day.acts)
    with pytest.raises(NotAllowed, match="Olga Day is an observer"):
        day.enter("H", 12, OLGA)
    with pytest.raises(NotAllowed, match="is not among the sworn officials"):
        check_may_act((Person("Olga Day", "official", "D"),), day.acts)


def test_before_anybody_is_sworn_an_observer_does_not_act_either() -> None:
    with pytest.raises(NotAllowed, match="observers look on"):
        check_may_act((OLGA,), ())
    check_may_act((ANN, CLERK), ())


def test_who_is_not_sworn_enrols_no_device_and_opens_no_docket() -> None:
    day = Day()
    swear(day, ANN)
    device = Device()
    body = enrolment_body(device.name, device.public_key)
    with pytest.raises(NotAllowed, match="Bob Ray is not among the sworn officials"):
        admit_enrolment(day.acts, day.order, "device_enrolled", BOTH, body)
    with pytest.raises(NotAllowed, match="observers look on"):
        day.court_act("court_opened", (Person("Olga Day", "observer", ""),), ballots=[])
    with pytest.raises(NotAllowed, match="is not concluded"):
        day.court_act("court_opened", (CLERK_OF_COURT,), ballots=[])


def test_the_roster_says_whether_the_parties_have_equal_numbers() -> None:
    day = Day()
    swear(day, ANN, CLERK, OLGA)
    assert balance(day.acts, day.order).endswith("equal number of officials (§ 24.2-802.1): D 1, R 0")
    swear(day, BOB)
    assert balance(day.acts, day.order) == "each party has an equal number of officials (D 1, R 1)"
