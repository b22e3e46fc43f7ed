"""The strokes found in a contest's box, each with its kind and the lines round it, for drawing."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from recount_classifier.judge import MM2
from recount_classifier.places import places_of
from recount_classifier.program import Style
from recount_classifier.strokes import Strokes
from recount_classifier.thresholds import Thresholds
from recount_classifier.upright import Points

IN_TARGET, WRITTEN, OVER_NAME, BESIDE, LOOSE = "in_target", "written", "over_name", "beside", "loose"


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """One stroke: its kind, its ink, and the closed lines round it on the blank's ground."""

    kind: str
    ink_mm2: float
    """Its ink in the contest's box, in square millimetres."""
    rings: tuple[Points, ...]


def strokes_found(strokes: Strokes, style: Style, limits: Thresholds) -> tuple[Found, ...]:
    """Return the strokes in the contest's box that are no dust, the largest first, each with its kind."""
    places = places_of(style)
    in_box = strokes.inside(places.box) * MM2
    in_targets = strokes.by_zone(places.targets, len(style.targets))
    beside = strokes.by_zone(places.halos, len(style.targets)).max(axis=1) * MM2
    written = strokes.inside(places.writing) * MM2
    over_words = strokes.touching(places.words)
    shape = places.box.shape
    found: list[Found] = []
    for index in range(1, strokes.count):
        marks = in_targets[index].max() > 0
        if in_box[index] < limits.speck_mm2 and not (marks and in_box[index] > 0):
            continue
        if marks:
            kind = IN_TARGET
        elif written[index] >= limits.speck_mm2:
            kind = WRITTEN
        elif over_words[index] > 0:
            kind = OVER_NAME
        else:
            kind = BESIDE if beside[index] >= limits.speck_mm2 else LOOSE
        found.append(Found(kind, float(in_box[index]), _rings(strokes, index, shape, style)))
    return tuple(sorted(found, key=lambda stroke: -stroke.ink_mm2))


def _rings(strokes: Strokes, index: int, shape: tuple[int, ...], style: Style) -> tuple[Points, ...]:
    """Return the closed lines round a stroke, in pixels of the blank; the longest first."""
    mask = np.zeros(shape, np.uint8)
    mask.ravel()[strokes.pixels[strokes.labels == index]] = 1
    rings, _ = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    left, top = style.reference_box[:2]
    points = [np.add(ring.reshape(-1, 2) * 2.0, (left, top), dtype=np.float64) for ring in rings]
    return tuple(sorted(points, key=len, reverse=True))
