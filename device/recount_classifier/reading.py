"""Reading a sheet: locate, then judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recount_classifier.deck_mark import EXPECTED_GATE
from recount_classifier.evidence import Evidence, Refusal
from recount_classifier.judge import Verdict, judge
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
    sides: Sequence[NDArray[np.uint8]], program: Program, *, expects_test: bool = False
) -> Reading:
    """Return the reading of a sheet from its one or two grey pictures.

    In a logic-and-accuracy test (`expects_test`) a sheet must bear the TEST mark, else it must not.
    """
    located = locate(sides, program)
    if isinstance(located, Refusal):
        return Reading(located.fate, (), located.reasons, None, None)
    if expects_test:
        located = replace(located, gates={**located.gates, EXPECTED_GATE: 1.0})
    verdict = judge(located, program)
    return Reading(verdict.fate, verdict.choices, verdict.reasons, located, verdict)
