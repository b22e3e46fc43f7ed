"""A sheet has the same verdict whatever the machine: other vector instructions, no Intel routines.

Another release of OpenCV and another processor: `make same-verdict`, `make same-verdict-arm64`.
"""

import sys
from collections.abc import Callable
from itertools import chain, islice
from pathlib import Path

import pytest

from device.tests.classifier.kit import drawn_sheets, real_sheets, write_kit
from device.tests.classifier.same_verdict import REPOSITORY, compare, read_kit
from device.tests.classifier.test_failure_table import TABLE

SWITCHED_OFF = {
    "without Intel's IPP": {"OPENCV_IPP": "disabled"},
    "without AVX2 and what is newer": {
        "OPENCV_CPU_DISABLE": "AVX2,AVX512-SKX",
        "NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR",
    },
}
LARGEST = {"cover": 0.01, "core": 0.002, "ring": 0.002, "halo": 0.002, "place_px": 0.05}
"""Differences from here on would mean that another thing is measured, not that it is rounded otherwise."""


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return drawn sheets of every other kind of trouble, and a few real ones where they are at hand."""
    folder = tmp_path_factory.mktemp("kit")
    ballots = REPOSITORY.parent / "shared" / "ballots"
    real = islice(real_sheets(ballots, ("durant", "juneau"), 1), 8) if ballots.is_dir() else iter(())
    write_kit(folder, chain(drawn_sheets(range(1), TABLE[::2]), real))
    return folder


@pytest.fixture(scope="module")
def here(kit: Path) -> dict[str, object]:
    """Return what is read with everything switched on."""
    return read_kit(kit, [sys.executable])


@pytest.mark.parametrize("what", SWITCHED_OFF)
def test_the_verdict_is_the_same(
    what: str, kit: Path, here: dict[str, object], record_property: Callable[[str, object], None]
):
    found = compare(here, read_kit(kit, [sys.executable], SWITCHED_OFF[what]))
    record_property(what, "\n".join(found.lines()))
    assert found.read >= 28
    assert found.counted >= 12
    assert found.different == []
    assert {
        name: found.largest[name] for name, most in LARGEST.items() if found.largest[name][0] > most
    } == {}
