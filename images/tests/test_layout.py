"""Ballots of every kind and length: what is laid out lies where it should, and is printed there."""

import itertools

import numpy as np
import pytest

from recount_ballots import Design, Layout, Rect, compose, draw_blank, random_design
from recount_ballots.design import HEIGHTS_IN, TargetShape
from recount_ballots.errors import DesignError
from recount_ballots.spec import corner_and_size

KINDS: list[tuple[TargetShape, str]] = list(itertools.product(("oval", "box"), HEIGHTS_IN))


def holds(outer: Rect, inner: Rect) -> bool:
    return (
        outer.left <= inner.left
        and outer.top <= inner.top
        and inner.right <= outer.right
        and inner.bottom <= outer.bottom
    )


def overlap(a: Rect, b: Rect) -> bool:
    return a.left < b.right and b.left < a.right and a.top < b.bottom and b.top < a.bottom


def page_of(layout: Layout) -> Rect:
    return Rect(0, 0, layout.width, layout.height)


@pytest.mark.parametrize(("target", "height"), KINDS)
def test_everything_of_a_contest_lies_in_its_box_and_the_box_on_the_page(
    target: TargetShape, height: str
) -> None:
    layout = compose(random_design(5, target, height)).layout
    assert layout.contests
    for contest in layout.contests:
        assert holds(page_of(layout), contest.box)
        for option in contest.options:
            assert holds(contest.box, option.target)
            assert holds(contest.box, option.name)
            assert not overlap(option.target, option.name)
            if option.write_in_area:
                assert holds(contest.box, option.write_in_area)
                assert not overlap(option.target, option.write_in_area)


@pytest.mark.parametrize(("target", "height"), KINDS)
def test_contests_and_the_test_mark_do_not_overlap(target: TargetShape, height: str) -> None:
    layout = compose(random_design(6, target, height)).layout
    boxes = [contest.box for contest in layout.contests]
    if layout.test_mark:
        boxes.append(layout.test_mark)
    assert not any(overlap(a, b) for a, b in itertools.combinations(boxes, 2))


@pytest.mark.parametrize("target", ["oval", "box"])
@pytest.mark.parametrize("dpi", [150, 200, 300])
def test_a_targets_outline_is_printed_just_inside_its_rectangle(target: TargetShape, dpi: int) -> None:
    blank = draw_blank(random_design(7, target), dpi=dpi)
    for contest in blank.layout.contests:
        for option in contest.options:
            left, top, width, height = corner_and_size(option.target)
            near = blank.image[top - 3 : top + height + 3, left - 3 : left + width + 3] < 160
            rows, columns = np.flatnonzero(near.any(axis=1)), np.flatnonzero(near.any(axis=0))
            assert abs(rows[0] - 3) <= 1
            assert abs(rows[-1] - (height + 2)) <= 1
            assert abs(columns[0] - 3) <= 1
            assert abs(columns[-1] - (width + 2)) <= 1


def test_write_in_areas_and_the_test_mark_are_empty_on_the_blank() -> None:
    blank = draw_blank(random_design(8))
    places = [blank.layout.test_mark] + [
        option.write_in_area for contest in blank.layout.contests for option in contest.options
    ]
    for place in places:
        if place:
            inner = place.grown(-2)
            part = blank.image[int(inner.top) : int(inner.bottom), int(inner.left) : int(inner.right)]
            assert part.min() == 255


def test_the_same_design_gives_the_same_pixels() -> None:
    design = random_design(9, "box", "legal")
    assert np.array_equal(draw_blank(design).image, draw_blank(design).image)


def test_a_ballot_with_too_many_contests_is_refused() -> None:
    design = random_design(10)
    crowded = Design(
        name="crowded",
        code=1,
        locality="A",
        precinct="B",
        election="C",
        date="D",
        front=design.front + design.front,
    )
    with pytest.raises(DesignError, match="does not fit on the front"):
        compose(crowded)
