"""The verdict: one pure function from measurements and thresholds to a fate with all its reasons.

A contest is counted only when every target is clearly empty or clearly marked, exactly N printed options are
marked, nothing is written, and no ink is left unexplained where it could mean something. Everything else is
for people. What counts is kept away from every threshold by the guard of its measure, so that what another
machine computes a little otherwise can move a sheet from counted to set aside, never from one choice to
another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recount_classifier.program import Program, Style
from recount_classifier.reasons import fate_of
from recount_classifier.thresholds import Thresholds

EMPTY, MARKED, UNSURE = "empty", "marked", "unsure"


class TargetMeasure(NamedTuple):
    """What one target bears. Shares are 0 to 1; see `marks.Marks`.

    A tuple, because one is made for each of millions of drawn targets.
    """

    core: float
    ring: float
    halo: float
    cover: float
    ground: float
    """How dark the darkest ground round it is, where ink lies in it: a stain, a shade, pale print."""
    relief: float
    """Share of the core under ink that stands out from that ground too."""
    tone: float
    spot: float
    """Largest ink spot, as a share of the target's area."""
    span: float
    body: float
    """Share of its ink that is left when a pixel is taken off the edges."""
    substance: float
    """Body and tone together."""
    inside: float
    """Share of its strokes' ink that lies in the target; 1 without strokes."""
    shared: bool
    """Whether a stroke of it also lies in another target."""
    crowded_mm2: float
    """Ink beside it that belongs to no mark."""
    encircled: bool
    """Whether a stroke that does not touch it lies all round it."""
    outline: float
    """Ink of the palest part of its printed outline: 1 is what the blank has, as this sheet is printed."""
    paper_step: float
    """How far the ground under it is from what the blank has there, both against the contest's paper, as a
    share of the contrast."""
    streak: bool
    fold: bool


@dataclass(frozen=True, slots=True)
class BoxMeasure:
    """What the rest of the contest's box bears; areas in square millimetres."""

    write_in_mm2: float
    name_mm2: float
    stray_mm2: float
    print_missing: float
    """Share of the print beside the targets that is absent, of the worst label."""
    bare_mm2: float
    """Largest printed spot of the contest that is absent."""
    labels_covered: int


@dataclass(frozen=True, slots=True)
class Decision:
    """A fate, the choices it counts, every reason, and each target's state."""

    fate: str
    choices: tuple[str, ...]
    reasons: tuple[str, ...]
    states: tuple[str, ...]


def bears_no_ink(target: TargetMeasure, limits: Thresholds) -> bool:
    """Return whether no ink is seen in and round a target; it may still be hidden."""
    return (
        target.cover <= limits.clear_cover - limits.guard_cover
        and target.core <= limits.clear_core - limits.guard_ink
        and target.ring <= limits.clear_ring - limits.guard_ink
        and target.halo <= limits.clear_halo - limits.guard_ink
        and target.spot <= limits.clear_spot - limits.guard_spot
    )


def is_pale(target: TargetMeasure, limits: Thresholds) -> bool:
    """Return whether a target's outline lacks ink: what took it may have taken a mark too."""
    return target.outline < limits.outline_ink + limits.guard_outline


def state_of(target: TargetMeasure, limits: Thresholds) -> str:
    """Return whether a target is empty, marked, or neither for certain."""
    if bears_no_ink(target, limits):
        return UNSURE if is_pale(target, limits) else EMPTY
    if (
        target.relief >= limits.marked_cover + limits.guard_cover
        and target.tone >= limits.marked_tone + limits.guard_tone
        and target.span >= limits.marked_span + limits.guard_span
        and target.substance >= limits.marked_substance + limits.guard_substance
        and target.inside >= limits.marked_inside + limits.guard_inside
    ):
        return MARKED
    return UNSURE


def target_reasons(target: TargetMeasure, state: str, limits: Thresholds) -> list[str]:
    """Return why one target in that state is not beyond question; empty when it is."""
    reasons: list[str] = []
    if abs(target.paper_step) >= limits.paper_step - limits.guard_paper:
        reasons.append("not_on_paper")
    is_heavy = target.cover >= limits.heavy_cover - limits.guard_cover
    if is_heavy and target.halo >= limits.blot_halo - limits.guard_ink:
        reasons.append("not_on_paper")
    if is_pale(target, limits):
        reasons.append("marginal_outline")
    if target.streak:
        reasons.append("streak")
    if target.fold:
        reasons.append("marginal_fold")
    if state == UNSURE and not bears_no_ink(target, limits):
        reasons.append(_why_unsure(target, limits))
    if target.shared:
        reasons.append("marginal_shared_stroke")
    if target.encircled or target.crowded_mm2 >= limits.crowd_mm2 - limits.guard_mm2:
        reasons.append("marginal_outside")
    return reasons


def _why_unsure(target: TargetMeasure, limits: Thresholds) -> str:
    """Return why ink in or round a target makes no mark."""
    if target.cover >= limits.marked_cover + limits.guard_cover:
        if target.inside < limits.marked_inside + limits.guard_inside:
            return "marginal_passing"
        if target.relief < limits.marked_cover + limits.guard_cover:
            return "marginal_ground"
    if target.cover < limits.clear_cover and target.spot < limits.clear_spot:
        return "marginal_outside"
    return "marginal_mark"


def decide(targets: Sequence[TargetMeasure], box: BoxMeasure, style: Style, program: Program) -> Decision:
    """Return the verdict on one contest as measured through one registration."""
    limits = program.thresholds
    states = tuple(state_of(target, limits) for target in targets)
    reasons: list[str] = []

    def when(condition: bool, reason: str) -> None:
        if condition and reason not in reasons:
            reasons.append(reason)

    for target, state in zip(targets, states, strict=True):
        for reason in target_reasons(target, state, limits):
            when(condition=True, reason=reason)
    marked = [spec.option for spec, state in zip(style.targets, states, strict=True) if state == MARKED]
    when(len(set(marked)) < len(marked), "marginal_repeated_option")
    chosen = tuple(option.key for option in program.options if option.key in marked)
    unsure = UNSURE in states
    when(len(chosen) > program.vote_for, "overvote")
    when(len(chosen) < program.vote_for and not unsure, "undervote")
    when(any(key in program.write_in_keys for key in chosen), "write_in")
    covers = [target.cover for target, state in zip(targets, states, strict=True) if state == MARKED]
    if len(covers) > 1:
        when(min(covers) < limits.weakest_of_strongest * max(covers) + limits.guard_cover, "marginal_weak")
    guard_mm2 = limits.guard_mm2
    when(box.write_in_mm2 >= limits.write_in_mm2 - guard_mm2, "write_in")
    when(box.name_mm2 >= limits.name_mm2 - guard_mm2, "marginal_name")
    when(box.stray_mm2 >= limits.stray_mm2 - limits.guard_stray_mm2, "marginal_writing")
    absent = box.print_missing >= limits.print_missing_share - limits.guard_print
    when(absent or box.labels_covered > 0, "marginal_print")
    when(box.bare_mm2 >= limits.bare_mm2 - limits.guard_bare_mm2, "marginal_print")
    fate = fate_of(reasons)
    return Decision(fate, chosen if not reasons else (), tuple(reasons), states)
