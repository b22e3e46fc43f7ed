"""Why print is not proved to be this contest's: a bad picture of it, other print, or none at all.

Whether a sheet is refused is decided before (`proof.py`); here only the word is chosen that tells people what
they hold. Light, contrast and sharpness are questions to print that is known: where something else stands,
figures that are measured at the labels' places say nothing about the picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recount_classifier.matching import Stack, Values
from recount_classifier.points import median
from recount_classifier.raster import blurred, eroded, ones
from recount_classifier.thresholds import Thresholds

Mask = NDArray[np.bool_]

_HAZE_PX = 3.0
"""Blur in which print has no strokes any more, only words and lines: a blurred picture shows as much."""
_HAZY_MATCH = 0.8
"""Correlation in such a haze from which a label may be the blank's. The blank's own in drawn pictures with a
blur of up to 6 px: 0.85 and more. Of drawn ballots of other styles the worst label had 0.74 at most."""
_NO_PAPER_GREY = 0.4
"""Of the paper's grey: what is darker is no print that a blur has smeared, but print itself or the bed."""
_NO_PAPER_SHARE = 0.3
"""Share of a label's place that is so dark beyond its own print, from which the paper is gone or covered."""
_OTHER_INK_SHARE = 0.2
"""Ink where the blank has none, as a share of the label's own ink, from which other print stands there."""
_SLACK = ones(3, 3)


@dataclass(frozen=True, slots=True, eq=False)
class Misfit:
    """What stands in the labels' places of a sheet that is refused. Arrays have one value for each label."""

    labels: Stack
    """The blank's."""
    found: Stack
    sharpness: Values
    names: Mask
    """Which labels are printed options', not write-in lines'."""
    absent: Mask
    exchanged: bool
    """Whether another option's label stands in a label's place."""
    picture: str | None
    """What is wrong with the picture, if all of this is the contest's print."""

    def reason(self, limits: Thresholds) -> str:
        """Return the reason that fits best."""
        fault = self._picture_fault(limits)
        if fault is None and self.exchanged:
            return "names_exchanged"
        return fault or self._print_fault(limits)

    def _picture_fault(self, limits: Thresholds) -> str | None:
        """Return what is wrong with the picture; at least half of the labels must be the blank's for that."""
        own = self._own_in_haze()
        if 2 * own.sum() < len(own):
            return None
        if self.picture == "blurred":
            return "blurred" if median(self.sharpness[own]) < limits.sharpness else None
        # Hairlines go first: a picture may be sharp enough for the names and not for a write-in line.
        gone = self.sharpness[self.absent]
        hazy = not self.exchanged and bool(own[self.absent].all() and (gone < limits.sharpness).all())
        return self.picture or ("blurred" if hazy else None)

    def _print_fault(self, limits: Thresholds) -> str:
        dark, other = self._ink()
        no_paper = dark > _NO_PAPER_SHARE
        others = self.absent & ~no_paper & (other > _OTHER_INK_SHARE)
        if not (others & (self.sharpness >= limits.sharpness)).any():
            if no_paper.any():
                return "not_on_paper"
            if self.picture is not None and not self.absent.any():
                # Too pale to be measured, and no words even in a haze: nothing is printed there.
                return "not_on_paper" if self.picture == "contrast" else self.picture
            if not others.any():
                return "not_on_paper"
        is_other_contest = self.names.sum() > 1 and bool(self.absent[self.names].all())
        return "other_contest" if is_other_contest else "name_changed"

    def _own_in_haze(self) -> Mask:
        """Return which labels may be the blank's, seen as through a fog."""
        return np.array(
            [
                _likeness(blurred(found, _HAZE_PX), blurred(label, _HAZE_PX)) >= _HAZY_MATCH
                for found, label in zip(self.found, self.labels, strict=True)
            ]
        )

    def _ink(self) -> tuple[Values, Values]:
        """Return the share of each label's place that is dark beyond its print, and its other ink.

        The second is a share of the label's own ink.
        """
        bright, inked = np.percentile(self.found, (85, 4), axis=(1, 2))
        paper = bright.max()
        ink, black = self.found < (paper + inked.min()) / 2, self.found < _NO_PAPER_GREY * paper
        own_white, own_black = np.percentile(self.labels, (85, 4), axis=(1, 2))
        level = ((own_white + own_black) / 2)[:, None, None]
        own = self.labels < level
        near = np.stack([eroded(label, _SLACK) for label in self.labels]) < level
        dark = black.mean(axis=(1, 2)) - own.mean(axis=(1, 2))
        return dark, (ink & ~near).sum(axis=(1, 2)) / np.maximum(own.sum(axis=(1, 2)), 1)


def _likeness(one: Stack, other: Stack) -> float:
    """Return the correlation of two pieces of print of one size."""
    first, second = (piece.astype(np.float64) - piece.mean() for piece in (one, other))
    scale = float((first * first).sum() * (second * second).sum())
    return float((first * second).sum()) / max(1e-6, scale**0.5)
