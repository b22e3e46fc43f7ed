"""What stands on a ballot: contests, candidates and how their targets look. No coordinates."""

from dataclasses import dataclass
from typing import Literal

TargetShape = Literal["oval", "box"]

POINTS_PER_INCH = 72.0
HEIGHTS_IN = {"letter": 11.0, "legal": 14.0, "17in": 17.0, "19in": 19.0, "22in": 22.0}
"""Lengths of ballots in use, all 8.5 inches wide."""


@dataclass(frozen=True)
class Candidate:
    """One line of a contest; a write-in line has a name of its own only in the program ("Write-in")."""

    key: str
    name: str
    party: str = ""
    write_in: bool = False


@dataclass(frozen=True)
class Contest:
    """One office or question, with its candidates in the order of the ballot."""

    key: str
    title: str
    vote_for: int
    candidates: tuple[Candidate, ...]

    @property
    def instruction(self) -> str:
        """Return the words that Va. Code § 24.2-613 prescribes."""
        return "Vote for only one" if self.vote_for == 1 else f"Vote for not more than {self.vote_for}"


@dataclass(frozen=True)
class Design:
    """A ballot style: both sides of one sheet.

    `target` is "oval" (8.75 x 6 pt ellipses in a grid of timing marks) or "box" (25 x 13.5 pt rectangles, no
    timing marks, a bar code in the corner), the two geometries of the NIST ballot definition examples.
    `code` is printed in the header and in the timing marks or the bar code.
    """

    name: str
    code: int
    locality: str
    precinct: str
    election: str
    date: str
    front: tuple[Contest, ...]
    back: tuple[Contest, ...] = ()
    target: TargetShape = "oval"
    height_in: float = 11.0
    columns: int = 3
    test_mark: bool = True

    @property
    def width_pt(self) -> float:
        """Return the width of the sheet in points."""
        return 8.5 * POINTS_PER_INCH

    @property
    def height_pt(self) -> float:
        """Return the length of the sheet in points."""
        return self.height_in * POINTS_PER_INCH
