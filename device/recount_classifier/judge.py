"""From evidence to a verdict: the contest is measured through both registrations, and both must agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recount_classifier.decide import BoxMeasure, Decision, TargetMeasure, decide
from recount_classifier.deck_mark import deck_mark_reasons
from recount_classifier.evidence import Evidence
from recount_classifier.ground import (
    GRAIN_PX,
    black_of,
    excess_of,
    flatten,
    ink_of,
    paper_envelope,
    reference_of,
    usual_paper,
)
from recount_classifier.lines import Lines, erase, find_lines, meeting
from recount_classifier.marks import Levels, Marks, measure
from recount_classifier.outlines import against_usual, measure_outlines
from recount_classifier.places import (
    BESIDE_PRINT,
    IN_BOX,
    IN_WORDS,
    IN_WRITING,
    KINDS,
    PRINT_SLACK,
    Places,
    paper_shares,
    places_of,
    stacked,
)
from recount_classifier.program import WORKING_DPI, Program, Style
from recount_classifier.raster import (
    Grey,
    above,
    averaged,
    both,
    components,
    dilated,
    not_above,
)
from recount_classifier.reasons import fate_of, reasons_of
from recount_classifier.sheet_map import Registration, SheetMap
from recount_classifier.strokes import Spread, Strokes, find_strokes, spread
from recount_classifier.thresholds import Thresholds
from recount_protocol.fates import COUNTED

MM2 = (25.4 / WORKING_DPI) ** 2
"""Square millimetres of one working pixel."""
_TOUCH_PX = 6.0
"""Ink of a stroke inside a target from which it is one of the target's strokes."""
_WORD_TOUCH = 6
"""Half-size pixels of printed words that a stroke meets before it crosses them."""
_ABSENT_LEVEL = 90
"""Ink (of 255) below which the blank's strong print is absent."""
_PALE_LINE = 128
"""Lines across that are darker than this (excess ink of 255) may be a pen's."""
_FAR = (3.0, 4.0)
"""A mark's stroke reaching further than this from its target, in widths and heights, is followed."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one registration showed."""

    targets: tuple[TargetMeasure, ...]
    box: BoxMeasure
    decision: Decision


@dataclass(frozen=True, slots=True)
class Verdict:
    """A sheet's fate with every reason and measurement. `choices` is empty unless the fate is counted."""

    fate: str
    choices: tuple[str, ...]
    reasons: tuple[str, ...]
    measurements: tuple[Measured, ...]
    disagreement_px: float


def judge(evidence: Evidence, program: Program) -> Verdict:
    """Return the verdict on a located contest. Pure: equal evidence gives equal verdicts.

    The fate may be any of the four: a streak over a target or missing paper shows only here. Raises KeyError
    for evidence of a style that is not in the program.
    """
    style = program.styles_by_id[evidence.style_id]
    limits = program.thresholds
    seen = [see(evidence, registration, style, limits) for registration in evidence.registrations]
    measured = tuple(
        Measured(targets, box, decide(targets, box, style, program))
        for targets, box in zip(*_measure(seen, evidence, style, limits), strict=True)
    )
    apart = disagreement(evidence.registrations, style)
    first, second = (m.decision for m in measured)
    reasons = [*first.reasons, *second.reasons]
    differ = first.states != second.states or first.choices != second.choices
    crooked = evidence.gates["residual_px"] >= limits.residual_px - limits.guard_px
    if differ or crooked or apart >= limits.disagreement_px - limits.guard_px:
        reasons.append("registration_disagrees")
    reasons += deck_mark_reasons(evidence.gates, limits)
    fate = fate_of(reasons)
    choices = first.choices if fate == COUNTED else ()
    return Verdict(fate, choices, reasons_of(fate, reasons), measured, apart)


