"""What the ballots of one precinct give each option, by where the votes come from (E s. 1, D 2 s. 5)."""

from collections.abc import Mapping
from dataclasses import dataclass

from recount_host.law.challenges import CHALLENGED, left_out
from recount_host.law.custody import STREAMS
from recount_host.law.hand_count import OTHER_WRITE_IN, together, votes_in
from recount_host.law.piles import PAPER_PILE
from recount_host.law.precinct_state import PrecinctState


@dataclass(frozen=True, slots=True)
class Result:
    """Votes by option key, without the ballots that lie in envelopes and were not accepted by a scanner."""

    accepted: Mapping[str, int]
    """On sheets that scanners counted; empty where all ballots are hand counted."""
    by_hand: Mapping[str, int]
    """On hand-counted ballots of those cast on scanners."""
    paper: Mapping[str, int]
    stated: Mapping[str, int]
    """As the statement of results shows them, where ballots cannot be found."""

    def votes(self, key: str) -> int:
        """Return all votes for this option together."""
        return sum(part.get(key, 0) for part in (self.accepted, self.by_hand, self.paper, self.stated))


def option_names(state: PrecinctState) -> dict[str, str]:
    """Return the name of every option by its key, parties first, write-ins for others last."""
    names = {side.key: side.name for side in state.order.sides}
    printed = state.contest.printed if state.contest is not None else ()
    names |= {option.key: option.name for option in printed if option.key not in names}
    names[OTHER_WRITE_IN] = "Write-in votes for others"
    return names


def result_of(state: PrecinctState) -> Result:
    """Return the result of a precinct whose hand count agrees.

    In hand count the scanners' votes are never added (D 2 s. 3).
    """
    valid = valid_outcomes(state)
    by_hand = together({pile: found for pile, found in valid.items() if pile != PAPER_PILE})
    return Result(
        state.figures.votes if scanners_count(state) else {},
        votes_in(by_hand),
        votes_in(valid.get(PAPER_PILE, {})),
        together({stream: state.results.votes(stream) for stream in STREAMS if state.is_missing(stream)}),
    )


def scanners_count(state: PrecinctState) -> bool:
    """Return whether what the scanners accepted is part of the result."""
    return state.shown is not None and not state.counts_whole_precinct


def valid_outcomes(state: PrecinctState) -> dict[str, dict[str, int]]:
    """Return the outcomes of each hand-counted pile without the ballots in envelopes: only the valid ones."""
    by_pile = state.outcomes_by_pile or {}
    return {pile: _without_envelopes(state, pile, outcomes) for pile, outcomes in by_pile.items()}


def _without_envelopes(state: PrecinctState, pile: str, outcomes: Mapping[str, int]) -> dict[str, int]:
    taken = left_out(state.questioned, pile)
    return {
        outcome: ballots - taken.get(outcome, 0)
        for outcome, ballots in outcomes.items()
        if outcome != CHALLENGED
    }
