"""Questioned ballots: segregated under a tag before the conclusion (D 3), challenged by any one official (E).

The written statement of one official is enough: nobody has to agree, and nobody can object. C: the
eligibility of a voter is no issue, so no ground names it and nothing here holds who a voter is. The text is
the official's own and is not examined: to examine it would be a veto.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from recount_host.act import Person
from recount_host.law.piles import PILES

GROUNDS: Mapping[str, str] = {
    "mark": "for whom the ballot is marked",
    "overvote": "whether it holds too many votes",
    "write_in": "whether a name written in counts, and for whom",
    "ballot": "whether the paper is a ballot cast in this election",
    "other": "another question of the ballot or the vote",
}
"""What a question can be about. C s. 1: no ground is the eligibility of a voter."""

CHALLENGED = "challenged"
"""Outcome of a hand-counted ballot that lies in its envelope and gives no vote before the court rules."""

QUESTIONED_PILES = ("counted", *PILES)
"""Where a questioned ballot can come from. A scanner may have accepted it: all ballots can be questioned."""


@dataclass(frozen=True, slots=True)
class Segregated:
    """A ballot in its envelope, apart from its pile; it is counted with the pile that it came from."""

    tag: str
    envelope: str
    pile: str
    counted_as: str
    """The outcome that it was counted as, as the official entered it (confirmation.py): stays in the result
    where a scanner accepted it (D 2 s. 5), is left out of it where people counted it; `challenged` where it
    has not been counted as anything."""
    question: str
    by: tuple[Person, ...]
    utc: str
    act_n: int
    notice: tuple[str, int, int] | None = None
    """Device, batch and sheet of its notice, whose picture the court may see; None where none is named."""
    entered_as: tuple[str, ...] = ()
    """What tag and envelope had been entered as before they were corrected."""

    @property
    def question_and_corrections(self) -> str:
        """Return what is in question, and what the tag was entered as before it was corrected."""
        return "; ".join((self.question, *(f"first entered as {wrong}" for wrong in self.entered_as)))


@dataclass(frozen=True, slots=True)
class Challenge:
    """One official's written statement, final by that signature alone."""

    number: int
    """The number of its act, by which a withdrawal names it."""
    tag: str
    ground: str
    text: str
    person: Person
    utc: str
    after_conclusion: bool
    """Stamped: the ballot was segregated in time, the statement came later; for the court to weigh."""
    withdrawn: str = ""
    """When and why it was withdrawn, by a record of its own; the statement is kept."""


def find_tag(ballots: Iterable[Segregated], tag: str) -> Segregated | None:
    """Return the segregated ballot with this tag, None when there is none."""
    return next((ballot for ballot in ballots if ballot.tag == tag), None)


def left_out(ballots: Iterable[Segregated], pile: str) -> dict[str, int]:
    """Return, by outcome, the ballots of a hand-counted pile that were segregated after they were counted."""
    found: dict[str, int] = {}
    for ballot in ballots:
        if ballot.pile == pile and ballot.counted_as != CHALLENGED:
            found[ballot.counted_as] = found.get(ballot.counted_as, 0) + 1
    return found


def counted_as_challenged(ballots: Iterable[Segregated], pile: str) -> int:
    """Return how many ballots of this pile lie in envelopes and were counted as nothing else."""
    return sum(ballot.pile == pile and ballot.counted_as == CHALLENGED for ballot in ballots)
