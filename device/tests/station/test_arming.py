"""No live sheet is counted by a device that has not passed logic and accuracy as it is now.

Every way to a live count without a valid certificate is tried here, and refused by the device itself,
whatever the host says.
"""

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from device.tests.station.bench import ANN_AND_BOB, PROGRAM, Bench, InlineReader, Paper
from recount_classifier.program import Program, Style
from recount_classifier.thresholds import Thresholds, thresholds_hash
from recount_device.journal import Entry
from recount_device.software import firmware_name

MakeBench = Callable[..., Bench]
FIRMWARE = firmware_name("f1" * 32)
OTHER = replace(PROGRAM, content=b"another", program_hash=sha256(b"another").digest())


def order(**changes: Any) -> dict[str, Any]:
    return {
        "run": "test-1",
        "program": PROGRAM.program_hash,
        "thresholds": thresholds_hash(PROGRAM.thresholds),
        "software": "software",
        "firmware": FIRMWARE,
        "certificate": sha256(b"certificate").digest(),
        "by": ANN_AND_BOB,
        **changes,
    }


def after_test(bench: Bench, run: str = "test-1", *, closed: bool = True, batch: bool = True) -> Bench:
    """Run a deck of one sheet in mode test."""
    bench.machine.hopper.insert(0, Paper(f"of {run}"))
    bench.assign(run, "test")
    if batch:
        bench.press("start")
        bench.until("hopper_empty")
        bench.end_batch()
    if closed:
        bench.host.order("close_run", run=run)
        bench.steps()
    return bench


def armed(bench: Bench, software: str = "software") -> Bench:
    """Let the device pass, and arm it."""
    after_test(bench)
    bench.host.order("arm_device", **order(software=software))
    bench.steps()
    assert len(bench.records("device_armed")) == 1
    return bench


def fed_live(bench: Bench, run: str = "live-1") -> int:
    """Try to scan a live sheet; return how many were fed in mode live."""
    bench.machine.hopper[:] = [Paper("a live sheet")]
    bench.assign(run, "live")
    bench.press("start")
    bench.steps(40)
    live = {record.run for record in bench.records("run_opened") if record.body["mode"] == "live"}
    return sum(record.run in live for record in bench.records("sheet_judged"))


def test_a_device_that_passed_and_was_armed_counts_live_sheets(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    assert fed_live(bench) == 1
    assert isinstance(bench.reader, InlineReader)
    assert bench.reader.expected_tests == [True, False]


def test_a_device_that_never_passed_counts_no_live_sheet(a_bench: MakeBench) -> None:
    bench = a_bench([])
    assert fed_live(bench) == 0
    assert "has not passed logic and accuracy" in bench.panel.text


def test_a_test_alone_arms_nothing(a_bench: MakeBench) -> None:
    assert fed_live(after_test(a_bench([]))) == 0


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"run": "test-2"}, "the last thing it ran is not the test test-2"),
        ({"program": OTHER.program_hash}, "the test was of another program"),
        ({"thresholds": sha256(b"others").digest()}, "the order names other thresholds"),
        ({"software": "other software"}, "the test was of other software"),
        ({"firmware": "other firmware"}, "the test was of another firmware"),
    ],
)
def test_an_order_to_arm_for_what_was_not_tested_is_refused(
    a_bench: MakeBench, changes: dict[str, Any], why: str
) -> None:
    bench = after_test(a_bench([]))
    bench.store.programs[OTHER.program_hash] = OTHER
    bench.host.order("arm_device", **order(**changes))
    bench.steps()
    assert why in bench.panel.text
    assert bench.records("device_armed") == []
    assert fed_live(bench) == 0


def test_an_order_to_arm_without_any_test_is_refused(a_bench: MakeBench) -> None:
    bench = a_bench([])
    bench.host.order("arm_device", **order())
    bench.steps()
    assert fed_live(bench) == 0


def test_an_order_to_arm_before_a_batch_of_the_test_was_closed_is_refused(a_bench: MakeBench) -> None:
    bench = after_test(a_bench([]), batch=False)
    bench.host.order("arm_device", **order())
    bench.steps()
    assert "no batch of the test was closed" in bench.panel.text
    assert fed_live(bench) == 0


def test_an_order_to_arm_while_the_test_is_open_waits_for_its_end(a_bench: MakeBench) -> None:
    bench = after_test(a_bench([]), closed=False)
    bench.host.order("arm_device", **order())
    bench.steps()
    assert bench.records("device_armed") == []
    bench.host.order("close_run", run="test-1")
    bench.host.order("arm_device", **order())
    bench.steps()
    assert len(bench.records("device_armed")) == 1


def test_a_run_in_between_makes_the_test_void(a_bench: MakeBench) -> None:
    bench = after_test(a_bench([]))
    bench.assign("r1")
    bench.host.order("close_run", run="r1")
    bench.steps()
    bench.host.order("arm_device", **order())
    bench.steps()
    assert bench.records("device_armed") == []


