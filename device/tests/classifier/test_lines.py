"""Straight lines from edge to edge: where they are over a target, and what is taken off the ink with them."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from recount_classifier.lines import Line, Lines, erase, find_lines, meeting, room_of
from recount_classifier.raster import Grey, averaged

HEIGHT, WIDTH = 320, 200
TARGET_X, HALF_WIDTH = 100.0, 13.0
STREAK = 90
"""Darkness (excess ink of 255) of the drawn streaks."""


def streaked(x: float, darkness: int = STREAK) -> Grey:
    """Return ink with a streak of three pixels down it, as the judge averages it."""
    away = (np.arange(WIDTH) - x) / 1.5
    profile = np.exp(-(away**2)) * darkness
    return averaged(np.tile(np.round(profile).astype(np.uint8), (HEIGHT, 1)), 3)


def lines_in(ink: Grey) -> Lines:
    return find_lines(ink, room_of(np.zeros_like(ink)), 0.0, 0.85, 128)


def is_over(lines: Lines) -> bool:
    place = (np.array([TARGET_X]), np.array([HALF_WIDTH]), np.array([HEIGHT / 2]))
    return bool(meeting(lines.down, *place, HEIGHT)[0])


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize(("away", "over"), [(0, True), (12, True), (14, True), (16, False), (18, False)])
def test_a_streak_is_over_a_target_when_it_darkens_part_of_it(away: int, side: int, over: bool):
    lines = lines_in(streaked(TARGET_X + side * away))
    assert len(lines.down) == 1
    assert is_over(lines) == over


def test_a_streak_leaves_no_ink():
    ink = streaked(60.3)
    erase(ink, lines_in(ink))
    assert not ink.any()


@pytest.mark.parametrize("slope", [-0.02, 0.0, 0.02])
def test_so_does_a_line_across_that_leans(slope: float):
    ink = np.zeros((HEIGHT, WIDTH), np.uint8)
    ends = [HEIGHT / 2 + slope * way * WIDTH / 2 for way in (-1, 1)]
    cv2.line(ink, (0, round(ends[0])), (WIDTH - 1, round(ends[1])), (STREAK,), 3)
    erase(ink, Lines((), (Line((HEIGHT - 1) / 2, 4.0, slope),)))
    assert not ink.any()


def test_a_pen_s_stroke_across_a_streak_stays():
    ink = streaked(60.0)
    cv2.line(ink, (20, 100), (120, 104), (230,), 8)
    stroke = ink > 200
    erase(ink, lines_in(ink))
    assert np.array_equal(ink > 200, stroke)
    assert not ink[:90].any()


def test_lines_beside_each_other_are_both_taken_off():
    ink = np.maximum(streaked(60.0), streaked(68.0))
    erase(ink, lines_in(ink))
    assert not ink.any()
