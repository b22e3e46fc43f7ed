"""Cast vote records in the format of NIST SP 1500-103 (version 1.0.0): what scanners read of each ballot.

One record is one sheet that a scanner counted or set aside. Which positions are marked on a set-aside sheet
is for people to say (§ 24.2-644), so its record says why it was set aside and that it needs adjudication, and
names no selection. Sheets that were not accepted were not read: they have no record. Where all ballots of a
precinct were counted by hand (D 2 s. 3) what a scanner read counts for nothing, and there are none either.

No record tells which device read it, and the format's reporting device is this host for all of them: a device
that took a few sheets would make a small group, in which a ballot can be guessed.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from recount_host.law.contest import Contest
from recount_host.law.precinct import Facts, PrecinctState
from recount_host.law.result import option_names, scanners_count
from recount_host.law.tally import Sheet
from recount_host.order import Order
from recount_protocol.fates import COUNTED, SET_ASIDE

VERSION = "1.0.0"
HOST = "host"
ELECTION, CONTEST, SCOPE = "election", "contest", "locality"

STATUS: Mapping[str, str] = {"overvote": "overvoted", "undervote": "undervoted"}
"""The format's word for a reason of a set-aside sheet; for the others it has none."""


def cvr_report(
    facts: Facts,
    precincts: Sequence[PrecinctState],
    crops: Mapping[tuple[str, int], bytes],
    utc: str,
    order: Random,
) -> dict[str, Any]:
    """Return the report of all sheets of these precincts, shuffled by `order` and named at random by it."""
    told = [state for state in precincts if scanners_count(state)]
    records = [
        _record(state, sheet, crops.get((batch.device, sheet.judged_n), b""))
        for state in told
        for batch in state.standing_batches
        for sheet in batch.sheets
        if sheet.fate in (COUNTED, SET_ASIDE)
    ]
    order.shuffle(records)
    named = [_named(record, f"{order.getrandbits(128):032x}") for record in records]
    return {
        "@type": "CVR.CastVoteRecordReport",
        "Version": VERSION,
        "GeneratedDate": utc,
        "ReportGeneratingDeviceIds": [HOST],
        "ReportType": ["aggregated"],
        "ReportingDevice": [
            {"@id": HOST, "@type": "CVR.ReportingDevice", "Application": "recount-host"},
        ],
        "GpUnit": [_locality(facts.order), *(_unit(state) for state in precincts)],
        "Election": [_election(facts.order, precincts)],
        "CVR": named,
        "Notes": _notes(facts.order, precincts),
    }


def _named(record: dict[str, Any], name: str) -> dict[str, Any]:
    (snapshot,) = record["CVRSnapshot"]
    ids = {"UniqueId": name, "CurrentSnapshotId": f"read-{name}"}
    return {**record, **ids, "CVRSnapshot": [{**snapshot, "@id": f"read-{name}"}]}


def _notes(order: Order, precincts: Sequence[PrecinctState]) -> str:
    by_hand = [state.precinct.id for state in precincts if not scanners_count(state)]
    said = (
        f"Recount under {order.citation} of the Code of Virginia. Records are in random order. A set-aside "
        "sheet was decided by people, pile by pile: its record names no selection."
    )
    if by_hand:
        said += f" Counted by hand as a whole, so without records: precinct {', '.join(by_hand)}."
    return said


def _locality(order: Order) -> dict[str, Any]:
    return {
        "@id": SCOPE, "@type": "CVR.GpUnit", "Type": "other", "OtherType": "locality", "Name": order.locality,
    }  # fmt: skip


def _unit(state: PrecinctState) -> dict[str, Any]:
    return {
        "@id": f"precinct-{state.precinct.id}",
        "@type": "CVR.GpUnit",
        "Type": "precinct",
        "Name": state.precinct.name,
    }


def _election(order: Order, precincts: Sequence[PrecinctState]) -> dict[str, Any]:
    names: dict[str, str] = {}
    for state in precincts:
        names |= option_names(state)
    measure = order.office_class == "question"
    contest: dict[str, Any] = {
        "@id": CONTEST,
        "@type": "CVR.BallotMeasureContest" if measure else "CVR.CandidateContest",
        "Name": order.title,
        "VoteVariation": "n-of-m",
        "ContestSelection": [_selection(key, name, measure=measure) for key, name in names.items()],
    }
    if not measure:
        contest["VotesAllowed"] = order.vote_for
    return {
        "@id": ELECTION,
        "@type": "CVR.Election",
        "Name": order.title,
        "ElectionScopeId": SCOPE,
        "Candidate": []
        if measure
        else [
            {"@id": f"candidate-{key}", "@type": "CVR.Candidate", "Name": name}
            for key, name in names.items()
            if key in _printed(precincts, order)
        ],
        "Contest": [contest],
    }


def _printed(precincts: Sequence[PrecinctState], order: Order) -> frozenset[str]:
    contests: list[Contest] = [state.contest for state in precincts if state.contest is not None]
    return frozenset({*order.side_keys, *(option.key for known in contests for option in known.printed)})


def _selection(key: str, name: str, *, measure: bool) -> dict[str, Any]:
    own: dict[str, Any] = {"@id": f"selection-{key}"}
    if measure:
        return {**own, "@type": "CVR.BallotMeasureSelection", "Selection": name}
    if key == "other_write_in":
        return {**own, "@type": "CVR.CandidateSelection", "IsWriteIn": True}
    return {**own, "@type": "CVR.CandidateSelection", "CandidateIds": [f"candidate-{key}"]}


def _record(state: PrecinctState, sheet: Sheet, crop_sha256: bytes) -> dict[str, Any]:
    record: dict[str, Any] = {
        "@type": "CVR.CVR",
        "ElectionId": ELECTION,
        "BallotStyleUnitId": f"precinct-{state.precinct.id}",
        "CVRSnapshot": [_snapshot(sheet)],
    }
    if crop_sha256:
        sha256 = {"@type": "CVR.Hash", "Type": "sha-256", "Value": crop_sha256.hex()}
        record["BallotImage"] = [{"@type": "CVR.ImageData", "Hash": sha256}]
    return record


def _snapshot(sheet: Sheet) -> dict[str, Any]:
    snapshot: dict[str, Any] = {"@type": "CVR.CVRSnapshot", "Type": "original"}
    contest: dict[str, Any] = {"@type": "CVR.CVRContest", "ContestId": CONTEST}
    if sheet.fate == SET_ASIDE:
        contest["Status"] = [STATUS[reason] for reason in sheet.reasons if reason in STATUS]
        return {**snapshot, "Status": ["needs-adjudication"], "CVRContest": [contest]}
    contest |= {
        # A counted sheet has neither: that is what counted means (D 2 s. 1).
        "Overvotes": 0,
        "Undervotes": 0,
        "WriteIns": 0,
        "Selections": len(sheet.choices),
        "CVRContestSelection": [_marked(key) for key in sheet.choices],
    }
    return {**snapshot, "CVRContest": [contest]}


def _marked(key: str) -> dict[str, Any]:
    position = {
        "@type": "CVR.SelectionPosition",
        "HasIndication": "yes",
        "IsAllocable": "yes",
        "NumberVotes": 1,
    }
    return {
        "@type": "CVR.CVRContestSelection",
        "ContestSelectionId": f"selection-{key}",
        "TotalNumberVotes": 1,
        "SelectionPosition": [position],
    }
