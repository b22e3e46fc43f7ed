"""What voters draw: every kind of mark is where it should be, with the ink it should have."""

import numpy as np
import pytest

from recount_ballots import MARKS, TOOLS, Blank, Grey, Rect, draw_blank, mark, mark_patch, random_design, take
from recount_ballots import write_words as write
from recount_ballots.corrections import circle_name, cross_out, erase, paint_over, stray_line, underline
from recount_ballots.handwriting import text_strokes

DPI = 200
OVAL = Rect(300, 200, 24.3, 16.7)
BOX = Rect(300, 200, 69.4, 37.5)


@pytest.fixture(scope="module")
def blank() -> Blank:
    return draw_blank(random_design(3))


def paper() -> Grey:
    return np.full((500, 800), 255, np.uint8)


def marked(target: Rect, kind: str, tool: str = "black_pen", seed: int = 1) -> Grey:
    page = paper()
    rng = np.random.default_rng(seed)
    mark(page, target, kind, take(tool, DPI, rng), rng)
    return page


def inked(page: Grey, target: Rect) -> float:
    """Return the share of the target's rectangle that is dark."""
    part = page[round(target.top) : round(target.bottom), round(target.left) : round(target.right)]
    return float((part < 200).mean())


@pytest.mark.parametrize("kind", MARKS)
@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("target", [OVAL, BOX], ids=["oval", "box"])
def test_every_mark_leaves_ink_near_its_target_and_nowhere_else(kind: str, tool: str, target: Rect) -> None:
    page = marked(target, kind, tool)
    near = target.grown(2.2 * target.width)
    assert (page < 250).any()
    away = page.copy()
    away[int(max(near.top, 0)) : int(near.bottom), int(max(near.left, 0)) : int(near.right)] = 255
    assert (away == 255).all()


@pytest.mark.parametrize("target", [OVAL, BOX], ids=["oval", "box"])
def test_a_full_mark_covers_its_target(target: Rect) -> None:
    ellipse = np.pi / 4
    shares = [inked(marked(target, "full", seed=seed), target) for seed in range(40)]
    assert min(shares) > 0.85 * ellipse


@pytest.mark.parametrize("target", [OVAL, BOX], ids=["oval", "box"])
def test_a_partial_mark_covers_some_of_its_target(target: Rect) -> None:
    shares = [inked(marked(target, "partial", seed=seed), target) for seed in range(40)]
    assert min(shares) > 0.12
    assert max(shares) < 0.75


