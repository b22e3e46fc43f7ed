"""The piles that people hand count, each by itself (D 1, D 2 s. 2 and s. 3)."""

from collections.abc import Mapping

PAPER_PILE = "paper"

PILES: Mapping[str, str] = {
    "set_aside": "the ballots that the scanners set aside",
    "not_accepted": "the ballots that the scanners did not accept",
    "not_programmable": "the ballots for which no scanner could be programmed",
    "all_scanned": "all ballots of the precinct cast on scanners (D 2)",
    PAPER_PILE: "the paper ballots (D 1)",
}
"""By the word that commands and records use."""
