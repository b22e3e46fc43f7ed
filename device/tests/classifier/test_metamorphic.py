"""What changes a picture without changing what stands on the paper never moves a vote.

Sheets are drawn, and real ones where they lie beside the checkout. RECOUNT_EXAMPLES asks for more of them.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from device.tests.classifier.drawn_pages import Grey, fresh_page, jpeg, program
from device.tests.classifier.real_ballots import definition_of, picture, program_for
from recount_ballots.strokes import Pen, draw
from recount_classifier.decide import EMPTY, MARKED
from recount_classifier.evidence import Evidence
from recount_classifier.judge import judge
from recount_classifier.locate import locate
from recount_classifier.program import Program
from recount_classifier.reading import Reading, read_sheet
from recount_protocol.fates import COUNTED

EXAMPLES = int(os.environ.get("RECOUNT_EXAMPLES", "25"))
LEAST_ALIKE = 0.95
LETTER_BLANK = "006"
REAL_CONTESTS = (1, 3, 5)

pytestmark = pytest.mark.timeout(1800)
many = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


# -- changes that mean nothing -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """What is done to a picture. The defaults do nothing."""

    upside_down: bool = False
    shift_px: tuple[float, float] = (0.0, 0.0)
    scale: float = 1.0
    gain: float = 1.0
    offset: float = 0.0
    quality: int = 0
    """JPEG quality; 0 for none."""

    def of(self, image: Grey) -> Grey:
        """Return the changed picture."""
        height, width = image.shape
        if self.shift_px != (0.0, 0.0) or self.scale != 1.0:
            matrix = np.array([[self.scale, 0, self.shift_px[0]], [0, self.scale, self.shift_px[1]]])
            image = np.asarray(
                cv2.warpAffine(
                    image, matrix, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
                ),
                np.uint8,
            )
        if self.gain != 1.0 or self.offset:
            grey = np.arange(256) * self.gain + self.offset
            image = np.asarray(cv2.LUT(image, np.clip(np.round(grey), 0, 255).astype(np.uint8)), np.uint8)
        if self.quality:
            image = jpeg(image, self.quality)
        return np.ascontiguousarray(image[::-1, ::-1]) if self.upside_down else image


CHANGES = st.one_of(
    st.builds(Change, upside_down=st.just(value=True)),
    st.builds(Change, shift_px=st.tuples(st.floats(-12, 12), st.floats(-12, 12))),
    st.builds(Change, scale=st.floats(0.99, 1.01)),
    st.builds(Change, gain=st.floats(0.93, 1.03), offset=st.floats(-8, 8)),
    st.builds(Change, quality=st.integers(55, 95)),
    st.builds(
        Change,
        upside_down=st.booleans(),
        shift_px=st.tuples(st.floats(-6, 6), st.floats(-6, 6)),
        scale=st.floats(0.995, 1.005),
        gain=st.floats(0.95, 1.02),
        quality=st.integers(70, 95),
    ),
)

# -- sheets --------------------------------------------------------------------------------------------------

KINDS = ("full", "scribble", "partial", "x", "check", "line", "circle", "dot", "tick", "resting", "outside")
DRAWN = st.tuples(
    st.integers(0, 10_000),
    st.one_of(
        st.dictionaries(st.sampled_from("ABC"), st.sampled_from(KINDS[:3]), min_size=1, max_size=1),
        st.dictionaries(st.sampled_from("ABCW"), st.sampled_from(KINDS), max_size=3),
    ),
)
"""A seed and what each option bears."""


def drawn_sheet(seed: int, marks: dict[str, str]) -> Grey:
    page = fresh_page((31, seed))
    for key, kind in sorted(marks.items()):
        page.mark(key, kind)
    return page.picture()


@dataclass(slots=True)
class Alike:
    """How many changed sheets had the very same answer, of all."""

    same: int = 0
    all: int = 0

    def compare(self, one: Reading, other: Reading) -> None:
        """Take in one sheet read twice; a vote that moved is an error at once."""
        if COUNTED in (one.fate, other.fate) and one.fate == other.fate:
            assert one.choices == other.choices, f"counted for {one.choices}, changed for {other.choices}"
        self.all += 1
        self.same += (one.fate, one.choices) == (other.fate, other.choices)

    @property
    def share(self) -> float:
        """Return the share of the same answers."""
        return self.same / self.all


def test_a_changed_picture_of_a_drawn_sheet_never_gives_another_vote_and_seldom_another_answer():
    found = Alike()

    @many
    @given(DRAWN, CHANGES)
    def change(sheet: tuple[int, dict[str, str]], change: Change) -> None:
        image = drawn_sheet(*sheet)
        found.compare(read_sheet([image], program()), read_sheet([change.of(image)], program()))

    change()
    assert found.share >= LEAST_ALIKE, f"{found.same} of {found.all}"


@cache
def real_program(folder: Path, number: int) -> Program:
    return program_for(folder, next(c for c in definition_of(folder)["contests"] if c["number"] == number))


@cache
def real_sheets(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "truth.jsonl").read_text(encoding="utf-8").splitlines()
    return [sheet for sheet in map(json.loads, lines) if sheet["sheet"] != LETTER_BLANK]


def test_a_changed_picture_of_a_real_sheet_never_gives_another_vote_and_seldom_another_answer(
    shared_folder: Path,
):
    folder = shared_folder / "ballots" / "new-hampshire-letter"
    found = Alike()
    sides = {contest["number"]: contest["side"] for contest in definition_of(folder)["contests"]}

    @many
    @given(st.sampled_from(real_sheets(folder)), st.sampled_from(REAL_CONTESTS), CHANGES)
    def change(sheet: dict[str, Any], contest: int, change: Change) -> None:
        image = picture(folder / sheet["files"][sides[contest]])
        contest_program = real_program(folder, contest)
        before = read_sheet([image], contest_program)
        after = read_sheet([change.of(image)], contest_program)
        truth = sheet["contests"][str(contest)]
        if after.fate == COUNTED:
            assert truth["outcome"] == "vote"
            assert sorted(after.choices) == sorted(truth["marks"])
        found.compare(before, after)

    change()
    assert found.share >= LEAST_ALIKE, f"{found.same} of {found.all}"


# -- more ink ------------------------------------------------------------------------------------------------

STROKES = st.lists(
    st.tuples(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5), st.floats(-1.5, 1.5), st.floats(-1.5, 1.5)),
    min_size=1,
    max_size=4,
)
"""Straight strokes, in target sizes from a target's middle."""


