"""The identities I1 to I9: what must be equal before a figure may stand, each with its clause of the law.

Letters: H every sheet in the stack handed to the scanning team; C, S, X what the scanners report as counted,
set aside and not accepted; c, s, x the piles counted by hand; o sheets of x that lack the contest; p ballots
for which no scanner could be programmed (taken out before H); d the paper ballots; R = H - x the ballots
rerun; N the votes a voter is entitled to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recount_host.plain_words import plain_words

NAMES = ("I1", "I2", "I3", "I4", "I5", "I6", "I7", "I8", "I9")

MEANINGS: Mapping[str, str] = {
    "I1": "The ballots to be rerun come from people's counts alone (R = H - x)",
    "I2": "The scanners' total is the number of ballots rerun (C + S = R)",
    "I3": "Every pile holds what the scanners say lies in it (c = C, s = S, x = X)",
    "I4": "The votes fit the number of counted ballots (votes = N x C)",
    "I5": "The hand count holds every ballot that was set aside, not accepted or not programmable",
    "I6": "The hand count holds every ballot of the precinct",
    "I7": "The statement is the counted votes and the hand-counted votes together",
    "I8": "The ballots are as many as the records of the election say; a note, never a trigger (E)",
    "I9": "The feeder's own count and the sheet records agree",
}
"""What each identity asks, for people: on pages, commands and forms alike."""


@dataclass(frozen=True, slots=True)
class Equation:
    """Two figures that must be equal, each with its name."""

    left_name: str
    left: int
    right_name: str
    right: int

    @property
    def holds(self) -> bool:
        """Return whether the two figures are equal."""
        return self.left == self.right

    def __str__(self) -> str:
        """Return the equation with its figures; for pages and forms after the figures are shown."""
        return f"{self.left_name} = {self.left}, {self.right_name} = {self.right}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One identity, looked at: it holds when all its equations do."""

    name: str
    equations: tuple[Equation, ...]

    @property
    def holds(self) -> bool:
        """Return whether the identity holds."""
        return all(equation.holds for equation in self.equations)


def i1_rerun_by_people(stack: int, not_accepted_by_hand: int) -> Finding:
    """D 2 s. 3: "the total number of ballots rerun" is R = H - x, from people only.

    Would R come from the scanner, C + S = R could not fail. I1 fails when the tray holds more than the stack.
    """
    rerun = stack - not_accepted_by_hand
    return Finding("I1", (Equation("H - x", rerun, "R", max(rerun, 0)),))


def rerun_by_people(stack: int, not_accepted_by_hand: int, rerun_is: str) -> int:
    """Return R, the ballots rerun, as the order of the court understands it: "H - x", or "H"."""
    return stack if rerun_is == "H" else stack - not_accepted_by_hand


def i2_scanner_total(counted: int, set_aside: int, rerun: int) -> Finding:
    """D 2 s. 3: reported as counted + set aside must equal the total rerun, else all is counted by hand."""
    return Finding("I2", (Equation("C + S", counted + set_aside, "R", rerun),))


def i3_piles(by_hand: Mapping[str, int], reported: Mapping[str, int]) -> Finding:
    """Each pile holds what the scanners say: D 2 s. 2 has what was set aside or not accepted hand counted.

    A ballot in the wrong pile would be counted twice or never although C + S = R.
    """
    pairs = (("c", "C"), ("s", "S"), ("x", "X"))
    return Finding("I3", tuple(Equation(low, by_hand[low], up, reported[up]) for low, up in pairs))


def i4_votes_per_ballot(votes: int, counted: int, vote_for: int, full: int) -> Finding:
    """D 2 s. 1, A: a counted ballot has no over- or undervote, so votes on all printed options = N x C.

    `full` sheets hold N different options each: an empty sheet and one with a vote too many do not make two.
    """
    total = Equation("votes", votes, "N x C", vote_for * counted)
    return Finding("I4", (total, Equation("sheets with N votes", full, "C", counted)))


def i5_hand_count(
    outcomes: int, set_aside: int, not_accepted: int, without_contest: int, not_programmable: int
) -> Finding:
    """D 2 s. 2: the set-aside, the not accepted and the not programmable ballots, each hand counted once."""
    expected = set_aside + (not_accepted - without_contest) + not_programmable
    return Finding("I5", (Equation("outcomes", outcomes, "s + (x - o) + p", expected),))


def i6_whole_precinct(outcomes: int, stack: int, without_contest: int, not_programmable: int) -> Finding:
    """D 2 s. 3: in hand count all ballots of the precinct, each counted once."""
    expected = stack - without_contest + not_programmable
    return Finding("I6", (Equation("outcomes", outcomes, "H - o + p", expected),))


def each_pile(outcomes: Mapping[str, int], expected: Mapping[str, int]) -> tuple[Equation, ...]:
    """Return that the outcomes of every pile are as many as the ballots in it."""
    return tuple(
        Equation(f"outcomes of {plain_words(pile)}", outcomes.get(pile, 0), "ballots", ballots)
        for pile, ballots in expected.items()
    )


def i7_statement(rows: Iterable[tuple[str, int, int, int]]) -> Finding:
    """E s. 1: of each (name, accepted, by hand, written down), what is written down is the sum of both.

    By hand is every ballot that people counted and nobody challenged, and what stands in for ballots that
    cannot be found.
    """
    return Finding(
        "I7",
        tuple(
            Equation(name, total, "accepted + hand", accepted + hand) for name, accepted, hand, total in rows
        ),
    )


def i8_against_statement_of_results(ballots_found: int, ballots_stated: int) -> Finding:
    """E s. 4: a note, never a trigger; a shortage is reported and never topped up."""
    return Finding("I8", (Equation("ballots found", ballots_found, "statement of results", ballots_stated),))


def i9_batch(
    entries: int,
    exits: int,
    by_hand: int,
    bins: Iterable[tuple[str, int, int]],
    tally: Iterable[tuple[str, int, int]],
) -> Finding:
    """D 2 s. 3 in one batch: entries = exits + taken out by hand; per bin, what went in = what is recorded.

    `bins` holds (bin, exits and hand-placed, landed records); `tally` (figure, device's, host's own fold).
    """
    paper = Equation("entries", entries, "exits + by hand", exits + by_hand)
    per_bin = tuple(Equation(f"{name} seen", seen, "recorded", recorded) for name, seen, recorded in bins)
    folded = tuple(Equation(f"{name} reported", told, "folded", ours) for name, told, ours in tally)
    return Finding("I9", (paper, *per_bin, *folded))
