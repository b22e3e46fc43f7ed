"""Two registrations find every target to a fraction of a pixel, and a sheet they differ on is not counted."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from device.tests.classifier.drawn_pages import fresh_page, program
from recount_ballots.scanner import SCANNERS
from recount_classifier.evidence import Evidence, EvidenceError
from recount_classifier.judge import judge
from recount_classifier.locate import locate
from recount_classifier.program import Patch
from recount_classifier.sheet_map import SheetMap, shifted

PAGES = 8
MEDIAN_PX, WORST_PX = 0.1, 0.5
"""Of the error at the contest's targets (the worst stands for the 99.9th percentile of so few)."""


def located(seed: int, scanner: str = "page_scanner") -> tuple[Evidence, NDArray[np.float64]]:
    """Return a marked sheet as located, and where its targets truly lie in the picture."""
    page = fresh_page((seed, 31))
    page.mark(page.choice, tool="black_pen")
    page.settings = SCANNERS[scanner](page.rng)
    result = page.scanned()
    evidence = locate([result.image], program())
    assert isinstance(evidence, Evidence), evidence
    return evidence, result.page_map.to_scan(centres())


def centres() -> NDArray[np.float64]:
    return np.array([target.centre for target in program().styles[0].targets])


@pytest.mark.parametrize("path", [0, 1])
@pytest.mark.parametrize("scanner", SCANNERS)
def test_targets_are_found_to_a_tenth_of_a_pixel(scanner: str, path: int) -> None:
    frame = program().styles[0].frame
    errors: list[float] = []
    for seed in range(PAGES):
        evidence, true = located(seed, scanner)
        corner = (evidence.gates["crop_left"], evidence.gates["crop_top"])
        found = SheetMap(evidence.registrations[path], frame).points(centres()) + corner
        errors += list(np.hypot(*(found - true).T))
    assert np.median(errors) <= MEDIAN_PX
    assert max(errors) <= WORST_PX


@pytest.mark.parametrize("path", [0, 1])
@pytest.mark.parametrize("shift", [(3.0, 0.0), (-3.0, 0.0), (0.0, 3.0), (0.0, -3.0)])
def test_a_sheet_whose_registrations_differ_by_three_pixels_is_not_counted(
    path: int, shift: tuple[float, float]
) -> None:
    for seed in range(3):
        evidence, _ = located(seed)
        assert judge(evidence, program()).fate == "counted"
        both = list(evidence.registrations)
        both[path] = shifted(both[path], *shift)
        verdict = judge(replace(evidence, registrations=(both[0], both[1])), program())
        assert verdict.fate != "counted"
        assert "registration_disagrees" in verdict.reasons


def test_the_two_paths_share_no_print_of_the_blank() -> None:
    first, second = program().styles[0].paths
    for one, other in ((first.anchors, second.anchors), (first.landmarks, second.landmarks)):
        assert not any(overlap(a, b) for a in one for b in other)
    assert not any(overlap(a, b) for a in first.details for b in second.details)


def overlap(one: Patch, other: Patch) -> bool:
    (high, wide), (other_high, other_wide) = one.pixels.shape, other.pixels.shape
    return (
        one.left < other.left + other_wide
        and other.left < one.left + wide
        and one.top < other.top + other_high
        and other.top < one.top + high
    )


def test_stored_evidence_is_judged_as_it_was() -> None:
    evidence, _ = located(0)
    again = Evidence.from_fields(evidence.to_fields(), evidence.crop)
    assert judge(again, program()) == judge(evidence, program())


@pytest.mark.parametrize("wrong", [float("nan"), float("inf")])
def test_evidence_with_a_number_that_is_none_is_refused(wrong: float) -> None:
    evidence, _ = located(0)
    fields = evidence.to_fields()
    fields["registrations"][1][3] = wrong
    with pytest.raises(EvidenceError, match="no finite number"):
        Evidence.from_fields(fields, evidence.crop)


def test_fields_that_are_no_evidence_are_refused() -> None:
    evidence, _ = located(0)
    with pytest.raises(EvidenceError, match="are no evidence"):
        Evidence.from_fields({"style": "drawn"}, evidence.crop)
