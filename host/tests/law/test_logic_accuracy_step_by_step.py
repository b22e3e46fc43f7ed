"""D 2 s. 4: each refusal on the way to an armed device, and each order of its test."""

import hashlib
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from host.tests.law.test_d2_logic_accuracy import (
    CERTIFICATE,
    DECK,
    RIGHT,
    armed,
    certificate,
    certified,
    compared,
    do,
    fed,
    feed,
    given,
    zero,
)
from host.tests.rehearsal import ANN, BOTH, CLERK, Day, program_body
from host.tests.sound_device import PROGRAM, Device, Sheet
from recount_host.act import Person
from recount_host.law.deck import DeckSheet, deck_text
from recount_host.law.duties import Duty, duties
from recount_host.law.enrolment import enrolment_body
from recount_host.law.errors import BadEntry, NotAllowed
from recount_host.law.live import ARMED, ASSIGNED, ENDED, ZERO, assigned_tests, why_not_live
from recount_host.law.logic_accuracy import admit_logic_accuracy, check_passed, compare
from recount_host.law.roster import SWORN
from recount_protocol.fates import COUNTED, NOT_ACCEPTED, SET_ASIDE

OTHER_PROGRAM = hashlib.sha256(b"another contest program").digest()
WRONG = Sheet(SET_ASIDE, (), ("overvote",))


def test_a_device_is_told_its_test_with_all_that_it_opens_the_run_by() -> None:
    day = Day()
    device = given(day)
    words = {"run": "test-1", "contest": "governor", "program": PROGRAM}
    wanted = Duty("assign_run", {**words, "precinct": "logic-accuracy", "mode": "test"})
    assert duties(day.facts(), device.id) == (wanted,)


def test_a_test_that_was_opened_or_ended_is_not_told_any_more() -> None:
    day = Day()
    device = fed(day)
    assert duties(day.facts(), device.id) == ()
    day = Day()
    device = given(day)
    do(day, ENDED, run="test-1", device=device.id)
    assert duties(day.facts(), device.id) == ()


def test_a_device_is_told_what_it_is_armed_for_by_whom_and_by_which_certificate() -> None:
    day = Day()
    device = certified(day)
    (duty,) = duties(day.facts(), device.id)
    words = {"run": "test-1", "program": PROGRAM, "thresholds": bytes(32), "software": "1.0"}
    by = ["Ann Lee, official, D", "Bob Ray, official, R"]
    assert duty == Duty("arm_device", {**words, "firmware": "1.0", "certificate": CERTIFICATE, "by": by})


def test_a_device_whose_records_are_not_here_is_told_nothing_of_arming() -> None:
    day = Day()
    device = certified(day)
    assert [duty.kind for duty in duties(replace(day.facts(), devices={}), device.id)] == []


@pytest.mark.parametrize(
    ("by", "body", "why"),
    [
        ((CLERK,), {"surplus": 1}, "surplus"),
        ((Person("Eve Fox", "official", "Z"),), {}, 'side "Z"'),
        ((replace(ANN, side="R"),), {}, "Ann Lee"),
    ],
)
def test_what_holds_too_much_and_who_is_of_no_side_or_of_two_is_refused(
    by: tuple[Person, ...], body: dict[str, Any], why: str
) -> None:
    day = Day()
    device = given(day)
    with pytest.raises((BadEntry, NotAllowed), match=why):
        admit_logic_accuracy(day.facts(), ENDED, by, {"run": "test-1", "device": device.id, **body})


def test_a_device_that_was_never_heard_of_has_no_zero_report() -> None:
    day = Day()
    other = Device("beta")
    day.append("device_enrolled", BOTH, enrolment_body(other.name, other.public_key))
    with pytest.raises(NotAllowed, match="not armed for this program"):
        do(day, ZERO, device=other.id, program=PROGRAM, head_n=1, sha256=bytes(32))


def test_an_open_run_in_training_keeps_no_device_from_its_zero_report() -> None:
    day = Day()
    device = armed(day)
    day.assign()
    zero(day, device)


