"""What follows when people's counts meet the scanners' figures (D 2 s. 3), with one re-verification.

The table of `next_step` is the whole rule. There is no override, no rounding and no running again to make it
fit.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum

from recount_host.law.identities import (
    Finding,
    i1_rerun_by_people,
    i2_scanner_total,
    i3_piles,
    i4_votes_per_ballot,
    rerun_by_people,
)
from recount_host.law.tally import Figures


class Step(Enum):
    """What is to be done after the identities were told, as the sentence for the people at the table."""

    SHOW_RECONCILED = (
        "all hold: show the figures (figures); then the set-aside and not-accepted ballots are hand counted"
    )
    """Nothing is open."""
    REVERIFY = (
        "count H, c, s and x once more, both persons, blind (count enter); both values are "
        "kept; then reconcile"
    )
    """The one re-verification of the numbers."""
    LOOK_FOR_SHEET = (
        "the scanners' total is right but a sheet lies in the wrong pile: the notices are open (notices); "
        "move it (move-sheet) and reconcile, or end the search (figures --search-ended)"
    )
    """I3 alone fails after the re-verification."""
    SHOW_HAND_COUNT = (
        "D 2: all ballots of this precinct cast on scanners are to be counted by hand; show "
        "the figures (figures)"
    )
    """The numbers do not add up and nothing is left to verify."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the host told once: names of identities, no figure."""

    attempt: int
    held: tuple[str, ...]
    failed: tuple[str, ...]
    disarmed: tuple[str, ...]
    """Devices whose counted sheets do not hold N votes each (I4)."""
    moves: int
    """How many sheets had been moved before."""
    act_n: int = 0
    """The act that told it; 0 while it is not told."""


def next_step(failed: Collection[str], attempt: int) -> Step:
    """Return what follows when these identities fail in this attempt."""
    if not failed:
        return Step.SHOW_RECONCILED
    # I4 compares the scanner with itself: counting paper again cannot mend it.
    if "I4" in failed:
        return Step.SHOW_HAND_COUNT
    if attempt == 1:
        return Step.REVERIFY
    return Step.LOOK_FOR_SHEET if set(failed) == {"I3"} else Step.SHOW_HAND_COUNT


def findings(
    stack: int, piles: Mapping[str, int], reported: Figures, vote_for: int, rerun_is: str = "H - x"
) -> tuple[Finding, ...]:
    """Return I1 to I4 for the stack H, the piles c, s, x by hand, and what the scanners report."""
    rerun = rerun_by_people(stack, piles["x"], rerun_is)
    return (
        i1_rerun_by_people(stack, piles["x"]),
        i2_scanner_total(reported.counted, reported.set_aside, rerun),
        i3_piles(piles, {"C": reported.counted, "S": reported.set_aside, "X": reported.not_accepted}),
        _i4(reported, vote_for),
    )


def wrong_devices(per_device: Mapping[str, Figures], vote_for: int) -> tuple[str, ...]:
    """Return the devices whose counted sheets fail I4 by themselves: they are disarmed."""
    return tuple(device for device, figures in sorted(per_device.items()) if not _i4(figures, vote_for).holds)


def _i4(reported: Figures, vote_for: int) -> Finding:
    full = reported.sheets_by_votes.get(vote_for, 0)
    return i4_votes_per_ballot(reported.votes_total, reported.counted, vote_for, full)
