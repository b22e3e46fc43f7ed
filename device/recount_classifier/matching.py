"""Finding one small patch of the blank in a picture: normalised correlation with a sub-pixel peak."""

from __future__ import annotations

from recount_classifier.raster import Float, Grey, correlation, highest


def peak(scores: Float) -> tuple[float, float, float]:
    """Return (x, y, score) of the best match, refined by a parabola through its neighbours.

    A patch without contrast makes the correlation infinite or undefined; that is no match (score 0).
    """
    best, x, y = highest(scores)
    if not -1.01 <= best <= 1.01:
        return float(x), float(y), 0.0
    height, width = scores.shape
    dx = dy = 0.0
    if 0 < x < width - 1:
        left, right = float(scores[y, x - 1]), float(scores[y, x + 1])
        curve = left - 2 * best + right
        if curve < 0:
            dx = max(-0.5, min(0.5, 0.5 * (left - right) / curve))
    if 0 < y < height - 1:
        above, below = float(scores[y - 1, x]), float(scores[y + 1, x])
        curve = above - 2 * best + below
        if curve < 0:
            dy = max(-0.5, min(0.5, 0.5 * (above - below) / curve))
    return x + dx, y + dy, best


def find(window: Grey, patch: Grey) -> tuple[float, float, float]:
    """Return (x, y, correlation) of `patch`'s top left corner in `window`, which is not smaller."""
    return peak(correlation(window, patch))
