"""The measured process of `bench.py`: it holds a program and a page, reads, and prints its figures as JSON.

It imports what a device imports and no more, so that its peak memory is the device's. Everything is measured
in turn, round by round, hot against hot: before each thing is timed it is done twice without a clock, so that
it finds its page and its own code in the caches, as in a loop of its own.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import cv2
import numpy as np

from recount_classifier.anchors import locate_anchors
from recount_classifier.evidence import Evidence
from recount_classifier.ground import flatten
from recount_classifier.judge import judge, measure_targets, see_ground
from recount_classifier.locate import LANDMARK_SEARCH, NEAR_ANCHOR, locate
from recount_classifier.program import (
    ANCHOR_LEVEL,
    DETAIL_SEARCH,
    LANDMARK_LEVEL,
    Program,
    read_program,
)
from recount_classifier.proof import prove
from recount_classifier.pyramid import build_pyramid
from recount_classifier.raster import Grey
from recount_classifier.reading import read_sheet
from recount_classifier.registration import Search, fit, look_for
from recount_classifier.sheet_map import SheetMap, shifted

WARMING = 2
Work = dict[str, Callable[[], object]]
HALF, READ, LOCATE, JUDGE = "half", "read", "locate", "judge"


def measure(folder: Path, rounds: int, *, whole: bool) -> dict[str, list[float]]:
    """Return [median, best] in milliseconds of what is done in turn, and the process's peak memory.

    `whole` adds the other primitives and the steps of a reading.
    """
    cv2.setNumThreads(1)
    contest = read_program((folder / "contest.program").read_bytes())
    page: Grey = np.load(folder / "page.npy")
    page.copy()  # as after the sheet before: the allocator keeps a page's memory once one was let go
    located = locate([page], contest)
    assert isinstance(located, Evidence)
    assert read_sheet([page], contest).fate == "counted"
    evidence: Evidence = located
    work: Work = {
        HALF: _half(page),
        LOCATE: lambda: locate([page], contest),
        JUDGE: lambda: judge(evidence, contest),
        READ: lambda: read_sheet([page], contest),
    }
    if whole:
        work |= _primitives(page, evidence) | _steps(page, evidence, contest)
    times = _timed(work, rounds)
    figures = {name: [median(values), min(values)] for name, values in times.items()}
    return figures | {"peak_mib": [_peak_mib()]}


def _timed(work: Work, rounds: int) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, function in work.items():
            for _ in range(WARMING):
                function()
            began = time.perf_counter()
            function()
            times[name].append((time.perf_counter() - began) * 1000)
    return times


def _half(page: Grey) -> Callable[[], object]:
    height, width = page.shape
    return lambda: cv2.resize(page, (width // 2, height // 2), interpolation=cv2.INTER_AREA)


def _primitives(page: Grey, evidence: Evidence) -> Work:
    """Return what others may compare with: single calls of the libraries."""
    crop, ground = evidence.crop, page[500:542, 500:558].copy()
    patch = ground[5:-5, 5:-5].copy()
    upright = np.array([[1.0, 0.004, 3.0], [-0.004, 1.0, 4.0]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    height, width = crop.shape
    return {
        "np.copy of the page": page.copy,
        "cv2.meanStdDev of the page": lambda: cv2.meanStdDev(page),
        "cv2.GaussianBlur 5 x 5 of the contest's crop": lambda: cv2.GaussianBlur(crop, (5, 5), 0),
        "cv2.warpAffine of the contest's crop": lambda: cv2.warpAffine(
            crop, upright, (width, height), flags=flags
        ),
        "cv2.matchTemplate, 48 x 32 in 58 x 42": lambda: cv2.matchTemplate(
            ground, patch, cv2.TM_CCOEFF_NORMED
        ),
    }


def _steps(page: Grey, evidence: Evidence, contest: Program) -> Work:
    """Return the steps of a reading, each with what the one before leaves to it."""
    style, limits = contest.styles_by_id[evidence.style_id], contest.thresholds
    corner = evidence.gates["crop_left"], evidence.gates["crop_top"]
    maps = [SheetMap(shifted(one, *corner), style.frame) for one in evidence.registrations]
    pyramids = [build_pyramid(page, ANCHOR_LEVEL, start) for start in (0, 1)]
    details = [Search(*one) for one in zip(pyramids, maps, (p.details for p in style.paths), strict=True)]
    landmarks = [Search(*one) for one in zip(pyramids, maps, (p.landmarks for p in style.paths), strict=True)]
    votes = look_for(details, 0, DETAIL_SEARCH)
    fitted = fit(votes, maps, limits.landmark_match)[0]
    flats = [flatten(evidence.crop, registration, style) for registration in evidence.registrations]
    seen = [see_ground(flat, 0.0, style, limits) for flat in flats]
    both = (0, 1)
    return {
        "step: two pyramids of the page": lambda: [
            build_pyramid(page, ANCHOR_LEVEL, start) for start in both
        ],
        "step: anchors, one path": lambda: locate_anchors(
            pyramids[0].levels[ANCHOR_LEVEL], style.paths[0].anchors, NEAR_ANCHOR
        ),
        "step: landmarks, both paths": lambda: look_for(landmarks, LANDMARK_LEVEL, LANDMARK_SEARCH),
        "step: labels and other print, both paths": lambda: look_for(details, 0, DETAIL_SEARCH),
        "step: fitting both maps, twice": lambda: [fit(votes, maps, limits.landmark_match) for _ in both],
        "step: proof of the labels": lambda: prove(style, contest, votes[0], fitted, {}),
        "step: the contest laid on its blank, twice": lambda: [
            flatten(evidence.crop, registration, style) for registration in evidence.registrations
        ],
        "step: ink, lines and strokes, twice": lambda: [
            see_ground(flat, 0.0, style, limits) for flat in flats
        ],
        "step: targets, twice": lambda: measure_targets(seen, style, limits),
    }


def _peak_mib() -> float:
    """Return this process's own peak; getrusage would tell the parent's, which was copied at the fork."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]), whole=sys.argv[3] == "whole")))
