"""Reading a sheet: locate, then judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recount_classifier.deck_mark import EXPECTED_GATE
from recount_classifier.evidence import Evidence, Refusal
from recount_classifier.judge import Verdict, judge
from recount_classifier.lens import Lens
from recount_classifier.locate import locate
from recount_classifier.program import Program


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """A sheet's fate. `evidence` and `verdict` are None for a sheet that could not be located."""

    fate: str
    choices: tuple[str, ...]
    reasons: tuple[str, ...]
    evidence: Evidence | None
    verdict: Verdict | None


def read_sheet(
    sides: Sequence[NDArray[np.uint8]],
    program: Program,
    *,
    expects_test: bool = False,
    lens: Lens | None = None,
) -> Reading:
    """Return the reading of a sheet from its one or two grey pictures.

    In a logic-and-accuracy test (`expects_test`) a sheet must bear the TEST mark, else it must not. `lens` is
    the calibration of the camera that took the first picture.
    """
    return judge_located(locate_sheet(sides, program, expects_test=expects_test, lens=lens), program)


def locate_sheet(
    sides: Sequence[NDArray[np.uint8]],
    program: Program,
    *,
    expects_test: bool = False,
    lens: Lens | None = None,
) -> Evidence | Refusal:
    """Return the first half of a reading: the contest as it was found, with what is expected of the sheet."""
    located = locate(sides, program, lens)
    if expects_test and isinstance(located, Evidence):
        return replace(located, gates={**located.gates, EXPECTED_GATE: 1.0})
    return located


def judge_located(located: Evidence | Refusal, program: Program) -> Reading:
    """Return the reading of a sheet from its first half."""
    if isinstance(located, Refusal):
        return Reading(located.fate, (), located.reasons, None, None)
    verdict = judge(located, program)
    return Reading(verdict.fate, verdict.choices, verdict.reasons, located, verdict)
