"""The TEST mark: a place, empty on the blank, where every sheet of a logic-and-accuracy deck bears print.

A ballot of the recount has no ink there and a test ballot has; a sheet that is the other of the two than the
run is for is not accepted. What was seen lies in the evidence's gates, so the verdict can be made again.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recount_classifier.program import WORKING_DPI, Style
from recount_classifier.pyramid import Matrix
from recount_classifier.raster import Grey, warped
from recount_classifier.thresholds import Thresholds

INK_GATE = "test_mark_mm2"
"""The gate that holds the ink in the place, in square millimetres."""
EXPECTED_GATE = "test_expected"
"""The gate that is 1 where the run is a test; absent or 0 elsewhere."""

_MM2 = (25.4 / WORKING_DPI) ** 2
_INSET_PX = 4
"""The page's place is known to a few pixels so far from the contest: the place's rim is not looked at."""
_DARKER = 0.70
"""Pixels below this share of the paper are ink: coffee and folds leave 0.75 and more, toner 0.3."""
_PAPER_PERCENTILE = 80


def deck_mark_ink_mm2(page: Grey, matrix: Matrix, style: Style, limits: Thresholds) -> float | None:
    """Return the ink in the style's place for the TEST mark; None where the style has no such place.

    `matrix` leads from the blank to the page. Where the paper is missing, the dark bed is ink.
    """
    if style.test_mark is None:
        return None
    left, top, right, bottom = style.test_mark
    left, top, right, bottom = left + _INSET_PX, top + _INSET_PX, right - _INSET_PX, bottom - _INSET_PX
    from_place = matrix @ np.array([[1.0, 0, left], [0, 1.0, top], [0, 0, 1.0]])
    place = warped(page, from_place[:2], right - left, bottom - top, None)
    paper = max(float(np.percentile(place, _PAPER_PERCENTILE)), limits.paper_low_grey)
    return float(np.count_nonzero(place < paper * _DARKER)) * _MM2


def deck_mark_reasons(gates: Mapping[str, float], limits: Thresholds) -> tuple[str, ...]:
    """Return why a sheet does not belong into its run, by its TEST mark; empty when it does.

    In a test, a style without a place for the mark can prove nothing: all its sheets are refused.
    """
    ink_mm2, guard = gates.get(INK_GATE, 0.0), limits.guard_mm2
    if gates.get(EXPECTED_GATE, 0.0):
        return () if ink_mm2 >= limits.test_mark_mm2 + guard else ("live_ballot",)
    return ("test_ballot",) if ink_mm2 >= limits.test_clear_mm2 - guard else ()
