"""Finding targets and contests on blanks: every vendor's, our own, and some that nobody prints."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from recount_ballots.ballots_file import read_ballots
from recount_ballots.layout import Rect, compose
from recount_classifier.raster import Grey
from recount_host.programs.blanks import read_blank
from recount_host.programs.contests import FoundContest, FoundPage, look_at
from recount_host.programs.drafting import writing_area
from recount_host.programs.finding import find_targets

from .drawn_blanks import COUNTS, TARGETS, blank_with_lines_to_write_on, drawn_blank, one_bit, scanned
from .shared_blanks import VENDORS, blanks_of, targets_of

FAIRVIEW = Path(__file__).resolve().parents[3] / "images" / "ballots" / "fairview"
PLACE_PX = 2.0
FALSE_ONES = 2
MOST_OF_AN_AREA = 0.7
"""People draw it from line to line, or a little into the heading."""


def matched(found: Sequence[Rect], middles: Sequence[tuple[float, float]], within: float) -> set[int]:
    """Return the indices of the spots that lie at the middles; each middle must have one."""
    used: set[int] = set()
    for x, y in middles:
        near = [
            index
            for index, spot in enumerate(found)
            if abs(spot.centre[0] - x) <= within and abs(spot.centre[1] - y) <= within
        ]
        assert len(near) == 1, f"the target at {x:g}, {y:g} is found {len(near)} times"
        used.add(near[0])
    return used


@pytest.mark.parametrize("vendor", VENDORS)
def test_every_target_of_a_real_blank_is_found_in_its_place(shared_folder: Path, vendor: str) -> None:
    for blank in blanks_of(shared_folder, vendor):
        found = look_at(blank.page, blank.dpi)
        middles = [(left + width / 2, top + height / 2) for left, top, width, height in blank.targets]
        used = matched(found.targets, middles, PLACE_PX)
        assert len(found.targets) - len(used) <= FALSE_ONES
        for left, top, width, height in blank.targets:
            spot = min(found.targets, key=lambda s: abs(s.left - left) + abs(s.top - top))
            edges = (spot.left - left, spot.top - top, spot.right - left - width, spot.bottom - top - height)
            assert max(map(abs, edges)) <= PLACE_PX
        for contest in blank.contests:
            suggested = _suggested(found, contest["box"], targets_of(contest), blank.dpi)
            for area in contest.get("write_in_areas", ()):
                assert _share_suggested(blank.page, suggested, area) > MOST_OF_AN_AREA


def _share_suggested(page: Grey, contest: FoundContest, area: Sequence[int]) -> float:
    """Return how much of a place to write on is suggested as one."""
    left, top, right, bottom = area
    suggested = np.zeros(page.shape, bool)
    for index in range(len(contest.targets)):
        spot = writing_area(page, index, contest)
        suggested[int(spot.top) : int(spot.bottom), int(spot.left) : int(spot.right)] = True
    return float(suggested[top:bottom, left:right].mean())


def _suggested(
    found: FoundPage, box: Sequence[float], targets: Sequence[Sequence[float]], dpi: float
) -> FoundContest:
    """The contest with just these targets is suggested, in about the box that a person drew."""
    middles = [(left + width / 2, top + height / 2) for left, top, width, height in targets]
    for contest in found.contests:
        if len(contest.targets) != len(targets):
            continue
        if all(
            any(
                abs(t.centre[0] - x) <= PLACE_PX and abs(t.centre[1] - y) <= PLACE_PX for t in contest.targets
            )
            for x, y in middles
        ):
            across = abs(contest.box.left - box[0]) + abs(contest.box.right - box[2])
            down = abs(contest.box.top - box[1]) + abs(contest.box.bottom - box[3])
            assert across < 0.25 * dpi
            assert down < 0.7 * dpi
            return contest
    raise AssertionError(f"no contest is suggested for the box {box}")


def test_our_own_blanks_are_found_exactly() -> None:
    for style, design in read_ballots(FAIRVIEW).designs.items():
        for side in ("front", "back"):
            layout = compose(design, side).layout.at(200)
            page = read_blank(f"blank-{style}-{side}.png", FAIRVIEW, 200)
            found = look_at(page, 200)
            middles = [option.target.centre for contest in layout.contests for option in contest.options]
            assert len(matched(found.targets, middles, 1.5)) == len(found.targets)
            assert len(found.contests) == len(layout.contests)
            for contest in layout.contests:
                box = contest.box
                _suggested(
                    found,
                    (box.left, box.top, box.right, box.bottom),
                    [(o.target.left, o.target.top, o.target.width, o.target.height) for o in contest.options],
                    200,
                )


def _clean(page: Grey, seed: int) -> Grey:
    del seed
    return page


@pytest.mark.parametrize(
    ("target", "on_the_right", "ruled", "dpi", "scanner"),
    [
        ("circle", False, True, 150, _clean),
        ("check box", True, False, 200, one_bit),
        ("large box", True, True, 200, scanned),
        ("small box", False, True, 150, one_bit),
        ("faint oval", False, False, 150, scanned),
        ("thick box", True, True, 300, _clean),
        ("circle", True, False, 400, one_bit),
    ],
)
def test_targets_of_invented_vendors_are_found_among_letters_like_them(
    target: str, on_the_right: bool, ruled: bool, dpi: int, scanner: Callable[[Grey, int], Grey]
) -> None:
    page, middles = drawn_blank(TARGETS[target], on_the_right=on_the_right, ruled=ruled, dpi=dpi)
    found = look_at(scanner(page, 7), dpi)
    assert len(middles) == sum(COUNTS)
    used = matched(found.targets, middles, PLACE_PX)
    assert len(found.targets) - len(used) <= FALSE_ONES
    assert sorted(len(contest.targets) for contest in found.contests) == sorted(COUNTS)


@pytest.mark.parametrize("boxed", [True, False])
def test_rules_between_the_lines_of_a_contest_and_lines_to_write_on_cut_no_contest(*, boxed: bool) -> None:
    page = blank_with_lines_to_write_on(boxed=boxed, dpi=200)
    assert [len(contest.targets) for contest in look_at(page, 200).contests] == [3, 3, 2]


def test_an_outline_that_is_worn_through_is_found_by_its_likeness_to_the_others() -> None:
    page, middles = drawn_blank(TARGETS["check box"], on_the_right=False, ruled=True, dpi=200)
    x, y = middles[3]
    page = page.copy()
    page[round(y) - 4 : round(y) + 5, round(x) + 3 : round(x) + 20] = 255
    matched(find_targets(page, 200), middles, PLACE_PX)


@pytest.mark.parametrize("shade", [0, 128, 255])
def test_a_page_without_print_has_no_targets(shade: int) -> None:
    page = np.full((1400, 1100), shade, np.uint8)
    assert look_at(page, 130) == FoundPage((), (), ())


def test_text_alone_has_no_targets() -> None:
    page, middles = drawn_blank(TARGETS["small box"], on_the_right=False, ruled=False, dpi=200)
    page = page.copy()
    for x, y in middles:
        page[round(y) - 12 : round(y) + 13, round(x) - 12 : round(x) + 13] = 255
    assert find_targets(page, 200) == ()