@many
@given(DRAWN, STROKES, st.integers(0, 3), st.floats(0, 180), st.floats(1, 14))
def test_more_ink_never_turns_a_mark_into_empty(
    sheet: tuple[int, dict[str, str]],
    strokes: list[tuple[float, float, float, float]],
    at: int,
    grey: float,
    width_px: float,
):
    evidence = locate([drawn_sheet(*sheet)], program())
    assert isinstance(evidence, Evidence)
    style = program().styles[0]
    inked = evidence.crop.copy()
    target = style.targets[at]
    left, top = style.reference_box[:2]
    corner = np.array(
        [(inked.shape[1] - style.reference.shape[1]) / 2, (inked.shape[0] - style.reference.shape[0]) / 2]
    )
    middle = np.array(target.centre) - (left, top) + corner
    size = np.array([target.width, target.height])
    paths = [np.array([(x0, y0), (x1, y1)]) * size + middle for x0, y0, x1, y1 in strokes]
    draw(inked, paths, Pen(grey, width_px, 0.1), np.random.default_rng(1))
    np.minimum(inked, evidence.crop, out=inked)
    before, after = (judge(one, program()) for one in (evidence, replace(evidence, crop=inked)))
    for one, other in zip(before.measurements, after.measurements, strict=True):
        states = zip(one.decision.states, other.decision.states, strict=True)
        lost = [state for state, now in states if state == MARKED and now == EMPTY]
        assert not lost or after.fate != COUNTED, f"{one.decision.states} became {other.decision.states}"
