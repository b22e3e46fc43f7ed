"""Dirt on the camera's glass, found by comparing sheets: a line that stays in the picture while paper moves.

A line on paper (a rule, a fold, a voter's stroke, print showing through) lies at the same place of the sheet
and moves with each sheet by some pixels; dirt stays at its column, wherever the sheet lies. Both are asked
for: five sheets in a row with a line at one column, and sheets that lay differently under it. Found this
early, it is so pale that no verdict depends on it.
"""

from dataclasses import dataclass
from typing import Final

from recount_classifier.evidence import Evidence
from recount_classifier.program import Program
from recount_classifier.streaks import PaleLine, pale_lines

SHEETS: Final = 5
"""Sheets in a row that show a line before anything is said."""
_SAME_COLUMN_PX = 1.5
_MOVED_PX = 2.0
"""How far (pixels of the blank) the sheets must have lain apart for their own lines to be ruled out."""
_CLEANED_SHEETS = 3
"""Sheets in a row without a line after which it is forgotten: somebody cleaned the glass."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The pale lines in one picture of the contest, and where they were looked for."""

    side: int
    left: float
    """The first column of the page's picture that the crop shows."""
    right: float
    found: tuple[PaleLine, ...]


def lines_in(evidence: Evidence, program: Program) -> Lines:
    """Return what a sheet's picture tells of the glass."""
    left = evidence.gates.get("crop_left", 0.0)
    return Lines(evidence.side_index, left, left + evidence.crop.shape[1], pale_lines(evidence, program))


@dataclass
class _Track:
    """One line as it was seen on the sheets so far."""

    side: int
    column: float
    least_place: float
    most_place: float
    seen: int = 1
    missed: int = 0
    warned: bool = False

    def take(self, line: PaleLine) -> None:
        self.column += (line.column - self.column) / min(self.seen + 1, SHEETS)
        self.least_place = min(self.least_place, line.place)
        self.most_place = max(self.most_place, line.place)
        self.seen += 1
        self.missed = 0

    @property
    def is_dirt(self) -> bool:
        """Whether it stayed while the sheets moved."""
        return self.seen >= SHEETS and self.most_place - self.least_place >= _MOVED_PX


class Glass:
    """What the sheets read so far tell of the camera's glass. A dozen numbers for each line under watch."""

    def __init__(self) -> None:
        self._tracks: list[_Track] = []

    @property
    def is_dirty(self) -> bool:
        """Whether the operator is to clean it; until sheets without the line were read."""
        return any(track.warned for track in self._tracks)

    def look(self, seen: Lines) -> str | None:
        """Take in the next sheet; return what the device's record says when dirt is found, once for each."""
        lines = list(seen.found)
        found: list[str] = []
        for track in self._tracks:
            if track.side != seen.side or not seen.left + 2 < track.column < seen.right - 2:
                continue  # its column was not looked at
            near = [line for line in lines if abs(line.column - track.column) <= _SAME_COLUMN_PX]
            if not near:
                track.missed += 1
                continue
            track.take(near[0])
            lines.remove(near[0])
            if track.is_dirt and not track.warned:
                track.warned = True
                found.append(
                    f"a line at column {track.column:.0f} of picture {track.side + 1} "
                    f"on {track.seen} sheets, {near[0].depth:.0%} of the print's darkness"
                )
        self._tracks = [track for track in self._tracks if track.missed < _allowed_misses(track)]
        self._tracks += [_Track(seen.side, ln.column, ln.place, ln.place) for ln in lines]
        return "; ".join(found) or None


def _allowed_misses(track: _Track) -> int:
    return _CLEANED_SHEETS if track.warned else 1
