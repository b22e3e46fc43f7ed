"""What a deck says is right, held against where its sheets came to lie and what host and statement say. Pure.

Every function returns the differences it finds as sentences; none is no difference.
"""

import fnmatch
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recount_ballots.deck import Deck, DeckSheet

PILES = ("counted", "set_aside", "not_accepted")
NO_CONTEST = "no_contest"
NOT_VOTES = ("no_vote", "overvote", NO_CONTEST)

Piles = Mapping[str, Sequence[str]]
"""Pile -> ids of the sheets in it, the lowest first."""


@dataclass(frozen=True)
class People:
    """What people find who take the piles in their hands and look at every ballot."""

    without_contest: int
    """Sheets of the not-accepted pile that lack the contest."""
    outcomes: Mapping[str, int]
    """Hand-count outcome -> ballots, over the set-aside and not-accepted sheets that bear the contest."""


def people_find(deck: Deck, piles: Iterable[Piles]) -> People:
    """Return what the people at these tables find."""
    sheets = {sheet.id: sheet for sheet in deck.sheets}
    by_hand: Counter[str] = Counter()
    without = 0
    for table in piles:
        for sheet_id in table["set_aside"]:
            found = sheets[sheet_id].truth.hand
            by_hand["no_vote" if found == NO_CONTEST else found] += 1
        found_there = [sheets[sheet_id].truth.hand for sheet_id in table["not_accepted"]]
        without += found_there.count(NO_CONTEST)
        by_hand.update(found for found in found_there if found != NO_CONTEST)
    return People(without, dict(sorted(by_hand.items())))


def misplaced(deck: Deck, piles: Iterable[Piles]) -> list[str]:
    """Return the sheets that lie in a pile where the deck says they must not, or in none."""
    lies_in = {sheet_id: pile for table in piles for pile in PILES for sheet_id in table[pile]}
    return [
        f"sheet {sheet.id} lies in {lies_in.get(sheet.id, 'no pile')}, not {' or '.join(sheet.truth.fates)}"
        for sheet in deck.sheets
        if lies_in.get(sheet.id) not in sheet.truth.fates
    ]


def wrong_figures(deck: Deck, piles: Sequence[Piles], figures: Mapping[str, Any]) -> list[str]:
    """Return the scanners' figures that differ from the piles and from the votes on the counted sheets."""
    sheets = {sheet.id: sheet for sheet in deck.sheets}
    expected = {pile: sum(len(table[pile]) for table in piles) for pile in PILES}
    found = [
        f"{pile}: the host says {figures[pile]}, {number} sheets lie there"
        for pile, number in expected.items()
        if figures[pile] != number
    ]
    true_votes = Counter(
        key for table in piles for sheet_id in table["counted"] for key in sheets[sheet_id].truth.choices
    )
    votes: Mapping[str, int] = figures["votes"]
    found += [
        f"votes for {key}: the host says {votes.get(key, 0)}, the deck {true_votes[key]}"
        for key in sorted({*votes, *true_votes})
        if votes.get(key, 0) != true_votes[key]
    ]
    return found


def wrong_reasons(deck: Deck, piles: Mapping[str, Piles], notices: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the notices whose reasons do not meet the truth of the sheet that lies at their place.

    `piles` are by device name; a place counts from the bottom of its tray, from 1.
    """
    sheets = {sheet.id: sheet for sheet in deck.sheets}
    left = {
        (name, pile, n) for name in piles for pile in PILES[1:] for n in range(1, len(piles[name][pile]) + 1)
    }
    found: list[str] = []
    for notice in notices:
        place = (str(notice["device_name"]), str(notice["pile"]), int(notice["place"]))
        if place not in left:
            found.append(
                f"a notice names place {place[2]} of {place[0]}'s {place[1]} tray, where no sheet lies"
            )
            continue
        left.remove(place)
        sheet = sheets[piles[place[0]][place[1]][place[2] - 1]]
        found += _unmet(sheet, tuple(notice["reasons"]))
    found += [f"no notice names place {n} of {name}'s {pile} tray" for name, pile, n in sorted(left)]
    return found


def _unmet(sheet: DeckSheet, given: Sequence[str]) -> list[str]:
    return [
        f"sheet {sheet.id} was put aside for {', '.join(given) or 'no reason'}, not for {expected}"
        for expected in sheet.truth.reasons
        if not any(fnmatch.fnmatch(word, pattern) for word in given for pattern in expected.split("|"))
    ]


def wrong_returns(deck: Deck, returned: Sequence[Sequence[str]]) -> list[str]:
    """Return how the returns, each with its reasons, differ from the deck's faults: a jam is a return."""
    expected = Counter(str(sheet.fault["kind"]) for sheet in deck.sheets if sheet.fault)
    given = Counter(word for reasons in returned for word in reasons)
    return [
        f"returned for {word}: {given[word]} times, the deck says {expected[word]}"
        for word in sorted({*expected, *given})
        if given[word] != expected[word]
    ]


def wrong_statement(deck: Deck, statement: Mapping[str, Any]) -> list[str]:
    """Return the totals of the statement that differ from the votes on all ballots as people see them."""
    true_votes = Counter(
        key
        for sheet in deck.sheets
        if sheet.truth.hand not in NOT_VOTES
        for key in sheet.truth.hand.split("+")
    )
    rows = {str(row["key"]): int(row["total"]) for row in (*statement["parties"], *statement["others"])}
    return [
        f"statement, {key}: {rows.get(key, 0)} votes, the deck says {true_votes[key]}"
        for key in sorted({*rows, *true_votes})
        if rows.get(key, 0) != true_votes[key]
    ]
