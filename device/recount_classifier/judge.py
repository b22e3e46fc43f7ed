"""From evidence to a verdict: the contest is measured through both registrations, and both must agree."""

from __future__ import annotations

from dataclasses import dataclass

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
from recount_classifier.marks import Marks, measure
from recount_classifier.outlines import against_usual, measure_outlines
from recount_classifier.places import PRINT_SLACK, Places, places_of, stacked
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
from recount_classifier.registration import Registration, SheetMap
from recount_classifier.strokes import Strokes, find_strokes
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
    measured = tuple(
        _measure(evidence, registration, style, program) for registration in evidence.registrations
    )
    apart = disagreement(evidence.registrations, style)
    first, second = (m.decision for m in measured)
    reasons = [*first.reasons, *second.reasons]
    differ = first.states != second.states or first.choices != second.choices
    crooked = evidence.gates.get("residual_px", 0.0) >= limits.residual_px
    if differ or crooked or apart >= limits.disagreement_px:
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


def _measure(evidence: Evidence, registration: Registration, style: Style, program: Program) -> Measured:
    """Measure the contest through one registration, and decide."""
    limits = program.thresholds
    places = places_of(style)
    seen = see(evidence, registration, style, limits)
    targets = measure_targets(seen, style, limits)
    box = _box(style, places, seen.strokes, seen.present, evidence, limits)
    return Measured(targets, box, decide(targets, box, style, program))


def _lean(registration: Registration, style: Style) -> float:
    """Return how far the sheet's columns (or rows, for a quarter turn) lean on the blank's ground."""
    _, _, a, b, c, d = SheetMap(registration, style.frame).local_affine(style.frame[0], style.frame[1])
    return -b / a if abs(a) >= abs(b) else -d / c


def measure_targets(seen: Seen, style: Style, limits: Thresholds) -> tuple[TargetMeasure, ...]:
    """Return what each of the style's targets bears."""
    places = places_of(style)
    marks = _marks(seen.excess, places, _ink_level(limits))
    steps = _paper_steps(seen.envelope, seen.usual, seen.black, places)
    outlines = _outlines(seen.present, places)
    return _targets(style, places, marks, seen.strokes, seen.lines, steps, outlines)


def _marks(excess: Grey, places: Places, ink_level: int) -> Marks:
    """Return the marks of the targets; targets of one size are measured as one stack."""
    count = len(places.windows)
    result = Marks(*(np.zeros(count, np.float32) for _ in Marks.__slots__))
    for size in places.sizes:
        members = list(size.members)
        stack = stacked(excess, [places.windows[i] for i in members], size.width, size.height)
        together = measure(stack, size.room, size.width, size.height, ink_level)
        for name in Marks.__slots__:
            getattr(result, name)[members] = getattr(together, name)
    return result


def _paper_steps(envelope: Grey, usual: NDArray[np.float32], black: float, places: Places) -> list[float]:
    """Return how far the ground under each target is from the contest's paper, as a share of the contrast."""
    difference = (envelope.astype(np.float32) - usual).ravel()
    paper = usual.ravel()
    steps = np.zeros(len(places.windows))
    for size in places.sizes:
        under = difference[size.paper]
        low, high = under.min(axis=1), under.max(axis=1)
        # The usual paper is a plane: its mean over a window is that of two opposite corners.
        contrast = (paper[size.paper[:, 0]] + paper[size.paper[:, -1]]) / 2 - black
        steps[list(size.members)] = np.where(-low > high, low, high) / np.maximum(1.0, contrast)
    return steps.tolist()


