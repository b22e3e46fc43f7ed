"""Whether this device, on this paper and with these pens, keeps clear of the program's thresholds.

Known blanks and a known deck are read; what their targets score is held against the thresholds of the
contest program. Thresholds are never fitted to a device: it passes or fails, and other thresholds are another
program. Pure: no file, no picture.

The margins. A score is never quite the same twice: of marks on real ballots that were scanned again, cover,
relief and tone had a standard deviation of 0.003 to 0.010. Five of them are kept free on each side:

* empty: 99.99 % of the empty targets, and 5 standard deviations more, score below the limit of an empty
  target, in every score. The standard deviation is measured here: how the blanks' scores of one and the same
  target differ from sheet to sheet, which takes in the paper's own differences too.
* marked: relief and tone of every mark are 5 x 0.010 above the limit of a mark. A deck's marks differ from
  each other, so the highest of the measured standard deviations stands for the device's own. Relief is the
  cover by ink that stands out from the ground round the target, so it falls where the paper is tinted or the
  lamp leaves a shade; tone is how dark that ink is, and falls with a pale pen or a bright lamp.
* between: from where empty ends (99.99 % and 5 standard deviations of the cover) to `marked_cover` it is 0.10
  at least, the room in which ticks and touches fall to people.

With fewer than ten thousand empty targets the 99.99th percentile is the highest of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recount_classifier.decide import EMPTY, MARKED
from recount_classifier.program import Program
from recount_classifier.reading import Reading
from recount_classifier.reasons import REASONS
from recount_classifier.thresholds import Thresholds

SCORES: Mapping[str, str] = {
    "cover": "clear_cover",
    "core": "clear_core",
    "ring": "clear_ring",
    "halo": "clear_halo",
    "spot": "clear_spot",
}
"""Each score with the limit that an empty target keeps below."""

MARK_SCORES: Mapping[str, str] = {"relief": "marked_cover", "tone": "marked_tone"}
"""Each score with the limit that a mark keeps above."""

EMPTY_PERCENTILE = 99.99
GUARD_SD = 5.0
RESCAN_SD = 0.010
"""Highest standard deviation of a mark's cover on real ballots that were scanned twice; of all 41 such marks
together it is 0.005, of relief and tone as well."""
LEAST_GAP = 0.10
RECOMMENDED_SHEETS = 200
"""Of each kind, before a device is trusted in a recount."""
LEAST_BLANKS = 2
"""Fewer do not show how a score repeats."""

_SAID_OTHERWISE = frozenset(
    {"overvote", "undervote", "write_in", "marginal_repeated_option", "marginal_mark"}
)
"""Reasons that a known blank or a known mark gives by itself, or that the targets' states tell better."""


@dataclass(frozen=True, slots=True)
class Score:
    """What one target of a known sheet scored, by the worse registration: most if empty, least if marked."""

    sheet: str
    option: str
    target: tuple[str, int]
    """Style and number of the target: the same place on every sheet."""
    marked: bool
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Scores:
    """All that was read."""

    scores: tuple[Score, ...]
    blanks: int
    decks: int
    troubles: tuple[tuple[str, str], ...]
    """(sheet, sentence) of every known sheet that is not read as what it is."""

    def of(self, *, marked: bool) -> tuple[Score, ...]:
        """Return the scores of all marked, or all empty targets."""
        return tuple(score for score in self.scores if score.marked is marked)


@dataclass(frozen=True, slots=True)
class Margin:
    """One thing that must hold: what was measured, with its guard, against a limit."""

    name: str
    """A score of empty targets or of marks, or "between"."""
    measured: float
    guard: float
    limit: float
    worst: str
    """The target that comes closest."""
    spare: float
    """What is left; below 0 the margin fails."""

    @property
    def holds(self) -> bool:
        """Return whether the margin is kept."""
        return self.spare >= 0


