"""Every number a verdict hangs on, with its unit and reason.

They are written into each contest program and never adapted while ballots are counted: other thresholds are
another program with another hash. Ink is a fraction: 0 is the paper beside the target, 1 is the printer's
black. Lengths are pixels of the working resolution (`program.WORKING_DPI`, 200 to the inch: 1 mm = 7.9 px)
unless named otherwise; shares are of the target's own size, so that ovals and boxes of any size are judged
alike.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The numbers that `locate` and `judge` compare with. All may be given in the spec's [thresholds]."""

    # -- finding the page --
    anchor_share: float = 0.4
    """Of the page's anchors, the share that must agree on one place."""
    elsewhere_anchors: float = 3
    """Anchors that agree on one other place, from which two sheets lie on each other: drawn ones had 4 to 6,
    other drawn sheets 2 at most (writing over some), 647 real readings none."""
    anchor_match: float = 0.40
    """Median correlation of the agreeing anchors."""
    scale_tolerance: float = 0.08
    """How far the page's size may be from the nominal one, per axis, after the resolution is known."""
    skew_deg: float = 8.0
    """Largest turn of the sheet."""
    landmark_match: float = 0.45
    """Correlation at which a landmark near the contest counts as found."""
    landmark_share: float = 0.5
    """Of the landmarks near the contest, the share that must agree."""
    residual_px: float = 1.6
    """Largest distance of a label beside a target from where the registration puts it."""
    disagreement_px: float = 1.5
    """Largest distance between the two registrations at any target."""

    # -- the style's proof --
    label_match: float = 0.55
    """Correlation of the print beside every target with the blank's. Lowest of real sheets: 0.7."""
    label_margin: float = 0.08
    """How much better a label must fit its own place than any other label of the contest would."""
    rival_match: float = 0.70
    """Correlation from which another option's label is said to stand in a label's place."""
    print_missing_share: float = 0.12
    """Share of a label's printed ink that may be absent from the sheet."""
    print_hidden_share: float = 0.03
    """The same, for a label that is not recognised: ink over a label leaves all of its own ink in place."""

    # -- the image --
    contrast_grey: float = 60.0
    """Paper minus print, in grey levels."""
    paper_low_grey: float = 90.0
    """Paper darker than this is under-exposed."""
    clipped_share: float = 0.35
    """Share of the printed ink that is washed out before the picture counts as over-exposed."""
    sharpness: float = 0.42
    """Gradient energy of the labels against the blank's; below, the picture is blurred."""
    paper_step: float = 0.22
    """How far the ground under a target may be from what the blank has there, both against the contest's
    paper, as a share of the contrast."""

    # -- marks --
    ink: float = 0.22
    """Excess darkness at which a pixel is ink. A stroke 25 % darker than the paper has about 0.27."""
    shade: float = 0.04
    """Excess darkness from which ground round a target is no plain paper: a stain, a shade, pale print.
    A mark must be darker by `ink` than what exceeds it. Round 95 of 100 real marks: less."""
    pale_ink: float = 0.45
    """Ink paler than this, in a spot broader than a pencil's stroke, may be such ground too."""
    marked_cover: float = 0.25
    """Share of a target's core from which it is marked, under ink that stands out from the ground round it.
    Full and partial marks, X and check of real sheets: 0.28 to 1; ticks and touches that people argue about:
    0.05 to 0.24."""
    marked_tone: float = 0.30
    """Mean darkness of that ink in a mark. Lowest of real marks: 0.50; a pale print's or a stain's: 0.28."""
    marked_span: float = 0.36
    """Extent of the mark inside the target, in target widths, that a mark has at least. Lowest of real marks:
    0.41; dots and ticks of pens up to 0.8 mm: 0.31 at most."""
    marked_inside: float = 0.25
    """Share of a mark's ink that lies in its target: a line that only passes, or a smudge, has less."""
    marked_substance: float = 0.70
    """Body (the share of a mark's ink that is left when a pixel is taken off its edges) and tone together: a
    pen's stroke is broad or dark; a hair is thin, and what is thin looks pale. Lowest of real marks: 0.86; a
    hair: up to 0.60."""
    heavy_cover: float = 0.5
    """A core covered this far is no mark but a hole or a blot if the ground round it is dark too."""
    clear_cover: float = 0.02
    """Share of an empty target's core under ink, at most. Real empty targets: 0, but for dust."""
    clear_core: float = 0.012
    """Mean excess ink in the core of an empty target, at most: takes in very pale strokes. Real: 0.010."""
    clear_ring: float = 0.02
    """Mean excess ink on the printed outline of an empty target, at most. Real: 0.009."""
    clear_halo: float = 0.025
    """Mean excess ink round an empty target, at most. Real: 0.010."""
    clear_spot: float = 0.012
    """Largest spot of ink in an empty target, as a share of the target's area. The touch of a pen: 0.03."""
    blot_halo: float = 0.30
    """Mean excess ink round a covered target from which it is a hole or a blot, not a mark."""
    outline_ink: float = 0.65
    """Ink that every quarter of a target's printed outline has at least, 1 being the blank's as this sheet is
    printed: what hides a mark hides print as well. Lowest of real sheets: 0.73, of one over-exposed at its
    edge 0.57; of drawn marks hidden by glare or fluid, 99 in 100 leave less than 0.65."""
    weakest_of_strongest: float = 0.35
    """Cover of the weakest mark against the strongest, where several are counted."""

    # -- the rest of the contest's box; areas are of ink, in square millimetres --
    speck_mm2: float = 0.25
    """Spots below this are dust wherever they lie outside the targets."""
    crowd_mm2: float = 0.35
    """Ink beside a target, not part of a mark."""
    name_mm2: float = 0.6
    """Ink that crosses printed words."""
    write_in_mm2: float = 0.8
    """Ink in a write-in area."""
    stray_mm2: float = 2.4
    """Ink of one stroke that stands far from everything, and of all such strokes together."""
    pen_ink: float = 0.25
    """Excess darkness that every written stroke has somewhere, and pale ink of the other side nowhere."""
    pen_mm2: float = 0.1
    """Ink so dark that a stroke far from everything has, if it is written. Of 150 words drawn with a light
    pencil all had; of 26 sheets held up by print behind them, a quarter of its ink shining through, 8 had."""
    bare_mm2: float = 0.5
    """Print of the contest that is absent, in one spot."""
    streak_cover: float = 0.85
    """Share of a straight line's length, from edge to edge, that is dark: a streak or a fold."""
    test_clear_mm2: float = 2.0
    """Ink in the place of the TEST mark that a ballot of the recount has at most. Dust: 0.5."""
    test_mark_mm2: float = 6.0
    """Ink in that place that a test ballot has at least. TEST and a sheet code in 12 points: 20 and more."""

    # -- guards: a value this close to its threshold is for people; another machine might round otherwise --
    # Measured: 244 readings of drawn and real sheets, OpenCV 5.0 against 4.13, where targets could be marks.
    # Without IPP or AVX2 nothing of these moves by more than 0.002.
    guard_cover: float = 0.012
    """Of cover and relief. Measured: 0.0083, and 0.010 with other readings; about two pixels of a core."""
    guard_ink: float = 0.001
    """Of core, ring and halo. Measured, near their thresholds: 0.0003."""
    guard_tone: float = 0.010
    """Of tone. Measured: 0.0090, near its threshold 0.0023."""
    guard_spot: float = 0.003
    """Of spot. Measured near its threshold: 0.0021; larger spots that join or part move by 0.02."""
    guard_span: float = 0.02
    """Of span: half a pixel of a small oval. Measured near its threshold: 0; where spots join, 0.1."""
    guard_substance: float = 0.02
    """Of body and tone together. Measured: 0.0122; the body of a dot alone: 0.0212."""
    guard_inside: float = 0.012
    """Of inside. Measured: 0.0113, near its threshold 0.0019."""
    guard_outline: float = 0.012
    """Of outline. Measured: 0.0107."""
    guard_paper: float = 0.006
    """Of the paper's step. Measured: 0.005."""
    guard_mm2: float = 0.03
    """Of ink beside targets, over names, in write-in areas, in the TEST mark's place. Measured: 0.016;
    of a whole written name 0.065."""
    guard_stray_mm2: float = 0.3
    """Of stray ink. Measured: 0.27, for a spot that is just no speck counts whole."""
    guard_bare_mm2: float = 0.07
    """Of absent print. Measured: 0.065."""
    guard_print: float = 0.006
    """Of the share of print that is absent. Measured: 0.0046."""
    guard_px: float = 0.03
    """Of distances, in pixels. Measured: 0.028."""

    def guard(self, name: str) -> float:
        """Return how close to that threshold a value is for people. Raises KeyError where none is kept."""
        return float(getattr(self, GUARDS[name]))

    def to_fields(self) -> dict[str, float]:
        """Return all numbers by name, for the program file."""
        return {field.name: float(getattr(self, field.name)) for field in fields(self)}