def test_the_same_order_again_arms_once(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    bench.host.order("arm_device", **order())
    bench.steps()
    assert len(bench.records("device_armed")) == 1


def restarted_with(bench: Bench, software: str) -> None:
    """Start the device anew with this software, as recount-device run does."""
    bench.software = software
    bench.restart()
    started = {"software": software, "firmware": FIRMWARE, "boot": 2, "note": ""}
    bench.journal.write(Entry("device_started", "", 0, started))
    bench.steps()


def test_another_software_disarms(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    restarted_with(bench, "changed")
    assert fed_live(bench) == 0
    assert "software was changed" in bench.panel.text
    restarted_with(bench, "software")  # putting it back does not arm again
    assert fed_live(bench, "live-2") == 0


def test_another_firmware_disarms_even_when_it_goes_again(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    bench.machine.firmware_hash = "0d" * 32
    bench.machine.start_anew()
    bench.steps()
    assert [record.body["why"] for record in bench.records("device_disarmed")] == [
        "the feeder's board has another firmware than the one that was tested"
    ]
    bench.machine.firmware_hash = "f1" * 32
    bench.machine.start_anew()
    bench.steps()
    assert fed_live(bench) == 0


def test_another_program_disarms(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    bench.store.programs[OTHER.program_hash] = OTHER
    given = {"precinct": "101", "contest": "governor", "mode": "training"}
    bench.host.order("assign_run", run="r1", program=OTHER.program_hash, **given)
    bench.host.order("close_run", run="r1")
    bench.steps()
    assert fed_live(bench) == 0
    assert "another contest program" in bench.panel.text


def test_a_live_run_with_another_program_than_the_tested_is_refused(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    bench.store.programs[OTHER.program_hash] = OTHER
    given = {"precinct": "101", "contest": "governor", "mode": "live"}
    bench.host.order("assign_run", run="live-1", program=OTHER.program_hash, **given)
    bench.steps()
    assert "armed for another contest program" in bench.panel.text
    assert len(bench.records("run_opened")) == 1


def test_a_program_with_other_thresholds_under_the_tested_hash_is_refused(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    forged = replace(PROGRAM, thresholds=Thresholds(ink=0.9))
    bench.store.programs[PROGRAM.program_hash] = forged
    bench.restart()
    bench.steps()
    assert fed_live(bench) == 0
    assert "other thresholds" in bench.panel.text


def test_a_damaged_program_file_disarms(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    bench.store.is_damaged = True
    assert fed_live(bench) == 0
    bench.store.is_damaged = False
    assert "damaged" in bench.records("device_disarmed")[0].body["why"]
    bench.restart()
    bench.steps()
    assert fed_live(bench, "live-2") == 0


def test_a_new_test_disarms_until_it_is_passed(a_bench: MakeBench) -> None:
    bench = after_test(armed(a_bench([])), "test-2")
    assert fed_live(bench) == 0
    bench.host.order("arm_device", **order(run="test-2", certificate=sha256(b"second").digest()))
    bench.steps()
    assert fed_live(bench, "live-2") == 1


def test_an_old_certificate_does_not_arm_after_a_new_test(a_bench: MakeBench) -> None:
    bench = after_test(armed(a_bench([])), "test-2")
    bench.host.order("arm_device", **order())
    bench.steps()
    assert fed_live(bench) == 0


def test_the_host_disarms_in_the_middle_of_a_live_run(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    assert fed_live(bench) == 1
    bench.host.order("disarm_device", why="the votes of its counted sheets do not add up")
    bench.machine.hopper[:] = [Paper("one more")]
    bench.press("start")
    bench.steps(40)
    assert "do not add up" in bench.panel.text
    assert len(bench.records("sheet_judged")) == 2
    bench.end_batch()
    assert len(bench.records("batch_closed")) == 2


def test_a_batch_of_a_live_run_is_not_gone_on_with_after_the_software_was_changed(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    bench.machine.hopper[:] = [Paper("1"), Paper("2")]
    bench.assign("live-1", "live")
    bench.press("start")
    bench.software = "changed"
    bench.restart()
    before = len(bench.records("sheet_judged"))
    bench.press("start")
    bench.steps(40)
    assert len(bench.records("sheet_judged")) == before


def test_a_reboot_with_the_same_hashes_does_not_disarm(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    bench.restart()
    bench.machine.start_anew()
    bench.steps()
    assert fed_live(bench) == 1


def test_a_training_run_of_the_same_program_does_not_disarm(a_bench: MakeBench) -> None:
    bench = armed(a_bench([]))
    bench.assign("r1")
    bench.host.order("close_run", run="r1")
    bench.steps()
    assert fed_live(bench) == 1


def test_a_program_without_a_place_for_the_test_mark_cannot_be_tested(a_bench: MakeBench) -> None:
    bench = a_bench([])
    bench.store.programs[PROGRAM.program_hash] = without_mark()
    bench.assign("test-1", "test")
    assert "no place for the TEST mark" in bench.panel.text
    assert bench.records("run_opened") == []


def without_mark() -> Program:
    class Bare:
        test_mark = None

    style: Style = Bare()  # pyright: ignore[reportAssignmentType]
    return replace(PROGRAM, styles=(style,))
