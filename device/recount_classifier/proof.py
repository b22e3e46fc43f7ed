"""The proof that this is the contest: the print beside every target, its quality, and whose it is.

Registration alone never identifies a style: pages of one county register against almost all of its styles.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from recount_classifier.matching import Stack, Values
from recount_classifier.misfit import Misfit
from recount_classifier.points import median
from recount_classifier.program import DETAIL_SEARCH, STYLES_KEPT, Program, Style
from recount_classifier.raster import above, eroded, ones
from recount_classifier.registration import Fit, Votes
from recount_classifier.rivals import Rivals, rivals_of
from recount_classifier.thresholds import Thresholds

_SLACK = ones(3, 3)


@dataclass(frozen=True, slots=True, eq=False)
class Printed:
    """The print beside every target of a style, prepared for the proof. Kept for each style in use."""

    labels: Stack
    strong: Stack
    """Where the labels' ink is strong (1)."""
    strong_pixels: Values
    gradients: Values
    rivals: Rivals
    names: NDArray[np.bool_]
    """Which targets are of printed options, not of write-in lines."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The print beside every target, as found. Arrays have one value for each target."""

    found: Stack
    windows: Stack
    scores: Values
    residuals: Values


@lru_cache(maxsize=STYLES_KEPT)
def _printed(style: Style, write_in_keys: frozenset[str]) -> Printed:
    labels = np.stack([style.paths[0].details[target.label].pixels for target in style.targets])
    flat = labels.reshape(len(labels), -1)
    white, black = np.percentile(flat, 85, axis=1), np.percentile(flat, 3, axis=1)
    strong = (labels < (black + 0.35 * (white - black))[:, None, None]).astype(np.uint8)
    options = [target.option for target in style.targets]
    return Printed(
        labels,
        strong,
        np.maximum(_ink_pixels(strong), 1),
        np.maximum(_gradients(labels), 1e-6),
        rivals_of(labels, DETAIL_SEARCH, options, write_in_keys),
        np.array([option not in write_in_keys for option in options]),
    )


def prove(
    style: Style, program: Program, votes: Votes, fitted: Fit, gates: dict[str, float]
) -> tuple[str, ...]:
    """Return why the sheet is refused; empty when every label is proved. Fills in the gates' values."""
    printed = _printed(style, program.write_in_keys)
    indices = [target.label for target in style.targets]
    windows = np.stack([votes.windows[index] for index in indices])
    found = _at_offsets(windows, fitted.offsets[indices], printed.labels.shape)
    labels = Labels(found, windows, votes.scores[indices], fitted.distances[indices])
    gates["white"], gates["black"] = (median(levels) for levels in _levels(found, (85, 4)))
    sharpness = _gradients(found) / printed.gradients
    gates["sharpness"] = median(sharpness)
    gates["residual_px"] = float(np.max(labels.residuals))
    gates["label_match"] = float(np.min(labels.scores))
    picture = _picture_fault(gates, program.thresholds)
    absent = _absent(printed, program.thresholds, labels, gates)
    exchanged = _are_exchanged(printed, program.thresholds, labels)
    if picture is None and not exchanged and not absent.any():
        return ()
    misfit = Misfit(printed.labels, found, sharpness, printed.names, absent, exchanged, picture)
    return (misfit.reason(program.thresholds),)


def _picture_fault(gates: dict[str, float], limits: Thresholds) -> str | None:
    """Return what is wrong with the picture, by the print beside the targets."""
    if gates["white"] < limits.paper_low_grey:
        return "exposure"
    # What is blurred is pale too; what is pale is not blurred.
    if gates["sharpness"] < limits.sharpness:
        return "blurred"
    if gates["white"] - gates["black"] < limits.contrast_grey:
        return "contrast"
    return None


def _absent(
    printed: Printed, limits: Thresholds, labels: Labels, gates: dict[str, float]
) -> NDArray[np.bool_]:
    """Return which of the labels are not printed there."""
    missing = _missing(labels.found, printed, gates["white"], gates["black"])
    unlike = labels.scores < limits.label_match
    # Ink over a label hides nothing of it; where the print itself is absent, it is other print.
    absent = (missing > limits.print_missing_share) | (unlike & (missing > limits.print_hidden_share))
    gates["print_missing"] = float(missing.max())
    gates["labels_covered"] = float((unlike & ~absent).sum())
    return absent


def _are_exchanged(printed: Printed, limits: Thresholds, labels: Labels) -> bool:
    """Return whether another option's label stands in a label's place."""
    alike = np.maximum(limits.rival_match, labels.scores - limits.label_margin)
    rivals = printed.rivals.best(labels.windows, alike)
    return bool(((rivals > labels.scores - limits.label_margin) & (rivals >= limits.rival_match)).any())


def _at_offsets(windows: Stack, offsets: Values, shape: tuple[int, ...]) -> Stack:
    """Return the part of each searched window where the registration puts its label."""
    _, height, width = shape
    margin_y, margin_x = (windows.shape[1] - height) // 2, (windows.shape[2] - width) // 2
    found = np.empty(shape, np.uint8)
    for index, (dx, dy) in enumerate(offsets.tolist()):
        x = min(max(0, margin_x + round(dx)), 2 * margin_x)
        y = min(max(0, margin_y + round(dy)), 2 * margin_y)
        found[index] = windows[index, y : y + height, x : x + width]
    return found


def _levels(found: Stack, percents: tuple[int, ...]) -> list[Values]:
    """Return the grey below which each of these percents of every ground lies."""
    some = found[:, ::2, ::3].reshape(len(found), -1)
    places = [some.shape[1] * percent // 100 for percent in percents]
    ordered = np.partition(some, places, axis=1)
    return [ordered[:, place].astype(np.float64) for place in places]


def _gradients(patches: Stack) -> Values:
    """Return each patch's gradient energy along its rows, for equal contrast."""
    count, height, width = patches.shape
    grey = patches.reshape(count, -1).astype(np.float32)
    grey -= grey.mean(axis=1, keepdims=True)
    rows = grey.reshape(patches.shape)
    steps = (rows[:, :, 1:] - rows[:, :, :-1]).reshape(count, -1)
    energy = np.einsum("ij,ij->i", steps, steps) / (height * (width - 1))
    variance = np.einsum("ij,ij->i", grey, grey) / (height * width)
    return np.sqrt(energy, dtype=np.float64) / np.maximum(1.0, np.sqrt(variance))


def _missing(found: Stack, printed: Printed, white: float, black: float) -> Values:
    """Return the share of each label's ink that is absent, one pixel of slack allowed."""
    limit = int(white - 0.35 * (white - black))
    count, height, width = found.shape
    # Below each other in one picture, parted by white rows.
    parted = np.full((count, height + 1, width), 255, np.uint8)
    parted[:, :height] = found
    absent = above(eroded(parted.reshape(-1, width), _SLACK), limit).reshape(parted.shape)[:, :height]
    return _ink_pixels(absent & printed.strong) / printed.strong_pixels


def _ink_pixels(masks: Stack) -> Values:
    return np.count_nonzero(masks.reshape(len(masks), -1), axis=1).astype(np.float64)
