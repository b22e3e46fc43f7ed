"""What lies under a target and goes on beside it is never taken for a mark, nor is a touch of a pen on it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from device.tests.classifier.backgrounds import BACKGROUNDS, compose_on, judge_on
from device.tests.classifier.positions import SHAPES, Blank, Grey, Sheet, Supply, draw_ground, make_supply
from recount_classifier.decide import MARKED, UNSURE, TargetMeasure, state_of, target_reasons
from recount_classifier.judge import measure_targets, see_ground
from recount_classifier.sentences import state_sentence
from recount_classifier.thresholds import Thresholds, guarded

SEED = (31, 0)
SHEETS = 7
LOOKING_AWAY = guarded(replace(Thresholds(), shade=1.0, marked_tone=0.0, marked_substance=0.5), 0)
"""Ink is held against the brightest paper alone, however pale it is."""
ASKING_WHY = {"marginal_ground", "marginal_mark", "marginal_passing"}


@pytest.fixture(scope="module")
def supply() -> Supply:
    return make_supply(marks_of_kind=20, prints=8, seed=SEED)


@pytest.mark.parametrize("background", BACKGROUNDS)
def test_no_background_is_taken_for_a_mark(background: str, supply: Supply):
    found = judge_on(background, supply, SEED, SHEETS, Thresholds())
    assert found.positions > 50 * SHEETS
    assert found.wrong == ()
    assert found.counted > 0.2 * found.marks, "marks on such ground are still counted"


@pytest.fixture(scope="module")
def deceiving(supply: Supply) -> tuple[TargetMeasure, ...]:
    """Return targets without a mark that would be votes if the ground round them were not looked at."""
    return tuple(
        measured_on(compose_on(background, supply, np.random.default_rng((*SEED, number))))[target]
        for background in ("pale bands", "a watermark of words", "folds with a shade")
        for number, target in judge_on(background, supply, SEED, 3 * SHEETS, LOOKING_AWAY).wrong
    )


def measured_on(sheet: Sheet) -> tuple[TargetMeasure, ...]:
    limits = Thresholds()
    return measure_targets([see_ground(sheet.flat, 0.0, sheet.style, limits)], sheet.style, limits)[0]


def test_what_looks_like_a_mark_on_such_ground_is_for_people_who_are_told_why(
    deceiving: tuple[TargetMeasure, ...],
):
    limits = Thresholds()
    assert len(deceiving) >= 3, "without a look at the ground there would be wrong votes"
    for target in deceiving:
        state = state_of(target, limits)
        assert state == UNSURE
        assert set(target_reasons(target, state, limits)) & ASKING_WHY
        assert "No clear mark: " in state_sentence(target, state, limits)
    assert any("marginal_ground" in target_reasons(target, UNSURE, limits) for target in deceiving)


# -- one target ---------------------------------------------------------------------------------------------

BOX = next(shape for shape in SHAPES if shape.name == "box 2.5 x 2.5 mm")
TARGET = 65


def with_band(blank: Blank, grey: int) -> Grey:
    """Return the ground with a slanted band whose edge runs through the target's middle."""
    x, y = blank.centres[TARGET]
    height, width = blank.image.shape
    rows, columns = np.mgrid[0:height, 0:width]
    away = ((columns - x) - (rows - y)) / np.sqrt(2)
    return np.where((away > 0) & (away < 24), np.minimum(blank.image, grey), blank.image).astype(np.uint8)


def measured_target(blank: Blank, picture: Grey) -> TargetMeasure:
    blurred = np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.6))
    toned = np.asarray(cv2.convertScaleAbs(blurred, alpha=0.8, beta=30), np.uint8)
    seen = see_ground(toned, 0.0, blank.style, Thresholds())
    return measure_targets([seen], blank.style, Thresholds())[0][TARGET]


def test_a_pen_s_cross_on_a_watermark_is_counted():
    blank = draw_ground(BOX, np.random.default_rng(3))
    picture = with_band(blank, 215)
    x, y = (round(v) for v in blank.centres[TARGET])
    for way in (1, -1):
        cv2.line(picture, (x - 9, y - 9 * way), (x + 9, y + 9 * way), (40,), 5, cv2.LINE_AA)
    target = measured_target(blank, picture)
    assert target.ground > 0
    assert state_of(target, Thresholds()) == MARKED


@pytest.mark.parametrize("away", range(20, 30))
def test_a_neighbour_s_circle_over_the_outline_makes_a_dot_no_longer(away: int):
    blank = draw_ground(SHAPES[0], np.random.default_rng(4))
    picture = blank.image.copy()
    x, y = (round(v) for v in blank.centres[TARGET])
    cv2.circle(picture, (x, y + 1), 4, (110,), -1, cv2.LINE_AA)
    cv2.ellipse(picture, (x, y - 12 - away), (30, 24), 0, 0, 360, (40,), 8, cv2.LINE_AA)
    target = measured_target(blank, picture)
    assert target.cover >= Thresholds().marked_cover
    assert state_of(target, Thresholds()) != MARKED
