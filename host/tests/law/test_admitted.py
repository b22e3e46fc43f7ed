"""D 2: what is asked of a new act alone: other precincts, other devices, and records that may still come."""

from typing import Any

import pytest

from host.tests.rehearsal import ANN, BOTH, CLERK, Day, a_scanned_day
from host.tests.sound_device import PROGRAM, TWELVE_SHEETS, Device, Sheet
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.obstacles import obstacles
from recount_host.law.precinct import admit
from recount_host.law.tally import Gap
from recount_host.order import OrderError

FOR_D = Sheet("counted", ("D",))
GIVEN: dict[str, Any] = {"program": PROGRAM, "contest": "governor", "mode": "training"}


def two_precincts() -> Day:
    """Return a day where alpha scans precinct 101 and beta 102."""
    day = Day(("101", "102"))
    day.assign("alpha", "101")
    day.assign("beta", "102")
    return day


def in_doubt(device: Device, *numbers: int) -> None:
    for number in numbers:
        device.doubt(number)


def settle(day: Day, device: Device, batch: int, sheet: int, fate: str = "returned") -> None:
    where: dict[str, Any] = {"run": device.run, "device": device.id, "batch": batch, "sheet": sheet}
    day.act("doubt_settled_ordered", BOTH, **where, fate=fate)


def test_an_act_that_holds_too_much_or_is_of_no_precinct_is_not_admitted() -> None:
    facts = Day().facts()
    body = {"precinct": "101", "letter": "H", "value": 3, "attempt": 1}
    with pytest.raises(BadEntry, match="surplus"):
        admit(facts, "count_entered", (ANN,), {**body, "surplus": 1})
    with pytest.raises(OrderError, match='no precinct "999"'):
        admit(facts, "count_entered", (ANN,), {**body, "precinct": "999"})


def test_the_precinct_after_an_act_knows_the_act_by_its_number() -> None:
    day = Day()
    state = day.act("count_entered", (ANN,), letter="H", value=3, attempt=1)
    assert state.last_act_n == state.counts.entries[0].act_n == day.acts[-1].n


def test_what_one_precinct_does_changes_no_other() -> None:
    day = two_precincts()
    before = day.state("102")
    day.lock("101", H=12)
    assert day.state("102") == before


# Gaps


def test_a_gap_concerns_the_precincts_that_its_device_was_given_and_no_other() -> None:
    day = two_precincts()
    gap = Gap(day.device("alpha").id, 90, 91)
    day.gaps.append(gap)
    assert day.state("101").gaps == (gap,)
    assert day.state("102").gaps == ()


def test_a_gap_of_a_device_that_opened_a_run_unasked_concerns_the_precinct_too() -> None:
    day = Day()
    device = day.device("gamma")
    device.open_run("stray", "101")
    gap = Gap(device.id, 90, 91)
    day.gaps.append(gap)
    assert day.state().gaps == (gap,)


def test_a_gap_from_the_very_record_on_that_would_have_closed_the_run_concerns_the_precinct() -> None:
    day = a_scanned_day()
    device = day.device()
    device.close_run()
    closed = len(device.records)
    day.gaps[:] = [Gap(device.id, closed, closed)]
    assert day.state().gaps
    day.gaps[:] = [Gap(device.id, closed + 1, closed + 1)]
    assert not day.state().gaps


def test_gaps_are_told_by_device_in_the_order_of_their_records() -> None:
    day = Day()
    devices = sorted((day.assign(name) for name in ("alpha", "beta")), key=lambda device: device.id)
    first, second = (device.id for device in devices)
    numbers = list(range(90, 20, -9))
    day.gaps[:] = [Gap(device, n, n) for device in (second, first) for n in numbers]
    assert [(gap.device, gap.first_n) for gap in day.state().gaps] == [
        (device, n) for device in (first, second) for n in sorted(numbers)
    ]


# Runs


def test_a_run_has_one_name_in_all_precincts() -> None:
    day = Day(("101", "102"))
    day.assign("alpha", "101")
    with pytest.raises(NotAllowed, match="run 101-1 is assigned already"):
        day.act("run_assigned", (CLERK,), "102", run="101-1", device=day.device("beta").id, **GIVEN)


