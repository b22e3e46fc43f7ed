"""Guards keep what counts away from thresholds: wider ones set more aside, and never give another vote."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import event, given, settings
from hypothesis import strategies as st

from device.tests.classifier.drawn_pages import program
from recount_classifier.decide import EMPTY, MARKED, BoxMeasure, Decision, TargetMeasure, decide
from recount_classifier.program import Program
from recount_classifier.thresholds import GUARDS, Thresholds, guarded
from recount_protocol.fates import COUNTED

LIMITS = Thresholds()
TIMES = (0.0, 1.0, 1.5)
"""Twice the guard of the cover would be more than an empty target's cover may be."""
TARGET_LIMITS = {
    "core": ("clear_core",),
    "ring": ("clear_ring",),
    "halo": ("clear_halo", "blot_halo"),
    "cover": ("clear_cover", "marked_cover", "heavy_cover"),
    "relief": ("marked_cover",),
    "tone": ("marked_tone",),
    "spot": ("clear_spot",),
    "span": ("marked_span",),
    "substance": ("marked_substance",),
    "inside": ("marked_inside",),
    "crowded_mm2": ("crowd_mm2",),
    "outline": ("outline_ink",),
    "paper_step": ("paper_step",),
}
BOX_LIMITS = {
    "write_in_mm2": "write_in_mm2",
    "name_mm2": "name_mm2",
    "stray_mm2": "stray_mm2",
    "print_missing": "print_missing_share",
    "bare_mm2": "bare_mm2",
}
"""Each measure with the thresholds it is held against."""


def clear(full: float) -> TargetMeasure:
    """Return a target quite full (1) or quite empty (0)."""
    return TargetMeasure(
        core=full, ring=0, halo=0, cover=full, ground=0, relief=full, tone=full, spot=full, span=full,
        body=full, substance=2 * full, inside=1, shared=False, crowded_mm2=0, encircled=False, outline=1,
        paper_step=0, streak=False, fold=False,
    )  # fmt: skip


CLEAR = (clear(1.0), clear(0.0), clear(0.0), clear(0.0))
CLEAN = BoxMeasure(0, 0, 0, 0, 0, 0)
Nudge = tuple[int, str, float]
PROGRAMS: dict[float, Program] = {
    times: replace(program(), thresholds=guarded(LIMITS, times)) for times in TIMES
}


def near(threshold: str) -> st.SearchStrategy[float]:
    """Return values at up to two guards from a threshold."""
    return st.floats(-2, 2).map(lambda guards: getattr(LIMITS, threshold) + guards * LIMITS.guard(threshold))


def nudges() -> st.SearchStrategy[list[Nudge]]:
    """Return up to three measures of targets (0 to 3) with values near their thresholds."""
    pairs = [(name, limit) for name, limits in TARGET_LIMITS.items() for limit in limits]
    one = st.sampled_from(pairs).flatmap(
        lambda pair: st.tuples(st.integers(0, len(CLEAR) - 1), st.just(pair[0]), near(pair[1]))
    )
    return st.lists(one, max_size=3)


def boxes() -> st.SearchStrategy[BoxMeasure]:
    """Return a clean box, or one that has one measure near its threshold."""
    tight = [
        near(limit).map(lambda v, n=name: replace(CLEAN, **{n: v})) for name, limit in BOX_LIMITS.items()
    ]
    return st.one_of(st.just(CLEAN), *tight)


def decided(targets: tuple[TargetMeasure, ...], box: BoxMeasure, times: float) -> Decision:
    one = PROGRAMS[times]
    return decide(targets, box, one.styles[0], one)


def test_every_guard_keeps_some_threshold():
    assert {name for name in LIMITS.to_fields() if name.startswith("guard_")} == set(GUARDS.values())


@settings(max_examples=300)
@given(nudges(), boxes())
def test_wider_guards_only_ever_set_aside(nudged: list[Nudge], box: BoxMeasure):
    targets = list(CLEAR)
    for index, name, value in nudged:
        targets[index] = targets[index]._replace(**{name: value})
    narrow, usual, wide = (decided(tuple(targets), box, times) for times in TIMES)
    event(f"{narrow.fate}, {usual.fate}, {wide.fate}")
    for less, more in ((narrow, usual), (usual, wide)):
        if more.fate == COUNTED:
            assert (less.fate, less.choices) == (COUNTED, more.choices)
        for before, after in zip(less.states, more.states, strict=True):
            assert after == before or after not in {EMPTY, MARKED}


def test_a_tight_mark_is_counted_only_without_guards():
    tight = (CLEAR[0]._replace(tone=LIMITS.marked_tone + 0.5 * LIMITS.guard_tone), *CLEAR[1:])
    assert [decided(CLEAR, CLEAN, times).fate == COUNTED for times in TIMES] == [True, True, True]
    assert [decided(tight, CLEAN, times).fate == COUNTED for times in TIMES] == [True, False, False]