@dataclass(frozen=True, slots=True)
class Result:
    """The device's calibration."""

    margins: tuple[Margin, ...]
    troubles: tuple[tuple[str, str], ...]

    @property
    def passed(self) -> bool:
        """Return whether the device may be used with this program, paper and pens."""
        return not self.troubles and all(margin.holds for margin in self.margins)

    @property
    def advice(self) -> str:
        """Return in one sentence what to do; empty when the device passed."""
        if self.passed:
            return ""
        failed = {margin.name for margin in self.margins if not margin.holds}
        if self.troubles:
            cause = "Known sheets are not read as what they are"
        elif failed & set(SCORES):
            cause = "Empty targets score too close to ink"
        elif "tone" in failed:
            cause = "The palest marks are too close to the threshold"
        elif "relief" in failed:
            cause = "The weakest marks are too close to the threshold"
        else:
            cause = "Empty and marked lie too close together"
        return (
            f"{cause}: clean the glass, check the lamp, and calibrate again; if that does not help, use "
            "other pens or paper, or build another program with other thresholds."
        )


def scores_of(
    sheet: str, reading: Reading, marked_keys: frozenset[str], program: Program
) -> tuple[list[Score], list[str]]:
    """Return what a known sheet's targets scored, and in sentences why it is not read as what it is.

    `marked_keys` are the options whose targets, all of them, are marked on it: none on a blank.
    """
    if reading.evidence is None or reading.verdict is None:
        return [], [REASONS[reason].sentence for reason in reading.reasons]
    style = program.styles_by_id[reading.evidence.style_id]
    scores: list[Score] = []
    troubles = [REASONS[reason].sentence for reason in reading.reasons if reason not in _SAID_OTHERWISE]
    for index, target in enumerate(style.targets):
        marked = target.option in marked_keys
        worst = min if marked else max
        seen = [measured.targets[index] for measured in reading.verdict.measurements]
        values = {name: worst(float(getattr(one, name)) for one in seen) for name in (*SCORES, *MARK_SCORES)}
        scores.append(Score(sheet, target.option, (style.id, index), marked, values))
        states = {measured.decision.states[index] for measured in reading.verdict.measurements}
        wanted = MARKED if marked else EMPTY
        if states != {wanted}:
            told = " and ".join(sorted(states - {wanted}))
            troubles.append(f"The target of {target.option} is {wanted} and was read as {told}.")
    return scores, troubles


def assess(scores: Scores, limits: Thresholds) -> Result:
    """Return whether all margins are kept. Raises ValueError without empty or without marked targets."""
    empty, marked = scores.of(marked=False), scores.of(marked=True)
    if not empty or not marked:
        raise ValueError("known blanks and known marks are needed")
    margins = [_empty_margin(name, empty, limits) for name in SCORES]
    margins += [_mark_margin(name, marked, limits) for name in MARK_SCORES]
    ends = margins[0].measured + margins[0].guard
    gap = limits.marked_cover - ends
    margins.append(Margin("between", gap, 0.0, LEAST_GAP, margins[0].worst, gap - LEAST_GAP))
    return Result(tuple(margins), scores.troubles)


def _empty_margin(name: str, empty: Sequence[Score], limits: Thresholds) -> Margin:
    values = np.array([score.values[name] for score in empty])
    measured = float(np.percentile(values, EMPTY_PERCENTILE, method="higher"))
    guard = GUARD_SD * repeat_sd(name, empty)
    limit = float(getattr(limits, SCORES[name])) - limits.guard(SCORES[name])
    worst = empty[int(values.argmax())]
    return Margin(name, measured, guard, limit, _named(worst), limit - measured - guard)


def _mark_margin(name: str, marked: Sequence[Score], limits: Thresholds) -> Margin:
    weakest = min(marked, key=lambda score: score.values[name])
    measured, guard = weakest.values[name], GUARD_SD * RESCAN_SD
    limit = float(getattr(limits, MARK_SCORES[name])) + limits.guard(MARK_SCORES[name])
    return Margin(name, measured, guard, limit, _named(weakest), measured - guard - limit)


def repeat_sd(name: str, empty: Sequence[Score]) -> float:
    """Return the standard deviation of one and the same empty target's score from sheet to sheet.

    Pooled over all targets that were seen on two sheets at least; 0 when none was.
    """
    places: dict[tuple[str, int], list[float]] = {}
    for score in empty:
        places.setdefault(score.target, []).append(score.values[name])
    several = [values for values in places.values() if len(values) > 1]
    if not several:
        return 0.0
    freedom = sum(len(values) - 1 for values in several)
    squares = sum(float(np.var(values)) * len(values) for values in several)
    return (squares / freedom) ** 0.5


def _named(score: Score) -> str:
    return f"{score.option} of {score.sheet}"