def disagreement(registrations: tuple[Registration, Registration], style: Style) -> float:
    """Return how far apart (blank pixels) the two registrations put the target they agree on least."""
    points = np.array([target.centre for target in style.targets])
    first, second = (SheetMap(registration, style.frame) for registration in registrations)
    distance = np.hypot(*(first.points(points) - second.points(points)).T)
    return float(distance.max()) / max(1e-6, first.scale)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The contest's ground through one registration, as the blank lies, and the ink found on it."""

    envelope: Grey
    usual: NDArray[np.float32]
    black: float
    ink: Grey
    present: Grey
    """The darkest ink within two pixels of each spot: print that is absent here is absent from the sheet."""
    excess: Grey
    """The ink that print does not explain, without the lines."""
    lines: Lines
    strokes: Strokes


def see(evidence: Evidence, registration: Registration, style: Style, limits: Thresholds) -> Seen:
    """Return what one registration shows; what is measured and what is drawn for people comes from here."""
    return see_ground(flatten(evidence.crop, registration, style), _lean(registration, style), style, limits)


def see_ground(flat: Grey, lean: float, style: Style, limits: Thresholds) -> Seen:
    """Return what a flat ground shows; `lean` is how far the sheet's columns lean on it (`find_lines`)."""
    envelope = paper_envelope(flat)
    black = black_of(flat)
    usual = usual_paper(envelope, black)
    ink = averaged(ink_of(flat, envelope, usual, black), GRAIN_PX)
    reference = reference_of(style)
    excess = excess_of(ink, reference)
    lines = find_lines(excess, places_of(style).room, lean, limits.streak_cover, _PALE_LINE)
    if lines:
        erase(excess, lines)
    strokes = find_strokes(excess, _ink_level(limits), reference.outlines)
    return Seen(envelope, usual, black, ink, dilated(ink, PRINT_SLACK), excess, lines, strokes)


def _ink_level(limits: Thresholds) -> int:
    return round(limits.ink * 255)


def _levels(limits: Thresholds) -> Levels:
    return Levels(_ink_level(limits), round(limits.shade * 255), round(limits.pale_ink * 255))


def _measure(
    seen: Sequence[Seen], evidence: Evidence, style: Style, limits: Thresholds
) -> tuple[list[tuple[TargetMeasure, ...]], list[BoxMeasure]]:
    """Return what each registration's targets and box bear.

    The registrations are measured in one go, which costs little more than one of them; nothing of one is used
    for another.
    """
    strokes = _spread(seen, style)
    return _targets(seen, strokes, style, limits), _boxes(seen, strokes, evidence, style, limits)


def _lean(registration: Registration, style: Style) -> float:
    """Return how far the sheet's columns (or rows, for a quarter turn) lean on the blank's ground."""
    _, _, a, b, c, d = SheetMap(registration, style.frame).local_affine(style.frame[0], style.frame[1])
    return -b / a if abs(a) >= abs(b) else -d / c


def measure_targets(
    seen: Sequence[Seen], style: Style, limits: Thresholds
) -> list[tuple[TargetMeasure, ...]]:
    """Return what each of the style's targets bears, as each registration showed it."""
    return _targets(seen, _spread(seen, style), style, limits)


def _spread(seen: Sequence[Seen], style: Style) -> Spread:
    places, zones = places_of(style), 2 * len(style.targets)
    return spread([one.strokes for one in seen], places.zones, zones, places.kinds, len(KINDS))


