"""What was measured on a target and on the rest of the contest's box, against the thresholds, in words."""

from __future__ import annotations

from recount_classifier.decide import EMPTY, MARKED, BoxMeasure, TargetMeasure, target_reasons
from recount_classifier.reasons import REASONS
from recount_classifier.thresholds import Thresholds


def percent(share: float) -> str:
    """Return a share for people: tenths only where they matter."""
    whole = min(1.0, share)
    return f"{whole * 100:.1f} %" if 0 < whole < 0.1 else f"{whole * 100:.0f} %"


_NOT_EMPTY = (
    ("cover", "clear_cover", "ink covers {} of it (empty: up to {})"),
    ("core", "clear_core", "its inside has {} of pale ink (empty: up to {})"),
    ("ring", "clear_ring", "its outline has {} of ink (empty: up to {})"),
    ("halo", "clear_halo", "the ground round it has {} of ink (empty: up to {})"),
    ("spot", "clear_spot", "a spot of ink is {} of its size (empty: up to {})"),
)
_NO_MARK = (
    ("cover", "marked_cover", "ink covers {} of it (a mark: {} or more)"),
    ("relief", "marked_cover", "ink darker than the ground round it covers {} of it (a mark: {} or more)"),
    ("tone", "marked_tone", "the ink in it is {} as dark as print (a mark: {} or more)"),
    ("span", "marked_span", "the ink in it is {} as long as it is wide (a mark: {} or more)"),
    ("substance", "marked_substance", "breadth and darkness of its ink make {} (a mark: {} or more)"),
    ("inside", "marked_inside", "of the strokes' ink {} lies in it (a mark: {} or more)"),
)


def state_sentence(target: TargetMeasure, state: str, limits: Thresholds) -> str:
    """Return in a sentence what made the state: the measures against the thresholds."""
    if state == EMPTY:
        return f"Ink covers {percent(target.cover)} of it; empty is up to {percent(limits.clear_cover)}."
    if state == MARKED:
        return (
            f"Ink covers {percent(target.cover)} of it; a mark covers {percent(limits.marked_cover)} or more."
        )
    above = [
        words.format(percent(getattr(target, measure)), percent(getattr(limits, limit)))
        for measure, limit, words in _NOT_EMPTY
        if getattr(target, measure) > getattr(limits, limit) - limits.guard(limit)
    ]
    if not above:
        outline = (
            f"{percent(max(0.0, target.outline))} of its ink (empty: {percent(limits.outline_ink)} or more)"
        )
        return f"No ink is seen in it, but where its printed outline is palest it has {outline}."
    below = [
        words.format(percent(getattr(target, measure)), percent(getattr(limits, limit)))
        for measure, limit, words in _NO_MARK
        if getattr(target, measure) < getattr(limits, limit) + limits.guard(limit)
    ]
    return f"Not empty: {above[0]}. No clear mark: {below[0]}."


def target_sentences(target: TargetMeasure, state: str, limits: Thresholds) -> list[str]:
    """Return the sentences of all that puts a target in question, beside its own ink."""
    reasons = dict.fromkeys(target_reasons(target, state, limits))
    return [REASONS[reason].sentence for reason in reasons if reason != "marginal_mark"]


_BOX = (
    ("write_in_mm2", "write_in_mm2", "Ink in the write-in areas"),
    ("name_mm2", "name_mm2", "Ink of one stroke over a printed name"),
    ("stray_mm2", "stray_mm2", "Ink of all strokes outside the targets"),
    ("bare_mm2", "bare_mm2", "Largest printed spot that is absent"),
    ("print_missing", "print_missing_share", "Print beside a target that is absent"),
)


def box_sentences(box: BoxMeasure, limits: Thresholds) -> list[tuple[str, bool]]:
    """Return each measure of the box in words, and whether it is beyond its limit."""
    rows: list[tuple[str, bool]] = []
    for measure, limit, words in _BOX:
        value, most = getattr(box, measure), getattr(limits, limit)
        area = measure.endswith("_mm2")
        shown = f"{value:.1f} mm\u00b2" if area else percent(value)
        allowed = f"{most:g} mm\u00b2" if area else percent(most)
        rows.append((f"{words}: {shown} (less than {allowed})", value >= most - limits.guard(limit)))
    hidden = box.labels_covered
    rows.append((f"Targets whose printed label is hidden: {hidden} (none may be)", hidden > 0))
    return rows
