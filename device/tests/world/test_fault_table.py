"""Every cell of the table of single faults, with the real firmware; docs/faults.md is made from the table."""

import pytest

from device.tests.world.fault_table import (
    MOMENTS,
    PAGE,
    PAPER_ROWS,
    ROWS,
    PaperRow,
    Row,
    TableDesk,
    page,
    run_paper_row,
    run_row,
)
from recount_world.paper import PILES

pytestmark = pytest.mark.usefixtures("micropython")


def fell(desk: TableDesk) -> int:
    """Return how many sheets fell into bins."""
    piles = {place.value for place in PILES}
    lines = (line.split() for line in desk.world.trace.lines)
    return sum(words[1] == "lies" and words[-1] in piles for words in lines)


@pytest.mark.parametrize("row", ROWS, ids=[row.title for row in ROWS])
def test_a_single_fault_has_its_expected_end_at_every_moment(row: Row) -> None:
    desk = run_row(row.fault)
    told = {moment: desk.ends[str(number)] for number, moment in enumerate(MOMENTS, 1)}
    assert {m: end for m, end in zip(MOMENTS, row.ends, strict=True) if end}.items() <= told.items()
    assert desk.done
    assert not desk.counted_twice
    assert set(desk.tally) == set(desk.world.paper.sheets)
    if row.counts_true:
        assert sum(desk.counted()[1:4]) == fell(desk)
    else:
        assert not desk.i9_holds()


@pytest.mark.parametrize("row", PAPER_ROWS, ids=[row.title for row in PAPER_ROWS])
def test_a_fault_in_the_paper_has_its_expected_end(row: PaperRow) -> None:
    desk = run_paper_row(row)
    assert row.end.startswith(desk.ends["1"])
    assert desk.done
    assert not desk.counted_twice
    as_one = row.found_by == "I2"
    assert len(desk.tally) == 3 - as_one
    assert desk.i9_holds() == (row.found_by != "I9")
    if desk.i9_holds():
        assert sum(desk.counted()[1:4]) == 3 - as_one
    assert fell(desk) == 3 - (row.found_by == "I3")


def test_the_page_of_faults_is_made_from_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
