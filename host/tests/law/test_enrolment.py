"""D 2 s. 3: a scanner reports only where both sides enrolled its key; a revoked key never comes back."""

from collections.abc import Sequence
from typing import Any

import pytest

from host.tests.rehearsal import ANN, BOTH, CLERK, Day
from host.tests.sound_device import PROGRAM, Device
from recount_host.act import Person
from recount_host.law.enrolment import ENROLLED, REVOKED, admit_enrolment, enrolment_body, enrolments
from recount_host.law.errors import BadEntry, NotAllowed


def do(day: Day, kind: str, body: Any, by: Sequence[Person] = BOTH) -> None:
    admit_enrolment(day.acts, day.order, kind, by, body)
    day.append(kind, by, body)


def enrol(day: Day, name: str = "alpha", key: str = "alpha") -> str:
    body = enrolment_body(name, Device(key).public_key)
    do(day, ENROLLED, body)
    return str(body["device"])


def revoke(day: Day, device: str, name: str = "alpha") -> None:
    do(day, REVOKED, {"device": device, "name": name, "reason": "lost"})


def test_both_sides_enrol_a_key_by_its_words() -> None:
    day = Day()
    device = enrol(day)
    known = enrolments(day.acts)[device]
    assert (known.name, known.revoked, known.utc) == ("alpha", "", day.acts[-1].utc)
    assert known.public_key == Device().public_key
    assert day.acts[-1].body["words"]


def test_a_second_device_is_enrolled_by_another_name() -> None:
    day = Day()
    first, second = enrol(day), enrol(day, "beta", "beta")
    assert set(enrolments(day.acts)) == {first, second}


def test_what_holds_too_much_enrols_nothing() -> None:
    day, body = Day(), {**enrolment_body("alpha", Device().public_key), "surplus": 1}
    with pytest.raises(BadEntry, match="surplus"):
        admit_enrolment(day.acts, day.order, ENROLLED, BOTH, body)


def test_one_side_alone_and_persons_of_no_party_enrol_nothing() -> None:
    body = enrolment_body("alpha", Device().public_key)
    with pytest.raises(NotAllowed, match="two persons of different sides"):
        do(Day(), ENROLLED, body, (ANN, CLERK))
    with pytest.raises(BadEntry, match="the sides of this recount"):
        do(Day(), ENROLLED, body, (ANN, Person("Max Roe", "official", "T")))
    with pytest.raises(BadEntry, match="device_enrolled"):
        do(Day(), ENROLLED, {**body, "words": 1})


def test_nobody_enrols_for_the_other_side() -> None:
    day = Day()
    enrol(day)
    with pytest.raises(NotAllowed, match="nobody acts for two sides"):
        do(day, ENROLLED, enrolment_body("beta", Device("beta").public_key), (
            Person("Ann Lee", "official", "R"), Person("Carl Orr", "official", "D"),
        ))  # fmt: skip


def test_a_key_is_enrolled_once_and_a_name_is_one_devices() -> None:
    day = Day()
    enrol(day)
    with pytest.raises(NotAllowed, match=r"this key is enrolled as alpha already$"):
        enrol(day, "beta")
    with pytest.raises(NotAllowed, match="another device is enrolled as alpha"):
        enrol(day, "alpha", "beta")


def test_a_revoked_key_never_comes_back_and_its_name_may_go_to_another_device() -> None:
    day = Day()
    device = enrol(day)
    revoke(day, device)
    assert enrolments(day.acts)[device].revoked == "lost"
    with pytest.raises(NotAllowed, match="a revoked key never comes back: give it a new one"):
        enrol(day)
    other = enrol(day, "alpha", "beta")
    assert not enrolments(day.acts)[other].revoked


def test_only_an_enrolled_device_is_revoked_and_once() -> None:
    day = Day()
    with pytest.raises(NotAllowed, match="this device is not enrolled"):
        revoke(day, Device().id)
    device = enrol(day)
    revoke(day, device)
    with pytest.raises(NotAllowed, match="alpha is revoked already"):
        revoke(day, device)


def test_a_revoked_device_is_given_no_precinct() -> None:
    day = Day()
    device = day.device()
    enrol(day)
    revoke(day, device.id)
    words: dict[str, Any] = {"run": "101-1", "program": PROGRAM, "contest": "governor", "mode": "training"}
    with pytest.raises(NotAllowed, match=r"alpha was revoked \(lost\): use another device"):
        day.act("run_assigned", device=device.id, **words)
