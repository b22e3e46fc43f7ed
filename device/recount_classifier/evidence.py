"""What `locate` hands to `judge`: the contest's untouched pixels, two registrations and the gates' values.

It is all that a verdict needs, so that any laptop can judge a stored sheet again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from recount_classifier.errors import ClassifierError
from recount_classifier.program import Style
from recount_classifier.pyramid import Grey
from recount_classifier.sheet_map import BENT_TERMS, TERMS, Registration, SheetMap

SMALLEST_CROP_PX = 16
"""Sides that the picture of a contest has at least."""
JUDGED_GATES = ("residual_px", "print_missing", "labels_covered")
"""Gates that a verdict depends on: evidence without them is judged by no one."""


class EvidenceError(ClassifierError):
    """Stored fields that are no evidence."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A located contest. Registrations lead from the blank to pixels of `crop`."""

    style_id: str
    side_index: int
    """Which of the given pages bears the contest: 0 or 1."""
    crop: Grey
    """The sheet's own pixels under the contest's box and its margin, in the sheet's own orientation."""
    registrations: tuple[Registration, Registration]
    gates: dict[str, float]

    def to_fields(self) -> dict[str, Any]:
        """Return all but the crop as plain numbers, strings and lists."""
        return {
            "style": self.style_id,
            "side": self.side_index,
            "registrations": [list(registration) for registration in self.registrations],
            "gates": dict(self.gates),
        }

    @staticmethod
    def from_fields(fields: Mapping[str, Any], crop: Grey) -> Evidence:
        """Return the evidence whose fields these are. Raises EvidenceError for fields that are none."""
        try:
            first, second = fields["registrations"]
            gates = {str(name): float(value) for name, value in fields["gates"].items()}
            both = (tuple(float(n) for n in first), tuple(float(n) for n in second))
            evidence = Evidence(str(fields["style"]), int(fields["side"]), crop, both, gates)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EvidenceError(f"these fields are no evidence of a sheet ({error})") from error
        numbers = (*both[0], *both[1], *gates.values())
        if not all(math.isfinite(number) for number in numbers):
            raise EvidenceError("a registration or a gate of this evidence is no finite number")
        if len(both[0]) != len(both[1]) or len(both[0]) not in (2 * TERMS, 2 * BENT_TERMS):
            raise EvidenceError(f"a registration has {2 * TERMS} numbers, or {2 * BENT_TERMS} with a lens")
        missing = [gate for gate in JUDGED_GATES if gate not in gates]
        if missing:
            raise EvidenceError(f"this evidence has no gate {missing[0]}, which the verdict depends on")
        if crop.ndim != 2 or crop.dtype != np.uint8 or min(crop.shape) < SMALLEST_CROP_PX:
            raise EvidenceError(
                f"the crop of this evidence is no grey picture of {SMALLEST_CROP_PX} x {SMALLEST_CROP_PX} "
                f"pixels or more ({crop.shape} of {crop.dtype})"
            )
        return evidence


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a sheet cannot be read."""

    fate: str
    reasons: tuple[str, ...]
    gates: Mapping[str, float]
    """What was measured before it was refused, for figures and diagnosis."""


def crop_bounds(
    style: Style, maps: tuple[SheetMap, SheetMap], width: int, height: int
) -> tuple[int, int, int, int]:
    """Return the sheet's rectangle (left, top, right, bottom) under the style's reference box."""
    left, top, right, bottom = style.reference_box
    corners = np.array(
        [[left, top], [right, top], [left, bottom], [right, bottom], [(left + right) / 2, top],
         [(left + right) / 2, bottom], [left, (top + bottom) / 2], [right, (top + bottom) / 2]],
        np.float64,
    )  # fmt: skip
    points = np.concatenate([sheet_map.points(corners) for sheet_map in maps])
    low, high = np.floor(points.min(axis=0)) - 4, np.ceil(points.max(axis=0)) + 5
    return max(0, int(low[0])), max(0, int(low[1])), min(width, int(high[0])), min(height, int(high[1]))
