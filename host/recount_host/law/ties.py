"""Ties: when there is one, and which branch subsection H gives. No lot is drawn and no tie is broken here."""

from collections.abc import Mapping

from recount_host.law.precinct_state import PrecinctState
from recount_host.law.result import result_of
from recount_host.law.steps_of_court import changes_by_court

_OTHER_LAW = "no writ under subsection H: this office is excepted, and another law says what follows"
TIE_BRANCHES: Mapping[str, str] = {
    "office": "the court issues a writ promptly ordering a special election (H)",
    "governor": f"Governor: {_OTHER_LAW}",
    "lieutenant_governor": f"Lieutenant Governor: {_OTHER_LAW}",
    "attorney_general": f"Attorney General: {_OTHER_LAW}",
    "presidential_electors": f"electors for President and Vice President: {_OTHER_LAW}",
    "primary": "flagged: H speaks of an election to the office, and this is a nomination; the court directs",
    "question": "flagged: H speaks of candidates, and this is a question; the court directs",
    "": "the order does not say which class of office this is (office_class); the court directs",
}
"""What follows where each party has an equal number of votes, by the order's class of the office."""


def final_votes(state: PrecinctState, key: str) -> int:
    """Return the votes for an option in a precinct, with the effect of all rulings that stand."""
    return result_of(state).votes(key) + changes_by_court(state).get(key, 0)


def is_tied(precincts: Mapping[str, PrecinctState]) -> bool:
    """Return whether each party to the recount has an equal number of votes in all precincts together (H)."""
    states = tuple(precincts.values())
    sums = {sum(final_votes(state, key) for state in states) for key in states[0].order.side_keys}
    return len(sums) == 1
