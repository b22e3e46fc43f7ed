"""The measured process of `bench.py`: it holds a program and a page, reads, and prints its figures as JSON.

It imports what a device imports and no more, so that its peak memory is the device's.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import cv2
import numpy as np

from recount_classifier.evidence import Evidence
from recount_classifier.judge import judge
from recount_classifier.locate import locate
from recount_classifier.program import read_program
from recount_classifier.raster import Grey
from recount_classifier.reading import read_sheet


def measure(folder: Path, rounds: int) -> dict[str, float]:
    """Return medians in milliseconds of what is done in turn, and the process's peak memory."""
    cv2.setNumThreads(1)
    contest = read_program((folder / "contest.program").read_bytes())
    page: Grey = np.load(folder / "page.npy")
    height, width = page.shape
    located = locate([page], contest)
    assert isinstance(located, Evidence)
    assert read_sheet([page], contest).fate == "counted"
    evidence: Evidence = located
    work: dict[str, Callable[[], object]] = {
        "half": lambda: cv2.resize(page, (width // 2, height // 2), interpolation=cv2.INTER_AREA),
        "locate": lambda: locate([page], contest),
        "judge": lambda: judge(evidence, contest),
        "read": lambda: read_sheet([page], contest),
    }
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, function in work.items():
            function()  # hot against hot: each finds the page and its own code in the caches
            began = time.perf_counter()
            function()
            times[name].append((time.perf_counter() - began) * 1000)
    figures = {name: median(values) for name, values in times.items()}
    figures |= {f"least_{name}": min(values) for name, values in times.items()}
    return figures | {"peak_mib": _peak_mib()}


def _peak_mib() -> float:
    """Return this process's own peak; getrusage would tell the parent's, which was copied at the fork."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))))
