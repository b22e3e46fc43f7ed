"""§ 24.2-802.1: who acts, for which side, alone or together."""

from dataclasses import replace

import pytest

from host.tests.rehearsal import ANN, BOB, BOTH, CLERK
from recount_host.act import Act, Person
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.persons import (
    MAX_NAME_CHARACTERS,
    check_both_sides,
    check_one,
    check_one_side_each,
    check_sides_known,
    in_words,
    parse_person,
    same_person,
)


def did(*persons: Person) -> Act:
    return Act(1, b"", "count_entered", "", persons, {})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Ann Lee", "ann  lee", True),
        ("Ann Lee", "Ann Leé", True),
        ("A. Lee", "A Lee", True),
        ("Ann Lee", "Anne Lee", False),
        ("Ann Lee 1", "Ann Lee 2", False),
    ],
)
def test_a_person_is_known_by_the_letters_of_the_name(one: str, other: str, same: bool) -> None:
    assert same_person(replace(ANN, name=one), replace(ANN, name=other)) is same


def test_a_person_is_written_with_what_is_known() -> None:
    assert in_words(ANN) == "Ann Lee, official, D"
    assert in_words(CLERK) == "Cleo May, coordinator"
    assert parse_person(in_words(ANN)) == ANN


def test_a_name_is_as_long_as_a_form_has_room_for() -> None:
    longest = "A" * MAX_NAME_CHARACTERS
    assert parse_person(f"{longest}, official, D").name == longest
    for text in (f"{longest}A, official, D", f"Ann Lee, {longest}A, D", f"Ann Lee, official, {longest}A"):
        with pytest.raises(BadEntry, match="at most 80 printable"):
            parse_person(text)
    for text in ("Ann\tLee\x07, official", "..., official, D"):
        with pytest.raises(BadEntry):
            parse_person(text)


def test_nobody_acts_for_two_sides() -> None:
    check_one_side_each(BOTH, [did(ANN), did(BOB)])
    with pytest.raises(NotAllowed, match="Ann Lee has acted for side D before"):
        check_one_side_each((replace(ANN, side="R"),), [did(BOB), did(BOB, ANN)])
    check_one_side_each((replace(ANN, side=""),), [did(ANN)])
    check_one_side_each((ANN,), [did(replace(ANN, side=""))])
    check_one_side_each((ANN,), [])


def test_a_side_is_a_party_to_the_recount() -> None:
    check_sides_known((*BOTH, CLERK), ("D", "R"))
    with pytest.raises(
        BadEntry, match='Bob Ray is entered for side "R", but the sides of this recount are A or D'
    ):
        check_sides_known(BOTH, ("D", "A"))


def test_what_each_does_alone_is_done_by_one() -> None:
    assert check_one((ANN,)) == ANN
    for by in ((), BOTH):
        with pytest.raises(NotAllowed, match="alone"):
            check_one(by)


@pytest.mark.parametrize(
    "by",
    [
        (),
        (ANN,),
        (ANN, replace(BOB, side="D")),
        (ANN, CLERK),
        (CLERK, replace(CLERK, name="Dora Poe")),
        (ANN, replace(ANN, side="R")),
        (*BOTH, CLERK),
        (*BOTH, replace(BOB, name="Eve Fox", side="I")),
    ],
)
def test_both_sides_are_two_persons_of_two_sides(by: tuple[Person, ...]) -> None:
    with pytest.raises(NotAllowed, match="this is done by two persons of different sides together"):
        check_both_sides(by, "this")


def test_both_sides_may_stand_in_any_order() -> None:
    check_both_sides(BOTH, "this")
    check_both_sides(BOTH[::-1], "this")