def _targets(
    seen: Sequence[Seen], strokes: Spread, style: Style, limits: Thresholds
) -> list[tuple[TargetMeasure, ...]]:
    """Return what each of the style's targets bears, as each registration showed it."""
    places, count = places_of(style), len(style.targets)
    x0, y0, right, bottom = style.reference_box
    corners = _corners(style)
    left, top, width, height = corners.T
    x, y = left + (width - 1) / 2, top + (height - 1) / 2
    marks = _marks([one.excess for one in seen], places, _levels(limits))
    in_targets = strokes.in_zones[:, :, :count]
    mine = in_targets >= _TOUCH_PX
    sheet, stroke, target = mine.nonzero()
    owners = np.count_nonzero(mine, axis=2)
    ink, in_target, is_shared = (
        np.bincount(sheet * count + target, weights, len(seen) * count).reshape(-1, count)
        for weights in (strokes.ink[sheet, stroke], in_targets[mine], owners[sheet, stroke] > 1)
    )
    inside = np.where(ink > 0, in_target / np.maximum(ink, 1), 1.0)
    shared = is_shared > 0
    loose = (owners == 0).astype(np.float64)
    crowded_mm2 = (loose[:, None] @ strokes.in_zones[:, :, count:])[:, 0] * MM2
    encircled = _encircled(corners, strokes, mine)
    spots = marks.spot_px / (width * height)
    outlines = _outlines([one.present for one in seen], places)
    # In the order of TargetMeasure's fields.
    columns = (
        marks.core, marks.ring, marks.halo, marks.cover, marks.ground, marks.relief, marks.tone, spots,
        marks.span, marks.body, marks.body + marks.tone, inside, shared, crowded_mm2, encircled, outlines,
    )  # fmt: skip
    by_sheet = zip(*(column.tolist() for column in columns), strict=True)
    measured: list[tuple[TargetMeasure, ...]] = []
    for one, values in zip(seen, by_sheet, strict=True):
        steps = _paper_steps(one.envelope, one.usual, one.black, places)
        streaks = meeting(one.lines.down, x, width / 2, y, bottom - y0).tolist()
        folds = meeting(one.lines.across, y, height / 2, x, right - x0).tolist()
        by_target = zip(*values, steps, streaks, folds, strict=True)
        measured.append(tuple(map(TargetMeasure._make, by_target)))
    return measured


@lru_cache(maxsize=64)
def _corners(style: Style) -> NDArray[np.float64]:
    """Return left, top, width and height of each target on the style's ground. Kept for each style in use."""
    x0, y0, _, _ = style.reference_box
    return np.array([(t.left - x0, t.top - y0, t.width, t.height) for t in style.targets])


def _marks(excesses: Sequence[Grey], places: Places, levels: Levels) -> Marks:
    """Return the marks of the targets (sheets x targets); those of one size are measured as one stack."""
    sheets, count = len(excesses), len(places.windows)
    names = [field.name for field in fields(Marks)]
    table = np.zeros((len(names), sheets, count), np.float32)
    for size in places.sizes:
        members = list(size.members)
        stack = stacked(excesses, size.windows)
        together = measure(stack, np.concatenate([size.room] * sheets), size.width, size.height, levels)
        measured = np.stack([getattr(together, name) for name in names])
        table[:, :, members] = measured.reshape(len(names), sheets, -1)
    return Marks(*table)


def _paper_steps(envelope: Grey, usual: NDArray[np.float32], black: float, places: Places) -> list[float]:
    """Return how far the ground under each target is from what the blank has there, against its paper."""
    steps = np.zeros(len(places.windows))
    for size in places.sizes:
        off = paper_shares(envelope, usual, black, size.paper) - size.blank_shares
        low, high = off.min(axis=1), off.max(axis=1)
        steps[list(size.members)] = np.where(-low > high, low, high)
    return steps.tolist()