def test_i4_a_device_whose_counted_sheets_failed_scans_no_other_precinct() -> None:
    day = Day(("101", "102"))
    day.scan((Sheet("counted", ("D", "R")), FOR_D))
    day.finish()
    day.lock(H=2, c=2, s=0, x=0)
    day.reconcile()
    day.device().close_run()
    with pytest.raises(NotAllowed, match=r"alpha is disarmed: .* \(I4\); use another device"):
        day.assign("alpha", "102")
    day.assign("beta", "102")


# Doubts


def test_a_doubt_that_is_settled_is_told_from_one_that_is_not() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    first, second = device.judge(FOR_D), device.judge(FOR_D)
    in_doubt(device, first, second)
    settle(day, device, 1, first)
    device.settle(first, "returned")
    with pytest.raises(NotAllowed, match=rf"sheet {first} of batch 1 is (settled already|not in doubt)"):
        settle(day, device, 1, first)
    settle(day, device, 1, second)


def test_the_same_sheet_number_on_another_device_is_another_sheet() -> None:
    day = Day()
    devices = [day.assign(name) for name in ("alpha", "beta")]
    for device in devices:
        device.open_batch()
        in_doubt(device, device.judge(FOR_D))
        settle(day, device, 1, 1)
    assert len(day.state().settle_orders) == 2


def test_the_same_sheet_number_in_a_batch_after_the_board_began_anew_is_another_sheet() -> None:
    day = Day()
    device = day.assign()
    for number in (1, 2):
        device.open_batch()
        device.sheet = 0
        in_doubt(device, device.judge(FOR_D))
        settle(day, device, number, 1)
    assert [order.body["batch"] for order in day.state().settle_orders] == [1, 2]


# Ending


def test_a_device_is_withdrawn_while_another_one_goes_on() -> None:
    day = Day()
    for name in ("alpha", "beta"):
        day.assign(name)
    alpha = day.device("alpha")
    with pytest.raises(NotAllowed, match="the device's runs are ended first"):
        day.act("device_withdrawn", BOTH, device=alpha.id, reason="dead")
    day.act("run_ended", run="101-1", device=alpha.id)
    state = day.act("device_withdrawn", BOTH, device=alpha.id, reason="dead")
    assert state.is_withdrawn(alpha.id)
    assert not state.is_withdrawn(day.device("beta").id)


def test_while_one_of_several_runs_is_open_the_precinct_does_not_go_to_hand_count() -> None:
    day = Day()
    for name in ("alpha", "beta"):
        day.assign(name)
    day.act("run_ended", run="101-1", device=day.device("alpha").id)
    with pytest.raises(NotAllowed, match="its devices' runs are ended first"):
        day.act("hand_count_ordered", BOTH, reason="no device is left")
    day.act("run_ended", run="101-2", device=day.device("beta").id)
    assert day.act("hand_count_ordered", BOTH, reason="no device is left").hand_count_order is not None


def test_scanning_is_finished_on_the_records_that_are_here_and_on_ended_runs_only() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    body = {"heads": {device.id: len(device.records)}, "head_sha256": {device.id: device.hash}}
    with pytest.raises(NotAllowed, match="its devices' runs are ended first"):
        day.act("scanning_finished", **body)
    day.act("run_ended", run="101-1", device=device.id)
    with pytest.raises(NotAllowed, match="other records have come meanwhile"):
        day.act("scanning_finished", heads={device.id: 3}, head_sha256={device.id: device.hash})
    with pytest.raises(NotAllowed, match="other records have come meanwhile"):
        day.act("scanning_finished", heads=body["heads"], head_sha256={device.id: bytes(32)})
    day.act("scanning_finished", **body)
    assert not obstacles(day.state())


def test_a_sheet_on_its_way_is_not_settled() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    number = device.judge(FOR_D)
    with pytest.raises(NotAllowed, match=f"sheet {number} of batch 1 is not in doubt"):
        settle(day, device, 1, number)
    with pytest.raises(NotAllowed, match="sheet 9 of batch 1 is not in doubt"):
        settle(day, device, 1, 9)