def test_a_test_that_the_device_ran_with_another_program_than_assigned_arms_nothing() -> None:
    day = Day()
    device = given(day)
    device.open_run("test-1", "logic-accuracy", OTHER_PROGRAM, "test")
    device.open_batch()
    feed(day, device)
    device.close_batch()
    do(day, ENDED, run="test-1", device=device.id)
    with pytest.raises(NotAllowed, match="the test was of another program"):
        do(day, ARMED, BOTH, **certificate(device, program=OTHER_PROGRAM))


def test_a_device_that_was_tested_before_is_armed_by_its_last_test_alone() -> None:
    day = Day()
    device = fed(day, RIGHT[:-1])
    do(day, ENDED, run="test-1", device=device.id)
    device.close_run()
    day.append("program_added", (CLERK,), program_body(OTHER_PROGRAM))
    deck = msgspec.structs.replace(DECK, program=OTHER_PROGRAM.hex())
    words = {"program": OTHER_PROGRAM, "contest": "governor", "deck": deck_text(deck).encode()}
    do(day, ASSIGNED, run="test-2", device=device.id, **words)
    device.open_run("test-2", "logic-accuracy", OTHER_PROGRAM, "test")
    device.open_batch()
    feed(day, device)
    device.close_batch()
    do(day, ENDED, run="test-2", device=device.id)
    with pytest.raises(NotAllowed, match="not the last test"):
        do(day, ARMED, BOTH, **certificate(device))
    do(day, ARMED, BOTH, **certificate(device, run="test-2", program=OTHER_PROGRAM))


def test_the_first_of_several_differences_and_of_several_hindrances_is_told() -> None:
    day = Day()
    device = fed(day, (RIGHT[0], WRONG, RIGHT[2], WRONG, *RIGHT[4:]))
    with pytest.raises(NotAllowed, match="2 of its sheets differ; the first is t-2"):
        check_passed(compared(day, device))
    day = Day()
    device = given(day)
    device.open_run("test-1", "logic-accuracy", mode="training")
    with pytest.raises(NotAllowed, match="in another mode"):
        check_passed(compared(day, device))


def test_a_sheet_that_people_laid_into_another_tray_is_held_against_the_deck_as_it_lies() -> None:
    day = Day()
    device = given(day)
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    device.land(device.judge(Sheet(COUNTED, ("D",))), NOT_ACCEPTED, by="hand")
    device.close_batch()
    assert compared(day, device).differences[0].actual == "not accepted"
    actual = compared(day, device).actual
    assert (actual.counted, actual.not_accepted, dict(actual.votes)) == (0, 1, {})


def test_one_person_ends_the_test_of_a_device_of_which_nothing_was_heard() -> None:
    day = Day()
    device = given(day)
    body = {"run": "test-1", "device": device.id}
    admit_logic_accuracy(replace(day.facts(), devices={}), ENDED, (CLERK,), body)


def test_a_batch_of_another_run_or_a_void_one_keeps_no_test_from_its_end() -> None:
    day = Day()
    device = given(day)
    device.open_run("101-1", "101")
    device.open_batch()
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    device.write("batch_voided", {"reason": "a jam", "by": ["Ann Lee, official, D", "Bob Ray, official, R"]})
    admit_logic_accuracy(day.facts(), ENDED, (CLERK,), {"run": "test-1", "device": device.id})
    device.open_batch()
    do(day, ENDED, BOTH, run="test-1", device=device.id)
    assert [duty.fields["batch"] for duty in duties(day.facts(), device.id)] == [3]


def test_of_a_long_deck_the_sheet_that_was_not_fed_is_named_and_no_other() -> None:
    sheets = tuple(DeckSheet(f"t-{n}", "card-1", "D", COUNTED, ("D",)) for n in range(2, 252))
    first = DeckSheet("t-1", "card-1", "R", COUNTED, ("R",))
    day = Day()
    device = given(day, msgspec.structs.replace(DECK, sheets=(first, *sheets)))
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    for _ in sheets:
        device.scan(Sheet(COUNTED, ("D",)))
    device.close_batch()
    (difference,) = compared(day, device).differences
    assert (difference.code, difference.actual, difference.judged_n) == ("t-1", "not fed, or lost", 0)