def _encircled(corners: NDArray[np.float64], strokes: Spread, mine: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each target whether ink that does not touch it goes round it.

    That is a stroke that reaches past it on all four sides; or two that embrace it from opposite sides, each
    past it on three: where a circle crosses words on either side, print hides its ink, and parts it.
    """
    x, y, wide, high = corners.T
    width, height = strokes.boxes[:, :, 2], strokes.boxes[:, :, 3]
    reaching = np.flatnonzero(((width > wide.min()) | (height > high.min())).any(axis=0))
    mine = mine[:, reaching]
    left, top, width, height = (strokes.boxes[:, reaching, n, None] for n in range(4))
    right, bottom = left + width, top + height
    leftward, rightward = (left < x) & ~mine, (right > x + wide) & ~mine
    upward, downward = top < y, bottom > y + high
    across, down = leftward & rightward, upward & downward
    above, below = across & upward & (bottom > y), across & downward & (top < y + high)
    before, after = down & leftward & (right > x), down & rightward & (left < x + wide)
    whole = (across & down).any(axis=1)
    return np.asarray(
        whole | (above.any(axis=1) & below.any(axis=1)) | (before.any(axis=1) & after.any(axis=1))
    )


def _boxes(
    seen: Sequence[Seen], strokes: Spread, evidence: Evidence, style: Style, limits: Thresholds
) -> list[BoxMeasure]:
    """Measure what lies in the contest's box outside the targets, as each registration showed it."""
    in_targets = strokes.in_zones[:, :, : len(style.targets)]
    in_kinds = strokes.in_kinds * MM2
    in_box = in_kinds[:, :, IN_BOX]
    marking = in_targets.max(axis=2) >= _TOUCH_PX
    loose = ~marking & (in_box >= limits.speck_mm2)
    crossing = strokes.touched[:, :, IN_WORDS] >= _WORD_TOUCH
    far = marking & crossing & _reaches_far(style, strokes, in_targets)
    # Slivers of print that lies a little off are no writing; what crosses words is measured whole.
    apart_from_print = in_box - in_kinds[:, :, BESIDE_PRINT]
    written = (in_kinds[:, :, IN_WRITING] * (loose | marking)).sum(axis=1)
    name = (in_box * ((loose & crossing) | far)).max(axis=1)
    alone = loose & ~crossing & (in_kinds[:, :, IN_WRITING] == 0) & (strokes.in_zones.sum(axis=2) == 0)
    stray = (apart_from_print * (loose & ~_shining_through(seen, alone, limits))).sum(axis=1)
    return [
        BoxMeasure(
            write_in_mm2=float(written[number]),
            name_mm2=float(name[number]),
            stray_mm2=float(stray[number]),
            print_missing=evidence.gates["print_missing"],
            bare_mm2=_bare_px(style, one.present) * MM2,
            labels_covered=int(evidence.gates["labels_covered"]),
        )
        for number, one in enumerate(seen)
    ]


def _shining_through(seen: Sequence[Seen], alone: NDArray[np.bool_], limits: Thresholds) -> NDArray[np.bool_]:
    """Return which of the strokes that stand `alone` are nowhere as dark as a pen or a pencil writes.

    What is written on the other side shines through so: pale, and blurred by the paper.
    """
    pale = np.zeros_like(alone)
    for one, found, candidates in zip(seen, pale, alone, strict=True):
        if candidates.any():
            written = one.strokes.darker(one.excess, round(limits.pen_ink * 255)) * MM2
            found[: one.strokes.count] = written < limits.pen_mm2 - limits.guard_mm2
    return alone & pale


def _reaches_far(style: Style, strokes: Spread, in_targets: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for each stroke whether it runs far beyond the target that it marks."""
    left, top, _, _ = style.reference_box
    owner = in_targets.argmax(axis=2)
    centres = np.array([target.centre for target in style.targets]) - (left, top)
    sizes = np.array([(target.width, target.height) for target in style.targets])
    low = strokes.boxes[:, :, :2]
    high = low + strokes.boxes[:, :, 2:]
    reach = np.maximum(centres[owner] - low, high - centres[owner])
    return np.any(reach > sizes[owner] * _FAR, axis=2)


def _outlines(grounds: Sequence[Grey], places: Places) -> NDArray[np.float32]:
    """Return of each target's printed outline how dark its palest part is, on this sheet."""
    measured = np.ones((len(grounds), len(places.windows), 2), np.float32)
    for size in places.sizes:
        members = list(size.members)
        measured[:, members] = measure_outlines(stacked(grounds, size.inner), size.outlines)
    return against_usual(measured)


def _bare_px(style: Style, present: Grey) -> float:
    """Return the area of the largest printed spot of the contest that the sheet lacks."""
    left, top, right, bottom = style.box
    x0, y0 = style.reference_box[:2]
    inner = (slice(top - y0, bottom - y0), slice(left - x0, right - x0))
    lacking = both(reference_of(style).core_print[inner], not_above(present[inner], _ABSENT_LEVEL, 255))
    if np.count_nonzero(lacking) * MM2 < 0.1:
        return 0.0
    _, stats = components(above(lacking, 0))
    return float(stats[1:, 4].max(initial=0))
