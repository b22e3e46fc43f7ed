"""Which sheet of the batch a page looks like."""

import cv2
import numpy as np
import pytest

from device.tests.station.ink_pages import Grey, ink_of, printed_form, scanned, voted, voters_ink
from recount_device.ink_memory import COMMON_SHEETS, LEARNING_SHEETS, InkMemory
from recount_device.page_ink import PageInk


def memory_of(voters: int) -> InkMemory:
    """Return the memory of a batch with the sheets of so many voters, numbered like them."""
    memory = InkMemory()
    for voter in range(1, voters + 1):
        assert look_and_keep(memory, voter, voters_ink(voter, voter)) is None
    return memory


def look_and_keep(memory: InkMemory, sheet: int, page: PageInk) -> int | None:
    """Return what the page looks like, and keep it as that sheet."""
    like = memory.look(page)
    memory.keep(sheet)
    return like


def test_a_sheet_fed_again_looks_like_itself_and_like_no_other() -> None:
    memory = memory_of(LEARNING_SHEETS + 5)
    for voter in (1, LEARNING_SHEETS, LEARNING_SHEETS + 5):
        assert memory.look(voters_ink(voter, 1000 + voter)) == voter


def test_a_sheet_that_goes_back_to_the_stack_is_no_sheet_read_before() -> None:
    memory = memory_of(LEARNING_SHEETS + 3)
    memory.forget(LEARNING_SHEETS + 3)
    memory.forget(2)
    assert look_and_keep(memory, 100, voters_ink(LEARNING_SHEETS + 3, 100)) is None
    assert memory.look(voters_ink(2, 101)) is None


def test_a_sheet_that_was_looked_at_and_not_kept_is_no_sheet_read_before() -> None:
    memory = memory_of(LEARNING_SHEETS + 1)
    assert memory.look(voters_ink(80, 600)) is None
    assert memory.look(None) is None
    memory.keep(600)
    assert memory.look(voters_ink(80, 601)) is None
    memory.keep(601)
    assert memory.look(voters_ink(80, 602)) == 601


def test_the_first_sheets_of_a_style_show_what_is_print_and_are_not_judged() -> None:
    memory = memory_of(LEARNING_SHEETS - 1)
    assert memory.look(voters_ink(1, 100)) is None


def test_sheets_with_little_ink_are_not_judged() -> None:
    memory = memory_of(LEARNING_SHEETS)
    for scan in range(3):
        assert look_and_keep(memory, 200 + scan, ink_of([scanned(printed_form(), 200 + scan)])) is None


def test_what_many_voters_marked_alike_tells_no_sheet_from_another() -> None:
    memory = memory_of(LEARNING_SHEETS)
    asked = [look_and_keep(memory, 300 + scan, voters_ink(77, 300 + scan)) for scan in range(5)]
    assert asked[0] is None, "the first of them is like none"
    assert asked[COMMON_SHEETS + 1 :] == [None] * (4 - COMMON_SHEETS)


def with_thin_writing(page: Grey) -> Grey:
    """Return a page with a name written on it so thinly that at 50 dpi each stroke is a shade of grey."""
    page = page.copy()
    cv2.putText(page, "JANE ROE IS WRITTEN HERE", (90, 560), cv2.FONT_HERSHEY_SIMPLEX, 1.4, 170, 1)
    return page


def test_a_sheet_with_the_marks_of_another_and_a_name_written_thinly_is_none_that_was_read() -> None:
    memory = memory_of(LEARNING_SHEETS)
    marks = voted(88, words=1)
    look_and_keep(memory, 700, ink_of([scanned(with_thin_writing(marks), 700)]))
    assert look_and_keep(memory, 701, ink_of([scanned(marks, 701)])) is None
    assert memory.look(ink_of([scanned(marks, 702)])) == 701


def test_another_style_or_a_page_that_does_not_fit_looks_like_none() -> None:
    memory = memory_of(LEARNING_SHEETS + 1)
    cells = voters_ink(1, 400).cells
    assert memory.look(PageInk("another", cells)) is None
    assert memory.look(PageInk("form", np.zeros_like(cells))) is None
    assert memory.look(PageInk("form", cells[:-4])) is None


@pytest.mark.parametrize("column", [200, 333])
def test_a_streak_on_the_glass_does_not_hide_that_a_sheet_was_read(column: int) -> None:
    memory = memory_of(LEARNING_SHEETS + 1)
    page = scanned(voted(3), 500)
    page[:, column : column + 3] = 60
    assert memory.look(ink_of([page])) == 3
