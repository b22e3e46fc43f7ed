"""The picture of a calibration: the scores of empty and marked targets against the thresholds, as SVG.

One row for each score. Above the row's line the marked targets, below it the empty ones, as bars over a scale
by square roots: it spreads the small scores, where the limits of empty lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from recount_classifier.thresholds import Thresholds
from recount_device.calibration.mark_margins import MARK_SCORES, SCORES, Result, Scores
from recount_device.calibration.svg import BAD, INK, QUIET, line, text

WIDTH_PX = 960
_LEFT, _RIGHT = 190, 30
_TOP, _ROW = 96, 132
_HALF = 44
_BINS = 110
_TICKS = (0.0, 0.01, 0.03, 0.1, 0.25, 0.5, 1.0)
_MARKED, _EMPTY = "#00549e", "#007a54"
_WORDS = {
    "cover": "ink inside",
    "core": "pale ink inside",
    "ring": "ink on the outline",
    "halo": "ink round the target",
    "spot": "largest spot",
    "relief": "ink above its ground",
    "tone": "how dark that is",
}
_ROWS = (*SCORES, *MARK_SCORES)
_MARKED_FROM = {"cover": "marked_cover", **MARK_SCORES}
"""Rows that show where marks begin: the cover's too, for the room between."""


def plot(title: str, scores: Scores, result: Result, limits: Thresholds) -> str:
    """Return the SVG text."""
    height = _TOP + _ROW * len(_ROWS) + 30
    verdict = "PASSED" if result.passed else "FAILED"
    counts = f"{scores.blanks} blank and {scores.decks} marked sheets"
    size = f'viewBox="0 0 {WIDTH_PX} {height}" width="{WIDTH_PX}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" fill="{INK}">',
        f"<title>{escape(f'{title}: {verdict}')}</title>",
        f'<rect width="{WIDTH_PX}" height="{height}" fill="#fff"/>',
        text(24, 36, f"{title}: {verdict}", size=20, weight="bold"),
        text(24, 62, f"{counts}. Bars up: marked targets. Bars down: empty targets.", colour=QUIET),
    ]
    for row, name in enumerate(_ROWS):
        y = _TOP + row * _ROW + _HALF + 14
        parts += _row(y, name, scores, limits)
        parts.append(_margin(y, name, result))
    return "\n".join([*parts, "</svg>", ""])


def _row(y: float, name: str, scores: Scores, limits: Thresholds) -> list[str]:
    parts = [
        text(24, y - 4, name, weight="bold"),
        text(24, y + 16, _WORDS[name], size=13, colour=QUIET),
    ]
    for marked, colour in ((True, _MARKED), (False, _EMPTY)):
        values = [score.values[name] for score in scores.of(marked=marked)]
        parts += _bars(y, values, colour, up=marked)
    parts.append(line(_LEFT, y, WIDTH_PX - _RIGHT, y, INK))
    for tick in _TICKS:
        parts.append(line(_x(tick), y + _HALF + 6, _x(tick), y + _HALF + 11, QUIET))
        parts.append(text(_x(tick), y + _HALF + 25, f"{tick:g}", size=12, colour=QUIET, anchor="middle"))
    if name in SCORES:
        limit = float(getattr(limits, SCORES[name]))
        parts.append(line(_x(limit), y - _HALF, _x(limit), y + _HALF + 6, _EMPTY, dash="5 4"))
        parts.append(text(_x(limit) + 5, y + _HALF, f"empty below {limit:g}", size=12, colour=_EMPTY))
    if name in _MARKED_FROM:
        least = float(getattr(limits, _MARKED_FROM[name]))
        parts.append(line(_x(least), y - _HALF, _x(least), y + _HALF + 6, _MARKED, width=2))
        parts.append(text(_x(least) + 5, y - _HALF + 10, f"marked from {least:g}", size=12, colour=_MARKED))
    return parts


def _margin(y: float, name: str, result: Result) -> str:
    """Return the row's word: whether all its margins are kept."""
    # How far empty lies from marked is a margin of the cover.
    names = {name} if name != "cover" else {"cover", "between"}
    rows = [margin for margin in result.margins if margin.name in names]
    if all(margin.holds for margin in rows):
        return text(24, y + 36, "margin kept", size=13, colour=QUIET)
    return text(24, y + 36, "! too close", size=13, colour=BAD, weight="bold")


def _x(value: float) -> float:
    share = min(1.0, max(0.0, value)) ** 0.5
    return _LEFT + share * (WIDTH_PX - _LEFT - _RIGHT)


def _bars(y: float, values: Sequence[float], colour: str, *, up: bool) -> list[str]:
    """Return one bar for each bin that holds a value; its height grows with the root of their number."""
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int(min(1.0, max(0.0, value)) ** 0.5 * _BINS))] += 1
    most = max(counts, default=0)
    wide = (WIDTH_PX - _LEFT - _RIGHT) / _BINS
    bars: list[str] = []
    for index, count in enumerate(counts):
        if count:
            high = max(4.0, _HALF * (count / most) ** 0.5)
            top = y - high if up else y
            bars.append(
                f'<rect x="{_LEFT + index * wide:.1f}" y="{top:.1f}" width="{wide - 1:.1f}" '
                f'height="{high:.1f}" fill="{colour}"><title>{count}</title></rect>'
            )
    return bars
