"""The proof that this is the contest: the print beside every target, its quality, and whose it is.

Registration alone never identifies a style: pages of one county register against almost all of its styles.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recount_classifier.matching import find
from recount_classifier.program import Program, Style
from recount_classifier.raster import Grey, eroded, ones
from recount_classifier.registration import Fit, Votes
from recount_classifier.thresholds import Thresholds

Values = NDArray[np.float64]

_BARE_TEXTURE = 0.12
"""Deviation of grey, as a share of the contrast, below which there is no print at all."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The print beside every target, as printed and as found. Arrays have one value for each target."""

    printed: tuple[Grey, ...]
    found: tuple[Grey, ...]
    windows: tuple[Grey, ...]
    scores: Values
    residuals: Values


def prove(
    style: Style, program: Program, votes: Votes, fitted: Fit, gates: dict[str, float]
) -> tuple[str, ...]:
    """Return why the sheet is refused; empty when every label is proved. Fills in the gates' values."""
    indices = [target.label for target in style.targets]
    printed = tuple(style.paths[0].details[index].pixels for index in indices)
    found = tuple(
        _at_offset(votes.windows[index], fitted.offsets[index], label.shape)
        for index, label in zip(indices, printed, strict=True)
    )
    windows = tuple(votes.windows[index] for index in indices)
    labels = Labels(printed, found, windows, votes.scores[indices], fitted.distances[indices])
    gates["white"] = float(np.median([_level(ground, 85) for ground in found]))
    gates["black"] = float(np.median([_level(ground, 4) for ground in found]))
    gates["sharpness"] = float(np.median([_sharpness(*pair) for pair in zip(found, printed, strict=True)]))
    gates["residual_px"] = float(np.max(labels.residuals))
    gates["label_match"] = float(np.min(labels.scores))
    reason = _picture_fault(gates, program.thresholds) or _print_fault(style, program, labels, gates)
    return () if reason is None else (reason,)


def _picture_fault(gates: dict[str, float], limits: Thresholds) -> str | None:
    """Return what is wrong with the picture, by the print beside the targets."""
    if gates["white"] < limits.paper_low_grey:
        return "exposure"
    if gates["white"] - gates["black"] < limits.contrast_grey:
        return "contrast"
    if gates["sharpness"] < limits.sharpness:
        return "blurred"
    return None


def _print_fault(style: Style, program: Program, labels: Labels, gates: dict[str, float]) -> str | None:
    """Return why the print beside the targets is not this contest's."""
    limits = program.thresholds
    white, black = gates["white"], gates["black"]
    pairs = zip(labels.found, labels.printed, strict=True)
    missing = np.array([_missing(ground, label, white, black) for ground, label in pairs])
    unlike = labels.scores < limits.label_match
    # Ink over a label hides nothing of it; where the print itself is absent, it is other print.
    absent = (missing > limits.print_missing_share) | (unlike & (missing > limits.print_hidden_share))
    gates["print_missing"] = float(missing.max())
    gates["labels_covered"] = float((unlike & ~absent).sum())
    rivals = _rival_scores(style, program, labels)
    if bool(((rivals > labels.scores - limits.label_margin) & (rivals >= limits.rival_match)).any()):
        return "names_exchanged"
    if not absent.any():
        return None
    if any(float(labels.found[i].std()) < _BARE_TEXTURE * (white - black) for i in np.flatnonzero(absent)):
        return "not_on_paper"
    names = np.array([target.option not in program.write_in_keys for target in style.targets])
    return "other_contest" if names.sum() > 1 and bool(absent[names].all()) else "name_changed"


def _at_offset(window: Grey, offset: Values, shape: tuple[int, ...]) -> Grey:
    """Return the part of the searched window where the registration puts the label."""
    height, width = shape
    margin_y, margin_x = (window.shape[0] - height) // 2, (window.shape[1] - width) // 2
    x = min(max(0, margin_x + round(float(offset[0]))), 2 * margin_x)
    y = min(max(0, margin_y + round(float(offset[1]))), 2 * margin_y)
    return window[y : y + height, x : x + width]


def _level(ground: Grey, percent: int) -> float:
    flat = ground[::2, ::3].ravel()
    place = flat.size * percent // 100
    return float(np.partition(flat, place)[place])


def _sharpness(ground: Grey, label: Grey) -> float:
    """Return the gradient energy of the ground against the label's, both for equal contrast."""
    return _gradient(ground) / max(1e-6, _gradient(label))


def _gradient(patch: Grey) -> float:
    grey = patch.astype(np.float32)
    steps = np.diff(grey, axis=1)
    deviation = float(grey.std())
    return float(np.sqrt(np.mean(steps * steps))) / max(1.0, deviation)


def _missing(ground: Grey, label: Grey, white: float, black: float) -> float:
    """Return the share of the label's ink that is absent, one pixel of slack allowed."""
    label_white, label_black = float(np.percentile(label, 85)), float(np.percentile(label, 3))
    strong = label < label_black + 0.35 * (label_white - label_black)
    inked = eroded(ground, ones(3, 3))
    absent = inked > white - 0.35 * (white - black)
    total = int(strong.sum())
    return float((strong & absent).sum()) / max(1, total)


def _rival_scores(style: Style, program: Program, labels: Labels) -> Values:
    """Return for each target how well the best label of another printed option fits there."""
    best = np.full(len(labels.printed), -1.0)
    names = [i for i, target in enumerate(style.targets) if target.option not in program.write_in_keys]
    for index in names:
        for other in names:
            if style.targets[other].option != style.targets[index].option:
                score = find(labels.windows[index], labels.printed[other])[2]
                best[index] = max(best[index], score)
    return best
