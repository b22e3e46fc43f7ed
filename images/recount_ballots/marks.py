"""Voters' marks on a target: a table from kind to strokes, for ovals and boxes of any size."""

from collections.abc import Callable

import numpy as np

from recount_ballots.blank import Grey
from recount_ballots.layout import Rect
from recount_ballots.strokes import MM_PER_INCH, Patch, Pen, Points, cover, put

Strokes = list[Points]
Shape = Callable[[float, float, float, np.random.Generator], Strokes]
"""(half width, half height, pen width in pixels, chance) -> strokes round the target's middle (0, 0)."""


def _path(*points: tuple[float, float]) -> Points:
    return np.array(points, np.float64)


def _shaken(points: Points, by: float, rng: np.random.Generator) -> Points:
    """Return the path as a hand draws it: every point off by a normal amount of `by` pixels."""
    return points + rng.normal(0, by, points.shape)


def _zigzag(
    left: float, right: float, half_height: float, half_width: float, pen: float, rng: np.random.Generator
) -> Points:
    """Return strokes up and down from left to right inside an ellipse a little larger than the target."""
    count = max(5, int(np.ceil((right - left) / (0.62 * pen))) + 1)
    x = np.linspace(left, right, count) + rng.normal(0, 0.1 * pen, count)
    reach = (
        half_height * np.sqrt(np.clip(1.06 - (x / half_width) ** 2, 0.1, 1)) * rng.uniform(0.9, 1.12, count)
    )
    return np.stack([x, reach * np.where(np.arange(count) % 2, 1, -1)], axis=1)


