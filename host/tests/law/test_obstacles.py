"""D 2 s. 3: what keeps the scanners' figures from standing, and from when on it does not any more."""

from typing import Any

import pytest

from host.tests.rehearsal import BOTH, Day, a_reconciled_day, a_scanned_day
from host.tests.sound_device import PROGRAM, TWELVE_SHEETS, Sheet
from recount_host.law import drafts
from recount_host.law.errors import NotAllowed
from recount_host.law.obstacles import check_scanning_done, obstacles
from recount_host.law.tally import Gap

FOR_D = Sheet("counted", ("D",))


def words(day: Day) -> list[str]:
    return [obstacle.word for obstacle in obstacles(day.state())]


def test_scanning_is_done_only_where_it_could_be_finished_now() -> None:
    with pytest.raises(NotAllowed, match="not possible to finish scanning"):
        check_scanning_done(a_scanned_day().state())
    with pytest.raises(NotAllowed, match="not possible to finish scanning"):
        check_scanning_done(Day().state())


def test_d2_once_both_sides_sent_all_to_hand_count_nothing_stands_in_the_way() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    device.doubt(device.judge(FOR_D))
    day.gaps.append(Gap(device.id, 90, 91))
    assert words(day) == ["gap", "in_doubt", "open_batch"]
    day.act("run_ended", run="101-1", device=device.id)
    day.act("hand_count_ordered", BOTH, reason="it is dead")
    assert words(day) == []


def test_once_the_identities_were_told_only_a_gap_stands_in_the_way() -> None:
    day = a_scanned_day()
    device = day.device()
    day.lock(H=12, c=9, s=2, x=1)
    day.reconcile()
    device.open_batch()
    device.doubt(device.judge(FOR_D))
    stray = day.device("gamma")
    stray.open_run("stray", "101")
    assert words(day) == []
    day.gaps.append(Gap(device.id, 90, 90))
    assert words(day) == ["gap"]
    with pytest.raises(NotAllowed, match="records of alpha did not arrive"):
        drafts.identities_told(day.state())


def test_a_batch_that_is_late_or_was_voided_late_is_told_while_figures_are_closed() -> None:
    day = a_scanned_day()
    device = day.device()
    device.open_batch()
    assert words(day) == ["late"]
    device.close_batch()
    assert words(day) == ["late"]
    device.write("batch_voided", {"reason": "slipped", "by": ["a", "b"]})
    assert words(day) == ["late", "voided_late"]
    where: dict[str, Any] = {"run": "101-1", "device": device.id, "batch": 2, "reason": "late"}
    day.act("batch_void_ordered", BOTH, **where)
    assert words(day) == []


def test_a_batch_that_was_voided_at_the_device_before_the_end_of_scanning_is_void() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    device.close_batch()
    device.write("batch_voided", {"reason": "slipped", "by": ["a", "b"]})
    assert words(day) == []
    device.open_batch()
    for sheet in TWELVE_SHEETS:
        device.scan(sheet)
    device.close_batch()
    day.finish()
    assert words(day) == []
    assert day.state().figures.counted == 9


@pytest.mark.parametrize("choices", [("Z",), ("W",), ("D", "D")])
def test_choices_that_the_program_does_not_allow_are_told(choices: tuple[str, ...]) -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    device.scan(Sheet("counted", choices))
    device.close_batch()
    assert words(day) == ["choices"]


def test_each_batch_is_held_against_the_program_of_its_own_run() -> None:
    day = Day()
    day.device("beta").open_run("stray", "101", program=bytes(32))
    day.device("beta").open_batch()
    day.device("beta").scan(Sheet("counted", ("Z",)))
    day.device("beta").close_batch()
    assert words(day) == ["stray_run"], "nobody knows what its unknown program allows"
    alpha = day.assign("alpha", program=PROGRAM)
    alpha.open_batch()
    alpha.scan(Sheet("counted", ("Z",)))
    alpha.close_batch()
    assert words(day) == ["stray_run", "choices"]


def test_after_the_figures_were_shown_a_late_void_is_no_obstacle() -> None:
    day = a_reconciled_day()
    day.device().write("batch_voided", {"reason": "slipped", "by": ["a", "b"]}, batch=1)
    assert words(day) == []
