"""What a device still has to be told, until its records show that it did it."""

from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from host.tests.rehearsal import BOTH, Day
from host.tests.sound_device import PROGRAM, TWELVE_SHEETS, Sheet
from recount_host.law.duties import Duty, duties
from recount_protocol.orders import Session, sign_order

BY = ["Ann Lee, official, D", "Bob Ray, official, R"]


def due(day: Day, name: str = "alpha") -> list[str]:
    return [duty.kind for duty in duties(day.facts(), day.device(name).id)]


def given(day: Day) -> None:
    device = day.device()
    day.act(
        "run_assigned", run="101-1", device=device.id, program=PROGRAM, contest="governor", mode="training"
    )


def test_an_assigned_run_is_told_until_the_device_opens_it() -> None:
    day = Day()
    given(day)
    (duty,) = duties(day.facts(), day.device().id)
    fields = {
        "run": "101-1",
        "precinct": "101",
        "contest": "governor",
        "program": PROGRAM,
        "mode": "training",
    }
    assert duty == Duty("assign_run", fields)
    day.device().open_run("101-1", "101")
    assert due(day) == []


def test_a_run_ended_before_it_was_opened_is_not_told_any_more() -> None:
    day = Day()
    given(day)
    day.act("run_ended", run="101-1", device=day.device().id)
    assert due(day) == []


def test_an_ended_run_is_told_until_the_device_closes_it() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    day.finish()
    assert due(day) == ["close_run"]
    device.close_run()
    assert due(day) == []


def test_a_voided_batch_is_told_with_both_persons_until_the_device_voids_it() -> None:
    day = Day()
    device = day.scan(TWELVE_SHEETS)
    day.act("batch_void_ordered", BOTH, run="101-1", device=device.id, batch=1, reason="slipped")
    (duty,) = duties(day.facts(), device.id)
    assert duty == Duty("void_batch", {"run": "101-1", "batch": 1, "reason": "slipped", "by": BY})
    device.write("batch_voided", {"reason": "slipped", "by": BY})
    assert due(day) == []


def test_a_settled_doubt_is_told_until_the_device_writes_it_down() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    number = device.judge(Sheet("counted", ("D",)))
    device.doubt(number)
    where: dict[str, Any] = {"run": "101-1", "device": device.id, "batch": 1, "sheet": number}
    day.act("doubt_settled_ordered", BOTH, **where, fate="counted")
    (duty,) = duties(day.facts(), device.id)
    assert duty == Duty(
        "settle_doubt", {"run": "101-1", "batch": 1, "sheet": number, "fate": "counted", "by": BY}
    )
    device.settle(number, "counted")
    assert due(day) == []


def test_a_doubt_in_a_voided_batch_is_not_told_any_more() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    number = device.judge(Sheet("counted", ("D",)))
    device.doubt(number)
    where: dict[str, Any] = {"run": "101-1", "device": device.id, "batch": 1}
    day.act("doubt_settled_ordered", BOTH, **where, sheet=number, fate="counted")
    device.write("batch_voided", {"reason": "power cut", "by": BY})
    assert due(day) == []


def test_a_device_is_told_nothing_that_is_anothers() -> None:
    day = Day()
    given(day)
    assert due(day, "beta") == []


def test_every_duty_is_an_order_of_the_tally_link() -> None:
    day = Day()
    device = day.assign()
    device.open_batch()
    number = device.judge(Sheet("counted", ("D",)))
    device.doubt(number)
    where: dict[str, Any] = {"run": "101-1", "device": device.id, "batch": 1}
    day.act("doubt_settled_ordered", BOTH, **where, sheet=number, fate="returned")
    day.act("batch_void_ordered", BOTH, **where, reason="power cut")
    day.act("run_ended", run="101-1", device=device.id)
    given_again = {"run": "101-2", "device": device.id, "program": PROGRAM}
    day.act("run_assigned", **given_again, contest="governor", mode="training")  # type: ignore[arg-type]
    messages = duties(day.facts(), device.id)
    assert [duty.kind for duty in messages] == ["settle_doubt", "void_batch", "close_run", "assign_run"]
    key, session = Ed25519PrivateKey.generate(), Session(device.id, bytes(32))
    assert all(sign_order(key, session, n, duty.kind, duty.fields) for n, duty in enumerate(messages, 1))


def test_a_device_that_never_wrote_a_record_is_told_its_run() -> None:
    day = Day()
    given(day)
    facts = day.facts()
    assert [duty.kind for duty in duties(type(facts)(facts.order, facts.acts), day.device().id)] == [
        "assign_run"
    ]
