"""B, D 1: containers that came, that were opened, and that cannot be found."""

from dataclasses import replace

from recount_host.act import Act
from recount_host.law.custody import CONTENTS, EXCLUDED, PAPER, SCANNED, Container, find_container, unopened

OPENED = Act(3, b"", "container_opened", "", (), {})
BOX = Container("box-1", SCANNED, "4711", "intact", 812)
BOXES = (
    BOX,
    replace(BOX, name="box-2", opened=OPENED),
    replace(BOX, name="box-3", seal_was="not_found"),
    replace(BOX, name="box-4", holds=PAPER),
)


def test_what_came_and_was_not_opened_is_named_by_what_it_holds() -> None:
    assert unopened(BOXES, SCANNED) == ("box-1",)
    assert unopened(BOXES, PAPER) == ("box-4",)


def test_a_container_is_found_by_its_name() -> None:
    assert find_container(BOXES, "box-4") is BOXES[3]
    assert find_container(BOXES, "box-9") is None


def test_what_was_not_found_did_not_come_and_what_b_excludes_is_excluded() -> None:
    assert [box.found for box in BOXES] == [True, True, False, True]
    assert not BOX.is_excluded
    assert all(replace(BOX, holds=kind).is_excluded for kind in EXCLUDED)
    assert set(EXCLUDED) < set(CONTENTS)
