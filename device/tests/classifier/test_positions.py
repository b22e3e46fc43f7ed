"""A small run of `make accuracy`, and that its drawn positions are hard enough to mean something."""

from __future__ import annotations

from dataclasses import fields, replace

import cv2
import numpy as np
import pytest

from device.tests.classifier.accuracy import Findings, judge_sheets, main, table_of
from device.tests.classifier.positions import DRAWN, KINDS, SHAPES, Supply, compose, make_supply, pale_pen
from recount_classifier.judge import measure_targets, see_ground
from recount_classifier.thresholds import Thresholds

SEED = (22, 0)
OTHER_SEEDS = ((23, 0), (24, 0), (25, 0))
SHEETS = 70
FEW_SHEETS = 12
ON_MARKS = tuple(
    field.name
    for field in fields(Thresholds)
    if field.name == "ink" or field.name.startswith(("marked_", "heavy_", "clear_"))
)


@pytest.fixture(scope="module")
def supply() -> Supply:
    return make_supply(marks_of_kind=30, prints=25, seed=SEED)


@pytest.fixture(scope="module")
def findings(supply: Supply) -> Findings:
    """Return what is found on the sheets as the thresholds are."""
    return judge_sheets(supply, [(*SEED, number) for number in range(SHEETS)], Thresholds())


@pytest.fixture(scope="module", params=OTHER_SEEDS, ids=str)
def pale_pens(request: pytest.FixtureRequest) -> tuple[tuple[int, int], Supply]:
    """Return a bank whose voters all have pale pens, with its seed."""
    return request.param, make_supply(marks_of_kind=12, prints=3, seed=request.param, pen=pale_pen)


def read_pale(pale_pens: tuple[tuple[int, int], Supply], factor: float) -> Findings:
    """Read sheets of pale pens with every threshold on marks multiplied."""
    seed, supply = pale_pens
    usual = Thresholds()
    limits = replace(usual, **{name: getattr(usual, name) * factor for name in ON_MARKS})
    return judge_sheets(supply, [(*seed, number) for number in range(FEW_SHEETS)], limits)


def test_no_drawn_position_is_read_wrongly(findings: Findings):
    assert findings.positions > 100 * SHEETS
    assert findings.table.sum(axis=1).min() > 60, "every kind must be met"
    assert findings.is_right, f"\n{table_of(findings)}\n{findings.wrong}"


def test_most_drawn_marks_are_counted_and_most_bare_targets_are_empty(findings: Findings):
    table = dict(zip(KINDS, findings.table, strict=True))
    assert table["full"][0] > 0.6 * table["full"].sum()
    assert table["nothing"][2] > 0.9 * table["nothing"].sum()


def test_pale_pens_are_read_rightly(pale_pens: tuple[tuple[int, int], Supply]):
    assert read_pale(pale_pens, 1.0).is_right


def test_halved_thresholds_give_wrong_votes(pale_pens: tuple[tuple[int, int], Supply]):
    assert read_pale(pale_pens, 0.5).wrong_votes > 0


def test_doubled_thresholds_lose_clear_marks(pale_pens: tuple[tuple[int, int], Supply]):
    assert read_pale(pale_pens, 2.0).lost_marks > 0


def test_a_mark_under_glare_or_fluid_is_hardly_ever_read_as_empty(findings: Findings):
    hidden, unseen = findings.hidden
    assert hidden > 150
    assert unseen < 0.02 * hidden


def test_a_seed_gives_the_same_sheet_again(supply: Supply):
    one, two = (compose(supply, np.random.default_rng((*SEED, 5))) for _ in range(2))
    assert np.array_equal(one.flat, two.flat)
    assert np.array_equal(one.kinds, two.kinds)


def test_marks_stand_on_targets_of_every_shape(supply: Supply):
    shapes = {compose(supply, np.random.default_rng((*SEED, n))).style.id for n in range(24)}
    assert shapes == {shape.name for shape in SHAPES}
    assert set(supply.banks[0].marks) == set(DRAWN)


def test_the_command_reads_in_processes_and_prints_the_table(capsys: pytest.CaptureFixture[str]):
    assert main(["--positions", "2000", "--processes", "1", "--marks", "12", "--seed", "20"]) == 0
    assert "0 wrong votes, 0 clear marks read as empty" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arcs", "is_encircled"),
    [
        ([(0, 360)], True),
        ([(200, 340), (20, 160)], True),
        ([(-70, 70), (110, 250)], True),
        ([(200, 340)], False),
        ([(20, 160), (200, 250)], False),
    ],
)
def test_a_circle_goes_round_a_target_though_print_parts_it(
    supply: Supply, arcs: list[tuple[int, int]], is_encircled: bool
):
    style = supply.banks[0].blank.style
    target = style.targets[20]
    flat = supply.banks[0].blank.image.copy()
    left, top, _, _ = style.reference_box
    centre = (round(target.centre[0] - left), round(target.centre[1] - top))
    axes = (round(target.width * 1.4), round(target.height * 1.4))
    for start, end in arcs:
        cv2.ellipse(flat, centre, axes, 0, start, end, color=60, thickness=5)
    seen = see_ground(flat, 0.0, style, Thresholds())
    assert measure_targets([seen], style, Thresholds())[0][20].encircled == is_encircled