def _targets(
    style: Style,
    places: Places,
    marks: Marks,
    strokes: Strokes,
    lines: Lines,
    steps: list[float],
    outlines: list[float],
) -> tuple[TargetMeasure, ...]:
    count = len(style.targets)
    in_targets = strokes.by_zone(places.targets, count)
    mine = in_targets >= _TOUCH_PX
    owners = mine.sum(axis=1)
    totals = strokes.totals() @ mine
    inside = np.where(totals > 0, (in_targets * mine).sum(axis=0) / np.maximum(totals, 1), 1.0)
    shared: NDArray[np.bool_] = mine[owners > 1].sum(axis=0) > 0
    crowded_mm2 = strokes.by_zone(places.halos, count)[owners == 0].sum(axis=0) * MM2
    x0, y0, right, bottom = style.reference_box
    corners = np.array([(t.left - x0, t.top - y0, t.width, t.height) for t in style.targets])
    left, top, width, height = corners.T
    x, y = left + (width - 1) / 2, top + (height - 1) / 2
    streak = meeting(lines.down, x, width / 2, y, bottom - y0).tolist()
    fold = meeting(lines.across, y, height / 2, x, right - x0).tolist()
    encircled = _encircled(corners, strokes, mine).tolist()
    spots = marks.spot_px / (width * height)
    columns = (marks.core, marks.ring, marks.halo, marks.cover, spots, marks.span, marks.body)
    core, ring, halo, cover, spot, span, body = (column.tolist() for column in columns)
    shares, crowds, is_shared = inside.tolist(), crowded_mm2.tolist(), shared.tolist()
    return tuple(
        TargetMeasure(
            core=core[index],
            ring=ring[index],
            halo=halo[index],
            cover=cover[index],
            spot=spot[index],
            span=span[index],
            body=body[index],
            inside=shares[index],
            shared=is_shared[index],
            crowded_mm2=crowds[index],
            encircled=encircled[index],
            outline=outlines[index],
            paper_step=steps[index],
            streak=streak[index],
            fold=fold[index],
        )
        for index in range(count)
    )


def _encircled(corners: NDArray[np.float64], strokes: Strokes, mine: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return for each target whether a stroke that does not touch it reaches past it on all four sides."""
    left, top, width, height = (strokes.boxes[:, [n]] * 2 for n in range(4))
    x, y, wide, high = corners.T
    across = (left < x) & (left + width > x + wide)
    down = (top < y) & (top + height > y + high)
    around = across & down & ~mine
    return np.asarray(around[1:].any(axis=0))


def _box(
    style: Style, places: Places, strokes: Strokes, present: Grey, evidence: Evidence, limits: Thresholds
) -> BoxMeasure:
    """Measure what lies in the contest's box outside the targets."""
    in_box = strokes.inside(places.box) * MM2
    in_targets = strokes.by_zone(places.targets, len(style.targets))
    loose = (in_targets.max(axis=1) < _TOUCH_PX) & (in_box >= limits.speck_mm2)
    marking = in_targets.max(axis=1) >= _TOUCH_PX
    crossing = strokes.touching(places.words) >= _WORD_TOUCH
    written = strokes.inside(places.writing) * MM2
    far = marking & crossing & _reaches_far(style, strokes, in_targets)
    # Slivers of print that lies a little off are no writing; what crosses words is measured whole.
    apart_from_print = in_box - strokes.inside(places.box & places.beside_print) * MM2
    return BoxMeasure(
        write_in_mm2=float(written[loose | marking].sum()),
        name_mm2=float(in_box[(loose & crossing) | far].max(initial=0.0)),
        stray_mm2=float(apart_from_print[loose].sum()),
        print_missing=evidence.gates.get("print_missing", 0.0),
        bare_mm2=_bare_px(style, present) * MM2,
        labels_covered=int(evidence.gates.get("labels_covered", 0.0)),
    )


def _reaches_far(style: Style, strokes: Strokes, in_targets: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for each stroke whether it runs far beyond the target that it marks."""
    left, top, _, _ = style.reference_box
    owner = in_targets.argmax(axis=1)
    centres = np.array([target.centre for target in style.targets]) - (left, top)
    sizes = np.array([(target.width, target.height) for target in style.targets])
    low = strokes.boxes[:, :2] * 2.0
    high = low + strokes.boxes[:, 2:] * 2.0
    reach = np.maximum(centres[owner] - low, high - centres[owner])
    return np.any(reach > sizes[owner] * _FAR, axis=1)


def _outlines(present: Grey, places: Places) -> list[float]:
    """Return of each target's printed outline how dark its palest part is, on this sheet."""
    measured = np.ones((len(places.windows), 2), np.float32)
    for size in places.sizes:
        members = list(size.members)
        stack = stacked(present, [places.windows[i] for i in members], size.width, size.height)
        measured[members] = measure_outlines(stack, size.outlines)
    return against_usual(measured).tolist()


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