def test_sheets_are_held_against_the_deck_in_the_order_of_batches_and_numbers() -> None:
    day = Day()
    device = given(day, msgspec.structs.replace(DECK, sheets=DECK.sheets[:6]))
    device.open_run("test-1", "logic-accuracy", mode="test")
    for batch, numbers in ((2, (5, 6, 4)), (1, (2, 1, 3))):
        device.number = batch - 1
        device.open_batch()
        for number in numbers:
            device.sheet = number - 1
            device.scan(RIGHT[number - 1])
        device.close_batch()
    found = compared(day, device).differences
    assert [difference.code for difference in found] == ["t-3"]


def test_of_an_open_batch_and_of_a_device_without_records_nothing_is_compared() -> None:
    day = Day()
    device = given(day)
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    device.scan(RIGHT[0])
    assert compared(day, device).actual.counted == 0
    nothing = compare(replace(day.facts(), devices={}), assigned_tests(day.acts, device.id)[-1])
    assert nothing.hindrances == ("the device has not begun the test",)
    assert "not armed" in why_not_live(replace(day.facts(), devices={}), device.id, PROGRAM)


def test_a_void_batch_hinders_no_test_that_was_fed_again() -> None:
    day = Day()
    device = given(day)
    device.open_run("test-1", "logic-accuracy", mode="test")
    device.open_batch()
    device.write("batch_voided", {"reason": "a jam", "by": ["Ann Lee, official, D", "Bob Ray, official, R"]})
    device.open_batch()
    device.scan(RIGHT[0])
    device.close_batch()
    assert compared(day, device).hindrances == ()


def test_from_the_first_oath_on_only_the_sworn_end_a_test() -> None:
    day = Day()
    device = given(day)
    sworn = {"person": ["Carl Orr", "official", "D"], "before": "Dora Poe, clerk"}
    day.append(SWORN, (CLERK,), sworn)
    with pytest.raises(NotAllowed, match="Ann Lee is not among the sworn"):
        do(day, ENDED, (ANN,), run="test-1", device=device.id)


def test_each_device_is_live_by_its_own_latest_certificate_and_zero_report() -> None:
    day = Day()
    device = armed(day)
    other = Device("beta")
    day.append("device_enrolled", BOTH, enrolment_body(other.name, other.public_key))
    day.append(ARMED, BOTH, certificate(other, sha256=bytes(32)))
    day.append(ZERO, (CLERK,), {"device": other.id, "program": PROGRAM, "head_n": 9999, "sha256": bytes(32)})
    assert "zero report" in why_not_live(day.facts(), device.id, PROGRAM)
    zero(day, device)
    assert why_not_live(day.facts(), device.id, PROGRAM) == ""
    day.append(ARMED, BOTH, certificate(device, sha256=bytes(32)))
    assert "its certificate is not in this ledger" in why_not_live(day.facts(), device.id, PROGRAM)


def test_the_tests_of_a_device_are_its_own() -> None:
    day = Day()
    device = given(day)
    assert [act.body["run"] for act in assigned_tests(day.acts, device.id)] == ["test-1"]
    assert assigned_tests(day.acts, Device("beta").id) == ()


def test_since_it_was_armed_its_software_is_the_same() -> None:
    day = Day()
    device = armed(day)
    zero(day, device)
    what = {"precinct": "101", "contest": "governor", "program": PROGRAM, "mode": "training"}
    device.write("run_opened", {**what, "software": "2.0", "firmware": "1.0"}, batch=0)
    assert why_not_live(day.facts(), device.id, PROGRAM).startswith("since it was armed, ")


def test_a_batch_of_a_run_that_was_never_opened_is_no_precincts_to_void() -> None:
    day = Day()
    device = day.assign()
    day.act("run_ended", (CLERK,), run=device.run, device=device.id)
    device.run = "nobody-opened-it"
    device.open_batch()
    day.act("device_withdrawn", BOTH, device=device.id, reason="it strays")
    assert [duty.kind for duty in duties(day.facts(), device.id)] == ["close_run"]
