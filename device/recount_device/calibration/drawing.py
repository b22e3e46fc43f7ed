"""The picture of a calibration: figures against limits, and how sharpness, light and lens lie over the field.

SVG. Every figure stands in words; the three fields show where to look: the width of edges at nine places, the
light of a white sheet, and how the lens moves the corners of a grid (drawn eight times as long).
"""

from __future__ import annotations

from xml.sax.saxutils import escape

import numpy as np

from recount_classifier.lens import Lens, picture_grid
from recount_device.calibration.chart_optics import PLACES, Optics
from recount_device.calibration.checks import LIMITS_BY_NAME
from recount_device.calibration.page import Walk, check_line
from recount_device.calibration.steps import Step
from recount_device.calibration.svg import BAD, INK, QUIET, line, text

WIDTH_PX = 960
_FIELD = 190
"""Width of a field; it is as high as a letter sheet."""
_FIELD_LEFT = (24, 344, 664)
_LINE, _GAP = 22, 12
_WORDS_PX = 112
"""Letters on a line."""
_LONGER = 8
_GRID = 9


def drawing(walk: Walk) -> str:
    """Return the SVG text."""
    lines = [entry for step in walk.steps for entry in _step_lines(step)]
    told = [
        "",
        *_wrapped((*([walk.said] if walk.said else []), *(f"Do: {advice}" for advice in walk.advice))),
    ]
    high = round(_FIELD * 22 / 17)
    gaps = len(walk.steps) + 1
    fields_top = 84 + _LINE * (len(lines) + len(told) - gaps) + _GAP * gaps + 44
    height = fields_top + high + 60
    verdict = "PASSED" if walk.passed else "FAILED"
    size = f'viewBox="0 0 {WIDTH_PX} {height}" width="{WIDTH_PX}" height="{height}"'
    title = f"Calibration of {walk.who}: {verdict}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" fill="{INK}">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH_PX}" height="{height}" fill="#fff"/>',
        text(24, 36, title, size=20, weight="bold"),
        text(24, 62, walk.when, colour=QUIET),
    ]
    y = 84.0
    for words, colour, weight in [*lines, *((words, INK, "bold") for words in told)]:
        parts.append(text(24 if weight == "bold" else 44, y, words, colour=colour, weight=weight))
        y += _LINE if words else _GAP
    parts += _edges(walk.seen.optics, fields_top, high)
    parts += _light(walk, fields_top, high)
    parts += _lens(walk.lens, fields_top, high)
    return "\n".join([*parts, "</svg>", ""])


def _step_lines(step: Step) -> list[tuple[str, str, str]]:
    """Return (words, colour, weight) of each line of a step."""
    head = f"{step.title}: {'passed' if step.passed else 'FAILED'}, {step.pictures} pictures"
    lines = [("", INK, "normal"), (head, INK if step.passed else BAD, "bold")]
    lines += [(check_line(one).strip(), INK if one.holds else BAD, "normal") for one in step.checks]
    lines += [(words, QUIET, "normal") for words in _wrapped(step.notes)]
    return lines


def _wrapped(sentences: tuple[str, ...]) -> list[str]:
    """Return the sentences in lines that fit."""
    lines: list[str] = []
    for sentence in sentences:
        line_ = ""
        for word in sentence.split():
            if len(line_) + len(word) + 1 > _WORDS_PX:
                lines.append(line_)
                line_ = "  "
            line_ = f"{line_} {word}".strip() if line_.strip() else line_ + word
        lines.append(line_)
    return lines


def _frame(number: int, top: float, high: float, title: str) -> list[str]:
    left = _FIELD_LEFT[number]
    return [
        text(left, top - 10, title, size=13, weight="bold"),
        f'<rect x="{left}" y="{top}" width="{_FIELD}" height="{high}" fill="none" stroke="{QUIET}"/>',
    ]


def _edges(pictures: tuple[Optics, ...], top: float, high: float) -> list[str]:
    """Return the widths of edges at the nine places: of the worst picture."""
    parts = _frame(0, top, high, "Edges from 10 % to 90 %, mm")
    if not pictures:
        return parts
    worst = max(pictures, key=lambda one: one.bluntest.edge_mm)
    places = {place.name: place for place in worst.places}
    most = LIMITS_BY_NAME["edge_mm"].most or 0.0
    for row, names in enumerate(PLACES):
        for column, name in enumerate(names):
            if name in places:
                width = places[name].edge_mm
                x, y = _FIELD_LEFT[0] + (column + 0.5) * _FIELD / 3, top + (row + 0.5) * high / 3 + 5
                colour = INK if width <= most else BAD
                parts.append(text(x, y, f"{width:.2f}", size=16, colour=colour, anchor="middle"))
    return parts


def _light(walk: Walk, top: float, high: float) -> list[str]:
    """Return the white sheet's light, the brightest piece white, the limit of evenness dark."""
    light = walk.seen.light
    parts: list[str] = []
    if light is not None:
        rows, columns = light.shape
        share = light / max(1.0, float(light.max()))
        for row in range(rows):
            for column in range(columns):
                # Twice as dark as it is: a fall to the limit would hardly be seen.
                grey = round(255 * max(0.0, 1 - 2 * (1 - float(share[row, column]))))
                x, y = _FIELD_LEFT[1] + column * _FIELD / columns, top + row * high / rows
                size = f'width="{_FIELD / columns + 0.5:.2f}" height="{high / rows + 0.5:.2f}"'
                parts.append(f'<rect x="{x:.2f}" y="{y:.2f}" {size} fill="rgb({grey},{grey},{grey})"/>')
    parts += _frame(1, top, high, "Light on white paper (fall drawn twice)")
    if light is not None:
        told = f"from {light.min():.0f} to {light.max():.0f} grey"
        parts.append(text(_FIELD_LEFT[1], top + high + 20, told, size=13, colour=QUIET))
    return parts


def _lens(lens: Lens | None, top: float, high: float) -> list[str]:
    """Return how the lens moves a grid of points."""
    parts = _frame(2, top, high, f"Lens: where it moves points ({_LONGER} x)")
    if lens is None:
        return parts
    scale = min(_FIELD / lens.width, high / lens.height)
    grid = picture_grid(lens.width, lens.height, _GRID, 0.9)
    moved = lens.bent(grid) - grid
    for (x, y), (dx, dy) in zip(grid, moved, strict=True):
        x0, y0 = _FIELD_LEFT[2] + x * scale, top + y * scale
        parts.append(line(x0, y0, x0 + _LONGER * dx * scale, y0 + _LONGER * dy * scale, INK, width=1.5))
        parts.append(f'<circle cx="{x0:.1f}" cy="{y0:.1f}" r="1.8" fill="{INK}"/>')
    farthest = float(np.hypot(moved[:, 0], moved[:, 1]).max())
    told = f"up to {farthest:.1f} of {lens.width} x {lens.height} pixels"
    parts.append(text(_FIELD_LEFT[2], top + high + 20, told, size=13, colour=QUIET))
    return parts
