"""What a device is told, and until when: each message from the act that it carries out."""

from typing import Any

from host.tests.rehearsal import BOTH, Day
from host.tests.sound_device import PROGRAM, TWELVE_SHEETS, Device, Sheet
from recount_host.law.duties import Duty, duties

FOR_D = Sheet("counted", ("D",))
BY = ["Ann Lee, official, D", "Bob Ray, official, R"]


def told(day: Day, device: Device) -> list[Duty]:
    return list(duties(day.facts(), device.id))


def given(day: Day, device: Device, run: str = "101-1", precinct: str = "101") -> None:
    words: dict[str, Any] = {"program": PROGRAM, "contest": "governor", "mode": "training"}
    day.act("run_assigned", (day.acts[0].by), precinct, run=run, device=device.id, **words)


def test_a_run_is_told_to_its_device_alone_until_it_is_opened_or_ended() -> None:
    day = Day(("101", "102"))
    alpha, beta = day.device("alpha"), day.device("beta")
    given(day, alpha)
    given(day, beta, "102-1", "102")
    fields = {
        "run": "101-1",
        "precinct": "101",
        "contest": "governor",
        "program": PROGRAM,
        "mode": "training",
    }
    assert told(day, alpha) == [Duty("assign_run", fields)]
    assert [duty.fields["run"] for duty in told(day, beta)] == ["102-1"]
    alpha.open_run("101-1", "101")
    assert told(day, alpha) == []
    day.act("run_ended", (day.acts[0].by), "102", run="102-1", device=beta.id)
    assert told(day, beta) == []


def test_an_ended_run_is_to_be_closed_until_it_is() -> None:
    day = Day()
    device = day.assign()
    day.act("run_ended", run="101-1", device=device.id)
    assert told(day, device) == [Duty("close_run", {"run": "101-1"})]
    device.close_run()
    assert told(day, device) == []


def test_a_batch_that_was_voided_is_to_be_voided_at_the_device_and_no_other() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    device.open_batch()
    device.close_batch()
    day.act("batch_void_ordered", BOTH, run="101-1", device=device.id, batch=1, reason="a slip")
    assert told(day, device) == [
        Duty("void_batch", {"run": "101-1", "batch": 1, "reason": "a slip", "by": BY})
    ]
    device.write("batch_voided", {"reason": "a slip", "by": BY}, batch=1)
    assert told(day, device) == []


def test_a_doubt_is_to_be_settled_in_its_own_batch_until_it_is() -> None:
    day = Day()
    device = day.assign()
    for _ in range(2):
        device.open_batch()
        device.sheet = 0
        device.doubt(device.judge(FOR_D))
    where: dict[str, Any] = {"run": "101-1", "device": device.id, "batch": 2, "sheet": 1}
    day.act("doubt_settled_ordered", BOTH, **where, fate="returned")
    fields = {"run": "101-1", "batch": 2, "sheet": 1, "fate": "returned", "by": BY}
    assert told(day, device) == [Duty("settle_doubt", fields)]
    device.settle(1, "returned")
    assert told(day, device) == []


def test_a_withdrawn_device_voids_all_that_it_scanned_of_this_precinct_and_of_no_other() -> None:
    day = Day(("101", "102"))
    device = day.scan([FOR_D], precinct="102")
    day.finish("102")
    device.close_run()
    day.scan([FOR_D], precinct="101")
    device.open_batch()
    run = device.run
    day.act("run_ended", (day.acts[0].by), "101", run=run, device=device.id)
    day.act("device_withdrawn", BOTH, "101", device=device.id, reason="it is dead")
    voided = [duty.fields for duty in told(day, device) if duty.kind == "void_batch"]
    assert [(fields["run"], fields["batch"], fields["reason"]) for fields in voided] == [
        (run, 2, "it is dead"),
        (run, 3, "it is dead"),
    ]
    for batch in (2, 3):
        device.write("batch_voided", {"reason": "it is dead", "by": BY}, batch=batch)
    assert [duty.kind for duty in told(day, device)] == ["close_run"]


def test_a_device_that_nobody_knows_is_told_nothing() -> None:
    day = Day()
    day.assign()
    assert duties(day.facts(), "f" * 16) == ()
