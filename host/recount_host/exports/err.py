"""Results in the common format of NIST SP 1500-100 (version 2), status "recount", by precinct and by source.

F s. 4: every precinct is in it. Of each option: what scanners accepted, what people counted, what stands in
where ballots cannot be found, by how many votes the court changed it, and the total of all four. Overvotes
and undervotes are votes lost, as the format and the federal guidelines count them; how many ballots are
undervotes, as Virginia counts them (A), stands in the table `undervotes`.
"""

import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recount_host.law.court import Court
from recount_host.law.hand_count import OTHER_WRITE_IN, together, votes_lost
from recount_host.law.precinct import Facts, PrecinctState
from recount_host.law.result import Result, option_names, result_of
from recount_host.law.steps_of_court import changes_by_court
from recount_host.order import Order

SCOPE, CONTEST = "locality", "contest"

KINDS: Mapping[str, str] = {
    "election_day": "election-day",
    "early": "early",
    "absentee": "absentee-mail",
    "post_election": "absentee-mail",
    "provisional": "provisional",
}
"""The format's word for the group of ballots that a precinct of the order is."""


def err_report(
    facts: Facts, court: Court, precincts: Sequence[PrecinctState], utc: str, election_date: str
) -> dict[str, Any]:
    """Return the report of these precincts, which are concluded. `election_date`: YYYY-MM-DD."""
    order = facts.order
    return {
        "@type": "ElectionResults.ElectionReport",
        "Format": "precinct-level",
        "GeneratedDate": utc,
        "Issuer": order.court or order.locality,
        "IssuerAbbreviation": order.locality,
        "SequenceStart": 1,
        "SequenceEnd": 1,
        "Status": "recount",
        "IsTest": any(state.mode != "live" for state in precincts),
        "VendorApplicationId": f"recount-scanner {importlib.metadata.version('recount-scanner')}",
        "Notes": _notes(order, court, precincts),
        "GpUnit": [_locality(order, precincts), *(_unit(state) for state in precincts)],
        "Election": [_election(order, precincts, election_date)],
    }


def _notes(order: Order, court: Court, precincts: Sequence[PrecinctState]) -> str:
    said = f"Recount under {order.citation} of the Code of Virginia."
    if court.certified:
        said += f" Certified by the court, version {court.version}."
    waiting = [name for name in court.precincts if name not in {state.precinct.id for state in precincts}]
    return said + (f" Not concluded yet, and not in here: precinct {', '.join(waiting)}." if waiting else "")


def _text(words: str) -> dict[str, Any]:
    said = {"@type": "ElectionResults.LanguageString", "Content": words, "Language": "en"}
    return {"@type": "ElectionResults.InternationalizedText", "Text": [said]}


def _locality(order: Order, precincts: Sequence[PrecinctState]) -> dict[str, Any]:
    return {
        "@id": SCOPE,
        "@type": "ElectionResults.ReportingUnit",
        "Type": "other",
        "OtherType": "locality",
        "Name": _text(order.locality),
        "ComposingGpUnitIds": [_id(state) for state in precincts],
        "SubUnitsReported": len(precincts),
        "TotalSubUnits": len(order.precincts),
    }


def _id(state: PrecinctState) -> str:
    return f"precinct-{state.precinct.id}"


def _unit(state: PrecinctState) -> dict[str, Any]:
    return {
        "@id": _id(state),
        "@type": "ElectionResults.ReportingUnit",
        "Type": "precinct",
        "Name": _text(state.precinct.name),
        "Number": state.precinct.id,
    }


def _election(order: Order, precincts: Sequence[PrecinctState], election_date: str) -> dict[str, Any]:
    names: dict[str, str] = {}
    for state in precincts:
        names |= option_names(state)
    measure = order.office_class == "question"
    candidates = {} if measure else {key: name for key, name in names.items() if key != OTHER_WRITE_IN}
    contest: dict[str, Any] = {
        "@id": CONTEST,
        "@type": f"ElectionResults.{'BallotMeasure' if measure else 'Candidate'}Contest",
        "Name": order.title,
        "ElectionDistrictId": SCOPE,
        "VoteVariation": "n-of-m",
        "ContestSelection": [
            _selection(key, name, precincts, measure=measure) for key, name in names.items()
        ],
        "OtherCounts": [_other_counts(state) for state in precincts],
    }
    if not measure:
        contest["VotesAllowed"] = order.vote_for
    return {
        "@type": "ElectionResults.Election",
        "Name": _text(order.title),
        "Type": "primary" if order.office_class == "primary" else "general",
        "ElectionScopeId": SCOPE,
        "StartDate": election_date,
        "EndDate": election_date,
        "Candidate": [
            {"@id": f"candidate-{key}", "@type": "ElectionResults.Candidate", "BallotName": _text(name)}
            for key, name in candidates.items()
        ],
        "Contest": [contest],
    }


def _selection(key: str, name: str, precincts: Sequence[PrecinctState], *, measure: bool) -> dict[str, Any]:
    own: dict[str, Any] = {
        "@id": f"selection-{key}",
        "VoteCounts": [count for state in precincts for count in _counts(state, key)],
    }
    if measure:
        return {**own, "@type": "ElectionResults.BallotMeasureSelection", "Selection": _text(name)}
    if key == OTHER_WRITE_IN:
        return {**own, "@type": "ElectionResults.CandidateSelection", "IsWriteIn": True}
    return {**own, "@type": "ElectionResults.CandidateSelection", "CandidateIds": [f"candidate-{key}"]}


def _counts(state: PrecinctState, key: str) -> Iterator[dict[str, Any]]:
    result: Result = result_of(state)
    by_court = changes_by_court(state).get(key, 0)
    kind = {"Type": KINDS[state.precinct.kind]}
    by_hand = result.by_hand.get(key, 0) + result.paper.get(key, 0)
    stated = result.stated.get(key, 0)
    yield _count(state, result.accepted.get(key, 0), kind, "opscan-central")
    yield _count(state, by_hand, kind, "manual-count")
    if result.stated:
        yield _count(state, stated, {"Type": "other", "OtherType": "statement of results"}, "unknown")
    if by_court:
        yield _count(state, by_court, {"Type": "other", "OtherType": "ruling of the court"}, "")
    yield _count(state, result.votes(key) + by_court, {"Type": "total"}, "")


def _count(state: PrecinctState, votes: int, kind: Mapping[str, str], device: str) -> dict[str, Any]:
    count: dict[str, Any] = {
        "@type": "ElectionResults.VoteCounts",
        "GpUnitId": _id(state),
        "Count": votes,
        **kind,
    }
    if device:
        count["DeviceClass"] = {"@type": "ElectionResults.DeviceClass", "Type": device}
    return count


def _other_counts(state: PrecinctState) -> dict[str, Any]:
    lost = votes_lost(together(state.outcomes_by_pile or {}), state.order.vote_for)
    return {
        "@type": "ElectionResults.OtherCounts",
        "GpUnitId": _id(state),
        "Overvotes": lost.by_overvotes,
        "Undervotes": lost.by_undervotes,
        "WriteIns": result_of(state).votes(OTHER_WRITE_IN),
    }
