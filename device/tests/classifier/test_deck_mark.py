"""Test ballots and ballots of the recount are told apart by the place of the TEST mark, in either mode."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
import pytest

from recount_ballots.ballots_file import Ballots, read_ballots
from recount_ballots.corrections import stray_line
from recount_ballots.deck_print import print_deck_mark
from recount_ballots.layout import Rect
from recount_ballots.marks import mark
from recount_ballots.paper import coffee, fold, tear_corner, whole
from recount_ballots.scanner import SCANNERS, scan
from recount_ballots.strokes import take
from recount_classifier.compiling import StyleSpec, TargetSpec, compile_style
from recount_classifier.deck_mark import EXPECTED_GATE, INK_GATE
from recount_classifier.errors import BlankError
from recount_classifier.evidence import Evidence
from recount_classifier.judge import judge
from recount_classifier.program import Option, Program, Style, make_program
from recount_classifier.reading import Reading, read_sheet
from recount_classifier.thresholds import Thresholds

FAIRVIEW = Path(__file__).parents[3] / "images" / "ballots" / "fairview"
STYLE, CONTEST = "101", "delegates-52"
Box = tuple[float, float, float, float]


@lru_cache
def ballots() -> Ballots:
    return read_ballots(FAIRVIEW)


def edges(rect: Rect) -> Box:
    return rect.left, rect.top, rect.right, rect.bottom


def place() -> Rect:
    found = ballots().blank(STYLE).layout.test_mark
    assert found is not None
    return found


def style_with(test_mark: Box | None) -> Style:
    blank = ballots().blank(STYLE)
    placed = blank.layout.contest(CONTEST)
    targets = tuple(
        TargetSpec(
            option.candidate.key,
            option.candidate.write_in,
            (option.target.left, option.target.top, option.target.width, option.target.height),
        )
        for option in placed.options
    )
    areas = tuple(edges(option.write_in_area) for option in placed.options if option.write_in_area)
    spec = StyleSpec(STYLE, "front", 200, edges(placed.box), areas, targets, test_mark)
    return compile_style(spec, blank.image, None)


@lru_cache
def program(*, has_place: bool = True) -> Program:
    contest = ballots().blank(STYLE).layout.contest(CONTEST)
    options = [Option(o.candidate.key, o.candidate.name, o.candidate.write_in) for o in contest.options]
    style = style_with(edges(place()) if has_place else None)
    return make_program(CONTEST, "Delegates", 1, options, [style], Thresholds())


def sheet(
    code: str = "", scanner: str = "camera", seed: int = 1, turned: bool = False, spoil: str = ""
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    blank = ballots().blank(STYLE)
    page = blank.image.copy()
    mark(page, blank.layout.contest(CONTEST).option("D").target, "full", take("black_pen", 200, rng), rng)
    if code:
        print_deck_mark(page, place(), code)
    paper = whole(page)
    x, y = place().centre
    if spoil == "coffee":
        coffee(page, x, y, 200, rng)
    elif spoil == "fold":
        fold(page, y, rng)
    elif spoil == "writing":
        for row in (-14, 0, 14):
            stray_line(page, (x - 90, y + row), (x + 90, y + row), take("black_pen", 200, rng), rng)
    elif spoil == "torn":
        tear_corner(paper, "top-right", 0.3 * page.shape[1], 0.2 * page.shape[0], rng)
    image = scan(page, SCANNERS[scanner](rng), rng, paper).image
    return np.asarray(cv2.rotate(image, cv2.ROTATE_180) if turned else image, np.uint8)


def read(image: np.ndarray, *, expects_test: bool = False, contest: Program | None = None) -> Reading:
    return read_sheet([image], contest or program(), expects_test=expects_test)


def ink_mm2(reading: Reading) -> float:
    assert reading.evidence is not None
    return reading.evidence.gates[INK_GATE]


@pytest.mark.parametrize("scanner", sorted(SCANNERS))
@pytest.mark.parametrize("turned", [False, True])
def test_a_test_ballot_counts_in_a_test_and_a_live_ballot_in_the_recount(scanner: str, turned: bool) -> None:
    for seed in range(4):
        test, live = (sheet(code, scanner, seed, turned) for code in ("101-007", ""))
        assert read(test, expects_test=True).fate == "counted"
        assert read(live).fate == "counted"
        assert ink_mm2(read(test)) > 3 * program().thresholds.test_mark_mm2
        assert ink_mm2(read(live)) < 0.25 * program().thresholds.test_clear_mm2


def test_a_test_ballot_is_not_accepted_in_the_recount() -> None:
    reading = read(sheet("101-007"))
    assert (reading.fate, reading.choices, reading.reasons) == ("not_accepted", (), ("test_ballot",))


def test_a_live_ballot_is_not_accepted_in_a_test() -> None:
    reading = read(sheet(), expects_test=True)
    assert (reading.fate, reading.choices, reading.reasons) == ("not_accepted", (), ("live_ballot",))


@pytest.mark.parametrize("spoil", ["coffee", "fold"])
def test_a_stain_or_a_fold_in_the_place_makes_no_test_ballot(spoil: str) -> None:
    reading = read(sheet(spoil=spoil))
    assert reading.fate == "counted"
    reading = read(sheet(spoil=spoil), expects_test=True)
    assert reading.reasons == ("live_ballot",)


@pytest.mark.parametrize("spoil", ["writing", "torn"])
def test_a_ballot_whose_place_is_covered_is_not_counted_by_machine(spoil: str) -> None:
    assert read(sheet(spoil=spoil)).reasons == ("test_ballot",)


def test_a_sheet_is_judged_again_in_the_mode_that_it_was_read_in() -> None:
    reading = read(sheet("101-007"), expects_test=True)
    assert reading.evidence is not None
    stored = Evidence.from_fields(reading.evidence.to_fields(), reading.evidence.crop)
    again = judge(stored, program())
    assert (again.fate, again.choices, again.reasons) == (reading.fate, reading.choices, reading.reasons)
    live = {name: value for name, value in stored.gates.items() if name != EXPECTED_GATE}
    again = judge(Evidence.from_fields({**stored.to_fields(), "gates": live}, stored.crop), program())
    assert again.reasons == ("test_ballot",)


def test_a_style_without_a_place_for_the_mark_can_prove_nothing_in_a_test() -> None:
    without = program(has_place=False)
    assert read(sheet("101-007"), expects_test=True, contest=without).reasons == ("live_ballot",)
    assert read(sheet(), contest=without).fate == "counted"


@pytest.mark.parametrize(
    ("moved", "complaint"),
    [((0, 200, 0, 200), "not empty on the blank"), ((0, 0, -150, 0), "need 20 x 5 mm")],
)
def test_a_place_that_is_printed_on_or_too_small_is_refused(moved: Box, complaint: str) -> None:
    left, top, right, bottom = (edge + by for edge, by in zip(edges(place()), moved, strict=True))
    with pytest.raises(BlankError, match=complaint):
        style_with((left, top, right, bottom))