THRESHOLD_NAMES = tuple(field.name for field in fields(Thresholds))
GUARDS = {
    "residual_px": "guard_px",
    "disagreement_px": "guard_px",
    "print_missing_share": "guard_print",
    "paper_step": "guard_paper",
    "marked_cover": "guard_cover",
    "marked_tone": "guard_tone",
    "marked_span": "guard_span",
    "marked_inside": "guard_inside",
    "marked_substance": "guard_substance",
    "heavy_cover": "guard_cover",
    "clear_cover": "guard_cover",
    "clear_core": "guard_ink",
    "clear_ring": "guard_ink",
    "clear_halo": "guard_ink",
    "clear_spot": "guard_spot",
    "blot_halo": "guard_ink",
    "outline_ink": "guard_outline",
    "weakest_of_strongest": "guard_cover",
    "crowd_mm2": "guard_mm2",
    "name_mm2": "guard_mm2",
    "write_in_mm2": "guard_mm2",
    "stray_mm2": "guard_stray_mm2",
    "pen_mm2": "guard_mm2",
    "bare_mm2": "guard_bare_mm2",
    "test_clear_mm2": "guard_mm2",
    "test_mark_mm2": "guard_mm2",
}
"""Which guard is kept at each threshold that a verdict on a located contest hangs on."""


def guarded(limits: Thresholds, times: float) -> Thresholds:
    """Return the thresholds with every guard so many times as wide: 0 is none."""
    return replace(limits, **{name: getattr(limits, name) * times for name in set(GUARDS.values())})


def thresholds_hash(limits: Thresholds) -> bytes:
    """Return the SHA-256 over a line a threshold: what a certificate says was in force."""
    lines = "".join(f"{name} {value!r}\n" for name, value in limits.to_fields().items())
    return hashlib.sha256(lines.encode()).digest()


def differing_thresholds(limits: Thresholds) -> dict[str, tuple[float, float]]:
    """Return each threshold that is not the default, with its value and the default."""
    given, usual = limits.to_fields(), Thresholds().to_fields()
    return {name: (given[name], usual[name]) for name in THRESHOLD_NAMES if given[name] != usual[name]}


def thresholds_sentence(limits: Thresholds) -> str:
    """Return what people must know of a program's thresholds: those that are its own."""
    differing = differing_thresholds(limits)
    if not differing:
        return "all thresholds are the defaults"
    told = ", ".join(f"{name} {value:g} (default {usual:g})" for name, (value, usual) in differing.items())
    return f"thresholds that are not the defaults: {told}"
