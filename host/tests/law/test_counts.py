"""Counts by hand: two persons of different sides, blind, who must agree."""

import pytest

from host.tests.rehearsal import ANN, BOB, Day, a_reconciled_day, a_scanned_day
from recount_host.act import Person
from recount_host.law.counts import CountBook, Entry, Standing, locked
from recount_host.law.errors import NotAllowed
from recount_host.law.persons import parse_person

CARL = Person("Carl Orr", "official", "D")


def a_book(*entries: tuple[int, Person]) -> CountBook:
    book = CountBook()
    for value, person in entries:
        book = book.entered(Entry("H", 1, value, person, 1))
    return book


def test_a_number_is_locked_when_two_persons_of_different_sides_agree() -> None:
    assert a_book((12, ANN), (12, BOB)).value("H", 1) == 12


def test_entries_are_told_two_and_two_as_both_counted_in_turn() -> None:
    day = a_scanned_day()
    for c in (9, 8):
        day.enter("c", c, ANN)
        day.enter("c", 8, BOB)
    rounds = day.state().counts.rounds
    assert [[entry.value for entry in entries] for entries in rounds] == [[9, 8], [8, 8]]


def test_one_persons_count_locks_nothing() -> None:
    book = a_book((12, ANN))
    assert book.standing("H", 1) is Standing.HALF
    assert book.value("H", 1) is None


def test_counts_that_differ_are_kept_and_both_persons_count_again() -> None:
    book = a_book((12, ANN), (13, BOB))
    assert book.standing("H", 1) is Standing.DIFFER
    assert book.value("H", 1) is None
    book = a_book((12, ANN), (13, BOB), (12, BOB), (12, ANN))
    assert book.value("H", 1) == 12
    assert [entry.value for entry in book.entries] == [12, 13, 12, 12]
    assert a_book((12, ANN), (13, BOB), (13, BOB), (13, ANN)).value("H", 1) == 13


def test_numbers_agree_only_within_one_round() -> None:
    assert a_book((12, ANN), (13, BOB), (13, ANN)).standing("H", 1) is Standing.HALF


def test_one_person_does_not_count_for_both() -> None:
    with pytest.raises(NotAllowed, match="Ann Lee has counted H already"):
        a_book((12, ANN), (12, ANN))
    with pytest.raises(NotAllowed, match="has counted H already"):
        a_book((12, ANN), (12, Person("ann  lee", "official", "R")))


def test_two_persons_of_one_side_do_not_lock_a_number() -> None:
    with pytest.raises(NotAllowed, match="counted for side D already"):
        a_book((12, ANN), (12, CARL))


@pytest.mark.parametrize(
    "person", ["June Day, clerk", "June Day, clerk, D", "Cora Day, coordinator, D", "Max, king, R"]
)
def test_d2_only_a_recount_official_counts(person: str) -> None:
    with pytest.raises(NotAllowed, match=f"an official of a side, and {person} is none"):
        a_book((12, parse_person(person)))


def test_a_locked_number_is_not_entered_again() -> None:
    with pytest.raises(NotAllowed, match="H is locked"):
        a_book((12, ANN), (12, BOB), (12, ANN))


def test_a_number_nobody_entered_is_not_counted() -> None:
    assert CountBook().standing("H", 1) is Standing.NOT_COUNTED
    assert CountBook().last_attempt("p") == 1
    assert not locked(CountBook(), 1)


def test_the_stack_may_be_counted_before_anything_else() -> None:
    day = Day()
    assert day.lock(H=12).state.value == "open"


def test_the_piles_are_counted_only_after_scanning_is_finished() -> None:
    day = Day()
    day.assign().open_batch()
    for letter in ("c", "s", "x"):
        with pytest.raises(NotAllowed, match="its ballots are still being fed"):
            day.enter(letter, 3, ANN)


def test_an_entry_for_another_attempt_than_the_one_in_force_is_refused() -> None:
    with pytest.raises(NotAllowed, match="H is counted in attempt 1 now"):
        Day().act("count_entered", (ANN,), letter="H", value=3, attempt=2)


def test_the_not_programmable_ballots_may_be_counted_anew_until_the_hand_count_adds_up() -> None:
    day = a_reconciled_day()
    day.lock(p=2)
    day.lock(p=0)
    assert day.state().other("p") == 0
    assert [(entry.attempt, entry.value) for entry in day.state().counts.entries if entry.letter == "p"] == [
        (1, 2),
        (1, 2),
        (2, 0),
        (2, 0),
    ]


def test_a_half_counted_p_is_no_number() -> None:
    day = a_reconciled_day()
    day.lock(p=0)
    day.enter("p", 1, ANN)
    assert day.state().other("p") is None


def test_o_is_counted_only_after_the_figures_are_shown() -> None:
    day = a_scanned_day()
    with pytest.raises(NotAllowed, match="ballots without the contest"):
        day.enter("o", 0, ANN)


def test_o_is_no_more_than_the_sheets_it_is_part_of() -> None:
    day = a_reconciled_day()
    with pytest.raises(NotAllowed, match="o cannot be more than the 1 sheets"):
        day.enter("o", 2, ANN)
    assert day.lock(o=1).other("o") == 1


def test_only_the_last_two_counts_that_agree_are_used_and_all_others_are_kept() -> None:
    day = a_scanned_day()
    for value, person in ((13, ANN), (11, BOB), (11, ANN), (11, BOB)):
        day.enter("H", value, person)
    day.lock(c=9, s=2, x=1)
    assert [(entry.letter, entry.value) for entry in day.state().counts_used][:3] == [
        ("H", 11),
        ("H", 11),
        ("c", 9),
    ]
    day.reconcile()
    assert day.state().counts_used == (), "all four are counted once more"
    day.reconcile_with(H=12, c=9, s=2, x=1)
    day.lock(p=2)
    day.lock(p=0)
    used = day.state().counts_used
    assert [(entry.letter, entry.attempt, entry.value, entry.person) for entry in used] == [
        (letter, 2, value, person)
        for letter, value in (("H", 12), ("c", 9), ("s", 2), ("x", 1), ("p", 0))
        for person in (ANN, BOB)
    ]
