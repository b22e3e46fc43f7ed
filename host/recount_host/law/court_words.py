"""The words that the acts of the court and of printing use, each with what it means.

They stand by themselves, so that the table of acts needs nothing of what is folded from acts.
"""

from collections.abc import Mapping

ACCEPTED, OTHER_MATTER = "accepted", "other"
PARTS: Mapping[str, str] = {
    ACCEPTED: "the result of the ballots that scanners accepted, for sufficient cause (D 2)",
    OTHER_MATTER: "another matter of the recount that a party raised (F)",
}
"""What a ruling that is about no single ballot can change."""

INSPECTED = ("inspected", "waived")
"""What a party did when it was allowed to inspect a questioned ballot."""

PRECINCT_FORMS: Mapping[str, str] = {
    "custody": "custody slip: every container with its seal, as it came",
    "counts": "ballot-count slip: every number that two persons counted blind",
    "runs": "run report: what each device reported",
    "set-aside": "set-aside list: every sheet put aside, why, and where it lies",
    "mismatch": "notice that all ballots of the precinct are counted by hand (D 2)",
    "tally": "tally of the hand count, pile by pile and pass by pass",
    "challenges": "questioned ballots: tags, envelopes and the officials' statements",
    "labels": "labels for the envelopes of questioned ballots",
    "call": "call and conclusion: what every official answered, and who signed",
    "reseal": "re-seal slip: what was sealed again, by whom, for whom",
    "submission": "submission to the court: what is in question, with envelopes, seals and sources (E)",
}
"""The forms of a precinct beside its statement, by the word that commands and acts use."""

COURT_FORMS: Mapping[str, str] = {
    "transmittal": "locality transmittal: every precinct's statement with its record code, and the sums",
    "docket": "docket: every questioned ballot with its question and statements",
    "rulings": "rulings of the court, each with its effect on the votes",
    "certification": "draft of the certification, for the court to declare and sign (F)",
    "tie": "notice of a tie, with the branch that subsection H gives",
    "changes": "changes to the results as certified before, for publication (F)",
}
"""The forms of the whole locality."""
