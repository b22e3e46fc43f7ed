"""What is no picture of a sheet, or no evidence of one, is refused in one sentence."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from device.tests.classifier import drawn_pages
from recount_classifier.errors import PictureError
from recount_classifier.evidence import JUDGED_GATES, Evidence, EvidenceError, Refusal
from recount_classifier.locate import locate


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    page = drawn_pages.fresh_page((31, 1))
    page.mark(page.choice)
    located = locate([page.picture()], drawn_pages.program())
    assert isinstance(located, Evidence)
    return located


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_mirrored_sheet_on_wide_ground_is_called_a_mirror_image(seed: int):
    page = drawn_pages.fresh_page((32, seed))
    page.mark(page.choice)
    page.settings = replace(page.settings, margin_px=60, turn_deg=2.0 - seed, scale=0.97)
    refusal = locate([np.ascontiguousarray(page.picture()[:, ::-1])], drawn_pages.program())
    assert isinstance(refusal, Refusal)
    assert refusal.reasons == ("mirror_image",)


def test_a_sheet_without_a_picture_is_no_sheet():
    with pytest.raises(PictureError, match="no picture of the sheet was given"):
        locate([], drawn_pages.program())


@pytest.mark.parametrize(
    "picture",
    [np.zeros((0, 0), np.uint8), np.zeros((400, 400, 3), np.uint8), np.zeros((400, 400), np.float32)],
    ids=["empty", "colours", "no bytes"],
)
def test_what_is_no_grey_picture_is_refused(picture: np.ndarray[Any, Any]):
    with pytest.raises(PictureError, match="a picture of a sheet is grey"):
        locate([picture], drawn_pages.program())


@pytest.mark.parametrize("gate", JUDGED_GATES)
def test_evidence_without_a_gate_that_a_verdict_depends_on_is_none(evidence: Evidence, gate: str):
    fields = evidence.to_fields()
    del fields["gates"][gate]
    with pytest.raises(EvidenceError, match=f"no gate {gate}"):
        Evidence.from_fields(fields, evidence.crop)


@pytest.mark.parametrize("shape", [(0, 0), (15, 400), (40, 40, 3)])
def test_evidence_without_a_picture_of_the_contest_is_none(evidence: Evidence, shape: tuple[int, ...]):
    with pytest.raises(EvidenceError, match="the crop of this evidence"):
        Evidence.from_fields(evidence.to_fields(), np.zeros(shape, np.uint8))
