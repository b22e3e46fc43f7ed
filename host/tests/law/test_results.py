"""E s. 1: the statement of results of the election, keyed in twice and read stream by stream."""

import pytest

from host.tests.rehearsal import ANN, BOB, CLERK
from recount_host.law.custody import PAPER, SCANNED
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.results import Keyed, ResultsBook, check_figures

FIGURES = {
    "ballots": 12,
    "votes:D": 7,
    "votes:R": 4,
    "paper_votes:D": 2,
    "paper_ballots": 3,
    "counter:east": 10,
    "counter:west": 2,
}


def a_book(*figures: dict[str, int]) -> ResultsBook:
    book = ResultsBook()
    for number, one in enumerate(figures):
        book = book.keyed(Keyed(one, (ANN, BOB)[number % 2], number))
    return book


def test_the_figures_stand_when_two_persons_keyed_in_the_same() -> None:
    assert (a_book().agreed, a_book().standing) == (None, "not keyed in")
    assert a_book(FIGURES).agreed is None
    assert a_book(FIGURES).standing == "keyed in once: another person keys it in now"
    assert (a_book(FIGURES, FIGURES).agreed, a_book(FIGURES, FIGURES).standing) == (FIGURES, "locked")


def test_keyings_that_differ_are_kept_and_both_persons_key_in_again() -> None:
    other = {**FIGURES, "votes:D": 70}
    book = a_book(FIGURES, other)
    assert (book.agreed, book.standing) == (None, "the two keyings differ: both key it in again")
    assert a_book(FIGURES, other, other).agreed is None, "one of the second round is not one of the first"
    again = a_book(other, FIGURES, FIGURES, FIGURES)
    assert again.agreed == FIGURES
    assert [entry.figures["votes:D"] for entry in again.entries] == [70, 7, 7, 7]


def test_each_of_the_two_persons_keys_in_and_nobody_after_them() -> None:
    with pytest.raises(NotAllowed, match="Ann Lee has keyed it in already"):
        a_book(FIGURES).keyed(Keyed(FIGURES, ANN, 2))
    with pytest.raises(NotAllowed, match="is locked"):
        a_book(FIGURES, FIGURES).keyed(Keyed(FIGURES, CLERK, 3))
    differing = a_book(FIGURES, {**FIGURES, "ballots": 13})
    third = differing.keyed(Keyed(FIGURES, BOB, 3))
    assert len(third.entries) == 3, "who was second may begin the next round"
    with pytest.raises(NotAllowed, match="Bob Ray has keyed it in already"):
        third.keyed(Keyed(FIGURES, BOB, 4))


def test_votes_are_read_stream_by_stream_and_counters_together() -> None:
    book = a_book(FIGURES, FIGURES)
    assert book.votes(SCANNED) == {"D": 7, "R": 4}
    assert book.votes(PAPER) == {"D": 2}
    assert book.counters() == 12
    assert a_book(FIGURES).votes(SCANNED) == {}
    assert a_book(FIGURES).counters() is None
    without = {name: n for name, n in FIGURES.items() if not name.startswith("counter:")}
    assert a_book(without, without).counters() is None


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"votes:Z": 1}, '"Z" is no option of this contest: the options are D, R, T'),
        ({"paper_votes:Z": 1}, '"Z" is no option'),
        ({"counter:": 1}, '"counter:" is no figure'),
        ({"ballots:": 1}, '"ballots:" is no figure'),
        ({"pollbook:D": 1}, '"pollbook:D" is no figure'),
        ({"spoiled": 1}, '"spoiled" is no figure'),
    ],
)
def test_what_is_no_figure_is_refused(changed: dict[str, int], why: str) -> None:
    with pytest.raises(BadEntry, match=why):
        check_figures({**FIGURES, **changed}, ("D", "R", "T"), ("D", "R"))


@pytest.mark.parametrize("name", ["ballots", "votes:D", "votes:R"])
def test_the_ballots_and_the_votes_of_every_party_are_wanted(name: str) -> None:
    rest = {known: n for known, n in FIGURES.items() if known != name}
    with pytest.raises(BadEntry, match=f"lacks {name}: write 0"):
        check_figures(rest, ("D", "R", "T"), ("D", "R"))
    check_figures({**rest, name: 0, "votes:T": 0, "pollbook": 5}, ("D", "R", "T"), ("D", "R"))