def test_the_line_of_the_voting_guidelines_is_one_millimetre_wide_and_as_long_as_the_target() -> None:
    patch = mark_patch(
        BOX, "long_axis", take("gel_pen", DPI, np.random.default_rng(1)), np.random.default_rng(1)
    )
    heights = patch.coverage.sum(axis=0)
    middle = heights[len(heights) // 2]
    assert middle == pytest.approx(DPI / 25.4, abs=0.2)
    assert patch.coverage.max(axis=0).sum() == pytest.approx(BOX.width + DPI / 25.4, abs=2)


@pytest.mark.parametrize("target", [OVAL, BOX, Rect(300, 200, 24, 24)], ids=["oval", "box", "square"])
def test_a_short_stroke_is_too_little_for_a_mark_in_a_target_of_any_shape(target: Rect) -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        ink = mark_patch(target, "short_axis", take("black_pen", DPI, rng), rng).coverage > 0.5
        longest = max(int(ink.any(axis=side).sum()) for side in (0, 1))
        assert longest <= target.width / 3 + 1.5


def test_circles_and_resting_pens_leave_the_target_itself_empty() -> None:
    inner = Rect(OVAL.left + 6, OVAL.top + 5, OVAL.width - 12, OVAL.height - 10)
    for kind in ("circle", "resting"):
        assert max(inked(marked(OVAL, kind, seed=seed), inner) for seed in range(30)) == 0


def test_the_same_seed_draws_the_same_mark_and_another_seed_another() -> None:
    assert np.array_equal(marked(OVAL, "full", seed=5), marked(OVAL, "full", seed=5))
    assert not np.array_equal(marked(OVAL, "full", seed=5), marked(OVAL, "full", seed=6))


def test_ink_never_lightens_what_is_printed(blank: Blank) -> None:
    page = blank.image.copy()
    rng = np.random.default_rng(2)
    for contest in blank.layout.contests:
        for option in contest.options:
            mark(page, option.target, "scribble", take("light_pencil", DPI, rng), rng)
    assert (page <= blank.image).all()
    assert (page < blank.image).any()


def test_a_light_pencil_is_paler_than_a_pen() -> None:
    def darkness(tool: str) -> float:
        return float(np.mean([255.0 - marked(OVAL, "full", tool, seed).min() for seed in range(20)]))

    assert darkness("light_pencil") < darkness("red_pen") < darkness("blue_pen") < darkness("black_pen")


def test_marks_at_the_edge_of_the_page_are_cut_off_without_an_error() -> None:
    rng = np.random.default_rng(1)
    page = paper()
    for corner in (Rect(-10, -8, 24, 16), Rect(790, 495, 24, 16), Rect(-500, -500, 24, 16)):
        mark(page, corner, "full", take("marker", DPI, rng), rng)
    assert page[0, 0] < 255


def test_a_name_is_written_inside_its_area() -> None:
    area = Rect(200, 100, 390, 54)
    for seed in range(20):
        page = paper()
        rng = np.random.default_rng(seed)
        write(page, "JANE Q. ROE", area, take("black_pen", DPI, rng), rng)
        rows, columns = np.nonzero(page < 200)
        assert area.left - 12 < columns.min()
        assert columns.max() < area.right + 12
        assert area.top - 16 < rows.min()
        assert rows.max() < area.bottom + 20
        assert len(rows) > 800


def test_words_without_letters_leave_no_strokes() -> None:
    assert text_strokes("   ", 0, 0, 20, np.random.default_rng(1)) == []


def test_an_erased_mark_is_fainter_than_before_but_not_gone(blank: Blank) -> None:
    page = blank.image.copy()
    rng = np.random.default_rng(3)
    target = blank.layout.contests[0].options[0].target
    mark(page, target, "full", take("pencil", DPI, rng), rng)
    before = page.astype(int).sum()
    erase(page, blank.image, target, rng)
    assert before < page.astype(int).sum() < blank.image.astype(int).sum()


def test_correction_fluid_covers_mark_and_target(blank: Blank) -> None:
    page = blank.image.copy()
    rng = np.random.default_rng(3)
    target = blank.layout.contests[0].options[0].target
    mark(page, target, "full", take("black_pen", DPI, rng), rng)
    paint_over(page, target, rng)
    assert inked(page, target) < 0.1


@pytest.mark.parametrize("act", [underline, cross_out, circle_name])
def test_names_are_underlined_crossed_out_and_circled(act: object, blank: Blank) -> None:
    page = blank.image.copy()
    rng = np.random.default_rng(4)
    name = blank.layout.contests[1].options[1].name
    assert callable(act)
    act(page, name, take("blue_pen", DPI, rng), rng)
    changed = np.argwhere(page != blank.image)
    assert len(changed) > 100
    middle = changed.mean(axis=0)
    assert abs(middle[1] - name.centre[0]) < name.width / 3
    assert abs(middle[0] - name.centre[1]) < name.height


def test_a_stray_line_goes_from_end_to_end() -> None:
    page = paper()
    rng = np.random.default_rng(4)
    stray_line(page, (50, 60), (700, 400), take("black_pen", DPI, rng), rng)
    rows, columns = np.nonzero(page < 128)
    assert columns.min() == pytest.approx(50, abs=6)
    assert columns.max() == pytest.approx(700, abs=6)
    assert rows.max() == pytest.approx(400, abs=8)