def _full(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    strokes = [_zigzag(-a * rng.uniform(0.92, 1.04), a * rng.uniform(0.92, 1.04), b, a, pen, rng)]
    if rng.random() < 0.6:
        strokes.append(
            _turn(a * rng.uniform(0.8, 1.0), b * rng.uniform(0.75, 1.0), rng, turns=rng.uniform(0.9, 2.2))
        )
    shift = rng.normal(0, (0.04 * a, 0.06 * b))
    return [stroke + shift for stroke in strokes]


def _scribble(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    """Fill hastily, running over the target's edge by up to half of its height."""
    grown = rng.uniform(1.15, 1.35)
    return [_zigzag(-a * grown, a * grown, b * grown, a * grown, pen * 1.4, rng)]


def _partial(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    part = 2 * a * rng.uniform(0.35, 0.6)
    start = -a * 0.9 if rng.random() < 0.7 else a * 0.9 - part
    return [_zigzag(start, start + part, b * 0.85, a, pen, rng)]


def _half(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    """Fill one half, from an end to a little beyond the middle, as the guide of a deck asks for."""
    return [_zigzag(-0.9 * a + pen / 2, 0.15 * a, b * 0.85, a, pen, rng)]


MIDDLE_PART = 0.6
"""Of a target's width: what a mark of the kind `middle` fills, in the middle of it."""


def _middle(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    """Fill the middle and leave both ends empty, so that a target looked for half beside it is not filled."""
    reach = max(0.0, MIDDLE_PART * a - pen / 2)
    return [_zigzag(-reach, reach, b * 0.85, a, pen, rng)]


def _x(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    size = rng.uniform(0.85, 1.5)
    w, h, by = a * size * 0.85, b * size * 1.1, 0.12 * b + 0.1 * pen
    return [_shaken(_path((-w, -h), (w, h)), by, rng), _shaken(_path((w, -h), (-w, h)), by, rng)]


def _neat_x(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    """Draw an X that stays inside the target, as the guide of a deck asks for."""
    w, h, by = 0.8 * a, 0.9 * b, 0.05 * b + 0.03 * pen
    return [_shaken(_path((-w, -h), (w, h)), by, rng), _shaken(_path((w, -h), (-w, h)), by, rng)]


def _check(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    size = rng.uniform(0.9, 1.6)
    points = _path((-a * 0.7 * size, -b * 0.1), (-a * 0.1, b * 0.9 * size), (a * 1.1 * size, -b * 1.8 * size))
    return [_shaken(points, 0.1 * b + 0.1 * pen, rng)]


def _neat_check(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    """Draw a check mark that stays inside the target, as the guide of a deck asks for."""
    points = _path((-0.85 * a, -0.1 * b), (-0.2 * a, 0.75 * b), (0.9 * a, -0.8 * b))
    return [_shaken(points, 0.05 * b + 0.03 * pen, rng)]


def _line(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    del pen
    size = rng.uniform(0.9, 1.4)
    return [_shaken(_path((-a * size, 0), (0, 0), (a * size, 0)), 0.1 * b, rng)]


def _long_axis(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    """Draw the test mark of VVSG 2.0 1.1.6-H: a line of 1 mm (WIDTHS_MM) across the long axis, centred."""
    del pen, rng
    return [_path((-a, 0), (a, 0)) if a >= b else _path((0, -b), (0, b))]


def _turn(a: float, b: float, rng: np.random.Generator, turns: float) -> Points:
    angle = rng.uniform(0, 2 * np.pi) + np.linspace(0, 2 * np.pi * turns, max(12, int(28 * turns)))
    wobble = 1 + 0.05 * np.sin(angle * rng.uniform(1.3, 2.4) + rng.uniform(0, 6))
    return np.stack([a * np.cos(angle) * wobble, b * np.sin(angle) * wobble], axis=1)


def _circle(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    grown = rng.uniform(1.35, 1.8)
    return [
        _turn(a * grown + pen, b * grown * 1.15 + pen, rng, rng.uniform(0.95, 1.15))
        + rng.normal(0, 0.1 * b, 2)
    ]


def _dot(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    middle = rng.normal(0, (0.3 * a, 0.3 * b))
    return [middle + rng.normal(0, 0.15 * pen, (3, 2))]


def _neat_dot(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    """Touch down in the middle of the target, as the guide of a deck asks for."""
    del a
    return [rng.normal(0, 0.05 * b, 2) + rng.normal(0, 0.1 * pen, (3, 2))]


def _tick(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    """Hesitate: touch down inside the target and take the pen away with a short slip."""
    start = rng.uniform((-0.6 * a, -0.5 * b), (0.6 * a, 0.5 * b))
    return [np.stack([start, start + rng.normal(0, 0.5 * pen + 0.15 * b, 2)])]


SHORT_STROKE = 1 / 3
"""Of a target's width: how long a stroke of the kind `short_axis` is, pen and all, at most."""


def _short_axis(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    """Draw one stroke in the middle of the short axis: more than a dot, clearly less than a mark."""
    reach = max(0.0, min(0.8 * min(a, b), SHORT_STROKE * a) - pen / 2)
    stroke = _path((0, -reach), (0, reach)) if a >= b else _path((-reach, 0), (reach, 0))
    return [_shaken(stroke, 0.05 * pen, rng)]


def _resting(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    """Rest the pen beside the target while reading: a tiny dot."""
    angle = rng.uniform(0, 2 * np.pi)
    middle = np.array([np.cos(angle) * a * 1.5, np.sin(angle) * b * 1.8])
    return [middle + rng.normal(0, 0.1 * pen, (2, 2))]


def _outside(a: float, b: float, pen: float, rng: np.random.Generator) -> Strokes:
    """Miss the target clearly: an X just left of it."""
    return [stroke * 0.8 - (a * 1.9, 0) for stroke in _x(a, b, pen, rng)]


MARKS: dict[str, Shape] = {
    "full": _full,
    "scribble": _scribble,
    "partial": _partial,
    "half": _half,
    "middle": _middle,
    "x": _x,
    "neat_x": _neat_x,
    "check": _check,
    "neat_check": _neat_check,
    "line": _line,
    "long_axis": _long_axis,
    "circle": _circle,
    "dot": _dot,
    "neat_dot": _neat_dot,
    "tick": _tick,
    "short_axis": _short_axis,
    "resting": _resting,
    "outside": _outside,
}
"""Every kind of mark by its name."""

WIDTHS_MM = {"long_axis": 1.0}
"""Kinds whose stroke has a prescribed width, whatever the pen."""


def mark_patch(target: Rect, kind: str, pen: Pen, rng: np.random.Generator, dpi: float = 200) -> Patch:
    """Return the coverage of one mark of that kind on a target, both in pixels of the page."""
    strokes = MARKS[kind](target.width / 2, target.height / 2, pen.width_px, rng)
    middle = np.array(target.centre)
    width = WIDTHS_MM[kind] * dpi / MM_PER_INCH if kind in WIDTHS_MM else None
    return cover([stroke + middle for stroke in strokes], pen, rng, width)


def mark(page: Grey, target: Rect, kind: str, pen: Pen, rng: np.random.Generator, dpi: float = 200) -> None:
    """Draw one mark onto the page, in place."""
    put(page, mark_patch(target, kind, pen, rng, dpi), pen.grey)
